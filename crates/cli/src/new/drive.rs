//! `vpass new drive`: writes a drive file from the lines of a data sheet.

use std::path::Path;

use serde::Serialize;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::sheet::beside::{self, Beside};
use vpass_lab::sheet::{self, Change, Draft, Endurance, Sheet};

use super::args::NewDriveArgs;
use super::{beside::render, short};
use crate::out;
use crate::out_file::OutFile;
use crate::table::wants_colour;

/// Output of `vpass new drive --json`.
#[derive(Serialize)]
struct Made<'a> {
    /// Preset from which the drive file is made.
    preset: &'static str,
    /// Drive file that was written; null without `--out`.
    file: Option<String>,
    /// Changed keys, each with the reason for its change.
    changes: &'a [Change],
    #[serde(flatten)]
    beside: &'a Beside,
}

/// Makes the drive file, writes it, and prints the table that compares the drive with its data
/// sheet.
pub(super) fn drive(args: &NewDriveArgs) -> Result<(), Failure> {
    let sheet = sheet_of(args)?;
    let file = args.out.as_deref().map(|path| OutFile::begin(path, args.force)).transpose()?;
    let draft = sheet::draft(&sheet, &short)?;
    let name = args.out.as_deref().map_or_else(|| draft.preset.into(), |p| p.display().to_string());
    let mut table = beside::table(&load::drive_of(&name, draft.text.clone(), &[])?, &short)?;
    table.notes.splice(0..0, draft.notes.iter().cloned());
    file.map(|file| file.finish_with(&draft.text)).transpose()?;
    out::print(&if args.json {
        let file = args.out.as_deref().map(|path| path.display().to_string());
        let made = Made { preset: draft.preset, file, changes: &draft.changes, beside: &table };
        as_json::text(&made)?
    } else {
        let title = format!("A drive from a data sheet, based on {}", draft.preset);
        render(&title, &table, wants_colour()) + &last_line(&draft, args.out.as_deref())
    })
}

/// Returns the data sheet that the options describe.
fn sheet_of(args: &NewDriveArgs) -> Result<Sheet, Failure> {
    let missing: Vec<&str> =
        [("--capacity", args.capacity.is_none()), ("--cell", args.cell.is_none())]
            .into_iter()
            .filter_map(|(option, is_missing)| is_missing.then_some(option))
            .collect();
    let (Some(capacity), Some(cell)) = (args.capacity, args.cell) else {
        return Err(Failure::usage(format!(
            "new drive needs {}, such as --capacity 1.92TB --cell tlc",
            missing.join(" and ")
        )));
    };
    let dwpd = args.dwpd.zip(args.warranty_years);
    let endurance = args
        .tbw
        .map(Endurance::Tbw)
        .or_else(|| dwpd.map(|(per_day, years)| Endurance::Dwpd { per_day, years }));
    Ok(Sheet {
        capacity,
        cell,
        interface: args.interface.clone(),
        random_read_iops: args.random_read_iops,
        random_write_iops: args.random_write_iops,
        sequential_read_mb_s: args.sequential_read,
        sequential_write_mb_s: args.sequential_write,
        endurance,
        channels: args.channels,
    })
}

/// Returns a sentence that says where the drive file is. If no file was written, the sentence says
/// how to get a file.
fn last_line(draft: &Draft, written: Option<&Path>) -> String {
    let keys = draft.changes.len();
    match written {
        Some(path) => format!(
            "{} is written: {keys} keys of the preset {} are changed, each with a reason. vpass \
             show {0} prints this table again.\n",
            vpass_lab::plain::path(path),
            draft.preset
        ),
        None => "No file was written; --out FILE writes the drive into a file.\n".into(),
    }
}
