//! Tests of the sentences and stars of a comparison. The numbers of the rows are set by hand.

mod lives;

use std::sync::OnceLock;

use super::*;
use crate::compare::Comparison;
use crate::compare::ranking::winners;
use crate::compare::warnings::warnings;
use crate::plan::{Chosen, RunPlan};
use crate::progress::{Unwatched, unwatched};
use crate::results::quantity::QUANTITIES;
use crate::results::warning::Warning;
use crate::results::{Batch, BatchMeans, ByCause, LifeUnit, PAIRED, Summary, Wear};
use crate::run::execute;
use crate::setup::{Base, Gear, Named, Setup};
use vpass_drive::base::units::Cause;

/// Returns the comparison of these rows.
pub(in crate::compare) fn compared(rows: &[ComparisonRow]) -> Comparison {
    Comparison::new(plan().about(1), rows.to_vec())
}

/// Returns the sentences of the verdict as one text.
fn verdict(rows: &[ComparisonRow]) -> String {
    sentences(rows).join(" ")
}

pub(in crate::compare) fn plan() -> RunPlan {
    let set = vec!["workload.requests=1000".into()];
    let base = Base { gear: Gear::Timed, set, ..Base::new("tiny") };
    RunPlan::new(
        &Setup::new(base, Named::Workload("uniform-read".into())),
        Chosen::default(),
        &unwatched,
    )
    .unwrap()
}

/// Returns the summary of a run with a few reads in closed loop. Tests replace its numbers.
pub(in crate::compare) fn summary() -> Summary {
    static FEW_READS: OnceLock<Summary> = OnceLock::new();
    FEW_READS.get_or_init(|| execute(&plan(), &Unwatched).unwrap().summary).clone()
}

pub(in crate::compare) fn row(label: &str, runs: Vec<Summary>) -> ComparisonRow {
    let runs = (1..).zip(runs).map(|(seed, run)| Summary { seed, ..run }).collect();
    ComparisonRow::new(label.into(), runs)
}

/// Returns the summary of a run with this tail latency in microseconds. `half` is half the width of
/// its 95 % interval.
pub(in crate::compare) fn tail(p99_9: f64, half: Option<f64>) -> Summary {
    let mut run = summary();
    run.latency_us.read.p99_9 = Some(p99_9);
    Summary { batch_means: BatchMeans { read_p99_9_us: half, ..run.batch_means.clone() }, ..run }
}

/// Returns the runs of three seeds with these tail latencies in microseconds.
pub(in crate::compare) fn tails(us: [f64; 3]) -> Vec<Summary> {
    us.map(|us| tail(us, None)).into()
}

/// Returns the summary of a run with this life in days. The life is a range and, optionally, one
/// number.
pub(in crate::compare) fn days(middle: Option<f64>, low: f64, high: f64) -> Summary {
    let run = summary();
    let wear = Wear {
        life_unit: Some(LifeUnit::Days),
        life_settled: true,
        projected_life_days: middle,
        life_low_days: Some(low),
        life_high_days: Some(high).filter(|high| high.is_finite()),
        cycles_observed: if middle.is_some() { 50.0 } else { 10.0 },
        requests_for_life: middle.is_none().then_some(3_000),
        ..run.wear.clone()
    };
    Summary { wear, ..run }
}

/// Returns the summary of a run that rewrote this many pages because of reads. Every batch is `off`
/// pages above or below the mean batch, in turn.
fn rewrites(pages: u64, off: f64) -> Summary {
    let mut run = summary();
    let mut programs = [0; Cause::COUNT];
    programs[Cause::Reclaim as usize] = pages;
    run.flash.programs = ByCause::from(programs);
    let batch = |n: usize| {
        let mut batch = Batch::default();
        let sign = if n.is_multiple_of(2) { 1.0 } else { -1.0 };
        batch.counts.programs[Cause::Reclaim as usize] = pages as f64 / PAIRED as f64 + sign * off;
        batch
    };
    Summary {
        batch_means: BatchMeans { reclaim_write_pages: Some(0.0), ..run.batch_means.clone() },
        batches: Some((0..PAIRED).map(batch).collect()),
        ..run
    }
}

fn stars(rows: &[ComparisonRow], key: &str) -> Vec<bool> {
    winners(rows, Quantity::of(key))
}

