//! What chance makes of a read of tired data: retries drawn from the binomial tail (`error.noise`),
//! and how many codewords all reads of the host lose on average (the numerator of `uber`).
//!
//! A draw is a pure function of the run's seed, of the page, and of what its block has served since
//! the erase, which each sensing raises: what a read comes to depends on what the drive did before,
//! and on nothing else.

use crate::base::splitmix::number;
use crate::base::units::{PageInBlock, Ppn};
use crate::bugs::{Bug, planted};
use crate::disturb::{BlockView, ErrorModel, PageHealth};
use crate::error::chance::Chances;

/// Of one drive.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// Where data has an error rate and its codewords are known.
    chances: Option<Chances>,
    /// Where retries are drawn, the run's seed.
    noise: Option<u64>,
    /// Codewords lost on average, of the reads of the host that were looked at.
    lost: f64,
    /// Those reads.
    looked_at: u64,
}

impl Draws {
    /// Those of a drive whose data has an error rate.
    pub(super) fn new(chances: Option<&Chances>, noise: Option<u64>) -> Self {
        Self { chances: chances.cloned(), noise, lost: 0.0, looked_at: 0 }
    }

    /// Whether retries are drawn.
    pub(super) fn has_noise(&self) -> bool {
        self.chances.is_some() && self.noise.is_some()
    }

    /// What a read of a page comes to where retries are drawn, and the codewords of it that are
    /// lost on average.
    pub(super) fn judge(
        &self,
        model: &dyn ErrorModel,
        view: &BlockView,
        page: PageInBlock,
        ppn: Ppn,
    ) -> (PageHealth, Option<f64>) {
        let (Some(chances), Some(seed)) = (&self.chances, self.noise) else {
            unreachable!("retries are drawn")
        };
        let rber = model.rate(view, page) * if planted(Bug::NoiseTooLoud) { 1.1 } else { 1.0 };
        let drawn = chances.retries(rber, dice(seed, ppn, view.pec, view.reads.count()));
        let health = PageHealth {
            retries: drawn.map_or(model.max_retries(), |retries| retries as u8),
            is_lost: drawn.is_none(),
        };
        (health, Some(chances.lost_codewords(rber)))
    }

    /// Whether anybody looks how many codewords are lost on average of a page that takes so many
    /// retries.
    #[inline]
    pub(super) fn is_at_risk(&self, retries: u8) -> bool {
        self.chances.as_ref().is_some_and(|chances| chances.is_at_risk(retries))
    }

    /// How many that are.
    pub(super) fn lost_codewords(
        &self,
        model: &dyn ErrorModel,
        view: &BlockView,
        page: PageInBlock,
    ) -> Option<f64> {
        self.chances.as_ref().map(|chances| chances.lost_codewords(model.rate(view, page)))
    }

    /// Whether no read of a page decodes it, where retries are drawn.
    pub(super) fn is_gone(
        &self,
        model: &dyn ErrorModel,
        view: &BlockView,
        page: PageInBlock,
    ) -> bool {
        self.chances.as_ref().is_some_and(|chances| chances.is_gone(model.rate(view, page)))
    }

    /// The host read a page of which so many codewords are lost on average.
    pub(super) fn host_read(&mut self, lost: Option<f64>) {
        if let Some(lost) = lost {
            self.lost += lost;
            self.looked_at += 1;
        }
    }

    /// Codewords that so many page reads of the host lost on average; none where no codeword is
    /// known. Reads at which nobody had to look are of data that the first level decodes, and count
    /// as if they were at its cap, which tells only where that level is the last one, or nearly.
    pub(super) fn lost_of(&self, host_reads: u64) -> Option<f64> {
        let unseen = if self.noise.is_none() { self.chances.as_ref()?.lost_unseen() } else { 0.0 };
        Some(self.lost + host_reads.saturating_sub(self.looked_at) as f64 * unseen)
    }

    /// Counts begin anew.
    pub(super) fn begin_measurement(&mut self) {
        (self.lost, self.looked_at) = (0.0, 0);
    }
}

/// A number from 0 to 1, both excluded, as good as drawn: numbers that differ in a bit give numbers
/// that have nothing in common.
fn dice(seed: u64, ppn: Ppn, pec: u32, served: u32) -> f64 {
    let mixed = [u64::from(ppn.number()), u64::from(pec) << 32 | u64::from(served)]
        .into_iter()
        .fold(number(seed, 0), |hash, part| number(hash ^ part, 0));
    // As fine as 64 bits are: the last level fails with a chance of 1e-16. The largest is the last
    // number below 1.
    ((mixed as f64 + 0.5) * (0.5f64).powi(64)).min(1.0 - f64::EPSILON / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dice_are_even_and_of_their_own_for_each_read() {
        let (mut sum, mut below, mut twice) = (0.0, 0, 0.0);
        for n in 0..100_000u32 {
            // Neighbours in all that a draw depends on.
            let of = dice(7, Ppn::new(n % 10), n / 10 % 10, n / 100);
            assert!(of > 0.0 && of < 1.0);
            sum += of;
            twice += of * dice(8, Ppn::new(n % 10), n / 10 % 10, n / 100);
            below += u32::from(of < 0.01);
        }
        // Within five deviations: of a mean 0.29 / 316, of a product of two 0.22 / 316, of a count
        // 31.
        assert!(
            (sum / 1e5 - 0.5).abs() < 0.0046 && (twice / 1e5 - 0.25).abs() < 0.0035,
            "{sum} {twice}"
        );
        assert!(1000u32.abs_diff(below) < 155, "{below}");
        assert!(dice(1, Ppn::new(2), 3, 4).to_bits() == dice(1, Ppn::new(2), 3, 4).to_bits());
    }
}
