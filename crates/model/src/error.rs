//! Error rates: effects of wear, age and reads on data, and the error rates that each retry
//! decodes. The tables are computed once, and shared by drive and oracle.
//!
//! ```text
//! RBER(page) = base(P/E, group, kind) + retention(P/E, age, group) + slope x dose      `rate`, `ages`
//! level k decodes up to cap_k                                                          `ladder`, `tail`
//! limit_k(age) = (cap_k - base - retention) / slope, in dose units                     `budget`, `floors`
//! chances of a read at an error rate                                                   `chance`
//! limits from one code and its target                                                  `bch`
//! what a stripe with parity loses, at one read and over all                            `stripe`, `expected`
//! ```
//!
//! With `slope = (cap_0 - base) / ERC_MAX`, data without age has exactly the limits of `[disturb]`.

pub mod ages;
pub mod bch;
pub mod budget;
pub mod chance;
pub mod expected;
mod floors;
pub mod ladder;
pub mod rate;
pub mod stripe;
pub mod tail;

use crate::config::{BchTarget, Combine, ConfigError, DriveConfig, ErrorLaw, require};
use crate::disturb::table::LimitTable;
use ladder::Ladder;
use rate::Rates;

/// Checks that `[error]`, `[ecc]` and `[disturb]` agree. Each table has been checked by itself.
pub(crate) fn check(config: &DriveConfig) -> Result<(), ConfigError> {
    require(!config.error.noise || config.ecc.codeword.is_some(), || {
        "error.noise = true draws the number of wrong bits of each codeword, so the size of a \
         codeword is needed: set ecc.codeword"
            .into()
    })?;
    require(!config.error.noise || config.error.model != ErrorLaw::None, || {
        "error.noise = true needs error rates, but error.model = \"none\" has none; set \
         error.noise = false"
            .into()
    })?;
    require(!config.ecc.start_from_last || config.error.model != ErrorLaw::None, || {
        "ecc.start_from_last = true needs read retries, but with error.model = \"none\", no read \
         is retried; set ecc.start_from_last = false"
            .into()
    })?;
    let draws_for_pages = config.bch.target == BchTarget::Stripe || !config.bch.spread().is_none();
    require(!config.error.noise || !draws_for_pages, || {
        "error.noise = true does not work with bch.target = \"stripe\" or a spread of error rates, \
         which use expected numbers; set error.noise = false"
            .into()
    })?;
    let independent =
        config.error.model == ErrorLaw::Bch && config.bch.combine == Combine::Independent;
    require(!independent || !config.error.noise, || {
        "error.noise = true draws from one error rate per page, but bch.combine = \"independent\" \
         has two rates, one for reads and one for age; set bch.combine = \"sum\""
            .into()
    })?;
    let ladder = Ladder::of(&config.ecc)?;
    if config.error.model == ErrorLaw::None {
        return Ok(());
    }
    let table = LimitTable::of(config).ok_or_else(|| {
        let model = config.disturb.model.name();
        let sentence = format!(
            "error.model needs an error budget for age and reads, but disturb.model = \"{model}\" \
             has none; choose a model with a disturb.table"
        );
        ConfigError::new(sentence)
    })?;
    let ladder = ladder.ok_or_else(|| {
        ConfigError::new(
            "error.model needs the error rate that each level decodes: set ecc.cap, or \
             ecc.corrects with ecc.codeword",
        )
    })?;
    let (wanted, most) = (config.reclaim.retries as usize, ladder.retries());
    require(wanted <= most, || {
        format!(
            "reclaim.retries = {wanted}, but [ecc] has {most} retries (one for each level except \
             the first); reclaim.retries must be at most {most}"
        )
    })?;
    check_rows(config)?;
    check_base(config, &table, &Rates::of(config).expect("a model was named"), &ladder)
}

/// Checks that a table of error rates has the rows of `[disturb]`.
fn check_rows(config: &DriveConfig) -> Result<(), ConfigError> {
    let (rows, wanted) = (
        config.error.table.iter().map(|row| row.pec),
        config.disturb.table.iter().map(|row| row.pec),
    );
    require(config.error.model != ErrorLaw::Table || rows.clone().eq(wanted.clone()), || {
        let list = |pec: &mut dyn Iterator<Item = u32>| {
            pec.map(|pec| pec.to_string()).collect::<Vec<_>>().join(", ")
        };
        let (rows, wanted) = (list(&mut rows.clone()), list(&mut wanted.clone()));
        format!(
            "error.table has rows at {rows} P/E cycles; rows at the P/E cycles of disturb.table \
             ({wanted}) are expected"
        )
    })
}

/// Checks that fresh data decodes without a retry at every P/E count that the run can reach.
fn check_base(
    config: &DriveConfig,
    table: &LimitTable,
    rates: &Rates,
    ladder: &Ladder,
) -> Result<(), ConfigError> {
    let cap = ladder.cap(0);
    for pec in counts_to_check(config, table) {
        for (group, name) in config.disturb.groups.iter().enumerate() {
            for (kind, kind_name) in config.geometry.cell.kinds().iter().enumerate() {
                let base = rates.base(pec, group, kind);
                require(base < cap, || {
                    format!(
                        "[error]: after {pec} P/E cycles, which this drive reaches (start.pec = \
                         {}, drive.rated_pec = {}), fresh data of group {name}, page kind \
                         {kind_name}, has an error rate of {base:.2e}. The first level of [ecc] \
                         decodes up to {cap:.2e}; lower start.pec or drive.rated_pec, or raise \
                         ecc.cap",
                        config.start.pec, config.drive.rated_pec
                    )
                })?;
            }
        }
    }
    Ok(())
}

/// Returns the P/E counts between which base error rates have no peak. They are the look-up rows of
/// policies from the drive's first to its rated P/E count, and the table's rows in between.
fn counts_to_check(config: &DriveConfig, table: &LimitTable) -> Vec<u32> {
    let (first, _) = table.lookup_rows(config.start.pec);
    let (_, last) = table.lookup_rows(config.start.pec.max(config.drive.rated_pec));
    let rows =
        config.disturb.table.iter().map(|row| row.pec).filter(|pec| (first..last).contains(pec));
    let mut counts: Vec<u32> = rows.chain([first, last]).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

#[cfg(test)]
mod tests;
