//! Parameters of techniques in a drive file: numbers by key, in a slot's table or in the table of
//! one technique. Their ranges stand on the techniques' cards.

use std::fmt;

use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Number without a decimal point.
    Whole(i64),
    /// Number with a decimal point.
    Real(f64),
}

impl Number {
    /// Returns the value; exact up to 2^53.
    pub fn value(self) -> f64 {
        match self {
            Self::Whole(n) => n as f64,
            Self::Real(x) => x,
        }
    }

    /// Returns whether two numbers have the same value, such as 1 and 1.0.
    pub fn is_same(self, other: Self) -> bool {
        self.value().total_cmp(&other.value()).is_eq()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(n) => write!(f, "{n}"),
            // A whole number and a number with a decimal point print differently: 8 and 8.0.
            Self::Real(x) => write!(f, "{x:?}"),
        }
    }
}

/// Parameter that was given.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// Technique whose table has the parameter; none in the slot's own table.
    pub technique: Option<String>,
    /// Key in that table.
    pub key: String,
    /// Value.
    pub number: Number,
}

/// Parameters of a slot that the user gave, sorted by name. Parameters of the slot's own table come
/// first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(Vec<Given>);

impl Params {
    /// Returns all parameters.
    pub fn iter(&self) -> impl Iterator<Item = &Given> {
        self.0.iter()
    }

    /// Returns the number of a key in a technique's table, or in the slot's own.
    pub fn get(&self, technique: Option<&str>, key: &str) -> Option<Number> {
        self.0.iter().find(|given| given.is(technique, key)).map(|given| given.number)
    }

    /// Sets the number of a key.
    pub fn set(&mut self, technique: Option<&str>, key: &str, number: Number) {
        match self.0.binary_search_by(|given| {
            (given.technique.as_deref(), given.key.as_str()).cmp(&(technique, key))
        }) {
            Ok(at) => self.0[at].number = number,
            Err(at) => self.0.insert(
                at,
                Given { technique: technique.map(str::to_owned), key: key.into(), number },
            ),
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, technique: Option<&str>, key: &str) {
        self.0.retain(|given| !given.is(technique, key));
    }

    /// Writes all parameters into a slot's table.
    pub(super) fn write<M: SerializeMap>(&self, table: &mut M) -> Result<(), M::Error> {
        for given in self.0.iter().filter(|given| given.technique.is_none()) {
            table.serialize_entry(&given.key, &given.number)?;
        }
        let mut techniques: Vec<&str> =
            self.0.iter().filter_map(|given| given.technique.as_deref()).collect();
        techniques.dedup();
        for technique in techniques {
            table.serialize_entry(technique, &OfTechnique { params: self, technique })?;
        }
        Ok(())
    }
}

impl Given {
    fn is(&self, technique: Option<&str>, key: &str) -> bool {
        self.technique.as_deref() == technique && self.key == key
    }
}

/// Table of a slot: its own keys, and parameters of techniques.
pub(super) trait SlotTable: Default {
    /// Own keys of the table.
    const KEYS: &'static [&'static str];

    /// Reads the value of an own key.
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, table: &mut A) -> Result<(), A::Error>;

    /// Returns the parameters of techniques.
    fn params(&mut self) -> &mut Params;
}

/// Reads a slot's table.
pub(super) fn read_slot<'de, T: SlotTable, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_struct("slot", T::KEYS, SlotVisitor(std::marker::PhantomData))
}

struct SlotVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: SlotTable> Visitor<'de> for SlotVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut table = T::default();
        while let Some(key) = map.next_key::<String>()? {
            if T::KEYS.contains(&key.as_str()) {
                table.read(&key, &mut map)?;
            } else {
                map.next_value_seed(Entry { params: table.params(), key })?;
            }
        }
        Ok(table)
    }
}

/// Value of a key in a slot's table: a number, or the table of a technique.
struct Entry<'a> {
    params: &'a mut Params,
    key: String,
}

impl<'de> DeserializeSeed<'de> for Entry<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entry<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "a number for `{0}`, or a table of the technique `{0}`", self.key)
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<(), E> {
        self.params.set(None, &self.key, Number::Whole(n));
        Ok(())
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<(), E> {
        self.visit_i64(i64::try_from(n).unwrap_or(i64::MAX))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<(), E> {
        self.params.set(None, &self.key, Number::Real(x));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let number = map.next_value::<Number>()?;
            self.params.set(Some(&self.key), &key, number);
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Number, E> {
        Ok(Number::Whole(n))
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Number, E> {
        Ok(Number::Whole(i64::try_from(n).unwrap_or(i64::MAX)))
    }

    fn visit_f64<E: Error>(self, x: f64) -> Result<Number, E> {
        Ok(Number::Real(x))
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(n) => serializer.serialize_i64(*n),
            Self::Real(x) => serializer.serialize_f64(*x),
        }
    }
}

/// Table of one technique.
struct OfTechnique<'a> {
    params: &'a Params,
    technique: &'a str,
}

impl Serialize for OfTechnique<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows =
            self.params.iter().filter(|given| given.technique.as_deref() == Some(self.technique));
        serializer.collect_map(rows.map(|given| (&given.key, given.number)))
    }
}
