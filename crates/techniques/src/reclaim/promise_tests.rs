//! Tests of the guarantees of all reclaim techniques.

use super::promise::{Prospect, check, loses_by_chance, notes, warnings};
use super::shared::straw::tests::one_page_wordlines;
use super::{LIST, Promise};
use crate::{card, resolve};
use vpass_drive::api::card::Protection;
use vpass_drive::api::refresh;
use vpass_drive::base::span::{DAY, HOUR, Span};
use vpass_drive::config::{DriveConfig, ErrorConfig, ErrorLaw, PerPec};

/// Returns a drive with blocks of three one-page wordlines and alpha 9. Movers add 19 dose units.
/// Jobs run at once, unless `reclaim` sets the reads during a job.
fn config(limit: u32, reclaim: &str) -> DriveConfig {
    crate::testing::config(&one_page_wordlines(3, limit, reclaim))
}

fn slack(config: &DriveConfig, name: &str, pec: u32) -> Option<f64> {
    let prospect = Prospect::new(config, card(name)).unwrap();
    prospect.promise(pec).budget().map(|budget| budget.slack())
}

fn refusal(config: &DriveConfig, name: &str) -> String {
    check(config, card(name)).map_err(|e| e.to_string()).expect_err("refused")
}

#[test]
fn worked_example() {
    for name in ["straw-wl", "straw-ss", "straw-ss-sound", "tiered"] {
        assert_eq!(slack(&config(900, "check_interval = 96"), name, 0), Some(8.0), "{name}");
        let sentence = refusal(&config(900, "check_interval = 97"), name);
        assert!(
            sentence.starts_with(&format!(
                "reclaim.check_interval = 97: `{name}` would lose data. At 0 P/E cycles,"
            )),
            "{sentence}"
        );
        assert!(
            sentence.contains(
                "9.000 for each of 98 host reads, and by 19.0 because of reads by reclaim; in \
                 total, the dose may grow by 901.0"
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

/// With a yield of 99.9 %, one in 1,000 codewords is lost at the limit. With a UBER of 1e-15,
/// losses at the limit are too rare to matter.
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

/// `block` reserves one read before the alarm and `R_late` reads after it: 9 (1 + 97) + 19 = 901.
#[test]
fn reads_after_an_alarm_count() {
    for name in ["block", "page-type", "redftl", "read-leveling", "hotld", "ipr", "ideal"] {
        assert_eq!(check(&config(1_000, "late_reads = 97"), card(name)), Ok(()), "{name}");
    }
    for name in ["block", "page-type", "redftl", "read-leveling", "hotld", "ipr"] {
        assert_eq!(slack(&config(1_000, "late_reads = 96"), name, 0), Some(108.0), "{name}");
        let sentence = refusal(&config(900, "late_reads = 97"), name);
        assert!(
            sentence.starts_with("reclaim.late_reads = 97: ")
                && sentence.ends_with("set reclaim.late_reads = 96 or less"),
            "{sentence}"
        );
    }
    let sentence = refusal(&config(900, "late_reads = 0"), "block");
    assert!(
        sentence.contains("late_reads = 0 does not work with reclaim.schedule = \"deadline\"")
            && sentence.contains("set reclaim.late_reads = 1 or more"),
        "{sentence}"
    );
    let at_once = "schedule = \"foreground\", late_reads = 0";
    assert_eq!(check(&config(900, at_once), card("block")), Ok(()));
}

/// With W 0 and S 3 + 16, the budget is 9 (10 + 1) + 19 + 2 x 19 = 156.
#[test]
fn probes_count() {
    assert_eq!(slack(&config(900, "check_interval = 10"), "erased-probe", 0), Some(744.0));
    assert!(
        refusal(&config(155, "check_interval = 10"), "erased-probe")
            .contains("in total, the dose may grow by 156.0")
    );
    // G is w = 4,414, plus 3 + 1 + 2 + 2. After E, B = 1 + 1 + 3 + 64 reads may follow. If E is
    // above the threshold of `block`, reads are drawn.
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
    // Each key alone is too large: 9 (300 + 1) + 19 and 9 (31 + 30) + 19 exceed 400. With both keys
    // changed, 9 (41 + 1) + 19 = 397 is small enough.
    let sentence = refusal(&config(400, "check_interval = 300, late_reads = 30"), "straw-wl");
    assert!(
        sentence
            .ends_with("set reclaim.late_reads = 1, and set reclaim.check_interval to 41 or less"),
        "{sentence}"
    );
    let sentence = refusal(&config(27, ""), "block");
    assert!(
        sentence.starts_with("disturb.table: `block` would lose data")
            && sentence.contains("larger limits"),
        "{sentence}"
    );
    let mut worn = config(100, "");
    worn.disturb.table.push(PerPec { pec: 1000, limit: vec![20.0], alpha: vec![9.0] });
    worn.start.pec = 950;
    let sentence = refusal(&worn, "block");
    assert!(
        sentence.starts_with("start.pec = 950: ")
            && sentence.ends_with("set start.pec = 900 or less"),
        "{sentence}"
    );
}

/// A read adds 0.004 / 900 to the error rate, and an hour adds 1e-5. `block` needs 28 of the 900
/// reads, and data of 387.5 h leaves this number. The last step of age before that ends at
/// 2^(137/16) = 378.2 h. Data may become an eighth older than its period, so the period is at most
/// 336.2 h.
#[test]
fn a_refresh_period_that_leaves_nothing_is_named_with_the_longest_that_works() {
    let mut aged = config(900, "");
    aged.error =
        ErrorConfig { model: ErrorLaw::PowerLaw, e: 0.0045, b: 1e-5, m: 0.0, ..aged.error };
    aged.ecc.cap = vec![0.0085];
    aged = refresh::drive(aged, card("block"));
    aged.refresh.period = Span(30 * DAY);
    let sentence = refusal(&aged, "block");
    assert!(
        sentence.starts_with(
            "refresh.period = \"30d\" lets data reach an age of 33.75d: `block` would lose data"
        ),
        "{sentence}"
    );
    assert!(
        sentence
            .ends_with("; set refresh.period = \"14d\" or less, for wear of up to 3000 P/E cycles"),
        "{sentence}"
    );
    aged.refresh.period = Span(14 * DAY);
    assert_eq!(check(&aged, card("block")), Ok(()));
    aged.refresh.period = Span(337 * HOUR);
    assert!(check(&aged, card("block")).is_err());
    aged = refresh::drive(aged, card("none"));
    aged.start.age = Span(DAY);
    let sentence = refusal(&aged, "block");
    assert!(
        sentence.starts_with("error.longest_age = \"1y\" without refresh: `block` would lose data"),
        "{sentence}"
    );
    assert!(
        sentence.ends_with(
            "; use `refresh=block` with refresh.period = \"14d\" or less, for wear of up to 3000 P/E cycles"
        ),
        "{sentence}"
    );
}

/// The card of each technique must name the protection that its guarantee gives. Otherwise, tests
/// would expect less protection.
#[test]
fn a_technique_is_listed_with_what_it_promises() {
    let config = config(900, "check_interval = 10");
    for technique in LIST {
        let policy = technique.make(&config, 0);
        let promise = Prospect::new(&config, technique).unwrap().promise(0);
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
    assert_eq!(check(&super::promise_tests::config(1, ""), card("none")), Ok(()));
}

/// The limit is 100 minus 0.08 per P/E cycle. At 900 cycles it is 28 reads, exactly what `block`
/// needs. In the next row that a policy sees, it is smaller.
#[test]
fn a_promise_that_wear_ends_is_warned_of() {
    let mut config = config(100, "");
    let block = card("block");
    assert_eq!(warnings(&config, block, 3000), Vec::<String>::new());
    assert_eq!(notes(&config), ["disturb.table has one row: limits do not depend on wear"]);
    config.disturb.table.push(PerPec { pec: 1000, limit: vec![20.0], alpha: vec![9.0] });
    assert_eq!(notes(&config), Vec::<String>::new());
    assert_eq!(check(&config, block), Ok(()));
    assert_eq!(warnings(&config, block, 900), Vec::<String>::new());
    let sentences = warnings(&config, block, 1001);
    assert_eq!(sentences.len(), 2, "{sentences:?}");
    assert!(
        sentences[0].starts_with("`block` may lose data at 901 or more P/E cycles"),
        "{sentences:?}"
    );
    assert!(sentences[1].starts_with("disturb.table ends at 1000 P/E cycles"), "{sentences:?}");
    assert!(warnings(&config, card("none"), 1000).is_empty());
}

#[test]
fn numbers_that_no_counter_holds_are_refused() {
    let refused = |reclaim: &str| {
        resolve(toml::from_str(&one_page_wordlines(3, 900, reclaim)).unwrap())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("late_reads = 4294967295"),
        "reclaim.late_reads = 4294967295 is outside 0 to 20000000"
    );
    for technique in LIST {
        let config = config(900, "late_reads = 20000000, check_interval = 1000000");
        let said = check(&config, technique).err().map(|e| e.to_string());
        assert_eq!(
            said.is_some(),
            technique.protects != Protection::None,
            "{}: {said:?}",
            technique.name
        );
    }
}
