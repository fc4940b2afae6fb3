//! `vpass smart`: prints counters under the names that `NVMe` SMART and OCP use. The counters
//! describe a simulated run, or what a real drive did between two snapshots.

mod measured;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use serde_json::Value;
use vpass_lab::as_json::{self, SCHEMA};
use vpass_lab::failure::Failure;
use vpass_lab::numbers::{bytes, count, digits};
use vpass_lab::plain;
use vpass_lab::results::smart::{CAUSES, Counter, Smart};
use vpass_report::folder::Folder;

use crate::out;
use crate::table::{Look, Table, wants_colour, wrapped_lines};

/// Command-line arguments of `vpass smart`.
#[derive(Debug, Args)]
pub(crate) struct SmartArgs {
    /// Result folder that `vpass run` wrote with --out.
    #[arg(value_name = "DIR", required_unless_present = "measured", conflicts_with = "measured")]
    folder: Option<PathBuf>,
    /// Two files, each with a snapshot of a real drive's counters. The earlier snapshot comes
    /// first. Each file holds the output of one or more of these commands, one after another:
    /// `smartctl -j -a`, `nvme smart-log -o json`, `nvme ocp smart-add-log -o json`.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"])]
    measured: Vec<PathBuf>,
    /// Estimate the counters of this drive (a preset or a TOML file) under the load of the measured
    /// drive.
    #[arg(long, value_name = "NAME|FILE", requires = "measured", conflicts_with = "folder")]
    drive: Option<String>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    json: bool,
}

/// Counters of a run, in the form that `--json` prints.
#[derive(Serialize)]
struct OfRun {
    schema: u32,
    drive: Value,
    workload: Value,
    reclaim_technique: Value,
    /// Simulated share of the drive's pages; null if all pages were simulated.
    sample: Value,
    counters: Vec<Counter>,
}

/// Prints the counters of a run or of a real drive.
///
/// # Errors
/// Returns an error for a folder without a run, or for snapshots that cannot be compared.
pub(crate) fn smart(args: &SmartArgs) -> Result<(), Failure> {
    if let [before, after] = args.measured.as_slice() {
        return measured::print(before, after, args.drive.as_deref(), args.json);
    }
    let run = of_run(args.folder.as_deref().unwrap_or_else(|| Path::new("")))?;
    out::print(&if args.json {
        as_json::text(&run)?
    } else {
        wrapped_lines(&render(&run, wants_colour()))
    })
}

/// Reads the counters of the run in a result folder.
fn of_run(path: &Path) -> Result<OfRun, Failure> {
    let folder = Folder::read(path)?;
    let Some(summary) = folder.json("summary.json")? else {
        let hint = match folder.folders().next() {
            Some((name, inside)) if inside.file("summary.json").is_some() => {
                format!(
                    "give one of the folders inside this folder, such as {}",
                    path.join(name).display()
                )
            }
            _ => "a folder that `vpass run --out` wrote is expected".into(),
        };
        return Err(Failure::usage(format!("{} has no summary.json; {hint}", folder.name)));
    };
    let Some(smart) = summary.get("smart") else {
        return Err(Failure::usage(format!(
            "{}/summary.json is from an earlier version of vpass and has no `smart`; repeat the \
             run with the command in manifest.json of the same folder",
            folder.name
        )));
    };
    let smart: Smart = serde_json::from_value(smart.clone())
        .map_err(|e| folder.wrong("summary.json", &format!("smart: {e}")))?;
    let of = |key: &str| summary.get(key).cloned().unwrap_or_default();
    Ok(OfRun {
        schema: SCHEMA,
        drive: of("drive"),
        workload: of("workload"),
        reclaim_technique: of("reclaim_technique"),
        sample: of("sample"),
        counters: smart.counters(),
    })
}

fn render(run: &OfRun, colour: bool) -> String {
    let word = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let title = format!(
        "SMART counters of {drive} under {workload}, {technique}",
        drive = word(&run.drive),
        workload = word(&run.workload),
        technique = word(&run.reclaim_technique)
    );
    let mut text = Look::Heading.paint(&plain::line(&title), colour) + "\n";
    let all = run.counters.iter().find(|counter| counter.key == "physical_media_units_written");
    let all = all.and_then(|counter| counter.value.as_f64());
    let mut table = Table::new(["counter", "id", "value", "unit", ""]);
    for (at, counter) in run.counters.iter().enumerate() {
        let value = number(&counter.value);
        let also = match (counter.value.as_u64(), all) {
            (Some(of), Some(all)) if at < CAUSES && all > 0.0 => {
                format!("{} % of 0x1E", digits(100.0 * of as f64 / all))
            }
            (Some(of), _) if counter.unit == "bytes" => bytes(of),
            _ => String::new(),
        };
        let id = counter.id.unwrap_or("-");
        table.row([counter.name, id, &value, counter.unit, &also]);
    }
    text.push_str(&table.render(colour));
    for (counter, why) in run.counters.iter().filter_map(|of| Some((of, of.why.as_ref()?))) {
        let _ = writeln!(text, "  {} is unknown: {why}", counter.name);
    }
    let _ = writeln!(
        text,
        "  The first {CAUSES} rows add up to counter 0x1E. Counters cover only the measured run, \
         but erase counts and the percentage used cover all wear of the blocks."
    );
    if let Some(sample) = run.sample.as_str() {
        let _ =
            writeln!(text, "  All counts cover only a sample of the drive, {sample} of its pages.");
    }
    text
}

/// Formats a value. An unknown value becomes a dash.
fn number(value: &Value) -> String {
    match (value.as_u64(), value.as_f64()) {
        (Some(whole), _) => count(whole),
        (None, Some(real)) => digits(real),
        (None, None) => "-".into(),
    }
}
