//! Record of the requests of clients, as a compact trace with the times of the drive.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use vpass_drive::base::failure::Failure as Injected;
use vpass_drive::base::request::Request;
use vpass_drive::base::units::Ns;
use vpass_lab::failure::Failure;
use vpass_workload::traces::{Epoch, Target, TraceEvent, TraceRow, TraceWriter, WriteError};

use crate::out_file::OutFile;

/// Record that is being written. The file appears when the run has ended.
pub(super) struct Record {
    path: PathBuf,
    writer: TraceWriter<BufWriter<OutFile>>,
    /// First error, after which nothing is recorded.
    failed: io::Result<()>,
}

impl Record {
    /// Begins a record of a drive with these failures, at a path where no file exists.
    pub(super) fn begin(path: &Path, failures: &[Injected]) -> Result<Self, Failure> {
        let out = BufWriter::new(OutFile::begin(path, false)?);
        let writer = TraceWriter::new(Target::Compact, out, Epoch::Run);
        let mut record = Self { path: path.to_owned(), writer, failed: Ok(()) };
        for failure in failures {
            record.event(TraceEvent::Failure(*failure));
        }
        Ok(record)
    }

    /// Records an event other than a request.
    pub(super) fn event(&mut self, event: TraceEvent) {
        if self.failed.is_ok() {
            self.failed = self.writer.event(&event).map(drop);
        }
    }

    /// Records a request.
    pub(super) fn request(&mut self, request: &Request) {
        let Request { at, offset, bytes, op, hint, .. } = *request;
        let row = TraceRow { at_ns: at, device: 0, offset, bytes: bytes.into(), op, hint };
        if self.failed.is_ok()
            && let Err(WriteError::Io(e)) = self.writer.row(&row, |_| "drive".into())
        {
            self.failed = Err(e);
        }
    }

    /// Ends the record of a run that ended at this time of the drive.
    pub(super) fn finish(mut self, now: Ns) -> Result<(), Failure> {
        self.writer.end_at(now);
        let written = self.failed.and_then(|()| self.writer.finish());
        let out = written.and_then(|(out, _)| Ok(out.into_inner()?));
        out.map_err(|e| failure(&self.path, &e))?.finish()
    }
}

fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("--record {} cannot be written: {e}", path.display()))
}
