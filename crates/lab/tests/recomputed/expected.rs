//! Expected numbers of a summary, computed from the counted events.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_drive::base::request::Op;
use vpass_drive::base::units::Cause;
use vpass_lab::run::Outcome;

use crate::counter::{ByCause, Counted};
use crate::tables::{Table, number_at};

/// Numbers of a summary by their places; `None` stands for null.
#[derive(Default)]
pub(crate) struct Book(BTreeMap<String, Option<f64>>);

impl Book {
    pub(crate) fn note(&mut self, path: impl Into<String>, value: impl Into<Option<f64>>) {
        self.0.insert(path.into(), value.into());
    }

    /// Adds the numbers of another book. A number that is in both books must be equal.
    pub(crate) fn append(&mut self, other: Self) {
        for (path, value) in other.0 {
            let before = self.0.insert(path.clone(), value);
            assert!(
                before.is_none_or(|before| is_near(before, value)),
                "{path}: {before:?} and {value:?}"
            );
        }
    }

    /// Compares the numbers with those of a summary. Returns the place of each difference, with
    /// both numbers.
    pub(crate) fn differences(&self, summary: &Value) -> Vec<String> {
        let numbers = self.0.iter().map(|(path, right)| (path, number_at(summary, path), *right));
        let wrong = numbers.filter(|(_, said, right)| !is_near(*said, *right));
        wrong
            .map(|(path, said, right)| format!("{path}: {said:?} is reported, {right:?} is right"))
            .collect()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = String> + '_ {
        self.0.keys().cloned()
    }

    pub(crate) fn paths_above_zero(&self) -> impl Iterator<Item = String> + '_ {
        self.0
            .iter()
            .filter(|(_, value)| value.is_some_and(|value| value > 0.0))
            .map(|(path, _)| path.clone())
    }
}

/// Returns whether two numbers are equal to twelve digits.
fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() <= 1e-12 * other.abs().max(1e-6),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// Divides a number by another; returns `None` for a division by 0.
pub(crate) fn ratio(over: f64, under: f64) -> Option<f64> {
    (under > 0.0).then(|| over / under)
}

fn sum(counts: &ByCause) -> f64 {
    counts.iter().sum::<u64>() as f64
}

/// Returns all numbers that follow from events and tables.
pub(crate) fn of_events(
    counted: &Counted,
    blocks: &Table,
    series: &Table,
    outcome: &Outcome,
) -> Book {
    let mut book = Book::default();
    host(&mut book, counted);
    flash(&mut book, counted);
    smart(&mut book, counted, blocks, outcome);
    losses(&mut book, counted, outcome);
    wear(&mut book, counted, blocks);
    latencies(&mut book, counted, outcome);
    parity(&mut book, counted, blocks, outcome);
    if series.has("expected_lost_codewords") {
        uber(&mut book, counted, series);
    }
    book
}

