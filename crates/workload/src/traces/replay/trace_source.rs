//! Makes requests for a drive from a trace of one or several files. Requests of several files are
//! merged by time, and the first request has time 0. Devices lie side by side, and addresses are
//! fitted to the drive. The source counts all changes to requests.

use crate::traces::shown::shown;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use vpass_drive::base::request::{Arrival, Request, RequestSource, SourceError};
use vpass_drive::base::units::Ns;
use vpass_drive::phrase;

use crate::pass::PassSource;
use crate::traces::file::Skipped;
use crate::traces::options::TraceOptions;
use crate::traces::replay::capacity_fit::Fitter;
use crate::traces::replay::file_replay::{FileReplay, Placed, Way};
use crate::traces::replay::survey::Survey;
use crate::traces::replay::trace_clock::{TooLate, TraceClock};

/// Largest replay speed, as a multiple of the recorded speed. At this speed, the replay of a year
/// takes less than a millisecond.
const MOST_SPEED: f64 = 1e12;
/// Memory of an open trace file in bytes, for its buffers and its decompressor.
const LANE_BYTES: u64 = 1 << 20;

/// Counts of requests in the replay of a trace, over all passes so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceReport {
    /// Name of each file's format.
    pub formats: Vec<&'static str>,
    /// Number of passes that have begun.
    pub passes: u64,
    /// Number of requests that were handed out.
    pub rows: u64,
    /// Number of requests that were earlier than a previous request in the same file. Such a
    /// request got the latest time before it.
    pub clamped: u64,
    /// Number of requests whose address or length was changed to fit the drive. Packing may shorten
    /// a trim, because pages that no other request touches are left out.
    pub refitted: u64,
    /// Lines and records that are skipped in each pass.
    pub skipped: Skipped,
    /// Whether more than one device is replayed.
    pub several_devices: bool,
    /// Arrival time of the last request so far.
    pub span_ns: Ns,
}

/// Source of the requests of a trace.
pub struct TraceSource {
    survey: Arc<Survey>,
    options: TraceOptions,
    clock: TraceClock,
    fitter: Fitter,
    /// Files of the current part, including files that have ended. If a part has several files, the
    /// next row of each file is kept beside the file.
    replays: Vec<(FileReplay, Option<Placed>)>,
    /// Times of the next rows, with the indices of the files. The earliest row comes first. Rows
    /// with the same time keep the order of the files. The heap is not used for a single file.
    order: BinaryHeap<Reverse<(Ns, usize)>>,
    next_part: usize,
    /// Flushes that were not taken yet: their places and arrivals.
    flushes: Vec<(usize, Ns)>,
    report: TraceReport,
    /// Error that has ended the stream. Later calls return this error again.
    failed: Option<SourceError>,
}

impl TraceSource {
    /// Surveys a trace, then opens it for a drive of `capacity` bytes.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Survey::of`] and [`TraceSource::new`].
    pub fn open(
        paths: &[PathBuf],
        capacity: u64,
        options: TraceOptions,
    ) -> Result<Self, SourceError> {
        let survey = Survey::of(paths, &options, &mut |_| true)?;
        Self::new(Arc::new(survey), capacity, options)
    }

    /// Opens a trace for a drive of `capacity` bytes. `options` must be the options with which the
    /// survey was made.
    ///
    /// # Errors
    /// Returns an error if an option is out of range, if the devices are too large for the drive,
    /// or if a file can no longer be opened.
    pub fn new(
        survey: Arc<Survey>,
        capacity: u64,
        options: TraceOptions,
    ) -> Result<Self, SourceError> {
        if !(options.speed > 0.0 && options.speed.is_finite()) {
            return Err(SourceError::new(format!(
                "invalid speed {}: a number above 0 is expected, such as 2 for twice as fast",
                options.speed
            )));
        }
        if options.speed > MOST_SPEED {
            return Err(SourceError::new(format!(
                "invalid speed {}: requests would have no time between them; the speed must be at \
                 most {MOST_SPEED:e}",
                options.speed
            )));
        }
        survey.fits(capacity, options.fit)?;
        let report = TraceReport {
            formats: survey.files().iter().map(|f| f.format.name).collect(),
            passes: 1,
            rows: 0,
            clamped: 0,
            refitted: 0,
            skipped: survey.skipped().clone(),
            several_devices: survey.devices().len() > 1,
            span_ns: 0,
        };
        let mut source = Self {
            clock: TraceClock::new(options.speed),
            fitter: Fitter {
                packing: survey.packing(options.fit)?,
                fit: options.fit,
                capacity,
                extent: survey.space(),
            },
            survey,
            options,
            replays: vec![],
            order: BinaryHeap::new(),
            next_part: 0,
            flushes: vec![],
            report,
            failed: None,
        };
        source.open_next_part()?;
        Ok(source)
    }

