//! Hint budgets: longest latency of a read for each hint, and the number of retries that fit.
//!
//! ```text
//! sensing 60, transfer 7, decode 20, each retry 150:     87    237    387    537
//! 400 us allows 2 retries; 5 ms allows all retries; 80 us allows no read, and is refused
//! ```

use crate::base::latency::AccessLatency;
use crate::base::units::{Ns, transfer_ns, us};
use crate::config::{ConfigError, DriveConfig, ErrorLaw};
use crate::error::ladder::{Ladder, ReadTime};

/// Budget of one hint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Latency that the user gave; `None` if the hint follows `reclaim.retries`.
    pub us: Option<f64>,
    /// Number of retries that fit for a page of the slowest kind.
    pub retries: u8,
}

/// Budgets of all hints on one drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Budgets {
    by_word: [Budget; AccessLatency::COUNT],
    /// Latency of a read of a page of the slowest kind on an idle drive, by its number of retries.
    takes: Vec<Ns>,
}

impl Budgets {
    /// Creates the budgets of a resolved configuration; `None` if reads take no retries.
    ///
    /// # Errors
    /// Fails if a budget is too small for a read without retries.
    pub fn of(config: &DriveConfig) -> Result<Option<Self>, ConfigError> {
        let ladder = Ladder::of(&config.ecc)?
            .filter(|ladder| ladder.retries() > 0 && config.error.model != ErrorLaw::None);
        let Some(ladder) = ladder.filter(|_| config.disturb.model.has_table()) else {
            return Ok(None);
        };
        let takes = latencies(config, &ladder);
        let hints = &config.hints;
        let given = [
            ("smallest", hints.smallest_us),
            ("typical", Some(hints.typical_us)),
            ("idle", Some(hints.idle_us)),
        ];
        let mut by_word = [Budget {
            us: None,
            retries: config.reclaim.retries.min(ladder.retries() as u32) as u8,
        }; AccessLatency::COUNT];
        for (budget, (word, given)) in by_word.iter_mut().zip(given) {
            let Some(given) = given else { continue };
            let Some(retries) = takes.iter().rposition(|ns| *ns <= us(given)) else {
                let least = takes[0] as f64 / 1e3;
                return Err(ConfigError::new(format!(
                    "hints.{word}_us = {given}: it must be at least {least}, because a read \
                     without retries takes up to {least} us on an idle drive"
                )));
            };
            *budget = Budget { us: Some(given), retries: retries as u8 };
        }
        Ok(Some(Self { by_word, takes }))
    }

    /// Returns the budget of a hint.
    pub fn at(&self, latency: AccessLatency) -> Budget {
        self.by_word[latency as usize]
    }

    /// Returns the latency of a read of a page of the slowest kind with this number of retries, on
    /// an idle drive.
    pub fn latency(&self, retries: u8) -> Ns {
        self.takes[usize::from(retries)]
    }
}

/// Returns the latency of a whole page of the slowest kind, by the number of retries from 0.
fn latencies(config: &DriveConfig, ladder: &Ladder) -> Vec<Ns> {
    let (t, page) = (&config.timing, config.geometry.page_size.0);
    let (transfer, link) = (transfer_ns(page, t.channel_mb_s), transfer_ns(page, t.host_mb_s));
    let of_kind = |sense: f64, retries: usize| -> Ns {
        let first = ReadTime { sense: us(sense), transfer, decode: us(t.ecc_us) };
        let levels = (0..=retries).map(|level| ladder.time(level, first));
        link + levels.map(|time| time.sense + time.transfer + time.decode).sum::<Ns>()
    };
    let kinds = t.sense_per_kind_us(config.geometry.cell);
    (0..=ladder.retries())
        .map(|retries| kinds.iter().map(|sense| of_kind(*sense, retries)).max().unwrap_or(0))
        .collect()
}
