//! Guarantee of a reclaim technique, and the condition under which it holds. The condition may fail
//! above some P/E count (`docs/reclaim/README.md`).
//!
//! A technique that loses no page reserves a budget for each wordline. The budget is the dose that
//! the wordline may get before it is rewritten: alpha for each host read, and the dose of reclaim's
//! own reads. If the budget exceeds the limit, the technique cannot act in time, and data may be
//! lost. If this is so at the start of a run, vpass refuses the drive. If it happens later through
//! wear, the run prints a warning.
//!
//! ```text
//! straw-wl on three wordlines of one page, alpha 9, limit 900, at most one read after a check:
//! I 97:  9 (97 + 1) + 3 + 2 x 8 = 901 of 900: refused      I 96:  892 of 900: 8 left
//! ```

mod prospect;
mod remedy;

use super::Technique;
use crate::config::{ConfigError, DisturbConfig, DriveConfig};
use crate::disturb::table::LimitTable;
use crate::phrase;
use prospect::Blank;
pub use prospect::Prospect;
use remedy::{least_late, remedy};

/// Seed for techniques that are made only to compute guarantees. Guarantees do not depend on random
/// draws.
const NO_SEED: u64 = 0;

/// Guarantee of a technique for blocks at a P/E count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// No guarantee. The text gives the reason, as a sentence.
    Nothing(&'static str),
    /// If the tightest budget holds, no page is lost under any reads.
    Within(Budget),
    /// If the tightest budget holds, no page is lost, except by reads that deceive the technique's
    /// estimates.
    Deceivable(Budget),
    /// No guarantee, although the technique reserves this budget. The text says why the budget is
    /// too small.
    Unsafe(Budget, &'static str),
}

/// Budget of a wordline: its limit, and the parts of this limit that are reserved, in dose units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Group of the wordline.
    pub group: usize,
    /// Limit of the wordline, as techniques see it.
    pub endures: f64,
    /// Weight of a read of a neighbouring wordline.
    pub alpha: f64,
    /// Number of host reads, in dose units, that the block may serve until the wordline is
    /// rewritten. All of these reads may be on neighbouring wordlines.
    pub reads: u32,
    /// Dose that reclaim's own reads may add to the wordline.
    pub own: f64,
}

impl Budget {
    /// Returns the reserved dose, in dose units.
    pub fn reserved(&self) -> f64 {
        self.alpha * f64::from(self.reads) + self.own
    }

    /// Returns the limit minus the reserved dose, in dose units. If the result is below 0, the
    /// guarantee does not hold. The result is exact, because all terms are small multiples of
    /// 1/1024.
    pub fn slack(&self) -> f64 {
        self.endures - self.reserved()
    }

    /// Returns the tightest budget, which has the fewest dose units left.
    pub fn tightest(budgets: impl IntoIterator<Item = Self>) -> Option<Self> {
        budgets.into_iter().min_by(|a, b| a.slack().total_cmp(&b.slack()))
    }

    fn words(&self, disturb: &DisturbConfig) -> String {
        format!(
            "a wordline of group {} endures a dose of {}; before the rewrite, the dose may grow by \
             {:.3} for each of {} host reads, and by {:.1} because of reads by reclaim; in total, \
             the dose may grow by {:.1}",
            disturb.groups[self.group],
            self.endures,
            self.alpha,
            self.reads,
            self.own,
            self.reserved()
        )
    }
}

impl Promise {
    /// Returns the guarantee that no page is lost if the tightest of these budgets holds. Without
    /// budgets, there is no guarantee.
    pub fn within(budgets: impl IntoIterator<Item = Budget>) -> Self {
        Budget::tightest(budgets).map_or(Self::Nothing("reads disturb nothing"), Self::Within)
    }

    /// Returns the budget that the technique reserves; `None` if it reserves nothing.
    pub fn budget(&self) -> Option<Budget> {
        match self {
            Self::Nothing(_) => None,
            Self::Within(budget) | Self::Deceivable(budget) | Self::Unsafe(budget, _) => {
                Some(*budget)
            }
        }
    }

    /// Returns the budget if it exceeds the limit; `None` if the budget holds.
    pub fn broken(&self) -> Option<Budget> {
        self.budget().filter(|budget| budget.slack() < 0.0)
    }

    /// Describes the guarantee as the beginning of a sentence, without a full stop.
    pub fn words(&self, disturb: &DisturbConfig) -> String {
        match self {
            Self::Nothing(why) => format!("the technique gives no guarantee: {why}"),
            Self::Unsafe(_, why) => {
                format!("the technique gives no guarantee and may lose data: {why}")
            }
            Self::Within(b) | Self::Deceivable(b) if b.slack() < 0.0 => {
                format!("the technique's guarantee does not hold: {}", b.words(disturb))
            }
            Self::Within(b) => {
                format!(
                    "the technique is safe under any reads, with a dose of {:.1} left: {}",
                    b.slack(),
                    b.words(disturb)
                )
            }
            Self::Deceivable(b) => {
                format!(
                    "the technique is safe if reads do not deceive the technique's estimate, with \
                     a dose of {:.1} left: {}",
                    b.slack(),
                    b.words(disturb)
                )
            }
        }
    }
}

