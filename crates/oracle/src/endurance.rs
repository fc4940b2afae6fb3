//! Limits of pages, computed from `[disturb]` by the oracle's own arithmetic. The oracle does not
//! use the drive's table, so it can find errors in that table.
//!
//! A layer of wordlines belongs to one group, drawn by its number. Its strength lies between the
//! worst and the best of that group. The worst layer has the limit of `disturb.table`, which is
//! linear between the rows. Beyond the last row, each further stretch changes the limit by the same
//! share as the last one. Other blocks, page kinds and cells with guard levels endure more by
//! factors in 1/1024.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{CellType, DisturbConfig, DisturbModel, DoseUnit, DriveConfig, PerPec};
use vpass_drive::disturb::table;

use crate::bch::Code;
use crate::codings::{Codings, has_guard_levels};

/// Unit of factors: 1/1024.
const ONE: u32 = 1024;
/// A dose unit in counters, which count quarters.
pub(crate) const COUNTED_UNIT: u64 = 4;
/// Weight of a distant read, in 1/256.
pub(crate) const FAR: u64 = 256;
/// A dose unit in doses and limits, which are in 1/1024.
pub(crate) const UNIT: u64 = COUNTED_UNIT * FAR;
const READ: f64 = UNIT as f64;
const ALPHA: f64 = FAR as f64;
/// Largest alpha beyond the table.
const ALPHA_MOST: f64 = 32.0;

/// Limit of a wordline, and the weight of its neighbours' reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endurance {
    /// Dose at which data is lost, in 1/1024 dose units.
    pub(crate) limit: u64,
    /// Weight of a neighbour's read, in 1/256.
    pub(crate) alpha: u64,
}

impl Endurance {
    /// Converts limit and alpha as a policy knows them.
    pub(crate) fn told(told: table::Endurance) -> Self {
        Self {
            limit: told.limit.in_1024ths().cast_unsigned(),
            alpha: told.alpha.in_256ths().into(),
        }
    }
}

/// A row of `disturb.table`: limit and alpha of each group.
#[derive(Clone, Debug)]
struct LimitRow {
    pec: u64,
    groups: Vec<(f64, f64)>,
}

/// Limits of one drive's flash.
#[derive(Debug)]
pub(crate) struct Endurances {
    rows: Vec<LimitRow>,
    /// Group of each wordline within a block, and the ratio of its limit to the group's.
    group: Vec<u8>,
    member: Vec<u32>,
    block_variation: f64,
    sigma_block: f64,
    /// Ratio of each page kind's limit to that of the weakest kind.
    kind: [u32; 4],
    guarded: u64,
}

