//! Tests with pairs of snapshots of each kind. The expected differences were computed by hand.

use super::snapshot::Snapshot;
use super::*;

/// Returns an output of smartctl for an `NVMe` drive.
fn smartctl(time: u64, read: u64, written: u64) -> String {
    format!(
        r#"{{ "smartctl": {{ "version": [7, 4] }}, "local_time": {{ "time_t": {time} }},
            "model_name": "MADE UP 1T", "serial_number": "S1", "power_on_time": {{ "hours": 9 }},
            "nvme_smart_health_information_log": {{ "percentage_used": 3, "power_on_hours": 9,
            "data_units_read": {read}, "data_units_written": {written} }} }}"#
    )
}

/// Returns an output of `nvme ocp smart-add-log`, in its second form.
fn ocp(written: u64, errors: u64) -> String {
    format!(
        r#"{{ "physical_media_units_written": {{ "hi": 0, "lo": {written} }},
            "physical_media_units_read": {{ "hi": 0, "lo": 5 }},
            "soft_ecc_error_count": {errors}, "nand_avg_erase_count": 12 }}"#
    )
}

fn compared(before: &str, after: &str) -> Result<Measured, Failure> {
    let snapshot = |file: &str, text: &str| Snapshot::parse(file, text.to_owned());
    difference(&snapshot("a.json", before)?, &snapshot("b.json", after)?)
}

#[test]
fn an_nvme_drive_with_the_ocp_log_lacks_nothing() {
    let before = smartctl(1000, 10, 20) + &ocp(1_000_000, 7);
    let after = smartctl(4600, 110, 30) + "\n" + &ocp(11_240_000, 9);
    let m = compared(&before, &after).unwrap();
    assert_eq!((m.seconds, m.seconds_from), (Some(3600), Some("clock")));
    assert_eq!(m.host_read_bytes, Some(100 * 512_000));
    assert_eq!(m.host_written_bytes, Some(10 * 512_000));
    assert_eq!((m.flash_written_bytes, m.flash_read_bytes), (Some(10_240_000), Some(0)));
    assert_eq!(m.flash_written_per_byte_read, Some(0.2));
    assert_eq!(m.flash_written_per_byte_written, Some(2.0));
    assert_eq!(m.beyond_host_writes_per_byte_read, Some(0.1));
    let soft = m.counters.iter().find(|of| of.id == "0x24").unwrap();
    assert_eq!((soft.before, soft.after), (7, 9));
    assert_eq!((m.lacks, m.unit_unknown), (vec![], vec![]));
    assert_eq!(m.serial_number.as_deref(), Some("S1"));
}

#[test]
fn what_a_snapshot_lacks_is_named() {
    let log = |read: u64| {
        format!(
            r#"{{ "data_units_read": "{read}", "data_units_written": 5,
                "power_on_hours": {read} }}"#
        )
    };
    let m = compared(&log(2), &log(4)).unwrap();
    assert_eq!((m.seconds, m.seconds_from), (Some(2 * 3600), Some("power-on hours")));
    assert_eq!((m.flash_written_bytes, m.flash_written_per_byte_read), (None, None));
    let names: Vec<_> = m.lacks.iter().map(|lack| (lack.what, lack.files.len())).collect();
    assert_eq!(names, [("bytes written to flash", 2), ("serial number", 2)]);
    // Only the later snapshot contains the log with the counters of flash.
    let m = compared(&log(2), &(log(4) + &ocp(1, 1))).unwrap();
    assert_eq!(m.lacks[0].files, ["a.json"]);
    assert_eq!(m.flash_written_bytes, None);
}

#[test]
fn the_first_form_of_the_ocp_log_is_known() {
    let log = |written: u64| {
        format!(
            r#"{{ "Physical media units written": {{ "hi": 1, "lo": {written} }},
                "Refresh counts": 4, "Log page version": 3 }}"#
        )
    };
    let m = compared(&log(0), &log(77)).unwrap();
    assert_eq!(m.flash_written_bytes, Some(77));
    assert_eq!(m.counters[0].id, "0x27");
}

fn sata(name: &str, raw: u64, sectors: u64) -> String {
    format!(
        r#"{{ "smartctl": {{}}, "serial_number": "S2", "logical_block_size": 512,
            "local_time": {{ "time_t": {raw} }},
            "ata_smart_attributes": {{ "table": [
                {{ "id": 1, "name": "Raw_Read_Error_Rate", "raw": {{ "value": 0 }} }},
                {{ "id": 241, "name": "{name}", "raw": {{ "value": {raw} }} }} ] }},
            "ata_device_statistics": {{ "pages": [ {{ "number": 1, "table": [
                {{ "name": "Logical Sectors Read", "value": {sectors},
                   "flags": {{ "valid": true }} }},
                {{ "name": "Logical Sectors Written", "value": 99,
                   "flags": {{ "valid": false }} }} ] }} ] }} }}"#
    )
}

