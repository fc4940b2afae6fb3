//! Writes traces and reads them back. Only facts that the format cannot hold are lost, and losses
//! are counted.

use crate::common;

use common::{all_said, read_all, rewritten, row};
use proptest::prelude::*;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::Op::{self, Read, Trim, Write};
use vpass_workload::traces::{
    Epoch, Losses, MAX_REQUEST_BYTES, Target, TraceRow, TraceWriter, WriteError,
};

fn text(target: Target, rows: &[TraceRow]) -> (String, Losses) {
    let (bytes, losses) = rewritten(target, rows);
    (String::from_utf8(bytes).unwrap(), losses)
}

#[test]
fn an_msr_csv_by_hand() {
    let rows = [row(12_816_638_678_363_007_599, 3, 8192, 512, Read), row(100, 0, 1, 4097, Write)];
    let (csv, losses) = text(Target::Msr, &rows);
    assert_eq!(csv, "128166386783630075,disk,3,Read,8192,512,0\n1,disk,0,Write,1,4097,0\n");
    assert_eq!(losses, Losses { time_unit_ns: 100, rounded: 1 });
}

#[test]
fn an_msr_csv_has_no_trims() {
    let mut writer = TraceWriter::new(Target::Msr, vec![], Epoch::Relative);
    let refused = writer.row(&row(0, 0, 0, 512, Trim), |n| n.to_string());
    assert!(matches!(
        refused,
        Err(WriteError::Unwritable("is a trim, which an MSR CSV cannot hold"))
    ));
}

#[test]
fn devices_of_one_name_are_one_device() {
    let mut writer = TraceWriter::new(Target::Compact, vec![], Epoch::Absolute);
    for (file, names) in [["usr_0", "hm_1"], ["hm_1", "src_2"]].into_iter().enumerate() {
        writer.begin_file();
        for device in [0, 1, 1] {
            writer
                .row(&row(0, device, file as u64, 1, Read), |n| names[n as usize].into())
                .unwrap();
        }
    }
    let (file, rows) = read_all(&writer.finish().unwrap().0, &all_said(None)).unwrap();
    let devices: Vec<_> = rows.iter().map(|r| file.device_name(r.device)).collect();
    assert_eq!(devices, ["usr_0", "hm_1", "hm_1", "hm_1", "src_2", "src_2"]);
    assert_eq!(file.clock(), Epoch::Absolute);
}

const HINTS: [Option<AccessLatency>; 4] =
    [None, Some(AccessLatency::Idle), Some(AccessLatency::Typical), Some(AccessLatency::Smallest)];

#[test]
fn more_rows_than_a_block_and_more_bytes_than_a_buffer() {
    let rows: Vec<_> = (0..100_000u64)
        .map(|i| TraceRow {
            hint: HINTS[i as usize % 4],
            ..row(i * i * 977, (i % 700) as u32, i * 7_919_191 % (1 << 40), 1 + i % 9999, Write)
        })
        .collect();
    let (bytes, losses) = rewritten(Target::Compact, &rows);
    assert_eq!(losses.rounded, 0);
    assert_eq!(read_all(&bytes, &all_said(None)).unwrap().1, rows);
}

fn any_rows() -> impl Strategy<Value = Vec<TraceRow>> {
    let op = proptest::sample::select(vec![Read, Write, Trim]);
    let number = |end: u64| prop_oneof![0..end, 0..end.min(100_000), Just(end - 1)];
    let one = (number(u64::MAX), 0..4u32, number(1 << 63), number(MAX_REQUEST_BYTES), op);
    proptest::collection::vec(
        one.prop_map(|(at, device, offset, bytes, op)| row(at, device, offset, bytes + 1, op)),
        1..300,
    )
}

/// Returns the rows read back. They have device names, because device numbers depend on the order
/// in which devices appear.
fn back(target: Target, rows: &[TraceRow]) -> Vec<(u64, String, u64, u64, Op)> {
    let (file, rows) = read_all(&rewritten(target, rows).0, &all_said(None)).unwrap();
    rows.iter().map(|r| (r.at_ns, file.device_name(r.device), r.offset, r.bytes, r.op)).collect()
}

proptest! {
    #[test]
    fn compact_loses_nothing(rows in any_rows()) {
        let expected: Vec<_> = rows
            .iter()
            .map(|r| (r.at_ns, r.device.to_string(), r.offset, r.bytes, r.op))
            .collect();
        prop_assert_eq!(back(Target::Compact, &rows), expected);
    }

    #[test]
    fn msr_keeps_100_ns_and_no_trims(rows in any_rows()) {
        let rows: Vec<_> = rows.into_iter().filter(|r| r.op != Trim).collect();
        prop_assume!(!rows.is_empty());
        let expected: Vec<_> = rows
            .iter()
            .map(|r| (r.at_ns / 100 * 100, format!("disk_{}", r.device), r.offset, r.bytes, r.op))
            .collect();
        prop_assert_eq!(back(Target::Msr, &rows), expected);
    }
}
