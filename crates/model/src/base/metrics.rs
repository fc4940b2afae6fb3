//! Counts of a run, and latencies. All counts start at the end of preconditioning.

mod windows;

use std::fmt;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::base::course::Course;
use crate::base::dose::{Dose, Quarters};
use crate::base::units::{Cause, Ns};
pub use windows::{AllWindows, ByWindow, Window, Windows};

/// Counts of the host's requests. The fields are those of `host` in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounts {
    /// Number of read requests. A trace row is one request, however the drive splits it.
    pub read_requests: u64,
    /// Number of write requests.
    pub write_requests: u64,
    /// Number of trim requests.
    pub trim_requests: u64,
    /// Number of bytes of read requests.
    pub read_bytes: u64,
    /// Number of bytes of write requests.
    pub write_bytes: u64,
    /// Number of pages read for the host.
    pub read_pages: u64,
    /// Number of pages that the host wrote.
    pub write_pages: u64,
    /// Number of write requests smaller than a page, which is the mapping unit.
    pub small_writes: u64,
    /// Number of pages that the host trimmed.
    pub trim_pages: u64,
    /// Number of pages read that hold no data.
    pub unmapped_read_pages: u64,
    /// Number of page writes that covered only a part of the page.
    pub partial_page_writes: u64,
    /// Number of flash reads that complete a partly written page.
    pub fill_reads: u64,
}

/// Largest number of retries that a ladder of levels may have.
pub const MOST_RETRIES: usize = 31;

/// Flash operations by cause, in the order of [`Cause::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Number of page reads.
    pub reads: [u64; Cause::COUNT],
    /// Number of host page reads by number of retries. Entry 0 is for reads without a retry, and is
    /// not counted.
    pub retried: [u64; MOST_RETRIES + 1],
    /// Number of host page reads that began above the first level, because that level had decoded
    /// the last read (`ecc.start_from_last`).
    pub began_higher: u64,
    /// Number of page programs.
    pub programs: [u64; Cause::COUNT],
    /// Number of pages programmed without data, because their wordline was programmed before it was
    /// full.
    pub padded_pages: u64,
    /// Number of pages of host data that were rebuilt from their stripe and written elsewhere, apart
    /// from any move, because they could not be read. Their cause is parity.
    pub recovered_pages: u64,
    /// Number of page reads whose first decode failed.
    pub soft_errors: u64,
    /// Number of block erases.
    pub erases: [u64; Cause::COUNT],
    /// Number of wordlines reprogrammed in place to make guard levels or to merge states.
    pub reprograms: [u64; Cause::COUNT],
}

/// Counts of data refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefreshCounts {
    /// Number of blocks whose rewriting began because of their age.
    pub invocations: u64,
    /// Number of blocks that were still open when their rewriting began.
    pub open_blocks: u64,
    /// Number of pages that were never programmed, in blocks that were open when their rewriting
    /// began.
    pub unused_pages: u64,
    /// Number of jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Number of wordlines merged in place, for fewer sensings.
    pub merged_wordlines: u64,
    /// Number of pages that merging corrupted. Their data was written elsewhere.
    pub corrupted_pages: u64,
    /// Number of blocks that were not merged, because their reclaim technique left no space for the
    /// reads of the merge.
    pub no_room: u64,
}

/// Counts of parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParityCounts {
    /// Number of stripes whose parity was updated from the old parity.
    pub modified: u64,
    /// Number of stripes whose parity was computed from all their data.
    pub whole: u64,
    /// Number of unreadable pages that were rebuilt from their stripes.
    pub rebuilt: u64,
    /// Number of times that the other pages of a stripe were read to rebuild a page, successfully or
    /// not.
    pub recoveries: u64,
    /// Number of times that the drive gave up the parity of a stripe. One reason is that too much
    /// of the stripe was unreadable. The other is that reading it would have raised an alarm in a
    /// block when its policy could not be asked.
    pub given_up: u64,
    /// Number of stripes whose change went to a partial parity.
    pub delayed: u64,
    /// Number of pages that a partial parity covered and dropped. These pages are unprotected until
    /// their stripe is committed.
    pub exposed: u64,
    /// Number of partial parities that were completed because a version that they needed was about
    /// to be erased.
    pub made_whole: u64,
    /// Number of stripes that got parity because one of their pages had moved to a worn block.
    pub formed: u64,
    /// Number of stripes that gave up parity because none of their pages was left in a worn block.
    pub dissolved: u64,
}

