//! Blocks with known doses, for tests.

use super::rows::{Snapshot, Wordline};

/// Makes a block whose wordlines have these doses. Each wordline holds one page and has this limit.
pub(crate) fn block(number: u32, doses: &[f64], limit: f64) -> Snapshot {
    let wordline = |dose: &f64| Wordline {
        group: "only".into(),
        alpha: 9.0,
        dose: *dose,
        limit,
        valid_pages: 1,
        ..Wordline::default()
    };
    Snapshot {
        block: number,
        wordlines: doses.iter().map(wordline).collect(),
        ..Snapshot::default()
    }
}