/// Adds the host's counts, computed request by request.
fn host(book: &mut Book, counted: &Counted) {
    let page = u64::from(counted.geometry().page_bytes);
    let mut of = BTreeMap::<&str, u64>::new();
    for (op, offset, bytes) in &counted.counts.requests {
        let (first, end) = (offset / page, (offset + bytes).div_ceil(page));
        let whole = ((offset + bytes) / page).saturating_sub(offset.div_ceil(page));
        let mut add = |key, n| *of.entry(key).or_default() += n;
        match op {
            Op::Read => [("read_requests", 1), ("read_bytes", *bytes), ("read_pages", end - first)]
                .map(|(key, n)| add(key, n)),
            Op::Write => {
                add("partial_page_writes", end - first - whole);
                add("small_writes", u64::from(*bytes < page));
                [("write_requests", 1), ("write_bytes", *bytes), ("write_pages", end - first)]
                    .map(|(key, n)| add(key, n))
            }
            Op::Trim => [("trim_requests", 1), ("trim_requests", 0), ("trim_pages", whole)]
                .map(|(key, n)| add(key, n)),
        };
    }
    let get = |key: &str| of.get(key).copied().unwrap_or(0) as f64;
    for (key, n) in &of {
        book.note(format!("host.{key}"), *n as f64);
    }
    let counts = &counted.counts;
    assert_eq!(
        (counts.written_pages as f64, counts.trimmed_pages as f64),
        (get("write_pages"), get("trim_pages"))
    );
    book.note("host.fill_reads", counts.fills as f64);
    book.note("host.unmapped_read_pages", counts.unmapped as f64);
    book.note("mapping_unit.bytes", page as f64);
    book.note("mapping_unit.small_write_share", ratio(get("small_writes"), get("write_requests")));
    book.note(
        "mapping_unit.partial_page_share",
        ratio(get("partial_page_writes"), get("write_pages")),
    );
    book.note(
        "mapping_unit.fill_reads_per_write",
        ratio(counts.fills as f64, get("write_requests")),
    );
    book.note(
        "write_amplification",
        ratio(sum(&counts.programs) * page as f64, get("write_bytes")),
    );
    // Reads cost the flash the pages that reclaim and retries program. Other causes do not count.
    let by_reads = [Cause::Reclaim, Cause::Retry].map(|cause| counts.programs[cause as usize]);
    let programmed = (by_reads.iter().sum::<u64>() * page) as f64;
    book.note("read_wear", ratio(100.0 * programmed, get("read_bytes")));
    book.note("programs_per_page_write", ratio(sum(&counts.programs), get("write_pages")));
}

fn flash(book: &mut Book, counted: &Counted) {
    let counts = &counted.counts;
    let kinds = [
        ("reads", &counts.reads),
        ("programs", &counts.programs),
        ("erases", &counts.erases),
        ("reprograms", &counts.reprograms),
    ];
    for (what, by_cause) in kinds {
        for (cause, n) in
            Cause::ALL.iter().zip(by_cause).filter(|(cause, n)| **cause != Cause::Hint || **n > 0)
        {
            book.note(format!("flash.{what}.{}", cause.name()), *n as f64);
        }
    }
    book.note("flash.padded_pages", counts.padded as f64);
    book.note("reclaim.pages_copied", counts.reclaim_copies as f64);
}

/// Adds the counters under the names of `NVMe` and OCP, in their units.
fn smart(book: &mut Book, counted: &Counted, blocks: &Table, outcome: &Outcome) {
    let (counts, page) = (&counted.counts, u64::from(counted.geometry().page_bytes));
    let written = |cause: Cause| counts.programs[cause as usize];
    let writes = [
        ("host", written(Cause::Host)),
        ("read_disturb", written(Cause::Reclaim)),
        ("retention", written(Cause::Refresh)),
        ("wear_leveling", written(Cause::Wear)),
        ("read_recovery", counts.recovered),
        ("garbage_collection", written(Cause::Gc) + written(Cause::Hint)),
        ("parity", written(Cause::Parity) - counts.recovered),
    ];
    let all: u64 = writes.iter().map(|(_, pages)| pages * page).sum();
    for (of, pages) in writes {
        book.note(format!("smart.{of}_writes"), (pages * page) as f64);
    }
    book.note("smart.physical_media_units_written", all as f64);
    // Rewrites because of reads and of age pass through SLC.
    let through_slc = outcome.drive.config().drive.slc_rewrites;
    let rewritten = (written(Cause::Reclaim) + written(Cause::Refresh)) * page;
    book.note(
        "smart.slc_rewrites",
        (through_slc > 0.0).then(|| (through_slc * rewritten as f64).round()),
    );
    let recoveries = outcome.summary.parity.is_some().then_some(counts.recoveries as f64);
    book.note("smart.xor_recovery_count", recoveries);
    book.note("smart.physical_media_units_read", sum(&counts.reads) * page as f64);
    let retries = counts.reads[Cause::Retry as usize] as f64;
    book.note("smart.read_retry_error_count", outcome.summary.retries.is_some().then_some(retries));
    book.note("smart.uncorrectable_read_error_count", counts.uncorrectable as f64);
    book.note("smart.soft_ecc_error_count", counts.soft_errors as f64);
    let bytes = |of: Op| {
        counts.requests.iter().filter(|(op, ..)| *op == of).map(|(.., bytes)| bytes).sum::<u64>()
    };
    book.note("smart.data_units_read", (bytes(Op::Read) as f64 / 512_000.0).ceil());
    book.note("smart.data_units_written", (bytes(Op::Write) as f64 / 512_000.0).ceil());
    let pec = blocks.column("pec_cycles");
    let healthy = pec.iter().enumerate().filter(|(block, _)| !counted.has_failed(*block));
    let least = healthy.map(|(_, pec)| *pec).fold(f64::INFINITY, f64::min);
    book.note("smart.min_user_data_erase_count", least);
    book.note("smart.max_user_data_erase_count", pec.iter().copied().fold(0.0, f64::max));
    book.note("smart.nand_avg_erase_count", pec.iter().sum::<f64>() / pec.len() as f64);
    book.note("smart.maxpec", pec.iter().copied().fold(0.0, f64::max));
    book.note("smart.avgpec", pec.iter().sum::<f64>() / pec.len() as f64);
    book.note("smart.redcap", None);
    // The drives of these cases are rated for 3,000 cycles.
    let worn = blocks.column("effective_pec_cycles");
    let mean = worn.iter().sum::<f64>() / worn.len() as f64;
    book.note("smart.percentage_used", (mean / 30.0).floor());
}

