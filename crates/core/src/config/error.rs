//! What is said of a configuration that cannot be run.

/// A configuration that cannot be run, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// `Ok` where `ok`, else the sentence.
pub(crate) fn require(ok: bool, sentence: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError(sentence())) }
}