#[test]
fn seeds_are_compared_in_pairs() {
    let a = [279.0, 282.0, 285.0];
    let rows = |off: f64| [row("a", tails(a)), row("b", tails([286.0 - off, 289.0, 292.0 + off]))];
    // The intervals 282 ± 7.45 and 289 ± 9.94 overlap. The differences of the pairs are 6, 7 and 8,
    // with a standard deviation of 1. With 2 degrees of freedom, Student's t at 99 % is 9.925, so
    // the difference is 7 ± 5.73.
    let sure = verdict(&rows(1.0));
    assert!(
        sure.contains(
            "read p99.9 is shortest under `a` (282 us ± 7.45 us, against 289 us ± 9.94 us under \
             `b`: 1.02 times)"
        ),
        "{sure}"
    );
    assert_eq!(stars(&rows(1.0), "read_p99_9_us"), [true, false]);
    // The differences 5.5, 7 and 8.5 give 7 ± 8.60.
    let noisy = verdict(&rows(1.5));
    assert!(
        noisy.contains(
            "read p99.9 is too close to rank (`a` 282 us ± 7.45 us, `b` 289 us ± 11.2 us)"
        ),
        "{noisy}"
    );
    assert_eq!(stars(&rows(1.5), "read_p99_9_us"), [false, false]);
}

#[test]
fn a_tail_of_too_few_reads_has_no_winner() {
    let rows = [row("a", vec![tail(282.0, None)]), row("b", vec![tail(2_890.0, None)])];
    let said = verdict(&rows);
    // The run needs ten batches, each with ten reads beyond the 99.9th percentile.
    let words = "not compared, because the noise of such short runs is not known. A run needs \
        100,000 reads";
    assert!(said.contains("read p99.9") && said.contains(words), "{said}");
    assert_eq!(stars(&rows, "read_p99_9_us"), [false, false]);
}

#[test]
fn several_seeds_have_the_interval_of_their_spread() {
    let half = |us: &[f64]| {
        let row = row("a", us.iter().map(|us| tail(*us, Some(3.0))).collect());
        row.cell(Quantity::of("read_p99_9_us")).unwrap().half95
    };
    // Two seeds, 279 and 281, have a standard deviation of sqrt(2), and Student's t is 12.706.
    assert!((half(&[279.0, 281.0]).unwrap() - 12.706).abs() < 1e-3);
    assert_eq!(half(&[280.0]), Some(3.0), "one seed has the interval of its batches");
}

#[test]
fn the_most_important_finding_comes_first() {
    let rows = [
        row("block", vec![rewrites(448_886, 900.0)]),
        row("straw-wl", vec![rewrites(14_213, 500.0)]),
    ];
    let said = verdict(&rows);
    let places = [
        "reclaim writes are fewest under `straw-wl` (14,213 pages, against 448,886 pages \
             under `block`: 31.6 times)",
        "RAM is",
    ]
    .map(|words| said.find(words).unwrap_or_else(|| panic!("{words} in {said}")));
    assert!(places.is_sorted(), "{said}");
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, true]);
    // A difference in counts that is within the noise also has no winner.
    let noisy =
        |off: f64| [row("a", vec![rewrites(1_000, off)]), row("b", vec![rewrites(1_100, 0.0)])];
    // Successive differences of the batches are 2 x `off`, so the variance of a batch is 2 x off^2.
    // With 12 degrees of freedom, Student's t at 99 % is 3.055, so the difference is
    // 100 ± 3.055 x sqrt(20 x 2) x off.
    assert_eq!(stars(&noisy(5.1), "reclaim_write_pages"), [true, false]);
    let noisy = noisy(5.3);
    assert!(
        verdict(&noisy)
            .contains("reclaim writes are too close to rank (`a` 1,000, `b` 1,100 pages)")
    );
    assert_eq!(stars(&noisy, "reclaim_write_pages"), [false, false]);
}

#[test]
fn rows_that_lost_data_or_stand_alone_have_no_star() {
    let lost = |run: Summary| Summary { data_lost_pages: 7, ..run };
    let all = |rows: &[ComparisonRow]| {
        QUANTITIES.iter().flat_map(|quantity| stars(rows, quantity.key)).any(|star| star)
    };
    assert!(!all(&[row("none", vec![lost(summary())])]), "the only row lost data");
    assert!(!all(&[row("block", vec![summary()])]), "one row is compared with nothing");
    let worse = Summary { data_lost_pages: 9, ..summary() };
    assert!(
        !all(&[row("none", vec![lost(summary())]), row("worse", vec![worse])]),
        "losing less data does not win"
    );
    let rows = [row("none", vec![lost(rewrites(0, 0.0))]), row("block", vec![rewrites(100, 9.0)])];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, true], "the one that kept all data");
    assert_eq!(stars(&rows, "data_lost_pages"), [false, true]);
}

