//! Checks whether the compared rows are equally reliable. UBER counts lost pages before parity
//! rebuilds some of these pages. Two rows with the same UBER can therefore lose different numbers
//! of pages.

use vpass_drive::api::parity::NO_PARITY;

use super::row::ComparisonRow;
use crate::results::Summary;

/// Returns a warning if the rows differ in reliability; otherwise `None`.
pub fn unequal_reliability(rows: &[ComparisonRow]) -> Option<String> {
    let any = |row: &ComparisonRow, is: fn(&Summary) -> bool| row.runs.iter().any(is);
    let (repaired, others): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| any(row, Summary::is_repaired_beyond_uber));
    let (repaired, others) = (parities(&repaired), parities(&others));
    let who = repaired.join(", ");
    let how = match (repaired.len(), others.len()) {
        (0, _) | (1, 0) => return None,
        (_, 0) => format!("{who} rebuild different shares of the pages that UBER counts as lost"),
        (repaired, _) => {
            let rebuild = if repaired == 1 { "rebuilds" } else { "rebuild" };
            format!(
                "{who} {rebuild} some of the pages that UBER counts as lost, but {} cannot rebuild \
                 any of these pages",
                others.join(", ")
            )
        }
    };
    let sentence =
        format!("The compared rows are not equally reliable: UBER counts single pages, and {how}.");
    rows.iter().any(|row| any(row, Summary::has_uber)).then_some(sentence)
}

/// Returns the names of the parity techniques of these rows, each name once.
fn parities(rows: &[&ComparisonRow]) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    for name in rows.iter().map(|row| format!("`{}`", row.parity.as_deref().unwrap_or(NO_PARITY))) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
