//! Comparison of the counters of a real drive at two times. It shows how many bytes the drive wrote
//! to flash per byte that the host read or wrote between the two times.
//!
//! vpass does not guess numbers that are missing in a snapshot. A result that needs a missing
//! number is null, and the field `lacks` names the missing number.

mod number;
mod nvme;
mod preset;
mod quantity;
mod sata;
mod snapshot;
#[cfg(test)]
mod tests;

use std::path::Path;

use serde::Serialize;

use crate::as_json::SCHEMA;
use crate::failure::Failure;
pub use preset::OfPreset;
use quantity::Quantity;
use snapshot::Snapshot;

/// Number of seconds in an hour.
const HOUR_S: u64 = 3600;

/// Difference between two snapshots of the counters of one drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    /// Format version of these results.
    pub schema: u32,
    /// Model of the drive; null if neither snapshot contains it.
    pub model: Option<String>,
    /// Serial number of the drive; null if neither snapshot contains it.
    pub serial_number: Option<String>,
    /// Number of seconds between the snapshots; null if the snapshots contain no time.
    pub seconds: Option<u64>,
    /// Source of `seconds`: "clock" or "power-on hours". Power-on hours are whole hours, and
    /// exclude the time in which the drive was off.
    pub seconds_from: Option<&'static str>,
    /// Bytes that the host read. Null if this counter is missing in a snapshot.
    pub host_read_bytes: Option<u64>,
    /// Bytes that the host wrote. Null if this counter is missing in a snapshot.
    pub host_written_bytes: Option<u64>,
    /// Bytes that the drive wrote to flash. Null if this counter is missing in a snapshot.
    pub flash_written_bytes: Option<u64>,
    /// Bytes that the drive read from flash. Null if this counter is missing in a snapshot.
    pub flash_read_bytes: Option<u64>,
    /// Bytes written to flash per byte that the host read. Null if one of the two numbers is
    /// unknown, or if the host read nothing.
    pub flash_written_per_byte_read: Option<f64>,
    /// Write amplification: bytes written to flash per byte that the host wrote. Null if one of the
    /// two numbers is unknown, or if the host wrote nothing.
    pub flash_written_per_byte_written: Option<f64>,
    /// Additional flash writes per byte that the host read. Additional flash writes are the bytes
    /// written to flash minus the bytes that the host wrote. May be negative if the drive
    /// compresses data. Null if one of the three numbers is unknown, or if the host read nothing.
    pub beyond_host_writes_per_byte_read: Option<f64>,
    /// Other counters that both snapshots contain.
    pub counters: Vec<Grown>,
    /// Vendor attributes that may count reads or writes in an unknown unit.
    pub unit_unknown: Vec<Attribute>,
    /// Numbers that the snapshots lack.
    pub lacks: Vec<Lack>,
}

/// Counter that both snapshots contain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Grown {
    /// Identifier of the statistic in OCP telemetry.
    pub id: &'static str,
    /// Name of the counter.
    pub name: &'static str,
    /// Value in the earlier snapshot.
    pub before: u64,
    /// Value in the later snapshot.
    pub after: u64,
}

/// Vendor attribute with an unknown unit, in the counters of a SATA drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Attribute {
    /// Number of the vendor attribute.
    pub id: u64,
    /// Name that smartctl gives to the attribute.
    pub name: String,
    /// Raw value in the earlier snapshot.
    pub before: u64,
    /// Raw value in the later snapshot.
    pub after: u64,
}

/// Counter or time that is missing in one or both snapshots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lack {
    /// Name of the missing number.
    pub what: &'static str,
    /// Snapshot files in which the counter or the time is missing.
    pub files: Vec<String>,
    /// Command whose output contains the number.
    pub from: &'static str,
}

/// Reads two snapshots and compares them. `before` is the earlier snapshot.
///
/// # Errors
/// Returns an error if a file is not a snapshot, if both paths lead to one file, if the snapshots
/// are from different drives, or if a counter became smaller.
pub fn between(before: &Path, after: &Path) -> Result<Measured, Failure> {
    let one = |path: &Path| path.canonicalize().ok();
    if before == after || one(before).is_some() && one(before) == one(after) {
        return Err(Failure::usage(format!(
            "{} is given twice; give two different snapshots of the same drive, the earlier \
             snapshot first",
            before.display()
        )));
    }
    difference(&Snapshot::read(before)?, &Snapshot::read(after)?)
}

