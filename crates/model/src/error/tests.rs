//! Tests of the whole error budget on small and on real drives. Without age, the limits are those
//! of `[disturb]`. With age, they follow closed forms.

mod exact;
mod law;

use super::ages::STEPS;
use super::budget::{AgedLimits, Asked, PageAt};
use crate::base::span::{DAY, HOUR, Span};
use crate::base::units::{BlockId, WordlineInBlock};
use crate::config::{
    DisturbConfig, DisturbModel, DriveConfig, EccConfig, ErrorConfig, ErrorLaw, ErrorRow, PerPec,
    TimeUnit,
};
use crate::disturb::table::LimitTable;

const PRESETS: [&str; 8] = [
    include_str!("../../../../presets/drives/tiny.toml"),
    include_str!("../../../../presets/drives/straw-2t-tlc.toml"),
    include_str!("../../../../presets/drives/ipr-128g-tlc.toml"),
    include_str!("../../../../presets/drives/modern-tlc.toml"),
    include_str!("../../../../presets/drives/modern-qlc.toml"),
    include_str!("../../../../presets/drives/aged-tlc.toml"),
    include_str!("../../../../presets/drives/aged-tlc-days.toml"),
    include_str!("../../../../presets/drives/aged-qlc.toml"),
];

/// Adds the law of 72-layer TLC and a ladder of four retries.
fn with_errors(mut config: DriveConfig) -> DriveConfig {
    config.error = ErrorConfig {
        model: ErrorLaw::PowerLaw,
        e: 1.48e-3,
        a: 3.9e-10,
        k: 2.05,
        b: 6.28e-5,
        m: 0.14,
        n: 0.54,
        ..ErrorConfig::default()
    };
    config.ecc = EccConfig {
        cap: vec![0.0085, 0.010_625, 0.013_281_25, 0.016_601_562_5, 0.020_751_953_125],
        retry_decode_us: vec![20.0; 4],
        ..EccConfig::default()
    };
    config
}

fn read(text: &str) -> DriveConfig {
    toml::from_str(text).expect("a drive")
}

/// Returns `tiny` with two groups. They endure 700,000 and 350,000 at 0 cycles, and half of this at
/// 1,000. The numbers are simple: base 0.0015, and age adds 0.0001 per hour at 0 cycles, and ten
/// times this at 1,000 cycles.
fn simple() -> DriveConfig {
    let mut config = with_errors(read(PRESETS[0]));
    config.disturb = DisturbConfig {
        model: DisturbModel::Wordline,
        groups: vec!["good".into(), "worst".into()],
        table: vec![
            PerPec { pec: 0, limit: vec![700_000.0, 350_000.0], alpha: vec![8.0, 9.0] },
            PerPec { pec: 1000, limit: vec![350_000.0, 175_000.0], alpha: vec![8.0, 9.0] },
        ],
        ..DisturbConfig::default()
    };
    config.drive.rated_pec = 1000;
    config.error =
        ErrorConfig { model: ErrorLaw::PowerLaw, e: 1.5e-3, b: 1e-6, ..ErrorConfig::default() };
    config
}

#[test]
fn the_drive_that_reads_the_law_in_days_is_the_other_one_otherwise() {
    let [hours, mut days] = [PRESETS[5], PRESETS[6]].map(read);
    assert_eq!((hours.error.time_unit, days.error.time_unit), (TimeUnit::Hours, TimeUnit::Days));
    days.error.time_unit = TimeUnit::Hours;
    days.description.clone_from(&hours.description);
    assert_eq!(days, hours);
}

fn made(config: DriveConfig) -> (DriveConfig, LimitTable, AgedLimits) {
    let config = config.resolve().expect("a drive that can be");
    let table = LimitTable::of(&config).expect("a model with a table");
    let aged = AgedLimits::of(&config).unwrap().expect("error rates");
    (config, table, aged)
}

