//! `vpass paper`: runs everything that a recipe of `papers/` names, and writes the data of its
//! figures. Then compares the paper's numbers with our numbers.

mod comparison;
mod csv;
mod gain;
mod group;
mod model;
mod numbers;
mod periods;
mod plot;
mod recipe;
mod run;
mod runs;
mod slow_reads;
mod span;
mod stripes;
mod traces;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::Value;
use vpass_core::slots::parity::NO_PARITY;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::files;
use vpass_lab::load;
use vpass_lab::numbers::{plural, seconds};
use vpass_lab::pool::{self, Job, Pace};
use vpass_lab::run::Outcome;
use vpass_lab::series::Part;

use crate::args::at_least_one;
use crate::exit::Exit;
use crate::kept::Rows;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::report_page::{PageArgs, WithPage};
use crate::table::wants_colour;
use numbers::Numbers;
use recipe::{Expectations, Recipe};
use run::{BLOCKS, CYCLES, REFUSED, Run};
use traces::Traces;

#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// Folder of papers/, or a recipe in it.
    #[arg(value_name = "FOLDER|FILE")]
    pub(crate) recipe: PathBuf,
    /// Write the data of every figure, all summaries and the comparison into this new folder,
    /// completely or not at all.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run everything again. Default: take finished runs that an earlier command kept for the same
    /// --out.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Folder with the real traces of the paper's workloads, or some of them, recognised by their
    /// file names.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of threads. A thread runs one drive, or several drives that serve the same requests.
    /// It waits until enough memory is free. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithPage for PaperArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.out)
    }
}

/// Runs a recipe and prints the comparison.
pub(crate) fn paper(args: &PaperArgs) -> Result<Exit, Failure> {
    let path =
        if args.recipe.is_dir() { args.recipe.join("run.toml") } else { args.recipe.clone() };
    let recipe = Recipe::open(&path)?;
    let expectations = expectations(&recipe, &path)?;
    recipe.check()?;
    let traces = args
        .traces
        .as_deref()
        .map(|folder| Traces::find(&recipe, folder))
        .transpose()?
        .unwrap_or_default();
    let mut runs =
        runs::runs(&recipe, path.parent().unwrap_or(Path::new(".")), &traces, args.seed)?;
    let folder = args.out.as_deref().map(Folder::begin).transpose()?;
    let started = Instant::now();
    let rows = Rows::of(args.page.place_of_rows(args.out.as_deref()), args.fresh)?;
    run_all(&recipe, &mut runs, args.threads, &rows)?;
    let figures: Vec<Numbers> =
        recipe.figures.iter().map(|f| Numbers::of(f, &runs)).collect::<Result<_, _>>()?;
    let text = comparison::render(
        (&recipe, &traces.in_words()),
        &figures,
        &runs,
        &expectations,
        wants_colour(),
    )?;
    if let Some(folder) = folder {
        write(folder.path(), &recipe, &traces, &figures, &runs, &expectations)?;
        out::write_file(folder.path(), "manifest.json", manifest(&recipe, args.seed)?.as_bytes())?;
        folder.finish()?;
        rows.done();
    }
    out::print(&format!(
        "{text}\n{} in {}\n",
        plural(runs.len() as u64, "run"),
        seconds(started.elapsed().as_secs_f64())
    ))?;
    let bugs = runs.iter().find(|r| {
        r.summary.pointer("/oracle/limit_violations").and_then(Value::as_u64).unwrap_or(0) > 0
    });
    bugs.map_or(Ok(Exit::Done), |run| {
        Err(Failure::failed(format!("the oracle found a violation: {}", run.name())))
    })
}

/// Returns the manifest, which says how to repeat the results.
fn manifest(recipe: &Recipe, seed: u64) -> Result<String, Failure> {
    let call = crate::call::of("paper");
    let mut manifest = serde_json::json!({
        "schema": as_json::SCHEMA,
        "vpass": env!("CARGO_PKG_VERSION"),
        "git_commit": call.git_commit,
        "command": call.command,
    });
    manifest["command_line"] = call.words.into();
    manifest["title"] = recipe.title.clone().into();
    manifest["seed"] = seed.into();
    as_json::text(&manifest)
}

fn expectations(recipe: &Recipe, path: &Path) -> Result<Expectations, Failure> {
    let Some(name) = &recipe.expected else {
        return Ok(Expectations { expected: vec![], not_reproduced: vec![] });
    };
    let path = path.with_file_name(name);
    let read: Expectations = recipe::read(&path)?;
    read.expected
        .iter()
        .filter_map(|e| e.workload.as_ref())
        .try_for_each(|name| recipe.check_workload(name))?;
    for e in &read.expected {
        let names = recipe.figures.iter().map(|f| f.name.as_str());
        let figure = recipe.figures.iter().find(|f| f.name == e.figure);
        let figure = figure.ok_or_else(|| {
            Failure::usage(format!(
                "{}: {}",
                path.display(),
                vpass_lab::suggest::unknown("figure", &e.figure, names)
            ))
        })?;
        e.check(figure)?;
    }
    Ok(read)
}

/// Data kept of a run: its summary, its blocks, its weeks, and whether the drive could not keep up.
type Kept = (Value, Vec<(u32, u64)>, Vec<Part>, bool);

