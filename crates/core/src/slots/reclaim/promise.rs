//! Guarantee of a technique, its condition, and the P/E counts at which the condition holds
//! (`docs/safety/README.md`).
//!
//! A technique that loses no page keeps a budget for each wordline: the part of the wordline's
//! limit that may be used before its rewrite. The budget has alpha for each host read, and the dose
//! of reclaim's own reads. If the limit is less than the budget, the technique cannot act in time,
//! and data may be lost unnoticed. A drive that would start this way is refused. If wear leads a
//! drive there later, the run warns.
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
use prospect::Blank;
pub use prospect::Prospect;
use remedy::{least_late, remedy};

/// No promise depends on what is drawn.
const NO_SEED: u64 = 0;

/// What a technique promises of blocks at a P/E count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Promise {
    /// Nothing; why, in a sentence.
    Nothing(&'static str),
    /// To lose no page, whatever is read, where the tightest of its budgets holds.
    Within(Budget),
    /// The same, but for who deceives its estimates.
    Deceivable(Budget),
    /// Nothing, though it reserves this budget; why that is too little, in a sentence.
    Unsafe(Budget, &'static str),
}

/// What a wordline endures, and what is reserved of it. In dose units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// The group of the wordline.
    pub group: usize,
    /// Its limit, as techniques see it.
    pub endures: f64,
    /// Weight of a read beside it.
    pub alpha: f64,
    /// Reads of the host until it is rewritten, in dose units, each of which may be beside it.
    pub reads: u32,
    /// What reclaim's own reads add.
    pub own: f64,
}

impl Budget {
    /// Dose units that are reserved.
    pub fn reserved(&self) -> f64 {
        self.alpha * f64::from(self.reads) + self.own
    }

    /// Dose units that are left; below 0 where the promise does not hold. Exact: all terms are
    /// small multiples of 1/1024.
    pub fn slack(&self) -> f64 {
        self.endures - self.reserved()
    }

    /// The one with the least left.
    pub(super) fn tightest(budgets: impl IntoIterator<Item = Self>) -> Option<Self> {
        budgets.into_iter().min_by(|a, b| a.slack().total_cmp(&b.slack()))
    }

