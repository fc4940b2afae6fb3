//! `vpass paper`: runs everything a recipe of `papers/` names, writes the data of its figures, and puts the paper's numbers
//! beside ours.

mod figure;
mod model;
mod recipe;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;
use serde_json::Value;
use vpass_core::config::{Cell, DriveConfig};
use vpass_workload::synthetic::{WorkloadConfig, WorkloadFile};

use crate::compare::threads_for;
use crate::exit::{Exit, Failure};
use crate::explain;
use crate::load::{self, Generated, Loaded};
use crate::out::{self, Folder};
use crate::plan::{self, Load, Plan};
use crate::progress::Progress;
use crate::run::{execute, to_value};
use crate::table::{Look, Table, wants_colour};
use figure::Numbers;
use recipe::{Expectations, Expected, Group, Recipe, Variant};

#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// A folder of papers/, or a recipe in it.
    #[arg(value_name = "FOLDER|FILE")]
    pub(crate) recipe: PathBuf,
    /// Write the data of every figure, all summaries and the comparison into this new folder, whole or not at all.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Seed of all chance.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Drives simulated at the same time; as many as there are cores and memory for where absent.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
}

/// One run of a recipe.
struct Run {
    group: String,
    variant: String,
    workload: String,
    plan: Plan,
    /// Null until it has run.
    summary: Value,
}

/// Runs a recipe and prints the comparison.
pub(crate) fn paper(args: &PaperArgs) -> Result<Exit, Failure> {
    let path = if args.recipe.is_dir() { args.recipe.join("run.toml") } else { args.recipe.clone() };
    let recipe: Recipe = recipe::read(&path)?;
    let expectations = expectations(&recipe, &path)?;
    let mut runs = runs(&recipe, args.seed)?;
    for figure in &recipe.figures {
        recipe.group_of(figure)?;
    }
    let folder = args.out.as_deref().map(Folder::begin).transpose()?;
    let started = Instant::now();
    run_all(&mut runs, args.threads.map(std::num::NonZeroUsize::get))?;
    let figures: Vec<Numbers> = recipe.figures.iter().map(|f| Numbers::of(f, &runs)).collect::<Result<_, _>>()?;
    let text = render(&recipe, &figures, &runs, &expectations, wants_colour());
    if let Some(folder) = folder {
        write(folder.path(), &recipe, &figures, &runs, &expectations)?;
        folder.finish()?;
    }
    out::print(&format!("{text}\n{} runs in {:.0} s\n", runs.len(), started.elapsed().as_secs_f64()))?;
    let bugs = runs.iter().find(|r| r.summary.pointer("/oracle/limit_violations").and_then(Value::as_u64).unwrap_or(0) > 0);
    bugs.map_or(Ok(Exit::Done), |run| Err(Failure::failed(format!("the oracle found a violation: {}", run.name()))))
}

impl Run {
    fn name(&self) -> String {
        format!("{} {} {} {}", self.group, self.variant, self.workload, self.plan.reclaim)
    }
}

fn expectations(recipe: &Recipe, path: &Path) -> Result<Expectations, Failure> {
    let Some(name) = &recipe.expected else { return Ok(Expectations { expected: vec![], not_reproduced: vec![] }) };
    let path = path.with_file_name(name);
    let read: Expectations = recipe::read(&path)?;
    let unknown = read.expected.iter().find(|e| recipe.figures.iter().all(|f| f.name != e.figure));
    match unknown {
        Some(e) => {
            let names = recipe.figures.iter().map(|f| f.name.as_str());
            Err(Failure::usage(format!("{}: {}", path.display(), crate::suggest::unknown("figure", &e.figure, names))))
        }
        None => Ok(read),
    }
}