fn run_all(
    recipe: &Recipe,
    runs: &mut [Run],
    threads: Option<NonZeroUsize>,
    rows: &Rows,
) -> Result<(), Failure> {
    // Each run also needs data beyond its plan: blocks for plots, weeks, and the limit of long
    // reads.
    let weeks_of = |run: &Run| recipe.span_of(&run.group).map(span::Span::weeks);
    let plots_blocks = |run: &Run| recipe.plots_blocks_of(&run.group, &run.workload);
    let asked =
        |i: usize| format!("{:?}", (weeks_of(&runs[i]), plots_blocks(&runs[i]), recipe.long_us));
    let resumed = rows.resumed("paper", runs.iter().map(|run| &run.plan).collect(), asked)?;
    let (mut found, missing) = resumed.found();
    let jobs = missing
        .iter()
        .map(|i| Ok(Job { plan: &runs[*i].plan, requests: runs[*i].plan.requests()? }));
    let jobs = jobs.collect::<Result<Vec<_>, Failure>>()?;
    let pace = if resumed.are_kept() { Pace::EndOften } else { Pace::Fastest };
    let ended = pool::run_all(&jobs, threads, pace, &bar, |job, outcome| {
        let run = &runs[missing[job]];
        let weeks = weeks_of(run).map_or_else(Vec::new, |weeks| outcome.series.parts(weeks));
        let blocks = outcome
            .drive
            .block_states()
            .filter(|_| plots_blocks(run))
            .map(|b| (b.pec, b.effective_milli))
            .collect();
        let kept: Kept = (
            summary_of(recipe, run, outcome, &weeks)?,
            blocks,
            weeks,
            outcome.summary.backlog_grows(),
        );
        resumed.keep(missing[job], &kept);
        Ok(kept)
    })?;
    for (i, kept) in missing.into_iter().zip(ended) {
        found[i] = Some(kept);
    }
    for (run, found) in runs.iter_mut().zip(found) {
        (run.summary, run.blocks, run.weeks, run.fell_behind) =
            found.expect("a kept or finished run");
    }
    Ok(())
}

/// Returns the summary of a run, with additional data for figures and plots.
fn summary_of(
    recipe: &Recipe,
    run: &Run,
    outcome: &Outcome,
    weeks: &[Part],
) -> Result<Value, Failure> {
    let mut summary = as_json::value(&outcome.summary)?;
    if let Some(engine) = &outcome.engine {
        summary[plot::RESPONSES] = as_json::value(&plot::responses(engine))?;
    }
    if let Some(cycles) = &outcome.cycles {
        summary[CYCLES] = as_json::value(cycles)?;
    }
    if run.plan.needs_time() {
        let in_use = outcome.drive.block_states().filter(|block| block.written > 0).count();
        summary[BLOCKS] = serde_json::json!({ "in_use": in_use });
    }
    if let Some(long_us) = recipe.long_us {
        summary[slow_reads::READS] =
            slow_reads::of(&run.plan.drive.config, outcome, weeks, long_us)?;
    }
    Ok(summary)
}

fn write(
    folder: &Path,
    recipe: &Recipe,
    traces: &Traces,
    figures: &[Numbers],
    runs: &[Run],
    expectations: &Expectations,
) -> Result<(), Failure> {
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let csv = numbers.csv(recipe.group(&figure.group)?.slot());
        out::write_file(folder, &format!("{}.csv", figure.name), csv.as_bytes())?;
    }
    for gain in &recipe.gains {
        out::write_file(folder, &format!("{}.csv", gain.name), gain.csv(runs)?.as_bytes())?;
    }
    for plot in &recipe.plots {
        out::write_file(
            folder,
            &format!("{}.csv", plot.name),
            plot::csv(plot, recipe.group(&plot.group)?.slot(), runs, recipe.long_us)?.as_bytes(),
        )?;
    }
    let drive = load::drive(&recipe.drive, &load::overrides(&recipe.set)?)?.config;
    let model = &recipe.model;
    let parameters = model.parameters.as_ref().map(|name| (name, model::parameters_csv(&drive)));
    let layers = model.layers.as_ref().map(|name| (name, model::layers_csv(&drive)));
    let mixes = model.mixes.as_ref().map(|name| (name, model::mixes_csv(&drive)));
    let settings = model.settings.as_ref().map(|name| (name, model::settings_csv(&drive)));
    let workloads = model
        .workloads
        .as_ref()
        .map(|name| model::workloads_csv(recipe).map(|csv| (name, csv)))
        .transpose()?;
    let code = model.code.as_ref().map(|name| (name, model::code_csv(&drive)));
    let stripes = model
        .stripes
        .as_ref()
        .map(|name| stripes::csv(recipe, traces, 1).map(|csv| (name, csv)))
        .transpose()?;
    for (name, csv) in
        [parameters, layers, mixes, settings, workloads, code, stripes].into_iter().flatten()
    {
        out::write_file(folder, &format!("{name}.csv"), csv.as_bytes())?;
    }
    let mut rows: Value = runs
        .iter()
        .map(|r| {
            let refused = r.fell_behind.then_some(REFUSED);
            let mut row = serde_json::json!({
                "group": r.group,
                "variant": r.variant,
                "workload": r.workload,
                "reclaim": r.plan.reclaim.name,
                "refused": refused,
                "summary": r.summary
            });
            if *r.plan.parity != *NO_PARITY {
                row["parity"] = r.plan.parity.name.into();
            }
            if r.plan.needs_time() {
                row["refresh"] = r.plan.refresh.name.into();
            }
            row
        })
        .collect();
    out::write_files(folder, [files::timing(&mut rows)?])?;
    out::write_file(folder, "runs.json", as_json::text(&rows)?.as_bytes())?;
    out::write_file(
        folder,
        "comparison.csv",
        comparison::csv(recipe, figures, expectations).as_bytes(),
    )
}
