//! Printable form of text that vpass did not write. Examples are names in traces and job files,
//! paths, words of the command line, and strings in TOML files.
//!
//! Text from outside vpass may contain terminal codes or line ends. vpass prints this text only
//! through this module, so that the text cannot change the rest of the output.

use std::borrow::Cow;
use std::path::Path;

/// Escapes all hidden characters in one line of text. Line ends are escaped, too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Escapes hidden characters in a text of several lines. vpass wrote the line ends, so they are
/// kept.
pub fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

/// Formats a path as one line of text.
pub fn path(path: &Path) -> String {
    line(&path.display().to_string()).into_owned()
}

/// Escapes hidden characters in a report. vpass wrote the colour codes, so they are kept.
pub fn report(text: &str, colour: bool) -> Cow<'_, str> {
    if !colour {
        return lines(text);
    }
    let mut clean = String::with_capacity(text.len());
    for (n, piece) in text.split('\x1b').enumerate() {
        let codes = piece.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        match codes
            .filter(|(codes, _)| n > 0 && codes.bytes().all(|c| c.is_ascii_digit() || c == b';'))
        {
            Some((codes, rest)) => clean.extend(["\x1b[", codes, "m", &lines(rest)]),
            None => clean.extend([if n > 0 { "\\u{1b}" } else { "" }, &lines(piece)]),
        }
    }
    clean.into()
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut clean = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_escaped(c) { clean.extend(c.escape_default()) } else { clean.push(c) }
    }
    clean.into()
}

/// Returns whether a character is hidden. Hidden characters are control characters of terminals,
/// line ends, and characters that change the direction of the text.
pub(crate) fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns || matches!(c, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_codes_are_escaped() {
        assert_eq!(
            line("a\x1b[31mb\nc\r\t\u{9b}2J\u{202e}\u{2028}\x7f"),
            "a\\u{1b}[31mb\\nc\\r\\t\\u{9b}2J\\u{202e}\\u{2028}\\u{7f}"
        );
        assert_eq!(line("µs, 1–2 \"äöü\" \\n"), "µs, 1–2 \"äöü\" \\n");
        assert_eq!(lines("a\nb\x1bc"), "a\nb\\u{1b}c");
        assert_eq!(path(Path::new("a\nvpass: b")), "a\\nvpass: b");
    }

    #[test]
    fn a_report_keeps_its_own_colours_and_no_other_code() {
        let text = "\x1b[1mhead\x1b[0m\n\x1b]0;title\x07 \x1b[2J\x1b[38;5;9mred\x1b[0m";
        assert_eq!(
            report(text, true),
            "\x1b[1mhead\x1b[0m\n\\u{1b}]0;title\\u{7} \\u{1b}[2J\x1b[38;5;9mred\x1b[0m"
        );
        assert_eq!(report("\x1b[1mhead", false), "\\u{1b}[1mhead");
    }
}
