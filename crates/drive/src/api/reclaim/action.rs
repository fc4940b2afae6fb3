//! Actions that a policy requests. If the drive cannot perform an action, it performs the safest
//! similar action.

use crate::api::rewrite::Rewrite;
use crate::base::units::{BlockId, WordlineInBlock};

/// Action that a policy requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Request to rewrite data of a block.
    Rewrite(Rewrite),
    /// Request to probe wordlines of a block. The probes are not interrupted and precede all other
    /// actions. [`super::Policy::probed`] gets the results and returns the next alarm.
    Probe {
        /// Number of the block that has the wordlines.
        block: BlockId,
        /// Wordlines to probe, numbered within the block. All of them must hold data.
        wordlines: Vec<WordlineInBlock>,
    },
}

impl From<Rewrite> for Action {
    fn from(rewrite: Rewrite) -> Self {
        Self::Rewrite(rewrite)
    }
}
