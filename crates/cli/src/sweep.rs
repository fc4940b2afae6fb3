//! `vpass sweep` and `vpass compare --sweep`: repeat a comparison at several values of some keys.
//!
//! A sweep has points. At each point, techniques are compared with one value for every swept key.
//! The runs of all points share the threads. Each finished run is stored. A later sweep reads the
//! stored runs and does not repeat them, even if the later sweep has other points.

mod axis;
mod file;
mod render;

use std::fmt::Write as _;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::Args;

use vpass_lab::as_json;
use vpass_lab::compare::Comparison;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::sweep::{Point, Refusal, Sweep, Swept};
use vpass_lab::experiment::{Engine, Experiment};
use vpass_lab::failure::Failure;
use vpass_lab::files;
use vpass_lab::load;
use vpass_lab::plan::RunPlan;

use crate::args::{CompareArgs, Form, at_least_one};
use crate::compare::{self, setup_of};
use crate::dialect;
use crate::exit::Exit;
use crate::kept::rows_of;
use crate::out;
use crate::out_file::write_together;
use crate::progress::bar;
use crate::report_page::{PageArgs, WithPage};
use crate::table::wants_colour;
use crate::unfinished::leftovers;
pub(crate) use axis::Axis;
use axis::grid;

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
    run(&compare, &points, &args.file.display().to_string())
}

/// Runs the sweep of `vpass compare --sweep`.
pub(crate) fn of_compare(args: &CompareArgs) -> Result<Exit, Failure> {
    run(args, &grid(&args.sweep), "--sweep")
}

/// Largest number of points in a sweep. More points would take days, and their table would be too
/// long to read.
const MOST_POINTS: usize = 100_000;

/// Runs a sweep. `source` is the option or the file that has the points.
fn run(args: &CompareArgs, points: &[Swept], source: &str) -> Result<Exit, Failure> {
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
    let rows = rows_of(args.page.place_of_rows(place), args.fresh)?;
    let planned: Vec<_> = points.iter().map(|swept| planned(args, swept)).collect();
    if planned.iter().all(Result::is_err) {
        return Err(Failure::usage(planned[0].as_ref().err().cloned().unwrap_or_default()));
    }
    let experiments: Vec<&Experiment> = planned.iter().flatten().collect();
    let firsts: Vec<Option<&RunPlan>> =
        planned.iter().map(|one| one.as_ref().ok().map(Experiment::first)).collect();
    let engine = Engine { name: "sweep", rows: &rows, threads: args.threads, begin: &bar };
    let mut compared = engine.compare(&experiments, None)?.into_iter();
    let comparison = |one: &Result<Experiment, String>| match one {
        Ok(_) => Ok(compared.next().expect("a comparison of each planned point")),
        Err(why) => Err(why.clone()),
    };
    let all: Vec<_> = planned.iter().map(comparison).collect();
    let keys = points[0].iter().map(|(key, _)| key.clone()).collect();
    let points = points.iter().zip(all).map(|(swept, one)| Point::of(swept, one)).collect();
    let sweep = Sweep::new(keys, points, seeds_of(args).get());
    show(args, &sweep, &firsts)?;
    exit(&sweep)
}

/// Returns the exit code of a sweep.
fn exit(sweep: &Sweep) -> Result<Exit, Failure> {
    let rows = sweep.points.iter().filter_map(|point| point.comparison.as_ref());
    if rows.flat_map(|compared| &compared.techniques).any(ComparisonRow::has_bug) {
        return Err(Failure::failed(
            "the oracle found a bug of the drive model; `vpass run` shows the findings",
        ));
    }
    let stops = sweep.points.iter().flat_map(|point| {
        let at = sweep.name(point);
        point.stopped.iter().map(move |row| format!("{at}, under {}: {}", row.label, row.why))
    });
    let stops: Vec<String> = stops.collect();
    if stops.is_empty() { Ok(Exit::Done) } else { Err(Failure::failed(stops.join("; "))) }
}

/// Returns the number of seeds at each point of a sweep.
fn seeds_of(args: &CompareArgs) -> NonZeroU32 {
    args.seeds.unwrap_or(NonZeroU32::MIN)
}

/// Plans the comparison at one point of a sweep. If the settings of the point are refused, the
/// error has the reason.
fn planned(args: &CompareArgs, swept: &Swept) -> Result<Experiment, String> {
    let mut setup = setup_of(args);
    setup.base.set.extend(swept.iter().map(|(key, value)| format!("{key}={value}")));
    let combinations = args.combined.with(&args.reclaim);
    let planned = Experiment::new(&setup, &combinations, Some(seeds_of(args)), &bar);
    let planned = planned.map_err(|why| dialect::sentence(&why))?;
    out::say_all(&planned.left_out);
    Ok(planned)
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
fn show(args: &CompareArgs, sweep: &Sweep, plans: &[Option<&RunPlan>]) -> Result<(), Failure> {
    let json = as_json::value(sweep)?;
    let csv = render::csv(sweep);
    if let Some(place) = &args.setup.base.out {
        std::fs::create_dir_all(place).map_err(|e| {
            Failure::usage(format!("--out {} cannot be written: {e}", place.display()))
        })?;
        let mut timeless = json.clone();
        let (_, timing) = files::timing(&mut timeless)?;
        let manifest = as_json::text(&crate::call::manifest("sweep"))?;
        let text = as_json::text(&timeless)?;
        let contents = [csv.as_bytes(), timing.as_bytes(), manifest.as_bytes(), text.as_bytes()];
        let named: Vec<(&str, &[u8])> = FILES.into_iter().zip(contents).collect();
        write_together(place, &named)?;
    }
    out::print(&match args.form {
        Form { csv: true, .. } => csv,
        _ if args.setup.base.json => as_json::text(&json)?,
        form => tables(sweep, plans, form.markdown),
    })
}

/// Returns a text with one table for each point of a sweep. If a technique has no results, the text
/// says why.
fn tables(sweep: &Sweep, plans: &[Option<&RunPlan>], is_markdown: bool) -> String {
    let mut text = String::new();
    for (point, plan) in sweep.points.iter().zip(plans) {
        let _ = writeln!(text, "{}\n", sweep.name(point));
        if let Some((compared, plan)) = point.comparison.as_ref().zip(*plan) {
            let table = compare::table(&Comparison { refused: vec![], ..compared.clone() }, plan);
            text += &if is_markdown { table.markdown() } else { table.render(wants_colour()) };
        }
        for Refusal { label, why } in point.without_results() {
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
