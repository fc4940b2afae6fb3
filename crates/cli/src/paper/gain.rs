//! What a technique gains on the mean read, taken apart: in the sensing of the read itself, in the
//! queue behind other reads that sense less, and in the queue behind fewer or shorter programs.
//!
//! ```text
//! all              mean of `over` - mean of the technique
//! sensing          the same of the sensing of a page alone
//! fewer programs   all, less the same in runs in which programs and erases take no time
//! queueing         what is left
//! ```

use std::fmt::Write;

use serde::Deserialize;
use vpass_lab::failure::Failure;
use vpass_lab::numbers::digits;

use super::csv::field;
use super::group::Group;
use super::run::Run;
use crate::table::Table;

/// `[[gain]]`: a table with a row for each variant of a group that has a twin in which programs and
/// erases take no time.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gain {
    /// The file, without its ending.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) group: String,
    /// The technique that gains.
    pub(super) technique: String,
    /// The one that it is held against.
    pub(super) over: String,
    /// How the twin of a variant is called: the variant's name, and this behind it.
    pub(super) twin: String,
}

const MEAN: &str = "/latency_us/read/mean";
const SENSING: &str = "/page_reads/sense_us";

/// Shares of the mean read of `over`, in the mean over workloads and seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Shares {
    all: f64,
    sensing: f64,
    queueing: f64,
    programs: f64,
}

impl Gain {
    /// Checks what a group's runs must have for it.
    ///
    /// # Errors
    /// What is missing.
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
            "gain {}: `stages = true` is expected in the periods of group {}, and of each variant \
             V a twin of the name \"V{}\"",
            self.name, group.name, self.twin
        )))
    }

    fn is_twin(&self, variant: &str) -> bool {
        variant.ends_with(&self.twin)
    }

    fn twin_of(&self, variant: &str) -> String {
        format!("{variant}{}", self.twin)
    }

    /// The gains of the group's variants, in order.
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

    /// None where a run could not keep up.
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

    /// For the folder.
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

    /// For reading.
    pub(super) fn table(&self, runs: &[Run]) -> Result<Table, Failure> {
        let mut table = Table::new(["", "all", "sensing", "queueing", "fewer programs"]);
        for (variant, shares) in self.rows(runs)? {
            let of = |share: fn(&Shares) -> f64| {
                shares.as_ref().map_or_else(|| "-".into(), |s| digits(share(s)))
            };
            table.row([
                variant.to_owned(),
                of(|s| s.all),
                of(|s| s.sensing),
                of(|s| s.queueing),
                of(|s| s.programs),
            ]);
        }
        Ok(table)
    }
}
