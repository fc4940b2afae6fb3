//! All findings about a run. Without a collection, a report keeps the first findings of each kind,
//! and a random drive ends with its first error.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::report::Kind;

/// Kind of the findings of a swarm, and of the end of a run.
const OTHER: &str = "Case";

/// Kind and sentence of a finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Kind of the finding.
    pub kind: String,
    /// The finding in words.
    pub sentence: String,
}

thread_local! {
    /// First of the findings that differ only in their numbers, if findings are collected.
    static SEEN: RefCell<Option<BTreeMap<String, Finding>>> = const { RefCell::new(None) };
}

/// Runs a case, and returns its findings. Findings that differ only in their numbers are one.
pub fn collect(run: impl FnOnce() -> Result<(), String>) -> Vec<Finding> {
    SEEN.set(Some(BTreeMap::new()));
    let ended = run();
    // The error of a run repeats its findings.
    if let Err(said) = ended
        && (SEEN.with_borrow(|seen| seen.as_ref().is_some_and(BTreeMap::is_empty))
            || said.contains("the drive panicked"))
    {
        add(OTHER.into(), &said);
    }
    SEEN.take().unwrap_or_default().into_values().collect()
}

/// Returns whether findings are collected.
pub(crate) fn collects() -> bool {
    SEEN.with_borrow(Option::is_some)
}

fn add(kind: String, sentence: &str) {
    let shape = sentence.replace(|c: char| c.is_ascii_digit(), "");
    SEEN.with_borrow_mut(|seen| {
        if let Some(seen) = seen {
            seen.entry(shape).or_insert_with(|| Finding { kind, sentence: sentence.into() });
        }
    });
}

/// Notes a finding.
pub(crate) fn note(kind: Kind, sentence: &str) {
    add(format!("{kind:?}"), sentence);
}

/// Notes an error of a random drive and goes on, if findings are collected.
///
/// # Errors
/// The error, otherwise.
pub(crate) fn go_on(checked: Result<(), String>) -> Result<(), String> {
    let Err(said) = checked else { return Ok(()) };
    if !collects() {
        return Err(said);
    }
    add(OTHER.into(), &said);
    Ok(())
}
