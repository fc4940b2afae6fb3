//! Counters of a run, named like the counters of real drives. The names are from two
//! specifications: `NVMe`, and OCP Datacenter `NVMe` SSD.
//!
//! Counters have the statistic identifiers of OCP telemetry (version 2.7, requirements STATI-16 to
//! STATI-81). `docs/reference/smart.md` lists each term of vpass beside its name in `NVMe` or OCP.
//!
//! ```text
//! a page has 16 KiB; 3 pages were programmed for the host, and 2 pages by reclaim
//! counter 0x0F (read disturb writes) is 32,768 bytes, and 0x1E (all writes) is 81,920 bytes
//! the host read 512,001 bytes, so counter 0x4D (data units of 512,000 bytes) is 2
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::units::Cause;
use vpass_drive::base::written::Reason;
use vpass_drive::drive::Drive;

use super::Wear;

/// Number of bytes in a data unit. `NVMe` log page 02h defines a data unit as 1,000 units of 512
/// bytes.
const DATA_UNIT: u64 = 512_000;
/// Largest value that the log page can report for the percentage used.
const MOST_USED: f64 = 255.0;

/// Counters of a drive, named as in `NVMe` and OCP. The counters begin at 0 when the measured run
/// starts. Only the erase counts and the percentage used include earlier wear. The first seven
/// counters are numbers of written bytes. The sum of these seven is `physical_media_units_written`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Smart {
    /// Bytes programmed for the host. OCP has no such counter.
    pub host_writes: u64,
    /// Read Disturb Writes (0x0F): bytes programmed by reclaim.
    pub read_disturb_writes: u64,
    /// Retention Writes (0x10): bytes programmed by refresh.
    pub retention_writes: u64,
    /// Wear Leveling Writes (0x11): bytes programmed to level wear.
    pub wear_leveling_writes: u64,
    /// Read Recovery Writes (0x12): bytes programmed to replace unreadable pages. The drive
    /// rebuilds such a page from its stripe. If the drive was moving the page, the bytes count for
    /// the move instead.
    pub read_recovery_writes: u64,
    /// Garbage Collection Writes (0x13): bytes programmed by GC, or to regroup data by hints.
    pub garbage_collection_writes: u64,
    /// Programmed bytes of parity. Rebuilt parity is included. OCP has no such counter.
    pub parity_writes: u64,
    /// Read Retry Error Count (0x19): number of times that a page was sensed again after a failed
    /// decode. Null for a drive that makes no retries.
    pub read_retry_error_count: Option<u64>,
    /// Physical Media Units Written (0x1E): bytes programmed. Padding is included.
    pub physical_media_units_written: u64,
    /// Physical Media Units Read (0x1F): bytes sensed. Retries, moves and probes are included.
    pub physical_media_units_read: u64,
    /// XOR Recovery Count (0x22): number of times that a stripe was read to rebuild one of its
    /// pages. Failed attempts are included. Null without parity.
    pub xor_recovery_count: Option<u64>,
    /// Uncorrectable Read Error Count (0x23): number of host page reads that the drive answered
    /// with an error.
    pub uncorrectable_read_error_count: u64,
    /// Soft ECC Error Count (0x24): number of page reads whose first decode failed. Reads that the
    /// drive makes by itself are included.
    pub soft_ecc_error_count: u64,
    /// Refresh Count (0x27): number of reclaim and refresh jobs. A job rewrites one block.
    pub refresh_count: u64,
    /// User Data Erase Counts (0x28), minimum: P/E count of the least worn block among those that
    /// have not failed. Null if all blocks have failed.
    pub min_user_data_erase_count: Option<u32>,
    /// User Data Erase Counts (0x28), maximum: P/E count of the most worn block.
    pub max_user_data_erase_count: u32,
    /// NAND Avg. Erase Count (0x3D): mean P/E count of all blocks.
    pub nand_avg_erase_count: f64,
    /// MAXPEC, register 0x0144 of High Bandwidth Flash: P/E count of the most worn block.
    pub maxpec: u32,
    /// AVGPEC, register 0x0148 of High Bandwidth Flash: mean P/E count of all blocks.
    pub avgpec: f64,
    /// REDCAP, register 0x014C of High Bandwidth Flash. Always null, because its definition is not
    /// public.
    pub redcap: Option<u64>,
    /// Bytes programmed in SLC when data passes through SLC during reclaim (0x0F) or refresh
    /// (0x10). Each rewritten byte counts `drive.slc_rewrites` times. OCP has no such counter. No
    /// other counter includes these bytes. Null if `drive.slc_rewrites` is 0.
    pub slc_rewrites: Option<u64>,
    /// Percentage Used (0x4B): mean P/E count of all blocks in percent of `drive.rated_pec`,
    /// rounded down. Wear by reprogramming is included. The value is at most 255.
    pub percentage_used: u8,
    /// Data Units Read (0x4D): units of 512,000 bytes that the host read, rounded up.
    pub data_units_read: u64,
    /// Data Units Written (0x4E): units of 512,000 bytes that the host wrote, rounded up.
    pub data_units_written: u64,
    /// Reasons why counters are null. Each reason has the key of its counter.
    pub unknown: BTreeMap<String, String>,
}

