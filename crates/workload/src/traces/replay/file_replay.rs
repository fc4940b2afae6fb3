//! One file of a trace on its way to the drive: its rows with the time and address that they get
//! there.

use std::collections::HashMap;

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::request::{Op, SourceError};
use vpass_core::base::units::Ns;

use crate::traces::file::TraceFile;
use crate::traces::replay::capacity_fit::{CHANGED, Fitter};
use crate::traces::replay::layout::Device;
use crate::traces::replay::survey::FileSurvey;
use crate::traces::replay::trace_clock::{FileClock, TraceClock};
use crate::traces::rows::format::TraceRow;
use crate::traces::rows::options::ReadOptions;

/// An open file.
pub(in crate::traces) struct FileReplay {
    file: TraceFile,
    clock: FileClock,
    /// First byte on the drive of each of its device numbers; none where the device was not asked
    /// for.
    bases: HashMap<u32, Option<u64>>,
    /// The device of the latest row: most rows are of the same.
    latest: Option<(u32, Option<u64>)>,
}

/// A row as the drive will see it.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) struct Placed {
    /// Run time, at the trace's own speed.
    pub(in crate::traces) at: Ns,
    pub(in crate::traces) offset: u64,
    pub(in crate::traces) bytes: u32,
    pub(in crate::traces) op: Op,
    pub(in crate::traces) hint: Option<AccessLatency>,
    /// It came before an earlier one and was moved up to it.
    pub(in crate::traces) clamped: bool,
    /// Its address was changed to fit.
    pub(in crate::traces) refitted: bool,
}

/// What a row meets on its way.
pub(in crate::traces) struct Way<'a> {
    pub(in crate::traces) clock: &'a TraceClock,
    pub(in crate::traces) fitter: &'a Fitter,
    pub(in crate::traces) strict: bool,
}

impl FileReplay {
    pub(in crate::traces) fn open(
        survey: &FileSurvey,
        devices: &[Device],
        options: &ReadOptions,
    ) -> Result<Self, SourceError> {
        let options = ReadOptions { format: Some(survey.format), ..options.clone() };
        let bases = survey
            .numbers
            .iter()
            .map(|(number, device)| (*number, device.map(|d| devices[d].base)))
            .collect();
        Ok(Self {
            file: TraceFile::open(&survey.path, &options)?,
            clock: FileClock::new(survey.origin_ns.unwrap_or(0)),
            bases,
            latest: None,
        })
    }

    /// The next row that was asked for; none at the end.
    #[inline]
    pub(in crate::traces) fn next(&mut self, way: &Way) -> Result<Option<Placed>, SourceError> {
        while self.file.advance()? {
            let row = *self.file.row();
            let base = match self.latest {
                Some((number, base)) if number == row.device => base,
                _ => self.look_up(row.device)?,
            };
            if let Some(base) = base {
                return self.placed(&row, base, way).map(Some);
            }
        }
        Ok(None)
    }

    /// A complaint about the current row.
    pub(in crate::traces) fn complain(&self, what: &str) -> SourceError {
        self.file.complain(what)
    }

    fn look_up(&mut self, number: u32) -> Result<Option<u64>, SourceError> {
        let base = self.bases.get(&number).ok_or_else(|| self.complain(CHANGED))?;
        self.latest = Some((number, *base));
        Ok(*base)
    }

    #[inline]
    fn placed(&mut self, row: &TraceRow, base: u64, way: &Way) -> Result<Placed, SourceError> {
        let asked = base + row.offset;
        let (offset, bytes) =
            way.fitter.place(asked, row.bytes).map_err(|what| self.complain(&what))?;
        if bytes != row.bytes && row.op != Op::Trim {
            return Err(self.complain(CHANGED));
        }
        let (since, clamped) = self.clock.arrive(row.at_ns);
        if clamped && way.strict {
            return Err(
                self.complain("the request is earlier than one before it, which --strict refuses")
            );
        }
        let at = way.clock.at(since).map_err(|what| self.complain(what))?;
        Ok(Placed {
            at,
            offset,
            bytes: bytes as u32,
            op: row.op,
            hint: row.hint,
            clamped,
            refitted: (offset, bytes) != (asked, row.bytes),
        })
    }
}
