//! Probing: wordlines sensed for their errors.

use crate::base::units::{BlockId, Cause, WordlineInBlock};
use crate::flash::ops::NandOp;
use crate::flash::rules;
use crate::flash::{Flash, Probed};
use crate::watch::observer::{NO_OWNER, PhysRead};

impl Flash {
    /// Senses wordlines once each to count their errors. These are reads of reclaim, with the dose
    /// of a page kind that takes one sensing.
    pub(crate) fn probe(&mut self, block: BlockId, wordlines: &[WordlineInBlock]) -> Vec<Probed> {
        let (first, bits) = (self.geometry.first_page(block), self.geometry.cell.bits());
        let mut found = Vec::with_capacity(wordlines.len());
        for wordline in wordlines {
            let coding = *self.geometry.codings.row(self.coding_of(block, *wordline));
            let page = wordline.first_page(bits) + coding.kept.trailing_zeros();
            rules::read(first + page, &self.hot[block.index()], &self.geometry);
            // The limit of the weakest page kind is the limit of the wordline.
            let of_kind = |kind| {
                let page = wordline.first_page(bits) + kind;
                self.with_block_view(block, |model, view| {
                    (model.dose(view, page), model.limit_to_keep(view, page))
                })
            };
            let kinds = (0..bits).filter(|kind| coding.keeps(*kind));
            let (dose, limit) =
                kinds.map(of_kind).min_by_key(|(_, limit)| *limit).expect("a wordline has pages");
            found.push(Probed { wordline: *wordline, dose, limit });
            self.counts.reads[Cause::Reclaim as usize] += 1;
            self.count_any_read(first + page);
            self.note_read(PhysRead::good(NO_OWNER, first + page, Cause::Reclaim));
        }
        self.record(NandOp::Probe { block, wordlines: wordlines.len() as u32 });
        self.ask_model(block);
        self.touch(block);
        found
    }
}
