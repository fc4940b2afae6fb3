//! Record of doses for the results of a run, and the share of a limit at which reclaim acts.

use std::ops::Range;

use vpass_drive::base::codings::{FASTER, FULL};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Ns};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::snapshots::{Bin, DoseRecord, Moment, Recorder, Row, State, wordlines_of};
use crate::stamps::Stamp;
use crate::truth::Truth;

/// Doses of a run.
#[derive(Debug, Default)]
pub(crate) struct DoseWatch {
    /// Record of all blocks, if requested.
    recorder: Option<Box<Recorder>>,
    /// Highest ratio of dose to limit of a block at the start of its reclaim job.
    threshold_used: Option<f64>,
    /// Highest ratio of dose to limit of a used page.
    pub(crate) worst_dose_ratio: f64,
}

impl Oracle {
    /// Records doses from now on. This has no effect on a drive whose reads do not disturb data.
    pub fn record_doses(&mut self) {
        let truth = &self.truth;
        self.record.recorder =
            truth.doses.counts().then(|| Box::new(Recorder::new(&truth.geometry)));
    }

    /// Returns the largest number of bytes that a record of doses needs.
    pub fn memory_of_doses(geometry: &Geometry) -> Bytes {
        Recorder::bytes(geometry)
    }

    /// Returns the highest ratio of dose to limit of a block when a reclaim job began to move or
    /// recode its data. Returns `None` without reclaim jobs, or if reads do not disturb data.
    pub fn threshold_used(&self) -> Option<f64> {
        self.record.threshold_used
    }

    /// Ends the record with the present state of all blocks, at this time in nanoseconds. Returns
    /// `None` unless [`Self::record_doses`] asked for a record.
    pub fn end_record(&mut self, now: Ns) -> Option<DoseRecord> {
        self.record.end(&self.truth, now, self.books.seen.host_read_pages)
    }
}

impl DoseWatch {
    pub(crate) fn is_on(&self) -> bool {
        self.recorder.is_some()
    }

    /// Records the time of the drive.
    pub(crate) fn note_time(&mut self, at: Ns) {
        if let Some(recorder) = &mut self.recorder {
            recorder.now = at;
        }
    }

    pub(crate) fn begin_measured_phase(&mut self, geometry: &Geometry) {
        (self.worst_dose_ratio, self.threshold_used) = (0.0, None);
        if let Some(recorder) = &mut self.recorder {
            recorder.begin(geometry);
        }
    }

    /// Examines a block whose data a job begins to move or recode. The host has read this number of
    /// pages.
    pub(crate) fn look_before_job(
        &mut self,
        truth: &Truth,
        block: BlockId,
        cause: Cause,
        host_reads: u64,
    ) {
        if block.number() >= truth.geometry.blocks || !truth.doses.counts() {
            return;
        }
        if cause == Cause::Reclaim {
            let so_far = self.threshold_used.unwrap_or(0.0);
            let higher = truth.highest_of(block, so_far);
            self.threshold_used = Some(higher.map_or(so_far, |(ratio, _)| ratio));
        }
        self.look(truth, block, host_reads);
    }

    /// Examines a block that is about to be erased.
    pub(crate) fn look_before_erase(&mut self, truth: &Truth, block: BlockId, host_reads: u64) {
        self.look(truth, block, host_reads);
        if let Some(recorder) = &mut self.recorder {
            recorder.erases(block);
        }
    }

    /// Records a read page that may have the highest dose of its block.
    pub(crate) fn record_page(&mut self, truth: &Truth, at: At, host_reads: u64) {
        let Some(recorder) = &self.recorder else { return };
        let so_far = recorder.highest(at.block);
        let stress = truth.doses.stress(&truth.medium, at);
        if !stress.exceeds(so_far) || !truth.counts_for_record(truth.medium.stamp(at)) {
            return;
        }
        let ratio = stress.ratio();
        if recorder.is_a_step(at.block, ratio) {
            self.look(truth, at.block, host_reads);
        } else if let Some(recorder) = &mut self.recorder {
            recorder.notes(at.block, ratio, at.index);
        }
    }

    /// Examines a block if its reads have grown enough.
    #[inline]
    pub(crate) fn look_if_due(&mut self, truth: &Truth, block: BlockId, host_reads: u64) {
        let read = truth.doses.read_of(block).unwrap_or(0);
        if self.recorder.as_ref().is_some_and(|recorder| recorder.is_due(block, read)) {
            self.look(truth, block, host_reads);
        }
    }

    /// Examines all wordlines of a block.
    #[cold]
    #[inline(never)]
    pub(crate) fn look(&mut self, truth: &Truth, block: BlockId, host_reads: u64) {
        let Some(recorder) = &mut self.recorder else { return };
        let mut highest = recorder.looked_at(block);
        if let Some((ratio, wordline)) = truth.highest_of(block, highest) {
            highest = ratio;
            truth.record_highest(recorder, (block, wordline), ratio, host_reads);
        }
        recorder.looked(block, truth.doses.read_of(block).unwrap_or(0), highest);
    }

    fn end(&mut self, truth: &Truth, now: Ns, host_reads: u64) -> Option<DoseRecord> {
        self.note_time(now);
        let mut recorder = self.recorder.take()?;
        let blocks = truth.geometry.block_ids();
        let mut risen: Vec<(BlockId, (f64, u32))> = blocks
            .filter_map(|block| Some((block, truth.highest_of(block, recorder.looked_at(block))?)))
            .collect();
        // The worst block comes first. So no picture is taken that a worse block would replace.
        risen.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
        recorder.ends();
        for (block, (ratio, wordline)) in risen {
            truth.record_highest(&mut recorder, (block, wordline), ratio, host_reads);
        }
        Some(recorder.conclude(|block, bins| truth.fill_bins(block, bins)))
    }
}