fn losses(book: &mut Book, counted: &Counted, outcome: &Outcome) {
    let counts = &counted.counts;
    book.note("uncorrectable_reads", counts.uncorrectable as f64);
    book.note("data_lost_pages", counts.lost as f64);
    if outcome.summary.losses.is_some() {
        book.note("losses.by_age", counts.lost_by_age as f64);
        book.note(
            "losses.by_reads",
            (counts.lost - counts.lost_by_age - counts.lost_by_failure) as f64,
        );
        if outcome.summary.failures.is_some() {
            book.note("losses.by_failures", counts.lost_by_failure as f64);
        }
    }
    if outcome.summary.failures.is_some() {
        book.note("failures.lost_pages", counts.lost_by_failure as f64);
    }
    if outcome.summary.retries.is_some() {
        let reads = counts.rests + counts.retried.iter().sum::<u64>();
        for (retries, n) in counts.retried.iter().enumerate().take(3) {
            let rests = if retries == 0 { counts.rests } else { 0 };
            book.note(format!("retries.histogram.{retries}"), (n + rests) as f64);
        }
        let all: u64 = (0..).zip(counts.retried).map(|(retries, n)| retries * n).sum();
        book.note("retries.mean", ratio(all as f64, reads as f64));
        book.note("retries.reads_with_retry", (reads - counts.rests - counts.retried[0]) as f64);
    }
}

/// Adds the wear from `blocks.csv`. Its cycles must equal the observed erases.
fn wear(book: &mut Book, counted: &Counted, blocks: &Table) {
    let seen = |of: &dyn Fn(usize) -> u64| {
        (0..counted.blocks.len()).map(|n| of(n) as f64).collect::<Vec<_>>()
    };
    assert_eq!(blocks.column("pec_cycles"), seen(&|n| counted.blocks[n].pec.into()));
    let merges = sum(&counted.counts.reprograms) > 0.0;
    if !merges {
        // After a merge, some pages stay empty. Jobs also add doses without sensing.
        assert_eq!(blocks.column("written_pages"), seen(&|n| counted.blocks[n].written.into()));
        assert_eq!(blocks.column("reads_dose_units"), seen(&|n| counted.blocks[n].sensings));
    }
    let pec = blocks.column("pec_cycles");
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    book.note("wear.pec_min", pec.iter().copied().fold(f64::INFINITY, f64::min));
    book.note("wear.pec_max", pec.iter().copied().fold(0.0, f64::max));
    book.note("wear.pec_mean", mean(&pec));
    book.note("wear.effective_pec_mean", mean(&blocks.column("effective_pec_cycles")));
    let filled = sum(&counted.counts.programs) / f64::from(counted.geometry().pages_per_block);
    if !merges {
        book.note("wear.cycles_observed", filled.max(sum(&counted.counts.erases)));
    }
}