#[test]
fn one_run_does_not_show_the_noise_of_a_maximum() {
    let slowest = |us: f64| {
        let mut run = summary();
        run.latency_us.read.max = Some(us);
        run
    };
    assert_eq!(
        stars(&[row("a", vec![slowest(1.0)]), row("b", vec![slowest(9.0)])], "read_max_us"),
        [false, false]
    );
    let seeds = |us: [f64; 3]| us.map(slowest).into();
    let seeds = [row("a", seeds([1.0, 1.1, 1.2])), row("b", seeds([9.0, 9.1, 9.3]))];
    assert_eq!(stars(&seeds, "read_max_us"), [true, false]);
}

#[test]
fn one_warning_of_several_seeds_is_one_sentence() {
    let at = |percent: u32| Summary {
        warnings: vec![Warning::new(
            "The most read block is at about {} % of its reads.",
            [(percent.into(), percent.to_string())],
        )],
        ..summary()
    };
    let quiet = || Summary { warnings: vec![], ..summary() };
    let block = row("block", vec![at(31), at(30), at(32)]);
    assert_eq!(
        block.merged_warnings(),
        ["The most read block is at about 30 to 32 % of its reads (seeds 1 to 3)."]
    );
    let straw = row("straw-wl", vec![quiet(), at(35), quiet()]);
    let all = warnings(&[&block, &straw]);
    assert_eq!(all[1].labels, ["straw-wl"]);
    assert_eq!(all[1].sentence, "The most read block is at about 35 % of its reads (seed 2).");
    // If two techniques have the same warning with the same seeds, they share one sentence.
    let both = warnings(&[&block, &row("tiered", vec![at(29), at(31), at(30)])]);
    assert_eq!((both.len(), both[0].labels.len()), (1, 2));
    assert_eq!(
        both[0].sentence,
        "The most read block is at about 29 to 32 % of its reads (seeds 1 to 3)."
    );
    assert_eq!(
        row("block", vec![at(31)]).merged_warnings(),
        ["The most read block is at about 31 % of its reads."],
        "one seed needs no name"
    );
}

#[test]
fn the_largest_number_of_needed_reads_is_named() {
    let of = |p99_9: f64, pages: u64| {
        let run = rewrites(pages, 0.0);
        let batch_means = BatchMeans {
            read_p99_9_us: None,
            reclaim_write_pages: None,
            ..run.batch_means.clone()
        };
        let mut run = Summary { batch_means, ..run };
        run.latency_us.read.p99_9 = Some(p99_9);
        run
    };
    let rows = [row("a", vec![of(282.0, 100)]), row("b", vec![of(2_890.0, 900)])];
    let said = verdict(&rows);
    // For the tail latency, 100,000 reads are needed. For counts, 30,720 requests are needed.
    assert!(
        said.contains(
            "read p99.9 and reclaim writes are not compared, because the noise of such short runs \
             is not known. A run needs 100,000 reads"
        ),
        "{said}"
    );
}

#[test]
fn losses_are_those_of_all_seeds() {
    let lost = |pages: u64| Summary { data_lost_pages: pages, ..summary() };
    let rows = [row("none", vec![lost(5), lost(7)]), row("block", vec![summary(), summary()])];
    assert!(verdict(&rows).contains("`none` lost data: 12 pages in 2 runs."));
}

#[test]
fn a_single_row_is_not_compared() {
    let alone = verdict(&[row("block", vec![summary()])]);
    assert_eq!(alone.trim(), "No technique lost data.");
}

#[test]
fn tails_within_one_percent_have_no_winner() {
    let rows = |other: f64| {
        [row("a", tails([282.0; 3])), row("b", tails([other, other + 0.01, other - 0.01]))]
    };
    assert_eq!(stars(&rows(284.8), "read_p99_9_us"), [false, false]);
    assert_eq!(stars(&rows(284.9), "read_p99_9_us"), [true, false]);
}

/// Uses rows that cannot win, because they lost data, are counterfactual, or could not keep up.
#[test]
fn rows_that_cannot_win_are_not_in_the_sentence() {
    let worse = || row("worse", tails([299.0, 300.0, 301.0]));
    let bad = || row("bad", tails([280.0; 3]));
    let lost = |run| Summary { data_lost_pages: 3, ..run };
    let lost = row("lost", tails([10.0; 3]).into_iter().map(lost).collect());
    let ideal = ComparisonRow { counterfactual: true, ..row("ideal", tails([10.0; 3])) };
    let mut saturated = tails([10.0; 3]);
    saturated[0].throughput.backlog_s = Some(2.0);
    let why = Some("no block reached its threshold".into());
    let idle = ComparisonRow { idle: why, ..row("idle", tails([10.0; 3])) };
    for odd in [lost, ideal, row("saturated", saturated), idle] {
        let rows = [odd, bad(), worse()];
        let said = verdict(&rows);
        let words = "read p99.9 is shortest under `bad` (280 us, against 300 us ± 2.48 us";
        assert!(said.contains(words), "{said}");
        let idle = "Read reclaim did nothing under `idle`, because no block reached its threshold.";
        assert_eq!(said.contains(idle), rows[0].label == "idle", "{said}");
        assert_eq!(stars(&rows, "read_p99_9_us"), [false, true, false], "{said}");
    }
}