impl Endurances {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        // A model without a table has no groups, layers or page kinds, even if the drive's file
        // names some.
        let alike = DisturbConfig { model: config.disturb.model, ..DisturbConfig::default() };
        let (d, g) =
            (if alike.model.has_table() { &config.disturb } else { &alike }, &config.geometry);
        let layers: Vec<Layer> = (0..g.wordlines_per_block.div_ceil(g.strings_per_layer))
            .map(|n| Layer::new(d, n))
            .collect();
        let of = |wordline: u32| &layers[(wordline / g.strings_per_layer) as usize];
        let weakest = |group| {
            layers
                .iter()
                .filter(|l| l.group == group)
                .map(|l| l.strength)
                .fold(f64::INFINITY, f64::min)
        };
        let member = |layer: &Layer| {
            let best = d.spread.get(layer.group).copied().unwrap_or(1.0);
            let weakest = weakest(layer.group);
            let spread = scaled((best - 1.0) * ((layer.strength - weakest) / (1.0 - weakest)));
            spread * scattered(d.limit_sigma_layer, layer.number, 1 << 43) / ONE
        };
        let members: Vec<u32> = layers.iter().map(member).collect();
        let by_kind = |kind: usize| {
            d.kind_factor.get(kind).map_or(ONE, |factor| (factor * f64::from(ONE)) as u32)
        };
        Self {
            rows: Code::new(config).map_or_else(|| rows(d), |code| rows_of(&code, config)),
            group: (0..g.wordlines_per_block).map(|w| of(w).group as u8).collect(),
            member: (0..g.wordlines_per_block)
                .map(|w| members[(w / g.strings_per_layer) as usize])
                .collect(),
            block_variation: d.block_variation,
            sigma_block: d.limit_sigma_block,
            kind: std::array::from_fn(by_kind),
            guarded: (config.density.limit_factor * f64::from(ONE)) as u64,
        }
    }

    pub(crate) fn groups(&self) -> usize {
        self.rows.first().map_or(1, |row| row.groups.len())
    }

    #[inline]
    pub(crate) fn group_of(&self, wordline: u32) -> usize {
        self.group[wordline as usize].into()
    }

    /// Returns the ratio of a block's limits to those of the worst block.
    pub(crate) fn block_factor(&self, block: BlockId) -> u32 {
        let number = u64::from(block.number());
        scaled(self.block_variation * drawn(number ^ 1 << 41))
            * scattered(self.sigma_block, number, 1 << 42)
            / ONE
    }

    /// Returns limit and alpha of a group's worst layer after this number of cycles. Both are
    /// rounded to the worse side.
    pub(crate) fn truth(&self, group: usize, pec: u32) -> Endurance {
        let (limit, alpha) = self.exact(group, pec.into());
        Endurance { limit: (limit * READ).floor() as u64, alpha: (alpha * ALPHA).ceil() as u64 }
    }

    fn exact(&self, group: usize, pec: u64) -> (f64, f64) {
        let (first, last) = (&self.rows[0], &self.rows[self.rows.len() - 1]);
        if pec <= first.pec || self.rows.len() == 1 {
            return first.groups[group];
        }
        let (below, above) = if pec <= last.pec {
            let above =
                self.rows.iter().position(|row| pec <= row.pec).expect("the last row is not below");
            let at = |row: &LimitRow| (row.pec, row.groups[group]);
            (at(&self.rows[above - 1]), at(&self.rows[above]))
        } else {
            let stretch = last.pec - self.rows[self.rows.len() - 2].pec;
            let gone = (pec - last.pec).div_ceil(stretch);
            let at = |n: u64| (last.pec + n * stretch, self.beyond(group, n));
            (at(gone - 1), at(gone))
        };
        let part = (pec - below.0) as f64 / (above.0 - below.0) as f64;
        let between =
            |from: f64, to: f64| if above.0 == pec { to } else { from + part * (to - from) };
        (between(below.1.0, above.1.0), between(below.1.1, above.1.1))
    }

    /// Returns limit and alpha beyond the table, at a distance of `stretches` times the last row
    /// interval. A value that improved over the last interval stays constant.
    fn beyond(&self, group: usize, stretches: u64) -> (f64, f64) {
        let (limit, alpha) = self.rows[self.rows.len() - 1].groups[group];
        if stretches == 0 {
            return (limit, alpha);
        }
        let (limit_before, alpha_before) = self.rows[self.rows.len() - 2].groups[group];
        let share =
            (limit / limit_before).min(1.0).powi(i32::try_from(stretches).unwrap_or(i32::MAX));
        let more = (alpha - alpha_before).max(0.0) * stretches as f64;
        ((limit * share).max(1.0), (alpha + more).min(ALPHA_MOST.max(alpha)))
    }

    /// Returns the limit of a wordline's weakest page kind, from its group's limit and its block's
    /// factor.
    #[inline]
    pub(crate) fn limit_of(&self, of_group: u64, wordline: u32, block_factor: u32) -> u64 {
        let of_layer = of_group * u64::from(self.member[wordline as usize]) / u64::from(ONE);
        of_layer * u64::from(block_factor) / u64::from(ONE)
    }

    /// Returns the limit of a page kind, from its wordline's limit.
    #[inline]
    pub(crate) fn limit_of_kind(&self, of_wordline: u64, kind: u32) -> u64 {
        of_wordline * u64::from(self.kind[kind as usize & 3]) / u64::from(ONE)
    }

    /// Returns the lowest limit of any page kind. A limit below 0 stays as it is.
    pub(crate) fn least_of_kinds(&self, limit: i64) -> i64 {
        let least = self.kind.iter().copied().min().unwrap_or(ONE);
        if limit < 0 { limit } else { limit * i64::from(least) / i64::from(ONE) }
    }

    /// Returns a limit in a coding mode, which may leave guard levels.
    #[inline]
    pub(crate) fn in_mode(&self, limit: u64, mode: u8) -> u64 {
        if has_guard_levels(mode) { limit * self.guarded / u64::from(ONE) } else { limit }
    }
}

struct Layer {
    number: u64,
    group: usize,
    /// Strength from 0 to 1, among all layers.
    strength: f64,
}

impl Layer {
    fn new(config: &DisturbConfig, number: u32) -> Self {
        let (groups, mut left) = (config.groups.len(), drawn(number.into()));
        let share =
            |group: usize| config.group_share.get(group).copied().unwrap_or(1.0 / groups as f64);
        let mut group = 0;
        while left >= share(group) && group + 1 < groups {
            left -= share(group);
            group += 1;
        }
        let number = u64::from(number);
        Self { number, group, strength: drawn(number ^ 1 << 40) }
    }
}

