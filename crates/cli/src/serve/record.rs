//! Record of the requests of clients, as a compact trace with the times of the drive.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use vpass_drive::base::request::Request;
use vpass_drive::base::units::Ns;
use vpass_lab::failure::Failure;
use vpass_workload::traces::{Epoch, Target, TraceRow, TraceWriter, WriteError};

use crate::out_file::OutFile;

/// Record that is being written. The file appears when the run has ended.
pub(super) struct Record {
    path: PathBuf,
    writer: TraceWriter<BufWriter<OutFile>>,
    /// First error, after which nothing is recorded.
    failed: Option<io::Error>,
}

impl Record {
    /// Begins a record at a path where no file exists.
    pub(super) fn begin(path: &Path) -> Result<Self, Failure> {
        let out = BufWriter::new(OutFile::begin(path, false)?);
        let writer = TraceWriter::new(Target::Compact, out, Epoch::Run);
        Ok(Self { path: path.to_owned(), writer, failed: None })
    }

    /// Records a request.
    pub(super) fn request(&mut self, request: &Request) {
        let Request { at, offset, bytes, op, hint, .. } = *request;
        let row = TraceRow { at_ns: at, device: 0, offset, bytes: bytes.into(), op, hint };
        if self.failed.is_none()
            && let Err(WriteError::Io(e)) = self.writer.row(&row, |_| "drive".into())
        {
            self.failed = Some(e);
        }
    }

    /// Ends the record of a run that ended at this time of the drive.
    pub(super) fn finish(mut self, now: Ns) -> Result<(), Failure> {
        self.writer.end_at(now);
        let written = self.failed.map_or_else(|| self.writer.finish(), Err);
        let out = written.and_then(|(out, _)| Ok(out.into_inner()?));
        out.map_err(|e| failure(&self.path, &e))?.finish()
    }
}

fn failure(path: &Path, e: &io::Error) -> Failure {
    Failure::failed(format!("--record {} cannot be written: {e}", path.display()))
}
