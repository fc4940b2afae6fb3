//! `vpass compare`: runs the same workload with the same seed on one drive per technique. A table
//! shows the results, and marks the best technique in each column.

mod render;

use std::path::Path;

use vpass_lab::as_json;
use vpass_lab::compare::Comparison;
use vpass_lab::compare::refused::by_reason;
use vpass_lab::experiment::{Engine, Experiment, Files};
use vpass_lab::failure::Failure;
use vpass_lab::files::{self, File};
use vpass_lab::setup;

use crate::args::{CompareArgs, Form};
use crate::call;
use crate::exit::Exit;
use crate::kept::rows_of;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::table::wants_colour;
pub(crate) use render::{cells_of_csv, heading_of_csv, table};

/// Runs a comparison and prints its results.
pub(crate) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    args.setup.require_one_sample()?;
    let out = args.setup.base.out.as_deref();
    let combinations = args.combined.with(&args.reclaim);
    let experiment = Experiment::new(&setup_of(args), &combinations, args.seeds, &bar)?;
    let experiment = experiment.with_files(out.is_some());
    out::say_all(&experiment.left_out);
    out::say_all(&experiment.notes()?);
    for (labels, why) in by_reason(&experiment.refused) {
        out::say_all(&[format!("{labels}: refused: {why}")]);
    }
    let folder = out.map(Folder::begin).transpose()?;
    let rows = rows_of(args.page.place_of_rows(out), args.fresh)?;
    let engine = Engine { name: "compare", rows: &rows, threads: args.threads, begin: &bar };
    let place = folder.as_ref().map(Folder::path);
    let write = |name: &str, files: Vec<File>| write_run(place, name, files);
    let files = Files { call: call::of("compare"), write: &write };
    let compared = engine.compare(&[&experiment], place.map(|_| &files))?.remove(0);
    if let (true, [stop, ..]) = (compared.techniques.is_empty(), &compared.stopped[..]) {
        rows.done();
        return Err(Failure::stopped(stop.why.clone()));
    }
    let json = as_json::value(&compared)?;
    let csv = render::csv(&compared);
    if let Some(folder) = folder {
        let mut timeless = json.clone();
        out::write_files(folder.path(), [files::timing(&mut timeless)?])?;
        out::write_file(folder.path(), "compare.json", as_json::text(&timeless)?.as_bytes())?;
        out::write_file(folder.path(), "compare.csv", csv.as_bytes())?;
        rows.end(|| folder.finish())?;
    }
    let plan = experiment.first();
    out::print(&match args.form {
        Form { csv: true, .. } => csv,
        Form { markdown: true, .. } => table(&compared, plan).markdown(),
        _ if args.setup.base.json => as_json::text(&json)?,
        _ => render::text(&compared, plan, &combinations.of_one_parity(), wants_colour()),
    })?;
    exit(&compared)
}

/// Returns the settings of a comparison.
pub(crate) fn setup_of(args: &CompareArgs) -> setup::Setup {
    setup::Setup { fail: args.fail.clone(), ..(&args.setup).into() }
}

/// Writes the files of a run into the subfolder of the results folder with this name.
fn write_run(folder: Option<&Path>, name: &str, files: Vec<File>) -> Result<(), Failure> {
    let Some(folder) = folder else { return Ok(()) };
    let folder = folder.join(name);
    out::make_folder(&folder)?;
    out::write_files(&folder, files)
}

/// Returns the exit code of a comparison.
///
/// # Errors
/// Returns an error if the oracle found a bug of the drive model, or if a drive stopped.
fn exit(compared: &Comparison) -> Result<Exit, Failure> {
    let bugs = compared.techniques.iter().filter(|row| row.has_bug());
    let bugs: Vec<&str> = bugs.map(|row| row.label.as_str()).collect();
    if !bugs.is_empty() {
        return Err(Failure::failed(format!(
            "the oracle found a bug of the drive model under {}; `vpass run` shows the findings",
            bugs.join(", ")
        )));
    }
    let stops = compared.stopped.iter().map(|row| format!("under {}: {}", row.label, row.why));
    let stops: Vec<String> = stops.collect();
    if stops.is_empty() { Ok(Exit::Done) } else { Err(Failure::failed(stops.join("; "))) }
}
