//! Checks how full blocks look to GC: valid pages divided by the pages that the block can hold,
//! scaled to a full block. So a block with guard levels, or a block that will not be filled, does
//! not look empty.
//!
//! ```text
//! 12 pages, of which guard levels took 4; 4 are valid    4 of 8, and so 6 of 12
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use vpass_drive::base::units::{BlockId, Cause};

use crate::oracle::Oracle;
use crate::report::Kind;

/// Blocks that GC saw at its last choice, each with its list. The record is taken when the
/// resulting move begins.
pub(crate) type Sight = Arc<Mutex<Option<Vec<(BlockId, u32)>>>>;

impl Oracle {
    /// Begins to use a listener's record of the lists that GC sees.
    pub(crate) fn looks_at(&mut self, sight: &Sight) {
        self.sight = Some(sight.clone());
    }

    /// Checks the lists when a move begins. If GC moves the block, the oracle received no event
    /// since GC's choice.
    pub(crate) fn check_fullness(&mut self, cause: Cause) {
        let Some(shown) = self
            .sight
            .as_ref()
            .and_then(|sight| sight.lock().unwrap_or_else(PoisonError::into_inner).take())
        else {
            return;
        };
        if cause != Cause::Gc || !self.blame.is_exact() || !self.openings.are_known() {
            return;
        }
        let wrong = shown.into_iter().find_map(|(block, list)| {
            let right = self.fullness(block);
            (list != right).then_some((block, list, right))
        });
        if let Some((block, list, right)) = wrong {
            let pages = self.geometry.pages_per_block;
            self.findings.add(Kind::Books, || {
                format!(
                    "for GC, block {block} has {list} of {pages} pages valid; it must have {right}"
                )
            });
        }
    }

    /// Returns the valid pages of a closed block, scaled to a full block.
    pub(crate) fn fullness(&self, block: BlockId) -> u32 {
        let all = self.geometry.pages_per_block;
        let valid = self.blame.valid_of(&self.geometry, &self.medium, block);
        let holds = (all - self.density.away_of(block)).min(self.openings.most_pages(block)).max(1);
        (valid * all).div_ceil(holds).min(all)
    }
}
