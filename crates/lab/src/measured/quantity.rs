//! Drive counters with a meaning and a unit that vpass knows.

use super::snapshot::Snapshot;
use crate::failure::Failure;

/// Counter with a known meaning. Amounts of data are in bytes, even if the snapshot uses another
/// unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Quantity {
    HostRead,
    HostWritten,
    FlashWritten,
    FlashRead,
    PowerOnHours,
    PercentageUsed,
    XorRecoveries,
    UncorrectableReads,
    SoftErrors,
    Refreshes,
    LeastErases,
    MostErases,
    MeanErases,
}

impl Quantity {
    /// Counters whose unit is neither bytes nor hours.
    pub(super) const COUNTERS: [Self; 8] = [
        Self::XorRecoveries,
        Self::UncorrectableReads,
        Self::SoftErrors,
        Self::Refreshes,
        Self::LeastErases,
        Self::MostErases,
        Self::MeanErases,
        Self::PercentageUsed,
    ];

    /// Identifier in OCP telemetry, and name that users see, in the order of the variants.
    const ABOUT: [(&'static str, &'static str); 13] = [
        ("0x4D", "bytes that the host read"),
        ("0x4E", "bytes that the host wrote"),
        ("0x1E", "bytes written to flash"),
        ("0x1F", "bytes read from flash"),
        ("0x53", "power-on hours"),
        ("0x4B", "Percentage Used"),
        ("0x22", "XOR Recovery Count"),
        ("0x23", "Uncorrectable Read Error Count"),
        ("0x24", "Soft ECC Error Count"),
        ("0x27", "Refresh Count"),
        ("0x28", "User Data Erase Counts, minimum"),
        ("0x28", "User Data Erase Counts, maximum"),
        ("0x3D", "NAND Avg. Erase Count"),
    ];

    /// Returns the name of the counter, as it is shown to the user.
    pub(super) fn name(self) -> &'static str {
        Self::ABOUT[self as usize].1
    }

    /// Returns the identifier of the statistic in OCP telemetry.
    pub(super) fn id(self) -> &'static str {
        Self::ABOUT[self as usize].0
    }

    /// Returns the command whose output contains this counter.
    pub(super) fn command(self) -> &'static str {
        match self {
            Self::FlashWritten | Self::FlashRead => {
                "`nvme ocp smart-add-log -o json` of an OCP drive has this counter; some SATA \
                 drives have a vendor attribute with a unit, such as NAND_Writes_1GiB"
            }
            _ => {
                "`smartctl -j -a` of an NVMe drive, `smartctl -j -x` of a SATA drive and `nvme \
                 smart-log -o json` have this counter"
            }
        }
    }

    /// Returns the value as a 64-bit number.
    ///
    /// # Errors
    /// Returns an error if the value has more than 64 bits. No counter of a real drive becomes so
    /// large.
    pub(super) fn small(self, snapshot: &Snapshot, value: u128) -> Result<u64, Failure> {
        u64::try_from(value).map_err(|_| {
            Failure::usage(format!(
                "{}: {} grew to {value}, more than any drive can count; a value of at most 2^64 is \
                 expected",
                snapshot.file,
                self.name()
            ))
        })
    }
}
