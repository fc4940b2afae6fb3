//! `vpass sweep` and `vpass compare --sweep`: repeat a comparison at several values of some keys.
//!
//! A sweep has points. At each point, techniques are compared with one value for every swept key.
//! The runs of all points share the threads. Each finished run is stored. A later sweep reads the
//! stored runs and does not repeat them, even if the later sweep has other points.

mod axis;
mod file;
mod render;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;

use vpass_lab::as_json;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::rows;
use vpass_lab::experiments::{Engine, Rows};
use vpass_lab::failure::Failure;
use vpass_lab::files;
use vpass_lab::load;
use vpass_lab::plan::RunPlan;
use vpass_lab::results::Summary;
use vpass_lab::run::Outcome;

use crate::args::{CompareArgs, Form, at_least_one};
use crate::compare::{Row, plans_of_point, seeds_of_sweep};
use crate::dialect::CommandLine;
use crate::exit::Exit;
use crate::kept::rows_of;
use crate::out;
use crate::out_file::write_together;
use crate::progress::bar;
use crate::report_page::{PageArgs, WithPage};
use crate::table::wants_colour;
use crate::unfinished::leftovers;
pub(crate) use axis::Axis;
use axis::{Swept, grid};
use render::Done;

/// Command-line options of `vpass sweep`.
#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Sweep file. The file has options of `vpass compare`, and the values of the swept keys (see
    /// the guide on sweeps).
    pub(crate) file: PathBuf,
    /// Folder for the results: sweep.csv, sweep.json, timing.json and manifest.json. A later sweep
    /// with the same folder makes only the runs that are new. For this, the hidden folder .DIR.rows
    /// beside DIR keeps the finished runs.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Number of threads. Default: number of cores.
    #[arg(long, value_name = "N", value_parser = at_least_one::<NonZeroUsize>)]
    pub(crate) threads: Option<NonZeroUsize>,
    /// Run everything again. Default: reuse the finished runs of earlier sweeps with the same
    /// --out.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) form: Form,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

impl WithPage for SweepArgs {
    fn page_and_out(&mut self) -> (&mut PageArgs, &mut Option<PathBuf>) {
        (&mut self.page, &mut self.out)
    }
}

/// Runs the sweep that a file describes.
pub(crate) fn sweep(args: &SweepArgs) -> Result<Exit, Failure> {
    let (mut compare, points) = file::read(&args.file)?;
    compare.setup.base.out.clone_from(&args.out);
    compare.setup.base.json = args.json;
    (compare.threads, compare.fresh, compare.form) = (args.threads, args.fresh, args.form);
    compare.page = args.page.clone();
    run(&compare, points, &args.file.display().to_string())
}

/// Runs the sweep of `vpass compare --sweep`.
pub(crate) fn of_compare(args: &CompareArgs) -> Result<Exit, Failure> {
    run(args, grid(&args.sweep), "--sweep")
}

/// Largest number of points in a sweep. More points would take days, and their table would be too
/// long to read.
const MOST_POINTS: usize = 100_000;

/// Point of a sweep, with the plans of all runs at this point.
struct Point {
    swept: Swept,
    plans: Vec<RunPlan>,
    refused: Vec<(Option<String>, String)>,
}

/// Runs a sweep. `source` is the option or the file that has the points.
fn run(args: &CompareArgs, points: Vec<Swept>, source: &str) -> Result<Exit, Failure> {
    args.setup.require_one_sample()?;
    if points.len() > MOST_POINTS {
        return Err(Failure::usage(format!(
            "the sweep has {} points; at most {MOST_POINTS} are allowed",
            points.len()
        )));
    }
    // A mistyped value is found before the runs of the other points, which may take hours.
    for (key, value) in points.iter().flatten() {
        load::require_possible(key, value, source)?;
    }
    let place = args.setup.base.out.as_deref();
    place.map(check_place).transpose()?;
    let kept = rows_of(args.page.place_of_rows(place), args.fresh)?;
    let points = points.into_iter().map(|swept| planned(args, swept)).collect::<Vec<_>>();
    if let Some(why) = points.iter().all(|point| point.plans.is_empty()).then(|| &points[0].refused)
    {
        return Err(Failure::usage(why.first().map_or_else(String::new, |(_, why)| why.clone())));
    }
    let plans: Vec<&RunPlan> = points.iter().flat_map(|point| &point.plans).collect();
    let mut finished = run_all(&plans, args, &kept)?.into_iter();
    let seeds = seeds_of_sweep(args).get();
    let mut all = vec![];
    for point in &points {
        let of_point: Vec<&RunPlan> = point.plans.iter().collect();
        let results = finished.by_ref().take(of_point.len()).collect();
        let (rows, stopped) = if of_point.is_empty() {
            (vec![], vec![])
        } else {
            rows(&of_point, results, seeds as usize)
        };
        let (swept, refused) = (point.swept.clone(), point.refused.clone());
        all.push(Done { swept, rows, stopped, refused });
    }
    let firsts: Vec<Option<&RunPlan>> = points.iter().map(|point| point.plans.first()).collect();
    show(args, &all, &firsts)?;
    let has_bug = all.iter().flat_map(|done| &done.rows).any(ComparisonRow::has_bug);
    if has_bug {
        return Err(Failure::failed(
            "the oracle found a bug of the drive model; `vpass run` shows the findings",
        ));
    }
    let stops: Vec<String> = all.iter().flat_map(Done::stops).collect();
    if stops.is_empty() { Ok(Exit::Done) } else { Err(Failure::failed(stops.join("; "))) }
}

