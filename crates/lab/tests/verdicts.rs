//! Tests of verdicts with real runs. Drives that differ only in the chance of their start have no
//! winner, and techniques whose order many seeds agree on have a winner.

use vpass_lab::compare::Comparison;
use vpass_lab::compare::pairs::SEEDS;
use vpass_lab::compare::ranking::winners;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::failure::Failure;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::pool::{Job, Pace, run_all};
use vpass_lab::progress::unwatched;
use vpass_lab::results::Summary;
use vpass_lab::results::quantity::Quantity;
use vpass_lab::run::Outcome;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};

/// Columns whose winners are tested.
const MEASURES: [&str; 2] = ["write_amplification", "read_p99_9_us"];

/// Workloads and techniques of the pairs. All have writes, so their write amplification is known.
const CASES: [(&str, &str); 4] = [
    ("random-70-30", "block"),
    ("hot-cold", "straw-wl"),
    ("random-70-30", "straw-ss-sound"),
    ("hot-cold", "block"),
];

/// Returns the plan of a technique on a worn drive. The start of the drive is drawn, and blocks
/// have been read before, so that reclaim acts.
fn plan(workload: &str, reclaim: &str, requests: u32, seed: u64) -> RunPlan {
    let set = ["start.pec=2000", "start.overwrite=0.5", "start.reads=12000"].map(str::to_owned);
    let set = set.into_iter().chain([format!("workload.requests={requests}")]).collect();
    let base = Base { gear: Gear::Timed, seed, oracle: Watch::Off, set, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload(workload.into()));
    RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap()
}

/// Runs these plans.
fn run(plans: &[RunPlan]) -> Vec<Summary> {
    let jobs: Vec<Job> = plans.iter().map(|plan| Job { plan, requests: None }).collect();
    let keep = |_, outcome: Result<&Outcome, &Failure>| {
        outcome.map(|outcome| outcome.summary.clone()).map_err(Clone::clone)
    };
    run_all(&jobs, None, Pace::Fastest, &unwatched, keep).unwrap()
}

/// Compares rows of these plans and runs. The plans of a row have successive seeds.
fn compared<'a>(
    runs: impl Iterator<Item = (&'a RunPlan, Summary)>,
    seeds: usize,
) -> Vec<ComparisonRow> {
    let (plans, runs): (Vec<&RunPlan>, Vec<Summary>) = runs.unzip();
    let row = |runs: &[Summary]| ComparisonRow::new(String::new(), runs.to_vec());
    let rows = runs.chunks(seeds).map(row).collect();
    Comparison::new(plans[0].about(seeds as u32), rows).techniques
}

/// Counts the winners of each measure among pairs of rows. Both rows have the same technique and
/// the same requests, and differ only in the seed of their start. No winner is right.
fn false_winners(pairs: u64, seeds: usize, requests: u32) -> [u64; 2] {
    let mut found = [0; 2];
    for pair in 0..pairs {
        let (workload, reclaim) = CASES[pair as usize % CASES.len()];
        let of_row = |row: u64| {
            (0..seeds as u64).map(move |n| {
                let seed = 1000 * pair + n;
                let start_seed = Some(1_000_000 * (row + 1) + seed);
                RunPlan { start_seed, ..plan(workload, reclaim, requests, seed) }
            })
        };
        let plans: Vec<RunPlan> = (0..2).flat_map(of_row).collect();
        let rows = compared(plans.iter().zip(run(&plans)), seeds);
        for (found, measure) in found.iter_mut().zip(MEASURES) {
            let wins = winners(&rows, Quantity::of(measure));
            *found += u64::from(wins.contains(&true));
        }
    }
    found
}

/// Pairs of techniques that all seeds rank alike by one measure.
#[derive(Debug, Default)]
struct Real {
    pairs: usize,
    /// Number of pairs with the right winner if [`SEEDS`] seeds are compared, and if all are.
    named: [usize; 2],
    /// Number of pairs with the wrong winner.
    reversed: [usize; 2],
}

