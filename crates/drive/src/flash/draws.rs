//! Random results of reads at an error rate: retries drawn from the binomial tail (`error.noise`).
//! Also the expected number of codewords that all host reads lose (the numerator of `uber`).
//!
//! A draw is a pure function of the run's seed, of the page, and of the reads that its block has
//! served since the erase. Each sensing raises these reads. So a read's result depends only on what
//! the drive did before.

use crate::base::splitmix::number;
use crate::base::units::{PageInBlock, Ppn};
use crate::disturb::{BlockView, ErrorModel, PageHealth};
use crate::error::chance::Chances;

/// Random draws of one drive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draws {
    /// Probabilities, if data has an error rate and its codewords are known.
    chances: Option<Chances>,
    /// Seed of the run, if retries are drawn.
    noise: Option<u64>,
    /// Expected number of lost codewords of the host reads that were examined.
    lost: f64,
    /// Number of host reads that were examined.
    looked_at: u64,
}

impl Draws {
    /// Creates the draws of a drive whose data has an error rate.
    pub(super) fn new(chances: Option<&Chances>, noise: Option<u64>) -> Self {
        Self { chances: chances.cloned(), noise, lost: 0.0, looked_at: 0 }
    }

    /// Returns whether retries are drawn.
    pub(super) fn has_noise(&self) -> bool {
        self.chances.is_some() && self.noise.is_some()
    }

    /// Returns the result of a read of a page if retries are drawn, and the expected number of its
    /// lost codewords.
    pub(super) fn judge(
        &self,
        model: &ErrorModel,
        view: &BlockView,
        page: PageInBlock,
        ppn: Ppn,
    ) -> (PageHealth, Option<f64>) {
        let (Some(chances), Some(seed)) = (&self.chances, self.noise) else {
            unreachable!("retries are drawn")
        };
        let rber = model.rate(view, page) * 1.0;
        let drawn = chances.retries(rber, dice(seed, ppn, view.pec, view.reads.count()));
        let health = PageHealth {
            retries: drawn.map_or(model.max_retries(), |retries| retries as u8),
            is_lost: drawn.is_none(),
        };
        (health, Some(chances.lost_codewords(rber)))
    }

    /// Returns whether a read that takes this number of retries is examined for lost codewords.
    #[inline]
    pub(super) fn is_at_risk(&self, retries: u8) -> bool {
        self.chances.as_ref().is_some_and(|chances| chances.is_at_risk(retries))
    }

    /// Returns the expected number of lost codewords of a page.
    pub(super) fn lost_codewords(
        &self,
        model: &ErrorModel,
        view: &BlockView,
        page: PageInBlock,
    ) -> Option<f64> {
        self.chances.as_ref().map(|chances| chances.lost_codewords(model.rate(view, page)))
    }

    /// Returns whether no read of a page decodes it, if retries are drawn.
    pub(super) fn is_gone(&self, model: &ErrorModel, view: &BlockView, page: PageInBlock) -> bool {
        self.chances.as_ref().is_some_and(|chances| chances.is_gone(model.rate(view, page)))
    }

    /// Counts a host read of a page with this expected number of lost codewords.
    pub(super) fn host_read(&mut self, lost: Option<f64>) {
        if let Some(lost) = lost {
            self.lost += lost;
            self.looked_at += 1;
        }
    }

    /// Returns the expected number of codewords that this number of host page reads lost; `None`
    /// without a known codeword. Reads that were not examined were decoded at the first level. They
    /// count as reads at the cap of the first level. This matters only if the first level is the
    /// last or nearly the last.
    pub(crate) fn lost_of(&self, host_reads: u64) -> Option<f64> {
        let unseen = if self.noise.is_none() { self.chances.as_ref()?.lost_unseen() } else { 0.0 };
        Some(self.lost + host_reads.saturating_sub(self.looked_at) as f64 * unseen)
    }

    /// Resets the counts.
    pub(super) fn begin_measurement(&mut self) {
        (self.lost, self.looked_at) = (0.0, 0);
    }
}

/// Returns a pseudo-random number between 0 and 1. A change of one bit of the inputs gives an
/// unrelated number.
fn dice(seed: u64, ppn: Ppn, pec: u32, served: u32) -> f64 {
    let mixed = [u64::from(ppn.number()), u64::from(pec) << 32 | u64::from(served)]
        .into_iter()
        .fold(number(seed, 0), |hash, part| number(hash ^ part, 0));
    // The number has a resolution of 64 bits, because the last level fails with a probability of
    // 1e-16. The largest value is the last number below 1.
    ((mixed as f64 + 0.5) * (0.5f64).powi(64)).min(1.0 - f64::EPSILON / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_are_even_and_of_their_own_for_each_read() {
        let (mut sum, mut below, mut twice) = (0.0, 0, 0.0);
        for n in 0..100_000u32 {
            // The inputs are neighbours in all parts on which a draw depends.
            let of = dice(7, Ppn::new(n % 10), n / 10 % 10, n / 100);
            assert!(of > 0.0 && of < 1.0);
            sum += of;
            twice += of * dice(8, Ppn::new(n % 10), n / 10 % 10, n / 100);
            below += u32::from(of < 0.01);
        }
        // The results are within five standard deviations: 0.29 / 316 for a mean, 0.22 / 316 for a
        // product of two, and 31 for a count.
        assert!(
            (sum / 1e5 - 0.5).abs() < 0.0046 && (twice / 1e5 - 0.25).abs() < 0.0035,
            "{sum} {twice}"
        );
        assert!(1000u32.abs_diff(below) < 155, "{below}");
        assert!(dice(1, Ppn::new(2), 3, 4).to_bits() == dice(1, Ppn::new(2), 3, 4).to_bits());
    }
}