/// Every run of the recipe, in order.
fn runs(recipe: &Recipe, seed: u64) -> Result<Vec<Run>, Failure> {
    let mut runs = vec![];
    for group in &recipe.groups {
        for variant in &group.variants {
            let sets: Vec<String> = recipe.set.iter().chain(&variant.set).cloned().collect();
            let drive = load::drive(&recipe.drive, &load::overrides(&sets)?)?;
            for workload in recipe.workloads_of(group)? {
                let (config, warm_up) = sized(group, &workload.config, &drive.config);
                let file = WorkloadFile { description: workload.name.clone(), workload: config };
                let load = Load::Generated(Loaded { name: workload.name.clone(), text: String::new(), config: Generated::Workload(file) });
                for reclaim in &group.reclaim {
                    let mut drive = drive.clone();
                    if group.out_of_phase {
                        drive.config.start.reads = end_of_cycle(&drive.config, reclaim)?;
                    }
                    let plan = Plan {
                        drive,
                        load: load.clone(),
                        reclaim: plan::reclaim_named(reclaim)?,
                        gc: "greedy",
                        gear: group.gear.into(),
                        repeat: std::num::NonZeroU32::MIN,
                        until_stable: false,
                        warm_up,
                        seed,
                        oracle: group.oracle,
                    };
                    plan.source()?;
                    let Variant { name, .. } = variant;
                    runs.push(Run {
                        group: group.name.clone(),
                        variant: name.clone(),
                        workload: workload.name.clone(),
                        plan,
                        summary: Value::Null,
                    });
                }
            }
        }
    }
    Ok(runs)
}

/// Share of the way to the first threshold of a technique that blocks begin with at most: what is left keeps a block from its last
/// reads before anything runs.
const PHASES: f64 = 0.95;

/// Reads of a block near the first threshold of a technique.
fn end_of_cycle(drive: &DriveConfig, reclaim: &str) -> Result<u32, Failure> {
    let age = explain::age(drive, drive.start.pec, reclaim)?;
    let first = age.and_then(|age| age.thresholds.iter().map(|t| t.reads).min());
    Ok((f64::from(first.unwrap_or(0)) * PHASES) as u32)
}

/// A workload on a group's set of blocks, at its amount and load; and the requests of its warm-up.
fn sized(group: &Group, workload: &WorkloadConfig, drive: &DriveConfig) -> (WorkloadConfig, u64) {
    let page_bytes = drive.geometry.page_size.0;
    let pages_of_request = workload.block_size.map_or(1, |size| size.0.div_ceil(page_bytes)) as f64;
    let set_pages = f64::from(group.blocks) * f64::from(drive.geometry.pages_per_block());
    let host_pages = (drive.drive.capacity.map_or(0, |c| c.0) / page_bytes) as f64;
    let requests = |reads_per_block: f64| {
        (reads_per_block * f64::from(group.blocks) / pages_of_request / workload.read_share.max(0.01)).round() as u64
    };
    let warm_up = requests(group.warm_up_reads_per_block);
    let mut sized = workload.clone();
    sized.requests = (requests(group.reads_per_block) + warm_up).max(1);
    sized.footprint = (set_pages / host_pages).min(1.0);
    if let Some(load) = group.load {
        sized.queue_depth = None;
        sized.rate =
            Some(load * f64::from(drive.geometry.channels * drive.geometry.dies_per_channel) / (die_s(workload, drive) * pages_of_request));
    }
    (sized, warm_up)
}

/// Seconds that a page of this workload keeps a die busy.
fn die_s(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    let cell: Cell = drive.geometry.cell;
    let sense = drive.timing.sense_per_kind_us(cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    (workload.read_share * read_us + (1.0 - workload.read_share) * drive.timing.program_us) / 1e6
}

fn run_all(runs: &mut [Run], threads: Option<usize>) -> Result<(), Failure> {
    let mut requests = 0;
    for run in runs.iter() {
        requests += run.plan.requests()?.unwrap_or(0);
    }
    let progress = Progress::new(Some(requests), "requests");
    let threads = threads.unwrap_or_else(|| runs.iter().map(|r| threads_for(&r.plan)).min().unwrap_or(1));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::failed)?;
    let one = |run: &mut Run| {
        let outcome = execute(&run.plan, &progress).inspect_err(|_| progress.cancel())?;
        run.summary = to_value(&outcome.summary)?;
        Ok(())
    };
    let mut results: Vec<Result<(), Failure>> = pool.install(|| runs.par_iter_mut().with_max_len(1).map(one).collect());
    if let Some(i) = results.iter().position(|r| r.as_ref().is_err_and(|e| e.exit != Exit::Interrupted)) {
        results.swap(0, i);
    }
    results.into_iter().collect()
}

