//! Fields of CSV according to RFC 4180. Quotes keep a comma in a name from ending its field.
use std::borrow::Cow;

/// Returns a field, in quotes if the text contains a comma, a quote or a line break.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { quoted(text).into() } else { text.into() }
}

/// Returns a field in quotes. Each quote inside the text is doubled.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_part_a_field_is_quoted() {
        assert_eq!(
            ["plain words", "Win 7, timed", "a \"b\"", "two\nlines", ""].map(field),
            ["plain words", "\"Win 7, timed\"", "\"a \"\"b\"\"\"", "\"two\nlines\"", ""]
        );
        assert_eq!(quoted("a"), "\"a\"");
    }
}
