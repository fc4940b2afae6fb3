//! `vpass paper`: reproduces the figures of a published paper. A recipe in `papers/` names the
//! simulations. vpass runs these simulations, and compares the results with the numbers in the
//! paper.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use vpass_lab::as_json;
use vpass_lab::experiments::Engine;
use vpass_lab::experiments::paper::{Asked, Grid, Part, Planned};
use vpass_lab::failure::Failure;
use vpass_lab::numbers::{plural, seconds};

use crate::args::at_least_one;
use crate::dialect::CommandLine;
use crate::exit::Exit;
use crate::kept::rows_of;
use crate::out::{self, Folder};
use crate::progress::bar;
use crate::report_page::{PageArgs, WithPage};
use crate::table::{Look, Table, wants_colour};

#[derive(Debug, Args)]
pub(crate) struct PaperArgs {
    /// Folder in papers/ that holds a recipe, or the recipe file itself.
    #[arg(value_name = "FOLDER|FILE")]
    pub(crate) recipe: PathBuf,
    /// Write all results into this new folder: data of every figure, summaries, and the comparison
    /// with the paper. The folder appears only when the results are complete.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Run everything again. Default: reuse the finished runs of an earlier command with the same
    /// --out.
    #[arg(long, requires = "out")]
    pub(crate) fresh: bool,
    /// Folder with real traces for one or more of the paper's workloads. vpass finds the traces by
    /// the file names in the recipe.
    #[arg(long, value_name = "DIR")]
    pub(crate) traces: Option<PathBuf>,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of threads. A thread runs one drive, or several drives that serve the same requests.
    /// A thread waits until enough memory is free. Default: number of cores.
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

/// Runs a recipe, and prints the paper's numbers beside the simulated numbers.
pub(crate) fn paper(args: &PaperArgs) -> Result<Exit, Failure> {
    let asked = Asked {
        recipe: &args.recipe,
        traces: args.traces.as_deref(),
        seed: args.seed,
        dialect: &CommandLine,
    };
    let planned = Planned::new(&asked, &bar)?;
    let title = planned.title().to_owned();
    let folder = args.out.as_deref().map(Folder::begin).transpose()?;
    let started = Instant::now();
    let rows = rows_of(args.page.place_of_rows(args.out.as_deref()), args.fresh)?;
    let engine = Engine { name: "paper", rows: &rows, threads: args.threads, begin: &bar };
    let report = planned.run(&engine)?;
    if let Some(folder) = folder {
        out::write_files(folder.path(), report.files)?;
        let manifest = manifest(&title, args.seed)?;
        out::write_file(folder.path(), "manifest.json", manifest.as_bytes())?;
        rows.end(|| folder.finish())?;
    }
    out::print(&format!(
        "{}\n{} in {}\n",
        text(&report.parts, wants_colour()),
        plural(report.runs as u64, "run"),
        seconds(started.elapsed().as_secs_f64())
    ))?;
    report.violation.map_or(Ok(Exit::Done), |run| {
        Err(Failure::failed(format!("the oracle found a bug of the drive model: {run}")))
    })
}

/// Returns all parts of the results as one text.
fn text(parts: &[Part], colour: bool) -> String {
    let one = |(n, part): (usize, &Part)| match part {
        Part::Title(title, rest) => {
            let gap = if n == 0 { "" } else { "\n" };
            format!("{gap}{}{rest}\n", Look::Heading.paint(title, colour))
        }
        Part::Numbers(grid) => table(grid).render(colour),
        Part::Words(grid) => table(grid).render_words(colour),
        Part::Line(said) => format!("  {said}\n"),
        Part::Loss(said) => format!("  {}\n", Look::Bad.paint(said, colour)),
    };
    parts.iter().enumerate().map(one).collect()
}

fn table(Grid(rows): &Grid) -> Table {
    let mut rows = rows.iter();
    let mut table = Table::new(rows.next().into_iter().flatten().map(String::as_str));
    for row in rows {
        table.row(row.iter().map(String::as_str));
    }
    table
}

/// Returns the manifest of the results. The manifest says how to repeat the results.
fn manifest(title: &str, seed: u64) -> Result<String, Failure> {
    let mut manifest = crate::call::manifest("paper");
    manifest["title"] = title.into();
    manifest["seed"] = seed.into();
    as_json::text(&manifest)
}