/// Adds latencies and rates per second, from the beginning and end of requests.
fn latencies(book: &mut Book, counted: &Counted, outcome: &Outcome) {
    let counts = &counted.counts;
    for (what, of) in [("read", &counts.read_ns), ("write", &counts.write_ns)] {
        let total: u64 = of.iter().sum();
        book.note(format!("latency_us.{what}.mean"), ratio(total as f64 / 1e3, of.len() as f64));
    }
    let seconds = counts.last_completion as f64 / 1e9;
    let of = |op: Op| counts.requests.iter().filter(move |(of, ..)| *of == op);
    for (what, op) in [("read", Op::Read), ("write", Op::Write)] {
        let bytes: u64 = of(op).map(|(.., bytes)| bytes).sum();
        book.note(format!("throughput.{what}_iops"), ratio(of(op).count() as f64, seconds));
        book.note(format!("throughput.{what}_mib_s"), ratio(bytes as f64 / 1_048_576.0, seconds));
    }
    // Requests by the number outstanding have no clock of their own.
    let is_open = outcome.summary.throughput.backlog_s.is_some();
    let arrived = counts.last_arrival as f64 / 1e9;
    let offered = ratio(counts.requests.len() as f64, arrived);
    book.note("throughput.offered_iops", offered.filter(|_| is_open));
    book.note("throughput.backlog_s", is_open.then_some(seconds - arrived));
}

/// Adds the counts of stripes, and their waiting time as a number of host page writes.
fn parity(book: &mut Book, counted: &Counted, blocks: &Table, outcome: &Outcome) {
    let counts = &counted.counts;
    let Some(parity) = &outcome.summary.parity else { return };
    book.note("parity.rebuilt_pages", counts.rebuilt as f64);
    book.note("parity.given_up", counts.given_up as f64);
    let cycles = blocks.column("die").into_iter().zip(blocks.column("pec_cycles"));
    let mut by_die = BTreeMap::<u64, Vec<f64>>::new();
    cycles.for_each(|(die, pec)| by_die.entry(die as u64).or_default().push(pec));
    for (die, pec) in by_die {
        let mean = pec.iter().sum::<f64>() / pec.len() as f64;
        // The summary rounds these means to thousandths.
        book.note(format!("parity.pec_mean_by_die.{die}"), (1e3 * mean).round() / 1e3);
    }
    if parity.by_wear.is_some() {
        book.note("parity.by_wear.waiting_at_end", counted.waiting.len() as f64);
        book.note("parity.by_wear.most_waiting", counts.most_waiting as f64);
        book.note("parity.by_wear.waiting_writes", counts.waited as f64);
    }
    if parity.delayed.is_some() {
        // The observer counts a partial parity that is made whole as an update. The summary does
        // not.
        let made_whole = outcome.drive.parity_counts().made_whole;
        book.note("parity.delayed.updates", (counts.updates - made_whole) as f64);
        book.note("parity.delayed.exposed", counts.exposed as f64);
        book.note("parity.delayed.stripes_at_end", counted.lagging.len() as f64);
        book.note("parity.delayed.most_stripes", counts.most_lagging as f64);
        book.note("parity.delayed.stripe_writes", counts.lagged as f64);
    }
}

/// Adds the errors per bit that the host read.
fn uber(book: &mut Book, counted: &Counted, series: &Table) {
    let bits = counted.host_bits();
    book.note("uber.bits_read", bits);
    book.note("uber.counted", ratio(counted.counts.lost as f64, bits));
    book.note("uber.rate", ratio(series.last("expected_lost_codewords"), bits));
}
