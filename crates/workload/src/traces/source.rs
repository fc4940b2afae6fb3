//! A trace, of one file or several in turn, as requests for a drive: clock counted from 0, addresses fitted, what was changed counted.

use std::path::PathBuf;

use vpass_core::request::{Arrival, Request, RequestSource, SourceError};
use vpass_core::units::Ns;

use super::clock::Clock;
use super::file::{Skipped, TraceFile};
use super::fit::{Fit, Fitter};
use super::format::Row;
use super::options::ReadOptions;
use crate::pass::PassSource;

/// How a trace is replayed.
#[derive(Clone, Debug)]
pub struct TraceOptions {
    /// How each file is read.
    pub read: ReadOptions,
    /// What becomes of requests beyond the drive's capacity.
    pub fit: Fit,
    /// Refuses a request that is earlier than the one before it, instead of moving it up.
    pub strict: bool,
    /// How many times faster than recorded, above 0.
    pub speed: f64,
    /// Open takes the trace's own clock.
    pub arrival: Arrival,
}

impl Default for TraceOptions {
    fn default() -> Self {
        Self { read: ReadOptions::default(), fit: Fit::Error, strict: false, speed: 1.0, arrival: Arrival::Open }
    }
}

/// What was read so far, over all passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceReport {
    /// The format of each file.
    pub formats: Vec<&'static str>,
    /// Passes begun.
    pub passes: u64,
    /// Requests handed out.
    pub rows: u64,
    /// Requests that were earlier than the one before them and were moved up to it.
    pub clamped: u64,
    /// Requests whose address was changed to fit the drive.
    pub refitted: u64,
    /// Lines and records that were passed over, in one pass.
    pub skipped: Skipped,
    /// More than one device was seen in one file; their addresses overlap on the drive.
    pub several_devices: bool,
    /// Arrival of the latest request.
    pub span_ns: Ns,
}

/// Requests from trace files.
pub struct TraceSource {
    paths: Vec<PathBuf>,
    options: TraceOptions,
    clock: Clock,
    fitter: Fitter,
    /// The file being read and the device of its first row.
    current: Option<(TraceFile, Option<u32>)>,
    next_file: usize,
    report: TraceReport,
    /// Requests in a pass, where a pass beforehand counted them.
    pass_rows: Option<u64>,
    /// The error that ended the stream: asked again, it says the same.
    failed: Option<SourceError>,
}

impl TraceSource {
    /// Opens a trace for a drive of `capacity` bytes. Several files follow each other as one stream, in the order given.
    ///
    /// # Errors
    /// The first file cannot be read, an option is out of range, or (under [`Fit::Scale`]) any line of any file is wrong.
    pub fn open(paths: &[PathBuf], capacity: u64, options: TraceOptions) -> Result<Self, SourceError> {
        if !(options.speed > 0.0 && options.speed.is_finite()) {
            return Err(SourceError(format!(
                "a speed of {} is no speed; a number above 0 is expected, 2 for twice as fast",
                options.speed
            )));
        }
        let formats = Vec::with_capacity(paths.len());
        let mut source = Self {
            paths: paths.to_vec(),
            clock: Clock::new(options.speed),
            fitter: Fitter { fit: options.fit, capacity, extent: 0 },
            options,
            current: None,
            next_file: 0,
            report: TraceReport {
                formats,
                passes: 1,
                rows: 0,
                clamped: 0,
                refitted: 0,
                skipped: Skipped::default(),
                several_devices: false,
                span_ns: 0,
            },
            pass_rows: None,
            failed: None,
        };
        if source.options.fit == Fit::Scale {
            source.measure()?;
        }
        if !source.open_next()? {
            return Err(SourceError("no trace file is given".into()));
        }
        Ok(source)
    }

    /// What was read so far.
    pub fn report(&self) -> TraceReport {
        TraceReport { span_ns: self.clock.span(), ..self.report.clone() }
    }

    /// The files, in order.
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Reads all files once for their extent.
    fn measure(&mut self) -> Result<(), SourceError> {
        let mut rows = 0;
        for path in &self.paths {
            let mut file = TraceFile::open(path, &self.options.read)?;
            while let Some(row) = file.next_row()? {
                self.fitter.extent = self.fitter.extent.max(row.offset + row.bytes);
                rows += 1;
            }
        }
        self.pass_rows = Some(rows);
        Ok(())
    }

    /// Opens the next file; false where there is none.
    fn open_next(&mut self) -> Result<bool, SourceError> {
        let Some(path) = self.paths.get(self.next_file) else { return Ok(false) };
        let file = TraceFile::open(path, &self.options.read)?;
        self.clock.begin_file().map_err(|what| SourceError(format!("{}: {what}", path.display())))?;
        if self.report.formats.len() == self.next_file {
            self.report.formats.push(file.format().name);
        }
        self.current = Some((file, None));
        self.next_file += 1;
        Ok(true)
    }

    fn read(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = out.len() + max;
        while out.len() < end {
            let Some((file, device)) = &mut self.current else {
                if self.open_next()? {
                    continue;
                }
                break;
            };
            let Some(row) = file.next_row()? else {
                if self.report.passes == 1 {
                    self.report.skipped.add(file.skipped());
                }
                self.current = None;
                continue;
            };
            self.report.several_devices |= *device.get_or_insert(row.device) != row.device;
            out.push(self.request(row)?);
        }
        Ok(())
    }

    #[inline]
    fn request(&mut self, row: Row) -> Result<Request, SourceError> {
        let offset = self.fitter.place(row.offset, row.bytes).map_err(|what| self.complain(&what))?;
        let arrived = self.clock.arrive(row.at_ns).map_err(|what| self.complain(what))?;
        if arrived.clamped && self.options.strict {
            return Err(self.complain("the request is earlier than one before it, which --strict refuses"));
        }
        self.report.rows += 1;
        self.report.clamped += u64::from(arrived.clamped);
        self.report.refitted += u64::from(offset != row.offset);
        Ok(Request { at: arrived.at, offset, bytes: row.bytes as u32, op: row.op })
    }

    #[cold]
    fn complain(&self, what: &str) -> SourceError {
        let (file, _) = self.current.as_ref().expect("a row comes from a file");
        file.complain(what)
    }
}

impl RequestSource for TraceSource {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        self.read(out, max).inspect_err(|e| self.failed = Some(e.clone()))
    }

    fn arrival(&self) -> Arrival {
        self.options.arrival
    }

    fn len_hint(&self) -> Option<u64> {
        self.pass_rows
    }
}

impl PassSource for TraceSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        self.current = None;
        self.next_file = 0;
        self.report.passes += 1;
        self.open_next().map(|_| ()).inspect_err(|e| self.failed = Some(e.clone()))
    }
}
