//! How full blocks look to GC: valid pages over the pages that a block can hold, scaled to a full
//! block, so that one which is not meant to be filled, or has guard levels, does not look empty.
//!
//! ```text
//! 12 pages, of which guard levels took 4; 4 are valid    4 of 8, and so 6 of 12
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use vpass_core::base::units::{BlockId, Cause};

use crate::oracle::Oracle;
use crate::report::Kind;

/// What GC was shown when it chose last: blocks, and the list in which it found each. Taken when
/// the move begins that follows from it.
pub(crate) type Sight = Arc<Mutex<Option<Vec<(BlockId, u32)>>>>;

impl Oracle {
    /// From now on somebody sees what GC is shown.
    pub(crate) fn looks_at(&mut self, sight: &Sight) {
        self.sight = Some(sight.clone());
    }

    /// A move begins. Nothing was told since GC chose its block, if that is what moves.
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

    /// Valid pages of a block that is closed, as they would be were it full.
    pub(crate) fn fullness(&self, block: BlockId) -> u32 {
        let all = self.geometry.pages_per_block;
        let valid = self.blame.valid_of(&self.geometry, &self.medium, block);
        let holds = (all - self.density.away_of(block)).min(self.openings.most_pages(block)).max(1);
        (valid * all).div_ceil(holds).min(all)
    }
}
