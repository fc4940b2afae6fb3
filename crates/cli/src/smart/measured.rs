//! `vpass smart --measured`: reports what a real drive wrote to flash between two snapshots, as
//! text.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::measured::{Measured, OfPreset, between};
use vpass_lab::numbers::{bytes, count, digits, list, seconds};
use vpass_lab::plain;

use crate::out;
use crate::table::{Look, Table, wants_colour, wrapped_lines};

/// Prints the difference between two snapshots of a real drive.
pub(super) fn print(
    before: &Path,
    after: &Path,
    drive: Option<&str>,
    as_json: bool,
) -> Result<(), Failure> {
    let measured = between(before, after)?;
    let of_drive = drive.map(|drive| measured.estimate_for(drive)).transpose()?;
    out::print(&if as_json {
        as_json::text(&Printed { measured, of_drive })?
    } else {
        let colour = wants_colour();
        let of_drive = of_drive.map_or_else(String::new, |of| preset(&of, colour));
        wrapped_lines(&(render(&measured, colour) + &of_drive))
    })
}

/// Difference between two snapshots, in the form that `--json` prints.
#[derive(Serialize)]
struct Printed {
    #[serde(flatten)]
    measured: Measured,
    /// Estimated amounts for the drive that `--drive` names; absent without `--drive`.
    #[serde(rename = "drive_estimate", skip_serializing_if = "Option::is_none")]
    of_drive: Option<OfPreset>,
}

fn preset(of: &OfPreset, colour: bool) -> String {
    let title = format!("The same load on {} ({})", of.drive, bytes(of.capacity_bytes));
    let mut text = format!("\n{}\n", Look::Heading.paint(&plain::line(&title), colour));
    if let Some(why) = &of.why {
        let _ = writeln!(text, "  no estimate: {why}");
        return text;
    }
    let within = of.within.map_or_else(String::new, |of| digits(100.0 * of));
    let amount = of.flash_written_bytes.map_or_else(String::new, |of| bytes(of as u64));
    let _ = writeln!(text, "  written to flash under `{}`: {amount}", of.reclaim_technique);
    let ratios = [
        ("bytes written to flash per byte that the host read", of.flash_written_per_byte_read),
        ("bytes written to flash per byte that the host wrote", of.flash_written_per_byte_written),
        (
            "bytes rewritten because of reads, per byte that the host read",
            of.rewritten_per_byte_read,
        ),
    ];
    for (what, ratio) in ratios.into_iter().filter_map(|(what, ratio)| Some((what, ratio?))) {
        let _ = writeln!(text, "  {what}: {}", per_byte(ratio));
    }
    let _ = writeln!(
        text,
        "  This estimate comes from equations and is within {within} % of simulations. \
         Assumptions: {}.",
        of.assumptions
    );
    text
}

fn render(m: &Measured, colour: bool) -> String {
    let model = m.model.as_deref().unwrap_or("Drive of unknown model");
    let serial = m.serial_number.as_deref().map(|of| format!(", serial number {of}"));
    let title = format!("{model}{}", serial.unwrap_or_default());
    let mut text = Look::Heading.paint(&title, colour) + "\n";
    let time = match (m.seconds, m.seconds_from) {
        (Some(time), Some(from)) => format!("{} by {from}", seconds(time as f64)),
        _ => "unknown".into(),
    };
    let _ = writeln!(text, "  time between the snapshots: {time}");
    text.push_str(&amounts(m).render(colour));
    let ratios = [
        ("bytes written to flash per byte that the host read", m.flash_written_per_byte_read),
        (
            "bytes written to flash per byte that the host wrote (write amplification)",
            m.flash_written_per_byte_written,
        ),
        (
            "bytes written to flash beyond host writes, per byte that the host read",
            m.beyond_host_writes_per_byte_read,
        ),
    ];
    for (what, ratio) in ratios {
        let ratio = ratio.map_or_else(|| "unknown".into(), per_byte);
        let _ = writeln!(text, "  {what}: {ratio}");
    }
    if !m.counters.is_empty() {
        text.push_str(&counters(m).render(colour));
    }
    for attribute in &m.unit_unknown {
        let _ = writeln!(
            text,
            "  attribute {id} {name}: {before}, then {after}; the unit of this attribute is \
             unknown, so the attribute is not used",
            id = attribute.id,
            name = attribute.name,
            before = count(attribute.before),
            after = count(attribute.after)
        );
    }
    for lack in &m.lacks {
        let verb = if lack.files.len() == 1 { "lacks" } else { "lack" };
        let _ = writeln!(text, "  {} {verb} the {}; {}", list(&lack.files), lack.what, lack.from);
    }
    text
}

/// Formats the ratio between two byte counts. Even a very small ratio gets three digits.
fn per_byte(ratio: f64) -> String {
    if ratio.abs() >= 0.1 || ratio == 0.0 {
        return digits(ratio);
    }
    let decimals = (2.0 - ratio.abs().log10().floor()) as usize;
    format!("{ratio:.decimals$}")
}

/// Returns a table of byte counts: what the host and the drive read and wrote. An unknown count
/// becomes a dash.
fn amounts(m: &Measured) -> Table {
    let mut table = Table::new(["between the snapshots", "bytes", ""]);
    for (what, amount) in [
        ("host read", m.host_read_bytes),
        ("host wrote", m.host_written_bytes),
        ("written to flash", m.flash_written_bytes),
        ("read from flash", m.flash_read_bytes),
    ] {
        let (exact, short) =
            amount.map_or_else(|| ("-".into(), String::new()), |of| (count(of), bytes(of)));
        table.row([what.to_owned(), exact, short]);
    }
    table
}

fn counters(m: &Measured) -> Table {
    let mut table = Table::new(["counter", "id", "before", "after"]);
    for of in &m.counters {
        table.row([of.name, of.id, &count(of.before), &count(of.after)]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ratios_keep_three_digits() {
        let ratios = [6.0, 0.015, 0.000_123_4, -0.0125, 0.0];
        assert_eq!(ratios.map(per_byte), ["6.00", "0.0150", "0.000123", "-0.0125", "0.00"]);
    }
}
