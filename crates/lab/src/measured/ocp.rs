//! Counters of log page C0h of OCP drives, in the output of `nvme ocp smart-add-log`. A counter
//! counts either bytes or events.
//!
//! Keys are named as in nvme-cli 2.16 (`plugins/ocp/ocp-print-json.c`). nvme-cli can write its
//! output in an old form or in a new form, with different keys.

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Counters, each with the keys that nvme-cli uses for the counter: first the old key, then the new
/// key.
#[rustfmt::skip]
const COUNTERS: [(Quantity, [&str; 2]); 9] = [
    (Quantity::FlashWritten, ["physical_media_units_written", "Physical media units written"]),
    (Quantity::FlashRead, ["physical_media_units_read", "Physical media units read"]),
    (Quantity::XorRecoveries, ["xor_recovery_count", "XOR recovery count"]),
    (Quantity::UncorrectableReads, ["uncorrectable_read_errors", "Uncorrectable read error count"]),
    (Quantity::SoftErrors, ["soft_ecc_error_count", "Soft ecc error count"]),
    (Quantity::Refreshes, ["refresh_count", "Refresh counts"]),
    (Quantity::LeastErases, ["min_user_data_erase_count", "Min User data erase counts"]),
    (Quantity::MostErases, ["max_user_data_erase_count", "Max User data erase counts"]),
    (Quantity::MeanErases, ["nand_avg_erase_count", "Nand avg erase count"]),
];

/// Copies the counters from a JSON document into a snapshot.
///
/// # Errors
/// Returns an error message if the value of a counter is not a whole number.
pub(super) fn take(document: &Object, into: &mut Snapshot) -> Result<(), String> {
    for (quantity, keys) in COUNTERS {
        if let Some(value) = at(document, &keys)? {
            into.note(quantity, value);
        }
    }
    Ok(())
}
