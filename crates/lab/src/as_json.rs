//! Results as JSON.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::plain::is_hidden;

/// Version of the format in which vpass writes JSON files. The version changes if a key is removed,
/// or if the meaning of a key changes. A new key does not change the version.
pub const SCHEMA: u32 = 1;

/// Formats JSON with indents and a final newline.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn text(what: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(what).map_err(|e| Failure::failed(e.to_string()))?;
    Ok(escaped(&text).into_owned() + "\n")
}

/// Escapes characters that JSON allows but that a terminal interprets as commands. For example, the
/// character U+009B becomes `\u009b`. In JSON, only strings contain such characters.
fn escaped(text: &str) -> Cow<'_, str> {
    let is_escaped = |c: char| c != '\n' && is_hidden(c);
    if !text.contains(is_escaped) {
        return text.into();
    }
    // Each character that must be escaped is one UTF-16 unit, so one escape with four hexadecimal
    // digits is enough.
    let escape =
        |c: char| if is_escaped(c) { format!("\\u{:04x}", u32::from(c)) } else { c.into() };
    text.chars().map(escape).collect::<String>().into()
}

/// Converts a serialisable value to JSON.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn value(what: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(what).map_err(|e| Failure::failed(e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_are_escaped_and_read_back() {
        let name = "a\u{9b}2J\u{202e}\u{7f}\u{1b}[m\n\"\\";
        let text = text(&name).unwrap();
        assert_eq!(text, "\"a\\u009b2J\\u202e\\u007f\\u001b[m\\n\\\"\\\\\"\n");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), name);
    }
}