/// Returns the rows that follow from a code.
fn rows_of(code: &Code, config: &DriveConfig) -> Vec<LimitRow> {
    config
        .bch
        .rows
        .iter()
        .map(|pec| LimitRow { pec: (*pec).into(), groups: vec![(code.reads(*pec), 1.0)] })
        .collect()
}

/// Returns the rows of the drive's file. The match names every model, so each new model needs an
/// entry here.
fn rows(config: &DisturbConfig) -> Vec<LimitRow> {
    let alpha: fn(&PerPec, usize) -> f64 = match config.model {
        DisturbModel::None => return vec![],
        DisturbModel::Count => |_, _| 1.0,
        DisturbModel::Wordline => |row, group| row.alpha[group],
    };
    let of_row = |row: &PerPec| {
        let groups = row.limit.iter().enumerate().map(|(group, limit)| (*limit, alpha(row, group)));
        LimitRow { pec: row.pec.into(), groups: groups.collect() }
    };
    config.table.iter().map(of_row).collect()
}

/// Returns whether every read of a block counts equally for all its pages, including the pages of
/// the wordline that is read. The match names every model too.
pub(crate) fn counts_alike(model: DisturbModel) -> bool {
    match model {
        DisturbModel::Count => true,
        DisturbModel::None | DisturbModel::Wordline => false,
    }
}

/// Returns 1 plus this share, in 1/1024.
fn scaled(more: f64) -> u32 {
    ONE + (more * f64::from(ONE)) as u32
}

/// Returns a factor from 1 to 4, in 1/1024: e to the power of sigma times the size of a standard
/// normal number. Of a lognormal factor, only values from 1 on remain. By Box and Muller, the normal
/// number follows from two numbers.
fn scattered(sigma: f64, number: u64, salt: u64) -> u32 {
    if sigma == 0.0 {
        return ONE;
    }
    let (first, second) = (drawn(number ^ salt), drawn(number ^ salt ^ 1 << 44));
    let normal = (-2.0 * (1.0 - first).ln()).sqrt() * (std::f64::consts::TAU * second).cos();
    ((sigma * normal.abs()).exp().min(4.0) * f64::from(ONE)) as u32
}

/// Returns a number in [0, 1) that follows from `n` alone, by the finaliser of splitmix64.
fn drawn(n: u64) -> f64 {
    let mut x = n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    for (shift, times) in [(30, 0xBF58_476D_1CE4_E5B9u64), (27, 0x94D0_49BB_1331_11EB)] {
        x = (x ^ x >> shift).wrapping_mul(times);
    }
    ((x ^ x >> 31) >> 11) as f64 / 2f64.powi(53)
}

/// Returns the dose of a read of each page kind in full density, in quarters.
pub(crate) fn doses(unit: DoseUnit, cell: CellType, codings: Codings) -> [u32; 4] {
    std::array::from_fn(|kind| {
        if (kind as u32) < cell.bits() {
            dose_of(unit, cell, codings, codings.sensings(0, kind as u32))
        } else {
            4
        }
    })
}

