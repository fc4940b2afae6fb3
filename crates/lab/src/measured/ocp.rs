//! Counters of log page C0h of OCP drives, in the output of `nvme ocp smart-add-log`. A counter is
//! either a number of bytes or a number of events.
//!
//! The names of the keys are those of nvme-cli 2.16 (`plugins/ocp/ocp-print-json.c`). nvme-cli has
//! an old and a new form of the output.

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Counters, each with its key in the old form and in the new form of the output.
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
