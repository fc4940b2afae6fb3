//! Failures that a plan injects: whether they can be what they are said to be.

use vpass_core::base::failure::{Unit, When};
use vpass_core::base::geometry::Geometry;
use vpass_core::base::request::{Arrival, RequestSource};
use vpass_core::base::stripes::MOST_FAILED;
use vpass_core::config::BchTarget;

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::setup::Gear;

impl RunPlan {
    /// Refuses failures that nobody could inject, of what the drive has not, twice of the same, or
    /// beside what cannot stand them.
    pub(super) fn check_failures(&self) -> Result<(), Failure> {
        if self.fail.is_empty() {
            return Ok(());
        }
        let refuse = |why: String| Err(Failure::usage(format!("--fail: {why}")));
        let geometry = Geometry::new(&self.drive.config);
        for (n, failure) in self.fail.iter().enumerate() {
            failure
                .unit
                .check(&geometry)
                .map_err(|why| Failure::usage(format!("--fail {failure}: {why}")))?;
            if self.fail[..n].iter().any(|other| other.unit == failure.unit) {
                return refuse(format!("{} is named twice, and fails once", failure.unit));
            }
        }
        let dies = self.fail.iter().filter(|failure| matches!(failure.unit, Unit::Die(_))).count();
        if geometry.stripes.is_some() && dies > MOST_FAILED {
            return refuse(format!(
                "{dies} dies; stripes are followed through the failure of {MOST_FAILED} at most"
            ));
        }
        if self.drive.config.bch.target == BchTarget::Stripe
            && self.drive.config.parity.protects().is_some()
        {
            return refuse(
                "with bch.target = \"stripe\" blocks are read beyond what a page bears by itself, and a failure leaves stripes without the parity \
                 that this rests on; take --set bch.target=uber"
                    .into(),
            );
        }
        if self.is_fluid() {
            return refuse(
                "the fluid gear draws reads in bulk, and a failure comes between two of them; take --gear timed or untimed".into(),
            );
        }
        if matches!(self.workload, Workload::Adversary { .. }) {
            return refuse(
                "an attack looks where data lies, and goes by what it has seen; name a workload"
                    .into(),
            );
        }
        if !self.ages.is_empty() || self.until_stable {
            return refuse(
                "--ages and --until repeat a run, and what has failed stays so; leave them out"
                    .into(),
            );
        }
        let by_time = self.fail.iter().find(|failure| matches!(failure.when, When::At(_)));
        if let Some(failure) = by_time.filter(|_| self.gear == Gear::Untimed)
            && self.source()?.arrival() != Arrival::Open
        {
            return refuse(format!(
                "{failure}: no clock runs in the untimed gear under a closed loop; take --gear timed, or name a request ({}@r5000)",
                failure.unit
            ));
        }
        Ok(())
    }
}
