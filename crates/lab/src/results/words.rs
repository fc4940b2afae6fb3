//! Strings in results, such as names of techniques, gears and formats. Each string is stored once
//! and kept until the program ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// Name that results contain, for example the name of a technique. The name is kept until the
/// program ends.
pub(crate) type Word = &'static str;

/// Returns the stored string that equals `text`. If no stored string equals `text`, stores `text`
/// until the program ends. Results contain only few different strings, so these need little memory.
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

/// Reads an optional name from serialised results.
pub(crate) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(word))
}

/// Reads a list of names from serialised results.
pub(crate) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Word>, D::Error> {
    Ok(Vec::<String>::deserialize(from)?.into_iter().map(word).collect())
}

/// Reads a table from serialised results. The keys are names, and the values are counts.
pub(crate) fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    Ok(BTreeMap::<String, u64>::deserialize(from)?
        .into_iter()
        .map(|(name, count)| (word(name), count))
        .collect())
}