/// Counts pairs of techniques whose difference is at least 1 % and has one sign under all seeds.
fn real_pairs(workloads: &[&str], techniques: &[&str], seeds: usize, requests: u32) -> Real {
    let mut real = Real::default();
    for workload in workloads {
        let of = |reclaim: &&str| {
            let plan = |seed| plan(workload, reclaim, requests, seed as u64);
            let plans: Vec<_> = (0..seeds).map(plan).collect();
            let runs = run(&plans);
            plans.into_iter().zip(runs).collect::<Vec<_>>()
        };
        let all: Vec<_> = techniques.iter().map(of).collect();
        let pairs = (0..all.len()).flat_map(|b| (0..b).map(move |a| [a, b]));
        for (pair, measure) in pairs.flat_map(|pair| MEASURES.map(|measure| (pair, measure))) {
            real.count(pair.map(|row| &all[row][..]), Quantity::of(measure));
        }
    }
    real
}

impl Real {
    /// Compares two techniques in a column, if all seeds rank them alike.
    fn count(&mut self, rows: [&[(RunPlan, Summary)]; 2], quantity: &Quantity) {
        let value = |run: &Summary| (quantity.value)(run).unwrap();
        let [a, b] = rows.map(|row| row.iter().map(|(_, run)| value(run)).collect::<Vec<_>>());
        let [sum_a, sum_b] = [&a, &b].map(|values| values.iter().sum::<f64>());
        let a_wins = sum_a < sum_b;
        let is_sure = a.iter().zip(&b).all(|(a, b)| if a_wins { a < b } else { a > b });
        if !is_sure || (sum_a - sum_b).abs() < 0.01 * sum_a.max(sum_b) {
            return;
        }
        self.pairs += 1;
        for (n, seeds) in [SEEDS, a.len()].into_iter().enumerate() {
            let runs = rows.into_iter().flat_map(|row| &row[..seeds]);
            let compared = compared(runs.map(|(plan, run)| (plan, run.clone())), seeds);
            let wins = winners(&compared, quantity);
            self.named[n] += usize::from(wins[usize::from(!a_wins)]);
            self.reversed[n] += usize::from(wins[usize::from(a_wins)]);
        }
    }
}

#[test]
fn techniques_that_all_seeds_rank_alike_have_a_winner() {
    let real = real_pairs(&["random-70-30"], &["block", "straw-wl", "straw-ss-sound"], 6, 20_000);
    assert!(real.pairs >= 2 && real.reversed == [0, 0], "{real:?}");
    assert_eq!(real.named[1], real.pairs, "{real:?}");
}

#[test]
#[ignore = "make soak: 16 seeds of 15 rows"]
fn at_least_nine_of_ten_real_pairs_have_a_winner() {
    let techniques = ["block", "straw-wl", "straw-ss-sound", "tiered", "ipr"];
    let workloads = ["random-70-30", "hot-cold", "da-raid5-win7"];
    let real = real_pairs(&workloads, &techniques, 16, 40_000);
    #[expect(clippy::print_stdout, reason = "the long test prints its counts")]
    {
        println!("{real:?} ({MEASURES:?})");
    }
    assert!(real.pairs >= 20 && real.reversed == [0, 0], "{real:?}");
    assert!(10 * real.named[1] >= 9 * real.pairs, "{real:?}");
}

#[test]
fn drives_that_differ_only_in_their_start_have_no_winner() {
    // At 99 %, more than one false winner of eight has a probability of 0.3 %.
    let found = false_winners(8, SEEDS, 20_000);
    assert!(found.iter().all(|found| *found <= 1), "{found:?}");
}

#[test]
#[ignore = "make soak: 200 pairs, some minutes"]
fn at_most_one_of_twenty_equal_pairs_has_a_winner() {
    for (seeds, requests) in [(SEEDS, 40_000), (1, 120_000)] {
        let found = false_winners(200, seeds, requests);
        #[expect(clippy::print_stdout, reason = "the long test prints its counts")]
        {
            println!("{seeds} seeds: {found:?} false winners of 200 ({MEASURES:?})");
        }
        assert!(found.iter().all(|found| *found <= 10), "{seeds} seeds: {found:?}");
    }
}
