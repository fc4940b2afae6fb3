//! Limits of pages, computed from `[disturb]` with plain loops and floating-point numbers.
//!
//! A layer of wordlines belongs to one group, drawn by its number. Its strength lies between the
//! worst and the best of that group. The worst layer has the limit of `disturb.table`, which is
//! linear between the rows. Beyond the last row, each further stretch changes the limit by the same
//! share as the last one. Other blocks, page kinds and cells with guard levels endure more by
//! factors in 1/1024.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{CellType, DisturbConfig, DisturbModel, DriveConfig, PerPec};

use super::code::Code;

/// Unit of factors: 1/1024.
const ONE: u32 = 1024;
/// A dose unit, in 1/1024, and an alpha of 1, in 1/256.
const READ: f64 = 1024.0;
const ALPHA: f64 = 256.0;
/// Largest alpha beyond the table.
const ALPHA_MOST: f64 = 32.0;

/// Limit of a wordline, and the weight of its neighbours' reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endurance {
    /// Dose at which data is lost, in 1/1024 dose units.
    pub(super) limit: u64,
    /// Weight of a neighbour's read, in 1/256.
    pub(super) alpha: u64,
}

/// A row of `disturb.table`: limit and alpha of each group.
#[derive(Clone, Debug)]
struct LimitRow {
    pec: u64,
    groups: Vec<(f64, f64)>,
}

/// Limits of one drive's flash.
#[derive(Debug)]
pub(super) struct Endurances {
    rows: Vec<LimitRow>,
    /// Group of each wordline within a block, and the ratio of its limit to the group's.
    group: Vec<u8>,
    member: Vec<u32>,
    block_variation: f64,
    sigma_block: f64,
    /// Ratio of each page kind's limit to that of the weakest kind.
    kind: [u32; 4],
    guarded: u64,
    cell: CellType,
}

impl Endurances {
    /// Returns the limits of a drive, from its code if it has one.
    pub(super) fn new(config: &DriveConfig, code: Option<&Code>) -> Self {
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
            rows: code.map_or_else(|| rows(d), |code| rows_of(code, config)),
            group: (0..g.wordlines_per_block).map(|w| of(w).group as u8).collect(),
            member: (0..g.wordlines_per_block)
                .map(|w| members[(w / g.strings_per_layer) as usize])
                .collect(),
            block_variation: d.block_variation,
            sigma_block: d.limit_sigma_block,
            kind: std::array::from_fn(by_kind),
            guarded: (config.density.limit_factor * f64::from(ONE)) as u64,
            cell: g.cell,
        }
    }

    pub(super) fn groups(&self) -> usize {
        self.rows.first().map_or(1, |row| row.groups.len())
    }

    pub(super) fn group_of(&self, wordline: u32) -> usize {
        self.group[wordline as usize].into()
    }

    /// Returns the ratio of a block's limits to those of the worst block.
    pub(super) fn block_factor(&self, block: BlockId) -> u32 {
        let number = u64::from(block.number());
        scaled(self.block_variation * drawn(number ^ 1 << 41))
            * scattered(self.sigma_block, number, 1 << 42)
            / ONE
    }

    /// Returns limit and alpha of a group's worst layer after this number of cycles. Both are
    /// rounded to the worse side.
    pub(super) fn truth(&self, group: usize, pec: u32) -> Endurance {
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
    pub(super) fn limit_of(&self, of_group: u64, wordline: u32, block_factor: u32) -> u64 {
        let of_layer = of_group * u64::from(self.member[wordline as usize]) / u64::from(ONE);
        of_layer * u64::from(block_factor) / u64::from(ONE)
    }

    /// Returns the limit of a page kind, from its wordline's limit.
    pub(super) fn limit_of_kind(&self, of_wordline: u64, kind: u32) -> u64 {
        of_wordline * u64::from(self.kind[kind as usize & 3]) / u64::from(ONE)
    }

    /// Returns a limit in a coding mode, which may leave guard levels; `None` if the cells do not
    /// have this mode. Each mode gives up one page more than the previous mode of its kind, and
    /// keeps at least one. The 2-3-2 code has no guard levels.
    pub(super) fn in_mode(&self, limit: u64, mode: u8) -> Option<u64> {
        let is_guarded = (1..=3).contains(&mode);
        let gives_up = if is_guarded { mode } else { mode.saturating_sub(3) };
        let lacks = is_guarded && self.cell == CellType::Tlc232;
        (u32::from(gives_up) < self.cell.bits() && !lacks)
            .then(|| if is_guarded { limit * self.guarded / u64::from(ONE) } else { limit })
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

/// Returns the rows of the drive's file.
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
