//! # Observed retries
//! Does not count reads. A page moves if one of its reads took too many retries: more than
//! `reclaim.retries`, or more than the host's hint for the page allows.
//!
//! - **Paper:** read-latency-relaxation-2021, section 2: the paper's SSD-I and SSD-J, which
//!   tolerate read disturbance and become slower.
//! - **Acts at:** retries, not read counts. A threshold for the worst access pattern would keep
//!   doses of real patterns so far below their limits that no read would need a retry.
//! - **Costs:** nothing.
//! - **Departs from the paper:** the paper shows the latencies of these drives, but not their
//!   algorithm.
//! - **Does not help:** data that is not read. For example, data beside a hammered wordline is lost
//!   unnoticed.
//! - **Safety:** none.
//!
//! ```text
//! reclaim.retries = 1:    a read that takes one retry leaves its page alone, one that takes two moves it
//! ```

use super::Technique;
use super::{Action, Policy, Promise, Rewrite, Threshold, View};
use vpass_drive::api::card::{About, Card, Needs, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Bytes, PageInBlock, Reads};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "observed-retries",
        summary: "moves a page whose read took more retries than allowed; data that is not read is \
            not monitored",
        paper: "ASPLOS 2021",
        protects: Protection::None,
        needs: Needs { limits: true, counters: false, retries: true },
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(ObservedRetries::default())),
};

#[derive(Default)]
pub(super) struct ObservedRetries {
    moved: u64,
}

impl Policy for ObservedRetries {
    fn arm(&mut self, _view: &View, _block: BlockId) -> Reads {
        Reads::NEVER
    }

    fn on_alarm(&mut self, _view: &View, _block: BlockId, _out: &mut Vec<Action>) -> Reads {
        Reads::NEVER
    }

    fn follows_retries(&self) -> bool {
        true
    }

    fn retried(
        &mut self,
        view: &View,
        block: BlockId,
        page: PageInBlock,
        retries: u8,
    ) -> Option<Rewrite> {
        let limits = view.limits?;
        let group = limits.group_of(page.wordline(view.geometry.cell.bits()));
        if retries <= limits.retries(group, view.pec(block)) {
            return None;
        }
        self.moved += 1;
        let mut pages = PageSet::none(view.geometry.pages_per_block);
        pages.insert(page, 1);
        Some(Rewrite::pages(block, pages))
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        vec![("retried_pages", self.moved)]
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing(
            "a page that is not read is not monitored, and is lost when it reaches its limit",
        )
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}

#[cfg(test)]
mod tests {
    use crate::{card, usual};
    use vpass_drive::base::units::{Cause, Lpn};
    use vpass_drive::drive::{Drive, Techniques};

    /// A read takes one, two and three retries at doses above 100, 150 and 200.
    #[test]
    fn worked_example() {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5 }
            reclaim = { retries = 1 }
            disturb = { model = "count", table = [{ pec = 0, limit = [100.0] }] }
            error = { model = "powerlaw", e = 0.001, b = 0.0 }
            ecc = { cap = [0.002, 0.0025, 0.003, 0.0035], retry_decode_us = [20, 20, 20] }
        "#;
        let config = crate::testing::config(text);
        let technique = Techniques { reclaim: card("observed-retries"), ..usual() };
        let mut drive = Drive::new(config, &technique, false).unwrap();
        drive.precondition(1);
        drive.begin_measurement();
        let mut reads = 0;
        while drive.reclaim_counts().pages_copied == 0 {
            drive.read_pages(&[Lpn::new(7)]);
            reads += 1;
        }
        // Each read from the 102nd on has a dose of 2. The 126th read leaves a dose of 101 + 2 x
        // 25, which is more than the limit of 150 for one retry.
        let retried = drive.flash_counts().retried;
        assert_eq!((reads, retried[1], retried[2], retried[3]), (127, 25, 1, 0));
        assert_eq!(drive.reclaim_counts().pages_copied, 1, "the page alone");
        drive.read_pages(&[Lpn::new(7); 50]);
        assert_eq!(
            (drive.reclaim_counts().pages_copied, drive.lost_pages()),
            (1, 0),
            "at its new place it has endured nothing"
        );
        assert_eq!(drive.flash_counts().erases[Cause::Reclaim as usize], 0);
    }
}
