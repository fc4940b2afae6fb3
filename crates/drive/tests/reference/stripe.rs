//! Expected losses of pages with parity. The binomial terms come
//! from logarithms. It divides the range of a normal factor into cells, and takes the factor at the
//! middle of each cell. A cell is a fifth of a deviation wide, or less if deviations are large.
//!
//! ```text
//! a page loses a failing codeword if one of the N other pages of its stripe fails too;
//! the error rates of all these pages share a factor
//! ```

use vpass_drive::config::DriveConfig;

/// Range of a normal factor below and above its middle, in deviations, and the largest width of a
/// cell, in deviations and in logarithms of rates.
const BELOW: f64 = 7.0;
const ABOVE: f64 = 11.0;
const WIDTH: f64 = 0.2;
const LN_WIDTH: f64 = 0.1;
/// Largest number of terms of the tail, and their least share of its first term. All later terms are
/// negligible.
const TERMS: u32 = 200;
const LEAST: f64 = 1e-18;

/// Code of a drive's pages, spread of their error rates, and their stripe if its parity is always
/// on flash.
#[derive(Debug)]
pub(super) struct Stripe {
    bits: u32,
    corrects: u32,
    /// Logarithms of the binomial coefficients C(n, k).
    ln_choose: Vec<f64>,
    codewords: f64,
    deviations: [f64; 2],
    pub(super) others: Option<f64>,
}

impl Stripe {
    /// Returns the code; `None` if no codeword is known. `others` is the number of other pages in a
    /// stripe that parity repairs.
    pub(super) fn new(config: &DriveConfig, others: Option<u32>) -> Option<Self> {
        let data = config.ecc.codeword?.0 as f64 * 8.0;
        let (bits, corrects) =
            ((data / config.ecc.code_rate).round() as u32, *config.ecc.corrects.first()?);
        let last = (corrects + TERMS).min(bits);
        let mut ln_choose = vec![0.0];
        for k in 1..=last {
            ln_choose
                .push(ln_choose[k as usize - 1] + f64::from(bits - k + 1).ln() - f64::from(k).ln());
        }
        let deviations = [config.bch.spread_common, config.bch.spread_own];
        let codewords = config.geometry.page_size.0 as f64 * 8.0 / data;
        Some(Self {
            bits,
            corrects,
            ln_choose,
            codewords,
            deviations,
            others: others.map(f64::from),
        })
    }

    /// Returns whether every page has the error rate of its block and has no parity.
    pub(super) fn is_plain(&self) -> bool {
        self.deviations.iter().all(|deviation| *deviation <= 0.0) && self.others.is_none()
    }

    /// Returns the share of codewords that fails at an error rate.
    fn fails(&self, rate: f64) -> f64 {
        let rate = rate.min(0.5);
        let (ln_wrong, ln_right) = (rate.ln(), (-rate).ln_1p());
        let term = |k: usize| {
            (self.ln_choose[k] + k as f64 * ln_wrong + f64::from(self.bits - k as u32) * ln_right)
                .exp()
        };
        let first = self.corrects as usize + 1;
        if f64::from(self.bits) * rate < first as f64 {
            let least = LEAST * term(first);
            (first..self.ln_choose.len()).map(term).take_while(|term| *term > least).sum()
        } else {
            (1.0 - (0..first).map(term).sum::<f64>()).max(0.0)
        }
    }

    /// Returns the shares of codewords and of pages that fail at the rate that all pages of the
    /// stripe have in common.
    fn given(&self, rate: f64) -> (f64, f64) {
        let none_fails = |fails: f64| (1.0 - fails).powf(self.codewords);
        cells(self.deviations[1]).fold((0.0, 0.0), |(codewords, pages), (factor, weight)| {
            let fails = self.fails(rate * factor);
            let page = if fails < 1e-6 {
                self.codewords * fails * (1.0 - 0.5 * (self.codewords - 1.0) * fails)
            } else {
                1.0 - none_fails(fails)
            };
            (codewords + weight * fails, pages + weight * page)
        })
    }

    /// Returns the share of codewords that is lost in blocks of this error rate. In a stripe, a
    /// loss also needs a failure of another page.
    pub(super) fn lost(&self, rate: f64) -> f64 {
        cells(self.deviations[0])
            .map(|(factor, weight)| weight * self.lost_given(rate * factor))
            .sum()
    }

    fn lost_given(&self, rate: f64) -> f64 {
        let (codewords, pages) = self.given(rate);
        let Some(others) = self.others else { return codewords };
        // For larger shares the power is exact enough.
        let any = if pages < 1e-6 {
            others * pages * (1.0 - 0.5 * (others - 1.0) * pages)
        } else {
            1.0 - (1.0 - pages).powf(others)
        };
        codewords * any
    }

    /// Returns the error rate at which this share is lost. Bisection in logarithms goes on until
    /// the curve is nearly straight, and then secants follow.
    pub(super) fn rate(&self, share: f64) -> f64 {
        let over = |ln_rate: f64| (self.lost(ln_rate.exp()) + 1e-320).ln() - share.ln();
        let (mut low, mut high) = (-30.0f64, 0.5f64.ln());
        while high - low > 0.1 {
            let middle = f64::midpoint(low, high);
            if over(middle) < 0.0 { low = middle } else { high = middle }
        }
        let (mut before, mut now) = ((low, over(low)), (high, over(high)));
        for _ in 0..20 {
            if (now.1 - before.1).abs() < 1e-15 || now.1.abs() < 1e-11 {
                break;
            }
            let next = now.0 - now.1 * (now.0 - before.0) / (now.1 - before.1);
            (before, now) = (now, (next, over(next)));
        }
        now.0.exp()
    }
}

/// Returns the factor at the middle of each cell, with the cell's probability.
fn cells(deviation: f64) -> impl Iterator<Item = (f64, f64)> {
    let width = if deviation > 0.0 { WIDTH.min(LN_WIDTH / deviation) } else { WIDTH };
    let middle = move |cell: i32| (f64::from(cell) + 0.5) * width;
    let weight = move |z: f64| width * (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
    let one = (deviation <= 0.0).then_some((1.0, 1.0));
    let all = if deviation > 0.0 {
        (-BELOW / width).round() as i32..(ABOVE / width).round() as i32
    } else {
        0..0
    };
    one.into_iter()
        .chain(all.map(move |cell| ((deviation * middle(cell)).exp(), weight(middle(cell)))))
}
