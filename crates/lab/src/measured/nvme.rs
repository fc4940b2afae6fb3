//! Reader for the output of `nvme smart-log`, `nvme ocp smart-add-log` and smartctl: the counters
//! of `NVMe` log page 02h and of OCP drives, the model and the serial number.
//!
//! Keys are named as in nvme-cli 2.16 and smartmontools 7.4.

use serde_json::Value;

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Number of bytes in a data unit. `NVMe` log page 02h defines a data unit as 1,000 units of 512
/// bytes.
const DATA_UNIT: u128 = 512_000;

/// Counters of log page 02h. Each counter has its keys and its unit.
const LOG: [(Quantity, &[&str], u128); 4] = [
    (Quantity::HostRead, &["data_units_read"], DATA_UNIT),
    (Quantity::HostWritten, &["data_units_written"], DATA_UNIT),
    (Quantity::PercentageUsed, &["percentage_used", "percent_used"], 1),
    (Quantity::PowerOnHours, &["power_on_hours"], 1),
];

/// Counters of log page C0h of OCP drives, in the output of `nvme ocp smart-add-log`. A counter
/// counts either bytes or events. nvme-cli can write its output in an old form or in a new form
/// (`plugins/ocp/ocp-print-json.c`), so each counter has an old key and a new key.
const OCP: [(Quantity, &[&str], u128); 9] = [
    (Quantity::FlashWritten, &["physical_media_units_written", "Physical media units written"], 1),
    (Quantity::FlashRead, &["physical_media_units_read", "Physical media units read"], 1),
    (Quantity::XorRecoveries, &["xor_recovery_count", "XOR recovery count"], 1),
    (
        Quantity::UncorrectableReads,
        &["uncorrectable_read_errors", "Uncorrectable read error count"],
        1,
    ),
    (Quantity::SoftErrors, &["soft_ecc_error_count", "Soft ecc error count"], 1),
    (Quantity::Refreshes, &["refresh_count", "Refresh counts"], 1),
    (Quantity::LeastErases, &["min_user_data_erase_count", "Min User data erase counts"], 1),
    (Quantity::MostErases, &["max_user_data_erase_count", "Max User data erase counts"], 1),
    (Quantity::MeanErases, &["nand_avg_erase_count", "Nand avg erase count"], 1),
];

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
    log.map_or(Ok(()), |log| take_all(&LOG, log, into))?;
    take_all(&OCP, document, into)
}

fn take_all(
    counters: &[(Quantity, &[&str], u128)],
    from: &Object,
    into: &mut Snapshot,
) -> Result<(), String> {
    for (quantity, keys, unit) in counters {
        if let Some(units) = at(from, keys)? {
            into.note(*quantity, units.saturating_mul(*unit));
        }
    }
    Ok(())
}
