//! The read-hot identifier (ipr-2018 III-B). It first finds blocks that are read often, and then
//! the pages in them that are read most. These read-hot pages get blocks of their own.
//!
//! If a regular block reaches its limit sooner than the average block, its data moves to a monitor
//! block. A monitor block has a read counter for each page. When a monitor block reaches its limit,
//! pages with more reads than its average page are read-hot. When GC moves the data of any block,
//! that data becomes regular again.
//!
//! ```text
//! 40 blocks; after 2,000 page operations of the host the fourth refresh: B_avg = 2,000 x 40 / 4 = 20,000; the block was opened at 500:
//! 1,500 < 20,000, so its data goes to a monitor block
//! its four valid pages are read 5, 1, 9, 1 times until its limit: P_avg = 4, the first and the third are read-hot
//! ```

use super::super::block::{ALL_KINDS, Block, Work};
use super::super::promise::Budget;
use super::super::{FIRST_OWN, FULL, GUARDED, Policy, Rewrite, StreamSpec, Threshold, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::streams::RECLAIM;
use vpass_drive::base::units::{BlockId, Bytes, Cause, PageInBlock, Reads, StreamId};
use vpass_drive::config::{DriveConfig, IntervalAverage};

/// Stream of monitor blocks, in which the reads of each page are counted.
pub(crate) const MONITOR: StreamId = FIRST_OWN;
/// Stream of read-hot pages. The kind of its blocks depends on the technique.
pub(crate) const HOT: StreamId = FIRST_OWN + 1;
/// Number of streams that read-hot techniques have: monitor blocks and read-hot pages.
pub(crate) const OWN: u32 = 2;

pub(crate) struct ReadHot {
    block: Block,
    /// Dose that merging a wordline adds, in dose units, rounded up. It includes the reads for the
    /// backup.
    merging: f64,
    /// Value of the techniques' clock when each block was opened. For a block that a reclaim job
    /// filled, this is the time of that job.
    opened_at: Vec<u64>,
    intervals: Average,
    monitors: u32,
    most_monitors: u32,
    /// Number of blocks that stayed regular because all monitor blocks were in use.
    unmonitored: u64,
    /// Numbers of blocks erased after reclaim, one for each kind: regular, monitor, read-hot,
    /// low-density.
    refreshed: [u64; 4],
}

impl ReadHot {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let geometry = Geometry::new(config);
        Self {
            block: Block::new(config),
            merging: Block::merging(config),
            opened_at: vec![0; geometry.blocks as usize],
            intervals: Average {
                how: config.density.interval_average,
                blocks: f64::from(geometry.blocks),
                refreshes: 0,
                count: 0,
                mean: 0.0,
            },
            monitors: 0,
            most_monitors: (config.density.monitor * f64::from(geometry.blocks)) as u32,
            unmonitored: 0,
            refreshed: [0; 4],
        }
    }

    /// Returns the two streams of a read-hot technique: the stream of monitor blocks, and `hot`,
    /// the stream of read-hot pages.
    pub(crate) fn streams(hot: StreamSpec) -> Vec<StreamSpec> {
        vec![
            StreamSpec {
                purpose: "monitor",
                mode: 0,
                pool: false,
                most_pages: None,
                counts_pages: true,
            },
            hot,
        ]
    }

    /// Records that a block is about to be opened for writing.
    pub(crate) fn opened(&mut self, view: &View, block: BlockId) {
        self.opened_at[block.index()] = view.clock();
        self.monitors += u32::from(view.stream(block) == MONITOR);
    }

    /// Records that a block is about to be erased.
    pub(crate) fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        let kind = match view.stream(block) {
            _ if view.mode(block) > 0 => 3,
            HOT => 2,
            MONITOR => 1,
            _ => 0,
        };
        self.refreshed[kind] += u64::from(cause == Cause::Reclaim);
        self.monitors -= u32::from(view.stream(block) == MONITOR);
    }

    /// Returns the read count at which all data of a block must move.
    pub(crate) fn threshold(&self, view: &View, block: BlockId) -> Reads {
        let work = Work {
            mode: view.mode(block),
            units_per_wordline: f64::from(view.geometry.cell.bits()),
        };
        self.block
            .threshold_for(view, view.pec(block), ALL_KINDS, work)
            .map_or(Reads::NEVER, |(reads, _)| Reads(reads))
    }

    /// Returns the read count at which the reprogramming of a full-density block must begin.
    pub(crate) fn merging_threshold(&self, view: &View, block: BlockId) -> Reads {
        let work = Work { mode: FULL, units_per_wordline: self.merging };
        self.block
            .threshold_for(view, view.pec(block), ALL_KINDS, work)
            .map_or(Reads::NEVER, |(reads, _)| Reads(reads))
    }

    /// Returns the budgets that [`Self::threshold`] reserves for full-density blocks.
    pub(crate) fn budgets(&self, view: &View, pec: u32) -> Vec<Budget> {
        self.block.budgets(
            view,
            pec,
            Work { mode: FULL, units_per_wordline: f64::from(view.geometry.cell.bits()) },
        )
    }

    /// Returns the budgets that [`Self::merging_threshold`] reserves.
    pub(crate) fn merging_budgets(&self, view: &View, pec: u32) -> Vec<Budget> {
        self.block.budgets(view, pec, Work { mode: FULL, units_per_wordline: self.merging })
    }

    /// Returns whether it is useful to reprogram a block now. Under its new limits, the block must
    /// be able to serve more reads after the job.
    pub(crate) fn gains(&self, view: &View, block: BlockId) -> bool {
        let work = Work { mode: GUARDED, units_per_wordline: f64::from(view.geometry.cell.bits()) };
        let job = self.merging * f64::from(view.geometry.wordlines_per_block);
        let after = f64::from(Self::deadline(view, block).0) + job;
        self.block
            .threshold_for(view, view.pec(block), ALL_KINDS, work)
            .is_none_or(|(reads, _)| after < f64::from(reads))
    }

    /// Returns the read count by which a job that is requested now must be done.
    pub(crate) fn deadline(view: &View, block: BlockId) -> Reads {
        Reads(view.reads(block).0.saturating_add(view.late_reads.max(1)))
    }

    /// Returns the rewrite of a regular or a monitor block that has reached its limit. Read-hot
    /// pages of the block go to the stream `hot`.
    pub(crate) fn refresh(&mut self, view: &View, block: BlockId, hot: StreamId) -> Rewrite {
        let opened_at = self.opened_at[block.index()];
        let interval = view.is_timed(opened_at).then(|| (view.clock() - opened_at) as f64);
        let average = self.intervals.note(interval, view.clock());
        if view.stream(block) == MONITOR {
            return Rewrite::divide(block, read_hot_pages(view, block), hot, RECLAIM);
        }
        if interval.is_none_or(|interval| interval >= average) {
            return Rewrite::all(block);
        }
        if self.monitors >= self.most_monitors {
            self.unmonitored += 1;
            return Rewrite::all(block);
        }
        Rewrite::all_to(block, MONITOR)
    }

    /// Returns the threshold at which a read-hot block is reprogrammed. `vpass explain` prints it.
    pub(crate) fn explain_merging(&self, view: &View, pec: u32) -> Option<Threshold> {
        let work = Work { mode: FULL, units_per_wordline: self.merging };
        let (reads, terms) = self.block.threshold_for(view, pec, ALL_KINDS, work)?;
        Some(Threshold {
            name: "read-hot block reprogrammed".into(),
            reads,
            because: self.block.because(view, &terms),
        })
    }

    /// Returns counts for the results, each with its name.
    pub(crate) fn counts(&self) -> Vec<(&'static str, u64)> {
        let [regular, monitor, hot, low] = self.refreshed;
        vec![
            ("refreshed_regular", regular),
            ("refreshed_monitor", monitor),
            ("refreshed_read_hot", hot),
            ("refreshed_low_density", low),
            ("unmonitored", self.unmonitored),
        ]
    }

    /// Returns the RAM of the read-hot identifier (III-E). Each block takes 4 bytes for its reads
    /// and 4 bytes for its refresh time. Each page of a monitor block takes 2 bytes.
    pub(crate) fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(
            8 * u64::from(geometry.blocks)
                + 2 * u64::from(self.most_monitors) * u64::from(geometry.pages_per_block),
        )
    }

    /// Returns the thresholds that `vpass explain` prints.
    pub(crate) fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let mut thresholds = self.block.explain(view, pec);
        let work = Work { mode: GUARDED, units_per_wordline: f64::from(view.geometry.cell.bits()) };
        if view.geometry.cell.bits() > 1
            && let Some((reads, terms)) = self.block.threshold_for(view, pec, ALL_KINDS, work)
        {
            let because = self.block.because(view, &terms);
            thresholds.push(Threshold {
                name: "low-density block rewritten".into(),
                reads,
                because,
            });
        }
        thresholds
    }
}

