//! Tests of the limits at every P/E count against the printed law, which is computed here again.

use super::{PRESETS, made, read, with_errors};
use crate::base::dose::Dose;
use crate::base::span::HOUR;
use crate::config::{DriveConfig, PerPec};
use crate::disturb::table::LimitTable;
use crate::error::ages::STEPS;
use crate::error::budget::{AgedLimits, Asked};

/// Returns the error rates of 72-layer TLC, with t in hours: the rate of fresh data, and the rate
/// that this age adds.
fn of_tlc(pec: u32, hours: f64) -> (f64, f64) {
    let worn = f64::from(pec.max(100));
    (1.48e-3 + 3.9e-10 * worn.powf(2.05), 6.28e-5 * worn.powf(0.14) * hours.powf(0.54))
}

/// Returns the age that a step counts as, in hours.
fn hours(step: usize) -> f64 {
    if step == 0 { 0.0 } else { (HOUR as f64 * (step as f64 / 16.0).exp2()).round() / HOUR as f64 }
}

/// Returns `limit = (cap - base - retention) / slope` with `slope = (cap_0 - base) / ERC_MAX`, in
/// 1/1024 dose units.
fn by_law(table: &LimitTable, pec: u32, of: Asked) -> f64 {
    let cap = 0.0085 * 1.25f64.powf(of.level as f64);
    let (base, retention) = of_tlc(pec, hours(of.step));
    let slope = (0.0085 - base) / table.truth(of.group, pec).limit.in_1024ths() as f64;
    (cap - base - retention) / slope
}

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

/// No limit is above the law, and each is below it by at most the rounding.
#[test]
fn limits_are_those_of_the_law_at_every_pe_count() {
    for (number, config) in drives().into_iter().enumerate().filter(|(number, _)| *number != 3) {
        let (_, table, aged) = made(config);
        for pec in (0..3400).step_by(17).chain([2398, 2999, 3001]) {
            for (level, step) in [(0, 0), (0, 100), (1, 0), (2, 60), (4, 0), (4, 100), (4, 150)] {
                let of = Asked { group: pec as usize % 4, kind: 1, level, step };
                let (is, law) = (aged.truth(&table, pec, of) as f64, by_law(&table, pec, of));
                assert!(
                    is <= law + 1e-3 && is > law - 2.001,
                    "drive {number}, {pec} cycles, {of:?}: {is} for {law}"
                );
            }
        }
    }
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

/// A page at its last limit has the error rate that the last level decodes: 0.02075, with a
/// probability of 1e-16 per codeword.
#[test]
fn the_error_rate_at_a_limit_is_the_cap_of_its_level() {
    let (_, table, aged) = made(read(PRESETS[5]));
    for pec in [1500, 2100, 2398, 2700, 2999] {
        for step in [0, 40, 100] {
            let limit = |level| {
                Dose::of_1024ths(aged.truth(&table, pec, Asked { group: 1, kind: 0, level, step }))
            };
            let dose = limit(4);
            let rate = aged.rate(dose, limit(0), limit(aged.above_first()));
            assert!((rate / 0.020_751_953_125 - 1.0).abs() < 1e-6, "{rate} at {pec} cycles");
            let (base, retention) = of_tlc(pec, hours(step));
            let by_law = base
                + retention
                + (0.0085 - base) * dose.units() / table.truth(1, pec).limit.units();
            assert!(
                (rate / by_law - 1.0).abs() < 1e-6,
                "{rate} is booked for {by_law} at {pec} cycles"
            );
        }
    }
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