fn write(folder: &Path, recipe: &Recipe, figures: &[Numbers], runs: &[Run], expectations: &Expectations) -> Result<(), Failure> {
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        out::write_file(folder, &format!("{}.csv", figure.name), numbers.csv().as_bytes())?;
    }
    let drive = load::drive(&recipe.drive, &load::overrides(&recipe.set)?)?.config;
    let model = &recipe.model;
    let files: [(&Option<String>, fn(&DriveConfig) -> String); 3] =
        [(&model.parameters, model::parameters_csv), (&model.layers, model::layers_csv), (&model.mixes, model::mixes_csv)];
    for (name, csv) in files {
        if let Some(name) = name {
            out::write_file(folder, &format!("{name}.csv"), csv(&drive).as_bytes())?;
        }
    }
    let rows: Vec<Value> = runs
        .iter()
        .map(|r| serde_json::json!({"group": r.group, "variant": r.variant, "workload": r.workload, "reclaim": r.plan.reclaim, "summary": r.summary}))
        .collect();
    out::write_file(folder, "runs.json", out::json(&rows)?.as_bytes())?;
    out::write_file(folder, "comparison.csv", comparison_csv(recipe, figures, expectations).as_bytes())
}

/// A number of the paper and ours, where there is one.
fn compared<'a>(recipe: &Recipe, figures: &[Numbers], expectations: &'a Expectations) -> Vec<(&'a Expected, Option<f64>)> {
    let of = |e: &Expected| recipe.figures.iter().position(|f| f.name == e.figure).and_then(|i| figures[i].measured(e));
    expectations.expected.iter().map(|e| (e, of(e))).collect()
}

fn verdict(expected: &Expected, here: Option<f64>) -> &'static str {
    match here {
        None => "no number",
        Some(here) if (here - expected.value).abs() > expected.tolerance * expected.value.abs() => "differs",
        Some(_) if expected.calibrated => "agrees, by calibration",
        Some(_) => "agrees",
    }
}

fn comparison_csv(recipe: &Recipe, figures: &[Numbers], expectations: &Expectations) -> String {
    let mut csv = String::from("source,what,paper,here,tolerance,verdict\n");
    for (e, here) in compared(recipe, figures, expectations) {
        let here_text = here.map_or_else(String::new, |n| n.to_string());
        let _ = writeln!(csv, "\"{}\",\"{}\",{},{here_text},{},\"{}\"", e.source, e.what, e.value, e.tolerance, verdict(e, here));
    }
    csv
}

fn render(recipe: &Recipe, figures: &[Numbers], runs: &[Run], expectations: &Expectations, colour: bool) -> String {
    let mut text = format!("{}\n  on {}; every workload is generated\n", Look::Heading.paint(&recipe.title, colour), recipe.drive);
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let (variants, reclaims) = numbers.columns();
        let over = figure.over.as_ref().map_or_else(|| figure.unit.clone(), |over| format!("over {over}"));
        let _ = write!(text, "\n{} ({}; {over}, mean of the workloads)\n", Look::Heading.paint(&figure.title, colour), figure.name);
        let mut table = Table::new(std::iter::once("").chain(reclaims.iter().copied()));
        for variant in variants {
            let cell = |reclaim: &&str| numbers.mean(variant, reclaim).map_or_else(|| "-".into(), crate::numbers::digits);
            table.row(std::iter::once(variant.to_owned()).chain(reclaims.iter().map(cell)));
        }
        text.push_str(&table.render(colour));
    }
    if !expectations.expected.is_empty() {
        text.push_str(&format!("\n{}\n", Look::Heading.paint("Beside the paper", colour)));
        let mut table = Table::new(["source", "what", "paper", "here", ""]);
        for (e, here) in compared(recipe, figures, expectations) {
            let here_text = here.map_or_else(|| "-".into(), crate::numbers::digits);
            table.row([e.source.clone(), e.what.clone(), crate::numbers::digits(e.value), here_text, verdict(e, here).into()]);
        }
        text.push_str(&table.render_words(colour));
    }
    for left_out in &expectations.not_reproduced {
        let _ = writeln!(text, "  not reproduced: {}: {}", left_out.what, left_out.why);
    }
    for run in runs.iter().filter(|r| r.summary.pointer("/data_lost_pages").and_then(Value::as_u64).unwrap_or(0) > 0) {
        let lost = run.summary.pointer("/data_lost_pages").and_then(Value::as_u64).unwrap_or(0);
        let _ = writeln!(text, "  {}", Look::Bad.paint(&format!("data lost: {lost} pages in {}", run.name()), colour));
    }
    text
}
