//! Files that a run writes to its results folder: the name and the content of each file.

/// Makes the text of a CSV file. Each column has a name, and a cell in each row.
macro_rules! csv {
    ($rows:expr, $row:pat => { $($name:literal: $cell:expr,)+ }) => {{
        let mut csv = [$($name),+].join(",") + "\n";
        for $row in $rows {
            csv += &[$(($cell).to_string()),+].join(",");
            csv.push('\n');
        }
        csv
    }};
}

mod doses;
mod histogram_log;
mod latency;
mod quantiles;

use serde_json::{Map, Value};
use vpass_drive::base::metrics::{ByWindow, Window};
use vpass_drive::flash::block::BlockState;
use vpass_drive::time::Replay;

use crate::as_json;
use crate::failure::Failure;
use crate::manifest::Call;
use crate::plan::RunPlan;
use crate::results::{Simulation, Summary};
use crate::run::Outcome;
use vpass_drive::base::units::BlockId;

/// Name and text of a file.
pub type File = (String, String);

/// Returns the files of one run. `call` describes how the program was called.
///
/// # Errors
/// Returns an error if a trace file can no longer be read.
pub fn of_run(plan: &RunPlan, outcome: &Outcome, call: &Call) -> Result<Vec<File>, Failure> {
    let manifest = as_json::text(&outcome.manifest(plan, call)?)?;
    let mut files = of_summary(&outcome.summary)?.to_vec();
    files.push(("manifest.json".into(), manifest));
    files.push(("blocks.csv".into(), blocks_csv(outcome)));
    files.push(("series.csv".into(), outcome.series.csv()));
    files.extend(doses::files(plan, outcome));
    if let Some(engine) = &outcome.engine {
        files.extend(of_latencies(engine)?);
    }
    Ok(files)
}

/// Returns a table of a run's results folder, such as `blocks.csv`, `series.csv` or `dose.csv`.
/// Returns `None` if the run did not record this table.
pub fn table(plan: &RunPlan, outcome: &Outcome, name: &str) -> Option<String> {
    match name {
        "blocks.csv" => Some(blocks_csv(outcome)),
        "series.csv" => Some(outcome.series.csv()),
        _ => {
            let mut doses = doses::files(plan, outcome).into_iter();
            doses.find(|(of, _)| of == name).map(|(_, content)| content)
        }
    }
}

/// Returns the files with latencies. If latencies were not recorded by time window, each histogram
/// log has a single interval, the whole run.
fn of_latencies(engine: &Replay) -> Result<Vec<File>, Failure> {
    let (metrics, end) = (engine.metrics(), engine.last_completion());
    let kinds = [
        ("read", &metrics.read),
        ("write", &metrics.write),
        ("read_during_reclaim", &metrics.read_during_reclaim),
    ];
    let by_window = metrics.by_window(end);
    let mut files: Vec<File> = vec![("quantiles.csv".into(), quantiles::csv(&kinds))];
    if let Some(by_window) = &by_window {
        files.push(("latency.csv".into(), latency::csv(by_window)));
    }
    let windows = by_window
        .map(|ByWindow { read, write, read_during_reclaim }| [read, write, read_during_reclaim]);
    for (at, (name, latency)) in kinds.into_iter().enumerate() {
        let of_window = |window: &Window| (window.from, window.to, window.latency.histogram());
        let intervals = match &windows {
            Some(windows) => windows[at].iter().map(of_window).collect(),
            None => vec![(0, end, latency.histogram())],
        };
        if latency.count() > 0 {
            let log = histogram_log::text(name, &intervals)?;
            files.push((format!("{name}.hlog"), log));
        }
    }
    Ok(files)
}

/// Splits a summary into `summary.json` and `timing.json`. Values that differ between two runs with
/// the same seed are only in `timing.json`. All other files in the results folders of both runs are
/// then identical.
fn of_summary(summary: &Summary) -> Result<[File; 2], Failure> {
    let simulation = Simulation {
        wall_s: None,
        requests_per_s: None,
        peak_rss_bytes: None,
        ..summary.simulation.clone()
    };
    let timeless = Summary { simulation, ..summary.clone() };
    let timing = timing(&mut as_json::value(summary)?)?;
    Ok([("summary.json".into(), as_json::text(&timeless)?), timing])
}

/// Keys with values that differ between two runs with the same seed.
const TIMING: [&str; 3] = ["wall_s", "requests_per_s", "peak_rss_bytes"];

/// Returns `timing.json`, with the values that differ between two runs with the same seed. In
/// `results`, null replaces each of these values.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn timing(results: &mut Value) -> Result<File, Failure> {
    let timing = take_timing(results).unwrap_or_else(|| Map::new().into());
    Ok(("timing.json".into(), as_json::text(&timing)?))
}

fn take_timing(results: &mut Value) -> Option<Value> {
    match results {
        Value::Object(map) => {
            let of_key = |(key, value): (&String, &mut Value)| {
                let taken = if TIMING.contains(&key.as_str()) {
                    Some(value.take())
                } else {
                    take_timing(value)
                };
                taken.map(|taken| (key.clone(), taken))
            };
            let taken: Map<String, Value> = map.iter_mut().filter_map(of_key).collect();
            (!taken.is_empty()).then_some(Value::Object(taken))
        }
        Value::Array(values) => {
            let taken: Vec<Option<Value>> = values.iter_mut().map(take_timing).collect();
            taken
                .iter()
                .any(Option::is_some)
                .then(|| taken.into_iter().map(Option::unwrap_or_default).collect())
        }
        _ => None,
    }
}

fn blocks_csv(outcome: &Outcome) -> String {
    let geometry = outcome.drive.geometry();
    let rows = BlockId::all().zip(outcome.drive.block_states());
    csv!(rows, (block, row) => {
        "block": block,
        "die": geometry.die_of(block),
        "plane": geometry.plane_of(block),
        "state": match row.state {
            BlockState::Free => "free",
            BlockState::Open => "open",
            BlockState::Closed => "closed",
        },
        "pec_cycles": row.pec,
        "effective_pec_cycles": row.effective_milli as f64 / 1e3,
        "reads_dose_units": row.reads,
        "valid_pages": row.valid,
        "written_pages": row.written,
    })
}

#[cfg(test)]
mod tests;
