//! Checks the end of a run. It looks for unread and unreported pages past their limit, and for
//! reported losses that no read had shown.

use std::collections::BTreeSet;

use vpass_drive::base::units::{BlockId, Ppn};

use crate::doses::Truth;
use crate::endurance::UNIT;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::{Findings, Kind, OracleReport};
use crate::stamps::Stamp;

impl Oracle {
    /// Returns the verdict as if the run ended now. It does not change the oracle, and may be
    /// called more than once.
    pub fn finish(&self) -> OracleReport {
        let mut findings = self.findings.clone();
        let mut unseen = self.unseen_losses.clone();
        if self.is_full() {
            findings.note(Kind::Limit, self.doses.check_noise());
        }
        let mut tally = self.tally();
        for block in self.geometry.block_ids() {
            self.settle_losses(block, &mut unseen, |_| ());
            self.scan(block, "at the end", &mut findings, &mut tally.worst_dose_ratio);
        }
        for stamp in unseen {
            findings.add(Kind::FalseLoss, || {
                format!(
                    "lpn {} was reported lost, but no page with its data is past its limit",
                    stamp.lpn
                )
            });
        }
        OracleReport::new(&findings, tally)
    }

    /// Removes the reported losses that this block explains. A loss is explained if a page with the
    /// lost data is past its limit, or within rounding of it. `found` receives the page.
    pub(crate) fn settle_losses(
        &self,
        block: BlockId,
        unseen: &mut BTreeSet<Stamp>,
        mut found: impl FnMut(At),
    ) {
        if unseen.is_empty() {
            return;
        }
        self.each_wordline(block, |wordline, of_wordline| {
            for (kind, stamp) in (0..).zip(self.medium.stamps(wordline)) {
                let at = At {
                    block,
                    wordline,
                    index: wordline - self.geometry.first_wordline(block),
                    kind,
                };
                let truth = self.doses.of_kind(of_wordline, at);
                if self.doses.may_be_lost(&self.medium, at, truth)
                    && unseen.remove(&stamp.undamaged())
                {
                    found(at);
                }
            }
        });
    }

    /// Settles the unread losses that this block explains, before the block changes.
    pub(crate) fn settle_block(&mut self, block: BlockId) {
        let mut unseen = std::mem::take(&mut self.unseen_losses);
        let before = unseen.len();
        self.settle_losses(block, &mut unseen, |_| ());
        self.causes.lose_unread(before - unseen.len());
        self.unseen_losses = unseen;
    }

    pub(crate) fn scan(
        &self,
        block: BlockId,
        when: &str,
        findings: &mut Findings,
        worst: &mut f64,
    ) {
        // Almost all blocks were read so little that none of their wordlines must be examined.
        let bound = self.doses.bound(block);
        if !bound.is_past() && !bound.exceeds(*worst) {
            return;
        }
        self.each_wordline(block, |wordline, of_wordline| {
            // Almost all wordlines are below the worst ratio seen, so none of their pages must be
            // examined.
            if !of_wordline.is_past() && !of_wordline.exceeds(*worst) {
                return;
            }
            let first = Ppn::new(wordline * self.geometry.cell.bits());
            for (kind, stamp) in (0..).zip(self.medium.stamps(wordline)) {
                let at = At {
                    block,
                    wordline,
                    index: wordline - self.geometry.first_wordline(block),
                    kind,
                };
                let (ppn, truth) = (first + kind, self.doses.of_kind(of_wordline, at));
                if !self.stamps.is_live(stamp) || stamp.tag.is_damaged() {
                    continue;
                }
                *worst = worst.max(truth.ratio());
                if self.doses.is_past(at, truth) && !self.failures.is_failed(ppn) {
                    findings.add(Kind::Limit, || {
                        format!(
                            "{when} lpn {} is past its limit and not reported, at {}: {}",
                            stamp.lpn,
                            self.place(ppn),
                            words(truth)
                        )
                    });
                }
            }
        });
    }

    /// Calls `look` for each wordline with programmed pages. It gets the number of the wordline,
    /// counted over the whole drive, and the truth about its weakest page kind.
    pub(crate) fn each_wordline(&self, block: BlockId, mut look: impl FnMut(u32, Truth)) {
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits());
        for index in 0..programmed {
            let wordline = self.geometry.first_wordline(block) + index;
            look(
                wordline,
                self.doses.of_wordline(&self.medium, At { block, wordline, index, kind: 0 }),
            );
        }
    }
}

/// Returns dose and limit in words, in dose units.
pub(crate) fn words(truth: Truth) -> String {
    let units = |n: i64| n as f64 / UNIT as f64;
    if truth == Truth::SAFE {
        return "reads do not disturb it".into();
    }
    format!("dose {:.3} of a limit of {:.3}", units(truth.dose.cast_signed()), units(truth.limit))
}
