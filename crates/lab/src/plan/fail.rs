//! Check of injected failures: whether the drive and the run can have these failures.

use vpass_core::base::failure::{Unit, When};
use vpass_core::base::geometry::Geometry;
use vpass_core::base::request::{Arrival, RequestSource};
use vpass_core::base::stripes::MOST_FAILED;
use vpass_core::config::BchTarget;

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::setup::Gear;

impl RunPlan {
    /// Refuses a failure of a missing part, a repeated failure, and a failure that the gear or the
    /// workload does not allow.
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
                return refuse(format!("{} is named twice, but fails only once", failure.unit));
            }
        }
        let dies = self.fail.iter().filter(|failure| matches!(failure.unit, Unit::Die(_))).count();
        if geometry.stripes.is_some() && dies > MOST_FAILED {
            return refuse(format!(
                "{dies} dies; at most {MOST_FAILED} failed dies are possible with stripes"
            ));
        }
        if self.drive.config.bch.target == BchTarget::Stripe
            && self.drive.config.parity.protects().is_some()
        {
            return refuse(
                "bch.target = \"stripe\" allows more reads than a page endures without parity. A \
                 failure leaves stripes without parity. Use --set bch.target=uber"
                    .into(),
            );
        }
        if self.is_fluid() {
            return refuse(
                "the fluid gear draws reads in bulk, so nothing can fail between two of them; use \
                 --gear timed or untimed"
                    .into(),
            );
        }
        if matches!(self.workload, Workload::Adversary { .. }) {
            return refuse(
                "an attack observes where data lies and relies on it; name a workload".into(),
            );
        }
        if !self.ages.is_empty() || self.until_stable {
            return refuse(
                "--ages and --until repeat a run, but a failure is permanent; leave them out"
                    .into(),
            );
        }
        let by_time = self.fail.iter().find(|failure| matches!(failure.when, When::At(_)));
        if let Some(failure) = by_time.filter(|_| self.gear == Gear::Untimed)
            && self.source()?.arrival() != Arrival::Open
        {
            return refuse(format!(
                "{failure}: the untimed gear has no clock in closed loop; use --gear timed, or \
                 name a request ({}@r5000)",
                failure.unit
            ));
        }
        Ok(())
    }
}
