//! Doses of whole blocks at their worst moments, for a run's results. The oracle fills the
//! recorder, because only the oracle knows doses.
//!
//! Doses only grow until data moves, so the worst moment of a block comes just before that. The
//! oracle therefore checks all wordlines of a block:
//!
//! - before a job moves or recodes any of it, before its erase, and at the end of the run
//! - at each page that a job reads, and at each page that sets the worst ratio of the run
//! - when the block's reads have grown by 1/`GROWTH`, and by `READS_PER_WORDLINE` for each
//!   wordline, because the host overwrites pages without a notice of their place
//!
//! Such a check compares each wordline that holds valid or lost pages, and allocates no memory. If
//! the block has a new maximum and is among the worst, the recorder keeps a picture of all its
//! wordlines.

mod record;
mod worst;

use std::collections::BTreeSet;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::thinned::Thinned;
use vpass_drive::base::units::{BlockId, Bytes, Ns};

use crate::limits::COUNTED_UNIT;
pub(crate) use record::Row;
pub(crate) use record::wordlines_of;
pub use record::{Bin, BlockDoses, BlockMap, DoseRecord, Snapshot, State, WordlineDose};
use worst::Worst;

/// Number of blocks with bins.
const MAPPED: usize = 500;
/// Largest number of bins of a block.
const BINS: u32 = 128;
/// Number of wordlines in whole pictures, over all blocks: rows of a table of some 2 MB.
pub const ROWS: usize = 16_000;
/// Largest number of logged erases.
pub const ERASURES: usize = 2000;
/// Growth of a block's reads until its next check: one part in this number.
const GROWTH: u64 = 32;
/// Smallest number of reads for each wordline between two checks. A check takes about one hundredth
/// of the time of these reads.
const READS_PER_WORDLINE: u64 = 8;
/// Growth of a block's maximum by a single page that makes a check of the whole block worth its
/// time: 1 % of the limit.
const STEP: f64 = 0.01;

/// Maxima of a block so far.
#[derive(Clone, Copy, Debug)]
struct Course {
    /// Highest ratio of dose to limit since the block's erase.
    cycle: f64,
    /// Highest ratio of dose to limit since the measured phase began.
    worst: f64,
    /// Highest ratio of dose to limit since the erase, as found by a check of all wordlines.
    looked: f64,
    /// Time of the worst moment.
    at: Ns,
    /// Wordline of the worst moment, and wordlines past their limit then.
    wordline: u32,
    past: u32,
    erases: u32,
    /// Highest [`Self::cycle`] at an erase.
    at_erase: f64,
}

impl Course {
    const NEW: Self = Self {
        cycle: 0.0,
        worst: 0.0,
        looked: 0.0,
        at: 0,
        wordline: 0,
        past: 0,
        erases: 0,
        at_erase: 0.0,
    };
}

/// Picture of a block's wordlines.
#[derive(Debug, Default)]
struct Picture {
    at: Ns,
    host_reads: u64,
    cycles: u32,
    rows: Vec<Row>,
}

/// Moment of a picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// Highest ratio of dose to limit of a wordline with valid or lost pages.
    pub(crate) ratio: f64,
    /// Pages that the host has read.
    pub(crate) host_reads: u64,
    /// P/E cycles of the block.
    pub(crate) cycles: u32,
}

/// Recorder of doses: scalars of all blocks, bins of [`MAPPED`] blocks, and pictures of the worst.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// Time of the drive.
    pub(crate) now: Ns,
    /// Dose of each block at its next check, in quarters of a dose unit.
    next: Vec<u64>,
    courses: Vec<Course>,
    maps: Worst<Vec<Bin>>,
    pictures: Worst<Picture>,
    /// Share used at each logged erase.
    shares: Thinned<f64>,
    /// Wordlines of the block that is being checked.
    pub(crate) rows: Vec<Row>,
    wordlines: u32,
    /// Whether the run has ended. Pictures show the end then.
    has_ended: bool,
    /// Blocks whose bins show the end.
    at_end: BTreeSet<BlockId>,
}

