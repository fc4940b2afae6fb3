//! Parameters of techniques in a drive file: numbers by key, in a slot's table or in the table of
//! one technique. Their ranges stand on the techniques' cards.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Number as written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a number is expected")]
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Given<'a> {
    /// Technique whose table has the parameter; none in the slot's own table.
    pub technique: Option<&'a str>,
    /// Key in that table.
    pub key: &'a str,
    /// Value.
    pub number: Number,
}

type Table = BTreeMap<String, Number>;

/// Parameters of a slot that the user gave, sorted by name. Parameters of the slot's own table come
/// first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, Entry>")]
pub struct Params {
    #[serde(flatten)]
    of_slot: Table,
    #[serde(flatten)]
    of_techniques: BTreeMap<String, Table>,
}

/// Value of a key in a slot's table.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a number is expected, or a table of the technique of this name")]
enum Entry {
    Number(Number),
    Technique(Table),
}

impl From<BTreeMap<String, Entry>> for Params {
    fn from(entries: BTreeMap<String, Entry>) -> Self {
        let mut params = Self::default();
        for (key, entry) in entries {
            match entry {
                Entry::Number(number) => _ = params.of_slot.insert(key, number),
                Entry::Technique(table) if table.is_empty() => {}
                Entry::Technique(table) => _ = params.of_techniques.insert(key, table),
            }
        }
        params
    }
}

impl Params {
    /// Returns all parameters.
    pub fn iter(&self) -> impl Iterator<Item = Given<'_>> {
        let techniques = self.of_techniques.iter().map(|(name, table)| (Some(&**name), table));
        [(None, &self.of_slot)].into_iter().chain(techniques).flat_map(|(technique, table)| {
            table.iter().map(move |(key, number)| Given { technique, key, number: *number })
        })
    }

    /// Returns the number of a key in a technique's table, or in the slot's own.
    pub fn get(&self, technique: Option<&str>, key: &str) -> Option<Number> {
        let table = technique.map_or(Some(&self.of_slot), |name| self.of_techniques.get(name))?;
        table.get(key).copied()
    }

    /// Sets the number of a key.
    pub fn set(&mut self, technique: Option<&str>, key: &str, number: Number) {
        let table = match technique {
            None => &mut self.of_slot,
            Some(name) => self.of_techniques.entry(name.into()).or_default(),
        };
        table.insert(key.into(), number);
    }

    /// Removes a key.
    pub fn remove(&mut self, technique: Option<&str>, key: &str) {
        let Some(name) = technique else {
            self.of_slot.remove(key);
            return;
        };
        if let Some(table) = self.of_techniques.get_mut(name) {
            table.remove(key);
        }
        self.of_techniques.retain(|_, table| !table.is_empty());
    }
}
