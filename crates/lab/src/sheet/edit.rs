//! Editor that changes single keys in the text of a drive file. The lines and comments of other
//! keys stay unchanged.
//!
//! ```text
//! old line: cell = "tlc"   # techpowerup
//! new lines: # sheet: cell (preset: "tlc")
//!            cell = "qlc"
//! ```

use std::ops::Range;

/// Largest width of a line, in characters.
const COLUMNS: usize = 100;

/// Sets a key to a value, with a comment that gives the reason. If the key already had a value, the
/// comment also names the old value.
pub(super) fn set(text: &str, (table, key): (&str, &str), value: &str, why: &str) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let header = format!("[{table}]");
    let begin = lines.iter().position(|line| line.trim_end() == header).unwrap_or_else(|| {
        lines.extend([String::new(), header]);
        lines.len() - 1
    }) + 1;
    let span = span_of(&lines, begin, key).unwrap_or(begin..begin);
    let why = match lines.get(span.clone()) {
        Some([line]) => format!("{why} (preset: {})", value_in(line)),
        _ => why.to_owned(),
    };
    lines.splice(span, commented(&format!("{key} = {value}"), &why));
    lines.join("\n") + "\n"
}

/// Returns the numbers of the lines that set a key. The key's table begins at the line `begin`.
/// Returns `None` if the table does not have the key.
fn span_of(lines: &[String], begin: usize, key: &str) -> Option<Range<usize>> {
    let of_table = lines[begin..].iter().take_while(|line| !line.starts_with('['));
    let at = begin + of_table.clone().position(|line| is_of(line, key))?;
    let (mut opened, mut closed) = (0, 0);
    for (n, line) in lines.iter().enumerate().skip(at) {
        let code = without_comment(line);
        opened += code.matches('[').count();
        closed += code.matches(']').count();
        if closed >= opened {
            return Some(at..n + 1);
        }
    }
    None
}

/// Returns whether a line sets this key.
fn is_of(line: &str, key: &str) -> bool {
    line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// Returns the value that a line sets.
fn value_in(line: &str) -> &str {
    without_comment(line).split_once('=').map_or("", |(_, value)| value.trim())
}

/// Returns a line without its comment. The line must not have a string that contains `#`. Presets
/// have no such lines.
fn without_comment(line: &str) -> &str {
    line.split('#').next().unwrap_or("")
}

/// Returns a key with its comment, as lines of text. If a single line is too short for key and
/// comment, the comment is above the key.
fn commented(key_and_value: &str, why: &str) -> Vec<String> {
    let one = format!("{key_and_value} # {why}");
    if one.chars().count() <= COLUMNS && !key_and_value.contains('\n') {
        return vec![one];
    }
    let mut lines = comment(why);
    lines.extend(key_and_value.lines().map(str::to_owned));
    lines
}

/// Divides a comment into lines with at most [`COLUMNS`] characters each.
pub(super) fn comment(words: &str) -> Vec<String> {
    let mut lines = vec![String::from("#")];
    for word in words.split_whitespace() {
        let last = lines.last_mut().expect("one line at least");
        if last.chars().count() + 1 + word.chars().count() > COLUMNS {
            lines.push(format!("# {word}"));
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[geometry]\ncell = \"tlc\" # known\ncells = 1\n[disturb]\n# rows\ntable = \
                        [\n    \
                        { pec = 0, limit = [1, 2] },\n]\ncell = 3\n";

    #[test]
    fn one_key_changes_and_all_other_lines_stay() {
        let of = |path, value| set(TEXT, path, value, "sheet: cell");
        assert_eq!(
            of(("geometry", "cell"), "\"qlc\""),
            TEXT.replace("\"tlc\" # known", "\"qlc\" # sheet: cell (preset: \"tlc\")")
        );
        assert_eq!(
            of(("disturb", "table"), "[]"),
            "[geometry]\ncell = \"tlc\" # known\ncells = 1\n[disturb]\n# rows\ntable = [] # sheet: \
             cell\ncell = 3\n"
        );
        assert_eq!(of(("sheet", "tbw"), "5"), format!("{TEXT}\n[sheet]\ntbw = 5 # sheet: cell\n"));
        let added = of(("geometry", "channels"), "8");
        assert!(added.starts_with("[geometry]\nchannels = 8 # sheet: cell\ncell"), "{added}");
    }

    #[test]
    fn a_long_reason_stands_above_its_key() {
        let text = set(TEXT, ("geometry", "cell"), "3", &"word ".repeat(30));
        let long = text.lines().filter(|line| line.starts_with("# word")).count();
        assert!(long == 2 && text.contains("\ncell = 3\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS));
    }
}
