//! Fields of CSV files according to RFC 4180. A name that contains a comma is quoted, because
//! without quotes the name would become two fields.
use std::borrow::Cow;

/// Returns the text as a CSV field. A text with a comma, a quote or a line break is put in quotes.
pub(super) fn field(text: &str) -> Cow<'_, str> {
    if text.contains([',', '"', '\n', '\r']) { quoted(text).into() } else { text.into() }
}

/// Returns the text as a quoted CSV field. Each quote inside the text is doubled.
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
