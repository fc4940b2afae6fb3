//! Counts with decimal units, `requests=1M`: read where a key takes them, in `--set` and in files.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use vpass_core::config::keys::Range;

use crate::failure::Failure;
use crate::keys;
use crate::load::line_of;
use crate::numbers::counted;
use crate::schema::Section;

/// The number that a word says for a key; none where the key takes no counts, so that the word is
/// for others to judge.
///
/// # Errors
/// A word that is no count, for a key that takes them.
pub(crate) fn read(key: &str, word: &str) -> Result<Option<i64>, String> {
    if !keys::range(key).is_some_and(Range::takes_suffixes) {
        return Ok(None);
    }
    let expected =
        "a number such as 1000000, 1e6 or 1M is expected; k, M, G and T are 1000 to 1000^4";
    let count = counted(word)
        .unwrap_or_else(|| Err(format!("`{word}` is no number")))
        .map_err(|what| format!("{key}: {what}; {expected}"))?;
    Ok(i64::try_from(count).ok())
}

/// The text of a file with its counts in digits, on the same lines. Of a text that is no TOML
/// nothing changes.
///
/// # Errors
/// A word that is no count, for a key that takes them, with its line.
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
    // From the last on, so that the places of the others stay.
    words.sort_by_key(|(_, _, span)| std::cmp::Reverse(span.start));
    for (key, word, span) in words {
        let complain =
            |what| Failure::usage(format!("{name} line {}: {what}", line_of(&text, span.start)));
        if let Some(count) = read(&key, &word).map_err(complain)? {
            text.to_mut().replace_range(span, &count.to_string());
        }
    }
    Ok(text)
}

type Word = (String, String, std::ops::Range<usize>);

/// The words in a table, or in the rows of a list of tables, with their keys and places.
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
        expanded("f", text, schema).map_or_else(|e| e.sentence, Cow::into_owned)
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
        for same in ["no toml", "[start]\npec = 3", "disturb = {table = [{pec = 0, limit = []}]}"] {
            assert_eq!(done(same, DRIVE), same);
        }
    }

    #[test]
    fn a_word_that_is_no_count_is_refused_with_its_line() {
        let expected =
            "a number such as 1000000, 1e6 or 1M is expected; k, M, G and T are 1000 to 1000^4";
        assert_eq!(
            done("[workload]\nrequests = '1Q'", WORKLOAD),
            format!("f line 2: workload.requests: `1Q` is no number; {expected}")
        );
        assert_eq!(
            read("workload.requests", "1MiB"),
            Err(format!("workload.requests: `1MiB` is no number; {expected}"))
        );
        assert_eq!(read("drive.capacity", "1MiB"), Ok(None));
    }
}
