//! Writes rows as an MSR Cambridge CSV. The columns are those of the format `msr`. Every response
//! time is written as 0, because vpass does not read response times from traces. If a row has a
//! hint, the line has a further column with the hint.

use std::collections::BTreeSet;
use std::io::{self, Write};

use vpass_drive::base::request::Op;

use super::{Losses, WriteError};
use crate::traces::rows::format::TraceRow;

const TICK_NS: u64 = 100;

pub(super) struct MsrWriter<W: Write> {
    out: W,
    known: BTreeSet<String>,
    /// Columns `host,disk` of each device, as text.
    disks: Vec<String>,
    losses: Losses,
}

impl<W: Write> MsrWriter<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            known: BTreeSet::new(),
            disks: vec![],
            losses: Losses { time_unit_ns: TICK_NS, rounded: 0 },
        }
    }

    pub(super) fn device(&mut self, name: &str) {
        let disk = host_and_disk(name);
        let (host, number) = disk.split_once(',').unwrap_or((&disk, "0"));
        // If another device has the name, the host gets a number.
        let numbered = (2u64..).map(|n| format!("{host}-{n},{number}"));
        let mut labels = std::iter::once(disk.clone()).chain(numbered);
        self.disks.extend(labels.find(|label| self.known.insert(label.clone())));
    }

    pub(super) fn row(&mut self, row: &TraceRow) -> Result<(), WriteError> {
        let op = match row.op {
            Op::Read => "Read",
            Op::Write => "Write",
            Op::Trim => {
                return Err(WriteError::Unwritable("is a trim, which an MSR CSV cannot hold"));
            }
        };
        let TraceRow { at_ns, device, offset, bytes, .. } = row;
        self.losses.rounded += u64::from(!at_ns.is_multiple_of(TICK_NS));
        write!(
            self.out,
            "{},{},{op},{offset},{bytes},0",
            at_ns / TICK_NS,
            self.disks[*device as usize]
        )?;
        match row.hint {
            None => writeln!(self.out)?,
            Some(hint) => writeln!(self.out, ",{}", hint.name())?,
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<(W, Losses)> {
        self.out.flush()?;
        Ok((self.out, self.losses))
    }
}

/// Splits a device name such as `hm_0` into a host and a disk number, as the MSR collection does.
/// If the name is a number, it becomes the disk number, and the host is called `disk`.
fn host_and_disk(name: &str) -> String {
    let is_number = |text: &str| {
        text.len() <= 9 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
    };
    let name: String =
        name.chars().map(|c| if c == ',' || c.is_control() { '_' } else { c }).collect();
    match name.rsplit_once('_') {
        Some((host, disk)) if !host.is_empty() && is_number(disk) => format!("{host},{disk}"),
        _ if is_number(&name) => format!("disk,{name}"),
        _ if name.is_empty() => "disk,0".into(),
        _ => format!("{name},0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_become_hosts_and_disks() {
        let mut writer = MsrWriter::new(vec![]);
        for name in ["hm_0", "7", "/dev/sda", "a,b_1", "disk_7", "_3", ""] {
            writer.device(name);
        }
        assert_eq!(
            writer.disks,
            ["hm,0", "disk,7", "/dev/sda,0", "a_b,1", "disk-2,7", "_3,0", "disk,0"]
        );
    }
}
