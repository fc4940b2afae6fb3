//! # STRAW-WL
//! Counts the reads of every wordline, and rewrites the wordlines that could reach their limit
//! before the next check of their block.
//!
//! - **Paper:** straw-2024 III, with its naive counters ("STRAW-WL" of Fig. 8).
//! - **Acts at:** the checks of `shared/straw.rs`, with exact doses. The condition for a move is
//!   `dose(i) + alpha (max(I, R_late + 1) + R_late) + M > ERC_MAX`.
//! - **Costs:** 3 bytes for each wordline and 3 bytes for each block. The simulation uses the
//!   drive's own counters, because a controller's counters would have the same values.
//! - **Departs from the paper:** a wordline's dose counts from its own programming, not from the
//!   erase. The margin also includes movers' reads, and the host reads that a block serves during
//!   its job. Checks at which no wordline can be due are skipped.
//! - **Does not help:** blocks that are read evenly, because all their wordlines are due together.
//!   GC must clean the invalid pages that `straw-wl` leaves.
//! - **Safety:** no page is lost under any reads (`docs/reclaim/straw-wl.md`).
//!
//! ```text
//! one page a wordline, alpha 9, limit 900, I = 10, three wordlines, hammered in the middle:
//!                 fresh wordline: 900 - 9 (10 + 1) - (3 + 2 x 8) = 782 is the threshold = 86 reads: first check at 90
//! reads   90      dose of both neighbours 810 > 782: both move (3 - 2 valid pages left), the middle one, dose 0, stays
//! ```

use super::Technique;
use super::View;
use super::shared::straw::{Budget, DoseEstimate, Straw};
use super::{CHECK_INTERVAL, OWN_AGE};
use vpass_drive::api::card::{About, Args, Card, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes};
use vpass_drive::config::DriveConfig;
use vpass_drive::flash::block::Wordline;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "straw-wl",
        summary: "rewrites wordlines whose own dose nears their limit, with exact counters \
            (straw-2024)",
        paper: "STRAW, CAL 2024",
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: &[CHECK_INTERVAL, OWN_AGE],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(StrawWl::new(args, config))),
};

pub(super) type StrawWl = Straw<Exact>;

/// Estimate that is equal to the true dose.
pub(super) struct Exact {
    /// Dose that a read of a wordline adds to this wordline itself, in reads: 1 in the model
    /// `count`, and otherwise 0.
    own_weight: u32,
    /// Buffer for a check: numbers of reads of the wordlines. The zeros at both ends of the list
    /// stand for missing neighbours.
    reads: Vec<Quarters>,
}

impl DoseEstimate for Exact {
    const BOUND: &'static str = "dose";
    const FROM_ERASE: bool = false;

    fn new(_: &Args, config: &DriveConfig) -> Self {
        Self { own_weight: u32::from(config.disturb.model.own_reads_disturb()), reads: vec![] }
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        let wordlines = view.wordlines(block);
        let stride = view.geometry.neighbour_stride as usize;
        self.reads.clear();
        self.reads.resize(stride, Quarters::ZERO);
        self.reads.extend(wordlines.iter().map(|w| w.reads));
        self.reads.resize(wordlines.len() + 2 * stride, Quarters::ZERO);
        let below = &self.reads[..wordlines.len()];
        let above = &self.reads[2 * stride..][..wordlines.len()];
        margins(
            out,
            budget,
            wordlines,
            below,
            above,
            Fixed { read: view.dose(block), own: self.own_weight, movers },
        );
    }

    fn quiet(&self, _view: &View, _block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        slack / alpha
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(3 * (u64::from(geometry.wordlines()) + u64::from(geometry.blocks)))
    }
}

/// Values that are equal for all wordlines of a block.
#[derive(Clone, Copy)]
struct Fixed {
    read: Quarters,
    own: u32,
    movers: Dose,
}

/// Computes the margin of each wordline. The loop uses plain slices and has no branch, so that the
/// compiler can vectorise it.
fn margins(
    out: &mut [Dose],
    budget: &Budget,
    wordlines: &[Wordline],
    below: &[Quarters],
    above: &[Quarters],
    f: Fixed,
) {
    let rows = wordlines.iter().zip(below).zip(above).zip(&budget.keep).zip(&budget.alpha);
    for (margin, ((((wordline, below), above), keep), alpha)) in out.iter_mut().zip(rows) {
        let (near, own) = (*below + *above, wordline.reads * (1 - f.own));
        let far = f.read.far() - near.far() - own.far() - wordline.base.far();
        *margin = *keep - f.movers - (near * *alpha + far);
    }
}

#[cfg(test)]
mod tests {
    use super::super::shared::straw::tests::{
        drive, looks_left_out_find_nothing, one_page_wordlines,
    };
    use super::Exact;
    use vpass_drive::base::units::{Cause, Lpn};
    use vpass_drive::drive::Drive;

    #[test]
    fn only_the_neighbours_of_a_hammered_wordline_move() {
        let text = one_page_wordlines(3, 900, "check_interval = 10");
        let mut drive = drive::<Exact>(&text, "straw-wl", true);
        let read =
            |drive: &mut Drive, times| (0..times).for_each(|_| drive.read_pages(&[Lpn::new(1)]));
        read(&mut drive, 89);
        assert_eq!((drive.reclaim_counts().alarms, drive.reclaim_counts().pages_copied), (0, 0));
        read(&mut drive, 1);
        assert_eq!((drive.reclaim_counts().alarms, drive.reclaim_counts().pages_copied), (1, 2));
        read(&mut drive, 100_000);
        // The neighbours of the page that is read have moved, so its reads disturb no data.
        assert_eq!(
            (
                drive.reclaim_counts().pages_copied,
                drive.flash_counts().erases[Cause::Reclaim as usize]
            ),
            (2, 0)
        );
        assert_eq!(drive.lost_pages(), 0);
    }

    #[test]
    fn looks_left_out_would_have_found_nothing() {
        looks_left_out_find_nothing::<Exact>("straw-wl");
    }
}
