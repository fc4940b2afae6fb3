//! Strings of results that are kept until the program ends, such as names of techniques, gears and
//! formats. Results that are read from files share these strings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// Name that exists as long as the program runs, such as the name of a technique.
pub(crate) type Word = &'static str;

/// Returns the shared string that has this text. Each different text is kept until the program
/// ends. Results contain only few different texts.
fn word(text: String) -> Word {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(text.as_str()).copied().unwrap_or_else(|| {
        let word: Word = Box::leak(text.into_boxed_str());
        known.insert(word);
        word
    })
}

/// Reads one name from serialised results.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    String::deserialize(from).map(word)
}

/// Reads a name that may be absent from serialised results.
pub(crate) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(word))
}

/// Reads a list of names from serialised results.
pub(crate) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Word>, D::Error> {
    Ok(Vec::<String>::deserialize(from)?.into_iter().map(word).collect())
}

/// Reads a table of counts, each with its name, from serialised results.
pub(crate) fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    Ok(BTreeMap::<String, u64>::deserialize(from)?
        .into_iter()
        .map(|(name, count)| (word(name), count))
        .collect())
}
