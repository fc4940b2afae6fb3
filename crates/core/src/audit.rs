//! What a checker may see of the drive's own state at the end of a run: its map and its blocks.

use crate::disturb::table::QUARTERS;
use crate::drive::Drive;
use crate::ftl::map::{BUFFERED, UNMAPPED};
use crate::nand::block::{BlockState, CARRY};
use crate::observer::NO_PPN;
use crate::reclaim::Threshold;
use crate::units::{Lpn, Ppn};

/// A page of the host in the drive's map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapRow {
    /// The page.
    pub lpn: Lpn,
    /// Where it lies on flash, [`NO_PPN`] where only the write buffer has it.
    pub ppn: Ppn,
    /// What the reverse map says about that place.
    pub back: Lpn,
    /// Newer data is in the write buffer.
    pub buffered: bool,
}

/// A block at the end of a run.
#[derive(Clone, Copy, Debug)]
pub struct BlockRow {
    /// Life.
    pub state: BlockState,
    /// P/E cycles.
    pub pec: u32,
    /// Effective P/E cycles, in thousandths.
    pub effective_milli: u64,
    /// P/E cycles that ended since the drive was made.
    pub cycles: u32,
    /// Those of them in which it was reprogrammed in place.
    pub reprogrammed_cycles: u32,
    /// Reads since erase, in dose units.
    pub reads: f64,
    /// Page kinds that its coding takes away.
    pub mode: u8,
    /// Pages with current data.
    pub valid: u16,
    /// Pages programmed.
    pub written: u16,
}

impl Drive {
    /// The map as the drive has it, in logical order: every page that holds data. Pages reported lost hold none.
    pub fn map_rows(&self) -> impl Iterator<Item = MapRow> + '_ {
        self.map.to_physical.iter().enumerate().filter_map(|(lpn, entry)| {
            let lpn = lpn as Lpn;
            let buffered = *entry & BUFFERED != 0;
            let ppn = if buffered { self.buffer.slot(*entry & !BUFFERED).below } else { *entry };
            let holds = (buffered || ppn < UNMAPPED) && !self.is_lost(lpn);
            let back = if ppn < UNMAPPED { self.map.to_logical[ppn as usize] } else { NO_PPN };
            holds.then_some(MapRow { lpn, ppn, back, buffered })
        })
    }

    /// Pages per block that hold data which is not lost.
    pub fn whole_pages(&self) -> Vec<u32> {
        let mut whole: Vec<u32> = self.hot.iter().map(|hot| u32::from(hot.valid)).collect();
        for (i, word) in self.lost.iter().enumerate().filter(|(_, word)| **word != 0) {
            for lpn in (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| i * 64 + bit) {
                let entry = self.map.to_physical[lpn];
                let entry = if entry & BUFFERED == 0 { entry } else { self.buffer.slot(entry & !BUFFERED).below };
                if entry < UNMAPPED {
                    whole[self.geometry.block_of(entry) as usize] -= 1;
                }
            }
        }
        whole
    }

    /// The thresholds of the reclaim technique for blocks of this age, and where each comes from.
    pub fn thresholds(&mut self, pec: u32) -> Vec<Threshold> {
        let (policy, view) = self.policy_and_view();
        policy.explain(&view, pec)
    }

    /// One row per block: state, P/E cycles, reads since erase in dose units, valid and written pages.
    pub fn block_states(&self) -> impl Iterator<Item = BlockRow> + '_ {
        self.hot.iter().zip(&self.cold).map(|(hot, cold)| BlockRow {
            state: hot.state,
            pec: cold.pec,
            effective_milli: cold.effective_milli(),
            cycles: cold.pec - self.config.start.pec,
            reprogrammed_cycles: cold.reprogrammed_cycles,
            reads: (f64::from(cold.carries) * f64::from(CARRY) + f64::from(hot.reads)) / f64::from(QUARTERS),
            mode: hot.mode,
            valid: hot.valid,
            written: hot.write_ptr,
        })
    }
}
