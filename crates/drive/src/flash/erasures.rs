//! Log of the erases of the measured phase: time, cause, and reads before the erase.

use crate::base::dose::Quarters;
use crate::base::units::{BlockId, Cause, Ns};
use crate::flash::Flash;
use crate::flash::block::CARRY;

/// Erase of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Erasure {
    /// Erased block.
    pub block: BlockId,
    /// Time of the drive, in nanoseconds.
    pub at: Ns,
    /// Cause of the erase.
    pub cause: Cause,
    /// Dose that reads added to the block since its previous erase, in dose units.
    pub reads: f64,
}

impl Flash {
    /// Logs the erase of a block. `dose` is the block's dose without the carried part.
    pub(super) fn log_erase(&mut self, block: BlockId, cause: Cause, dose: Quarters) {
        let carries = f64::from(self.cold[block.index()].carries);
        let at = self.now;
        if let Some(erasures) = &mut self.erasures {
            let reads = carries * CARRY.units() + dose.units();
            erasures.note(|| Erasure { block, at, cause, reads });
        }
    }
}
