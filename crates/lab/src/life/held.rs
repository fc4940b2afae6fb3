//! Share of the drive's reads that the samples serve. A sample of one page in N should serve one
//! read in N. If the host reads some pages very often and the samples do not contain these pages,
//! the samples serve too few reads.
//!
//! ```text
//! the host sends 20,000 reads per second, so a sample of 1/256 should serve 78.125 per second
//! in 1,000 seconds, four samples should serve 4 x 78,125 = 312,500 reads
//! if they serve 250,000 reads, they serve 80 % of their share
//! ```

use vpass_drive::base::span::{SECOND, YEAR};
use vpass_drive::base::units::Cause;

use super::summary::Life;
use super::{End, Lived};
use crate::load::{Generated, Loaded};
use crate::plan::{RunPlan, Workload};

/// Smallest relative difference between served and expected reads that a sentence reports.
const WITHIN: f64 = 0.02;
/// Smallest number of reads of a life for which a difference is reported. In a life with fewer
/// reads, chance alone can explain the difference.
const FEWEST_READS: u64 = 100_000;

/// Returns the served reads of the samples, divided by the expected reads. A sample of one page in
/// N should serve one read in N. Returns `None` for whole drives, or if the rate of reads is
/// unknown.
pub(super) fn of_reads(plans: &[RunPlan], lives: &[Lived]) -> Option<f64> {
    let shares = plans.iter().zip(lives).map(|(plan, lived)| of_life(plan, lived));
    let shares = shares.collect::<Option<Vec<f64>>>()?;
    Some(shares.iter().sum::<f64>() / shares.len() as f64).filter(|share| share.is_finite())
}

/// Returns the ratio of served to expected reads for one life. Returns `None` if the ratio is
/// unknown.
fn of_life(plan: &RunPlan, lived: &Lived) -> Option<f64> {
    let of = Some(plan.sample).filter(|sample| !sample.is_whole())?.of;
    let rate = reads_per_s(plan)?;
    let seconds = lived.years * YEAR as f64 / SECOND as f64;
    let share = lived.host.read_requests as f64 * f64::from(of) / (rate * seconds);
    (lived.host.read_requests >= FEWEST_READS && share.is_finite() && share > 0.0).then_some(share)
}

/// Returns the factor that converts the years of a sample to years of the drive. The factor changes
/// only the wear by reads, because other wear does not depend on the reads of the sample. If the
/// drive outlives the simulation, the factor is 1.
///
/// ```text
/// a sample serves 106 % of its share of the reads, and reads cause all wear:
/// 13.3 years of the sample are 14.1 years of the drive
/// ```
pub(super) fn factor(plan: &RunPlan, lived: &Lived) -> f64 {
    let Some(share) = of_life(plan, lived).filter(|_| lived.end != End::LivesOn) else {
        return 1.0;
    };
    let programs = lived.programs.sum() as f64;
    let by_reads = match lived.host.write_bytes {
        0 => 1.0,
        _ => lived.programs.of(Cause::Reclaim) as f64 / programs.max(1.0),
    };
    1.0 / (1.0 - by_reads + by_reads / share)
}

/// Returns the number of read requests per second, as a mean over a whole day.
fn reads_per_s(plan: &RunPlan) -> Option<f64> {
    let Workload::Generated(Loaded { config, .. }) = &plan.workload else { return None };
    let rate = match config {
        Generated::Workload(file) => file.workload.rate? * file.workload.read_share,
        Generated::Model(file) => {
            plan.model_law().ok()?.requests_per_token() * file.workload.model.tokens_per_second
        }
        Generated::Parts(file) => file.workload.read_rate(),
        Generated::Phases(_) => return None,
    };
    Some(rate * plan.hours().share()).filter(|rate| *rate > 0.0)
}

/// Returns a sentence about samples that serve too many or too few reads. Returns `None` if all
/// samples serve about the right number of reads. `is_corrected` says whether the years are
/// corrected for the number of reads, as on a rung.
pub fn said(lives: &[Life], is_corrected: bool) -> Option<String> {
    let off = |share: &f64| (share - 1.0).abs() > WITHIN;
    let share = lives.iter().filter_map(|life| life.reads_held).find(off)?;
    let years = if is_corrected {
        "The years are corrected for this share."
    } else {
        "The years and the interval hold for the simulated samples; more samples represent the \
         drive better."
    };
    Some(format!(
        "The samples serve {:.0} % of the reads expected for their size: some pages are read very \
         often, and few samples contain such pages. {years}",
        100.0 * share
    ))
}

#[cfg(test)]
mod tests {
    use vpass_workload::synthetic::Sample;

    use super::super::summary::tests::life;
    use super::*;
    use crate::life::tests::lived;
    use crate::mean_ci95::MeanCi95;
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Gear, Named, Setup};

    #[test]
    fn years_follow_the_reads_of_a_sample_until_the_simulation_ends() {
        let base = Base {
            gear: Gear::Fluid,
            set: vec!["workload.rate=20k".into()],
            ..Base::new("modern-tlc")
        };
        let setup = Setup {
            sample: Sample { of: 256, residue: 0 },
            ..Setup::new(base, Named::Workload("zipf-read".into()))
        };
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        // A sample of 1/256 should serve 78.125 of 20,000 reads per second. This sample serves 104
        // % of its share.
        let seconds = 100.0 * 365.0 * 86_400.0;
        let mut worn = lived(100.0);
        worn.host.read_requests = (1.04 * 78.125 * seconds) as u64;
        assert!((factor(&plan, &worn) - 1.04).abs() < 1e-6, "{}", factor(&plan, &worn));
        let lives_on = Lived { end: End::LivesOn, ..worn };
        assert!((factor(&plan, &lives_on) - 1.0).abs() < 1e-12, "100 years are where it ended");
    }

    #[test]
    fn samples_without_the_hottest_pages_say_so() {
        let of = |held| Life { reads_held: held, ..life(MeanCi95 { mean: 1.0, ci95: None }) };
        assert!(said(&[of(Some(0.8))], false).unwrap().contains("serve 80 % of the reads"));
        assert!(said(&[of(Some(1.3))], true).unwrap().contains("are corrected for this share"));
        assert!(said(&[of(Some(0.985)), of(None), of(Some(1.01))], false).is_none());
    }
}
