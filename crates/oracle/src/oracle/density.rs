//! Checks blocks and wordlines that hold fewer pages than they could. A merge may give up only
//! pages without valid data. Limits change only if every wordline with data is merged.

use vpass_drive::base::units::{BlockId, Ppn};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::Stamp;

impl Oracle {
    /// Records that an erased block will be written in this mode.
    pub(crate) fn opened_in_mode(&mut self, block: BlockId, mode: u8) {
        let checked = self.truth.protocol.open(block, mode);
        let right = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        if right {
            self.take_away(
                block,
                self.truth.geometry.codings.given_up(mode)
                    * self.truth.geometry.wordlines_per_block,
            );
            self.truth.doses.set_mode(block, mode);
        }
    }

    /// Records that a wordline lost the pages that a mode gives up. The wordline is numbered within
    /// its block.
    pub(crate) fn merged_wordline(&mut self, block: BlockId, wordline: u32, mode: u8) {
        if !self.check_block(block, "merge") {
            return;
        }
        if wordline >= self.truth.geometry.wordlines_per_block {
            return self.findings.add(Kind::Protocol, || {
                format!("merge of wordline {wordline} of block {block}, which does not exist")
            });
        }
        let checked = self.truth.protocol.merge(block, wordline, mode);
        let right = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        let (first, bits) =
            (self.truth.geometry.first_wordline(block) + wordline, self.truth.geometry.cell.bits());
        // An adjustment needs the content of all pages, so every page must have been sensed before.
        let codings = &self.truth.geometry.codings;
        if !codings.has(mode) {
            return;
        }
        let is_unknown = |kind: &u32| {
            self.adjusted.is_one(mode)
                && codings.row(mode).keeps(*kind)
                && !self.books.density.has_sensed(first, *kind)
        };
        let gone: Vec<u32> =
            codings.kinds_given_up(mode).chain((0..bits).filter(is_unknown)).collect();
        self.check_not_needed(
            gone.iter().map(|kind| Ppn::new(first * bits + kind)),
            "is removed by a merge",
        );
        self.forget(block, wordline, gone.into_iter(), "a merge removed");
        if self.truth.protocol.is_full(block) {
            if right {
                self.check_sensed(block, wordline, mode);
            }
            self.truth.doses.reprogram(
                &mut self.truth.medium,
                block,
                self.truth.geometry.first_wordline(block) + wordline,
            );
        }
    }

    /// Records that a merged wordline has the limits of this mode from now on.
    pub(crate) fn recoded_wordline(&mut self, block: BlockId, wordline: u32, mode: u8) {
        let checked = self.truth.protocol.recode_wordline(block, wordline, mode);
        let right = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        if right {
            self.take_away(block, self.truth.geometry.codings.kept_away(mode));
            // Limits grow, so losses under the old limits must be explained now.
            self.settle_block(block);
            self.truth.doses.recode_wordline(block, wordline, mode);
            self.truth.doses.note_reprogramming(block);
            self.adjusted_wordline(block, wordline, mode);
        }
    }

    /// Records that a block has the limits of this mode from now on.
    pub(crate) fn recoded_block(&mut self, block: BlockId, mode: u8) {
        let checked = self.truth.protocol.recode(block, mode);
        let right = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        if !right {
            return;
        }
        self.books.density.reprogram();
        self.count_low_density(block);
        self.take_away(block, self.pages_gone(block, mode));
        // A partly written wordline does not have the limits of the mode.
        let (written, kinds) =
            (self.truth.protocol.written(block), self.truth.geometry.cell.bits());
        let part = Ppn::new((self.truth.geometry.first_wordline(block) + written / kinds) * kinds);
        self.check_not_needed(part.run(written % kinds), "has no guard levels after reprogramming");
        self.forget(block, written / kinds, 0..written % kinds, "reprogramming lost");
        // Limits grow, so losses under the old limits must be explained now.
        self.settle_block(block);
        self.truth.doses.set_mode(block, mode);
        self.truth.doses.note_reprogramming(block);
    }

    /// Forgets the content of these page kinds of a wordline. Reports each page that the host can
    /// still read there.
    fn forget(&mut self, block: BlockId, index: u32, kinds: impl Iterator<Item = u32>, how: &str) {
        let wordline = self.truth.geometry.first_wordline(block) + index;
        for kind in kinds {
            let at = At { block, wordline, index, kind };
            let stamp = self.truth.medium.stamp(at);
            if self.truth.stamps.is_live(stamp) {
                let place = self.truth.place_at(at);
                self.findings.add(Kind::Stamp, || {
                    format!("{how} {}, the newest data of the page, at {place}", stamp.words())
                });
            }
            self.truth.medium.set_stamp(at, Stamp::DEAD);
        }
    }
}