/// Row of a table of counters.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Counter {
    /// Statistic identifier of OCP telemetry. Null if OCP has no such counter.
    pub id: Option<&'static str>,
    /// Name of the counter in `NVMe` or OCP, or a description if neither has the counter.
    pub name: &'static str,
    /// Key of the counter in `smart` of `summary.json`.
    pub key: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Value of the counter; null if vpass does not know the value.
    pub value: Value,
    /// Reason why the value is null; absent if there is a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Identifier, name, key and unit of each counter. The first seven counters count written bytes,
/// each for a single cause.
#[rustfmt::skip]
const COUNTERS: [(Option<&str>, &str, &str, &str); 24] = [
    (None, "Writes by the host", "host_writes", "bytes"),
    (Some("0x0F"), "Read Disturb Writes", "read_disturb_writes", "bytes"),
    (Some("0x10"), "Retention Writes", "retention_writes", "bytes"),
    (Some("0x11"), "Wear Leveling Writes", "wear_leveling_writes", "bytes"),
    (Some("0x12"), "Read Recovery Writes", "read_recovery_writes", "bytes"),
    (Some("0x13"), "Garbage Collection Writes", "garbage_collection_writes", "bytes"),
    (None, "Writes of parity", "parity_writes", "bytes"),
    (Some("0x1E"), "Physical Media Units Written", "physical_media_units_written", "bytes"),
    (Some("0x1F"), "Physical Media Units Read", "physical_media_units_read", "bytes"),
    (Some("0x19"), "Read Retry Error Count", "read_retry_error_count", "sensings"),
    (Some("0x22"), "XOR Recovery Count", "xor_recovery_count", "times"),
    (Some("0x23"), "Uncorrectable Read Error Count", "uncorrectable_read_error_count", "reads"),
    (Some("0x24"), "Soft ECC Error Count", "soft_ecc_error_count", "reads"),
    (Some("0x27"), "Refresh Count", "refresh_count", "blocks"),
    (Some("0x28"), "User Data Erase Counts, minimum", "min_user_data_erase_count", "P/E cycles"),
    (Some("0x28"), "User Data Erase Counts, maximum", "max_user_data_erase_count", "P/E cycles"),
    (Some("0x3D"), "NAND Avg. Erase Count", "nand_avg_erase_count", "P/E cycles"),
    (Some("0x4B"), "Percentage Used", "percentage_used", "%"),
    (Some("0x4D"), "Data Units Read", "data_units_read", "512,000 bytes"),
    (Some("0x4E"), "Data Units Written", "data_units_written", "512,000 bytes"),
    (None, "Rewrites through SLC", "slc_rewrites", "bytes"),
    (None, "HBF register 0x0144, MAXPEC", "maxpec", "P/E cycles"),
    (None, "HBF register 0x0148, AVGPEC", "avgpec", "P/E cycles"),
    (None, "HBF register 0x014C, REDCAP", "redcap", ""),
];

/// Reasons why counters are null, each with the key of its counter.
const UNKNOWN: [(&str, &str); 5] = [
    ("read_retry_error_count", "The drive has no read retries ([ecc])."),
    ("xor_recovery_count", "The drive has no parity."),
    ("min_user_data_erase_count", "All blocks have failed."),
    ("redcap", "The definition of this register is not public."),
    ("slc_rewrites", "drive.slc_rewrites is 0."),
];

/// Number of counters that count the bytes written for a single cause. These counters come first in
/// `COUNTERS`.
pub const CAUSES: usize = 7;

impl Smart {
    /// Returns the counters of a drive at the end of a run.
    pub(crate) fn of(drive: &Drive, host: &HostCounts, wear: &Wear) -> Self {
        let page_bytes = u64::from(drive.geometry().page_bytes);
        let counts = drive.flash_counts();
        let written = counts.by_reason().map(|pages| pages * page_bytes);
        let of = |reason: Reason| written[reason as usize];
        let has_retries = drive.max_retries().is_some_and(|most| most > 0);
        let has_parity = drive.geometry().stripes.is_some();
        let refreshed = drive.refresh_counts().invocations;
        let healthy = drive.block_states().filter(|block| !block.has_failed);
        let mut smart = Self {
            host_writes: of(Reason::Host),
            read_disturb_writes: of(Reason::ReadDisturb),
            retention_writes: of(Reason::Retention),
            wear_leveling_writes: of(Reason::WearLeveling),
            read_recovery_writes: of(Reason::ReadRecovery),
            garbage_collection_writes: of(Reason::GarbageCollection),
            parity_writes: of(Reason::Parity),
            read_retry_error_count: has_retries.then(|| counts.reads[Cause::Retry as usize]),
            physical_media_units_written: counts.programs.iter().sum::<u64>() * page_bytes,
            physical_media_units_read: counts.reads.iter().sum::<u64>() * page_bytes,
            xor_recovery_count: has_parity.then(|| drive.parity_counts().recoveries),
            uncorrectable_read_error_count: drive.uncorrectable_reads(),
            soft_ecc_error_count: counts.soft_errors,
            refresh_count: drive.reclaim_counts().invocations + refreshed,
            min_user_data_erase_count: healthy.map(|block| block.pec).min(),
            max_user_data_erase_count: wear.pec_max,
            nand_avg_erase_count: wear.pec_mean,
            maxpec: wear.pec_max,
            avgpec: wear.pec_mean,
            redcap: None,
            slc_rewrites: through_slc(&written, drive.config().drive.slc_rewrites),
            percentage_used: percentage_used(wear.effective_pec_mean, wear.rated_pec),
            data_units_read: host.read_bytes.div_ceil(DATA_UNIT),
            data_units_written: host.write_bytes.div_ceil(DATA_UNIT),
            unknown: BTreeMap::new(),
        };
        smart.explain_unknown();
        smart
    }

