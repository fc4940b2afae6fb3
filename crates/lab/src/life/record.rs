//! `life.json`: results of `vpass life --out DIR`. `--json` prints the same object. A number with
//! an interval has a `mean` and a `ci95`, which is half the width of the 95 % interval over lives.
//!
//! | key | type | meaning |
//! |---|---|---|
//! | `schema` | integer | Version of this file's format: 1. A new key does not change the version. |
//! | `vpass` | text | Version of vpass. |
//! | `drive`, `workload`, `workload_source`, `gear` | text | Same meaning as in `summary.json`. |
//! | `workload_generated` | true or false | Same meaning as in `summary.json`. |
//! | `seed`, `seeds`, `samples`, `sample` | integer, text | First seed, number of seeds, number of samples, and share of the pages in a sample. |
//! | `rated_pec` | integer | Number of P/E cycles of the mean block at which the drive is worn out. |
//! | `years_at_most`, `uber_at_most` | number or null | Limits that can end a life before the drive is worn out. |
//! | `verdict` | list of text | Sentences about lost data and the longest life. |
//! | `longest` | text or null | Label of the technique that lives longest; null if two lives are too close to rank. |
//! | `not_told_apart` | list of text | Labels of the lives whose intervals overlap, so that any of them may be the longest. The longest mean is first. Empty if one life is clearly the longest. |
//! | `rung`, `acceleration` | integer | Rung of the ladder, and P/E cycles of the lives per simulated P/E cycle (rounded); absent for exact lives. |
//! | `sampled` | object | Numbers of pages and of blocks in the samples; absent for whole drives. |
//! | `refused` | list of object | Techniques that have no life, each with the reason. Absent if every technique has a life. |
//! | `years_by_tbw` | number or null | Years in which the host writes the terabytes that the data sheet states; null if no sheet states them, and if the host writes nothing. |
//! | `start_pec`, `set`, `drive_configuration`, `workload_configuration`, `trace_options`, `traces` | | Configuration of the lives, in the form of `manifest.json`. |

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ladder::Rung;
use super::summary::Life;
use super::{MOST_YEARS, Until, verdict};
use crate::as_json;
use crate::compare::refused::Refused;
use crate::failure::Failure;
use crate::manifest;
use crate::plan::RunPlan;
use crate::results::About;

/// Facts about all lives of one `vpass life` command: the drive, the samples, and the refused
/// techniques.
#[derive(Clone, Debug)]
pub struct Setting<'a> {
    /// Plan of the whole drive.
    pub whole: &'a RunPlan,
    /// Plan of the lives, for the whole drive or for a sample.
    pub plan: &'a RunPlan,
    /// Number of disjoint samples that are simulated for each technique.
    pub samples: u32,
    /// Number of seeds that are simulated for each technique.
    pub seeds: u32,
    /// Conditions that end a life before the drive is worn out.
    pub until: Until,
    /// Rung to which the lives belong; `None` for exact lives.
    pub rung: Option<Rung>,
    /// Numbers of pages and blocks in the samples. `None` if whole drives are simulated.
    pub sampled: Option<Sampled>,
    /// Techniques without a life: the technique does not suit the drive and the workload, or the
    /// drive stopped.
    pub refused: &'a [Refused],
    /// Overrides of `--set`.
    pub set: &'a [String],
}

/// Numbers of pages and blocks in all samples of a technique together.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Sampled {
    /// Number of pages in the samples that the workload reads or writes.
    pub pages: u64,
    /// Number of blocks in the samples.
    pub blocks: u64,
}

/// Returns how many P/E cycles of the lives a simulated cycle stands for.
fn acceleration(lives: &[Life]) -> u64 {
    let sum = |of: fn(&Life) -> f64| lives.iter().map(of).sum::<f64>();
    let cycles = sum(|life| life.pec_mean.mean - life.pec_first);
    (cycles / sum(|life| life.simulated_cycles)).round().max(1.0) as u64
}

/// Results of `vpass life`. The record of the configuration has the same keys as in
/// `manifest.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lives {
    /// Drive, workload and seeds.
    #[serde(flatten)]
    pub about: About,
    /// Share of the pages in a sample.
    pub sample: String,
    /// Number of samples.
    pub samples: u32,
    /// Number of P/E cycles of the mean block at which the drive is worn out.
    pub rated_pec: u32,
    /// Number of years after which a life ends.
    pub years_at_most: f64,
    /// UBER at which a life ends; null without a limit.
    pub uber_at_most: Option<f64>,
    /// Sentences about the longest life.
    pub verdict: Vec<String>,
    /// Label of the technique that lives longest; null if two lives are too close to rank.
    pub longest: Option<String>,
    /// Labels of the lives of which any may be the longest. The longest mean is first.
    pub not_told_apart: Vec<String>,
    /// Lives in the order of the techniques.
    pub techniques: Vec<Life>,
    /// Rung of the ladder; absent for exact lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<u32>,
    /// P/E cycles of the lives per simulated P/E cycle; absent for exact lives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<u64>,
    /// Numbers of pages and blocks in the samples; absent for whole drives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Techniques that have no life.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<Refused>,
    /// Number of P/E cycles at the start.
    pub start_pec: u32,
    /// Overrides of `--set`.
    pub set: Vec<String>,
    /// Configuration of the drive: every key with its value.
    pub drive_configuration: Value,
    /// Configuration of the workload; null for a trace.
    pub workload_configuration: Value,
    /// Options for reading the trace; null for other workloads.
    pub trace_options: Value,
    /// Trace files; empty for other workloads.
    pub traces: Value,
}

impl Lives {
    /// Collects the results of simulated lives.
    ///
    /// # Errors
    /// Returns an error if JSON cannot represent a value, or if a trace file can no longer be read.
    pub fn of(lives: &[Life], setting: &Setting) -> Result<Self, Failure> {
        let Setting { plan, until, rung, .. } = *setting;
        let config = &setting.whole.drive.config;
        let mut workload = as_json::value(&manifest::workload(setting.whole)?)?;
        Ok(Self {
            about: plan.about(setting.seeds),
            sample: plan.sample.to_string(),
            samples: setting.samples,
            rated_pec: plan.drive.config.drive.rated_pec,
            years_at_most: until.years.unwrap_or(MOST_YEARS),
            uber_at_most: until.uber,
            verdict: verdict::sentences(lives),
            longest: verdict::longest(lives).map(|life| life.label.clone()),
            not_told_apart: verdict::not_told_apart(lives)
                .into_iter()
                .map(|life| life.label.clone())
                .collect(),
            techniques: lives.to_vec(),
            rung: rung.map(|rung| rung.number),
            acceleration: rung.map(|_| acceleration(lives)),
            sampled: setting.sampled,
            refused: setting.refused.to_vec(),
            start_pec: config.start.pec,
            set: setting.set.to_vec(),
            drive_configuration: as_json::value(config)?,
            workload_configuration: workload["workload_configuration"].take(),
            trace_options: workload["trace_options"].take(),
            traces: workload["traces"].take(),
        })
    }
}
