//! Check of the failures that the user wants to inject: whether this drive and this run allow them.

use vpass_drive::base::failure::{Failure as Injected, Unit, When};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::phrase::{Opt, set};
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::base::stripes::MOST_FAILED;
use vpass_drive::config::BchTarget;
use vpass_drive::phrase;
use vpass_workload::traces::FileSurvey;

use super::{RunPlan, Workload};
use crate::failure::Failure;
use crate::setup::Gear;

impl Workload {
    /// Returns the failures of a recording, or without them those that the user gave.
    pub(super) fn failures(&self, given: &[Injected]) -> Result<Vec<Injected>, Failure> {
        if let Self::Beside(all) = self
            && let Some(one) = all.iter().find(|one| one.has_events())
        {
            return Err(Failure::usage(format!(
                "{}: a recording with flushes or failures must be the only workload",
                one.name()
            )));
        }
        let recorded = self.recorded_failures();
        if recorded.is_empty() {
            return Ok(given.to_vec());
        }
        if given.is_empty() {
            return Ok(recorded);
        }
        let all: Vec<_> = recorded.iter().map(ToString::to_string).collect();
        Err(Failure::usage(format!("the recording holds failures: {}", all.join(", ")))
            .at(Opt::Fail)
            .with_remedy("leave it out"))
    }

    /// Returns whether this is a recording with flushes or failures.
    fn has_events(&self) -> bool {
        let Self::Trace { survey, .. } = self else { return false };
        survey.files().iter().any(FileSurvey::has_events)
    }

    /// Returns the failures of a recording, with their times at the speed of the replay.
    fn recorded_failures(&self) -> Vec<Injected> {
        let Self::Trace { survey, options } = self else { return vec![] };
        survey.files().iter().flat_map(|file| file.failures_at(options.speed)).collect()
    }
}

impl RunPlan {
    /// Refuses a failure of a part that the drive does not have. Also refuses a failure that is
    /// given twice, or that is not possible with this gear or this workload.
    pub(super) fn check_failures(&self) -> Result<(), Failure> {
        if self.fail.is_empty() {
            return Ok(());
        }
        let refused = |why: &str| Failure::usage(why.to_owned()).at(Opt::Fail);
        let geometry = Geometry::new(&self.drive.config);
        for (n, failure) in self.fail.iter().enumerate() {
            failure
                .unit
                .check(&geometry)
                .map_err(|why| Failure::usage(why).at(Opt::Fail.to(failure)))?;
            if self.fail[..n].iter().any(|other| other.unit == failure.unit) {
                let why = format!("{} is named twice, but can fail only once", failure.unit);
                return Err(refused(&why));
            }
        }
        let dies = self.fail.iter().filter(|failure| matches!(failure.unit, Unit::Die(_))).count();
        if geometry.stripes.is_some() && dies > MOST_FAILED {
            let why =
                format!("{dies} dies are to fail; with stripes, at most {MOST_FAILED} may fail");
            return Err(refused(&why));
        }
        if self.drive.config.bch.target == BchTarget::Stripe
            && self.drive.config.parity.protects().is_some()
        {
            return Err(refused(
                "bch.target = \"stripe\" allows more reads than a page endures without parity, but \
                 a failure leaves stripes without parity.",
            )
            .with_remedy(phrase!["Use ", set("bch.target", "uber")]));
        }
        if self.is_fluid() {
            return Err(refused(
                "the fluid gear draws reads in bulk, so nothing can fail between two reads",
            )
            .with_remedy(phrase!["use ", Opt::Gear.to("timed"), " or untimed"]));
        }
        if matches!(self.workload, Workload::Adversary { .. }) {
            return Err(refused(
                "an attack relies on where the data lies, and a failure can move the data",
            )
            .with_remedy("name a workload"));
        }
        if !self.ages.is_empty() || self.until_stable {
            let why = phrase![
                Opt::Ages,
                " and ",
                Opt::Until,
                " run one workload several times, but a failure changes the drive for good",
            ];
            return Err(Failure::usage(why).at(Opt::Fail).with_remedy("leave them out"));
        }
        let by_time = self.fail.iter().find(|failure| matches!(failure.when, When::At(_)));
        if let Some(failure) = by_time.filter(|_| self.gear == Gear::Untimed)
            && self.source()?.arrival() != Arrival::Open
        {
            let why = format!("{failure}: the untimed gear has no clock in closed loop");
            let unit = &failure.unit;
            return Err(refused(&why).with_remedy(phrase![
                "use ",
                Opt::Gear.to("timed"),
                ", or name a request ({unit}@r5000)",
            ]));
        }
        Ok(())
    }
}
