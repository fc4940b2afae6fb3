//! Computes the expected losses from each block's own doses, if parity raises the limits of reads.
//! Also checks that such parity is never late.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{Combine, DriveConfig};
use vpass_drive::drive::Drive;
use vpass_drive::error::bch::Bch;
use vpass_drive::error::stripe::Others;
use vpass_drive::watch::observer::Event;

use crate::limits::{COUNTED_UNIT, Limits};
use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

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
    bch: Bch,
    members: u32,
    target: f64,
    /// Limits and step of the longest age, if reads and age share one budget.
    aged: Option<(Limits, u32)>,
    served: Vec<Served>,
    before: Vec<Served>,
}

impl Expected {
    /// Returns `None` if parity does not raise limits.
    pub(crate) fn new(config: &DriveConfig) -> Option<Box<Self>> {
        let bch = Bch::of(config).filter(|_| config.parity.by_wear().is_none())?;
        let aged = (config.bch.combine == Combine::Sum).then(|| {
            let limits = Limits::new(config);
            let longest = limits.budget().ages().step(config.longest_age().0);
            (limits, longest as u32)
        });
        Some(Box::new(Self {
            members: bch.members()?,
            bch,
            target: config.bch.uber,
            aged,
            served: vec![],
            before: vec![],
        }))
    }

    /// Returns the share of a block's limit that age uses.
    fn aged(&self, pec: u32) -> f64 {
        let Some((limits, longest)) = &self.aged else { return 0.0 };
        let limit = |step| limits.at_level((pec, step), (0, 0), 0) as f64;
        (1.0 - limit(*longest) / limit(0)).clamp(0.0, 1.0)
    }

    /// Returns the lost codewords per data bit read, over all these blocks.
    fn uber(&self, live: &[Served]) -> f64 {
        let (pages, members) = (self.bch.pages(), self.members);
        let lost_at = |n: usize| {
            let rate = self.bch.tolerable() * n as f64 / POINTS as f64;
            pages.codewords_lost(rate, Others { members, rate })
        };
        let lost: Vec<f64> = (0..=POINTS).map(lost_at).collect();
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
        let data_bits = f64::from(self.bch.code().1);
        if reads > 0.0 { (all.0 + live.0 - before.0) / reads / data_bits } else { 0.0 }
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

impl Expected {
    fn service(&self, truth: &Truth, block: BlockId) -> Option<Served> {
        let reads = truth.doses.read_of(block)? as f64 / COUNTED_UNIT as f64;
        let aged = self.aged(truth.doses.pec_of(block));
        (reads > 0.0).then(|| Served { reads, bears: truth.doses.bears(block), aged })
    }

    fn live(&self, truth: &Truth) -> Vec<Served> {
        truth.geometry.block_ids().filter_map(|block| self.service(truth, block)).collect()
    }
}

impl Check for Expected {
    /// Ends the service of a block that is about to be erased, or whose limit is about to grow.
    fn before(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        let (Event::Erased { block, .. } | Event::Recoded { block, wordline: None, .. }) = *event
        else {
            return;
        };
        if truth.has_block(block) {
            self.served.extend(self.service(truth, block));
        }
    }

    fn after(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings) {
        match *event {
            // The limit has grown. Earlier reads belong to the smaller limit.
            Event::Recoded { block, wordline: None, .. } if truth.has_block(block) => {
                self.before.extend(self.service(truth, block));
            }
            Event::MeasuredPhase => (self.served, self.before) = (vec![], self.live(truth)),
            Event::Delayed { stripe, .. }
            | Event::AwaitsParity { stripe }
            | Event::NeedsNoParity { stripe } => findings.add(Kind::Limit, || {
                format!(
                    "stripe {stripe} has no parity, but its blocks are read beyond a page's limit \
                     because of that parity"
                )
            }),
            _ => {}
        }
    }

    /// Compares the drive's expected losses with those of its doses.
    fn end(&mut self, truth: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        let own = self.uber(&self.live(truth));
        let said = drive.expected().map(|expected| expected.uber);
        if said.is_none_or(|said| (said - own).abs() > WITHIN * own + NOTHING * self.target) {
            findings.add(Kind::Books, || {
                format!(
                    "the drive reports an expected UBER of {said:?}; the doses of its blocks give \
                     {own:?}, with a target of {}",
                    self.target
                )
            });
        }
    }
}
