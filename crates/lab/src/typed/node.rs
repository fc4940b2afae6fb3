//! Values of a TOML document, from which `serde` reads Rust types. Each value knows its place in
//! the text.

mod access;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Visitor};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::wrong::{Place, Wrong};
use crate::keys::wrong::shown;
use access::{Fields, Rows, WithSpan};

/// Value in a document. The place of the value in the text and the path of its key are known.
#[derive(Clone)]
pub(super) struct Node<'a> {
    value: &'a DeValue<'a>,
    /// Offsets in the text at which the value begins and ends. `None` if the value is the whole
    /// file.
    span: Option<(usize, usize)>,
    path: String,
}

impl<'a> Node<'a> {
    /// Returns the node for a whole file.
    pub(super) fn root(value: &'a DeValue<'a>) -> Self {
        Self { value, span: None, path: String::new() }
    }

    fn inner(value: &'a Spanned<DeValue<'a>>, path: String) -> Self {
        let span = value.span();
        Self { value: value.get_ref(), span: Some((span.start, span.end)), path }
    }

    /// Reads the value as a Rust type. An error without a place gets the place of this value. Such
    /// an error may come from a type that first reads the whole value and then checks it.
    fn read<'de, T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Wrong> {
        let here = self.clone();
        seed.deserialize(self).map_err(|wrong| wrong.at(|| here.place()))
    }

    fn place(&self) -> Place {
        let at = self.span.map(|(start, _)| start);
        Place { at, path: self.path.clone(), value: shown(self.value) }
    }

    /// Calls `read`. If `read` returns an error without a place, the error gets the place of this
    /// value.
    fn placed<T>(&self, read: impl FnOnce() -> Result<T, Wrong>) -> Result<T, Wrong> {
        read().map_err(|wrong| wrong.at(|| self.place()))
    }

    /// Reads a whole number from `least` to `most`.
    fn whole<'de, V: Visitor<'de>>(
        &self,
        visitor: V,
        least: i128,
        most: i128,
    ) -> Result<V::Value, Wrong> {
        let number = self.value.as_integer().and_then(number);
        self.placed(|| match number.filter(|n| (least..=most).contains(n)) {
            Some(n) if n < 0 => visitor.visit_i64(n as i64),
            Some(n) => visitor.visit_u64(n as u64),
            None => Err(Wrong::value(format!("a whole number, {least} to {most}"))),
        })
    }
}

/// Converts a TOML integer. Returns `None` if the integer does not fit into 128 bits.
fn number(n: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(&n.as_str().replace('_', ""), n.radix()).ok()
}

/// Declares the methods that read whole numbers.
macro_rules! whole_numbers {
    ($($name:ident: $type:ty),*) => {
        $(fn $name<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            self.whole(visitor, <$type>::MIN.into(), <$type>::MAX.into())
        })*
    };
}

impl<'de> Deserializer<'de> for Node<'_> {
    type Error = Wrong;

    whole_numbers! {
        deserialize_u8: u8, deserialize_u16: u16, deserialize_u32: u32, deserialize_u64: u64,
        deserialize_i8: i8, deserialize_i16: i16, deserialize_i32: i32, deserialize_i64: i64
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            DeValue::String(text) => self.placed(|| visitor.visit_str(text)),
            DeValue::Integer(_) => self.whole(visitor, i64::MIN.into(), u64::MAX.into()),
            DeValue::Float(_) => self.deserialize_f64(visitor),
            DeValue::Boolean(is) => self.placed(|| visitor.visit_bool(*is)),
            DeValue::Datetime(time) => self.placed(|| visitor.visit_string(time.to_string())),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.placed(|| match self.value {
            DeValue::Boolean(is) => visitor.visit_bool(*is),
            _ => Err(Wrong::value("true or false")),
        })
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let number = match self.value {
            DeValue::Float(n) => n.as_str().replace('_', "").parse().ok(),
            DeValue::Integer(n) => number(n).map(|n| n as f64),
            _ => None,
        };
        self.placed(|| match number {
            Some(number) => visitor.visit_f64(number),
            None => Err(Wrong::value("a number")),
        })
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.placed(|| match self.value {
            DeValue::String(text) => visitor.visit_str(text),
            _ => Err(Wrong::value("text")),
        })
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.placed(|| match self.value {
            DeValue::Array(list) => visitor.visit_seq(Rows::of(list, &self.path)),
            _ => Err(Wrong::value("a list")),
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        match self.value {
            DeValue::Array(list) if list.len() == count => self.deserialize_seq(visitor),
            _ => self.placed(|| Err(Wrong::value(format!("a list of {count} values")))),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.placed(|| match self.value {
            DeValue::Table(table) => visitor.visit_map(Fields::of(table, &self.path)),
            _ => Err(Wrong::value("a table")),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        // The type `Spanned` reads a value together with the value's place. `Spanned` requests
        // three fields (start, end and value) by names that never occur in a file.
        match (fields, self.span) {
            (&[start, end, value], Some(span)) if name.starts_with("$__") => {
                visitor.visit_map(WithSpan::of(self, span, [start, end, value]))
            }
            _ => self.deserialize_map(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.placed(|| match self.value {
            DeValue::String(word) => visitor.visit_enum(StrDeserializer::new(word)),
            DeValue::Table(table) => {
                visitor.visit_enum(MapAccessDeserializer::new(Fields::of(table, &self.path)))
            }
            _ => Err(Wrong::value("a word")),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        char bytes byte_buf unit unit_struct tuple_struct identifier
    }
}