#[test]
fn attributes_of_sata_count_only_with_a_unit() {
    let m =
        compared(&sata("Total_LBAs_Written", 5, 8), &sata("Total_LBAs_Written", 9, 18)).unwrap();
    assert_eq!((m.host_read_bytes, m.host_written_bytes), (Some(5120), None));
    let name = "Total_LBAs_Written".to_owned();
    assert_eq!(m.unit_unknown, [Attribute { id: 241, name, before: 5, after: 9 }]);
    let m = compared(&sata("NAND_Writes_1GiB", 5, 8), &sata("NAND_Writes_1GiB", 9, 18)).unwrap();
    assert_eq!((m.flash_written_bytes, m.unit_unknown), (Some(4 << 30), vec![]));
}

#[test]
fn a_host_that_did_nothing_gives_no_ratio() {
    let before = smartctl(1000, 10, 20) + &ocp(10, 7);
    let m = compared(&before, &(smartctl(2000, 10, 20) + &ocp(20, 7))).unwrap();
    assert_eq!((m.host_read_bytes, m.flash_written_bytes), (Some(0), Some(10)));
    assert_eq!((m.flash_written_per_byte_read, m.flash_written_per_byte_written), (None, None));
}

/// Filters of jq remove the key `smartctl`. The serial number and the time are read all the same.
#[test]
fn filtered_snapshots_are_read() {
    let filtered = |serial: &str, time: u64, read: u64| {
        format!(
            r#"{{ "serial_number": "{serial}", "local_time": {{ "time_t": {time} }},
                "nvme_smart_health_information_log": {{ "data_units_read": {read} }} }}"#
        )
    };
    let m = compared(&filtered("S1", 1000, 1), &filtered("S1", 1060, 2)).unwrap();
    assert_eq!((m.seconds, m.seconds_from), (Some(60), Some("clock")));
    assert_eq!(m.serial_number.as_deref(), Some("S1"));
    let absent: Vec<_> = m.lacks.iter().map(|lack| lack.what).collect();
    assert!(!absent.contains(&"serial number") && !absent.contains(&"time"), "{absent:?}");
}

/// Estimates a drive `tiny` that the host only reads. A block of P pages is rewritten after T
/// reads, so P / T pages are programmed per page read.
#[test]
fn a_preset_rewrites_a_block_per_limit_of_reads() {
    let loaded = |read: u64, written: u64, time: u64| Measured {
        host_read_bytes: Some(read),
        host_written_bytes: Some(written),
        seconds: Some(time),
        ..compared(&smartctl(1, 1, 1), &smartctl(2, 2, 2)).unwrap()
    };
    let of = loaded(1 << 40, 0, 1000).estimate_for("tiny").unwrap();
    let ratio = of.flash_written_per_byte_read.unwrap();
    assert_eq!(of.rewritten_per_byte_read, Some(ratio));
    assert_eq!(of.flash_written_per_byte_written, None);
    assert_eq!(of.flash_written_bytes, Some(ratio * (1u64 << 40) as f64));
    // Blocks have 192 pages. `vpass explain --drive tiny` gives a threshold of 4,096 reads for a
    // new block. For a worn block, the threshold is still above 1,800 reads.
    assert!((192.0 / 4096.0..192.0 / 1800.0).contains(&ratio), "{ratio}");
    // If both the time and the bytes double, the ratio stays the same.
    let longer = loaded(2 << 40, 0, 2000).estimate_for("tiny").unwrap();
    assert!((longer.flash_written_per_byte_read.unwrap() / ratio - 1.0).abs() < 1e-9);
}

#[test]
fn a_preset_needs_a_load_and_a_time() {
    let bare = compared(&smartctl(1, 1, 1), &smartctl(2, 2, 2)).unwrap();
    let said = |measured: Measured| measured.estimate_for("tiny").unwrap_err().to_string();
    let idle = Measured { host_read_bytes: Some(0), host_written_bytes: Some(0), ..bare.clone() };
    assert!(said(idle).contains("needs a load"));
    assert!(said(Measured { seconds: None, ..bare.clone() }).contains("needs the time and"));
    assert!(bare.estimate_for("no-such-drive").is_err());
}
