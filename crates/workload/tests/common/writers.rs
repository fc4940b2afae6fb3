//! Writers of every format. They follow the definitions of the formats, independently of the
//! readers.

use std::io::Write;

use vpass_drive::base::request::Op::{self, Read, Trim, Write as Written};
use vpass_workload::traces::{Target, TraceRow};

/// Writes the rows as a file of this format. Times must be multiples of its unit of time, and
/// addresses multiples of its sectors. The format must have the directions of the rows.
pub(crate) fn written(format: &str, rows: &[TraceRow]) -> Vec<u8> {
    if format == "compact" {
        return super::rewritten(Target::Compact, rows).0;
    }
    let mut out = header(format);
    for (i, row) in rows.iter().enumerate() {
        match format {
            "vscsi" => out.extend(vscsi(i as u32, row)),
            "srt" => out.extend(srt(row)),
            _ => writeln!(out, "{}", line(format, i, row)).expect("a Vec takes everything"),
        }
    }
    out
}

fn header(format: &str) -> Vec<u8> {
    match format {
        "fio" => b"fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open\n".to_vec(),
        "fio2" => b"fio version 2 iolog\n/dev/sda add\n/dev/sda open\n".to_vec(),
        "systor" => b"Timestamp,Response,IOType,LUN,Offset,Size\n".to_vec(),
        "srt" => {
            let disks: Vec<_> =
                (0..256).map(|n| format!("\t{n} -> {{ nspt = 9, sectorsize = 512 }}")).collect();
            format!(
                "$$TR_IOREC-1.3 (test)\0\nversion = 1.3;\ndisks = {{\n{}\n}};\n\x0c",
                disks.join(",\n")
            )
            .into_bytes()
        }
        _ => vec![],
    }
}

fn line(
    format: &str,
    i: usize,
    TraceRow { at_ns, device, offset, bytes, op, .. }: &TraceRow,
) -> String {
    let read = u8::from(*op == Read);
    let (sector, sectors) = (offset / 512, bytes / 512);
    let seconds = format!("{}.{:09}", at_ns / 1_000_000_000, at_ns % 1_000_000_000);
    let word = ["Write", "Read"][usize::from(read)];
    let letter = match op {
        Read => "R",
        Written => "W",
        Trim => "D",
    };
    let small = format!("{op:?}").to_lowercase();
    match format {
        "msr" => format!("{},host,{device},{word},{offset},{bytes},17", at_ns / 100),
        "disksim" => format!(
            "{}.{:06} {device} {sector} {sectors} {read}",
            at_ns / 1_000_000,
            at_ns % 1_000_000
        ),
        "mqsim" => format!("{at_ns} {device} {sector} {sectors} {read}"),
        "fio" => format!("{} /dev/sd{device} {small} {offset} {bytes}", at_ns / 1000),
        "fio2" => format!("/dev/sd{device} {small} {offset} {bytes}"),
        "blkparse" => {
            format!("  8,{device}    1 {i:8} {seconds} 17  Q  {letter}S {sector} + {sectors} [fio]")
        }
        "spc" => format!("{device},{sector},{bytes},{letter},{seconds}"),
        "alibaba" => format!("{device},{letter},{offset},{bytes},{}", at_ns / 1000),
        "tencent" => format!("{},{sector},{sectors},{},{device}", at_ns / 1_000_000_000, 1 - read),
        "systor" => format!("{seconds},,{letter},{device},{offset},{bytes}"),
        "diskmon" => format!("{i}\t{seconds}\t0.00038147\t{device}\t{word}\t{sector}\t{sectors}"),
        "wiscsee" => format!(
            "17 D {} {offset} {bytes} {seconds} 1e-06 True",
            small.replace("trim", "discard")
        ),
        "arc" => format!("{sector} {sectors} 0 {i}"),
        _ => panic!("{format} has no writer here"),
    }
}

fn vscsi(i: u32, row: &TraceRow) -> Vec<u8> {
    let command = if row.op == Read { 0x28_u16 } else { 0x2a };
    let words = [i, row.bytes as u32, 1].map(u32::to_le_bytes).concat();
    let codes = [command, 0x0100].map(u16::to_le_bytes).concat();
    [words, codes, [row.offset / 512, row.at_ns / 1000].map(u64::to_le_bytes).concat()].concat()
}

fn srt(row: &TraceRow) -> Vec<u8> {
    let us = row.at_ns / 1000;
    let [sector, bytes] = [row.offset / 512, row.bytes].map(|n| n as u32);
    let device = 0x0800_0007 | row.device << 8;
    let flags = 0x1a | u32::from(row.op == Read);
    let fields = [
        56,
        0x0004_0001,
        (us / 1_000_000) as u32,
        (us % 1_000_000) as u32,
        5,
        90,
        bytes,
        sector,
        device,
        4,
        sector / 72,
        flags,
        7,
        1,
    ];
    fields.map(u32::to_be_bytes).concat()
}

/// Values that a format can hold.
pub(crate) struct Holds {
    /// Unit of time, in ns; 0 without times.
    pub(crate) time: u64,
    /// End of times, in ns.
    pub(crate) end: u64,
    /// Unit of addresses, in bytes.
    pub(crate) address: u64,
    /// End of addresses, in bytes.
    pub(crate) capacity: u64,
    /// Number of devices.
    pub(crate) devices: u32,
    /// Name of a device, by its number.
    pub(crate) device: fn(u32) -> String,
    pub(crate) ops: &'static [Op],
}

pub(crate) fn holds(format: &str) -> Holds {
    let text = Holds {
        time: 1,
        end: u64::MAX,
        address: 512,
        capacity: 1 << 63,
        devices: u32::MAX,
        device: |n: u32| n.to_string(),
        ops: &[Read, Written],
    };
    let all = &[Read, Written, Trim];
    match format {
        "msr" => Holds { time: 100, address: 1, device: |n| format!("host_{n}"), ..text },
        "fio" => {
            Holds { time: 1000, address: 1, device: |n| format!("/dev/sd{n}"), ops: all, ..text }
        }
        "fio2" => {
            Holds { time: 0, address: 1, device: |n| format!("/dev/sd{n}"), ops: all, ..text }
        }
        "blkparse" => Holds { device: |n| format!("8,{n}"), ops: all, ..text },
        "alibaba" => Holds { time: 1000, address: 1, ..text },
        "tencent" => Holds { time: 1_000_000_000, ..text },
        "systor" => Holds { address: 1, ..text },
        "wiscsee" => Holds { address: 1, devices: 1, ops: all, ..text },
        "arc" => Holds { time: 0, devices: 1, ops: &[Written], ..text },
        "compact" => Holds { address: 1, ops: all, ..text },
        "vscsi" => Holds { time: 1000, devices: 1, ..text },
        "srt" => Holds {
            time: 1000,
            end: 1_000_000_000 << 32,
            capacity: 512 << 32,
            devices: 256,
            ..text
        },
        _ => text,
    }
}
