//! Probing: wordlines sensed for their errors.

use crate::base::units::{BlockId, Cause};
use crate::bugs::Bug;
use crate::flash::Flash;
use crate::flash::ops::NandOp;
use crate::flash::rules;
use crate::watch::observer::{NOBODY, PhysRead, ReadResult};

/// What a probe found: the errors of a wordline over those that can be corrected. In this model that is its dose over its limit, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    /// The wordline, numbered within its block.
    pub wordline: u32,
    /// In the same unit; only their ratio is known.
    pub(crate) dose: u64,
    pub(crate) limit: u64,
}

impl Probed {
    /// What is left of this limit when the share that was found is used up, rounded down; below nothing where data is lost.
    pub fn left_of(&self, limit: u64) -> i64 {
        let used = (u128::from(self.dose) * u128::from(limit)).div_ceil(u128::from(self.limit.max(1)));
        limit.cast_signed() - used as i64
    }
}

impl Flash {
    /// Senses wordlines for their errors: once each, on reclaim's account, with the dose of a page kind that takes one sensing.
    pub(crate) fn probe(&mut self, block: BlockId, wordlines: &[u32]) -> Vec<Probed> {
        let (first, bits) = (self.geometry.first_page(block), self.geometry.cell.bits());
        let mut found = Vec::with_capacity(wordlines.len());
        for wordline in wordlines {
            let page = wordline * bits;
            rules::read(first + page, page, &self.hot[block as usize], &self.geometry);
            // The weakest page kind's limit is the wordline's.
            let of_kind = |kind| self.with_block_view(block, |model, view| model.dose_and_limit(view, page + kind));
            let (dose, limit) = (0..bits).map(of_kind).min_by_key(|(_, limit)| *limit).expect("a wordline has pages");
            let dose = if self.bugs.has(Bug::ProbeHalved) { dose / 2 } else { dose };
            found.push(Probed { wordline: *wordline, dose, limit });
            self.counts.reads[Cause::Reclaim as usize] += 1;
            self.count_any_read(first + page);
            if self.bugs.has(Bug::ProbeUncounted) {
                self.wordlines[self.geometry.wordline_of(first + page) as usize].reads -= self.dose[0];
            }
            self.note_read(PhysRead { lpn: NOBODY, ppn: first + page, cause: Cause::Reclaim, result: ReadResult::Good, fill: false });
        }
        self.record(NandOp::Probe { block, wordlines: wordlines.len() as u32 });
        self.ask_model(block);
        found
    }
}
