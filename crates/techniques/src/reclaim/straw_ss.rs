//! # STRAW-SS
//! Counts the reads of only a few wordlines of each block: those that are read most. From these
//! counts, `straw-ss` estimates the dose of every wordline, as the paper does. It rewrites the
//! wordlines whose estimate could reach their limit before the next check.
//!
//! - **Paper:** straw-2024 III-B and Figs. 6, 7. Each block has `reclaim.counters` Space-Saving
//!   counters (Metwally et al., ICDT 2005).
//! - **Acts at:** the checks of `shared/straw.rs`, on `ERC(i) = alpha (RC[i-d] + RC[i+d]) + max(0,
//!   BLK - RC[i] - RC[i-d] - RC[i+d])`. RC of a wordline is its count, or the lowest count in the
//!   block if it has no counter. BLK is the block's number of reads. All counts begin at the erase.
//! - **Costs:** 2 + 3 bytes per counter (wordline, count) and 3 bytes per block.
//! - **Departs from the paper:** margin and checks are those of `straw-wl`. If several counters
//!   have the lowest count, they are replaced in turn; the paper does not say which is replaced.
//! - **Does not help:** data under attack, because ERC subtracts a wordline's own count, which may
//!   be too high by up to `BLK / counters`.
//! - **Safety:** no page is lost unless reads deceive the estimate (`docs/reclaim/straw-ss.md`). No
//!   reads deceive `straw-ss-sound`.
//!
//! ```text
//! alpha 9      BLK 1,000   RC[i-d] 300   RC[i] 200   RC[i+d] 100      (the steps of Fig. 6)
//! adjacent 300 + 100 = 400      elsewhere 1,000 - 200 - 400 = 400      ERC = 9 x 400 + 400 = 4,000
//!
//! the gap: 32 counters; 32 wordlines are read 2,000 times each, among them both neighbours of i, which is never read:
//! BLK 64,000   RC[i] = lowest count = 2,000      ERC = 9 x 4,000 + 64,000 - 2,000 - 4,000 = 94,000, but the dose is 96,000
//! ```

use super::Technique;
use super::View;
use super::shared::straw::{Budget, DoseEstimate, Straw};
use super::{CHECK_INTERVAL, COUNTERS, OWN_AGE};
use vpass_drive::api::card::{About, Args, Card, InBulk, Needs, New, Protection};
use vpass_drive::base::dose::{Alpha, Dose, Quarters};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes};
use vpass_drive::config::DriveConfig;

pub(super) const CARD: Technique = Card {
    about: About {
        name: "straw-ss",
        summary: "`straw-wl` with a few counters per block; an attacker can deceive the published \
            estimate (straw-2024)",
        paper: "STRAW, CAL 2024",
        protects: Protection::Deceivable,
        needs: Needs { limits: true, counters: true, retries: false },
        in_bulk: InBulk::OrderDrawn,
        params: &[CHECK_INTERVAL, COUNTERS, OWN_AGE],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(StrawSs::new(args, config))),
};

pub(super) type StrawSs = Straw<Published>;

/// The paper's estimate of doses, ERC.
pub(super) struct Published {
    /// Whether reads of a wordline disturb that wordline too, as in the model `count`.
    own_disturbs: bool,
    counters: u32,
    highest: Highest,
}

impl DoseEstimate for Published {
    const BOUND: &'static str = "estimated dose";
    const FROM_ERASE: bool = true;
    const CAN_BE_DECEIVED: bool = true;

    fn new(args: &Args, config: &DriveConfig) -> Self {
        Self {
            own_disturbs: config.disturb.model.own_reads_disturb(),
            counters: args.whole(&COUNTERS),
            highest: Highest::default(),
        }
    }

    fn margins(
        &mut self,
        view: &View,
        block: BlockId,
        budget: &Budget,
        movers: Dose,
        out: &mut [Dose],
    ) {
        let own_mask = if self.own_disturbs { 0 } else { u32::MAX };
        let (below, own, above) = self.highest.of(view, block);
        let read = view.dose(block);
        let rows = below.iter().zip(own).zip(above).zip(&budget.keep).zip(&budget.alpha);
        for (margin, ((((below, own), above), keep), alpha)) in out.iter_mut().zip(rows) {
            *margin = *keep - movers - erc(*alpha, read, *below + *above, own.where_set(own_mask));
        }
    }

