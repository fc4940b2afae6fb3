//! Log page C0h of OCP drives, as `nvme ocp smart-add-log` prints it: in bytes and counts.
//!
//! Names: nvme-cli 2.16 (`plugins/ocp/ocp-print-json.c`), in its first and second form.

use super::number::{Object, at};
use super::quantity::Quantity;
use super::snapshot::Snapshot;

/// Counters with their names in the two forms.
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

/// Takes the counters of a document.
///
/// # Errors
/// Returns a sentence about a value that is not a counter.
pub(super) fn take(document: &Object, into: &mut Snapshot) -> Result<(), String> {
    for (quantity, keys) in COUNTERS {
        if let Some(value) = at(document, &keys)? {
            into.note(quantity, value);
        }
    }
    Ok(())
}
