//! Intervals, computed a second time. Batch means come from the rows of `series.csv`. The intervals
//! of a comparison come from the numbers of its runs.
//!
//! ```text
//! ten batches, successive differences d: half width of a sum 2.4469 sqrt(10 / 18 sum of d^2),
//!                                        t of 6 degrees
//! three seeds, deviation s:              half width of the mean 4.3027 s / sqrt 3,
//!                                        t of 2 degrees
//! ```

use serde_json::Value;
use vpass_lab::compare::{Comparison, Finished};
use vpass_lab::progress::Unwatched;
use vpass_lab::run::execute;

use crate::Ran;
use crate::cases::{Case, cases};
use crate::tables::{Table, number_at};

const BATCHES: usize = 10;
const SEEDS: u64 = 3;
/// Two-sided 95 % quantiles of Student's t for 2 and 6 degrees of freedom. They come from the
/// closed form of the distribution.
const T_2: f64 = 4.302_652_729_9;
const T_6: f64 = 2.446_911_851_1;

#[track_caller]
fn near(what: &str, said: Option<f64>, right: f64) {
    let said = said.unwrap_or_else(|| panic!("{what}: no value, but {right} is right"));
    assert!(
        (said - right).abs() <= 1e-8 * right.abs().max(1e-6),
        "{what}: {said}, but {right} is right"
    );
}

fn case(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

/// Returns the increases of a column from the end of each batch to the end of the next batch. A
/// batch ends at the row that is nearest to a multiple of a tenth of all requests.
fn batches(series: &Table, column: &str) -> Vec<f64> {
    let (requests, counts) = (series.column("requests"), series.column(column));
    let all = requests.last().unwrap();
    let nearest = |end: f64| {
        let looks = (0..requests.len()).filter(|row| requests[*row] > 0.0);
        looks
            .min_by(|a, b| (requests[*a] - end).abs().total_cmp(&(requests[*b] - end).abs()))
            .unwrap()
    };
    let ends = (1..=BATCHES).map(|batch| counts[nearest(all * batch as f64 / BATCHES as f64)]);
    let ends: Vec<f64> = std::iter::once(0.0).chain(ends).collect();
    ends.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

fn half_of_sum(batches: &[f64]) -> f64 {
    let squares: f64 =
        batches.windows(2).map(|pair| (pair[1] - pair[0]) * (pair[1] - pair[0])).sum();
    T_6 * (10.0 / 18.0 * squares).sqrt()
}

fn half_of_ratio(over: &[f64], under: &[f64]) -> f64 {
    let (sum, all) = (over.iter().sum::<f64>(), under.iter().sum::<f64>());
    let rest: Vec<f64> =
        over.iter().zip(under).map(|(over, under)| over - sum / all * under).collect();
    half_of_sum(&rest) / all
}

/// Returns the sum of the columns `{what}_CAUSE_{unit}` over all causes, for each batch.
fn of_all_causes(series: &Table, what: &str, unit: &str) -> Vec<f64> {
    let mut sums = vec![0.0; BATCHES];
    for cause in ["host", "gc", "reclaim", "refresh", "wear", "parity", "retry"] {
        let each = batches(series, &format!("{what}_{cause}_{unit}"));
        sums.iter_mut().zip(each).for_each(|(sum, one)| *sum += one);
    }
    sums
}

#[test]
fn batch_means_by_the_rows_of_the_series() {
    for name in ["block", "ipr", "retries", "refresh block", "parity raid5", "untimed"] {
        let ran = Ran::of(&case(name));
        let (series, said) =
            (&ran.series, |key: &str| number_at(&ran.summary, &format!("batch_means.{key}")));
        let sums = [
            ("reclaim_write_pages", "programs_reclaim_pages"),
            ("reclaim_erases", "erases_reclaim_blocks"),
            ("refresh_write_pages", "programs_refresh_pages"),
            ("gc_erases", "erases_gc_blocks"),
        ];
        for (key, column) in sums {
            near(&format!("{name}: {key}"), said(key), half_of_sum(&batches(series, column)));
        }
        let (programs, erases) =
            (of_all_causes(series, "programs", "pages"), of_all_causes(series, "erases", "blocks"));
        let written = batches(series, "host_write_pages");
        let amplification = programs.iter().sum::<f64>() / written.iter().sum::<f64>();
        near(
            &format!("{name}: amplification"),
            said("write_amplification_share"),
            half_of_ratio(&programs, &written) / amplification,
        );
        // The number of block cycles is the number of erases, or of blocks that the programs fill,
        // whichever is larger.
        let filled: Vec<f64> = programs.iter().map(|pages| pages / 24.0).collect();
        let cycles = if erases.iter().sum::<f64>() > filled.iter().sum() { erases } else { filled };
        near(&format!("{name}: cycles"), said("cycles_observed"), half_of_sum(&cycles));
        if series.has("host_retries") {
            let half = half_of_ratio(
                &batches(series, "host_retries"),
                &batches(series, "host_read_pages"),
            );
            near(&format!("{name}: retries"), said("retries_mean"), half);
        }
    }
}

/// Column of a comparison, and place of its number in a run.
const COLUMNS: [(&str, &str); 7] = [
    ("reclaim_write_pages", "flash.programs.reclaim"),
    ("reclaim_erases", "flash.erases.reclaim"),
    ("gc_erases", "flash.erases.gc"),
    ("read_p50_us", "latency_us.read.p50"),
    ("read_p99_us", "latency_us.read.p99"),
    ("read_max_us", "latency_us.read.max"),
    ("retries_mean", "retries.mean"),
];

#[test]
fn intervals_of_a_comparison_by_its_runs() {
    let (seeds, case) = (1..=SEEDS, case("hints"));
    let plans: Vec<_> = seeds.map(|seed| case.seeded(seed).plan()).collect();
    let runs =
        plans.iter().map(|plan| execute(plan, &Unwatched).map(|outcome| outcome.summary)).collect();
    let finished = Finished { plan: &plans[0], label: "block".into(), runs };
    let json = serde_json::to_value(Comparison::of(vec![finished], vec![])).unwrap();
    let technique: &Value = &json["techniques"][0];
    for (column, path) in COLUMNS {
        let runs = |path: &str| {
            (0..SEEDS)
                .map(|n| number_at(technique, &format!("runs.{n}.{path}")))
                .collect::<Option<Vec<f64>>>()
        };
        let values = runs(path).unwrap();
        let mean = values.iter().sum::<f64>() / 3.0;
        let deviation = (values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / 2.0).sqrt();
        let of_seeds = T_2 * deviation / 3f64.sqrt();
        let said = |key: &str| number_at(technique, &format!("columns.{column}.{key}"));
        near(&format!("{column}: mean"), said("mean"), mean);
        near(&format!("{column}: interval of the seeds"), said("ci95"), of_seeds);
        near(&format!("{column}: interval in use"), said("half95"), of_seeds);
    }
}