/// The limits are exactly equal for pages of every group, layer, kind and block, at every P/E count
/// up to beyond the tables' ends.
#[test]
fn data_without_age_and_retries_has_todays_limits() {
    let mut compared = 0;
    for text in PRESETS {
        let config = read(text);
        let mut config =
            if config.error.model == ErrorLaw::None { with_errors(config) } else { config };
        config.start.pec = 0;
        config.drive.rated_pec = config.drive.rated_pec.min(1000);
        let (config, table, aged) = made(config);
        let kinds = config.geometry.cell.bits() as usize;
        for pec in (0..3100).chain([3300, 5000, 77_777]) {
            for group in 0..table.groups() {
                let (truth, lookup) = (
                    table.truth(group, pec).limit.in_1024ths(),
                    table.lookup(group, pec).limit.in_1024ths(),
                );
                for kind in 0..kinds {
                    let of = Asked { group, kind, level: 0, step: 0 };
                    assert_eq!(
                        [aged.truth(&table, pec, of), aged.lookup(&table, pec, of)],
                        [truth, lookup],
                        "{pec} cycles, {of:?}"
                    );
                    compared += 1;
                }
            }
        }
        for wordline in WordlineInBlock::range(0..config.geometry.wordlines_per_block) {
            let limit = table.truth(table.group_of(wordline), 1500).limit;
            for (kind, mode) in (0..kinds).flat_map(|kind| [(kind, 0), (kind, 1)]) {
                let block_factor = table.block_factor(BlockId::new(wordline.number() % 7));
                let today = table.limit_of_kinds(
                    table.in_mode(table.limit_of(limit, wordline, block_factor), mode),
                    1 << kind,
                );
                let page = PageAt { wordline, kind, block_factor, mode };
                assert_eq!(aged.of_page(&table, limit.in_1024ths(), page), today.in_1024ths());
            }
        }
    }
    assert!(compared > 200_000, "{compared}");
}

#[test]
fn retries_follow_from_dose_and_age_together() {
    let (_, table, aged) = made(simple());
    let limits = |step: usize| {
        let (aged, table) = (&aged, &table);
        move |level| aged.truth(table, 0, Asked { group: 0, kind: 2, level, step })
    };
    let step = aged.ages().step(64 * HOUR - 1);
    let retries = |dose: u64, step: usize| aged.retries(dose * 1024, limits(step));
    assert_eq!(
        [retries(700_000, 0), retries(700_001, 0), retries(912_501, 0)],
        [Some(0), Some(1), Some(2)]
    );
    assert_eq!(
        [retries(59_999, step), retries(60_001, step), retries(272_501, step)],
        [Some(0), Some(1), Some(2)]
    );
    assert_eq!([retries(1_285_000, step), retries(1_286_000, step)], [Some(4), None]);
    let level = |level| move |step: usize| limits(step)(level);
    // Without reads, 70 hours use up level 0 of a page. The step that ends at 73.1 hours begins at
    // 70.03.
    let hours =
        |dose: u64, k: usize| aged.ends(dose * 1024, level(k)).map(|age| age as f64 / HOUR as f64);
    assert!((66.0..70.01).contains(&hours(0, 0).unwrap()), "{:?}", hours(0, 0));
    assert!((30.0..35.0).contains(&hours(350_000, 0).unwrap()), "{:?}", hours(350_000, 0));
    assert_eq!(hours(700_001, 0), Some(0.0));
}

#[test]
fn a_level_never_ends_where_age_adds_too_little() {
    let mut config = simple();
    config.error.b = 1e-12;
    let (_, table, aged) = made(config);
    assert_eq!(
        aged.ends(0, |step| aged.truth(&table, 0, Asked { group: 0, kind: 0, level: 0, step })),
        None
    );
}

/// This also holds if the table's P/E counts are not multiples of the policies' distance, between
/// all rows and beyond the last.
#[test]
fn a_policy_never_assumes_more_than_the_truth() {
    let mut config = with_errors(simple());
    config.disturb.table = [(30, 900.7), (333, 500.1), (350, 800.9), (601, 790.3)]
        .map(|(pec, limit)| PerPec { pec, limit: vec![2.0 * limit, limit], alpha: vec![8.0, 9.0] })
        .to_vec();
    for spacing in [100, 70, 0] {
        config.disturb.policy_row_cycles = spacing;
        let (_, table, aged) = made(config.clone());
        for pec in 0..2000 {
            for (level, step) in
                [(0, 0), (0, 1), (0, 100), (1, 50), (4, 0), (4, 200), (4, STEPS - 1)]
            {
                let of = Asked { group: pec as usize % 2, kind: 1, level, step };
                let (lookup, truth) = (aged.lookup(&table, pec, of), aged.truth(&table, pec, of));
                assert!(
                    lookup <= truth,
                    "{pec} cycles every {spacing}, {of:?}: {lookup} of {truth}"
                );
            }
        }
    }
}

