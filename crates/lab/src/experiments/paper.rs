//! Recipes of papers. vpass runs everything that a recipe names, and computes the data of the
//! recipe's figures. Then vpass compares these data with the numbers in the paper.

mod comparison;
mod csv;
mod gain;
mod group;
mod model;
mod numbers;
mod periods;
mod plot;
mod recipe;
mod report;
mod run;
mod runs;
mod slow_reads;
mod span;
mod stripes;
mod traces;

use std::path::{Path, PathBuf};

use serde_json::Value;
use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::base::phrase::Dialect;

use super::Engine;
use crate::as_json;
use crate::failure::Failure;
use crate::files::{self, File};
use crate::load;
use crate::plan::RunPlan;
use crate::progress::Begin;
use crate::run::Outcome;
use crate::series;
use numbers::Numbers;
use recipe::{Expectations, Recipe};
pub use report::{Grid, Part, Report};
use run::{BLOCKS, CYCLES, REFUSED, Run};
use traces::Traces;

/// Recipe to run, with a seed and with real traces.
#[derive(Debug)]
pub struct Asked<'a> {
    /// Path of the recipe. The path leads to a TOML file, or to the folder with this TOML file.
    pub recipe: &'a Path,
    /// Folder with real traces for all or some of the paper's workloads.
    pub traces: Option<&'a Path>,
    /// First random seed.
    pub seed: u64,
    /// Words that warnings use for options and settings.
    pub dialect: &'static dyn Dialect,
}

/// Recipe after its runs were planned and checked.
pub struct Planned {
    recipe: Recipe,
    expectations: Expectations,
    traces: Traces,
    runs: Vec<Run>,
}

impl Planned {
    /// Reads a recipe and plans its runs.
    ///
    /// # Errors
    /// Returns an error if a file of the recipe, a trace or a run has an error.
    pub fn new(asked: &Asked, begin: Begin) -> Result<Self, Failure> {
        let path: PathBuf = if asked.recipe.is_dir() {
            asked.recipe.join("run.toml")
        } else {
            asked.recipe.to_owned()
        };
        let recipe = Recipe::open(&path)?;
        let expectations = expectations(&recipe, &path)?;
        recipe.check()?;
        let traces = asked.traces.map(|folder| Traces::find(&recipe, folder, begin)).transpose()?;
        let traces = traces.unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new("."));
        let runs = runs::runs(&recipe, folder, &traces, (asked.seed, asked.dialect))?;
        Ok(Self { recipe, expectations, traces, runs })
    }

    /// Returns the title of the recipe.
    pub fn title(&self) -> &str {
        &self.recipe.title
    }

    /// Runs the recipe.
    ///
    /// # Errors
    /// Returns the first error of a run. Also returns an error if the user interrupts the runs.
    pub fn run(mut self, engine: &Engine) -> Result<Report, Failure> {
        run_all(&self.recipe, &mut self.runs, engine)?;
        let Self { recipe, expectations, traces, runs } = &self;
        let figures: Vec<Numbers> =
            recipe.figures.iter().map(|f| Numbers::of(f, runs)).collect::<Result<_, _>>()?;
        let sources = traces.in_words();
        let parts = comparison::parts((recipe, &sources), &figures, runs, expectations)?;
        let found = |run: &&Run| {
            let violations = run.summary.pointer("/oracle/limit_violations");
            violations.and_then(Value::as_u64).unwrap_or(0) > 0
        };
        Ok(Report {
            parts,
            files: all_files(recipe, traces, &figures, runs, expectations)?,
            runs: runs.len(),
            violation: runs.iter().find(found).map(Run::name),
        })
    }
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
                crate::suggest::unknown("figure", &e.figure, names)
            ))
        })?;
        e.check(figure)?;
    }
    Ok(read)
}

/// Data that is kept on disk for a run: the summary, the P/E cycles of blocks, the data of each
/// week, and whether the drive fell behind the requests.
type Kept = (Value, Vec<(u32, u64)>, Vec<series::Part>, bool);

fn run_all(recipe: &Recipe, runs: &mut [Run], engine: &Engine) -> Result<(), Failure> {
    // The key under which a run is kept on disk depends on three settings that are not in the plan.
    // The three settings are the number of weeks, whether a plot needs data of every block, and the
    // time above which a read is long.
    let weeks_of = |run: &Run| recipe.span_of(&run.group).map(span::Span::weeks);
    let plots_blocks = |run: &Run| recipe.plots_blocks_of(&run.group, &run.workload);
    let asked =
        |i: usize| format!("{:?}", (weeks_of(&runs[i]), plots_blocks(&runs[i]), recipe.long_us));
    let row = |i: usize, outcome: Result<&Outcome, &Failure>| {
        let (run, outcome) = (&runs[i], outcome.map_err(Clone::clone)?);
        let weeks = weeks_of(run).map_or_else(Vec::new, |weeks| outcome.series.parts(weeks));
        let blocks = outcome
            .drive
            .block_states()
            .filter(|_| plots_blocks(run))
            .map(|b| (b.pec, b.effective_milli))
            .collect();
        let summary = summary_of(recipe, run, outcome, &weeks)?;
        Ok((summary, blocks, weeks, outcome.summary.backlog_grows()))
    };
    let plans: Vec<&RunPlan> = runs.iter().map(|run| &run.plan).collect();
    let all: Vec<Kept> = engine.run(&plans, asked, row, |_, kept| Ok(kept))?;
    for (run, kept) in runs.iter_mut().zip(all) {
        (run.summary, run.blocks, run.weeks, run.fell_behind) = kept;
    }
    Ok(())
}

/// Returns the summary of a run, extended by data for figures and plots.
fn summary_of(
    recipe: &Recipe,
    run: &Run,
    outcome: &Outcome,
    weeks: &[series::Part],
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

/// Returns the files of the results folder.
fn all_files(
    recipe: &Recipe,
    traces: &Traces,
    figures: &[Numbers],
    runs: &[Run],
    expectations: &Expectations,
) -> Result<Vec<File>, Failure> {
    let mut files: Vec<File> = vec![];
    let mut add = |name: &str, csv: String| files.push((format!("{name}.csv"), csv.into_bytes()));
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let csv = numbers.csv(recipe.group(&figure.group)?.slot());
        add(&figure.name, csv);
    }
    for gain in &recipe.gains {
        add(&gain.name, gain.csv(runs)?);
    }
    for plot in &recipe.plots {
        let slot = recipe.group(&plot.group)?.slot();
        add(&plot.name, plot::csv(plot, slot, runs, recipe.long_us)?);
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
        add(name, csv);
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
    files.push(files::timing(&mut rows)?);
    files.push(("runs.json".into(), as_json::text(&rows)?.into_bytes()));
    let comparison = comparison::csv(recipe, figures, expectations);
    files.push(("comparison.csv".into(), comparison.into_bytes()));
    Ok(files)
}
