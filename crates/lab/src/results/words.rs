//! Strings of results that live as long as the program: names of techniques, gears and formats.
//! Results that are read back share these strings.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer};

/// Name from a list of this program.
pub(crate) type Word = &'static str;

/// Returns the string with this text. Each text is kept once for the life of the program; results
/// have few of them.
fn word(text: String) -> Word {
    static KNOWN: Mutex<BTreeSet<Word>> = Mutex::new(BTreeSet::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.get(text.as_str()).copied().unwrap_or_else(|| {
        let word: Word = Box::leak(text.into_boxed_str());
        known.insert(word);
        word
    })
}

/// Reads one name.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<Word, D::Error> {
    String::deserialize(from).map(word)
}

/// Reads a name that may be absent.
pub(crate) fn any<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Word>, D::Error> {
    Ok(Option::<String>::deserialize(from)?.map(word))
}

/// Reads several names.
pub(crate) fn several<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Word>, D::Error> {
    Ok(Vec::<String>::deserialize(from)?.into_iter().map(word).collect())
}

/// Reads counts by their names.
pub(crate) fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Word, u64>, D::Error> {
    Ok(BTreeMap::<String, u64>::deserialize(from)?
        .into_iter()
        .map(|(name, count)| (word(name), count))
        .collect())
}
