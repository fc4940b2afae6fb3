//! Tests of verdicts with real runs. Drives that differ only in the chance of their start have no
//! winner, and techniques whose order many seeds agree on have a winner.

use vpass_lab::compare::column::{COLUMNS, Sizes};
use vpass_lab::compare::ranking::winners;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::rows;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::pool::{Job, Pace, run_all};
use vpass_lab::progress::unwatched;
use vpass_lab::results::Summary;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};

/// Columns whose winners are tested.
const MEASURES: [&str; 2] = ["write_amplification", "read_p99_9_us"];

/// Returns the plan of a technique on a worn drive. The start of the drive is drawn.
fn plan(workload: &str, reclaim: &str, seed: u64) -> RunPlan {
    let set =
        ["start.pec=2000", "start.overwrite=0.5", "start.reads=12000", "workload.requests=150000"];
    let base = Base {
        gear: Gear::Timed,
        seed,
        oracle: Watch::Off,
        set: set.map(str::to_owned).to_vec(),
        ..Base::new("tiny")
    };
    let setup = Setup::new(base, Named::Workload(workload.into()));
    RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap()
}

/// Runs these plans, `seeds` for each row.
fn compared(plans: &[RunPlan], seeds: usize) -> Vec<ComparisonRow> {
    let jobs: Vec<Job> = plans.iter().map(|plan| Job { plan, requests: None }).collect();
    let keep = |_, outcome: &vpass_lab::run::Outcome| Ok(outcome.summary.clone());
    let runs = run_all(&jobs, None, Pace::Fastest, &unwatched, keep).unwrap();
    rows(&plans.iter().collect::<Vec<_>>(), runs.into_iter().map(Ok).collect(), seeds).0
}

/// Returns, for each row, whether it wins a measure.
fn wins(rows: &[ComparisonRow], plan: &RunPlan, measure: &str) -> Vec<bool> {
    let column = COLUMNS.iter().position(|column| column.key == measure).unwrap();
    winners(rows, column, &Sizes::of(plan))
}

/// Counts the false winners of each measure among pairs of drives that differ only in their start.
fn false_winners(pairs: u64, seeds: u64) -> [u64; 2] {
    let cases = [
        ("random-70-30", "block"),
        ("hot-cold", "straw-wl"),
        ("zipf-read", "block"),
        ("random-70-30", "straw-ss-sound"),
    ];
    let mut found = [0; 2];
    for pair in 0..pairs {
        let (workload, reclaim) = cases[pair as usize % cases.len()];
        let of_row = |row: u64| {
            (0..seeds).map(move |n| {
                let seed = 1000 * pair + n;
                let start_seed = Some(1_000_000 * (row + 1) + seed);
                RunPlan { start_seed, ..plan(workload, reclaim, seed) }
            })
        };
        let plans: Vec<RunPlan> = (0..2).flat_map(of_row).collect();
        let rows = compared(&plans, seeds as usize);
        for (found, measure) in found.iter_mut().zip(MEASURES) {
            if wins(&rows, &plans[0], measure).contains(&true) {
                let at = COLUMNS.iter().position(|c| c.key == measure).unwrap();
                let v = |r: usize| rows[r].means[at].unwrap();
                println!("{workload} {reclaim} {pair} {measure} {:?} {:?}", v(0), v(1));
                *found += 1;
            }
        }
    }
    found
}

#[test]
#[ignore]
fn null_pairs() {
    let n = std::env::var("VPASS_PAIRS").map_or(8, |n| n.parse().unwrap());
    let s = std::env::var("VPASS_S").map_or(1, |n| n.parse().unwrap());
    println!("{:?}", false_winners(n, s));
}

#[test]
#[ignore]
fn real_pairs() {
    for workload in ["random-70-30", "hot-cold", "zipf-read"] {
        let techniques = ["block", "straw-wl", "ipr-wl", "page-type", "straw-ss-sound", "tiered"];
        let run = |first: u64, seeds: u64| {
            let plans: Vec<RunPlan> = techniques
                .iter()
                .flat_map(|t| (first..first + seeds).map(move |seed| plan(workload, t, seed)))
                .collect();
            (compared(&plans, seeds as usize), plans)
        };
        let (many, _) = run(101, 16);
        let three: Vec<_> = (0..4).map(|n| run(1 + 3 * n, 3)).collect();
        let one: Vec<_> = (0..4).map(|n| run(1 + 3 * n, 1)).collect();
        for measure in MEASURES {
            let at = COLUMNS.iter().position(|c| c.key == measure).unwrap();
            let value = |run: &Summary| (COLUMNS[at].value)(run).unwrap_or(0.0);
            for a in 0..techniques.len() {
                for b in 0..a {
                    let d: Vec<f64> = (0..16)
                        .map(|n| value(&many[a].runs[n]) - value(&many[b].runs[n]))
                        .collect();
                    let agree = d.iter().all(|x| *x > 0.0) || d.iter().all(|x| *x < 0.0);
                    let mean = d.iter().sum::<f64>() / 16.0;
                    let sd = (d.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 15.0).sqrt();
                    let rel = mean / many[a].means[at].map_or(1.0, |m| m.mean);
                    let said = |of: &Vec<(Vec<ComparisonRow>, Vec<RunPlan>)>| {
                        of.iter()
                            .map(|(rows, plans)| {
                                let two: Vec<ComparisonRow> = [a, b]
                                    .map(|i| {
                                        let r = &rows[i];
                                        ComparisonRow::new(
                                            &plans[0],
                                            r.label.clone(),
                                            r.runs.clone(),
                                        )
                                    })
                                    .into();
                                match wins(&two, &plans[0], measure)[..] {
                                    [true, false] => '<',
                                    [false, true] => '>',
                                    _ => '.',
                                }
                            })
                            .collect::<String>()
                    };
                    println!(
                        "{workload} {measure} {} {} agree {agree} rel {rel:.4} d/s {:.2} three {} one {}",
                        techniques[a],
                        techniques[b],
                        mean / sd,
                        said(&three),
                        said(&one)
                    );
                }
            }
        }
    }
}
