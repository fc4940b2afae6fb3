//! One clone of a job: its requests one after the other, in its files on the drive. When they come
//! is not its business.
//!
//! The rules are those of fio 3.33. A mix throws dice for each request; several files take turns
//! ([`super::turns`]). A loop of the job ends when `io_size` bytes have gone or when no place is
//! left that a pass would visit; where bytes are left or time decides, another pass begins.

use std::sync::Arc;

use vpass_core::base::request::{Op, Request};

use super::draft::Ways;
use super::in_file::{InFile, Shared, Span};
use super::job::Job;
use super::layout::Part;
use super::sizes::SizeDraw;
use super::turns::Turns;
use crate::synthetic::random::{Random, Streams, below};

/// The directions in the order of fio's lists.
pub(super) const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// See the module.
pub(super) struct Worker {
    pub(super) job: Arc<Job>,
    files: Vec<InFile>,
    turns: Turns,
    sizes: [SizeDraw; 3],
    pub(super) streams: Streams,
    /// Requests until the next random place.
    countdown: u32,
    /// The write that follows a trim.
    owed: Option<(usize, Span)>,
    /// Bytes after which a loop ends.
    io_bytes: u64,
    issued_bytes: u64,
    issued: u64,
    loops_left: u32,
}

impl Worker {
    /// Bytes of the maps of what was visited.
    pub(super) fn memory(&self) -> u64 {
        self.files.iter().map(InFile::memory).sum()
    }

    /// A clone of `job`; its chance is what follows from `root`. What its maps take is taken from
    /// `map_bits`.
    pub(super) fn new(
        job: &Arc<Job>,
        part: &Part,
        root: Random,
        map_bits: &mut u64,
    ) -> Result<Self, String> {
        let mut streams = Streams::after(root);
        let sizes = [0, 1, 2].map(|op| SizeDraw::new(&job.blocks[op], job.unaligned));
        let in_file = |region| InFile::new(job, region, &sizes, &mut streams.scatter, map_bits);
        let files = part.files.iter().copied().map(in_file).collect::<Result<Vec<_>, _>>()?;
        let mut worker = Self {
            job: job.clone(),
            turns: Turns::new(job.service),
            files,
            sizes,
            streams,
            countdown: 1,
            owed: None,
            io_bytes: part.io_bytes,
            issued_bytes: 0,
            issued: 0,
            loops_left: 0,
        };
        worker.begin();
        Ok(worker)
    }

    /// Starts the job again; chance goes on.
    pub(super) fn begin(&mut self) {
        self.loops_left = self.job.limits.loops;
        self.next_loop();
        self.countdown = 1;
    }

    /// The next request, of direction `op` where that is decided already; none at the end of the
    /// job.
    pub(super) fn next(&mut self, op: Option<usize>) -> Option<Request> {
        if let Some((file, span)) = self.owed.take() {
            return Some(self.request(1, file, span));
        }
        let mut fresh = false;
        loop {
            if self.has_issued_all() && !self.next_loop() {
                return None;
            }
            let op = op.unwrap_or_else(|| self.way());
            if let Some((file, span)) = self.span(op) {
                self.issued += 1;
                self.issued_bytes += span.end - span.start;
                self.owed = (self.job.pattern.ways == Ways::TrimWrite).then_some((file, span));
                return Some(self.request(op, file, span));
            }
            // This pass has no place left.
            let limits = &self.job.limits;
            let goes_on = limits.time_based || limits.io_size.is_some();
            if fresh || !(goes_on || self.next_loop()) {
                return None;
            }
            self.rewind();
            fresh = true;
        }
    }

    /// Requests of the whole job, about; none where only time ends it.
    pub(super) fn about(&self) -> Option<u64> {
        let limits = &self.job.limits;
        if limits.time_based {
            return limits.number_ios;
        }
        let uses = self.job.uses();
        let mean = match self.job.pattern.ways {
            Ways::Mixed => {
                let reads = f64::from(self.job.read_percent) / 100.0;
                reads * self.job.blocks[0].mean() + (1.0 - reads) * self.job.blocks[1].mean()
            }
            Ways::TrimWrite => self.job.blocks[2].mean(),
            _ => (0..3).find(|op| uses[*op]).map_or(1.0, |op| self.job.blocks[op].mean()),
        };
        let of_a_loop = ((self.io_bytes as f64 / mean).ceil() as u64)
            .min(limits.number_ios.unwrap_or(u64::MAX));
        let pair = if self.job.pattern.ways == Ways::TrimWrite { 2 } else { 1 };
        of_a_loop.checked_mul(u64::from(limits.loops))?.checked_mul(pair)
    }

    fn has_issued_all(&self) -> bool {
        let limits = &self.job.limits;
        (!limits.time_based && self.issued_bytes >= self.io_bytes)
            || limits.number_ios.is_some_and(|n| self.issued >= n)
    }

    /// Begins the next loop, if there is one.
    fn next_loop(&mut self) -> bool {
        if self.loops_left == 0 {
            return false;
        }
        self.loops_left -= 1;
        (self.issued, self.issued_bytes) = (0, 0);
        self.rewind();
        true
    }

    fn rewind(&mut self) {
        self.turns.begin();
        for file in &mut self.files {
            file.rewind(&mut self.streams.scatter);
        }
    }

    fn request(&self, op: usize, file: usize, span: Span) -> Request {
        // Sizes are at most 16 MiB.
        Request {
            at: 0,
            offset: self.files[file].region.start + span.start,
            bytes: (span.end - span.start) as u32,
            op: OPS[op],
            origin: 0,
            hint: None,
        }
    }

    fn way(&mut self) -> usize {
        match self.job.pattern.ways {
            Ways::Read => 0,
            Ways::Write => 1,
            Ways::Trim | Ways::TrimWrite => 2,
            Ways::Mixed => usize::from(
                below(&mut self.streams.direction, 100) >= u64::from(self.job.read_percent),
            ),
        }
    }

    /// The next request of this direction: its file, and where in it; none where no file has a
    /// place left.
    fn span(&mut self, op: usize) -> Option<(usize, Span)> {
        loop {
            let file = self.turns.next(&self.files, &mut self.streams.direction)?;
            let Self { job, sizes, streams, countdown, .. } = self;
            if let Some(span) =
                self.files[file].span(op, &mut Shared { job, sizes, streams, countdown })
            {
                return Some((file, span));
            }
            self.files[file].done = true;
        }
    }
}