/// Refuses settings under which a technique cannot keep its guarantee at `start.pec`.
///
/// # Errors
/// Returns a message with the wrong key and a value that would be right.
pub fn check(config: &DriveConfig, technique: &Technique) -> Result<(), ConfigError> {
    let config = &technique.drive(config.clone());
    let Some(promise) = promise_at_start(config, technique) else { return Ok(()) };
    if promise.budget().is_some() && config.reclaim.late_reads < least_late(config) {
        return Err(ConfigError::new(format!(
            "reclaim.late_reads = 0 does not work with reclaim.schedule = \"{}\", because a block \
             then serves reads during its rewrite; set reclaim.late_reads = 1 or more, or \
             reclaim.schedule = \"foreground\"",
            config.reclaim.schedule
        )));
    }
    let Some(budget) = promise.broken() else { return check_most_worn(config, technique) };
    let (what, right) = remedy(config, technique);
    let (pec, grows) = (config.start.pec, budget.words(&config.disturb));
    Err(ConfigError::new(phrase![
        "{what}: `{technique}` would lose data. At {pec} P/E cycles, {grows}; ",
        right
    ]))
}

/// Refuses settings under which the guarantee fails for the most worn recycled block. This check is
/// needed if blocks start with different P/E counts.
fn check_most_worn(config: &DriveConfig, technique: &Technique) -> Result<(), ConfigError> {
    let Some((pec, budget)) =
        first_broken(config, technique, recycled_up_to(config, config.start.pec_most()))
    else {
        return Ok(());
    };
    Err(ConfigError::new(format!(
        "start.pec_spread, start.worn_pec: `{}` would lose data. At {pec} P/E cycles, {}; set both \
         keys so that all blocks start with fewer P/E cycles",
        technique.name,
        budget.words(&config.disturb)
    )))
}

/// Returns the P/E count of the most worn block that is still recycled. No block has more than
/// `pec` P/E cycles. Blocks that are left to parity because of their wear have no guarantee.
fn recycled_up_to(config: &DriveConfig, pec: u32) -> u32 {
    let left_alone_above = config
        .parity
        .by_wear()
        .filter(|by_wear| by_wear.last.is_some())
        .map(|by_wear| by_wear.above);
    pec.min(left_alone_above.unwrap_or(u32::MAX))
}

/// Returns warnings about a technique's guarantee, as sentences. They cover P/E counts from
/// `start.pec` to `reached`. They name the P/E count at which the guarantee ends, and the one above
/// which limits are extrapolated.
pub fn warnings(config: &DriveConfig, technique: &Technique, reached: u32) -> Vec<String> {
    let config = &technique.drive(config.clone());
    let Some(limits) = LimitTable::of(config) else { return vec![] };
    let mut sentences = vec![];
    if let Some((pec, budget)) = first_broken(config, technique, recycled_up_to(config, reached)) {
        sentences.push(format!(
            "`{}` may lose data at {pec} or more P/E cycles: at {pec}, {}",
            technique.name,
            budget.words(&config.disturb)
        ));
    }
    let last = limits.last_row();
    if config.disturb.table.len() > 1 && reached.max(config.start.pec) > last {
        sentences.push(format!(
            "disturb.table ends at {last} P/E cycles; limits beyond this count are extrapolated \
             from the last two rows, not measured"
        ));
    }
    sentences
}

/// Returns notes about a drive's limits, as sentences. The notes apply at every P/E count.
pub fn notes(config: &DriveConfig) -> Vec<String> {
    let single = config.disturb.model.has_table() && config.disturb.table.len() == 1;
    let single =
        single.then(|| "disturb.table has one row: limits do not depend on wear".to_owned());
    let chance = loses_by_chance(config).then(|| {
        let target = config.ecc.last_target;
        format!(
            "with error.noise, losses are random: a codeword within its limit is lost with a \
             probability of {target:.1e}, and no technique can prevent this loss"
        )
    });
    single.into_iter().chain(chance).collect()
}

/// Probability below which vpass neglects the random loss of a codeword that is within its limit.
const NEVER: f64 = 1e-12;

/// Returns whether codewords within their limits are lost at random, with a probability that
/// matters. If so, no technique can guarantee to keep all data.
pub fn loses_by_chance(config: &DriveConfig) -> bool {
    config.error.noise && config.ecc.last_target > NEVER
}

/// Returns the lowest P/E count at which a technique's guarantee does not hold, with the broken
/// budget. The search covers `start.pec` to `reached`.
pub fn first_broken(
    config: &DriveConfig,
    technique: &Technique,
    reached: u32,
) -> Option<(u32, Budget)> {
    let config = &technique.drive(config.clone());
    let (blank, policy) = (Blank::new(config), technique.asked(config, NO_SEED));
    let limits = blank.limits_at(blank.budget)?;
    let mut pec = Some(config.start.pec);
    while let Some(at) = pec.filter(|pec| *pec <= reached) {
        if let Some(budget) = policy.promise(&blank.view(), at).broken() {
            return Some((at, budget));
        }
        pec = limits.next_lookup(at);
    }
    None
}

/// Returns a technique's guarantee at the P/E count `start.pec`; `None` if the drive has no limits.
fn promise_at_start(config: &DriveConfig, technique: &Technique) -> Option<Promise> {
    let blank = Blank::new(config);
    blank.limits.as_ref()?;
    Some(technique.asked(config, NO_SEED).promise(&blank.view(), config.start.pec))
}
