//! Access to the parts of a TOML value: the rows of a list, the keys of a table, and the place of a
//! value.

use std::array;
use std::vec::IntoIter;

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess};
use toml::de::{DeArray, DeTable};

use super::{Node, Place, Wrong};

/// Rows of a list. Each row has the path of the list.
pub(super) struct Rows<'a>(IntoIter<Node<'a>>);

impl<'a> Rows<'a> {
    pub(super) fn of(list: &'a DeArray<'a>, path: &str) -> Self {
        let rows: Vec<_> = list.iter().map(|row| Node::inner(row, path.into())).collect();
        Self(rows.into_iter())
    }
}

impl<'de> SeqAccess<'de> for Rows<'_> {
    type Error = Wrong;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Wrong> {
        self.0.next().map(|row| row.read(seed)).transpose()
    }
}

/// Keys of a table, in alphabetical order.
pub(super) struct Fields<'a> {
    rest: IntoIter<(&'a str, usize, Node<'a>)>,
    value: Option<Node<'a>>,
    path: String,
}

impl<'a> Fields<'a> {
    pub(super) fn of(table: &'a DeTable<'a>, path: &str) -> Self {
        let fields = table.iter().map(|(key, value)| {
            let name: &str = key.get_ref();
            let inner = if path.is_empty() { name.into() } else { format!("{path}.{name}") };
            (name, key.span().start, Node::inner(value, inner))
        });
        let fields: Vec<_> = fields.collect();
        Self { rest: fields.into_iter(), value: None, path: path.into() }
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((name, at, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let place = || Place { at: Some(at), path: self.path.clone(), value: name.into() };
        seed.deserialize(StrDeserializer::<Wrong>::new(name))
            .map(Some)
            .map_err(|wrong| wrong.at(place))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        self.value.take().expect("a key comes before its value").read(seed)
    }
}

/// Place of a value and the value itself, in the form in which the type `Spanned` reads them.
pub(super) struct WithSpan<'a> {
    names: array::IntoIter<&'static str, 3>,
    ends: array::IntoIter<usize, 2>,
    value: Option<Node<'a>>,
}

impl<'a> WithSpan<'a> {
    pub(super) fn of(
        value: Node<'a>,
        (start, end): (usize, usize),
        names: [&'static str; 3],
    ) -> Self {
        Self { names: names.into_iter(), ends: [start, end].into_iter(), value: Some(value) }
    }
}

impl<'de> MapAccess<'de> for WithSpan<'_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let name = self.names.next();
        name.map(|name| seed.deserialize(BorrowedStrDeserializer::new(name))).transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        match self.ends.next() {
            Some(end) => seed.deserialize(end.into_deserializer()),
            None => self.value.take().expect("a value has one span").read(seed),
        }
    }
}
