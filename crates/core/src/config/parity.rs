//! `[parity]`: parity pages that repair others. Which technique keeps them is the run's `parity` option.

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::params::{Params, SlotTable, read_slot};

/// `[parity]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParityConfig {
    /// Pages of the host in a stripe, where a technique groups them. No key of a file: the run's `parity` option says so.
    pub(crate) stripe: Option<u32>,
    /// Parameters of techniques.
    pub params: Params,
}

impl ParityConfig {
    /// Whether nothing was said of it.
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl SlotTable for ParityConfig {
    const KEYS: &'static [&'static str] = &[];

    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, _: &mut A) -> Result<(), A::Error> {
        unreachable!("`{key}` is a parameter: the table has no key of its own")
    }

    fn params(&mut self) -> &mut Params {
        &mut self.params
    }
}

impl<'de> Deserialize<'de> for ParityConfig {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read_slot(d)
    }
}

impl Serialize for ParityConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut table = s.serialize_map(None)?;
        self.params.write(&mut table)?;
        table.end()
    }
}
