//! Limits of the reclaim technique at each P/E count. A block has one or more parts. Each part has
//! a limit: the number of page reads of the block at which the part is moved.
//!
//! ```text
//! block:    each block is one part, and moves after T = 2,152 page reads
//! straw-wl: each group of wordlines is one part, and moves after
//!           (ERC_MAX - margin) / (1 + 2 (alpha - 1) / W) page reads,
//!           where W is the number of wordlines of a block
//! ```

use vpass_drive::api::reclaim::promise::Prospect;
use vpass_drive::api::reclaim::{CHECK_INTERVAL, NO_RECLAIM};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::{DriveConfig, Number};
use vpass_drive::disturb::table::LimitTable;

use crate::failure::Failure;
use crate::plan::RunPlan;

/// Techniques that rewrite a whole block at a fixed number of page reads.
const WHOLE_BLOCKS: [&str; 3] = ["block", "page-type", "ideal"];
/// Techniques that count the dose of each wordline, and rewrite a wordline when its dose reaches a
/// limit.
const WORDLINES: [&str; 4] = ["straw-wl", "straw-ss", "straw-ss-published", "straw-ss-sound"];

/// Part of a block: the pages that move together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part {
    /// Share of the pages of a block that are in the part.
    pub(super) share: f64,
    /// Number of page reads at which the part moves. All page reads of the block count.
    pub(super) reads: f64,
}

/// Returns whether the technique `count` decides only by the number of reads of each block. Two
/// parameters of `count` add other criteria: the reads of the whole drive, and retries.
fn counts_blocks(config: &DriveConfig) -> bool {
    let given =
        |key: &str| config.reclaim.params.get(Some("count"), key).map_or(0.0, Number::value);
    given("drive_wide") == 0.0 && given("retries") == 0.0
}

/// Limits of the plan's technique.
pub(super) struct Limits {
    kind: Kind,
    prospect: Option<Prospect>,
    table: Option<LimitTable>,
    /// Number of wordlines of each group.
    wordlines: Vec<f64>,
    interval: f64,
    /// Factor that multiplies the technique's own read thresholds.
    factor: f64,
}

/// Unit of data that a technique rewrites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nothing: the technique never rewrites data.
    Nothing,
    /// Whole block.
    Blocks,
    /// Single wordline.
    Wordlines,
}

impl Limits {
    /// Returns the limits of the plan's technique, multiplied by `factor`. Returns `None` if no
    /// equation for the limits of this technique is known.
    ///
    /// # Errors
    /// Returns an error if the technique cannot protect the drive.
    pub(super) fn of(plan: &RunPlan, factor: f64) -> Result<Option<Self>, Failure> {
        let config = &plan.drive.config;
        let technique = plan.reclaim;
        let kind = match plan.reclaim.listed_name().unwrap_or_default() {
            _ if !config.disturb.model.disturbs() => Kind::Nothing,
            NO_RECLAIM => Kind::Nothing,
            name if WHOLE_BLOCKS.contains(&name) => Kind::Blocks,
            name if WORDLINES.contains(&name) => Kind::Wordlines,
            "count" if counts_blocks(config) => Kind::Blocks,
            _ => return Ok(None),
        };
        let geometry = Geometry::new(config);
        let table = LimitTable::of(config);
        let of_group = |table: &LimitTable, g: usize| {
            geometry.wordlines_in_block().filter(|w| table.group_of(*w) == g).count() as f64
        };
        let wordlines = table
            .iter()
            .flat_map(|table| (0..table.groups()).map(move |g| of_group(table, g)))
            .collect();
        let args = technique.args(config);
        let interval =
            if args.has(&CHECK_INTERVAL) { f64::from(args.whole(&CHECK_INTERVAL)) } else { 0.0 };
        let prospect =
            (kind != Kind::Nothing).then(|| Prospect::new(config, technique)).transpose();
        let prospect = prospect.map_err(|e| plan.refused_drive(e))?;
        let this = Self { kind, prospect, table, wordlines, interval, factor };
        let moves_at_once = kind != Kind::Blocks || this.at(config.start.pec).len() == 1;
        Ok(moves_at_once.then_some(this))
    }

    /// Returns the unit of data that the technique rewrites.
    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the parts of a block at this P/E count, in the order in which they move. Returns an
    /// empty list if reads cause no rewrites.
    pub(super) fn at(&self, pec: u32) -> Vec<Part> {
        let Some(prospect) = &self.prospect else { return vec![] };
        let thresholds = prospect.thresholds(pec);
        match (self.kind, &self.table) {
            (Kind::Wordlines, Some(table)) => {
                let of_groups = &thresholds[thresholds.len() - self.wordlines.len()..];
                let all: f64 = self.wordlines.iter().sum();
                let part = |(group, wordlines): (usize, &f64)| {
                    let beside = 2.0 * (table.truth(group, pec).alpha.weight() - 1.0) / all;
                    // The technique checks wordlines at intervals. On average, the check comes half
                    // an interval after a wordline has reached its limit.
                    let reads =
                        f64::from(of_groups[group].reads) / (1.0 + beside) + self.interval / 2.0;
                    Part { share: wordlines / all, reads: self.factor * reads }
                };
                let mut parts: Vec<Part> = self
                    .wordlines
                    .iter()
                    .enumerate()
                    .map(part)
                    .filter(|part| part.share > 0.0)
                    .collect();
                parts.sort_by(|a, b| a.reads.total_cmp(&b.reads));
                parts
            }
            _ => thresholds
                .iter()
                .map(|threshold| Part {
                    share: 1.0,
                    reads: self.factor * f64::from(threshold.reads),
                })
                .collect(),
        }
    }
}
