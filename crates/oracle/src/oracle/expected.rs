//! Where parity raises the limits of reads: what is expected to be lost, from each block's own
//! doses. And parity that raises limits may never be late.

use vpass_core::base::units::BlockId;
use vpass_core::config::{Combine, DriveConfig};
use vpass_core::drive::Drive;

use crate::bch::{Code, raised_by};
use crate::endurance::{COUNTED_UNIT, Endurances};
use crate::error_rates::{ErrorRates, Whose, step_of};
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stripe::Stripe;

/// Points between which losses follow a power of the reads.
const POINTS: usize = 100;
/// Drive and oracle add up between points of their own.
const WITHIN: f64 = 0.05;
/// Below this share of the target all that is left is what lies between points.
const NOTHING: f64 = 1e-6;

/// What a block served between two erases: dose units, those that it bears, and the share of these
/// that the longest age takes.
#[derive(Clone, Copy, Debug)]
struct Served {
    reads: f64,
    bears: f64,
    aged: f64,
}

/// Of one drive.
#[derive(Debug)]
pub(crate) struct Expected {
    stripe: Stripe,
    limit: f64,
    data_bits: f64,
    target: f64,
    /// Where reads and age have one budget.
    aged: Option<(ErrorRates, Endurances, u32)>,
    served: Vec<Served>,
    before: Vec<Served>,
}

impl Expected {
    /// None where parity raises no limits.
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

    /// The share of what a block bears that age takes.
    fn aged(&self, pec: u32) -> f64 {
        let Some((rates, endurances, step)) = &self.aged else { return 0.0 };
        let limit =
            |step| rates.limit(endurances, pec, Whose { group: 0, kind: 0, step }, 0) as f64;
        (1.0 - limit(*step) / limit(0)).clamp(0.0, 1.0)
    }

    /// Codewords lost by each data bit that all of these read.
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

/// The integral of what rises as a power from one number to the next, having these values at both,
/// from the first to a place between; straight where it rises from nothing.
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

    /// A block is about to be erased, or to bear more.
    pub(crate) fn end_service(&mut self, block: BlockId) {
        let Some(mut expected) = self.expected.take() else { return };
        expected.served.extend(self.served(&expected, block));
        self.expected = Some(expected);
    }

    /// A block bears more from now on. Its reads until now were served while it bore less.
    pub(crate) fn resume_service(&mut self, block: BlockId) {
        let Some(mut expected) = self.expected.take() else { return };
        expected.before.extend(self.served(&expected, block));
        self.expected = Some(expected);
    }

    /// What blocks have served so far no longer counts.
    pub(crate) fn begin_service(&mut self) {
        let Some(mut expected) = self.expected.take() else { return };
        (expected.served, expected.before) = (vec![], self.live(&expected));
        self.expected = Some(expected);
    }

    /// Parity of a stripe waits, or is given back.
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

    /// What the drive says is to be expected.
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
