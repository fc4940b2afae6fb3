//! Decision whether the wear of a repeated workload has settled. Wear means the numbers of
//! programmed pages and erased blocks per host page, for each cause. Wear is compared between
//! windows of several passes.
//!
//! All passes so far are divided into three windows of equal length. The first window is skipped,
//! because the drive may still adapt to the workload. The wear in the other two windows must be
//! equal. Windows grow with the run, so even slow changes become visible. In each window, GC must
//! reuse the spare blocks several times. Results count all passes. The wear over all passes must
//! therefore be equal to the wear in the last window.
//!
//! ```text
//! pages that GC has programmed after each pass, if the host programs 100 pages per pass:
//! after pass     0  1  2  3  4  5  6
//! pages by GC    0  10 25 42 60 78 96
//! in passes 3 and 4, GC programs 35 pages for 200 pages of the host
//! in passes 5 and 6, GC programs 36 pages for 200 pages of the host
//! the difference is 1 page of the 236 programmed in the later window: equal within 1 %
//! in all passes, GC programs 96 pages for 600 pages of the host
//! at the rate of the later window, GC would have programmed 108 pages
//! the difference is 12 pages, which is more than 1 % of 708: the wear has not settled
//! ```

use vpass_drive::base::units::Cause;
use vpass_drive::drive::Drive;

use crate::settled::{are_alike, last_thirds};

/// Largest number of passes with `--until stable`, even if wear has not settled.
pub(super) const MOST_PASSES: u64 = 100;
/// Tolerance for comparing the wear in two windows. Programmed pages are compared as a share of all
/// programmed pages, and erased blocks as a share of all erased blocks.
const WITHIN: f64 = 0.01;
/// Number of times that GC must reuse all spare blocks in a window.
const TURNOVERS: f64 = 3.0;
/// Smallest number of block cycles in a window. Only a very small drive has so few spare blocks
/// that this limit matters.
const FEWEST_CYCLES: f64 = 100.0;

/// Counts since the counted part began.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    host_pages: u64,
    programs: [u64; Cause::COUNT],
    erases: [u64; Cause::COUNT],
}

/// Counts after each pass, and the smallest number of block cycles in a window.
pub(super) struct Settling {
    after: Vec<Counts>,
    pages_per_block: f64,
    enough_cycles: f64,
}

impl Settling {
    pub(super) fn begin(drive: &Drive) -> Self {
        let geometry = drive.geometry();
        Self {
            after: vec![Counts::default()],
            pages_per_block: f64::from(geometry.pages_per_block),
            enough_cycles: (TURNOVERS * f64::from(geometry.spare_blocks())).max(FEWEST_CYCLES),
        }
    }

    /// Records the counts of the drive at the end of a pass.
    pub(super) fn note(&mut self, drive: &Drive) {
        let (host, flash) = (drive.host_counts(), drive.flash_counts());
        self.after.push(Counts {
            host_pages: host.read_pages + host.write_pages,
            programs: flash.programs,
            erases: flash.erases,
        });
    }

    /// Returns whether the wear has settled. The wear in the last third of the passes must be equal
    /// to the wear in the middle third, and to the wear in all passes.
    pub(super) fn has_settled(&self) -> bool {
        let passes = self.after.len() - 1;
        let Some([from, middle, to]) = last_thirds(passes) else { return false };
        let window = |from: usize, to: usize| {
            Window::between(&self.after[from], &self.after[to], self.pages_per_block)
        };
        let (before, now) = (window(from, middle), window(middle, to));
        before.cycles.min(now.cycles) >= self.enough_cycles
            && before.is_like(&now)
            && window(0, to).is_like(&now)
    }
}

/// Numbers of programmed pages and erased blocks per host page in a window of passes, for each
/// cause.
struct Window {
    cycles: f64,
    programs: [f64; Cause::COUNT],
    erases: [f64; Cause::COUNT],
}

impl Window {
    fn between(from: &Counts, to: &Counts, pages_per_block: f64) -> Self {
        let host_pages = (to.host_pages - from.host_pages).max(1) as f64;
        let grown = |from: &[u64; Cause::COUNT], to: &[u64; Cause::COUNT]| {
            std::array::from_fn(|c| (to[c] - from[c]) as f64)
        };
        let (programs, erases): ([f64; Cause::COUNT], _) =
            (grown(&from.programs, &to.programs), grown(&from.erases, &to.erases));
        let sum = |counts: &[f64; Cause::COUNT]| counts.iter().sum::<f64>();
        Self {
            cycles: sum(&erases).max(sum(&programs) / pages_per_block),
            programs: programs.map(|n| n / host_pages),
            erases: erases.map(|n| n / host_pages),
        }
    }

    fn is_like(&self, now: &Self) -> bool {
        are_alike(&self.programs, &now.programs, WITHIN)
            && are_alike(&self.erases, &now.erases, WITHIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the state after several passes. In each pass, the host programs 100 pages, and GC
    /// programs the next number of pages in `by_gc`. For every 10 programmed pages, GC erases a
    /// block of 10 pages.
    fn settling(by_gc: &[u64], enough_cycles: f64) -> Settling {
        let mut after = vec![Counts::default()];
        for gc in by_gc {
            let mut counts = *after.last().unwrap();
            counts.host_pages += 100;
            counts.programs[Cause::Host as usize] += 100;
            counts.programs[Cause::Gc as usize] += gc;
            counts.erases[Cause::Gc as usize] += (100 + gc) / 10;
            after.push(counts);
        }
        Settling { after, pages_per_block: 10.0, enough_cycles }
    }

    #[test]
    fn worked_example() {
        let settling = settling(&[10, 15, 17, 18, 18, 18], 20.0);
        let window = |from: usize, to: usize| {
            Window::between(&settling.after[from], &settling.after[to], 10.0)
        };
        assert_eq!(settling.after[6].programs[Cause::Gc as usize], 96);
        assert!(window(2, 4).is_like(&window(4, 6)) && !window(0, 6).is_like(&window(4, 6)));
        assert!(!settling.has_settled());
    }

    #[test]
    fn a_long_run_outweighs_its_beginning() {
        let passes: Vec<u64> = [10, 15, 17].into_iter().chain([18; 15]).collect();
        assert!(
            !settling(&passes[..6], 20.0).has_settled() && settling(&passes, 20.0).has_settled()
        );
    }

    #[test]
    fn a_slow_change_has_not_settled_although_gc_causes_all_erases() {
        // Only GC erases blocks, and its programs double. Each cause's share of the erases stays
        // the same.
        assert!(!settling(&[100, 120, 140, 160, 180, 200], 20.0).has_settled());
    }

    #[test]
    fn a_window_that_is_too_short_has_not_settled() {
        assert!(
            !settling(&[18; 6], 25.0).has_settled(),
            "two passes are 22 block cycles or 23.6 blocks' worth of pages"
        );
        assert!(settling(&[18; 9], 25.0).has_settled());
        assert!(!settling(&[18; 2], 0.0).has_settled(), "fewer than three windows");
        assert!(!settling(&[0; 0], 0.0).has_settled());
    }
}
