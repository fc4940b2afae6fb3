//! What a run counts, and latencies. All counts are since the end of preconditioning.

mod windows;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::base::course::Course;
use crate::base::dose::{Dose, Quarters};
use crate::base::units::{Cause, Ns};
use crate::bugs::{Bug, planted};
pub use windows::{AllWindows, ByWindow, Window, Windows};

/// What the host asked for; the fields are those of `host` in a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounts {
    /// Read requests (a trace row is one, however it is split).
    pub read_requests: u64,
    /// Write requests.
    pub write_requests: u64,
    /// Trim requests.
    pub trim_requests: u64,
    /// Bytes of read requests.
    pub read_bytes: u64,
    /// Bytes of write requests.
    pub write_bytes: u64,
    /// Pages read for the host.
    pub read_pages: u64,
    /// Pages written by the host.
    pub write_pages: u64,
    /// Write requests of fewer bytes than a page, which is the mapping unit.
    pub small_writes: u64,
    /// Pages trimmed by the host.
    pub trim_pages: u64,
    /// Pages read that hold nothing.
    pub unmapped_read_pages: u64,
    /// Page writes that covered a part of the page.
    pub partial_page_writes: u64,
    /// Flash reads to fill in the rest of a partly written page.
    pub fill_reads: u64,
}

/// More retries than any ladder has.
pub const MOST_RETRIES: usize = 31;

/// NAND operations by cause, in the order of [`Cause::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCounts {
    /// Page reads.
    pub reads: [u64; Cause::COUNT],
    /// Page reads for the host by the retries that they took; the first number is that of reads
    /// that took none, and is not counted.
    pub retried: [u64; MOST_RETRIES + 1],
    /// Page reads for the host that began with a level above the first, because that had worked
    /// last (`ecc.start_from_last`).
    pub began_higher: u64,
    /// Page programs.
    pub programs: [u64; Cause::COUNT],
    /// Those of them that hold nothing, in wordlines that were programmed before they were
    /// complete.
    pub padded_pages: u64,
    /// Programs for parity that hold data of the host: a page that could not be read was rebuilt
    /// from its stripe and written elsewhere, apart from any move.
    pub recovered_pages: u64,
    /// Page reads whose first decode failed, whatever they came to.
    pub soft_errors: u64,
    /// Block erases.
    pub erases: [u64; Cause::COUNT],
    /// Wordlines whose most significant pages were programmed to keep cells out of guard levels.
    pub reprograms: [u64; Cause::COUNT],
}

/// Data refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefreshCounts {
    /// Blocks that began to be rewritten because of their age.
    pub invocations: u64,
    /// Those of them that were still open.
    pub open_blocks: u64,
    /// Pages of these that were never programmed.
    pub unused_pages: u64,
    /// Jobs that were not done when the block's period ended.
    pub deadline_misses: u64,
    /// Wordlines that were adjusted in place, for fewer sensings.
    pub merged_wordlines: u64,
    /// Pages of these that this corrupted, and that were written elsewhere.
    pub corrupted_pages: u64,
    /// Blocks that would have been adjusted, had their reclaim technique left room for the reads of
    /// it.
    pub no_room: u64,
}

/// Parity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParityCounts {
    /// Stripes whose parity was brought up to date out of the old one.
    pub modified: u64,
    /// Stripes whose parity was worked out of all their data.
    pub whole: u64,
    /// Pages that could not be read and were rebuilt from their stripes.
    pub rebuilt: u64,
    /// Times that the other pages of a stripe were read to rebuild one of it, whatever came of it.
    pub recoveries: u64,
    /// Times that the parity of a stripe was given up, because too much of the stripe could not be
    /// read, or not without bringing a block to its alarm at a time when its policy cannot be
    /// asked.
    pub given_up: u64,
    /// Stripes whose change went to a partial parity.
    pub delayed: u64,
    /// Pages that a partial parity covered and forgot, so that nothing protects them until their
    /// stripe is committed.
    pub exposed: u64,
    /// Partial parities that were made whole because a version that they needed was about to be
    /// erased.
    pub made_whole: u64,
    /// Stripes that got parity because a page of theirs had come to a worn block.
    pub formed: u64,
    /// Stripes whose parity was given back because none of their pages lay in a worn block any
    /// more.
    pub dissolved: u64,
}

/// Read reclaim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReclaimCounts {
    /// Times the policy was asked.
    pub alarms: u64,
    /// Jobs.
    pub invocations: u64,
    /// Pages that reclaim jobs copied.
    pub pages_copied: u64,
    /// Jobs that a block's last allowed read overtook; they were finished in the foreground.
    pub deadline_misses: u64,
    /// Blocks that GC erased to make room for reclaim jobs.
    pub gc_erases: u64,
    /// Blocks opened that should lie in the IPR pool.
    pub pool_openings: u64,
    /// Those of them that do not.
    pub pool_misses: u64,
    /// Blocks that were reprogrammed in place.
    pub reprograms: u64,
    /// Blocks that should have got guard levels, and did not: the drive could not spare their
    /// pages.
    pub low_density_refused: u64,
    /// Blocks with guard levels that GC erased.
    pub low_density_erases_by_gc: u64,
    /// What blocks with guard levels had used of their limits when they were erased.
    pub low_density_used: UsedShares,
    /// Time that host reads waited for reclaim work on their die, summed over reads.
    pub stall_ns: u64,
}

