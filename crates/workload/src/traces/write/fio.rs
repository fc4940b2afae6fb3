//! Writes rows as a fio iolog of version 3. The columns are those of the format `fio`. Times are
//! counted from the first row.

use std::io::{self, Write};

use vpass_drive::base::request::Op;

use super::Losses;
use super::label::Labels;
use crate::traces::rows::format::TraceRow;

const US_NS: u64 = 1000;

pub(super) struct FioWriter<W: Write> {
    out: W,
    labels: Labels,
    files: Vec<String>,
    /// Time of the first row on the trace's clock, in ns.
    start: Option<u64>,
    /// Time from the first row to the last row, in us.
    now: u64,
    losses: Losses,
}

impl<W: Write> FioWriter<W> {
    pub(super) fn new(mut out: W) -> io::Result<Self> {
        out.write_all(b"fio version 3 iolog\n")?;
        let losses = Losses { time_unit_ns: US_NS, ..Losses::default() };
        Ok(Self { out, labels: Labels::default(), files: vec![], start: None, now: 0, losses })
    }

    /// Writes the lines that add and open a file. A fio iolog needs these lines before requests to
    /// the file.
    pub(super) fn device(&mut self, name: &str) -> io::Result<()> {
        let name: String = name
            .chars()
            .map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c })
            .collect();
        let name = if name.is_empty() { "0" } else { &name };
        let file = self.labels.unique(name, |name, number| format!("{name}-{number}"));
        writeln!(self.out, "{now} {file} add\n{now} {file} open", now = self.now)?;
        self.files.push(file);
        Ok(())
    }

    pub(super) fn row(&mut self, row: &TraceRow) -> io::Result<()> {
        let op = match row.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
        };
        let start = *self.start.get_or_insert(row.at_ns);
        let since = row.at_ns.saturating_sub(start);
        self.losses.rounded += u64::from(!since.is_multiple_of(US_NS));
        self.losses.moved_up += u64::from(row.at_ns < start);
        self.now = since / US_NS;
        writeln!(
            self.out,
            "{} {} {op} {} {}",
            self.now, self.files[row.device as usize], row.offset, row.bytes
        )
    }

    pub(super) fn finish(mut self) -> io::Result<(W, Losses)> {
        for file in &self.files {
            writeln!(self.out, "{} {file} close", self.now)?;
        }
        self.out.flush()?;
        Ok((self.out, self.losses))
    }
}