#[test]
fn rows_that_are_alike_have_no_star() {
    let rows = [row("a", vec![rewrites(7, 0.0)]), row("b", vec![rewrites(7, 0.0)])];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, false]);
    // If its only competitor is counterfactual, a row does not win.
    let ideal = ComparisonRow { counterfactual: true, ..row("ideal", vec![rewrites(1, 0.0)]) };
    let alone = verdict(&[ideal, row("block", vec![rewrites(7, 0.0)])]);
    assert!(alone.contains("Only `block` kept all data"), "{alone}");
    let ideal = ComparisonRow { counterfactual: true, ..row("ideal", vec![rewrites(1, 0.0)]) };
    let lost = Summary { data_lost_pages: 1, ..rewrites(7, 0.0) };
    let rows = [ideal, row("none", vec![lost]), row("block", vec![rewrites(7, 0.0)])];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false; 3]);
}

/// The technique `none` rewrites the fewest pages, but it keeps data only by chance.
#[test]
fn a_row_without_reclaim_never_wins_beside_rows_with_it() {
    let unprotected = |lost: u64| {
        let run = Summary { data_lost_pages: lost, ..rewrites(0, 0.0) };
        ComparisonRow { baseline: true, ..row("none", vec![run]) }
    };
    let block = || row("block", vec![rewrites(7, 0.0)]);
    let rows = [unprotected(0), block(), row("straw-wl", vec![rewrites(3, 0.0)])];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, false, true]);
    let said = verdict(&rows);
    assert!(said.contains("fewest under `straw-wl` (3 pages, against 7 pages under `block`"));
    assert!(said.contains("`none` protects no data from reads, so it is not compared."), "{said}");
    // If one technique stands against a baseline that kept its data, the technique has no
    // competitor.
    let rows = [unprotected(0), block()];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, false]);
    assert!(!verdict(&rows).contains("Only `"), "both kept their data");
    // A technique that did nothing is not a competitor either.
    let why = Some("no block reached its threshold".into());
    let rows = [ComparisonRow { idle: why, ..row("idle", vec![rewrites(0, 0.0)]) }, block()];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, false]);
    // A baseline that lost data is not a competitor. As the only row that kept the data, `block`
    // wins.
    let rows = [unprotected(2), block()];
    assert_eq!(stars(&rows, "reclaim_write_pages"), [false, true]);
}

/// Uses a run of 100 s. A drive is saturated if its lag exceeds 1 % of the time in which requests
/// arrived. A lag above one second is too long for any run.
#[test]
fn a_drive_with_a_growing_lag_is_saturated() {
    let late = |simulated_s: f64, lag: f64| {
        let mut run = summary();
        run.simulation.simulated_s = Some(simulated_s);
        run.throughput.backlog_s = Some(lag);
        (run.backlog_grows(), run.is_saturated())
    };
    assert_eq!(late(100.0, 0.5), (false, false));
    assert_eq!(late(100.0, 0.995), (true, true));
    assert_eq!(late(1_000.0, 1.5), (false, true));
    assert_eq!(late(1.0, 0.019), (false, false), "one slow request does not count");
    assert_eq!(late(1.0, 0.021), (true, true));
}

#[test]
fn net_read_wear_has_the_star_of_the_read_wear_that_it_equals() {
    let of = |pages: u64, net: f64| {
        let wear = pages as f64 / 1000.0;
        let run = rewrites(pages, 0.0);
        let reclaim_write_pages = Some(0.1 * pages as f64);
        let batch_means = BatchMeans { reclaim_write_pages, ..run.batch_means.clone() };
        let run = Summary { batch_means, ..run };
        vec![Summary { read_wear: Some(wear), read_wear_net: Some(net), ..run }]
    };
    let rows = |net_of_a: f64| [row("a", of(1461, net_of_a)), row("b", of(90_025, 90.025))];
    // The interval of `a` is 1.461 ± 0.146, as that of its read wear.
    let same = rows(1.461);
    let half = same[0].cell(Quantity::of("read_wear_net")).unwrap().half95;
    assert!(half.is_some_and(|half| (half - 0.1461).abs() < 1e-9));
    assert_eq!(stars(&same, "read_wear"), [true, false]);
    assert_eq!(stars(&same, "read_wear_net"), [true, false]);
    // If reads change GC, the noise of the net read wear is unknown.
    assert_eq!(stars(&rows(2.0), "read_wear_net"), [false, false]);
}