/// Counts of read reclaim. The fields are those of `reclaim` in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReclaimCounts {
    /// Number of alarms. At an alarm, the reclaim technique decides whether the drive must start a
    /// reclaim job.
    pub alarms: u64,
    /// Number of reclaim jobs.
    pub invocations: u64,
    /// Number of pages that reclaim jobs copied.
    pub pages_copied: u64,
    /// Number of reclaim jobs that missed their deadline. The deadline of a job is the last read
    /// that the block's read limit allows.
    pub deadline_misses: u64,
    /// Number of blocks that GC erased to free space for reclaim jobs.
    pub gc_erases: u64,
    /// Number of blocks that were opened for the pool of in-place reprogramming.
    pub pool_openings: u64,
    /// Number of blocks that were opened outside the pool of in-place reprogramming, because the
    /// pool had no free block.
    pub pool_misses: u64,
    /// Number of blocks reprogrammed in place.
    pub reprograms: u64,
    /// Number of blocks that should have got guard levels (unused threshold states) but did not,
    /// because the drive had too few free pages.
    pub low_density_refused: u64,
    /// Number of low-density blocks that GC erased.
    pub low_density_erases_by_gc: u64,
    /// Histogram of erased low-density blocks. The first number counts blocks that had used less
    /// than 5 % of their read limit, the next number 5 % to 10 %, and so on. The last number counts
    /// blocks that had used at least 95 %.
    pub low_density_used: UsedShares,
    /// Time that host reads waited for reclaim on their die, summed over all reads.
    #[serde(skip)]
    pub stall_ns: u64,
}

/// Number of blocks by the used share of their limit, in twentieths. The last entry has all blocks
/// from 95 % on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedShares(pub [u64; 20]);

impl UsedShares {
    /// Counts a block with this number of reads. `limit` is the limit of its weakest wordlines.
    pub fn note(&mut self, reads: Quarters, limit: Dose) {
        let twentieth = (reads.far() * 20).in_1024ths() / limit.in_1024ths();
        self.0[twentieth.min(19) as usize] += 1;
    }
}

/// Number of steps of a histogram per power of two. It gives three significant digits.
const STEPS: usize = 1024;

/// Latencies of one kind of request, in nanoseconds.
#[derive(Clone, Default)]
pub struct Latency {
    /// Counts by step, with the steps of an HDR histogram of three significant digits. Counting
    /// here takes a fifth of the instructions of the library.
    counts: Vec<u64>,
    sum_ns: u128,
}

impl Latency {
    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, ns: Ns) {
        self.sum_ns += u128::from(ns);
        let power =
            (2 * STEPS as u64).leading_zeros() + 1 - (ns | (2 * STEPS as u64 - 1)).leading_zeros();
        let step = power as usize * STEPS + (ns >> power) as usize;
        match self.counts.get_mut(step) {
            Some(count) => *count += 1,
            None => self.add(step, 1),
        }
    }

    /// Counts latencies of a step, which may be longer than all before it.
    #[cold]
    fn add(&mut self, step: usize, count: u64) {
        if step >= self.counts.len() {
            self.counts.resize((step + 1).next_multiple_of(STEPS), 0);
        }
        self.counts[step] += count;
    }

    /// Returns the number of requests.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the latencies that were counted after `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |step: usize| earlier.counts.get(step).copied().unwrap_or(0);
        let counts =
            self.counts.iter().enumerate().map(|(step, count)| count - before(step)).collect();
        Self { counts, sum_ns: self.sum_ns - earlier.sum_ns }
    }

    /// Returns the sum of all latencies.
    pub fn total_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the exact mean, in ns.
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 }
    }

    /// Returns the value at a quantile from 0 to 1, in ns, to the histogram's 0.1 %.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        self.histogram().value_at_quantile(q)
    }

    /// Returns the largest value, in ns, to the histogram's 0.1 %.
    pub fn max_ns(&self) -> u64 {
        self.histogram().max()
    }

    /// Returns the latencies as an HDR histogram, for quantiles and export.
    pub fn histogram(&self) -> Histogram<u64> {
        let mut histogram = Histogram::new(3).expect("three digits are supported");
        histogram.auto(true);
        for (step, count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let power = (step / STEPS).saturating_sub(1);
            let ns = ((step - power * STEPS) as u64) << power;
            histogram.record_n(ns, *count).expect("the histogram resizes itself");
        }
        histogram
    }
}

