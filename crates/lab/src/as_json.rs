//! Results as JSON.

use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;

/// JSON with indents and a newline at the end.
///
/// # Errors
/// A value that has no JSON.
pub fn text(what: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(what).map_err(Failure::failed)?;
    Ok(text + "\n")
}

/// Anything of ours as a JSON value.
///
/// # Errors
/// A value that has no JSON.
pub fn value(what: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(what).map_err(Failure::failed)
}
