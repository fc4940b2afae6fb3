//! Examines blocks for the record of doses, and for the share of a limit at which reclaim acts.

use std::ops::Range;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Ns};

use crate::codings::has_guard_levels;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::snapshots::{Bin, DoseRecord, Moment, Recorder, Row, State, wordlines_of};
use crate::stamps::Stamp;

impl Oracle {
    /// Records doses from now on. This has no effect on a drive whose reads do not disturb data.
    pub fn record_doses(&mut self) {
        self.recorder = self.doses.counts().then(|| Box::new(Recorder::new(&self.geometry)));
    }

    /// Returns the largest number of bytes that a record of doses needs.
    pub fn memory_of_doses(geometry: &Geometry) -> Bytes {
        Recorder::bytes(geometry)
    }

    /// Returns the highest ratio of dose to limit of a block when a reclaim job began to move or
    /// recode its data. Returns `None` without reclaim jobs, or if reads do not disturb data.
    pub fn threshold_used(&self) -> Option<f64> {
        self.threshold_used
    }

    /// Records the time of the drive.
    pub(crate) fn note_time(&mut self, at: Ns) {
        if let Some(recorder) = &mut self.recorder {
            recorder.now = at;
        }
    }

    /// Examines a block whose data a job begins to move or recode.
    pub(crate) fn look_before_job(&mut self, block: BlockId, cause: Cause) {
        if block.number() >= self.geometry.blocks || !self.doses.counts() {
            return;
        }
        if cause == Cause::Reclaim {
            let so_far = self.threshold_used.unwrap_or(0.0);
            let higher = self.highest_of(block, so_far);
            self.threshold_used = Some(higher.map_or(so_far, |(ratio, _)| ratio));
        }
        self.look_for_record(block);
    }

    /// Examines a block that is about to be erased.
    pub(crate) fn look_before_erase(&mut self, block: BlockId) {
        self.look_for_record(block);
        if let Some(recorder) = &mut self.recorder {
            recorder.erases(block);
        }
    }

    /// Records a read page that may have the highest dose of its block.
    pub(crate) fn record_page(&mut self, at: At) {
        let Some(recorder) = &self.recorder else { return };
        let so_far = recorder.highest(at.block);
        let truth = self.doses.truth(&self.medium, at);
        if !truth.exceeds(so_far) || !self.counts_for_record(self.medium.stamp(at)) {
            return;
        }
        let ratio = truth.ratio();
        if recorder.is_a_step(at.block, ratio) {
            self.look_for_record(at.block);
        } else if let Some(recorder) = &mut self.recorder {
            recorder.notes(at.block, ratio, at.index);
        }
    }

    /// Examines a block if its reads have grown enough.
    #[inline]
    pub(crate) fn look_if_due(&mut self, block: BlockId) {
        let read = self.doses.read_of(block).unwrap_or(0);
        if self.recorder.as_ref().is_some_and(|recorder| recorder.is_due(block, read)) {
            self.look_for_record(block);
        }
    }

    /// Examines all wordlines of a block.
    #[cold]
    #[inline(never)]
    pub(crate) fn look_for_record(&mut self, block: BlockId) {
        let Some(mut recorder) = self.recorder.take() else { return };
        let mut highest = recorder.looked_at(block);
        if let Some((ratio, wordline)) = self.highest_of(block, highest) {
            highest = ratio;
            self.record_highest(&mut recorder, block, ratio, wordline);
        }
        recorder.looked(block, self.doses.read_of(block).unwrap_or(0), highest);
        self.recorder = Some(recorder);
    }

    /// Records the highest ratio of dose to limit of a block at present. `wordline` has this ratio.
    fn record_highest(&self, recorder: &mut Recorder, block: BlockId, ratio: f64, wordline: u32) {
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
            let host_reads = self.seen.host_read_pages;
            let cycles = self.doses.cycles_of(block);
            recorder.keep(block, Moment { ratio, host_reads, cycles });
        }
    }

    /// Ends the record with the present state of all blocks, at this time in nanoseconds. Returns
    /// `None` unless [`Self::record_doses`] asked for a record.
    pub fn end_record(&mut self, now: Ns) -> Option<DoseRecord> {
        self.note_time(now);
        let mut recorder = self.recorder.take()?;
        let blocks = self.geometry.block_ids();
        let mut risen: Vec<(BlockId, (f64, u32))> = blocks
            .filter_map(|block| Some((block, self.highest_of(block, recorder.looked_at(block))?)))
            .collect();
        // The worst block comes first. So no picture is taken that a worse block would replace.
        risen.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
        recorder.ends();
        for (block, (ratio, wordline)) in risen {
            self.record_highest(&mut recorder, block, ratio, wordline);
        }
        Some(recorder.conclude(|block, bins| self.fill_bins(block, bins)))
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
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits());
        wordlines.end = wordlines.end.min(programmed);
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
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits());
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
                guard_levels: if has_guard_levels(mode) { mode } else { 0 },
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
