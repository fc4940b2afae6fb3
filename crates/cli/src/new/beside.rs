//! Table that compares a drive with its data sheet. `vpass show FILE` prints this table for any
//! drive file.

use std::fmt::Write;

use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::numbers::{count, digits};
use vpass_lab::sheet::beside::{Beside, Row, table};
use vpass_lab::{load, plain};

use super::short;
use crate::out;
use crate::table::{Look, Table, wants_colour, wrapped};

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
    let mut text = format!("{}\n", Look::Heading.paint(&plain::line(title), colour));
    let mut table = Table::new(["", "data sheet", "this drive", "difference", "unit", "from"]);
    for row in &beside.rows {
        let cell =
            |value: Option<f64>| value.map_or_else(|| "-".into(), |value| number(row, value));
        table.row([
            row.quantity.clone(),
            cell(row.sheet),
            cell(row.drive),
            difference(row),
            row.unit.to_owned(),
            row.from.clone(),
        ]);
    }
    text.push_str(&table.render_words(colour));
    text.push('\n');
    for note in &beside.notes {
        let _ = writeln!(text, "{}", wrapped(&format!("  {}", plain::line(note)), 2));
    }
    text
}

/// Returns the difference, in percent, between the drive's value and the value in the data sheet.
/// If the drive is clearly better than the data sheet, the text ends with "above".
fn difference(row: &Row) -> String {
    row.difference_percent.map_or_else(String::new, |percent| {
        format!("{percent:+.1} %{}", if row.is_above() { ", above" } else { "" })
    })
}

/// Formats a value. Values below 10 and values without a unit may have decimals. All other values
/// are rounded to whole numbers.
fn number(row: &Row, value: f64) -> String {
    if row.unit.is_empty() || value < 10.0 { digits(value) } else { count(value.round() as u64) }
}