    /// Adds the reason why a counter is null, for each null counter.
    fn explain_unknown(&mut self) {
        let values = serde_json::to_value(&*self).unwrap_or_default();
        let unknown = UNKNOWN.into_iter().filter(|(key, _)| values[key].is_null());
        self.unknown = unknown.map(|(key, why)| (key.to_owned(), why.to_owned())).collect();
    }

    /// Returns all counters, each with its name. The first counters count the bytes written for
    /// each cause.
    pub fn counters(&self) -> Vec<Counter> {
        let values = serde_json::to_value(self).unwrap_or_default();
        let counter = |(id, name, key, unit): (Option<&'static str>, _, &'static str, _)| Counter {
            id,
            name,
            key,
            unit,
            value: values[key].clone(),
            why: self.unknown.get(key).cloned(),
        };
        COUNTERS.into_iter().map(counter).collect()
    }
}

/// Returns the number of bytes that rewrites program in SLC. `written` is the number of bytes
/// written for each cause. Returns `None` if rewrites do not use SLC.
fn through_slc(written: &[u64; Reason::COUNT], per_byte: f64) -> Option<u64> {
    let rewritten = written[Reason::ReadDisturb as usize] + written[Reason::Retention as usize];
    (per_byte > 0.0).then(|| (rewritten as f64 * per_byte).round() as u64)
}

/// Returns how much of the rated P/E count is used, in whole percent.
fn percentage_used(mean_cycles: f64, rated_cycles: u32) -> u8 {
    (100.0 * mean_cycles / f64::from(rated_cycles)).min(MOST_USED) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::{Unwatched, unwatched};
    use crate::results::Summary;
    use crate::run::execute;
    use crate::setup::{Base, Named, Setup};

    /// Summary of a run with a few reads and writes.
    fn summary() -> Summary {
        let set = vec!["workload.requests=300".into()];
        let base = Base { set, ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("random-70-30".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        execute(&plan, &Unwatched).unwrap().summary
    }

    #[test]
    fn wear_is_given_in_whole_percent_up_to_255() {
        let used = [(0.0, 3000), (29.9, 3000), (30.0, 3000), (2999.9, 3000), (9000.0, 3000)];
        assert_eq!(used.map(|(mean, rated)| percentage_used(mean, rated)), [0, 0, 1, 99, 255]);
    }

    #[test]
    fn rewrites_pass_through_slc_and_other_writes_do_not() {
        // The numbers are for host, read disturb, retention, wear leveling, read recovery, GC and
        // parity.
        let written = [1, 2, 4, 8, 16, 32, 64];
        assert_eq!(through_slc(&written, 0.0), None);
        assert_eq!(through_slc(&written, 1.0), Some(6));
        assert_eq!(through_slc(&written, 1.5), Some(9));
    }

    #[test]
    fn every_field_has_a_name_and_every_null_a_reason() {
        let smart = summary().smart;
        let value = serde_json::to_value(&smart).unwrap();
        let mut keys: Vec<&str> = COUNTERS.iter().map(|(_, _, key, _)| *key).collect();
        keys.push("unknown");
        keys.sort_unstable();
        let mut fields: Vec<&String> = value.as_object().unwrap().keys().collect();
        fields.sort_unstable();
        assert_eq!(keys, fields);
        assert!(smart.counters().iter().any(|counter| counter.value.is_null()), "no parity");
        for counter in smart.counters() {
            assert_eq!(counter.value.is_null(), counter.why.is_some(), "{}", counter.key);
        }
    }

    #[test]
    fn causes_of_writes_come_first_and_sum_to_all_writes() {
        let summary = summary();
        let counters = summary.smart.counters();
        let sum: u64 = counters[..CAUSES].iter().filter_map(|of| of.value.as_u64()).sum();
        assert_eq!(
            (counters[CAUSES].id, counters[CAUSES].value.as_u64()),
            (Some("0x1E"), Some(sum))
        );
        assert_eq!(sum, summary.flash.programs.sum() * summary.mapping_unit.bytes);
        assert!(sum > 0);
    }
}