    fn quiet(&self, view: &View, block: BlockId, slack: Dose, alpha: Alpha) -> Quarters {
        quiet(view, block, slack, alpha, Alpha::ZERO)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(u64::from(geometry.blocks) * (u64::from(self.counters) * (2 + 3) + 3))
    }
}

/// Returns the estimate ERC. If `alpha`, `read` or `adjacent` rises, ERC does not fall. If `own`
/// rises, ERC may fall, but `own` rises no faster than `read`.
#[inline]
fn erc(alpha: Alpha, read: Quarters, adjacent: Quarters, own: Quarters) -> Dose {
    let elsewhere = read.saturating_sub(own + adjacent);
    adjacent * alpha + elsewhere.far()
}

/// Upper bounds of the reads of a block's wordlines. The zeros at both ends of the list stand for
/// missing neighbours.
#[derive(Default)]
pub(super) struct Highest {
    reads: Vec<Quarters>,
}

impl Highest {
    /// Returns three lists of bounds, with one entry for each wordline: for its lower neighbour,
    /// for itself, and for its upper neighbour.
    pub(super) fn of(
        &mut self,
        view: &View,
        block: BlockId,
    ) -> (&[Quarters], &[Quarters], &[Quarters]) {
        let (wordlines, stride) =
            (view.geometry.wordlines_per_block as usize, view.geometry.neighbour_stride as usize);
        let tracked = view.tracked(block);
        self.reads.clear();
        self.reads.resize(stride, Quarters::ZERO);
        self.reads.resize(stride + wordlines, tracked.min());
        self.reads.resize(wordlines + 2 * stride, Quarters::ZERO);
        for (wordline, entry) in tracked.entries() {
            self.reads[stride + wordline] = entry.count;
        }
        (
            &self.reads[..wordlines],
            &self.reads[stride..][..wordlines],
            &self.reads[2 * stride..][..wordlines],
        )
    }
}

