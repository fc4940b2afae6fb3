//! Effects of the host's hints. A hint determines the longest allowed read latency. The latency
//! affects the numbers of reads at which the reclaim technique acts.

use serde::Serialize;
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::reclaim::promise::Prospect;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::config::{ConfigError, DriveConfig};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::hints::Budgets;

use super::Rewrite;

/// Effects of one hint.
#[derive(Serialize)]
pub struct Word {
    /// Name of the hint: smallest, typical or idle.
    pub access_latency: &'static str,
    /// Longest latency that a read may have, in microseconds. Null if `reclaim.retries` sets the
    /// number of retries.
    pub budget_us: Option<f64>,
    /// Number of retries that fit into the latency budget, for the slowest page kind.
    pub retries: u8,
    /// Latency of a read with `retries` retries on an idle drive.
    pub latency_us: f64,
    /// Number of wordline groups, at the drive's starting P/E count, that may use more than
    /// `retries` retries. With `retries` retries, old data in these groups would endure too few
    /// reads.
    pub raised_budgets: u32,
    /// Numbers of reads at which the technique acts under this hint, at the drive's starting P/E
    /// count.
    pub thresholds: Vec<Rewrite>,
}

/// Describes the effects of the hints on this drive.
///
/// # Errors
/// Returns an error if the drive is invalid.
pub(super) fn words(
    config: &DriveConfig,
    technique: &Technique,
) -> Result<Option<Vec<Word>>, ConfigError> {
    // A latency budget may be too short for a read. This is an error only if the host gives hints.
    let Ok(Some(budgets)) = Budgets::of(config) else { return Ok(None) };
    let mut config = config.clone();
    config.hints.said = Some(vec![]);
    let Some(table) = LimitTable::of(&config) else { return Ok(None) };
    let (prospect, pec) = (Prospect::new(&config, technique)?, config.start.pec);
    let word = |latency: AccessLatency| {
        let budget = budgets.at(latency);
        Word {
            access_latency: latency.name(),
            budget_us: budget.us,
            retries: budget.retries,
            latency_us: budgets.latency(budget.retries) as f64 / 1e3,
            raised_budgets: table.budget_raised(latency, pec),
            thresholds: prospect
                .thresholds_at(latency, pec)
                .into_iter()
                .map(Rewrite::from)
                .collect(),
        }
    };
    Ok(Some(AccessLatency::ALL.map(word).into()))
}
