//! What is said of a configuration that cannot be run.

/// A configuration that cannot be run, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// `Ok` where `ok`, else the sentence.
pub(crate) fn require(ok: bool, sentence: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError(sentence())) }
}

/// A share between 0 and 1 with a name for the error.
pub(crate) fn require_share(key: &str, value: f64) -> Result<(), ConfigError> {
    require((0.0..=1.0).contains(&value), || format!("{key} = {value} is outside 0 to 1"))
}

/// A finite number in a range with a name for the error.
pub(crate) fn require_range(key: &str, value: f64, low: f64, high: f64) -> Result<(), ConfigError> {
    require(value >= low && value <= high, || format!("{key} = {value} is outside {low} to {high}"))
}

/// P/E counts that rise from row to row; else a sentence that names the first two that do not.
pub(crate) fn require_ascending(
    table: &str,
    pecs: impl Iterator<Item = u32> + Clone,
) -> Result<(), ConfigError> {
    let mut pairs = (2..).zip(pecs.clone().zip(pecs.skip(1)));
    match pairs.find(|(_, (before, pec))| pec <= before) {
        None => Ok(()),
        Some((row, (before, pec))) => Err(ConfigError(format!(
            "{table}: row {row} has pec = {pec}, and the row before it {before}; pec must ascend from row to row"
        ))),
    }
}
