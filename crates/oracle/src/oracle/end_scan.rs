//! Checks the end of a run. It looks for unread and unreported pages past their limit, and for
//! reported losses that no read had shown.

use vpass_drive::base::units::{BlockId, Ppn};

use crate::doses::Stress;
use crate::limits::UNIT;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::{Findings, Kind, OracleReport};

impl Oracle {
    /// Returns the verdict as if the run ended now. It does not change the oracle, and may be
    /// called more than once.
    pub fn finish(&self) -> OracleReport {
        let mut findings = self.findings.clone();
        let mut unseen = self.losses.unseen.clone();
        let mut tally = self.tally();
        for block in self.truth.geometry.block_ids() {
            self.truth.explain_losses(block, &mut unseen, &mut |_| ());
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

    pub(crate) fn scan(
        &self,
        block: BlockId,
        when: &str,
        findings: &mut Findings,
        worst: &mut f64,
    ) {
        // Almost all blocks were read so little that none of their wordlines must be examined.
        let bound = self.truth.doses.bound(block);
        if !bound.is_past() && !bound.exceeds(*worst) {
            return;
        }
        self.truth.each_wordline(block, |wordline, of_wordline| {
            // Almost all wordlines are below the worst ratio seen, so none of their pages must be
            // examined.
            if !of_wordline.is_past() && !of_wordline.exceeds(*worst) {
                return;
            }
            let first = Ppn::new(wordline * self.truth.geometry.cell.bits());
            for (kind, stamp) in (0..).zip(self.truth.medium.stamps(wordline)) {
                let at = At {
                    block,
                    wordline,
                    index: wordline - self.truth.geometry.first_wordline(block),
                    kind,
                };
                let (ppn, stress) = (first + kind, self.truth.doses.of_kind(of_wordline, at));
                if !self.truth.stamps.is_live(stamp) || stamp.tag.is_damaged() {
                    continue;
                }
                *worst = worst.max(stress.ratio());
                if self.truth.doses.is_past(at, stress) && !self.parity.failures.is_failed(ppn) {
                    findings.add(Kind::Limit, || {
                        format!(
                            "{when} lpn {} is past its limit and not reported, at {}: {}",
                            stamp.lpn,
                            self.truth.place(ppn),
                            words(stress)
                        )
                    });
                }
            }
        });
    }
}

/// Returns dose and limit in words, in dose units.
pub(crate) fn words(stress: Stress) -> String {
    let units = |n: i64| n as f64 / UNIT as f64;
    if stress == Stress::SAFE {
        return "reads do not disturb it".into();
    }
    format!("dose {:.3} of a limit of {:.3}", units(stress.dose.cast_signed()), units(stress.limit))
}
