//! The same workload and seed on one drive per technique, side by side, each column with its winner.

mod row;
mod verdict;

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};
use vpass_core::reclaim::RECLAIM;

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
use row::{Row, RowLife};
use verdict::{verdict, winners};

/// Runs and prints a comparison.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let plans = plans(args)?;
    out::say_all(&notes(&plans)?);
    let folder = args.setup.base.out.as_deref().map(Folder::begin).transpose()?;
    let finished = run_all(&plans, args, folder.as_ref().map(Folder::path))?;
    let rows = rows(&plans, finished, args.seeds.get() as usize);
    let json = json_of(&rows, &plans[0].0, args)?;
    if let Some(folder) = folder {
        out::write_file(folder.path(), "compare.json", out::json(&json)?.as_bytes())?;
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

/// What is to be known before the runs; once, what is the same for several techniques.
fn notes(plans: &[(Plan, String)]) -> Result<Vec<String>, Failure> {
    let mut notes = plans[0].0.notes()?;
    for note in plans[1..].iter().flat_map(|(plan, _)| plan.promise_notes()) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(notes)
}

/// Every run with the name of its folder: techniques in the order given, seeds ascending.
fn plans(args: &CompareArgs) -> Result<Vec<(Plan, String)>, Failure> {
    let all: Vec<String> = RECLAIM.iter().map(|t| t.name.into()).collect();
    let reclaims = if args.reclaim.is_empty() { &all } else { &args.reclaim };
    let mut plans: Vec<(Plan, String)> = vec![];
    // What takes long, such as looking through a trace, is done once.
    let first = Plan::new(&args.setup, reclaims[0].trim(), args.gc[0].trim())?;
    for reclaim in reclaims {
        // Who names no technique gets those that these settings leave room for.
        if args.reclaim.is_empty()
            && let Err(refusal) = first.with(reclaim, args.gc[0].trim())
        {
            out::say(&format!("vpass: left out: {}", refusal.sentence));
            continue;
        }
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

#[derive(Serialize)]
struct Technique<'a> {
    reclaim: &'a str,
    gc: &'a str,
    counterfactual: bool,
    /// Whether nothing was programmed or erased in any run.
    no_wear_seen: bool,
    /// Whether requests came faster than the drive could serve them, in any run.
    saturated: bool,
    /// Of the life, over all runs; null where there is none.
    life_low_days: Option<f64>,
    life_high_days: Option<f64>,
    columns: Map<String, Value>,
    /// Those of all runs, each once.
    warnings: Vec<&'a str>,
    runs: &'a [Summary],
}

fn json_of(rows: &[Row], plan: &Plan, args: &CompareArgs) -> Result<Value, Failure> {
    let mut techniques = vec![];
    for row in rows {
        let mut columns = Map::new();
        for (column, estimate) in COLUMNS.iter().zip(&row.estimates) {
            columns.insert(column.key.into(), to_value(estimate)?);
        }
        let life = row.life();
        let range = if let RowLife::Days { low, high, .. } = life { (Some(low), Some(high)) } else { (None, None) };
        techniques.push(to_value(&Technique {
            reclaim: row.reclaim,
            gc: row.gc,
            counterfactual: row.counterfactual,
            no_wear_seen: life == RowLife::NoWear,
            saturated: row.is_saturated(),
            life_low_days: range.0,
            life_high_days: range.1.filter(|days| days.is_finite()),
            columns,
            warnings: row.warnings(),
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
        let mark = match (row.counterfactual, row.is_saturated()) {
            (true, _) => " (counterfactual)",
            (false, true) => " (saturated)",
            (false, false) => "",
        };
        let mut cells = vec![(format!("{}{mark}", row.label), Look::Plain)];
        for c in &shown {
            let column = &COLUMNS[*c];
            cells.push(match row.estimates[*c] {
                Some(e) => cell(column, e, best[*c][r], page_bytes),
                None if column.is_life() => starred(row.life().text(), best[*c][r]),
                None => ("- ".into(), Look::Plain),
            });
        }
        table.painted_row(cells);
    }
    text.push_str(&table.render(colour));
    text.push_str("\n  *: best of its column, of those that lost no data (nobody where all are alike)\n");
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
    text.push_str(&warnings(rows, colour));
    text.push_str(&verdict(rows, page_bytes));
    text
}

/// What to know before the numbers are believed, by technique; once where it is the same for all.
fn warnings(rows: &[Row], colour: bool) -> String {
    let of: Vec<Vec<&str>> = rows.iter().map(Row::warnings).collect();
    let for_all = |sentence: &&str| rows.len() > 1 && of.iter().all(|sentences| sentences.contains(sentence));
    let mut lines: Vec<String> = of[0].iter().filter(|s| for_all(s)).map(|sentence| format!("all: {sentence}")).collect();
    for (row, sentences) in rows.iter().zip(&of) {
        lines.extend(sentences.iter().filter(|s| !for_all(s)).map(|sentence| format!("{}: {sentence}", row.label)));
    }
    if lines.is_empty() { String::new() } else { format!("\n{}", report::warnings(&lines, colour)) }
}

fn seeds(args: &CompareArgs) -> String {
    let first = args.setup.base.seed;
    match args.seeds.get() {
        1 => format!("seed {first}"),
        n => format!("seeds {first} to {}: mean ± half width of the 95 % confidence interval", first + u64::from(n) - 1),
    }
}

fn cell(column: &Column, e: Estimate, wins: bool, page_bytes: u64) -> (String, Look) {
    let mut text = column.text(e.mean, page_bytes);
    if let Some(half) = e.ci95 {
        let half = column.text(half, page_bytes);
        // The bytes behind a count are said once.
        let _ = write!(text, " ± {}", half.split(" (").next().unwrap_or(&half));
    }
    let (text, look) = starred(text, wins);
    let loses = column.key == "data_lost_pages" && e.mean > 0.0;
    (text, if loses { Look::Bad } else { look })
}

fn starred(text: String, wins: bool) -> (String, Look) {
    if wins { (text + "*", Look::Good) } else { (text + " ", Look::Plain) }
}
