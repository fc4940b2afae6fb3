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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(hints: &str) -> Result<Option<Budgets>, ConfigError> {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "4KiB" }}
            timing = {{ sense_us = [50, 60], program_us = 500, erase_us = 3000, channel_mb_s = 0, ecc_us = 20 }}
            drive = {{ spare = 0.5 }}
            disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000.0] }}] }}
            error = {{ model = "powerlaw", e = 0.0045, b = 0.0005, m = 0.0, n = 0.2 }}
            ecc = {{ cap = [0.0085, 0.01, 0.012], retry_sense_us = [100, 100], retry_decode_us = [50, 70] }}
            reclaim = {{ retries = 1 }}
            hints = {{ {hints} }}
            "#
        );
        Budgets::of(&toml::from_str::<DriveConfig>(&text).unwrap().resolve()?)
    }

    #[test]
    fn as_many_retries_as_fit_the_slowest_page() {
        // 80, 230 and 400 us.
        let fits = |hints: &str| {
            let budgets = of(hints).unwrap().unwrap();
            AccessLatency::ALL.map(|latency| budgets.at(latency).retries)
        };
        assert_eq!(fits("typical_us = 399.9"), [1, 1, 2]);
        assert_eq!(fits("smallest_us = 80, typical_us = 80, idle_us = 400"), [0, 0, 2]);
        assert_eq!(of("").unwrap().unwrap().latency(2), 400_000);
    }

    #[test]
    fn a_budget_without_room_for_a_read_is_refused() {
        let error = of("smallest_us = 79.9").unwrap_err().to_string();
        assert_eq!(
            error,
            "hints.smallest_us = 79.9: it must be at least 80, because a read without retries \
             takes up to 80 us on an idle drive"
        );
        assert!(
            of("typical_us = 500, idle_us = 499")
                .unwrap_err()
                .to_string()
                .contains("hints.idle_us (499) is below hints.typical_us (500)")
        );
        assert!(
            of("margin = 1.0")
                .unwrap_err()
                .to_string()
                .contains("hints.margin = 1 is outside 0 to 0.9")
        );
    }
}
