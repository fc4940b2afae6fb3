//! Computes the expected losses from each block's own doses, if parity raises the limits of reads.
//! Also checks that such parity is never late.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{Combine, DriveConfig};
use vpass_drive::drive::Drive;

use crate::bch::{Code, raised_by};
use crate::endurance::{COUNTED_UNIT, Endurances};
use crate::error_rates::{ErrorRates, Whose, step_of};
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stripe::Stripe;

/// Number of points. Between two points, losses follow a power of the reads.
const POINTS: usize = 100;
/// Tolerance: drive and oracle add up between different points.
const WITHIN: f64 = 0.05;
/// Share of the target below which only errors between points are left.
const NOTHING: f64 = 1e-6;

/// Service of a block between two erases: dose units served, dose units allowed, and the share of
/// these that the longest age uses.
#[derive(Clone, Copy, Debug)]
struct Served {
    reads: f64,
    bears: f64,
    aged: f64,
}

/// Expected losses of one drive.
#[derive(Debug)]
pub(crate) struct Expected {
    stripe: Stripe,
    limit: f64,
    data_bits: f64,
    target: f64,
    /// Error rates and limits, if reads and age share one budget.
    aged: Option<(ErrorRates, Endurances, u32)>,
    served: Vec<Served>,
    before: Vec<Served>,
}

impl Expected {
    /// Returns `None` if parity does not raise limits.
    pub(crate) fn new(config: &DriveConfig) -> Option<Box<Self>> {
        let stripe = Stripe::new(config, Some(raised_by(config)?))?;
        let limit = Code::new(config)?.cap;
        let shares = config.bch.combine == Combine::Sum;
        let aged = if shares {
            Some((
                ErrorRates::new(config)?,
                Endurances::new(config),
                step_of(config.longest_age().0),
            ))
        } else {
            None
        };
        let data_bits = config.ecc.codeword?.0 as f64 * 8.0;
        Some(Box::new(Self {
            stripe,
            limit,
            data_bits,
            target: config.bch.uber,
            aged,
            served: vec![],
            before: vec![],
        }))
    }

    /// Returns the share of a block's limit that age uses.
    fn aged(&self, pec: u32) -> f64 {
        let Some((rates, endurances, step)) = &self.aged else { return 0.0 };
        let limit =
            |step| rates.limit(endurances, pec, Whose { group: 0, kind: 0, step }, 0) as f64;
        (1.0 - limit(*step) / limit(0)).clamp(0.0, 1.0)
    }

    /// Returns the lost codewords per data bit read, over all these blocks.
    fn uber(&self, live: &[Served]) -> f64 {
        let lost: Vec<f64> =
            (0..=POINTS).map(|n| self.stripe.lost(self.limit * n as f64 / POINTS as f64)).collect();
        let part = |below: usize, place: f64| {
            within(below as f64, (lost[below], lost[below + 1]), place) / POINTS as f64
        };
        let mut sums = vec![0.0];
        (0..POINTS).for_each(|below| sums.push(sums[below] + part(below, below as f64 + 1.0)));
        let until = |share: f64| {
            let place = share.min(1.0) * POINTS as f64;
            let below = (place as usize).min(POINTS - 1);
            sums[below] + part(below, place) + (share - 1.0).max(0.0) * lost[POINTS]
        };
        let of = |all: &[Served]| {
            let lost = |one: &Served| {
                one.bears * (until(one.aged + one.reads / one.bears) - until(one.aged))
            };
            (all.iter().map(lost).sum::<f64>(), all.iter().map(|one| one.reads).sum::<f64>())
        };
        let (all, live, before) = (of(&self.served), of(live), of(&self.before));
        let reads = all.1 + live.1 - before.1;
        if reads > 0.0 { (all.0 + live.0 - before.0) / reads / self.data_bits } else { 0.0 }
    }
}

/// Returns the integral of a curve from the first point to `to`. The curve has these values at both
/// points, and is a power between them. If the first value is 0, the curve is a straight line.
fn within(from: f64, (first, last): (f64, f64), to: f64) -> f64 {
    if first <= 0.0 {
        return 0.5 * last * (to - from) * (to - from);
    }
    let power = (last / first).ln() / ((from + 1.0) / from).ln();
    first * from / (power + 1.0) * ((to / from).powf(power + 1.0) - 1.0)
}

impl Oracle {
    fn served(&self, expected: &Expected, block: BlockId) -> Option<Served> {
        let reads = self.doses.read_of(block)? as f64 / COUNTED_UNIT as f64;
        let aged = expected.aged(self.doses.pec_of(block));
        (reads > 0.0).then(|| Served { reads, bears: self.doses.bears(block), aged })
    }

    fn live(&self, expected: &Expected) -> Vec<Served> {
        self.geometry.block_ids().filter_map(|block| self.served(expected, block)).collect()
    }

    /// Ends the service of a block that is about to be erased, or whose limit is about to grow.
    pub(crate) fn end_service(&mut self, block: BlockId) {
        let Some(mut expected) = self.expected.take() else { return };
        expected.served.extend(self.served(&expected, block));
        self.expected = Some(expected);
    }

    /// Resumes the service of a block whose limit has grown. Its earlier reads belong to the
    /// smaller limit.
    pub(crate) fn resume_service(&mut self, block: BlockId) {
        let Some(mut expected) = self.expected.take() else { return };
        expected.before.extend(self.served(&expected, block));
        self.expected = Some(expected);
    }

    /// Forgets the service of all blocks so far.
    pub(crate) fn begin_service(&mut self) {
        let Some(mut expected) = self.expected.take() else { return };
        (expected.served, expected.before) = (vec![], self.live(&expected));
        self.expected = Some(expected);
    }

    /// Checks that the parity of a stripe does not wait and has not been given back.
    pub(crate) fn check_always_protected(&mut self, stripe: u32) {
        if self.expected.is_some() {
            self.findings.add(Kind::Limit, || {
                format!(
                    "stripe {stripe} has no parity, but its blocks are read beyond a page's limit \
                     because of that parity"
                )
            });
        }
    }

    /// Compares the drive's expected losses with the oracle's.
    pub(crate) fn check_expected(&mut self, drive: &Drive) {
        let own = self
            .expected
            .take()
            .map(|expected| (expected.uber(&self.live(&expected)), expected.target));
        let said = drive.expected().map(|expected| expected.uber);
        let agrees = match (own, said) {
            (None, None) => true,
            (Some((own, target)), Some(said)) => {
                (said - own).abs() <= WITHIN * own + NOTHING * target
            }
            _ => false,
        };
        if !agrees {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports an expected UBER of {said:?}; the doses of its blocks give \
                     {own:?}, with the target"
                )
            });
        }
    }
}