/// Returns the dose of a read with this number of sensings, in quarters. By `disturb.dose`, it is
/// one read, or the sensings over the mean of a wordline's kinds.
pub(crate) fn dose_of(unit: DoseUnit, cell: CellType, codings: Codings, sensings: u32) -> u32 {
    let mean = (0..cell.bits()).map(|kind| f64::from(codings.sensings(0, kind))).sum::<f64>()
        / f64::from(cell.bits());
    if unit == DoseUnit::Sensings {
        ((4.0 * f64::from(sensings) / mean).round() as u32).max(1)
    } else {
        4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(disturb: &str, density: &str) -> Endurances {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            density = {{ {density} }}
            [disturb]
            {disturb}
            "#
        );
        Endurances::new(&toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap())
    }

    /// Returns limits in reads, and alphas, of group 0.
    fn truths(e: &Endurances, pec: &[u32]) -> Vec<(f64, f64)> {
        pec.iter()
            .map(|pec| e.truth(0, *pec))
            .map(|t| (t.limit as f64 / READ, t.alpha as f64 / ALPHA))
            .collect()
    }

    #[test]
    fn limits_are_linear_between_rows_and_go_on_beyond_them() {
        let e = of(
            r#"model = "wordline"
            table = [{ pec = 100, limit = [2000], alpha = [8.0] }, { pec = 1100, limit = [1000], alpha = [8.5] }]"#,
            "",
        );
        let expected = [
            (2000.0, 8.0),
            (2000.0, 8.0),
            (1500.0, 8.25),
            (1000.0, 8.5),
            (750.0, 8.75),
            (500.0, 9.0),
            (250.0, 9.5),
        ];
        assert_eq!(truths(&e, &[0, 100, 600, 1100, 1600, 2100, 3100]), expected);
        assert_eq!(truths(&e, &[1_000_000]), [(1.0, 32.0)], "never nothing");
    }

    #[test]
    fn a_model_without_a_table_knows_no_groups_and_no_kinds() {
        let e = of(
            r#"model = "none"
            groups = ["a", "b"]
            kind_factor = [1.5, 1.5, 1.0]
            block_variation = 0.3"#,
            "",
        );
        assert!((0..64).all(|wordline| (
            e.group_of(wordline),
            e.limit_of(1000, wordline, e.block_factor(BlockId::new(7)))
        ) == (0, 1000)));
        assert_eq!(e.limit_of_kind(1000, 0), 1000);
    }

    #[test]
    fn what_grew_at_the_end_is_held() {
        let e = of(
            r#"model = "wordline"
            table = [{ pec = 0, limit = [1000], alpha = [9.0] }, { pec = 10, limit = [2000], alpha = [8.0] }]"#,
            "",
        );
        assert_eq!(
            truths(&e, &[5, 10, 11, 5000]),
            [(1500.0, 8.5), (2000.0, 8.0), (2000.0, 8.0), (2000.0, 8.0)]
        );
    }

    #[test]
    fn layers_blocks_kinds_and_guard_levels_only_add() {
        let e = of(
            r#"model = "wordline"
            groups = ["good", "bad"]
            spread = [1.5, 2.0]
            block_variation = 0.25
            kind_factor = [2.0, 1.0, 1.5]
            table = [{ pec = 0, limit = [2000, 1000], alpha = [8.0, 9.0] }]"#,
            "limit_factor = 10.0",
        );
        for group in 0..2 {
            let members =
                || (0..64).filter(|w| e.group_of(*w) == group).map(|w| e.member[w as usize]);
            assert_eq!(members().min(), Some(ONE));
            assert!(
                members().max().unwrap() > ONE && members().max().unwrap() < [1536, 2048][group]
            );
        }
        assert!(
            BlockId::range(0..40).all(|b| (1024..1280).contains(&e.block_factor(b)))
                && BlockId::range(0..40).any(|b| e.block_factor(b) > 1200)
        );
        let worst = (0..64).find(|w| e.group_of(*w) == 1 && e.member[*w as usize] == ONE).unwrap();
        assert_eq!(e.limit_of(1_024_000, worst, 1280), 1_280_000);
        assert_eq!([0, 1, 2].map(|kind| e.limit_of_kind(1000, kind)), [2000, 1000, 1500]);
        assert_eq!([0, 1, 4].map(|mode| e.in_mode(1000, mode)), [1000, 10_000, 1000]);
    }

    /// The expected factors come from a separate program in Python.
    #[test]
    fn limits_scatter_over_blocks_and_layers_and_only_grow() {
        let e = of(
            r#"model = "wordline"
            limit_sigma_block = 0.5
            limit_sigma_layer = 0.3
            table = [{ pec = 0, limit = [1000], alpha = [8.0] }]"#,
            "",
        );
        let factors: Vec<u32> = BlockId::range(0..8).map(|block| e.block_factor(block)).collect();
        assert_eq!(factors, [1147, 1784, 1393, 1476, 1635, 1189, 1260, 2156]);
        assert_eq!(e.member[..8], [1309, 1037, 1136, 1044, 1512, 1461, 1071, 1695]);
        // The half-normal number has median 0.6745, so the median factor is e^(0.5 x 0.6745).
        let mut many: Vec<u32> = BlockId::range(0..4001).map(|b| e.block_factor(b)).collect();
        many.sort_unstable();
        assert!((f64::from(many[2000]) / 1024.0 / (0.5f64 * 0.6745).exp() - 1.0).abs() < 0.03);
        assert!(many[0] >= ONE && many[4000] <= 4 * ONE, "{} to {}", many[0], many[4000]);
    }

    #[test]
    fn sensings_weigh_by_kind() {
        let doses = |unit, cell: CellType| doses(unit, cell, Codings::of(cell));
        assert_eq!(doses(DoseUnit::Reads, CellType::Tlc), [4; 4]);
        // TLC has 1, 2 and 4 sensings, and their mean is 7/3. This gives 1.7, 3.4 and 6.9 quarters.
        assert_eq!(doses(DoseUnit::Sensings, CellType::Tlc), [2, 3, 7, 4]);
        assert_eq!(doses(DoseUnit::Sensings, CellType::Qlc), [1, 2, 4, 9]);
        assert_eq!(doses(DoseUnit::Sensings, CellType::Tlc232), [3, 5, 3, 4]);
        assert_eq!(
            dose_of(DoseUnit::Sensings, CellType::Tlc232, Codings::of(CellType::Tlc232), 1),
            2
        );
    }
}
