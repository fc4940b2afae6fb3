//! Strict reader of CSV according to RFC 4180. The reader fails at a quote within a field without
//! quotes, and at rows of different widths.

use std::mem::take;

/// Returns the rows of a file, with the heading as the first row. A comment line before the heading
/// is left out.
#[track_caller]
pub(crate) fn rows(text: &str) -> Vec<Vec<String>> {
    let text = if text.starts_with('#') { text.split_once('\n').unwrap().1 } else { text };
    let (mut rows, mut row, mut field) = (vec![], vec![], String::new());
    let (mut in_quotes, mut was_quoted) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => field.extend(chars.next()),
            '"' if in_quotes => (in_quotes, was_quoted) = (false, true),
            _ if in_quotes => field.push(c),
            ',' | '\n' => {
                was_quoted = false;
                row.push(take(&mut field));
                if c == '\n' {
                    rows.push(take(&mut row));
                }
            }
            _ => {
                assert!(
                    !was_quoted && (c != '"' || field.is_empty()),
                    "{c:?} behind {field:?} in {text}"
                );
                in_quotes = c == '"';
                field.extend((c != '"').then_some(c));
            }
        }
    }
    assert!(
        !in_quotes && row.is_empty() && field.is_empty(),
        "a last line without its end: {text}"
    );
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?} under {:?}", rows[0]);
    }
    rows
}

/// Returns the number in the last column of the row that begins with these fields.
#[track_caller]
pub(crate) fn number(rows: &[Vec<String>], start: &[&str]) -> f64 {
    let row = rows.iter().find(|row| row.iter().zip(start).all(|(field, start)| field == start));
    row.unwrap_or_else(|| panic!("{start:?} in {rows:?}")).last().unwrap().parse().unwrap()
}

#[test]
fn what_is_no_csv_is_not_read() {
    assert_eq!(rows("# t\na,b\n\"x, \"\"y\"\"\",\n"), [["a", "b"], ["x, \"y\"", ""]]);
    for wrong in ["a,b\nWin 7, timed,1\n", "a\nb\"c\"\n", "a\n\"b\"c\n", "a\n\"b\n", "a\nb"] {
        assert!(std::panic::catch_unwind(|| rows(wrong)).is_err(), "{wrong}");
    }
}
