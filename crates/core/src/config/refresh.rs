//! `[refresh]`: when data is rewritten because it is old. Which technique does it is the run's
//! `refresh` option.

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::{ConfigError, require};
use super::params::{Params, SlotTable, read_slot};
use crate::base::span::{DAY, Span};

/// `[refresh]`.
#[derive(Clone, Debug, PartialEq)]
pub struct RefreshConfig {
    /// The age that data does not outgrow, a string such as "30d".
    pub period: Span,
    /// Whether a technique refreshes data on this drive. No key of a file: the run's `refresh`
    /// option says so.
    pub(crate) at_work: bool,
    /// Parameters of techniques.
    pub params: Params,
}

impl Default for RefreshConfig {
    fn default() -> Self {
        // Assumption: a month; drives publish no figure.
        Self { period: Span(30 * DAY), at_work: false, params: Params::default() }
    }
}

impl RefreshConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require(!self.period.is_zero(), || {
            "refresh.period is 0; a span of time such as \"30d\" is expected".into()
        })
    }
}

impl SlotTable for RefreshConfig {
    const KEYS: &'static [&'static str] = &["period"];

    fn read<'de, A: MapAccess<'de>>(&mut self, _: &str, table: &mut A) -> Result<(), A::Error> {
        self.period = table.next_value()?;
        Ok(())
    }

    fn params(&mut self) -> &mut Params {
        &mut self.params
    }
}

impl<'de> Deserialize<'de> for RefreshConfig {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read_slot(d)
    }
}

impl Serialize for RefreshConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut table = s.serialize_map(None)?;
        table.serialize_entry("period", &self.period)?;
        self.params.write(&mut table)?;
        table.end()
    }
}