impl Truth {
    /// Records the highest ratio of dose to limit of a block at present. The wordline has this
    /// ratio.
    fn record_highest(
        &self,
        recorder: &mut Recorder,
        (block, wordline): (BlockId, u32),
        ratio: f64,
        host_reads: u64,
    ) {
        recorder.notes(block, ratio, wordline);
        if let Some(bins) = recorder.bins(block, ratio) {
            self.fill_bins(block, bins);
        }
        let keeps = recorder.keeps(block, ratio);
        let is_past = ratio > 1.0 && recorder.is_worst(block, ratio);
        if keeps || is_past {
            self.picture(block, &mut recorder.rows);
        }
        if is_past {
            let past = recorder.rows.iter().filter(|row| row.is_past()).count();
            recorder.are_past(block, past as u32);
        }
        if keeps {
            let cycles = self.doses.cycles_of(block);
            recorder.keep(block, Moment { ratio, host_reads, cycles });
        }
    }

    /// Returns the highest ratio of dose to limit among valid and lost pages of a block, with its
    /// wordline, if the ratio is above `floor`.
    fn highest_of(&self, block: BlockId, floor: f64) -> Option<(f64, u32)> {
        let bound = self.doses.bound(block);
        if !bound.exceeds(floor) {
            return None;
        }
        self.highest_in(block, 0..self.geometry.wordlines_per_block, bound.limit, floor)
    }

    /// Returns the same ratio as [`Self::highest_of`] for some wordlines of a block. `least` is the
    /// lowest limit that they may have.
    fn highest_in(
        &self,
        block: BlockId,
        mut wordlines: Range<u32>,
        least: i64,
        floor: f64,
    ) -> Option<(f64, u32)> {
        let (mut highest, mut found) = (floor, None);
        wordlines.end = wordlines.end.min(self.programmed(block));
        while let Some(index) =
            self.doses.next_above(&self.medium, block, wordlines.clone(), least, highest)
        {
            wordlines.start = index + 1;
            let wordline = self.geometry.first_wordline(block) + index;
            let at = At { block, wordline, index, kind: 0 };
            let of_wordline = self.doses.of_wordline(&self.medium, at);
            for kind in 0..self.geometry.cell.bits() {
                let at = At { kind, ..at };
                let ratio = self.doses.of_kind(of_wordline, at).ratio();
                if ratio > highest && self.counts_for_record(self.medium.stamp(at)) {
                    (highest, found) = (ratio, Some((ratio, index)));
                }
            }
        }
        found
    }

    /// Replaces the bins of a block by its present state.
    fn fill_bins(&self, block: BlockId, bins: &mut [Bin]) {
        let (count, all) = (bins.len() as u32, self.geometry.wordlines_per_block);
        let least = self.doses.bound(block).limit;
        for (number, bin) in (0..).zip(bins) {
            let wordlines = wordlines_of(number, count, all);
            // A share of 0 is above this floor.
            let worst = self.highest_in(block, wordlines.clone(), least, -1.0);
            let state = match worst {
                None => State::None,
                Some(_) if self.holds_lost(block, wordlines) => State::Lost,
                Some(_) => State::Data,
            };
            *bin = Bin { worst: worst.map(|(ratio, _)| ratio), state };
        }
    }

    /// Returns whether some of these wordlines of a block hold lost data.
    fn holds_lost(&self, block: BlockId, mut wordlines: Range<u32>) -> bool {
        let first = self.geometry.first_wordline(block);
        self.stamps.any_was_lost()
            && wordlines.any(|index| {
                let mut stamps = self.medium.stamps(first + index);
                stamps.any(|stamp| self.stamps.is_what_was_lost(stamp))
            })
    }

    /// Returns whether a page holds valid or lost data.
    fn counts_for_record(&self, stamp: Stamp) -> bool {
        self.stamps.is_live(stamp) || self.stamps.is_what_was_lost(stamp)
    }

    /// Replaces `rows` by the present state of a block's wordlines.
    fn picture(&self, block: BlockId, rows: &mut Vec<Row>) {
        let programmed = self.programmed(block);
        rows.clear();
        rows.extend((0..self.geometry.wordlines_per_block).map(|index| {
            let wordline = self.geometry.first_wordline(block) + index;
            let at = At { block, wordline, index, kind: 0 };
            let of_wordline = self.doses.of_wordline(&self.medium, at);
            let mode = self.doses.mode_at(at);
            let mut row = Row {
                reads: self.medium.read(wordline),
                dose: if index < programmed { of_wordline.dose } else { 0 },
                limit: of_wordline.limit,
                alpha: self.doses.page(at).alpha as u32,
                group: self.doses.group_of(index) as u8,
                guard_levels: if mode < FASTER { mode } else { FULL },
                valid: 0,
                lost: 0,
            };
            let mut lowest = i64::MAX;
            for (kind, stamp) in (0..).zip(self.medium.stamps(wordline)) {
                let is_valid = self.stamps.is_live(stamp);
                if is_valid || self.stamps.is_what_was_lost(stamp) {
                    row.valid += u8::from(is_valid);
                    row.lost += u8::from(!is_valid);
                    let of_page = self.doses.of_kind(of_wordline, At { kind, ..at });
                    lowest = lowest.min(of_page.limit);
                }
            }
            if row.valid + row.lost > 0 {
                row.limit = lowest;
            }
            row
        }));
    }
}
