//! Strings of results that live as long as the program, such as names of techniques, gears and
//! formats. Results that are read from files share these strings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// Name that is part of the program, such as the name of a technique.
pub(crate) type Word = &'static str;

/// Returns the shared string with this text. Each text is kept until the program ends. Results have
/// few different texts.
fn word(text: String) -> Word {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(text.as_str()).copied().unwrap_or_else(|| {
        let word: Word = Box::leak(text.into_boxed_str());
        known.insert(word);
        word
    })
}

/// Deserialises one name.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    String::deserialize(from).map(word)
}

/// Deserialises a name that may be absent.
pub(crate) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(word))
}

/// Deserialises several names.
pub(crate) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Word>, D::Error> {
    Ok(Vec::<String>::deserialize(from)?.into_iter().map(word).collect())
}

/// Deserialises counts by name.
pub(crate) fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    Ok(BTreeMap::<String, u64>::deserialize(from)?
        .into_iter()
        .map(|(name, count)| (word(name), count))
        .collect())
}
