//! Search for the smallest scale at which a generated workload meets its statistics. The search
//! runs if the given scale is too small.
//!
//! Larger scales are tried one by one, because the error does not fall steadily as the scale grows.

use vpass_drive::base::request::RequestSource;
use vpass_lab::failure::Failure;
use vpass_workload::statistics::{
    DiskStatistics, Meter, Statistic, StatisticsConfig, StatisticsSource, agreement,
};

use super::fit::{CAPACITY, drain};
use crate::progress::Bar;

/// One generated pass of a workload, with the statistics that were measured in this pass.
pub(super) struct GeneratedPass {
    pub(super) target: DiskStatistics,
    pub(super) requests: u64,
    pub(super) statistics: Vec<Statistic>,
}

impl GeneratedPass {
    /// Generates one pass of a workload and measures the statistics of this pass.
    pub(super) fn of(mut source: StatisticsSource, scale: f64) -> Result<Self, Failure> {
        let target = source.statistics().clone();
        let mut meter = Meter::of(&target);
        let progress = Bar::new(
            source.len_hint(),
            &format!("requests generated and measured at scale {scale}"),
        );
        let requests = drain(&mut source, &progress, |request| meter.add(request))?;
        let statistics = agreement(&target, &meter.finish());
        Ok(Self { target, requests, statistics })
    }

    /// Returns the number of statistics with a larger error than the tolerance.
    pub(super) fn missed(&self, tolerance_percent: f64) -> usize {
        self.statistics.iter().filter(|s| s.error_percent > tolerance_percent).count()
    }

    /// Returns the largest error among all statistics, in percent.
    pub(super) fn worst_percent(&self) -> f64 {
        self.statistics.iter().map(|s| s.error_percent).fold(0.0, f64::max)
    }
}

/// Result of a search for a larger scale.
pub(super) struct Found {
    /// First scale that meets all statistics; `None` if no scale does.
    pub(super) scale: Option<f64>,
    /// All scales that were tried. If a scale meets all statistics, it is the last in the list.
    pub(super) tried: Vec<f64>,
}

/// Tries scales above the configured scale, in ascending order, up to 1.
///
/// # Errors
/// Returns an error if the user interrupts the search.
pub(super) fn larger_scale(
    config: &StatisticsConfig,
    seed: u64,
    tolerance_percent: f64,
) -> Result<Found, Failure> {
    let mut found = Found { scale: None, tried: vec![] };
    for scale in scales_above(config.scale) {
        found.tried.push(scale);
        // Some scales are too small for generating any workload.
        let Ok(source) =
            StatisticsSource::new(&StatisticsConfig { scale, ..config.clone() }, CAPACITY, seed)
        else {
            continue;
        };
        if GeneratedPass::of(source, scale)?.missed(tolerance_percent) == 0 {
            found.scale = Some(scale);
            break;
        }
    }
    Ok(found)
}

/// Leading digits of the scales to try, such as 1.2 for the scales 0.12 and 0.012. Each scale is at
/// most a third larger than the previous scale.
const STEPS: [f64; 10] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

fn scales_above(scale: f64) -> Vec<f64> {
    let decade = scale.log10().floor() as i32;
    let decades = (decade..0).flat_map(|decade| {
        STEPS.map(|step| format!("{step}e{decade}").parse::<f64>().expect("a number"))
    });
    decades.chain([1.0]).filter(|larger| *larger > scale * (1.0 + 1e-9)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_rise_to_the_whole_disk() {
        assert_eq!(scales_above(0.4), [0.5, 0.6, 0.8, 1.0]);
        assert_eq!(scales_above(0.05)[..5], [0.06, 0.08, 0.1, 0.12, 0.15]);
        assert_eq!(scales_above(0.001).len(), 30);
        assert_eq!(scales_above(0.9), [1.0]);
        assert!(scales_above(1.0).is_empty());
    }
}
