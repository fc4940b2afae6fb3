//! # STRAW-SS, as published
//! UNSAFE: `straw-ss` with the paper's own margin, which reserves no dose for movers' reads and for
//! host reads during a job. A comparison with `straw-ss` shows what this reserve costs.
//!
//! - **Paper:** straw-2024 III-B: a wordline moves if its count, "including the possible additional
//!   reads by the next interval", exceeds `ERC_MAX`. Its pages are copied "before the next
//!   interval".
//! - **Acts at:** read counts of a block that are multiples of the check interval I. Wordlines with
//!   `ERC(i) + alpha I > ERC_MAX` move. The estimate ERC is that of `straw-ss`.
//! - **Costs:** as `straw-ss`.
//! - **Departs from the paper:** checks at which no wordline can be due are skipped. If several
//!   counters have the lowest count, they are replaced in turn.
//! - **Does not help:** data under attack, and data whose limit is exceeded by reads for which the
//!   margin has no reserve.
//! - **Safety:** none (`docs/reclaim/straw-ss.md`, "The published margin").
//!
//! ```text
//! six one-page wordlines, alpha 9, limit 2,000, I = 10:   straw-ss moves above 2,000 - 9 (10 + 1) - (6 + 2 x 8) = 1,879
//!                                                 as published above 2,000 - 9 x 10                   = 1,910
//! two counters; page 1 has two thirds of the reads, so the estimate of page 2 rises by 9 for each of them:
//! reads 210   1,890: straw-ss moves page 2, as published it stays
//! reads 220   1,980: it moves
//! ```

use super::Technique;
use super::View;
use super::shared::straw::{Budget, DoseEstimate, Straw};
use super::straw_ss::Published;
use super::{CHECK_INTERVAL, COUNTERS};
use vpass_drive::api::card::{About, Args, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "straw-ss-published",
        summary: "UNSAFE: `straw-ss` with the published margin, which counts neither the host's \
            reads during a rewrite nor the reads of the rewrite itself (straw-2024)",
        paper: "STRAW, CAL 2024",
        protects: Protection::Unsafe,
        needs: Needs { limits: true, counters: true, retries: false },
        in_bulk: InBulk::OrderDrawn,
        params: &[CHECK_INTERVAL, COUNTERS],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(StrawSsPublished::new(args, config))),
};

pub(super) type StrawSsPublished = Straw<WithoutMargin>;

/// The paper's estimate of doses, with the paper's margin.
pub(super) struct WithoutMargin(Published);

impl DoseEstimate for WithoutMargin {
    const BOUND: &'static str = Published::BOUND;
    const FROM_ERASE: bool = Published::FROM_ERASE;
    const CAN_BE_DECEIVED: bool = Published::CAN_BE_DECEIVED;
    const ONLY_THE_INTERVAL: bool = true;

    fn new(args: &Args, config: &DriveConfig) -> Self {
        Self(Published::new(args, config))
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        self.0.margins(view, block, budget, movers, out);
    }

    fn quiet(&self, view: &View, block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        self.0.quiet(view, block, slack, alpha)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.0.controller_ram(geometry)
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::straw::tests::{
        drive, looks_left_out_find_nothing, one_page_wordlines,
    };
    use super::WithoutMargin;
    use vpass_drive::base::units::Lpn;

    #[test]
    fn worked_example() {
        let text = one_page_wordlines(6, 2000, "check_interval = 10, counters = 2");
        let mut drive = drive::<WithoutMargin>(&text, "straw-ss-published", true);
        let mut copied = |from: u32, to: u32| {
            for n in from..to {
                let page = if n % 3 < 2 { 1 } else { [0, 2, 3, 4, 5][(n / 3 % 5) as usize] };
                drive.read_pages(&[Lpn::new(page)]);
            }
            drive.reclaim_counts().pages_copied
        };
        assert_eq!((copied(0, 210), copied(210, 219), copied(219, 220)), (0, 0, 1));
    }

    #[test]
    fn looks_left_out_would_have_found_nothing() {
        looks_left_out_find_nothing::<WithoutMargin>("straw-ss-published");
    }
}
