//! Errors of a configuration.

use crate::base::phrase::Phrase;

/// Error of a configuration, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(Phrase);

impl ConfigError {
    /// Makes an error of this sentence.
    pub fn new(sentence: impl Into<Phrase>) -> Self {
        Self(sentence.into())
    }
}

impl From<ConfigError> for Phrase {
    fn from(e: ConfigError) -> Self {
        e.0
    }
}

/// Returns an error with this sentence unless `ok`.
///
/// # Errors
/// Returns the sentence if `ok` is false.
pub fn require(ok: bool, sentence: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::new(sentence())) }
}

/// Checks that P/E counts rise from row to row. The error names the first two counts that do not.
pub(crate) fn require_ascending(
    table: &str,
    pecs: impl Iterator<Item = u32> + Clone,
) -> Result<(), ConfigError> {
    let mut pairs = (2..).zip(pecs.clone().zip(pecs.skip(1)));
    match pairs.find(|(_, (before, pec))| pec <= before) {
        None => Ok(()),
        Some((row, (before, pec))) => Err(ConfigError::new(format!(
            "{table}: row {row} has pec = {pec}, but the row before has pec = {before}; pec must \
             rise from row to row"
        ))),
    }
}
