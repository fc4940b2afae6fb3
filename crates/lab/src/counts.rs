//! Counts with decimal units, in `--set` and in files. An example is `requests=1M`.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use vpass_drive::config::keys::Range;

use crate::failure::Failure;
use crate::keys;
use crate::keys::wrong::Wrong;
use crate::lines::line_of;
use crate::numbers::counted;
use crate::schema::Section;

/// Correction that an error message suggests if a word is not a count.
const COUNT: &str = "a number such as 1000000, 1e6 or 1M, below 2^63; k, M, G and T stand for 10^3 \
    to 10^12";

/// Converts a word to a count. The word is the value of a key. Returns `None` if the key does not
/// take counts.
///
/// # Errors
/// Returns an error if the key takes counts and the word is not a count. `at` is the offset of the
/// word in the text.
pub(crate) fn read(key: &str, word: &str, at: usize) -> Result<Option<i64>, Wrong> {
    if !keys::range(key).is_some_and(Range::takes_suffixes) {
        return Ok(None);
    }
    let count = counted(word).and_then(Result::ok);
    let count = count.ok_or_else(|| Wrong::new(key, format!("{word:?}"), COUNT.into(), at))?;
    Ok(i64::try_from(count).ok())
}

/// Returns the text of a file after writing all counts in digits. Every line keeps its line number.
/// A text that is not TOML stays unchanged.
///
/// # Errors
/// Returns an error if the word for a key is not a count, although the key takes counts. The error
/// names the line.
pub(crate) fn expanded<'a>(
    name: &str,
    text: &'a str,
    schema: &[Section],
) -> Result<Cow<'a, str>, Failure> {
    let mut words = vec![];
    if let Ok(document) = DeTable::parse(text) {
        for section in schema {
            if let Some(value) = document.get_ref().get(section.name) {
                collect(section.name, value, section, &mut words);
            }
        }
    }
    let mut text = Cow::Borrowed(text);
    // The last word is replaced first, so that the offsets of earlier words stay valid.
    words.sort_by_key(|(_, _, span)| std::cmp::Reverse(span.start));
    for (key, word, span) in words {
        let complain =
            |wrong: Wrong| wrong.at_place(format!("{name} line {}", line_of(&text, span.start)));
        if let Some(count) = read(&key, &word, span.start).map_err(complain)? {
            text.to_mut().replace_range(span, &count.to_string());
        }
    }
    Ok(text)
}

type Word = (String, String, std::ops::Range<usize>);

/// Collects the values that may be counts, from one table or from a list of tables. Each value is
/// stored with its key and its position.
fn collect(path: &str, value: &Spanned<DeValue>, section: &Section, words: &mut Vec<Word>) {
    match value.get_ref() {
        DeValue::Array(rows) => rows.iter().for_each(|row| collect(path, row, section, words)),
        DeValue::Table(table) => {
            for (name, value) in table {
                let key = format!("{path}.{}", name.get_ref());
                match (value.get_ref(), section.inner(name.get_ref())) {
                    (_, Some(inner)) => collect(&key, value, inner, words),
                    (DeValue::String(word), None) => {
                        words.push((key, word.to_string(), value.span()))
                    }
                    // TOML reads `1e6` as a floating-point number, but keys that take counts accept
                    // only integers.
                    (DeValue::Float(number), None)
                        if counted(number.as_str()).is_some_and(|count| count.is_ok()) =>
                    {
                        words.push((key, number.as_str().to_owned(), value.span()))
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{DRIVE, PHASES, WORKLOAD};

    fn done(text: &str, schema: &[Section]) -> String {
        expanded("f", text, schema).map_or_else(|e| e.to_string(), Cow::into_owned)
    }

    #[test]
    fn counts_in_files_take_units_and_sizes_keep_theirs() {
        let text = "[workload]\nrequests = \"1M\" # many\nblock_size = \"4k\"\nrate = '2.5k'\n";
        assert_eq!(
            done(text, WORKLOAD),
            "[workload]\nrequests = 1000000 # many\nblock_size = \"4k\"\nrate = 2500\n"
        );
        assert_eq!(
            done("workload = {phase = [{requests = '1k'}, {requests = '2k'}]}", PHASES),
            "workload = {phase = [{requests = 1000}, {requests = 2000}]}"
        );
        assert_eq!(done("start = {pec = '1k'}", DRIVE), "start = {pec = 1000}");
        assert_eq!(
            done("[workload]\nrequests = 1e4\nrate = '1.5e3'\n", WORKLOAD),
            "[workload]\nrequests = 10000\nrate = 1500\n"
        );
        for same in ["no toml", "[start]\npec = 3", "disturb = {table = [{pec = 0, limit = []}]}"] {
            assert_eq!(done(same, DRIVE), same);
        }
    }
}
