//! Actions that a policy requests. The drive performs them, or the safest similar action.

use crate::base::units::{BlockId, WordlineInBlock};
use crate::slots::rewrite::Rewrite;

/// What a policy asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Write data of a block anew.
    Rewrite(Rewrite),
    /// Sense these wordlines of the block for their errors, in one piece, before anything else.
    /// [`super::Policy::probed`] is told what was found, and gives the next alarm.
    Probe {
        /// The block.
        block: BlockId,
        /// Wordlines, numbered within the block, that hold data.
        wordlines: Vec<WordlineInBlock>,
    },
}

impl From<Rewrite> for Action {
    fn from(rewrite: Rewrite) -> Self {
        Self::Rewrite(rewrite)
    }
}
