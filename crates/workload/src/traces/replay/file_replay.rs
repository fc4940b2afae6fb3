//! Replays one file of a trace. Each row gets a time on the clock of the run, and an address on the
//! drive.

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::phrase::{Opt, Phrase};
use vpass_drive::base::request::{Op, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::phrase;

use crate::traces::file::TraceFile;
use crate::traces::options::TraceOptions;
use crate::traces::replay::capacity_fit::{CHANGED, Fitter};
use crate::traces::replay::layout::Device;
use crate::traces::replay::survey::FileSurvey;
use crate::traces::replay::trace_clock::{FileClock, TraceClock};
use crate::traces::rows::by_device::ByDevice;
use crate::traces::rows::format::{TraceEvent, TraceRow};

/// Trace file that is being replayed.
pub(in crate::traces) struct FileReplay {
    file: TraceFile,
    clock: FileClock,
    /// First byte of each device on the drive, by device number; `None` for a device that `--only`
    /// leaves out.
    bases: ByDevice<Option<u64>>,
    /// Flushes before the current row that were not taken yet: their times since the start of the
    /// run.
    pub(in crate::traces) flushes: Vec<Ns>,
}

/// Row of a trace with its time in the run and its address on the drive.
#[derive(Clone, Copy, Debug)]
pub(in crate::traces) struct Placed {
    /// Time of the row since the start of the run, if the trace is replayed at recorded speed.
    pub(in crate::traces) at: Ns,
    pub(in crate::traces) offset: u64,
    pub(in crate::traces) bytes: u32,
    pub(in crate::traces) op: Op,
    pub(in crate::traces) hint: Option<AccessLatency>,
    /// Whether the row was earlier than the previous row. Such a row got the time of the previous
    /// row.
    pub(in crate::traces) clamped: bool,
    /// Whether the address or the length of the row was changed to fit the drive.
    pub(in crate::traces) refitted: bool,
}

/// Settings of the replay that apply to every row.
pub(in crate::traces) struct Way<'a> {
    pub(in crate::traces) clock: &'a TraceClock,
    pub(in crate::traces) fitter: &'a Fitter,
    pub(in crate::traces) strict: bool,
}

impl FileReplay {
    pub(in crate::traces) fn open(
        survey: &FileSurvey,
        devices: &[Device],
        options: &TraceOptions,
    ) -> Result<Self, SourceError> {
        let read = TraceOptions { format: Some(survey.format), ..options.clone() };
        let bases = survey
            .numbers
            .iter()
            .map(|(number, device)| (*number, device.map(|d| devices[d].base)))
            .collect();
        Ok(Self {
            file: TraceFile::open(&survey.path, &read)?,
            clock: FileClock::new(survey.origin_ns.unwrap_or(0), options.join_recordings),
            bases: ByDevice::new(bases),
            flushes: vec![],
        })
    }

    /// Returns the next row of a selected device, or `None` at the end of the file.
    #[inline]
    pub(in crate::traces) fn next(&mut self, way: &Way) -> Result<Option<Placed>, SourceError> {
        while self.file.advance()? {
            self.note_flushes(way.clock)?;
            let row = *self.file.row();
            let Self { file, bases, .. } = self;
            if let Some(base) = bases.value(row.device, || Err(file.complain(CHANGED)))? {
                return self.placed(&row, base, way).map(Some);
            }
        }
        self.note_flushes(way.clock)?;
        Ok(None)
    }

    /// Notes the flushes before the current row, or at the end of the file.
    #[inline]
    fn note_flushes(&mut self, clock: &TraceClock) -> Result<(), SourceError> {
        for event in self.file.events() {
            if let TraceEvent::Flush(at_ns) = event {
                let (since, _) = self.clock.arrive(*at_ns);
                self.flushes.push(clock.at(since).map_err(|what| self.file.complain(what))?);
            }
        }
        Ok(())
    }

    /// Makes an error about the current row of the file.
    pub(in crate::traces) fn complain(&self, what: impl Into<Phrase>) -> SourceError {
        self.file.complain(what)
    }

    #[inline]
    fn placed(&mut self, row: &TraceRow, base: u64, way: &Way) -> Result<Placed, SourceError> {
        let asked = base + row.offset;
        let (offset, bytes) =
            way.fitter.place(asked, row.bytes).map_err(|what| self.complain(what))?;
        if bytes != row.bytes && row.op != Op::Trim {
            return Err(self.complain(CHANGED));
        }
        let (since, clamped) = self.clock.arrive(row.at_ns);
        if clamped && way.strict {
            return Err(self.complain(phrase![
                "the request is earlier than the previous request; ",
                Opt::Strict,
                " refuses such requests",
            ]));
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