impl Recorder {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let blocks = geometry.blocks as usize;
        Self {
            now: 0,
            next: vec![spacing(geometry.wordlines_per_block); blocks],
            courses: vec![Course::NEW; blocks],
            maps: Worst::new(MAPPED, blocks),
            pictures: Worst::new(whole_blocks(geometry), blocks),
            shares: Thinned::new(ERASURES),
            rows: Vec::with_capacity(geometry.wordlines_per_block as usize),
            wordlines: geometry.wordlines_per_block,
            has_ended: false,
            at_end: BTreeSet::new(),
        }
    }

    /// Returns the largest number of bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> Bytes {
        let (blocks, wordlines) = (geometry.blocks as usize, geometry.wordlines_per_block as usize);
        let each = size_of::<u64>() + size_of::<Course>() + 2 * Worst::<Picture>::BYTES_EACH;
        let bins = MAPPED.min(blocks) * BINS as usize * size_of::<Bin>();
        let rows = (whole_blocks(geometry).min(blocks) + 1) * wordlines * size_of::<Row>();
        Bytes((blocks * each + bins + rows) as u64)
    }

    /// Begins the measured phase, and forgets everything before it.
    pub(crate) fn begin(&mut self, geometry: &Geometry) {
        *self = Self { now: self.now, ..Self::new(geometry) };
    }

    /// Returns whether a block with this dose, in quarters, is due for a check.
    #[inline]
    pub(crate) fn is_due(&self, block: BlockId, read: u64) -> bool {
        read >= self.next[block.index()]
    }

    /// Notes that all wordlines of a block with this dose, in quarters, have been checked.
    /// `highest` is their highest ratio of dose to limit since the erase.
    pub(crate) fn looked(&mut self, block: BlockId, read: u64, highest: f64) {
        self.courses[block.index()].looked = highest;
        self.next[block.index()] = read + spacing(self.wordlines).max(read / GROWTH);
    }

    /// Returns the block's highest ratio of dose to limit since its erase.
    #[inline]
    pub(crate) fn highest(&self, block: BlockId) -> f64 {
        self.courses[block.index()].cycle
    }

    /// Returns the highest ratio of dose to limit since the erase, as found by a check of all
    /// wordlines.
    pub(crate) fn looked_at(&self, block: BlockId) -> f64 {
        self.courses[block.index()].looked
    }

    /// Notes a ratio of dose to limit of a block, and its wordline.
    pub(crate) fn notes(&mut self, block: BlockId, ratio: f64, wordline: u32) {
        let course = &mut self.courses[block.index()];
        course.cycle = course.cycle.max(ratio);
        if ratio > course.worst {
            (course.worst, course.at, course.wordline) = (ratio, self.now, wordline);
        }
    }

    /// Returns whether this ratio of dose to limit is the highest of the block so far.
    pub(crate) fn is_worst(&self, block: BlockId, ratio: f64) -> bool {
        ratio >= self.courses[block.index()].worst
    }

    /// Notes the number of a block's wordlines that are past their limit at its worst moment.
    pub(crate) fn are_past(&mut self, block: BlockId, wordlines: u32) {
        self.courses[block.index()].past = wordlines;
    }

    /// Returns whether this ratio of dose to limit of a single page is worth a check of its whole
    /// block.
    pub(crate) fn is_a_step(&self, block: BlockId, ratio: f64) -> bool {
        let looked = self.courses[block.index()].looked;
        ratio > looked + STEP * looked.max(1.0)
    }

    /// Returns whether a block with this ratio of dose to limit is among the worst blocks. The
    /// recorder then keeps a picture of all its wordlines.
    pub(crate) fn keeps(&self, block: BlockId, ratio: f64) -> bool {
        self.pictures.takes(block, ratio)
    }

    /// Returns the bins of a block, for the caller to replace; `None` if the recorder keeps no bins
    /// of this block.
    pub(crate) fn bins(&mut self, block: BlockId, ratio: f64) -> Option<&mut Vec<Bin>> {
        let bins = self.maps.place(block, ratio)?;
        if self.has_ended {
            self.at_end.insert(block);
        }
        bins.resize(bin_count(self.wordlines) as usize, Bin::EMPTY);
        Some(bins)
    }

    /// Keeps a picture of a block: [`Self::rows`] at this moment.
    pub(crate) fn keep(&mut self, block: BlockId, moment: Moment) {
        let Moment { ratio, host_reads, cycles } = moment;
        if let Some(picture) = self.pictures.place(block, ratio) {
            (picture.at, picture.host_reads, picture.cycles) = (self.now, host_reads, cycles);
            picture.rows.clear();
            picture.rows.extend_from_slice(&self.rows);
        }
    }

    /// Notes the erase of a block that has just been checked.
    pub(crate) fn erases(&mut self, block: BlockId) {
        let course = &mut self.courses[block.index()];
        let share = std::mem::take(&mut course.cycle);
        course.looked = 0.0;
        course.erases += 1;
        course.at_erase = course.at_erase.max(share);
        self.next[block.index()] = spacing(self.wordlines);
        self.shares.note(|| share);
    }

    /// Ends the run. All later pictures show the same moment.
    pub(crate) fn ends(&mut self) {
        self.has_ended = true;
    }

    /// Returns the record. `end` gives the bins of a block at the end of the run.
    pub(crate) fn conclude(mut self, end: impl Fn(BlockId, &mut [Bin])) -> DoseRecord {
        let pictures = std::mem::take(&mut self.pictures).sorted();
        let maps = std::mem::take(&mut self.maps).sorted();
        let maps = maps.into_iter().map(|(block, _, bins)| {
            let mut at_end = bins.clone();
            if !self.at_end.contains(&block) {
                end(block, &mut at_end);
            }
            let at_end = at_end.iter().map(|bin| bin.worst).collect();
            BlockMap { block, wordlines: self.wordlines, bins, at_end }
        });
        let maps = maps.collect();
        let snapshots = pictures.into_iter().map(|(block, _, picture)| Snapshot {
            block,
            at: picture.at,
            host_reads: picture.host_reads,
            cycles: picture.cycles,
            wordlines: picture.rows.iter().map(WordlineDose::of).collect(),
        });
        let blocks = self.courses.iter().map(|course| BlockDoses {
            worst: course.worst,
            wordline: (course.worst > 0.0).then_some(course.wordline),
            at: course.at,
            past_limit: course.past,
            erases: course.erases,
            share_at_erase: (course.erases > 0).then_some(course.at_erase),
        });
        DoseRecord {
            snapshots: snapshots.collect(),
            blocks: blocks.collect(),
            maps,
            shares: self.shares,
        }
    }
}

/// Returns the number of blocks for which the recorder keeps every wordline.
fn whole_blocks(geometry: &Geometry) -> usize {
    (ROWS / geometry.wordlines_per_block as usize).max(1)
}

/// Returns the smallest dose between two checks of a block, in quarters of a dose unit.
fn spacing(wordlines: u32) -> u64 {
    u64::from(wordlines) * READS_PER_WORDLINE * COUNTED_UNIT
}

/// Number of bins of a block of this many wordlines.
fn bin_count(wordlines: u32) -> u32 {
    wordlines.min(BINS)
}

#[cfg(test)]
mod tests;
