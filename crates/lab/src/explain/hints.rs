//! What a host's hints would allow: how long a read of data may take for each word, and when a
//! technique acts then.

use serde::Serialize;
use vpass_core::base::latency::AccessLatency;
use vpass_core::config::{ConfigError, DriveConfig};
use vpass_core::disturb::table::LimitTable;
use vpass_core::hints::Budgets;
use vpass_core::slots::reclaim::Technique;
use vpass_core::slots::reclaim::promise::Prospect;

use super::Rewrite;

/// What a word allows.
#[derive(Serialize)]
pub struct Word {
    /// The word: smallest, typical or idle.
    pub access_latency: &'static str,
    /// What a read may take; null where `reclaim.retries` decides.
    pub budget_us: Option<f64>,
    /// Retries that fit in that, of a page of the slowest kind.
    pub retries: u8,
    /// What a read with so many takes on an idle drive.
    pub latency_us: f64,
    /// Wordline groups on which more retries count, because the age that data may come to leaves
    /// too little otherwise; at the drive's starting P/E count.
    pub raised_budgets: u32,
    /// When the technique acts then, at the same P/E count.
    pub thresholds: Vec<Rewrite>,
}

/// What the words allow on this drive.
///
/// # Errors
/// A drive that cannot be.
pub(super) fn words(
    config: &DriveConfig,
    technique: &Technique,
) -> Result<Option<Vec<Word>>, ConfigError> {
    // A budget without room for a read is refused to those who give hints, and to nobody else.
    let Ok(Some(budgets)) = Budgets::of(config) else { return Ok(None) };
    let mut config = config.clone();
    config.hints.said = Some(vec![]);
    let Some(table) = LimitTable::of(&config) else { return Ok(None) };
    let (prospect, pec) = (Prospect::new(&config, technique, true)?, config.start.pec);
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