/// Plans the comparison at one point of a sweep. If the settings of the point are refused, the
/// returned point has no plans.
fn planned(args: &CompareArgs, swept: Swept) -> Point {
    let set = swept.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>();
    match plans_of_point(args, set) {
        Ok((plans, refused)) => {
            let refused = refused.into_iter().map(|row| (Some(row.label), row.why)).collect();
            Point { swept, plans, refused }
        }
        Err(why) => {
            Point { swept, plans: vec![], refused: vec![(None, why.in_dialect(&CommandLine))] }
        }
    }
}

/// Runs all plans that no earlier command has finished.
fn run_all(
    plans: &[&RunPlan],
    args: &CompareArgs,
    rows: &Rows,
) -> Result<Vec<Result<Summary, Failure>>, Failure> {
    let engine = Engine { name: "sweep", rows, threads: args.threads, begin: &bar };
    let row = |_, outcome: Result<&Outcome, &Failure>| {
        Ok(match outcome {
            Ok(outcome) => Row::of(outcome, vec![]),
            Err(stop) => Row::stopped(stop.in_dialect(&CommandLine)),
        })
    };
    engine.run(plans, |_| String::new(), row, |_, row: Row| row.put_into(None, ""))
}

/// Files of the results, in the order in which they get their names.
const FILES: [&str; 4] = ["sweep.csv", "timing.json", "manifest.json", "sweep.json"];

/// Returns an error unless the folder is new, is empty, or has results of an earlier sweep. A sweep
/// that was killed may have left some files, or only temporary ones.
fn check_place(place: &Path) -> Result<(), Failure> {
    let is_of_sweep = place.join(FILES[3]).is_file()
        || FILES.iter().any(|name| !leftovers(&place.join(name)).is_empty());
    let is_new_or_cut = std::fs::read_dir(place).map_or(!place.exists(), |all| {
        let names: Vec<_> = all.flatten().map(|entry| entry.file_name()).collect();
        // Other commands and programs write the other files, too.
        let is_cut = names.iter().any(|name| name == FILES[0])
            && names.iter().all(|name| FILES.iter().any(|own| name == own));
        names.is_empty() || is_cut
    });
    if is_of_sweep || is_new_or_cut {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--out {}: a new or empty folder, or the folder of a sweep, is expected",
        place.display()
    )))
}

/// Prints the results of a sweep. With `--out`, the results are also written to files.
fn show(args: &CompareArgs, all: &[Done], plans: &[Option<&RunPlan>]) -> Result<(), Failure> {
    let json = render::json(all, plans, seeds_of_sweep(args).get())?;
    let csv = render::csv(all);
    if let Some(place) = &args.setup.base.out {
        std::fs::create_dir_all(place).map_err(|e| {
            Failure::usage(format!("--out {} cannot be written: {e}", place.display()))
        })?;
        let mut timeless = json.clone();
        let (_, timing) = files::timing(&mut timeless)?;
        let (text, manifest) = (as_json::text(&timeless)?, render::manifest()?);
        let [first, second, third, last] = FILES;
        write_together(
            place,
            &[
                (first, csv.as_bytes()),
                (second, &timing),
                (third, manifest.as_bytes()),
                (last, text.as_bytes()),
            ],
        )?;
    }
    out::print(&match args.form {
        Form { csv: true, .. } => csv,
        _ if args.setup.base.json => as_json::text(&json)?,
        form => tables(all, plans, form.markdown),
    })
}

/// Returns a text with one table for each point of a sweep. If a technique has no results, the text
/// says why.
fn tables(all: &[Done], plans: &[Option<&RunPlan>], is_markdown: bool) -> String {
    let mut text = String::new();
    for (done, plan) in all.iter().zip(plans) {
        let _ = writeln!(text, "{}\n", done.name());
        if let Some(plan) = plan.filter(|_| !done.rows.is_empty()) {
            text += &crate::compare::table_of(&done.rows, plan, is_markdown, wants_colour());
        }
        let stopped = done.stopped.iter().map(|row| (Some(row.label.clone()), row.why.clone()));
        for (label, why) in done.refused.iter().cloned().chain(stopped) {
            let label = label.map_or_else(String::new, |label| label + ": ");
            let _ = writeln!(text, "{label}no results: {why}");
        }
        text.push('\n');
    }
    if !is_markdown {
        text += "*: best value of the column at this point, among the techniques that lost no \
            data\n";
    }
    text
}
