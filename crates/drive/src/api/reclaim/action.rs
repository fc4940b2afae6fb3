//! Actions that a policy requests. The drive performs them, or the safest similar action.

use crate::api::rewrite::Rewrite;
use crate::base::units::{BlockId, WordlineInBlock};

/// Action that a policy requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Rewrite of data of a block.
    Rewrite(Rewrite),
    /// Probe of these wordlines of the block, in one piece and before all other actions.
    /// [`super::Policy::probed`] gets the results and returns the next alarm.
    Probe {
        /// Block of the wordlines.
        block: BlockId,
        /// Wordlines that hold data, numbered within the block.
        wordlines: Vec<WordlineInBlock>,
    },
}

impl From<Rewrite> for Action {
    fn from(rewrite: Rewrite) -> Self {
        Self::Rewrite(rewrite)
    }
}
