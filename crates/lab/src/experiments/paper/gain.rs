//! Gain of a technique: the reduction of the mean read latency. The gain has three parts: shorter
//! sensing of the read itself, less queueing behind sensing, and less queueing behind programs.
//!
//! ```text
//! all              mean latency of the technique `over`, minus mean latency of the technique
//! sensing          mean sensing time of `over`, minus mean sensing time of the technique
//! fewer programs   all, minus the gain in twin runs, where programs and erases take no time
//! queueing         all - sensing - fewer programs
//! ```
use std::fmt::Write;

use serde::Deserialize;

use super::csv::field;
use super::group::Group;
use super::report::Grid;
use super::run::Run;
use crate::failure::Failure;
use crate::numbers::digits;

/// Table `[[gain]]` of a recipe. The results have a row for each variant with a twin. A twin is the
/// same variant with programs and erases that take no time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gain {
    /// File name without its ending.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) group: String,
    /// Technique whose gain the table shows.
    pub(super) technique: String,
    /// Technique with which `technique` is compared.
    pub(super) over: String,
    /// Suffix of the names of twins. The twin of a variant has the variant's name plus this suffix.
    /// In a twin, programs and erases take no time.
    pub(super) twin: String,
}

const MEAN: &str = "/latency_us/read/mean";
const SENSING: &str = "/page_reads/sense_us";

/// Gain and its parts, as shares of the mean read latency under the technique `over`. Each share is
/// a mean over workloads and seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shares {
    all: f64,
    sensing: f64,
    queueing: f64,
    programs: f64,
}

impl Gain {
    /// Checks that the group has all runs that are needed to compute the gain.
    ///
    /// # Errors
    /// Returns an error if a variant has no twin, or if the stages of page reads are not measured.
    pub(super) fn check(&self, group: &Group) -> Result<(), Failure> {
        let twins = group.variants.iter().filter(|v| v.name.ends_with(&self.twin)).count();
        let of_twins = twins > 0
            && group
                .variants
                .iter()
                .all(|v| self.is_twin(&v.name) || group.has_variant(&self.twin_of(&v.name)));
        if group.has_stages() && of_twins {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "gain {}: group {} has periods, and periods need `stages = true` and, for each \
             variant NAME, a variant NAME{}",
            self.name, group.name, self.twin
        )))
    }

    fn is_twin(&self, variant: &str) -> bool {
        variant.ends_with(&self.twin)
    }

    fn twin_of(&self, variant: &str) -> String {
        format!("{variant}{}", self.twin)
    }

    /// Returns the name of each variant of the group, with the gain in this variant.
    fn rows<'a>(&self, runs: &'a [Run]) -> Result<Vec<(&'a str, Option<Shares>)>, Failure> {
        let mut variants: Vec<&str> = vec![];
        for run in runs.iter().filter(|run| run.group == self.group && !self.is_twin(&run.variant))
        {
            if !variants.contains(&run.variant.as_str()) {
                variants.push(&run.variant);
            }
        }
        variants.into_iter().map(|variant| Ok((variant, self.shares(runs, variant)?))).collect()
    }

    /// Returns the gain in a variant, and the parts of the gain. Returns `None` if the drive could
    /// not keep up with the requests in a run of the variant.
    fn shares(&self, runs: &[Run], variant: &str) -> Result<Option<Shares>, Failure> {
        let mean = |variant: &str,
                    technique: &str,
                    pointer: &str|
         -> Result<Option<f64>, Failure> {
            let mut numbers = vec![];
            for run in runs.iter().filter(|run| {
                (run.group == self.group && run.variant == variant) && run.technique == technique
            }) {
                if run.fell_behind {
                    return Ok(None);
                }
                numbers.push(run.number_at(&self.name, pointer)?);
            }
            Ok((!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64))
        };
        let less = |variant: &str, pointer: &str| -> Result<Option<f64>, Failure> {
            Ok(mean(variant, &self.over, pointer)?
                .zip(mean(variant, &self.technique, pointer)?)
                .map(|(over, of)| over - of))
        };
        let (all, sensing) = (less(variant, MEAN)?, less(variant, SENSING)?);
        let (alone, whole) =
            (less(&self.twin_of(variant), MEAN)?, mean(variant, &self.over, MEAN)?);
        let (Some(all), Some(sensing), Some(alone), Some(whole)) = (all, sensing, alone, whole)
        else {
            return Ok(None);
        };
        Ok(Some(Shares {
            all: all / whole,
            sensing: sensing / whole,
            queueing: (alone - sensing) / whole,
            programs: (all - alone) / whole,
        }))
    }

    /// Returns the gains as CSV.
    pub(super) fn csv(&self, runs: &[Run]) -> Result<String, Failure> {
        let mut csv = format!("# {}\nvariant,all,sensing,queueing,fewer_programs\n", self.title);
        for (variant, shares) in self.rows(runs)? {
            let cells = shares.map_or_else(
                || ",,,".into(),
                |s| format!("{},{},{},{}", s.all, s.sensing, s.queueing, s.programs),
            );
            let _ = writeln!(csv, "{},{cells}", field(variant));
        }
        Ok(csv)
    }

    /// Returns the gains as a table.
    pub(super) fn table(&self, runs: &[Run]) -> Result<Grid, Failure> {
        let mut grid = Grid::new(["", "all", "sensing", "queueing", "fewer programs"]);
        for (variant, shares) in self.rows(runs)? {
            let of = |share: fn(&Shares) -> f64| {
                shares.as_ref().map_or_else(|| "-".into(), |s| digits(share(s)))
            };
            grid.row([
                variant.to_owned(),
                of(|s| s.all),
                of(|s| s.sensing),
                of(|s| s.queueing),
                of(|s| s.programs),
            ]);
        }
        Ok(grid)
    }
}
