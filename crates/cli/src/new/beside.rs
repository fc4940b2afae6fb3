//! Table that compares a drive with its data sheet. `vpass show FILE` prints this table for any
//! drive file.

use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::sheet::beside::{Beside, table};
use vpass_report::facts;

use super::short;
use crate::out;
use crate::table::wants_colour;

/// Checks a drive and prints the table that compares it with its data sheet.
///
/// # Errors
/// Returns an error if the drive is invalid. The error names the line of the drive file.
pub(crate) fn show(name: &str, sets: &[String], as_json: bool) -> Result<(), Failure> {
    if !sets.is_empty() {
        return Err(Failure::usage(
            "--set does not work with this table, which describes an unchanged drive file; write \
             the output of `vpass show drive FILE --set KEY=VALUE` into a new file, and show that \
             file",
        ));
    }
    let table = table(&load::drive(name, &[])?, &short)?;
    out::print(&if as_json {
        as_json::text(&table)?
    } else {
        render(&format!("Drive {name}"), &table, wants_colour())
    })
}

/// Returns the table with its title and its notes.
pub(super) fn render(title: &str, beside: &Beside, colour: bool) -> String {
    facts::heading(title, colour) + &facts::text(beside, &["vpass", "drive"], colour)
}
