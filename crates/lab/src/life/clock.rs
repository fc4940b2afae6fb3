//! Clock of a life. A life is simulated in stretches. In each stretch, a simulated second, a
//! simulated P/E cycle and everything that is counted stand for a number of those of the life: the
//! weight of the stretch. The weight is 1 in the warm-up and in an exact life.
//!
//! ```text
//! warm-up of 2 days, then a window of 10 simulated days at the weight 30:
//! the life is 2 + 30 x 10 = 302 days long
//! ```

use vpass_drive::base::daily::DailyHours;
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;

use super::counts::{Counts, Weight, errors};
use crate::results::ByCause;

/// Length, P/E cycles of the mean block and counts of a life or of its simulation.
#[derive(Clone, Debug)]
struct State {
    ns: f64,
    /// Part of the time that lies in the hours of use.
    used_ns: f64,
    pec: f64,
    counts: Counts,
}

impl State {
    fn of(at: Ns, hours: DailyHours, drive: &Drive) -> Self {
        let (used_ns, counts) = (hours.worked(at) as f64, Counts::of(drive));
        Self { ns: at as f64, used_ns, pec: drive.mean_cycles(), counts }
    }
}

/// Clock of a life.
///
/// If the host works in some hours of each day only, these hours are spread evenly over the days of
/// a window. Otherwise a window of a few days would have a night too many or too few.
pub(super) struct Clock {
    /// The life when the present stretch began.
    before: State,
    /// The simulation when the present stretch began.
    from: State,
    weight: Weight,
    hours: DailyHours,
}

impl Clock {
    /// Starts a life. With `wear.acceleration`, the drive itself counts each erase as several
    /// cycles, except erases for wear levelling.
    pub(super) fn begin(drive: &Drive, hours: DailyHours) -> Self {
        let state = State::of(0, hours, drive);
        let life = f64::from(drive.config().wear.acceleration.max(1));
        Self { before: state.clone(), from: state, weight: Weight { life, erases: 1.0 }, hours }
    }

    /// Begins a stretch with another weight. `pec` is the number of P/E cycles of the life at this
    /// moment, if it does not follow from the stretch that ends.
    pub(super) fn turn(&mut self, at: Ns, drive: &Drive, weight: f64, pec: Option<f64>) {
        let now = State::of(at, self.hours, drive);
        self.before = State {
            ns: self.lived(now.ns),
            used_ns: self.used(now.ns),
            pec: pec.unwrap_or_else(|| self.pec(drive)),
            counts: self.counts(now.counts.clone()),
        };
        self.from = now;
        self.weight = Weight { life: weight, erases: weight };
    }

    /// Changes the weight of the present stretch, from its beginning on.
    pub(super) fn reweigh(&mut self, weight: f64) {
        self.weight = Weight { life: weight, erases: weight };
    }

    /// Returns the length of the life, in nanoseconds, up to a simulated time.
    pub(super) fn lived(&self, at: f64) -> f64 {
        if self.weight.life > 1.0 {
            return self.before.ns + (self.used(at) - self.before.used_ns) / self.hours.share();
        }
        self.before.ns + self.weight.life * (at - self.from.ns)
    }

    /// Returns the part of the life that lies in the hours of use, in nanoseconds, up to a
    /// simulated time.
    pub(super) fn used(&self, at: f64) -> f64 {
        let used = self.hours.worked(at as Ns) as f64;
        self.before.used_ns + self.weight.life * (used - self.from.used_ns)
    }

    /// Returns the simulated time at which the life has the given length, or a later time.
    pub(super) fn simulated(&self, lived: Ns) -> Ns {
        let left = (lived as f64 - self.before.ns).max(0.0);
        if self.weight.life > 0.0 {
            (self.from.ns + left / self.weight.life).ceil() as Ns
        } else {
            Ns::MAX
        }
    }

    /// Returns the P/E cycles of the mean block in the life so far.
    pub(super) fn pec(&self, drive: &Drive) -> f64 {
        self.before.pec + self.weight.erases * (drive.mean_cycles() - self.from.pec)
    }

    /// Converts the drive's counts to counts of the life.
    pub(super) fn counts(&self, now: Counts) -> Counts {
        self.weight.add(&self.before.counts, &self.from.counts, now)
    }

    /// Returns the number of pages programmed in the life so far, by cause.
    pub(super) fn programs(&self, drive: &Drive) -> ByCause {
        let now = ByCause::from(drive.flash_counts().programs);
        let (before, from) = (&self.before.counts.programs, &self.from.counts.programs);
        self.weight.by_cause(before, from, &now)
    }

    /// Returns the expected number of lost codewords per bit that the host read in the life so far.
    pub(super) fn uber(&self, drive: &Drive) -> Option<f64> {
        let (before, from) = (self.before.counts.errors, self.from.counts.errors);
        let (errors, bits) = self.weight.errors(before, from, errors(drive))?;
        (bits > 0.0).then(|| errors / bits)
    }
}
