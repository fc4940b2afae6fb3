//! Lists of the numbers that no event shows, each with the reason. A new number of the summary that
//! is neither computed nor listed is an error.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::expected::Book;

/// Numbers that are compared only with the drive's own counts. A path that ends with a full stop
/// stands for all numbers below it.
const TOLD: [(&str, &str); 9] = [
    ("controller_ram_bytes", "follows from the geometry: no event shows memory"),
    ("failures.", "a program does not say whether a read, a write or the background wanted it"),
    ("hints.", "no event shows the hint of a page"),
    ("parity.by_wear.", "no event shows the end of a stripe's parity"),
    ("parity.delayed.", "the cache of partial parities has no events"),
    ("parity.", "a program does not show how its parity was computed"),
    ("reclaim.", "why a technique acted is known to the technique alone"),
    ("refresh.", "why a technique acted is known to the technique alone"),
    ("smart.refresh_count", "the sum of two told numbers"),
];

/// Numbers that this test does not compute.
const NOT_COMPUTED: [(&str, &str); 38] = [
    ("schema", "a constant"),
    ("seed", "a setting"),
    ("passes", "a setting"),
    ("stable", "null without `--until stable`"),
    ("jobs", "null without a fio file"),
    ("oracle", "null without the oracle, which is itself a second computation"),
    ("threshold_used", "null without the oracle"),
    ("trace", "facts about a file; tests of the readers compute them"),
    ("trace.", "facts about a file; tests of the readers compute them"),
    ("simulation.", "times and memory of this machine"),
    ("batch_means.batches", "a constant"),
    ("batch_means.read_mean_us", "not computed: it needs the latencies of each batch"),
    ("batch_means.read_p50_us", "not computed: it needs the latencies of each batch"),
    ("batch_means.read_p99_us", "not computed: it needs the latencies of each batch"),
    ("batch_means.read_p99_9_us", "not computed: it needs the latencies of each batch"),
    ("batch_means.reclaim_wait_us", "no event shows which reads met a reclaim job"),
    ("batch_means.uber_share", "not computed: expected losses of a batch have no event"),
    ("batch_means.", "computed in `intervals`, for six cases"),
    ("failures.happened.", "settings of `--fail`"),
    ("failures.lost_not_worn_pages", "no event shows why a stripe had no parity"),
    ("failures.lost_waiting_pages", "no event shows why a stripe had no parity"),
    ("failures.mended_after_requests", "the end of a rebuild is an event without a request"),
    ("failures.mended_after_s", "the end of a rebuild is an event without a time of its own"),
    ("failures.unprotected_stripes", "no event shows the end of a stripe's parity"),
    ("hints.", "no event shows the hint of a page"),
    ("latency_us.read_during_reclaim.", "no event shows which reads met a reclaim job"),
    ("parity.by_wear.", "stages of life; drive/tests/lifetime.rs computes them"),
    ("parity.delayed.power_loss.", "no power is lost; drive/tests/delayed_parity.rs computes it"),
    ("parity.parity_pages", "follows from the settings"),
    ("parity.stripe_pages", "a setting"),
    ("reclaim.blame.", "no event shows which read a job answers"),
    ("refresh.extra_blocks", "not computed: a sum over the codings of all blocks at the end"),
    ("retries.began_higher", "no event shows the level with which a read begins"),
    ("retries.budget_raised", "follows from limits, not from events"),
    ("wear.drive_writes_per_day", "a projection, not a count: lab/src/results/life.rs"),
    ("wear.ipr_rate", "cycles of reprogrammed blocks are counted by block, and have no event"),
    ("wear.rated_pec", "a setting"),
    ("wear.", "a projection, not a count: lab/src/results/life.rs"),
];

/// Returns the paths that only the drive's own counts give.
pub(crate) fn only_told(of_events: &Book, told: &Book) -> Vec<String> {
    let counted: BTreeSet<String> = of_events.paths().collect();
    told.paths().filter(|path| !counted.contains(path)).collect()
}

/// Adds the paths of all numbers and nulls of a summary.
pub(crate) fn add_paths(at: &Value, path: &str, all: &mut BTreeSet<String>) {
    let below = |key: &str| if path.is_empty() { key.into() } else { format!("{path}.{key}") };
    match at {
        Value::Object(keys) => keys.iter().for_each(|(key, at)| add_paths(at, &below(key), all)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, at)| add_paths(at, &below(&n.to_string()), all))
        }
        Value::Number(_) | Value::Null => drop(all.insert(path.into())),
        Value::String(_) | Value::Bool(_) => {}
    }
}

/// Fails unless each number is computed or listed, and each entry of the lists is needed.
pub(crate) fn require_all(
    said: &BTreeSet<String>,
    known: &BTreeSet<String>,
    told: &BTreeSet<String>,
) {
    let not_known = said.iter().filter(|path| !known.contains(*path));
    require_listed("neither computed nor listed", not_known, &NOT_COMPUTED);
    require_listed("only told, and not listed", told.iter(), &TOLD);
}

fn require_listed<'a>(what: &str, paths: impl Iterator<Item = &'a String>, list: &[(&str, &str)]) {
    let is_in =
        |path: &str, entry: &str| path == entry || entry.ends_with('.') && path.starts_with(entry);
    let mut unused: BTreeSet<&str> = list.iter().map(|(entry, _)| *entry).collect();
    let mut missing = vec![];
    for path in paths {
        match list.iter().find(|(entry, _)| is_in(path, entry)) {
            Some((entry, _)) => drop(unused.remove(entry)),
            None => missing.push(path),
        }
    }
    assert!(missing.is_empty(), "{what}: {missing:#?}");
    assert!(unused.is_empty(), "{what}: listed in vain: {unused:?}");
}