#[test]
fn layers_blocks_and_guard_levels_multiply_what_age_takes() {
    let mut config = simple();
    config.disturb.spread = vec![2.0, 2.0];
    config.disturb.block_variation = 0.5;
    config.disturb.kind_factor = vec![1.5, 1.0, 1.0];
    config.density.limit_factor = 10.0;
    let (_, table, aged) = made(config);
    let group_limit = -1000 * 1024;
    for wordline in WordlineInBlock::range(0..64) {
        let (block_factor, mode) =
            (table.block_factor(BlockId::new(5)), (wordline.number() % 2) as u8);
        let page = |kind| PageAt { wordline, kind, block_factor, mode };
        let positive = aged.of_page(&table, -group_limit, page(0));
        let negative = aged.of_page(&table, group_limit, page(0));
        assert!(
            -negative >= positive && -negative <= positive + 16 * 1024 / 100,
            "{positive} {negative}"
        );
        assert!(
            aged.of_page(&table, group_limit, page(1)) > negative,
            "the stronger kind has a smaller slope, not less harm"
        );
    }
    assert!(
        aged.of_page(
            &table,
            -1,
            PageAt { wordline: WordlineInBlock::FIRST, kind: 0, block_factor: 1024, mode: 0 }
        ) < 0
    );
}

/// No factor and no value below 0 makes a limit overflow or change its sign.
#[test]
fn the_worst_of_everything_still_fits() {
    let mut config = simple();
    config.disturb.table.iter_mut().for_each(|row| row.limit = vec![2e7, 2e7]);
    config.disturb.spread = vec![10.0, 10.0];
    config.disturb.block_variation = 9.0;
    config.disturb.kind_factor = vec![10.0, 10.0, 1.0];
    config.density.limit_factor = 100.0;
    config.error.e = 0.008_499_999;
    config.error.b = 0.4;
    let (_, table, aged) = made(config);
    for (level, step) in [(0, 0), (4, 0), (4, 1), (0, STEPS - 1), (4, STEPS - 1)] {
        let limit = aged.truth(&table, 0, Asked { group: 0, kind: 0, level, step });
        for wordline in WordlineInBlock::range(0..64) {
            let page = aged.of_page(
                &table,
                limit,
                PageAt { wordline, kind: 0, block_factor: 10 * 1024 - 1, mode: 1 },
            );
            assert!(
                page.signum() == limit.signum() && page.unsigned_abs() >= limit.unsigned_abs(),
                "{limit} became {page}"
            );
        }
    }
}

/// A P/E count that no block reaches causes no refusal, whatever the table's next row has.
#[test]
fn wear_that_a_drive_does_not_reach_refuses_nothing() {
    let mut config = simple();
    (config.error.a, config.error.k, config.start.pec) = (4.6e-6, 1.0, 1500);
    assert!(config.resolve().is_ok());
}

#[test]
fn a_table_of_error_rates_counts_the_age_of_the_next_number() {
    let row = |pec| ErrorRow { pec, base: vec![1e-3; 2], retention: vec![vec![1e-3, 2e-3]; 2] };
    let mut config = simple();
    config.error.model = ErrorLaw::Table;
    config.error.ages = vec![Span(DAY), Span(30 * DAY)];
    config.error.table = [0, 1000].map(row).to_vec();
    let (_, limits, aged) = made(config);
    let of = Asked { group: 1, kind: 0, level: 0, step: aged.ages().step(20 * HOUR) };
    let share = aged.truth(&limits, 0, of) as f64 / limits.truth(1, 0).limit.in_1024ths() as f64;
    assert!((share - (0.0085 - 0.001 - 0.001) / (0.0085 - 0.001)).abs() < 1e-6, "{share}");
}
