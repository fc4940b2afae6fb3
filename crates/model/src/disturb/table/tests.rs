//! Tests of the table of limits.

use super::*;
use crate::base::dose::Alpha;
use crate::config::{DisturbModel, PerPec};

fn table() -> LimitTable {
    let config = DisturbConfig {
        model: DisturbModel::Wordline,
        groups: vec!["good".into(), "worst".into()],
        table: vec![
            PerPec { pec: 0, limit: vec![2000.0, 1000.0], alpha: vec![8.0, 9.0] },
            PerPec { pec: 1000, limit: vec![1000.0, 500.0], alpha: vec![8.5, 9.5] },
        ],
        ..DisturbConfig::default()
    };
    LimitTable::new(&config, 64, 1)
}

/// A P/E count at a row uses this row alone, and no value before it.
#[test]
fn a_row_is_a_class_of_its_own() {
    let row = |pec, alpha| PerPec { pec, limit: vec![1000.0], alpha: vec![alpha] };
    let config = DisturbConfig {
        model: DisturbModel::Wordline,
        groups: vec!["all".into()],
        table: vec![row(0, 9.0), row(1000, 2.0)],
        policy_row_cycles: 0,
        ..DisturbConfig::default()
    };
    let t = LimitTable::new(&config, 64, 1);
    let looked_up = |pec| (t.lookup_class(pec), t.lookup(0, pec));
    assert_eq!(looked_up(1), looked_up(999));
    assert!(looked_up(999).0 != looked_up(1000).0 && looked_up(999).1 != looked_up(1000).1);
}

#[test]
fn truth_interpolates_and_lookup_takes_the_worse_of_two_close_rows() {
    let t = table();
    assert_eq!(
        t.truth(1, 550),
        Endurance { limit: Dose::UNIT * 725, alpha: Alpha::of_256ths(9 * 256 + 71) }
    );
    // The row at 600 has alpha 9.3, rounded up.
    assert_eq!(
        t.lookup(1, 550),
        Endurance { limit: Dose::UNIT * 700, alpha: Alpha::of_256ths(9 * 256 + 77) }
    );
    assert_eq!(t.lookup(1, 500), t.truth(1, 500));
    assert_eq!(t.lookup(0, 0).limit, Dose::UNIT * 2000);
}

/// This also holds if a table falls and rises between rows that are not multiples of the policies'
/// distance, and beyond its end.
#[test]
fn a_policy_never_assumes_more_than_the_truth() {
    let row = |pec, limit: f64, alpha: f64| PerPec {
        pec,
        limit: vec![2.0 * limit, limit],
        alpha: vec![8.0, alpha],
    };
    let broken = vec![
        row(30, 900.7, 9.3),
        row(333, 500.1, 12.0),
        row(350, 800.9, 8.7),
        row(601, 790.3, 8.1),
    ];
    let straight = vec![row(0, 1000.0, 9.0), row(1000, 500.0, 9.5)];
    for (table, policy_row_cycles) in
        [(&broken, 100), (&broken, 70), (&broken, 0), (&straight, 100), (&straight, 0)]
    {
        let config = DisturbConfig {
            model: DisturbModel::Wordline,
            groups: vec!["good".into(), "worst".into()],
            table: table.clone(),
            policy_row_cycles,
            ..DisturbConfig::default()
        };
        let t = LimitTable::new(&config, 64, 1);
        for pec in 0..2500 {
            for g in 0..2 {
                let (lookup, truth) = (t.lookup(g, pec), t.truth(g, pec));
                assert!(
                    lookup.limit <= truth.limit,
                    "limit, group {g}, {pec} cycles, every {policy_row_cycles}"
                );
                assert!(
                    lookup.alpha >= truth.alpha,
                    "alpha, group {g}, {pec} cycles, every {policy_row_cycles}"
                );
            }
            let same_class = pec > 0 && t.lookup_class(pec) == t.lookup_class(pec - 1);
            assert!(!same_class || t.lookup(1, pec) == t.lookup(1, pec - 1), "{pec} cycles");
        }
    }
}