    /// Returns the counts of all passes so far.
    pub fn report(&self) -> TraceReport {
        TraceReport { span_ns: self.clock.span(), ..self.report.clone() }
    }

    /// Returns the survey of the trace's files.
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// Returns the indices of the files in a part of the trace. Returns `None` after the last part.
    fn part(&self, part: usize) -> Option<Range<usize>> {
        let files = self.survey.files().len();
        if self.options.concat {
            (part < files).then(|| part..part + 1)
        } else {
            (part == 0).then_some(0..files)
        }
    }

    /// Opens the files of the next part. Returns false after the last part.
    fn open_next_part(&mut self) -> Result<bool, SourceError> {
        self.replays.clear();
        self.order.clear();
        let Some(files) = self.part(self.next_part) else { return Ok(false) };
        let path = shown(&self.survey.files()[files.start].path);
        let too_late = |late: TooLate| SourceError::new(phrase!["{path}: ", late]);
        self.clock.begin_part().map_err(too_late)?;
        for file in &self.survey.files()[files] {
            self.replays
                .push((FileReplay::open(file, self.survey.devices(), &self.options)?, None));
        }
        self.next_part += 1;
        if self.replays.len() > 1 {
            let way = Way { clock: &self.clock, fitter: &self.fitter, strict: self.options.strict };
            for (i, (replay, next)) in self.replays.iter_mut().enumerate() {
                *next = replay.next(&way)?;
                self.order.extend(next.map(|row| Reverse((row.at, i))));
            }
        }
        Ok(true)
    }

    fn read(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let end = out.len() + max;
        while out.len() < end {
            let row = self.next()?;
            self.note_flushes(out.len());
            match row {
                Some(row) => out.push(self.request(&row)),
                None if self.open_next_part()? => {}
                None => break,
            }
        }
        Ok(())
    }

    /// Returns the earliest row that is left in the current part.
    #[inline]
    fn next(&mut self) -> Result<Option<Placed>, SourceError> {
        let way = Way { clock: &self.clock, fitter: &self.fitter, strict: self.options.strict };
        if let [(replay, _)] = &mut self.replays[..] {
            return replay.next(&way);
        }
        let Some(mut earliest) = self.order.peek_mut() else { return Ok(None) };
        let Reverse((_, i)) = *earliest;
        let (replay, next) = &mut self.replays[i];
        let row = std::mem::replace(next, replay.next(&way)?);
        match next {
            Some(row) => *earliest = Reverse((row.at, i)),
            None => drop(PeekMut::pop(earliest)),
        }
        Ok(row)
    }

    /// Notes the flushes that come before this place in the requests.
    #[inline]
    fn note_flushes(&mut self, place: usize) {
        // A trace of several files has no flushes.
        if let [(replay, _)] = &mut self.replays[..] {
            let Self { flushes, clock, .. } = self;
            flushes.extend(replay.flushes.drain(..).map(|at| (place, clock.serve(at))));
        }
    }

    #[inline]
    fn request(&mut self, row: &Placed) -> Request {
        self.report.rows += 1;
        self.report.clamped += u64::from(row.clamped);
        self.report.refitted += u64::from(row.refitted);
        Request {
            at: self.clock.serve(row.at),
            offset: row.offset,
            bytes: row.bytes,
            op: row.op,
            origin: 0,
            hint: row.hint,
        }
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

    fn ends_at(&self) -> Option<Ns> {
        let [file] = self.survey.files() else { return None };
        file.ends_at.filter(|_| self.report.passes == 1).map(|end| self.clock.scaled(end))
    }

    fn take_flushes(&mut self) -> Vec<(usize, Ns)> {
        std::mem::take(&mut self.flushes)
    }

    fn len_hint(&self) -> Option<u64> {
        Some(self.survey.rows())
    }
}

impl PassSource for TraceSource {
    fn next_pass(&mut self) -> Result<(), SourceError> {
        if let Some(e) = &self.failed {
            return Err(e.clone());
        }
        self.next_part = 0;
        self.report.passes += 1;
        self.open_next_part().map(|_| ()).inspect_err(|e| self.failed = Some(e.clone()))
    }

    fn memory(&self) -> u64 {
        let open = if self.options.concat { 1 } else { self.survey.files().len() as u64 };
        open * LANE_BYTES
    }

    fn trace_report(&self) -> Option<TraceReport> {
        Some(self.report())
    }
}
