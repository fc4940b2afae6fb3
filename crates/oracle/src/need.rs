//! Whether GC begins with a block when there is need: when too few are free to go on writing, when the IPR pool has none for those who want one,
//! or in the idle gaps of the timed gear, up to the share of the spare blocks that `gc.background` names.

use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{BlockId, Cause};
use vpass_core::config::DriveConfig;

use crate::oracle::Oracle;
use crate::report::Kind;

/// Free blocks that only moves may take.
const RESERVE: u32 = 2;

/// Up to how many free blocks GC has reason to clean.
#[derive(Debug)]
pub(crate) struct Need {
    /// In idle gaps; none where it is to leave them alone.
    in_gaps: u32,
}

impl Need {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let share = config.gc.background;
        let in_gaps = (share * f64::from(geometry.spare_blocks())) as u32;
        Self { in_gaps: if share > 0.0 { in_gaps.max(RESERVE + 2) } else { 0 } }
    }

    /// Whether there are idle gaps: not where nothing takes time.
    pub(crate) fn has_gaps(&mut self, timed: bool) {
        self.in_gaps *= u32::from(timed);
    }
}

impl Oracle {
    /// A move begins with a block.
    pub(crate) fn check_need(&mut self, block: BlockId, cause: Cause) {
        if cause != Cause::Gc {
            return;
        }
        let free = self.wear.free_count();
        let cleaning = self.jobs_of(Cause::Gc);
        let for_pool = || self.openings.wants_pool() && !self.wear.free().any(|block| self.openings.is_in_pool(block));
        // A block that GC is cleaning already will be free.
        if free > RESERVE && free + cleaning >= self.need.in_gaps && !for_pool() {
            let wanted = self.need.in_gaps.max(RESERVE + 1);
            self.findings.add(Kind::Books, || {
                format!(
                    "GC begins with block {block} while {free} blocks are free and {cleaning} are being cleaned; it keeps {wanted} free"
                )
            });
        }
    }
}
