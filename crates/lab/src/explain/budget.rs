//! The error budget of a page: what wear, age and reads leave of it at each retry, and the age at
//! which each level ends.

use std::collections::BTreeSet;

use serde::Serialize;
use vpass_core::base::dose::Dose;
use vpass_core::base::span::{DAY, Span};
use vpass_core::base::units::{Ns, transfer_ns, us};
use vpass_core::config::{ConfigError, DriveConfig};
use vpass_core::disturb::table::LimitTable;
use vpass_core::error::budget::{AgedLimits, Asked};
use vpass_core::error::ladder::ReadTime;

/// What is left of data at each retry.
#[derive(Serialize)]
pub struct ErrorBudget {
    /// How many times as fast as at the temperature of the law data ages.
    pub acceleration: f64,
    /// Older data is lost where nothing refreshes it.
    pub longest_age: Span,
    /// Ages that the numbers of each page are for, youngest first; the first is data without age.
    pub ages: Vec<Span>,
    /// The first read, and each retry.
    pub levels: Vec<Level>,
    /// A page of each group and kind, at each P/E count.
    pub pages: Vec<PageBudget>,
}

/// A level of the ladder.
#[derive(Serialize)]
pub struct Level {
    /// Retries made.
    pub retries: usize,
    /// RBER up to which it decodes.
    pub cap: f64,
    /// Wrong bits of a codeword that it corrects; null where no codeword is known.
    pub corrects: Option<u32>,
    /// What this level alone takes, sensing, transfer and decoding, by page kind.
    pub takes_us: Vec<(&'static str, f64)>,
}

/// A page of a group's worst layer in the worst block.
#[derive(Serialize)]
pub struct PageBudget {
    /// P/E cycles.
    pub pec: u32,
    /// Wordline group.
    pub group: String,
    /// LSB, CSB and so on.
    pub page_kind: &'static str,
    /// RBER of fresh data.
    pub base: f64,
    /// What each age adds to it, counted to the end of its step as the drive does.
    pub retention: Vec<f64>,
    /// What a dose unit adds to it; 0 where fresh data is not decoded without retry.
    pub slope: f64,
    /// What is left at each level; empty where fresh data is not decoded without retry.
    pub levels: Vec<Left>,
}

/// What a page may still take with so many retries.
#[derive(Serialize)]
pub struct Left {
    /// Retries that may be made.
    pub retries: usize,
    /// Dose units at each age; below 0 where that age alone is too much.
    pub dose: Vec<f64>,
    /// The age at which a page that nobody reads needs more retries than these; null where none
    /// brings it there.
    pub ends_days: Option<f64>,
}

/// The budget of this drive at these P/E counts; none where it says nothing of errors.
///
/// # Errors
/// A drive that cannot be.
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
    // Age counts to the end of its step, here as in the limits.
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
