//! Tests of ends of levels, and of limits that policies assume, on drives with a printed law.

use super::{PRESETS, made, read, with_errors};
use crate::base::span::HOUR;
use crate::config::{DriveConfig, PerPec};
use crate::disturb::table::LimitTable;
use crate::error::ages::STEPS;
use crate::error::budget::{AgedLimits, Asked};

/// Returns drives with rows a thousand cycles apart, with one row, and with a first row that is not
/// at 0.
fn drives() -> Vec<DriveConfig> {
    let aged = read(PRESETS[5]);
    let with_rows = |rows: &[usize], first: u32| {
        let mut config = aged.clone();
        config.disturb.table = rows.iter().map(|row| config.disturb.table[*row].clone()).collect();
        config.disturb.table[0].pec = first;
        config
    };
    vec![
        aged.clone(),
        with_rows(&[1], 1000),
        with_rows(&[1, 3], 700),
        read(PRESETS[6]),
        with_errors(read(PRESETS[1])),
    ]
}

/// On `aged-tlc` at 2,398 cycles, level 0 of a page without reads ends at 10.57 days, minus the
/// rounding of a step of age.
#[test]
fn the_first_level_ends_when_the_law_ends_it() {
    let (_, table, aged) = made(read(PRESETS[5]));
    let ends =
        aged.ends(0, |step| aged.truth(&table, 2398, Asked { group: 0, kind: 0, level: 0, step }));
    let days = ends.expect("it ends") as f64 / (24.0 * HOUR as f64);
    assert!(days <= 10.57 && days > 10.57 / 1.0443, "{days}");
}

/// With two retries, a limit of `modern-tlc` is lowest near 1,500 cycles. Reads endure 995,000,
/// 937,500 and 880,000 at 1,000, 1,500 and 2,000 cycles. Retries multiply these numbers by 1.735,
/// 1.831 and 2.017.
#[test]
fn a_policy_assumes_the_lowest_limit_between_its_rows() {
    let mut config = read(PRESETS[3]);
    config.disturb.policy_row_cycles = 0;
    let (_, table, aged) = made(config);
    let of = Asked { group: 0, kind: 0, level: 2, step: 0 };
    let truth = |pec| aged.truth(&table, pec, of);
    assert!(
        truth(1500) < truth(1000).min(truth(2000)),
        "{} {} {}",
        truth(1000),
        truth(1500),
        truth(2000)
    );
    let lowest = (1000..=2000).map(truth).min().expect("a thousand");
    assert!((1001..2000).all(|pec| aged.lookup(&table, pec, of) == lowest));
    assert_eq!([1000, 2000].map(|pec| aged.lookup(&table, pec, of)), [1000, 2000].map(truth));
}

/// This also holds if a table ends in one row, begins late or has odd rows, and for policies and
/// rows at any distance.
#[test]
fn a_policy_never_assumes_more_than_the_law_allows() {
    let odd = [(30, 900.7), (333, 500.1), (350, 800.9), (601, 790.3)];
    for mut config in drives() {
        if config.disturb.table.len() == 4 {
            config.disturb.table = odd
                .map(|(pec, limit)| PerPec { pec, limit: vec![limit; 4], alpha: vec![9.0; 4] })
                .to_vec();
        }
        for spacing in [100, 70, 0] {
            config.disturb.policy_row_cycles = spacing;
            let (_, table, aged) = made(config.clone());
            never_more(&table, &aged, spacing);
        }
    }
}

fn never_more(table: &LimitTable, aged: &AgedLimits, spacing: u32) {
    for pec in 0..3300 {
        for (level, step) in [(0, 0), (0, 100), (2, 50), (4, 0), (4, STEPS - 1)] {
            let of = Asked { group: pec as usize % 4, kind: 1, level, step };
            let (lookup, truth) = (aged.lookup(table, pec, of), aged.truth(table, pec, of));
            assert!(lookup <= truth, "{pec} cycles every {spacing}, {of:?}: {lookup} of {truth}");
        }
        let same_class = pec > 0 && table.lookup_class(pec) == table.lookup_class(pec - 1);
        let of = Asked { group: 1, kind: 1, level: 3, step: 80 };
        assert!(
            !same_class || aged.lookup(table, pec, of) == aged.lookup(table, pec - 1, of),
            "{pec} cycles"
        );
    }
}
