//! The same workload and seed on one drive per technique, side by side, each column with its winner.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_core::reclaim::RECLAIM;
use vpass_oracle::OracleReport;

use crate::args::CompareArgs;
use crate::columns::{COLUMNS, Column};
use crate::exit::{Exit, Failure};
use crate::out::{self, Folder, to_value};
use crate::plan::Plan;
use crate::pool::{self, Job};
use crate::report;
use crate::results::Summary;
use crate::statistics::{Estimate, estimate};
use crate::table::{Look, Table, wants_colour};

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
        let mut timeless = json.clone();
        out::write_timing(folder.path(), &mut timeless)?;
        out::write_file(folder.path(), "compare.json", out::json(&timeless)?.as_bytes())?;
        out::write_file(folder.path(), "compare.csv", csv(&rows).as_bytes())?;
        folder.finish()?;
    }
    if args.setup.base.json {
        out::print(&out::json(&json)?)?;
    } else {
        out::print(&render(&rows, &plans[0].0, args, wants_colour()))?;
    }
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
            out::make_folder(&folder)?;
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

fn csv(rows: &[Row]) -> String {
    let mut text = String::from("reclaim,gc,runs");
    for column in &COLUMNS {
        let _ = write!(text, ",{0},{0}_ci95", column.key);
    }
    text.push('\n');
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
    for row in rows {
        let _ = write!(text, "{},{},{}", row.reclaim, row.gc, row.runs.len());
        for e in &row.estimates {
            let _ = write!(text, ",{},{}", number(e.map(|e| e.mean)), number(e.and_then(|e| e.ci95)));
        }
        text.push('\n');
    }
    text
}

fn render(rows: &[Row], plan: &Plan, args: &CompareArgs, colour: bool) -> String {
    let page_bytes = plan.drive.config.geometry.page_size.0;
    let title =
        report::title(env!("CARGO_PKG_VERSION"), &plan.drive.name, &plan.load.name(), plan.load.is_generated(), &plan.load.source());
    let mut text = format!("{}\n  {} gear, {}\n\n", Look::Heading.paint(&title, colour), plan.gear.name(), seeds(args));
    let timed = plan.gear == crate::args::Gear::Timed;
    let shown: Vec<_> = (0..COLUMNS.len()).filter(|c| timed || !COLUMNS[*c].key.ends_with("_us")).collect();
    let mut table = Table::new(std::iter::once("reclaim").chain(shown.iter().map(|c| COLUMNS[*c].heading)));
    let best: Vec<_> = (0..COLUMNS.len()).map(|c| winners(rows, c)).collect();
    for (r, row) in rows.iter().enumerate() {
        let mark = if row.counterfactual { " (counterfactual)" } else { "" };
        let mut cells = vec![(format!("{}{mark}", row.label), Look::Plain)];
        for c in &shown {
            cells.push(cell(&COLUMNS[*c], row.estimates[*c], best[*c][r], page_bytes));
        }
        table.painted_row(cells);
    }
    text.push_str(&table.render(colour));
    text.push_str("\n  *: best of its column (nobody where all are alike)\n");
    for row in rows.iter().filter(|r| r.counterfactual) {
        let _ = writeln!(text, "  {}: {}; it wins no column", row.label, report::COUNTERFACTUAL);
    }
    let mut legend = Table::default();
    for c in shown {
        legend.row([COLUMNS[c].heading, COLUMNS[c].meaning]);
    }
    text.push_str(&legend.render_words(colour));
    if let Some(trace) = &rows[0].runs[0].trace {
        text.push_str(&report::bad_lines(trace));
    }
    text.push_str(&verdict(rows));
    text
}

fn seeds(args: &CompareArgs) -> String {
    let first = args.setup.base.seed;
    match args.seeds.get() {
        1 => format!("seed {first}"),
        n => format!("seeds {first} to {}: mean ± half width of the 95 % confidence interval", first + (u64::from(n) - 1)),
    }
}

fn cell(column: &Column, estimate: Option<Estimate>, wins: bool, page_bytes: u64) -> (String, Look) {
    let Some(e) = estimate else { return ("- ".into(), Look::Plain) };
    let mut text = column.text(e.mean, page_bytes);
    if let Some(half) = e.ci95 {
        let half = column.text(half, page_bytes);
        // The bytes behind a count are said once.
        let _ = write!(text, " ± {}", half.split(" (").next().unwrap_or(&half));
    }
    text.push(if wins { '*' } else { ' ' });
    let loses = column.key == "data_lost_pages" && e.mean > 0.0;
    (
        text,
        if loses {
            Look::Bad
        } else if wins {
            Look::Good
        } else {
            Look::Plain
        },
    )
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