/// Returns the valid pages of a block that were read more often than its average valid page.
fn read_hot_pages(view: &View, block: BlockId) -> PageSet {
    let valid = || {
        PageInBlock::all()
            .zip(view.page_reads(block))
            .filter(|(page, _)| view.is_valid_page(block, *page))
    };
    let (pages, reads) =
        valid().fold((0, 0), |(pages, sum), (_, reads)| (pages + 1, sum + u64::from(*reads)));
    let mut hot = PageSet::none(view.geometry.pages_per_block);
    for (page, read) in valid() {
        if u64::from(*read) * pages > reads {
            hot.insert(page, 1);
        }
    }
    hot
}

/// Average time between two reclaim jobs of a block.
struct Average {
    how: IntervalAverage,
    blocks: f64,
    refreshes: u64,
    /// Number of intervals that the mean contains.
    count: u64,
    mean: f64,
}

impl Average {
    /// Records a reclaim job that begins now, with the time since the block was opened, if this is
    /// known. Returns the average with which this time must be compared. For the first job, the
    /// average is 0, so the time is not below the average.
    fn note(&mut self, interval: Option<f64>, now: u64) -> f64 {
        let before = if self.count == 0 { 0.0 } else { self.mean };
        self.refreshes += 1;
        self.count += u64::from(interval.is_some());
        let weight = match self.how {
            IntervalAverage::Blocks => return now as f64 * self.blocks / self.refreshes as f64,
            IntervalAverage::Refreshes => self.count,
            IntervalAverage::Recent(n) => self.count.min(n.into()),
        };
        if let Some(interval) = interval {
            self.mean += (interval - self.mean) / weight as f64;
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, block_of, one_plane, row};
    use vpass_drive::base::units::Lpn;

    fn averages(how: IntervalAverage) -> [u64; 4] {
        let mut average = Average { how, blocks: 40.0, refreshes: 0, count: 0, mean: 0.0 };
        [(100.0, 500), (300.0, 1000), (120.0, 1500), (0.0, 2000)]
            .map(|(interval, now)| average.note(Some(interval), now) as u64)
    }

    #[test]
    fn the_average_is_over_all_blocks_or_all_refreshes_or_the_last_ones_mostly() {
        assert_eq!(averages(IntervalAverage::Blocks), [20_000; 4]);
        assert_eq!(averages(IntervalAverage::Refreshes)[..3], [0, 100, 200]);
        assert_eq!(averages(IntervalAverage::Recent(2)), [0, 100, 200, 160]);
    }

    #[test]
    fn an_interval_that_nobody_timed_is_a_refresh_and_in_no_mean() {
        let after_one = |how| {
            let mut average = Average { how, blocks: 40.0, refreshes: 0, count: 0, mean: 0.0 };
            average.note(None, 500);
            average.note(Some(100.0), 1000);
            average.note(Some(300.0), 1500) as u64
        };
        let all = [IntervalAverage::Blocks, IntervalAverage::Refreshes, IntervalAverage::Recent(8)];
        assert_eq!(all.map(after_one), [20_000, 100, 100]);
    }

    /// Blocks have four pages, and `T = 20 - 4 = 16`. The first 16 reads move a block's pages to a
    /// monitor block, and the next 16 reads divide the monitor block.
    #[test]
    fn pages_read_more_than_the_average_page_are_read_hot() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            disturb = { model = "count", table = [{ pec = 0, limit = [20] }] }
            start = { overwrite = 0 }
        "#;
        let mut drive = testing::drive(text, "redftl");
        drive.begin_measurement();
        (0..16).for_each(|_| drive.read_pages(&[Lpn::new(0)]));
        let monitor = block_of(&drive, Lpn::new(0));
        for (page, times) in [(0, 5), (1, 1), (2, 9), (3, 1)] {
            assert_eq!(block_of(&drive, Lpn::from_index(page)), monitor);
            (0..times).for_each(|_| drive.read_pages(&[Lpn::from_index(page)]));
        }
        let [first, second, third, fourth] =
            [0, 1, 2, 3].map(|page| block_of(&drive, Lpn::new(page)));
        assert!(
            first == third && second == fourth && first != second,
            "{first} {second} {third} {fourth}"
        );
        assert_eq!(row(&drive, first).valid, 2, "the read-hot ones are by themselves");
    }

    /// Every read goes to the first page. Its block reaches its limit after at most 976 reads.
    #[test]
    fn a_block_that_begins_with_reads_is_not_monitored_before_its_second_refresh() {
        let monitored = |start: &str, refreshes: u64| {
            let mut drive = one_plane("ipr", &format!("start = {{ overwrite = 0, {start} }}"));
            drive.begin_measurement();
            while drive.flash_counts().erases[Cause::Reclaim as usize] < refreshes {
                drive.read_pages(&[Lpn::new(0)]);
            }
            row(&drive, block_of(&drive, Lpn::new(0))).stream == MONITOR
        };
        assert!(monitored("reads = 0", 1));
        assert!(!monitored("reads = 900", 1) && monitored("reads = 900", 2));
    }
}