    fn words(&self, disturb: &DisturbConfig) -> String {
        format!(
            "a wordline of group {} endures a dose of {}; before its rewrite it may take {:.3} for \
             each of {} host reads and {:.1} from reclaim's reads, {:.1} in all",
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
    /// Of the tightest of some budgets; nothing where reads disturb nothing.
    pub(super) fn within(budgets: impl IntoIterator<Item = Budget>) -> Self {
        Budget::tightest(budgets).map_or(Self::Nothing("reads disturb nothing"), Self::Within)
    }

    /// The budget, where there is one.
    pub fn budget(&self) -> Option<Budget> {
        match self {
            Self::Nothing(_) => None,
            Self::Within(budget) | Self::Deceivable(budget) | Self::Unsafe(budget, _) => {
                Some(*budget)
            }
        }
    }

    /// The budget, where it does not hold.
    pub fn broken(&self) -> Option<Budget> {
        self.budget().filter(|budget| budget.slack() < 0.0)
    }

    /// What it comes to, in a sentence without its end.
    pub fn words(&self, disturb: &DisturbConfig) -> String {
        match self {
            Self::Nothing(why) => format!("it gives no guarantee: {why}"),
            Self::Unsafe(_, why) => format!("it gives no guarantee and may lose data: {why}"),
            Self::Within(b) | Self::Deceivable(b) if b.slack() < 0.0 => {
                format!("its guarantee does not hold: {}", b.words(disturb))
            }
            Self::Within(b) => {
                format!(
                    "it is safe under any reads, with a dose of {:.1} left: {}",
                    b.slack(),
                    b.words(disturb)
                )
            }
            Self::Deceivable(b) => {
                format!(
                    "it is safe unless its estimate is deceived, with a dose of {:.1} left: {}",
                    b.slack(),
                    b.words(disturb)
                )
            }
        }
    }
}

/// Refuses settings under which a technique cannot keep its promise at `start.pec`.
///
/// # Errors
/// What is wrong, which key, and what would be right.
pub fn check(config: &DriveConfig, technique: &Technique, timed: bool) -> Result<(), ConfigError> {
    let config = &technique.drive(config.clone());
    let Some(promise) = promise_at_start(config, technique, timed) else { return Ok(()) };
    if promise.budget().is_some() && config.reclaim.late_reads < least_late(config, timed) {
        return Err(ConfigError(format!(
            "reclaim.late_reads = 0 does not work with reclaim.schedule = \"{}\", where a block \
             serves reads during its job; set 1 or more, or reclaim.schedule = \"foreground\"",
            config.reclaim.schedule
        )));
    }
    let Some(budget) = promise.broken() else { return check_most_worn(config, technique, timed) };
    let (what, right) = remedy(config, technique, timed);
    Err(ConfigError(format!(
        "{what}: `{}` would lose data. At {} P/E cycles, {}; {right}",
        technique.name,
        config.start.pec,
        budget.words(&config.disturb)
    )))
}

/// The same at the P/E count of the most worn block that is recycled, where blocks begin with
/// different ones.
fn check_most_worn(
    config: &DriveConfig,
    technique: &Technique,
    timed: bool,
) -> Result<(), ConfigError> {
    let Some((pec, budget)) =
        first_broken(config, technique, timed, recycled_up_to(config, config.start.pec_most()))
    else {
        return Ok(());
    };
    Err(ConfigError(format!(
        "start.pec_spread, start.worn_pec: `{}` would lose data. At {pec} P/E cycles, {}; set both \
         so that all blocks start below that",
        technique.name,
        budget.words(&config.disturb)
    )))
}

/// The P/E count of the most worn block that is recycled, of blocks up to this one: those that are
/// left to parity because of their wear are under no promise.
fn recycled_up_to(config: &DriveConfig, pec: u32) -> u32 {
    let left_alone_above = config
        .parity
        .by_wear()
        .filter(|by_wear| by_wear.last.is_some())
        .map(|by_wear| by_wear.above);
    pec.min(left_alone_above.unwrap_or(u32::MAX))
}

/// What is to be known of a technique's promise while blocks wear from `start.pec` to `reached` P/E
/// cycles, in sentences: where it ends, and where limits are only extrapolated.
pub fn warnings(
    config: &DriveConfig,
    technique: &Technique,
    timed: bool,
    reached: u32,
) -> Vec<String> {
    let config = &technique.drive(config.clone());
    let Some(limits) = LimitTable::of(config) else { return vec![] };
    let mut sentences = vec![];
    if let Some((pec, budget)) =
        first_broken(config, technique, timed, recycled_up_to(config, reached))
    {
        sentences.push(format!(
            "`{}` may lose data from {pec} P/E cycles on: there, {}",
            technique.name,
            budget.words(&config.disturb)
        ));
    }
    let last = limits.last_row();
    if config.disturb.table.len() > 1 && reached.max(config.start.pec) > last {
        sentences.push(format!(
            "disturb.table ends at {last} P/E cycles; limits beyond are extrapolated from its last \
             two rows, not measured"
        ));
    }
    sentences
}

/// What is to be known of a drive's limits whatever happens, in sentences.
pub fn notes(config: &DriveConfig) -> Vec<String> {
    let single = config.disturb.model.has_table() && config.disturb.table.len() == 1;
    let single =
        single.then(|| "disturb.table has one row: limits do not depend on wear".to_owned());
    let chance = loses_by_chance(config).then(|| {
        let target = config.ecc.last_target;
        format!(
            "error.noise draws losses: a codeword within its limit is lost with a probability of \
             {target:.1e}, and no technique prevents that"
        )
    });
    single.into_iter().chain(chance).collect()
}

/// Codewords that are lost within their limits as rarely as this are lost in no run.
const NEVER: f64 = 1e-12;

/// Whether losses are drawn, and the code at its limit loses codewords often enough to see: then
/// nobody promises to keep all.
pub fn loses_by_chance(config: &DriveConfig) -> bool {
    config.error.noise && config.ecc.last_target > NEVER
}

/// The first P/E count from `start.pec` to `reached` at which a technique's promise does not hold,
/// and its budget there.
pub fn first_broken(
    config: &DriveConfig,
    technique: &Technique,
    timed: bool,
    reached: u32,
) -> Option<(u32, Budget)> {
    let config = &technique.drive(config.clone());
    let (blank, policy) = (Blank::new(config, timed), technique.make(config, NO_SEED));
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

/// None where there are no limits.
fn promise_at_start(config: &DriveConfig, technique: &Technique, timed: bool) -> Option<Promise> {
    let blank = Blank::new(config, timed);
    blank.limits.as_ref()?;
    Some(technique.make(config, NO_SEED).promise(&blank.view(), config.start.pec))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::span::{DAY, HOUR, Span};
    use crate::slots::card::Protection;
    use crate::slots::reclaim::shared::straw::tests::one_page_wordlines;
    use crate::slots::reclaim::{RECLAIM, technique};

    /// Three wordlines of one page, alpha 9: 19 dose units by movers.
    fn config(limit: u32, reclaim: &str) -> DriveConfig {
        toml::from_str::<DriveConfig>(&one_page_wordlines(3, limit, reclaim))
            .unwrap()
            .resolve()
            .unwrap()
    }

    fn slack(config: &DriveConfig, name: &str, pec: u32) -> Option<f64> {
        let (blank, technique) = (Blank::new(config, false), technique(name).unwrap());
        technique
            .make(config, NO_SEED)
            .promise(&blank.view(), pec)
            .budget()
            .map(|budget| budget.slack())
    }

    fn refusal(config: &DriveConfig, name: &str, timed: bool) -> String {
        check(config, technique(name).unwrap(), timed)
            .map_err(|e| e.to_string())
            .expect_err("refused")
    }

    #[test]
    fn worked_example() {
        for name in ["straw-wl", "straw-ss", "straw-ss-sound", "tiered"] {
            assert_eq!(slack(&config(900, "check_interval = 96"), name, 0), Some(8.0), "{name}");
            let sentence = refusal(&config(900, "check_interval = 97"), name, false);
            assert!(
                sentence.starts_with(&format!(
                    "reclaim.check_interval = 97: `{name}` would lose data. At 0 P/E cycles,"
                )),
                "{sentence}"
            );
            assert!(
                sentence.contains(
                    "9.000 for each of 98 host reads and 19.0 from reclaim's reads, 901.0 in all"
                ),
                "{sentence}"
            );
            assert!(sentence.ends_with("set reclaim.check_interval = 96 or less"), "{sentence}");
        }
        assert_eq!(
            slack(&config(900, "check_interval = 97, layer_sets = 0.0"), "tiered", 0),
            Some(872.0),
            "then it is `block`"
        );
    }

    /// At 99.9 % yield a thousandth of the codewords is lost at the limit; at an UBER of 1e-15 none
    /// is in any run.
    #[test]
    fn a_code_that_loses_codewords_at_its_limit_is_noted_where_losses_are_drawn() {
        let drawn = |noise: bool, last_target: f64| {
            let mut drawn = config(900, "");
            (drawn.error.noise, drawn.ecc.last_target) = (noise, last_target);
            (
                loses_by_chance(&drawn),
                notes(&drawn).iter().any(|note| note.contains("with a probability of 1.0e-3")),
            )
        };
        assert_eq!(drawn(true, 1e-3), (true, true));
        assert_eq!((drawn(false, 1e-3), drawn(true, 1e-16)), ((false, false), (false, false)));
    }

    /// `block` leaves a read before the alarm, and `R_late` after it: 9 (1 + 97) + 19 = 901.
    #[test]
    fn reads_after_an_alarm_count() {
        for name in ["block", "page-type", "redftl", "read-leveling", "hotld", "ipr", "ideal"] {
            assert_eq!(
                check(&config(1_000, "late_reads = 97"), technique(name).unwrap(), true),
                Ok(()),
                "{name}"
            );
        }
        for name in ["block", "page-type", "redftl", "read-leveling", "hotld", "ipr"] {
            assert_eq!(slack(&config(1_000, "late_reads = 96"), name, 0), Some(108.0), "{name}");
            let sentence = refusal(&config(900, "late_reads = 97"), name, true);
            assert!(
                sentence.starts_with("reclaim.late_reads = 97: ")
                    && sentence.ends_with("set reclaim.late_reads = 96 or less"),
                "{sentence}"
            );
        }
        let sentence = refusal(&config(900, "late_reads = 0"), "block", true);
        assert!(
            sentence.contains("late_reads = 0 does not work with reclaim.schedule = \"deadline\"")
                && sentence.contains("set 1 or more"),
            "{sentence}"
        );
        assert_eq!(
            check(&config(900, "late_reads = 0"), technique("block").unwrap(), false),
            Ok(()),
            "untimed, a job is done at once"
        );
    }

    /// W 0, S 3 + 16: 9 (10 + 1) + 19 + 2 x 19 = 156.
    #[test]
    fn probes_count() {
        assert_eq!(slack(&config(900, "check_interval = 10"), "erased-probe", 0), Some(744.0));
        assert!(
            refusal(&config(155, "check_interval = 10"), "erased-probe", false)
                .contains("156.0 in all")
        );
        // w 4,414 and beside it 3 + 1 + 2 + 2; B = 1 + 1 + 3 + 64 after E: where E is above the
        // threshold of `block` reads are drawn.
        let drawn = slack(&config(100_000, ""), "chance-probe", 0);
        assert_eq!(drawn, Some(100_000.0 - 8.0 * (4_414.0 + 8.0) - 70.0));
        assert_eq!(
            slack(&config(900, ""), "chance-probe", 0),
            slack(&config(900, ""), "block", 0),
            "else it is `block`"
        );
    }

    #[test]
    fn what_is_to_blame_is_named() {
        // Each alone is too much, 9 (300 + 1) + 19 and 9 (31 + 30) + 19 of 400; together 9 (41 + 1)
        // + 19 = 397 will do.
        let sentence =
            refusal(&config(400, "check_interval = 300, late_reads = 30"), "straw-wl", true);
        assert!(
            sentence
                .ends_with("set reclaim.late_reads = 1 and reclaim.check_interval = 41 or less"),
            "{sentence}"
        );
        let sentence = refusal(&config(27, ""), "block", false);
        assert!(
            sentence.starts_with("disturb.table: `block` would lose data")
                && sentence.contains("larger limits"),
            "{sentence}"
        );
        let mut worn = config(100, "");
        worn.disturb.table.push(crate::config::PerPec {
            pec: 1000,
            limit: vec![20.0],
            alpha: vec![9.0],
        });
        worn.start.pec = 950;
        let sentence = refusal(&worn, "block", false);
        assert!(
            sentence.starts_with("start.pec = 950: ")
                && sentence.ends_with("set start.pec = 900 or less"),
            "{sentence}"
        );
    }

    /// A read adds 0.004 / 900, and an hour 1e-5; `block` needs 28 of 900, which data of 387.5 h
    /// leaves. The last step of age that ends before does so at 2^(137/16) = 378.2 h, and data may
    /// become an eighth older than its period: 336.2 h.
    #[test]
    fn a_refresh_period_that_leaves_nothing_is_named_with_the_longest_that_works() {
        let mut aged = config(900, "");
        aged.error = crate::config::ErrorConfig {
            model: crate::config::ErrorLaw::PowerLaw,
            e: 0.0045,
            b: 1e-5,
            m: 0.0,
            ..aged.error
        };
        aged.ecc.cap = vec![0.0085];
        (aged.refresh.at_work, aged.refresh.period) = (true, Span(30 * DAY));
        let sentence = refusal(&aged, "block", false);
        assert!(
            sentence.starts_with(
                "refresh.period = \"30d\" lets data reach an age of 33.75d: `block` would lose data"
            ),
            "{sentence}"
        );
        assert!(
            sentence.ends_with("; set refresh.period = \"14d\" or less up to 3000 P/E cycles"),
            "{sentence}"
        );
        aged.refresh.period = Span(14 * DAY);
        assert_eq!(check(&aged, technique("block").unwrap(), false), Ok(()));
        aged.refresh.period = Span(337 * HOUR);
        assert!(check(&aged, technique("block").unwrap(), false).is_err());
        (aged.refresh.at_work, aged.start.age) = (false, Span(DAY));
        let sentence = refusal(&aged, "block", false);
        assert!(
            sentence
                .starts_with("error.longest_age = \"1y\" without refresh: `block` would lose data"),
            "{sentence}"
        );
        assert!(
            sentence.ends_with(
                "; use --refresh block with refresh.period = \"14d\" or less up to 3000 P/E cycles"
            ),
            "{sentence}"
        );
    }

    /// What a technique is listed with is what it says: nobody tests it for less than it promises.
    #[test]
    fn a_technique_is_listed_with_what_it_promises() {
        let config = config(900, "check_interval = 10");
        for technique in RECLAIM {
            let policy = technique.make(&config, NO_SEED);
            let promise = policy.promise(&Blank::new(&config, false).view(), 0);
            let protects = match promise {
                Promise::Nothing(_) => Protection::None,
                Promise::Unsafe(..) => Protection::Unsafe,
                Promise::Deceivable(_) => Protection::Deceivable,
                Promise::Within(_) => Protection::Sound,
            };
            assert_eq!(technique.protects, protects, "{}: {promise:?}", technique.name);
            assert_eq!(technique.keeps_apart, !policy.streams().is_empty(), "{}", technique.name);
            assert!(
                technique.lowers_density || policy.streams().iter().all(|stream| stream.mode == 0),
                "{}",
                technique.name
            );
        }
        assert_eq!(check(&super::tests::config(1, ""), technique("none").unwrap(), true), Ok(()));
    }

    /// 100 - 0.08 a cycle: 28 at 900, where `block` has what it needs, and less at the next row of
    /// a policy.
    #[test]
    fn a_promise_that_wear_ends_is_warned_of() {
        let mut config = config(100, "");
        let block = technique("block").unwrap();
        assert_eq!(warnings(&config, block, false, 3000), Vec::<String>::new());
        assert_eq!(notes(&config), ["disturb.table has one row: limits do not depend on wear"]);
        config.disturb.table.push(crate::config::PerPec {
            pec: 1000,
            limit: vec![20.0],
            alpha: vec![9.0],
        });
        assert_eq!(notes(&config), Vec::<String>::new());
        assert_eq!(check(&config, block, false), Ok(()));
        assert_eq!(warnings(&config, block, false, 900), Vec::<String>::new());
        let sentences = warnings(&config, block, false, 1001);
        assert_eq!(sentences.len(), 2, "{sentences:?}");
        assert!(
            sentences[0].starts_with("`block` may lose data from 901 P/E cycles on"),
            "{sentences:?}"
        );
        assert!(sentences[1].starts_with("disturb.table ends at 1000 P/E cycles"), "{sentences:?}");
        assert!(warnings(&config, technique("none").unwrap(), false, 1000).is_empty());
    }

    #[test]
    fn numbers_that_no_counter_holds_are_refused() {
        let refused = |reclaim: &str| {
            toml::from_str::<DriveConfig>(&one_page_wordlines(3, 900, reclaim))
                .unwrap()
                .resolve()
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            refused("late_reads = 4294967295"),
            "reclaim.late_reads = 4294967295 is outside 0 to 20000000"
        );
        for technique in RECLAIM {
            let config = config(900, "late_reads = 20000000, check_interval = 1000000");
            let said = check(&config, technique, true).err().map(|e| e.to_string());
            assert_eq!(
                said.is_some(),
                !["none", "observed-retries"].contains(&technique.name),
                "{}: {said:?}",
                technique.name
            );
        }
    }
}
