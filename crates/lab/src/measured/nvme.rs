//! Reader for the output of `nvme smart-log` and smartctl: the counters of `NVMe` log page 02h, the
//! model and the serial number.
//!
//! Keys are named as in nvme-cli 2.16 and smartmontools 7.4.

use serde_json::Value;

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Number of bytes in a data unit. `NVMe` log page 02h defines a data unit as 1,000 units of 512
/// bytes.
const DATA_UNIT: u128 = 512_000;

/// Copies the counters, the model and the serial number from a JSON document into a snapshot.
///
/// # Errors
/// Returns an error message if the value of a counter is not a whole number.
pub(super) fn take(document: &Object, into: &mut Snapshot) -> Result<(), String> {
    // A filter such as jq may have removed the keys that name smartctl, so each field is taken
    // wherever it exists.
    into.name(document.get("serial_number"), document.get("model_name"))?;
    let time = document.get("local_time").and_then(|time| time.get("time_t"));
    into.clock_s = into.clock_s.or_else(|| time.and_then(Value::as_i64));
    let hours = document.get("power_on_time").and_then(Value::as_object);
    if let Some(hours) = hours.map(|of| at(of, &["hours"])).transpose()?.flatten() {
        into.note(Quantity::PowerOnHours, hours);
    }
    // The output of `nvme id-ctrl` has the serial number and the model among many other keys.
    into.name(document.get("sn"), document.get("mn"))?;
    let log = document.get("nvme_smart_health_information_log").and_then(Value::as_object);
    let log = log.or_else(|| document.contains_key("data_units_read").then_some(document));
    log.map_or(Ok(()), |log| take_log(log, into))
}

fn take_log(log: &Object, into: &mut Snapshot) -> Result<(), String> {
    let counters: [(Quantity, &[&str], u128); 4] = [
        (Quantity::HostRead, &["data_units_read"], DATA_UNIT),
        (Quantity::HostWritten, &["data_units_written"], DATA_UNIT),
        (Quantity::PercentageUsed, &["percentage_used", "percent_used"], 1),
        (Quantity::PowerOnHours, &["power_on_hours"], 1),
    ];
    for (quantity, keys, unit) in counters {
        if let Some(units) = at(log, keys)? {
            into.note(quantity, units.saturating_mul(unit));
        }
    }
    Ok(())
}
