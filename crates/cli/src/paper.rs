//! `vpass paper`: runs everything a recipe of `papers/` names, writes the data of its figures, and puts the paper's numbers
//! beside ours.

mod beside;
mod figure;
mod model;
mod recipe;
mod runs;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;
use serde_json::Value;

use crate::compare::threads_for;
use crate::exit::{Exit, Failure};
use crate::load;
use crate::out::{self, Folder};
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run::{execute, to_value};
use crate::table::wants_colour;
use figure::Numbers;
use recipe::{Expectations, Recipe};

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
    let mut runs = runs::runs(&recipe, args.seed)?;
    for figure in &recipe.figures {
        recipe.group_of(figure)?;
    }
    let folder = args.out.as_deref().map(Folder::begin).transpose()?;
    let started = Instant::now();
    run_all(&mut runs, args.threads.map(std::num::NonZeroUsize::get))?;
    let figures: Vec<Numbers> = recipe.figures.iter().map(|f| Numbers::of(f, &runs)).collect::<Result<_, _>>()?;
    let text = beside::render(&recipe, &figures, &runs, &expectations, wants_colour());
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
    let parameters = model.parameters.as_ref().map(|name| (name, model::parameters_csv(&drive)));
    let layers = model.layers.as_ref().map(|name| (name, model::layers_csv(&drive)));
    let mixes = model.mixes.as_ref().map(|name| (name, model::mixes_csv(&drive)));
    for (name, csv) in [parameters, layers, mixes].into_iter().flatten() {
        out::write_file(folder, &format!("{name}.csv"), csv.as_bytes())?;
    }
    let rows: Vec<Value> = runs
        .iter()
        .map(|r| serde_json::json!({"group": r.group, "variant": r.variant, "workload": r.workload, "reclaim": r.plan.reclaim, "summary": r.summary}))
        .collect();
    out::write_file(folder, "runs.json", out::json(&rows)?.as_bytes())?;
    out::write_file(folder, "comparison.csv", beside::csv(recipe, figures, expectations).as_bytes())
}
