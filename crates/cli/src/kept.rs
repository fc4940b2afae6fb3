//! Folder of the finished runs that vpass stores for later commands, and messages about these runs.

use std::path::Path;

use vpass_lab::experiment::{Note, OnDisk, Rows};
use vpass_lab::failure::Failure;
use vpass_lab::numbers::plural;

use crate::out::{real_place, say};
use crate::progress;

/// Opens the stored runs that belong to the results folder of `--out`. With `fresh`, the runs that
/// earlier commands stored are removed.
///
/// # Errors
/// Returns an error if stored runs cannot be removed.
pub(crate) fn rows_of(out: Option<&Path>, fresh: bool) -> Result<Rows, Failure> {
    Rows::of(out.map(real_place).as_deref(), fresh, tell)
}

/// Prints a message about stored runs. The message for `Note::Kept` is printed only if the command
/// ends early.
fn tell(note: &Note) {
    let said = match note {
        Note::Removed(rows) => format!("--fresh: {} removed", runs(rows)),
        Note::CannotKeep(why) => format!(
            "finished runs are not kept for a later command, because vpass cannot read its own \
             program file: {why}"
        ),
        Note::NotKept(why) => format!("a finished run is not kept: {why}"),
        Note::Found(rows, all) => format!(
            "{} of {runs} taken from {folder}, the folder of an earlier command; --fresh repeats \
             all runs",
            rows.count,
            runs = plural(*all as u64, FINISHED),
            folder = rows.folder.display()
        ),
        Note::Kept(rows) => {
            return progress::rows_are_kept(Some(format!(
                "{runs} kept in {folder}: the same command continues from there; with --fresh, \
                 the command starts again",
                runs = plural(rows.count as u64, FINISHED),
                folder = rows.folder.display()
            )));
        }
        Note::Complete => return progress::rows_are_kept(None),
        Note::Others(rows) => format!(
            "the folder {} holds {} with other settings; with --fresh, vpass removes these runs",
            rows.folder.display(),
            plural(rows.count as u64, FINISHED)
        ),
    };
    say(&format!("vpass: {said}"));
}

/// Name of a stored run in messages.
const FINISHED: &str = "finished run";

/// Formats how many runs are stored, and in which folder, such as "3 finished runs in .out.rows".
fn runs(rows: &OnDisk) -> String {
    format!("{} in {}", plural(rows.count as u64, FINISHED), rows.folder.display())
}