/// Blocks by the share of their limit that they had used, in twentieths; the last holds all from 95
/// % on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedShares(pub [u64; 20]);

impl UsedShares {
    /// Counts a block of so many reads, and such a limit of its weakest wordlines.
    pub(crate) fn note(&mut self, reads: Quarters, limit: Dose) {
        let twentieth = (reads.far() * 20).in_1024ths() / limit.in_1024ths();
        self.0[twentieth.min(19) as usize] += 1;
    }
}

/// Steps of a histogram to each power of two, so that three digits are significant.
const STEPS: usize = 1024;

/// Latencies of one kind of request, in nanoseconds.
#[derive(Clone, Default)]
pub struct Latency {
    /// By step, as an HDR histogram of three significant digits lays them out: counting here takes
    /// a fifth of the instructions.
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
            None => self.record_first(step),
        }
    }

    /// Counts a latency longer than all before.
    #[cold]
    fn record_first(&mut self, step: usize) {
        self.counts.resize((step + 1).next_multiple_of(STEPS), 0);
        self.counts[step] += 1;
    }

    /// Requests counted.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Those that were not counted earlier.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = |step: usize| earlier.counts.get(step).copied().unwrap_or(0);
        let counts =
            self.counts.iter().enumerate().map(|(step, count)| count - before(step)).collect();
        Self { counts, sum_ns: self.sum_ns - earlier.sum_ns }
    }

    /// Sum of all latencies.
    pub fn total_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Exact mean, in ns.
    pub fn mean_ns(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 }
    }

    /// Value at a quantile from 0 to 1, in ns, within the histogram's 0.1 %.
    pub fn quantile_ns(&self, q: f64) -> u64 {
        self.histogram().value_at_quantile(q)
    }

    /// Largest value, in ns, within the histogram's 0.1 %.
    pub fn max_ns(&self) -> u64 {
        self.histogram().max()
    }

    /// The latencies as an HDR histogram, for quantiles and export.
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

/// What the timed gear measured.
#[derive(Default)]
pub struct TimedMetrics {
    /// Host reads.
    pub read: Latency,
    /// Host writes, to their acknowledgement.
    pub write: Latency,
    /// Host reads that arrived while a reclaim job was under way on one of their dies.
    pub read_during_reclaim: Latency,
    /// The same for each group of origins, where they are counted.
    pub groups: Groups,
    /// Host reads and writes up to the beginning of each further stage of the drive's life.
    pub stages: Vec<(Latency, Latency)>,
    /// Host reads at evenly spaced numbers of requests, where these are marked.
    pub course: Option<Course>,
    /// Latencies by window of time, where windows are kept.
    pub windows: AllWindows,
}

impl TimedMetrics {
    /// Records a host read that ended at `end` after `latency`, both in ns.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a request")]
    pub(crate) fn note_read(&mut self, end: Ns, latency: Ns) {
        self.windows.read.note(end, &self.read);
        self.read.record(latency);
    }

    /// Records a host read that met reclaim.
    #[inline]
    pub(crate) fn note_read_during_reclaim(&mut self, end: Ns, latency: Ns) {
        self.note_read(end, latency);
        self.windows.read_during_reclaim.note(end, &self.read_during_reclaim);
        self.read_during_reclaim.record(latency);
    }

    /// Records a host write.
    #[inline]
    pub(crate) fn note_write(&mut self, end: Ns, latency: Ns) {
        self.windows.write.note(end, &self.write);
        self.write.record(latency);
    }
}

/// What was measured of each group of origins.
#[derive(Default)]
pub struct Groups {
    group_of: Vec<u16>,
    list: Vec<Group>,
}

impl Groups {
    /// Nothing yet; `group_of` gives the group of each origin.
    pub(crate) fn new(group_of: &[u16]) -> Self {
        let groups = group_of.iter().max().map_or(0, |last| usize::from(*last) + 1);
        Self { group_of: group_of.to_vec(), list: (0..groups).map(|_| Group::default()).collect() }
    }

    /// By number; empty where groups are not counted.
    pub fn list(&self) -> &[Group] {
        &self.list
    }

    /// The group of an origin, if groups are counted.
    #[inline]
    pub(crate) fn of(&mut self, origin: u16) -> Option<&mut Group> {
        let group = *self.group_of.get(usize::from(origin))?;
        self.list.get_mut(usize::from(group))
    }
}

/// What was measured of a group of origins.
#[derive(Default)]
pub struct Group {
    /// Its reads.
    pub read: Latency,
    /// Its writes.
    pub write: Latency,
    /// Its reads that met reclaim.
    pub read_during_reclaim: Latency,
    /// When the first of its requests came and when the last one was complete, in ns; none before
    /// the first is complete.
    pub span: Option<(Ns, Ns)>,
}

impl Group {
    #[cold]
    pub(crate) fn read(&mut self, start: Ns, end: Ns, during_reclaim: bool) {
        self.read.record(end - start);
        if during_reclaim && !planted(Bug::GroupReclaimReadsForgotten) {
            self.read_during_reclaim.record(end - start);
        }
        self.span(start, end);
    }

    #[cold]
    pub(crate) fn write(&mut self, start: Ns, end: Ns) {
        self.write.record(end - start);
        self.span(start, end);
    }

    pub(crate) fn span(&mut self, start: Ns, end: Ns) {
        let (first, last) = self.span.unwrap_or((start, end));
        self.span = Some((first.min(start), last.max(end)));
    }
}
