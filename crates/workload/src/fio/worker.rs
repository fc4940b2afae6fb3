//! Makes the requests that one clone of a fio job sends to its files. These requests have no
//! arrival times yet.
//!
//! The rules are those of fio 3.33. If a job mixes reads and writes, the direction of each request
//! is random. [`FileCycle`] chooses the file. A pass over the files ends when all positions
//! are used, or when the pass has as many bytes as the job's size. A job has one pass for each of
//! its `loops`. With `io_size`, more passes follow until the job has this many bytes, and the job
//! ends early at `io_size` times `loops` bytes (fio 3.33, `keep_running` and `io_bytes_exceeded` in
//! backend.c). If only a time limit ends the job, passes are repeated until the time limit.

use std::sync::Arc;

use vpass_drive::base::request::{Op, Request};

use super::draft::Ways;
use super::in_file::{InFile, Shared, Span};
use super::job::Job;
use super::layout::{Amounts, Part};
use super::sizes::SizeDraw;
use crate::synthetic::random::{Random, Streams, below};

/// Directions of requests, in the order of fio's lists.
pub(super) const OPS: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

/// Clone of a fio job, which makes requests.
pub(super) struct Worker {
    pub(super) job: Arc<Job>,
    files: Vec<InFile>,
    cycle: FileCycle,
    sizes: [SizeDraw; 3],
    pub(super) streams: Streams,
    /// Number of requests until the next random address.
    countdown: u32,
    amounts: Amounts,
    /// Number of bytes issued in the current pass.
    pass_bytes: u64,
    /// Number of bytes issued since the first pass.
    issued_bytes: u64,
    /// Number of requests issued since the first pass.
    issued: u64,
    /// Number of passes begun.
    passes: u32,
}

impl Worker {
    /// Returns the number of bytes that the random maps occupy in memory.
    pub(super) fn memory(&self) -> u64 {
        self.files.iter().map(InFile::memory).sum()
    }

    /// Makes a clone of `job`. `root` gives the random streams of the clone. The size of the
    /// clone's random maps is subtracted from `map_bits`.
    pub(super) fn new(
        job: &Arc<Job>,
        part: &Part,
        root: Random,
        map_bits: &mut u64,
    ) -> Result<Self, String> {
        let mut streams = Streams::after(root);
        let sizes = [0, 1, 2].map(|op| SizeDraw::new(&job.blocks[op]));
        let in_file = |region| InFile::new(job, region, &sizes, &mut streams.scatter, map_bits);
        let files = part.files.iter().copied().map(in_file).collect::<Result<Vec<_>, _>>()?;
        let mut worker = Self {
            job: job.clone(),
            cycle: FileCycle::default(),
            files,
            sizes,
            streams,
            countdown: 1,
            amounts: part.amounts,
            pass_bytes: 0,
            issued_bytes: 0,
            issued: 0,
            passes: 0,
        };
        worker.begin();
        Ok(worker)
    }

    /// Starts the job again with its first loop. The random numbers are new, so the requests differ
    /// from before.
    pub(super) fn begin(&mut self) {
        (self.issued, self.issued_bytes, self.passes) = (0, 0, 0);
        self.next_pass();
        self.countdown = 1;
    }

    /// Returns the next request, or `None` at the end of the job. If `op` is given, the request has
    /// this direction.
    pub(super) fn next(&mut self, op: Option<usize>) -> Option<Request> {
        let mut fresh = false;
        loop {
            let ends = self.has_ended_pass() || self.has_all_requests();
            if self.has_all_bytes() || ends && !self.next_pass() || self.has_all_requests() {
                return None;
            }
            let op = op.unwrap_or_else(|| self.way());
            if let Some((file, span)) = self.span(op) {
                self.issued += 1;
                self.pass_bytes += span.end - span.start;
                self.issued_bytes += span.end - span.start;
                return Some(self.request(op, file, span));
            }
            // All positions of this pass have been used.
            if fresh || !(self.job.limits.time_based || self.next_pass()) {
                return None;
            }
            self.rewind();
            fresh = true;
        }
    }

    /// Returns the approximate number of requests of the whole job, or `None` if the job ends only
    /// after a given time.
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
            _ => (0..3).find(|op| uses[*op]).map_or(1.0, |op| self.job.blocks[op].mean()),
        };
        let loops = u64::from(limits.loops);
        let most = limits.number_ios.map_or(u64::MAX, |n| n.saturating_mul(loops));
        Some(((self.amounts.total_bytes(&self.job) as f64 / mean).ceil() as u64).min(most))
    }

    /// Returns whether the job has issued `number_ios` times `loops` requests.
    fn has_all_requests(&self) -> bool {
        let limits = &self.job.limits;
        limits.number_ios.is_some_and(|n| self.issued >= n.saturating_mul(limits.loops.into()))
    }

    /// Returns whether the job has issued `io_size` times `loops` bytes.
    fn has_all_bytes(&self) -> bool {
        let (limits, bytes) = (&self.job.limits, self.amounts.io_bytes);
        let is_all = |n: u64| self.issued_bytes >= n.saturating_mul(limits.loops.into());
        !limits.time_based && bytes.is_some_and(is_all)
    }

    fn has_ended_pass(&self) -> bool {
        !self.job.limits.time_based && self.pass_bytes >= self.amounts.pass_bytes
    }

    /// Begins the next pass of the job. Returns false if the job has no further pass.
    fn next_pass(&mut self) -> bool {
        // A rest that is smaller than the largest request needs no further pass.
        let owed = self.amounts.io_bytes.unwrap_or(0).saturating_sub(self.issued_bytes);
        let has_all = owed < self.job.largest_block() || self.has_all_requests();
        if self.passes >= self.job.limits.loops && has_all {
            return false;
        }
        self.passes += 1;
        self.pass_bytes = 0;
        self.rewind();
        true
    }

    fn rewind(&mut self) {
        self.cycle.begin();
        for file in &mut self.files {
            file.rewind(&mut self.streams.scatter);
        }
    }

    fn request(&self, op: usize, file: usize, span: Span) -> Request {
        // Request sizes are at most 16 MiB, so they fit into 32 bits.
        Request::new(
            0,
            self.files[file].region.start + span.start,
            (span.end - span.start) as u32,
            OPS[op],
        )
    }

    fn way(&mut self) -> usize {
        match self.job.pattern.ways {
            Ways::Read => 0,
            Ways::Write => 1,
            Ways::Trim => 2,
            Ways::Mixed => usize::from(
                below(&mut self.streams.direction, 100) >= u64::from(self.job.read_percent),
            ),
        }
    }

    /// Returns the file and span of the next request of a direction, or `None` if no file has an
    /// unused position.
    fn span(&mut self, op: usize) -> Option<(usize, Span)> {
        loop {
            let file = self.cycle.next(&self.files)?;
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

/// Order in which a clone uses its files: one after the other, again and again. As in fio, a pass
/// over the files uses each position in a file for at most one request. A file without unused
/// positions is skipped until the next pass begins.
#[derive(Default)]
struct FileCycle {
    /// File of the last request; `None` at the start of a pass.
    last: Option<usize>,
}

impl FileCycle {
    /// Begins another pass over the files.
    fn begin(&mut self) {
        self.last = None;
    }

    /// Returns the file of the next request, or `None` if no file has an unused position.
    #[inline]
    fn next(&mut self, files: &[InFile]) -> Option<usize> {
        if let [only] = files {
            return (!only.done).then_some(0);
        }
        let first = self.last.map_or(0, |last| last + 1);
        self.last = (first..files.len()).chain(0..first).find(|i| !files[*i].done);
        self.last
    }
}