/// Returns the dose that a block can take before any estimate from its Space-Saving counters grows
/// by `slack`. An estimate may subtract a wordline's own reads and forget them when the wordline
/// loses its counter. `own` is the weight of reads that are forgotten in this way, or 0 if there
/// are none.
///
/// Let n be the number of further reads, `min` the lowest count and k the number of counters. The
/// counts of both neighbours may rise by n. The lowest count becomes at most `min + n`, and at most
/// `(BLK + n) / k`. If the lowest count reaches a wordline's count, the wordline may lose its
/// counter. From then on, the lowest count stands for its count. So the estimate of a dose grows by
/// no more than each of these bounds, which are solved for n:
///
/// - `2 alpha n + own (min + n)`
/// - `alpha (n + 2 ((BLK + n) / k - min)) + own (BLK + n) / k`
pub(super) fn quiet(
    view: &View,
    block: BlockId,
    slack: Dose,
    alpha: Alpha,
    own: Alpha,
) -> Quarters {
    let tracked = view.tracked(block);
    let (min, read, k) = (tracked.min(), view.dose(block), tracked.capacity() as u32);
    let soon = (slack - min * own) / (alpha * 2 + own);
    let spent = read.saturating_sub(min * k) * (alpha * 2) + read * own;
    let later = (slack * k - spent) / (alpha * (k + 2) + own);
    soon.max(later)
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::shared::straw::tests::{
        bounds, drive, looks_left_out_find_nothing, one_page_wordlines,
    };
    use super::super::straw_wl::Exact;
    use super::{Published, erc};
    use crate::testing::block_of;
    use vpass_drive::base::dose::{Alpha, Quarters};
    use vpass_drive::base::units::{BlockId, Cause, Lpn};
    use vpass_drive::drive::Drive;

    /// Follows the steps of Fig. 6, with other numbers, because the paper's text does not give its
    /// numbers.
    #[test]
    fn the_steps_of_fig_6() {
        let erc = |read| {
            erc(
                Alpha::ONE * 9,
                Quarters::from_count(read),
                Quarters::from_count(300 + 100),
                Quarters::from_count(200),
            )
        };
        assert_eq!(erc(1000), Quarters::from_count(4000).far());
        assert_eq!(
            erc(500),
            Quarters::from_count(3600).far(),
            "over-counted, less than nothing was read elsewhere"
        );
    }

    /// Returns a drive whose block of 704 one-page wordlines was written and then read. Wordlines
    /// 99, 101 and thirty others were read 2,000 times each, in turn.
    pub(crate) fn even_reads_beside_a_wordline_that_is_never_read() -> Drive {
        let text = one_page_wordlines(704, 1_000_000, "");
        let mut drive = drive::<Published>(&text, "straw-ss", true);
        let pages: Vec<Lpn> =
            [99, 101].into_iter().chain((0..30).map(|n| 200 + 10 * n)).map(Lpn::new).collect();
        (0..2000).for_each(|_| drive.read_pages(&pages));
        drive
    }

    #[test]
    fn the_estimate_can_be_too_low() {
        let mut drive = even_reads_beside_a_wordline_that_is_never_read();
        assert_eq!(bounds::<Exact>(&mut drive, BlockId::new(0), 9)[100], 96_000);
        assert_eq!(bounds::<Published>(&mut drive, BlockId::new(0), 9)[100], 94_000);
    }

    /// Follows Fig. 7 on six wordlines with two counters. Page 1 has two thirds of the reads and
    /// one counter. All other pages share the other counter.
    #[test]
    fn a_wordline_beside_one_without_a_counter_moves_early() {
        let text = one_page_wordlines(6, 2000, "check_interval = 10, counters = 2");
        let mut drive = drive::<Published>(&text, "straw-ss", true);
        let mut read = |from: u32, to: u32| {
            for n in from..to {
                let page = if n % 3 < 2 { 1 } else { [0, 2, 3, 4, 5][(n / 3 % 5) as usize] };
                drive.read_pages(&[Lpn::new(page)]);
            }
            (
                bounds::<Exact>(&mut drive, BlockId::new(0), 9),
                bounds::<Published>(&mut drive, BlockId::new(0), 9),
                drive.reclaim_counts().pages_copied,
            )
        };
        // Page 1 was read 40 times, and each other page four times. The estimate assumes 20 reads
        // for each other page, because this is the count that they share.
        let (doses, estimates, copied) = read(0, 60);
        assert_eq!(
            doses,
            [9 * 40 + 16, 9 * 8 + 12, 9 * 44 + 12, 9 * 8 + 48, 9 * 8 + 48, 9 * 4 + 52]
        );
        assert_eq!(estimates, [9 * 40, 9 * 40, 9 * 60, 9 * 40, 9 * 40, 9 * 20 + 20]);
        assert_eq!(copied, 0);
        // A wordline may have 2,000 - 9 (10 + 1) - (6 + 2 x 8) = 1,879 at a check that leaves it.
        // For page 2, which is beside page 1, the estimate is 9 x 210 = 1,890.
        assert_eq!(read(60, 209).2, 0);
        let (doses, _, copied) = read(209, 210);
        assert_eq!((copied, doses[2]), (1, 9 * 154 + 42));
    }

    /// Follows the end of Fig. 7. A check leaves a block without valid pages, so the block is
    /// erased and its counters begin anew. Two wordlines that are read in turn are each other's
    /// neighbours. The estimate is 9 x 210 = 1,890. A check leaves wordlines with up to 2,000 - 9
    /// (10 + 1) - (2 + 2 x 8) = 1,883 unchanged.
    #[test]
    fn a_block_without_valid_pages_is_erased_and_its_counters_are_reset() {
        let text = one_page_wordlines(2, 2000, "check_interval = 10, counters = 2");
        let mut drive = drive::<Published>(&text, "straw-ss", true);
        let block = block_of(&drive, Lpn::new(0));
        let mut read = |from: u32, to: u32| {
            (from..to).for_each(|n| drive.read_pages(&[Lpn::new(n % 2)]));
            let erased = drive.flash_counts().erases[Cause::Reclaim as usize];
            (
                erased,
                drive.reclaim_counts().pages_copied,
                drive.view(block).tracked(block).entries().count(),
            )
        };
        assert_eq!(read(0, 419), (0, 0, 2));
        assert_eq!(read(419, 420), (1, 2, 0));
    }

    #[test]
    fn looks_left_out_would_have_found_nothing() {
        looks_left_out_find_nothing::<Published>("straw-ss");
    }
}
