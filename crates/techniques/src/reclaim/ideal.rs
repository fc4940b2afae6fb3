//! # Ideal
//! Works like `block`, but on better flash. On this flash, reads disturb all wordlines equally, and
//! all pages have the limit of the median wordline's weakest page kind. So `ideal` is a
//! counterfactual and not a technique. It changes the flash of the run, also for the oracle, and
//! gives a bound for comparison.
//!
//! - **Paper:** straw-2024 II (`SSD_ideal` of Fig. 3).
//! - **Acts at:** the threshold of `block`, computed with alpha 1. The limit at each P/E count is
//!   the median of the true limits of a block's wordlines.
//! - **Costs:** 3 bytes per block.
//! - **Departs from the paper:** in no known way.
//! - **Does not help:** any real drive.
//! - **Safety:** as `block`, on this counterfactual flash (`docs/reclaim/block.md`).
//!
//! ```text
//! limits 400, 600, 700, 900 K at alpha 9:      all wordlines get 600 K (the lower middle) at alpha 1
//! ```

use super::Technique;
use super::block::Block;
use super::{Action, Policy, Promise, Threshold, View};
use vpass_drive::api::card::{About, Card, Needs, New, Protection};
use vpass_drive::base::dose::Dose;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::LimitTable;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "ideal",
        summary: "COUNTERFACTUAL: `block` on flash where reads disturb all wordlines equally and \
            every wordline has the median limit",
        paper: "STRAW, CAL 2024",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        nature: Some(nature),
        ..About::PLAIN
    },
    new: New::Listed(|_, config, _| Box::new(Ideal::new(config))),
};

pub(super) struct Ideal(Block);

impl Ideal {
    pub(super) fn new(config: &DriveConfig) -> Self {
        Self(Block::new(config))
    }
}

/// Changes the flash of a drive's configuration into that of the ideal drive.
pub(super) fn nature(config: &mut DriveConfig) {
    let Some(table) = LimitTable::of(config).filter(|_| config.disturb.model.has_neighbours())
    else {
        return;
    };
    let wordlines = WordlineInBlock::range(0..config.geometry.wordlines_per_block);
    for row in &mut config.disturb.table {
        let mut limits: Vec<Dose> = wordlines
            .clone()
            .map(|w| table.limit_of_worst_block(table.truth(table.group_of(w), row.pec).limit, w))
            .collect();
        limits.sort_unstable();
        row.limit = vec![limits[(limits.len() - 1) / 2].units()];
        row.alpha = vec![1.0];
    }
    config.disturb.groups = vec!["median (counterfactual)".into()];
    config.disturb.group_share = vec![];
    config.disturb.spread = vec![];
    config.disturb.block_variation = 0.0;
    config.disturb.kind_factor = vec![];
}

impl Policy for Ideal {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        self.0.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        self.0.on_alarm(view, block, out)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.0.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        self.0.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        let counterfactual = |t: Threshold| Threshold {
            name: format!(
                "the following holds for counterfactual flash, not for a real drive: {}",
                t.name
            ),
            ..t
        };
        self.0.explain(view, pec).into_iter().map(counterfactual).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::nature;
    use vpass_drive::base::units::WordlineInBlock;
    use vpass_drive::disturb::table::LimitTable;

    /// The wordlines form four groups. The weakest group has less than half of the wordlines, and
    /// the two strongest groups together have at most half.
    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 30, wordlines_per_block = 64, cell = "tlc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            disturb = { model = "wordline", groups = ["a", "b", "c", "d"], table = [{ pec = 0, limit = [400000, 600000, 700000, 900000], alpha = [9.0, 9.0, 9.0, 9.0] }] }
        "#;
        let mut config = crate::testing::config(text);
        let table = LimitTable::of(&config).expect("a model with a table");
        let of_group =
            |group| WordlineInBlock::range(0..64).filter(|w| table.group_of(*w) == group).count();
        assert!(
            of_group(0) < 32 && of_group(0) + of_group(1) >= 32,
            "{} and {}",
            of_group(0),
            of_group(1)
        );
        nature(&mut config);
        assert_eq!(
            (&config.disturb.table[0].limit[..], &config.disturb.table[0].alpha[..]),
            (&[600_000.0][..], &[1.0][..])
        );
    }

    /// In Fig. 3 of straw-2024, block-level reclaim copies 15.4 times as much as the ideal at 2,000
    /// cycles. The preset is calibrated to this number.
    #[test]
    fn the_median_over_the_worst_case_is_that_of_the_paper() {
        let mut config =
            toml::from_str(include_str!("../../../../presets/drives/straw-2t-tlc.toml")).unwrap();
        nature(&mut config);
        let median = config.disturb.table[2].limit[0];
        let ratio = median / (405_000.0 / 9.15);
        assert!((ratio / 15.4 - 1.0).abs() < 0.02, "median {median}, ratio {ratio:.2}");
        assert_eq!(config.disturb.table[2].alpha, [1.0]);
    }
}
