//! The same workload and seed on one drive per technique, side by side, each column with its winner.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_core::reclaim::RECLAIM;
use vpass_oracle::OracleReport;

use crate::args::{CompareArgs, Form};
use crate::columns::{COLUMNS, Column};
use crate::exit::{Exit, Failure};
use crate::out::{self, Folder, to_value};
use crate::plan::Plan;
use crate::pool::{self, Job};
use crate::results::Summary;
use crate::statistics::{Estimate, estimate};
use crate::table::wants_colour;

mod render;

/// One technique, on every seed.
struct Row {
    reclaim: &'static str,
    gc: &'static str,
    counterfactual: bool,
    label: String,
    runs: Vec<Summary>,
    estimates: Vec<Option<Estimate>>,
}

/// Runs and prints a comparison.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let plans = plans(args)?;
    out::say_all(&plans[0].0.notes()?);
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let finished = run_all(&plans, args, folder.as_ref().map(Folder::path))?;
    let rows = rows(&plans, finished, args.seeds.get() as usize);
    let json = json_of(&rows, &plans[0].0, args)?;
    if let Some(folder) = folder {
        out::write_file(folder.path(), "compare.json", out::json(&json)?.as_bytes())?;
        out::write_file(folder.path(), "compare.csv", render::csv(&rows).as_bytes())?;
        folder.finish()?;
    }
    out::print(&match args.form {
        Form { csv: true, .. } => render::csv(&rows),
        Form { markdown: true, .. } => render::markdown(&rows, &plans[0].0),
        _ if args.setup.base.json => out::json(&json)?,
        _ => render::text(&rows, &plans[0].0, args, wants_colour()),
    })?;
    let bugs: Vec<_> = rows.iter().filter(|r| r.has_bug()).map(|r| r.label.as_str()).collect();
    if bugs.is_empty() {
        return Ok(Exit::Done);
    }
    Err(Failure::failed(format!("the oracle found a bug of the drive model under {}; run it alone for the findings", bugs.join(", "))))
}

/// Every run with the name of its folder: techniques in the order given, seeds ascending.
fn plans(args: &CompareArgs) -> Result<Vec<(Plan, String)>, Failure> {
    let all: Vec<String> = RECLAIM.iter().map(|t| t.name.into()).collect();
    let reclaims = if args.reclaim.is_empty() { &all } else { &args.reclaim };
    let mut plans: Vec<(Plan, String)> = vec![];
    // What takes long, such as looking through a trace, is done once.
    let first = Plan::new(&args.setup, reclaims[0].trim(), args.gc[0].trim())?;
    for reclaim in reclaims {
        for gc in &args.gc {
            let plan = first.with(reclaim.trim(), gc.trim())?;
            let label = label(plan.reclaim, plan.gc, args);
            if plans.iter().any(|(p, _)| (p.reclaim, p.gc) == (plan.reclaim, plan.gc)) {
                return Err(Failure::usage(format!("{label} is named twice; each technique runs once")));
            }
            for i in 0..u64::from(args.seeds.get()) {
                let seed = plan.seed.checked_add(i).ok_or_else(|| Failure::usage("--seed plus --seeds passes 2^64"))?;
                let name = if args.seeds.get() == 1 { label.replace(' ', "") } else { format!("{}-seed{seed}", label.replace(' ', "")) };
                plans.push((Plan { seed, ..plan.clone() }, name));
            }
        }
    }
    Ok(plans)
}

fn label(reclaim: &str, gc: &str, args: &CompareArgs) -> String {
    if args.gc.len() == 1 { reclaim.into() } else { format!("{reclaim} + {gc}") }
}

fn run_all(plans: &[(Plan, String)], args: &CompareArgs, folder: Option<&Path>) -> Result<Vec<Summary>, Failure> {
    // The same for all techniques and seeds.
    let requests = plans[0].0.requests()?;
    let jobs: Vec<Job> = plans.iter().map(|(plan, _)| Job { plan, requests }).collect();
    pool::run_all(&jobs, args.threads, |i, outcome| {
        let (plan, name) = &plans[i];
        if let Some(folder) = folder {
            let folder = folder.join(name);
            std::fs::create_dir(&folder).map_err(|e| Failure::failed(format!("{}: {e}", folder.display())))?;
            out::write_run(&folder, plan, outcome, "compare")?;
        }
        Ok(outcome.summary.clone())
    })
}