/// Measurements of the timed gear.
#[derive(Default)]
pub struct TimedMetrics {
    /// Latencies of host reads.
    pub read: Latency,
    /// Latencies of host writes, until they are acknowledged.
    pub write: Latency,
    /// Latencies of host reads that arrived while a reclaim job was running on one of their dies.
    pub read_during_reclaim: Latency,
    /// Latencies of each group of origins; empty if groups are not counted.
    pub groups: Groups,
    /// Latencies of host reads and writes up to the beginning of each further stage of the drive's
    /// life.
    pub stages: Vec<(Latency, Latency)>,
    /// Latencies of host reads at evenly spaced numbers of requests; `None` if there are no marks.
    pub course: Option<Course>,
    /// Latencies by window of time, if windows are kept.
    pub windows: AllWindows,
}

impl fmt::Debug for TimedMetrics {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("TimedMetrics").finish_non_exhaustive()
    }
}

impl TimedMetrics {
    /// Records a host read that ended at `end` after `latency`, both in ns.
    #[inline(always)]
    // Once a request.
    pub fn note_read(&mut self, end: Ns, latency: Ns) {
        self.windows.read.note(end, &self.read);
        self.read.record(latency);
    }

    /// Records a host read that waited for reclaim.
    #[inline]
    pub fn note_read_during_reclaim(&mut self, end: Ns, latency: Ns) {
        self.note_read(end, latency);
        self.windows.read_during_reclaim.note(end, &self.read_during_reclaim);
        self.read_during_reclaim.record(latency);
    }

    /// Records a host write.
    #[inline]
    pub fn note_write(&mut self, end: Ns, latency: Ns) {
        self.windows.write.note(end, &self.write);
        self.write.record(latency);
    }
}

/// Measurements of each group of origins.
#[derive(Default)]
pub struct Groups {
    group_of: Vec<u16>,
    list: Vec<Group>,
}

impl Groups {
    /// Begins without measurements. `group_of` has the group of each origin.
    pub fn new(group_of: &[u16]) -> Self {
        let groups = group_of.iter().max().map_or(0, |last| usize::from(*last) + 1);
        Self { group_of: group_of.to_vec(), list: (0..groups).map(|_| Group::default()).collect() }
    }

    /// Returns the groups by number; empty if groups are not counted.
    pub fn list(&self) -> &[Group] {
        &self.list
    }

    /// Returns the group of an origin, if groups are counted.
    #[inline]
    pub fn of(&mut self, origin: u16) -> Option<&mut Group> {
        let group = *self.group_of.get(usize::from(origin))?;
        self.list.get_mut(usize::from(group))
    }
}

/// Measurements of a group of origins.
#[derive(Default)]
pub struct Group {
    /// Latencies of the group's reads.
    pub read: Latency,
    /// Latencies of the group's writes.
    pub write: Latency,
    /// Latencies of the group's reads that waited for reclaim.
    pub read_during_reclaim: Latency,
    /// Time of the group's first request, and time at which its last request was complete, in ns.
    /// `None` before the first request is complete.
    pub span: Option<(Ns, Ns)>,
}

impl Group {
    /// Counts a read of the host with these times.
    #[cold]
    pub fn read(&mut self, start: Ns, end: Ns, during_reclaim: bool) {
        self.read.record(end - start);
        if during_reclaim {
            self.read_during_reclaim.record(end - start);
        }
        self.span(start, end);
    }

    /// Counts a write of the host with these times.
    #[cold]
    pub fn write(&mut self, start: Ns, end: Ns) {
        self.write.record(end - start);
        self.span(start, end);
    }

    /// Extends the time of the group by the time of a request.
    pub fn span(&mut self, start: Ns, end: Ns) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}
