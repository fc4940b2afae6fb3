//! Results, computed a second time. For every technique, the summary is computed again from
//! `blocks.csv`, from `series.csv`, and from events that an observer of this test counts.
//!
//! ```text
//! execute(plan)            summary, blocks.csv, series.csv      the product's arithmetic
//! session with a Counter   the same requests, event by event    this test's arithmetic
//! ```
//!
//! Some numbers have no events. They are compared with the drive's own counts. This finds a field
//! of the summary that shows another field's count.

mod cases;
mod counter;
mod expected;
mod intervals;
mod listed;
mod lives;
mod rates;
mod tables;
mod told;
mod tolerant;

use std::collections::BTreeSet;

use cases::{Case, cases};
use counter::Counted;
use expected::{Book, of_events};
use serde_json::Value;
use tables::Table;
use told::as_told;
use vpass_lab::files::of_run;
use vpass_lab::manifest::Call;
use vpass_lab::progress::Unwatched;
use vpass_lab::run::{Outcome, execute};

/// Case after its run: the results of vpass, and the counts of the observer.
struct Ran {
    name: String,
    outcome: Outcome,
    summary: Value,
    blocks: Table,
    series: Table,
    counted: Counted,
}

impl Ran {
    fn of(case: &Case) -> Self {
        let plan = case.plan();
        let outcome = execute(&plan, &Unwatched).unwrap_or_else(|e| panic!("{}: {e}", case.name));
        let files = of_run(&plan, &outcome, &Call::of_library("run")).unwrap();
        let file = |name: &str| files.iter().find(|(of, _)| of == name).unwrap().1.clone();
        Self {
            name: case.name.clone(),
            summary: serde_json::from_str(&file("summary.json")).unwrap(),
            blocks: Table::parse(&file("blocks.csv")),
            series: Table::parse(&file("series.csv")),
            counted: Counted::of(&plan),
            outcome,
        }
    }

    fn of_events(&self) -> Book {
        of_events(&self.counted, &self.blocks, &self.series, &self.outcome)
    }

    fn as_told(&self) -> Book {
        as_told(&self.outcome)
    }

    /// Returns the expected numbers of the summary, as far as this test computes them.
    fn book(&self) -> Book {
        let mut book = self.of_events();
        book.append(self.as_told());
        book
    }
}

/// Numbers that are 0 in every case. For example, no block is erased for parity.
const NEVER_SHOWN: [&str; 30] = [
    "failures.rebuilt_for_reads_pages",
    "failures.rebuilt_for_writes_pages",
    "failures.unmended_pages",
    "flash.erases.host",
    "flash.erases.parity",
    "flash.erases.retry",
    "flash.programs.retry",
    "flash.reprograms.gc",
    "flash.reprograms.host",
    "flash.reprograms.parity",
    "flash.reprograms.retry",
    "flash.reprograms.wear",
    "hints.idle.missed_budgets",
    "hints.idle.pages_kept_tighter",
    "hints.smallest.pages_kept_tighter",
    "hints.smallest.retries",
    "hints.typical.pages_kept_tighter",
    "parity.by_wear.waiting_at_end",
    "reclaim.draws",
    "reclaim.guards_",
    "reclaim.low_density_refused",
    "reclaim.low_density_used.",
    "reclaim.early_moves",
    "reclaim.outside_pool",
    "reclaim.pool_misses",
    "reclaim.refreshed_low_density",
    "reclaim.reversals",
    "reclaim.shadow_",
    "parity.unprotected_stripes",
    "smart.redcap",
];

#[test]
fn summaries_have_the_counted_numbers() {
    let (mut shown, mut known, mut wrong) = (BTreeSet::new(), BTreeSet::new(), vec![]);
    let (mut told, mut said, mut computed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        let ran = Ran::of(&case);
        let book = ran.book();
        let differences = book
            .differences(&ran.summary)
            .into_iter()
            .chain(tables::differences(&ran.series, &ran.summary))
            .chain(tolerant::differences(&ran.counted, &ran.summary));
        wrong.extend(differences.map(|one| format!("{}: {one}", ran.name)));
        known.extend(book.paths());
        computed.extend(tolerant::paths(&ran.counted, &ran.summary));
        told.extend(listed::only_told(&ran.of_events(), &ran.as_told()));
        listed::add_paths(&ran.summary, "", &mut said);
        shown.extend(book.paths_above_zero());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let is_exempt = |path: &&String| NEVER_SHOWN.iter().any(|never| path.starts_with(never));
    let unseen: Vec<&String> = known.difference(&shown).filter(|path| !is_exempt(path)).collect();
    assert!(unseen.is_empty(), "always 0, so they are not tested: {unseen:?}");
    computed.extend(known);
    listed::require_all(&said, &computed, &told);
}