#[test]
fn sensing_weights_average_to_one_unit() {
    assert_eq!(dose_per_kind(DoseUnit::Reads, CellType::Tlc), [Quarters::UNIT; 4]);
    assert_eq!(
        dose_per_kind(DoseUnit::Sensings, CellType::Tlc)[..3],
        [2, 3, 7].map(Quarters::from_count)
    );
    assert_eq!(dose_per_kind(DoseUnit::Sensings, CellType::Slc)[..1], [Quarters::UNIT]);
}

/// For TLC, 1, 2 and 4 sensings weigh 2, 3 and 7 quarters. For QLC, 1, 2, 4 and 8 sensings weigh 1,
/// 2, 4 and 9 quarters.
#[test]
fn a_merged_wordline_takes_the_doses_of_its_sensings() {
    let doses = |cell: CellType, unit: DoseUnit| {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 10, wordlines_per_block = 8, cell = "tlc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        "#;
        let mut config = toml::from_str::<crate::config::DriveConfig>(text).unwrap();
        config.geometry.cell = cell;
        dose_per_coding(unit, cell, &Codings::of(&config)).map(|kinds| kinds.map(Quarters::count))
    };
    let tlc = doses(CellType::Tlc, DoseUnit::Sensings);
    assert_eq!(
        [0, 1, 4, 5].map(|coding| tlc[coding][..3].to_vec()),
        [[2, 3, 7], [2, 3, 7], [2, 2, 3], [2, 3, 2]]
    );
    assert_eq!(
        doses(CellType::Qlc, DoseUnit::Sensings)[4..7],
        [[1, 1, 2, 4], [1, 2, 1, 2], [1, 2, 4, 1]]
    );
    // In the 2-3-2 code, 2, 3 and 2 sensings weigh 3, 5 and 3 quarters, and one sensing weighs 2.
    let tlc_232 = doses(CellType::Tlc232, DoseUnit::Sensings);
    assert_eq!(
        [0, 4, 5].map(|coding| tlc_232[coding][..3].to_vec()),
        [[3, 5, 3], [3, 2, 3], [3, 5, 2]]
    );
    assert!(doses(CellType::Tlc, DoseUnit::Reads).iter().all(|kinds| *kinds == [4; 4]));
}

/// The factors of blocks and layers multiply, and none is below 1. The oracle has a test with the
/// expected factors.
#[test]
fn limits_scatter_over_blocks_and_layers() {
    let config = DisturbConfig {
        model: DisturbModel::Wordline,
        limit_sigma_block: 0.5,
        limit_sigma_layer: 0.3,
        table: vec![PerPec { pec: 0, limit: vec![1000.0], alpha: vec![8.0] }],
        ..DisturbConfig::default()
    };
    let table = LimitTable::new(&config, 64, 1);
    let factors: Vec<u32> = BlockId::range(0..8).map(|block| table.block_factor(block)).collect();
    assert_eq!(factors, [1147, 1784, 1393, 1476, 1635, 1189, 1260, 2156]);
    assert_eq!(table.member[..8], [1309, 1037, 1136, 1044, 1512, 1461, 1071, 1695]);
    // 1,000 reads, times the factors of block 0 and wordline 0.
    let limit = table.truth(0, 0).limit;
    let of_page = table.limit_of(limit, WordlineInBlock::FIRST, factors[0]);
    assert_eq!(of_page.in_1024ths(), 1000 * 1309 * 1147 / 1024);
    let even = LimitTable::new(
        &DisturbConfig { limit_sigma_block: 0.0, limit_sigma_layer: 0.0, ..config },
        64,
        1,
    );
    assert!(even.member.iter().all(|member| *member == 1024));
    assert!(BlockId::range(0..64).all(|block| even.block_factor(block) == 1024));
}