fn rows(plans: &[(Plan, String)], finished: Vec<Summary>, seeds: usize) -> Vec<Row> {
    let many_gcs = plans.iter().any(|(p, _)| p.gc != plans[0].0.gc);
    let mut finished = finished.into_iter();
    let techniques = plans.chunks(seeds).map(|chunk| &chunk[0].0);
    techniques
        .map(|plan| {
            let runs: Vec<_> = finished.by_ref().take(seeds).collect();
            let label = if many_gcs { format!("{} + {}", plan.reclaim, plan.gc) } else { plan.reclaim.into() };
            let of = |column: &Column| {
                let values: Option<Vec<f64>> = runs.iter().map(column.value).collect();
                values.and_then(|v| estimate(&v))
            };
            Row {
                reclaim: plan.reclaim,
                gc: plan.gc,
                counterfactual: plan.is_counterfactual(),
                label,
                estimates: COLUMNS.iter().map(of).collect(),
                runs,
            }
        })
        .collect()
}

impl Row {
    fn has_bug(&self) -> bool {
        self.runs.iter().filter_map(|r| r.oracle.as_ref()).any(OracleReport::is_bug)
    }
}

/// Which rows have the best mean of a column; none where all are alike. What no drive can do wins nothing.
fn winners(rows: &[Row], column: usize) -> Vec<bool> {
    let means: Vec<_> = rows.iter().map(|r| r.estimates[column].filter(|_| !r.counterfactual).map(|e| e.mean)).collect();
    let better = |a: f64, b: f64| if COLUMNS[column].more_is_better { a > b } else { a < b };
    let best = means.iter().flatten().copied().reduce(|a, b| if better(b, a) { b } else { a });
    let wins: Vec<_> = means.iter().map(|m| m.is_some() && *m == best).collect();
    if rows.iter().zip(&wins).all(|(row, wins)| *wins || row.counterfactual) { vec![false; rows.len()] } else { wins }
}

#[derive(Serialize)]
struct Technique<'a> {
    reclaim: &'a str,
    gc: &'a str,
    counterfactual: bool,
    columns: Map<String, Value>,
    runs: &'a [Summary],
}

fn json_of(rows: &[Row], plan: &Plan, args: &CompareArgs) -> Result<Value, Failure> {
    let mut techniques = vec![];
    for row in rows {
        let mut columns = Map::new();
        for (column, estimate) in COLUMNS.iter().zip(&row.estimates) {
            columns.insert(column.key.into(), to_value(estimate)?);
        }
        techniques.push(to_value(&Technique {
            reclaim: row.reclaim,
            gc: row.gc,
            counterfactual: row.counterfactual,
            columns,
            runs: &row.runs,
        })?);
    }
    let mut best = Map::new();
    for (c, column) in COLUMNS.iter().enumerate() {
        let names: Vec<_> = rows.iter().zip(winners(rows, c)).filter(|(_, wins)| *wins).map(|(r, _)| r.label.as_str()).collect();
        best.insert(column.key.into(), json!(names));
    }
    Ok(json!({
        "vpass": env!("CARGO_PKG_VERSION"),
        "drive": plan.drive.name,
        "workload": plan.load.name(),
        "workload_generated": plan.load.is_generated(),
        "workload_source": plan.load.source(),
        "gear": plan.gear.name(),
        "seed": args.setup.base.seed,
        "seeds": args.seeds.get(),
        "winners": best,
        "techniques": techniques,
    }))
}

/// Who keeps the data, and of those who lets the drive live longest.
#[expect(clippy::float_cmp, reason = "the largest of some numbers is one of them")]
fn verdict(rows: &[Row]) -> String {
    let safe: Vec<_> = rows.iter().filter(|r| r.runs.iter().all(|s| !s.lost_data())).collect();
    let lossy: Vec<_> = rows.iter().filter(|r| r.runs.iter().any(Summary::lost_data)).map(|r| r.label.as_str()).collect();
    let mut text = match (safe.is_empty(), lossy.is_empty()) {
        (_, true) => "\nNo technique lost data.".to_owned(),
        (true, false) => "\nEvery technique lost data.".to_owned(),
        (false, false) => format!("\nData was lost under {}.", lossy.join(", ")),
    };
    let real: Vec<_> = safe.iter().filter(|r| !r.counterfactual).collect();
    let lives: Vec<_> = real.iter().filter_map(|r| r.estimates[0].map(|e| (e.mean, r.label.as_str()))).collect();
    let most = lives.iter().map(|(life, _)| *life).fold(0.0, f64::max);
    let longest: Vec<_> = lives.iter().filter(|(life, _)| *life == most).map(|(_, label)| *label).collect();
    if longest.len() < lives.len() && lives.len() == real.len() {
        let names = longest.join(" and ");
        let _ =
            write!(text, " Of those that kept it, the drive lives longest under {names}: {} of this workload.", crate::numbers::days(most));
    }
    text.push('\n');
    text
}
