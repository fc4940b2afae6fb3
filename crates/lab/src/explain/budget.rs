//! Error budget of a page. Wear, age and reads cause errors and so use up the budget. When the
//! budget is used up, the page needs another retry.

use std::collections::BTreeSet;

use serde::Serialize;
use vpass_drive::base::dose::Dose;
use vpass_drive::base::span::{DAY, Span};
use vpass_drive::base::units::{Ns, transfer_ns, us};
use vpass_drive::config::{ConfigError, DriveConfig};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::error::budget::{AgedLimits, Asked};
use vpass_drive::error::ladder::ReadTime;

/// Error budgets of pages, and decoding levels of a drive.
#[derive(Serialize)]
pub struct ErrorBudget {
    /// Speed at which data ages in this drive, divided by the speed at the temperature for which
    /// the retention law is given.
    pub acceleration: f64,
    /// Age at which data is lost if the drive has not refreshed the data.
    pub longest_age: Span,
    /// Ages for which error budgets are given. The first age is 0.
    pub ages: Vec<Span>,
    /// Levels of decoding: the first read, and one level for each retry.
    pub levels: Vec<Level>,
    /// Error budgets, one for each wordline group, page kind and P/E count.
    pub pages: Vec<PageBudget>,
}

impl ErrorBudget {
    /// Removes all pages except the weakest at each P/E count. The fresh data of the weakest page
    /// endures the smallest dose (read disturbance).
    pub fn keep_weakest(&mut self) {
        let fresh =
            |page: &PageBudget| page.levels.first().map_or(f64::NEG_INFINITY, |l| l.dose[0]);
        self.pages.sort_by(|a, b| a.pec.cmp(&b.pec).then(fresh(a).total_cmp(&fresh(b))));
        self.pages.dedup_by_key(|page| page.pec);
    }
}

/// Decoding level: the first read or one of the retries.
#[derive(Serialize)]
pub struct Level {
    /// Number of retries that come before this level.
    pub retries: usize,
    /// Highest RBER that the level decodes.
    pub cap: f64,
    /// Number of wrong bits per codeword that the level corrects; null if the codeword is unknown.
    pub corrects: Option<u32>,
    /// Time of sensing, transfer and decoding at this level, in microseconds, by page kind. The
    /// time of earlier levels is not included.
    pub takes_us: Vec<(&'static str, f64)>,
}

/// Error budget of a page in the weakest block. The page is in the weakest layer of a wordline
/// group.
#[derive(Serialize)]
pub struct PageBudget {
    /// Number of P/E cycles.
    pub pec: u32,
    /// Wordline group of the page.
    pub group: String,
    /// Page kind: LSB, CSB and so on.
    pub page_kind: &'static str,
    /// RBER of fresh data.
    pub base: f64,
    /// Increase of the RBER by age, for each age in `ages`. Each age is first rounded up to the end
    /// of an age step, as in the simulated drive.
    pub retention: Vec<f64>,
    /// Increase of the RBER per dose unit; 0 if fresh data already needs a retry.
    pub slope: f64,
    /// Dose and age that the page endures at each decoding level. Empty if fresh data already needs
    /// a retry.
    pub levels: Vec<Left>,
}

/// Dose and age that a page endures with a given number of retries.
#[derive(Serialize)]
pub struct Left {
    /// Number of allowed retries.
    pub retries: usize,
    /// Number of dose units that a page endures at each age. The number is negative if age alone
    /// exceeds the error budget.
    pub dose: Vec<f64>,
    /// Age, in days, at which the allowed retries no longer suffice for an unread page. Null if the
    /// allowed retries always suffice.
    pub ends_days: Option<f64>,
}

/// Computes the error budgets of a drive at the given P/E counts. Returns `None` if the drive has
/// no error rates.
///
/// # Errors
/// Returns an error if the drive is invalid.
pub(super) fn error_budget(
    config: &DriveConfig,
    counts: &BTreeSet<u32>,
) -> Result<Option<ErrorBudget>, ConfigError> {
    let Some(table) = LimitTable::of(config) else { return Ok(None) };
    let Some(limits) = AgedLimits::of(config)? else { return Ok(None) };
    let longest_age = config.error.longest_age;
    let shown: BTreeSet<Span> = [Span(0), Span(DAY), Span(30 * DAY), longest_age]
        .into_iter()
        .filter(|age| *age <= longest_age)
        .collect();
    let ages: Vec<Span> = shown.into_iter().collect();
    let mut pages = vec![];
    for pec in counts {
        for group in 0..table.groups() {
            let kinds = 0..config.geometry.cell.kinds().len();
            pages.extend(
                kinds.map(|kind| page(config, &table, &limits, &ages, (*pec, group, kind))),
            );
        }
    }
    let levels =
        (0..=limits.ladder().retries()).map(|level| of_level(config, &limits, level)).collect();
    Ok(Some(ErrorBudget {
        acceleration: limits.rates().acceleration(),
        longest_age,
        ages,
        levels,
        pages,
    }))
}

fn of_level(config: &DriveConfig, limits: &AgedLimits, level: usize) -> Level {
    let (t, cell, ladder) = (&config.timing, config.geometry.cell, limits.ladder());
    let transfer = transfer_ns(config.geometry.page_size.0, t.channel_mb_s);
    let takes = |sense_us: f64| {
        let time =
            ladder.time(level, ReadTime { sense: us(sense_us), transfer, decode: us(t.ecc_us) });
        (time.sense + time.transfer + time.decode) as f64 / 1e3
    };
    let takes_us = cell
        .kinds()
        .iter()
        .copied()
        .zip(t.sense_per_kind_us(cell).into_iter().map(takes))
        .collect();
    Level { retries: level, cap: ladder.cap(level), corrects: ladder.corrects(level), takes_us }
}

fn page(
    config: &DriveConfig,
    table: &LimitTable,
    limits: &AgedLimits,
    ages: &[Span],
    (pec, group, kind): (u32, usize, usize),
) -> PageBudget {
    let limit = |level: usize, step: usize| {
        let limit = limits.truth(table, pec, Asked { group, kind, level, step });
        AgedLimits::of_kind(table, limit, kind)
    };
    let step = |age: Ns| limits.ages().step(age);
    let left = |level: usize| Left {
        retries: level,
        dose: ages.iter().map(|age| Dose::of_1024ths(limit(level, step(age.0))).units()).collect(),
        ends_days: limits.ends(0, |step| limit(level, step)).map(|age| age as f64 / DAY as f64),
    };
    // Each age is rounded up to the end of an age step, as in the drive's read limits.
    let counts_as = |age: &Span| limits.ages().counts_as(step(age.0));
    let retention =
        |age: &Span| counts_as(age).map_or(0.0, |age| limits.rates().retention(pec, group, age));
    let slope = limits.slope(table, pec, group, kind);
    PageBudget {
        pec,
        group: config.disturb.groups[group].clone(),
        page_kind: config.geometry.cell.kinds()[kind],
        base: limits.rates().base(pec, group, kind),
        retention: ages.iter().map(retention).collect(),
        slope,
        levels: if slope > 0.0 {
            (0..=limits.ladder().retries()).map(left).collect()
        } else {
            vec![]
        },
    }
}