fn difference(before: &Snapshot, after: &Snapshot) -> Result<Measured, Failure> {
    require_one_drive(before, after)?;
    let (seconds, seconds_from) = time_between(before, after)?;
    let grown = |quantity: Quantity| grown(before, after, quantity);
    let [host_read, host_written, flash_written, flash_read] = [
        grown(Quantity::HostRead)?,
        grown(Quantity::HostWritten)?,
        grown(Quantity::FlashWritten)?,
        grown(Quantity::FlashRead)?,
    ];
    let mut counters = vec![];
    for quantity in Quantity::COUNTERS {
        grown(quantity)?;
        if let (Some(from), Some(to)) = (before.value(quantity), after.value(quantity)) {
            let (before, after) = (quantity.small(before, from)?, quantity.small(after, to)?);
            counters.push(Grown { id: quantity.id(), name: quantity.name(), before, after });
        }
    }
    let per = |over: Option<f64>, under: Option<u64>| {
        let under = under.filter(|bytes| *bytes > 0)?;
        Some(over? / under as f64)
    };
    let beyond = flash_written.zip(host_written).map(|(all, host)| all as f64 - host as f64);
    Ok(Measured {
        schema: SCHEMA,
        model: after.model.clone().or_else(|| before.model.clone()),
        serial_number: after.serial.clone().or_else(|| before.serial.clone()),
        seconds,
        seconds_from,
        host_read_bytes: host_read,
        host_written_bytes: host_written,
        flash_written_bytes: flash_written,
        flash_read_bytes: flash_read,
        flash_written_per_byte_read: per(flash_written.map(|bytes| bytes as f64), host_read),
        flash_written_per_byte_written: per(flash_written.map(|bytes| bytes as f64), host_written),
        beyond_host_writes_per_byte_read: per(beyond, host_read),
        counters,
        unit_unknown: unit_unknown(before, after),
        lacks: lacks(before, after),
    })
}

fn require_one_drive(before: &Snapshot, after: &Snapshot) -> Result<(), Failure> {
    if before.text == after.text {
        return Err(Failure::usage(format!(
            "{} and {} are equal; take the second snapshot after the load",
            before.file, after.file
        )));
    }
    let facts =
        [("serial number", &before.serial, &after.serial), ("model", &before.model, &after.model)];
    for (what, before_has, after_has) in facts {
        if let (Some(one), Some(other)) = (before_has, after_has)
            && one != other
        {
            return Err(Failure::usage(format!(
                "{first} has the {what} {one}, but {second} has {other}; both snapshots must be of \
                 the same drive",
                first = before.file,
                second = after.file
            )));
        }
    }
    Ok(())
}

/// Returns the number of seconds between the snapshots, and the source of this number.
fn time_between(
    before: &Snapshot,
    after: &Snapshot,
) -> Result<(Option<u64>, Option<&'static str>), Failure> {
    let hours = || grown(before, after, Quantity::PowerOnHours);
    if let (Some(from), Some(to)) = (before.clock_s, after.clock_s) {
        let seconds = u64::try_from(to - from).map_err(|_| {
            Failure::usage(format!(
                "{} is {} s older than {}; give the earlier snapshot first",
                after.file,
                from - to,
                before.file
            ))
        })?;
        // The clock of a host may be wrong, so the hours must not go backwards either.
        hours()?;
        return Ok((Some(seconds), Some("clock")));
    }
    let hours = hours()?;
    Ok((hours.map(|hours| hours.saturating_mul(HOUR_S)), hours.map(|_| "power-on hours")))
}

/// Returns the difference between the two values of a counter. Returns `None` if the counter is
/// missing in a snapshot.
fn grown(before: &Snapshot, after: &Snapshot, quantity: Quantity) -> Result<Option<u64>, Failure> {
    let (Some(from), Some(to)) = (before.value(quantity), after.value(quantity)) else {
        return Ok(None);
    };
    let Some(by) = to.checked_sub(from) else {
        return Err(Failure::usage(format!(
            "{later}: {counter} is {to}, less than {from} in {earlier}, but counters of a drive \
             only grow; give two snapshots of the same drive, the earlier snapshot first",
            later = after.file,
            counter = quantity.name(),
            earlier = before.file
        )));
    };
    quantity.small(after, by).map(Some)
}

/// Returns the vendor attributes that have an unknown unit and are in both snapshots.
fn unit_unknown(before: &Snapshot, after: &Snapshot) -> Vec<Attribute> {
    let both =
        before.vendor.iter().filter_map(|(key, from)| Some((key, from, after.vendor.get(key)?)));
    both.map(|((id, name), before, after)| Attribute {
        id: *id,
        name: name.clone(),
        before: *before,
        after: *after,
    })
    .collect()
}

fn lacks(before: &Snapshot, after: &Snapshot) -> Vec<Lack> {
    let of = |what, from, has: &dyn Fn(&Snapshot) -> bool| {
        let files: Vec<String> =
            [before, after].iter().filter(|one| !has(one)).map(|one| one.file.clone()).collect();
        (!files.is_empty()).then_some(Lack { what, files, from })
    };
    let wanted = [Quantity::HostRead, Quantity::HostWritten, Quantity::FlashWritten];
    let bytes = wanted.into_iter().map(|quantity| {
        of(quantity.name(), quantity.command(), &|one| one.value(quantity).is_some())
    });
    let has_time = |one: &Snapshot| match (before.clock_s, after.clock_s) {
        (Some(_), Some(_)) => true,
        _ => one.value(Quantity::PowerOnHours).is_some(),
    };
    bytes
        .chain([
            of("time", "the output of `smartctl -j -a` has the time of the snapshot", &has_time),
            of(
                "serial number",
                "`smartctl -j -a` and `nvme id-ctrl -o json` print the serial number; without it, \
                 vpass cannot check that both snapshots are of the same drive",
                &|one| one.serial.is_some(),
            ),
        ])
        .flatten()
        .collect()
}
