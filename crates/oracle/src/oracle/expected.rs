//! Compares expected losses with those of each block's own doses, if parity raises the limits of
//! reads. Also checks that such parity is never late. Losses at a dose are a pure function, whose
//! tests compare it with the sum over each read (`error/expected.rs`).

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{Combine, DriveConfig};
use vpass_drive::drive::Drive;
use vpass_drive::error::bch::Bch;
use vpass_drive::error::expected::{Served, Service};
use vpass_drive::watch::observer::Event;

use crate::limits::{COUNTED_UNIT, Limits};
use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Tolerance: the drive rounds doses and the share of age.
const WITHIN: f64 = 0.05;
/// Share of the target below which only rounding errors are left.
const NOTHING: f64 = 1e-6;

/// Expected losses of one drive.
#[derive(Debug)]
pub(crate) struct Expected {
    bch: Bch,
    target: f64,
    /// Limits and step of the longest age, if reads and age share one budget.
    aged: Option<(Limits, u32)>,
    /// Reads of blocks between two erases, without those that do not count.
    served: Served,
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
        bch.members()?;
        Some(Box::new(Self { bch, target: config.bch.uber, aged, served: Served::default() }))
    }

    /// Returns the share of a block's limit that age uses.
    fn aged(&self, pec: u32) -> f64 {
        let Some((limits, longest)) = &self.aged else { return 0.0 };
        let limit = |step| limits.at_level((pec, step), (0, 0), 0) as f64;
        (1.0 - limit(*longest) / limit(0)).clamp(0.0, 1.0)
    }

    fn service(&self, truth: &Truth, block: BlockId) -> Option<Service> {
        let reads = truth.doses.read_of(block)? as f64 / COUNTED_UNIT as f64;
        let aged = self.aged(truth.doses.pec_of(block));
        (reads > 0.0).then(|| Service { reads, limit: truth.doses.bears(block), aged })
    }

    fn live(&self, truth: &Truth) -> Vec<Service> {
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
            self.service(truth, block).into_iter().for_each(|of| self.served.add(of));
        }
    }

    fn after(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings) {
        match *event {
            // The limit has grown. Earlier reads belong to the smaller limit.
            Event::Recoded { block, wordline: None, .. } if truth.has_block(block) => {
                self.service(truth, block).into_iter().for_each(|of| self.served.leave_out(of));
            }
            Event::MeasuredPhase => {
                self.served = Served::default();
                self.live(truth).into_iter().for_each(|of| self.served.leave_out(of));
            }
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
        let mut all = self.served.clone();
        self.live(truth).into_iter().for_each(|of| all.add(of));
        let own = all.expected(&self.bch).map_or(0.0, |expected| expected.uber);
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
