//! Record of a block: 16 bytes on the read path, and the rest elsewhere.

use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::units::{Moment, PageInBlock, Reads};
pub use crate::disturb::Wordline;

/// State of a block between two erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// Erased block in the free pool.
    Free,
    /// Block that a stream is writing.
    Open,
    /// Block to which nothing more will be written.
    Closed,
}

/// Flag: some page of the block may be past its limit, so every read asks the error model.
pub const SUSPECT: u8 = 1;
/// Flag: a job is moving the block's data.
pub const MOVING: u8 = 2;
/// Flag: a move filled the block recently, so it is not a victim while there is another.
pub const PROTECTED: u8 = 4;
/// Flag: the reads of each page of the block are counted.
pub const PAGES_COUNTED: u8 = 8;
/// Flag: some wordlines of the block have their own coding.
pub const HAS_RECODED: u8 = 16;
/// Flag: a part of the block has failed. Every read reaches the alarm, and nothing more is written
/// to the block.
pub const FAILED: u8 = 32;
/// Flag: a job ended and left data in the block. The policy is asked about the block at its next
/// read.
pub const LEFT: u8 = 64;

/// Dose at which a block without an alarm is handled: this part of its dose is carried into
/// [`BlockCold`], long before 32 bits are full.
pub const CARRY: Quarters = Quarters::from_count(1 << 31);

/// Part of a block's record that reads use: a quarter of a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct BlockHot {
    /// Dose that was added to the block since its erase, without the carried part.
    pub reads: Quarters,
    /// Dose at which the block must be checked; 0 checks at every read.
    pub alarm: Quarters,
    /// Number of the first page that is not programmed. Pages before it are programmed, except
    /// those that the coding takes away.
    pub write_ptr: u16,
    /// Number of pages that hold current data.
    pub valid: u16,
    /// State of the block.
    pub state: BlockState,
    /// Number of the coding of the block's cells. Wordlines of a block of full density may have
    /// other codings (`recoded`).
    pub mode: u8,
    /// Stream that wrote the block.
    pub stream: u8,
    /// Flags: [`SUSPECT`], [`MOVING`], [`PROTECTED`], [`PAGES_COUNTED`], [`HAS_RECODED`],
    /// [`FAILED`], [`LEFT`].
    pub flags: u8,
}

const _: () = assert!(size_of::<BlockHot>() == 16);

impl BlockHot {
    /// Record of an erased block.
    pub const ERASED: Self = Self {
        reads: Quarters::ZERO,
        alarm: CARRY,
        write_ptr: 0,
        valid: 0,
        state: BlockState::Free,
        mode: 0,
        stream: 0,
        flags: 0,
    };

    /// Returns the first page that is not programmed. Pages before it are programmed, except those
    /// that the coding takes away.
    #[inline]
    pub fn written_to(&self) -> PageInBlock {
        PageInBlock::new(self.write_ptr.into())
    }

    /// Returns whether a flag is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Rest of a block's record.
#[derive(Clone, Copy, Debug)]
pub struct BlockCold {
    /// Number of P/E cycles, including the starting P/E count.
    pub pec: u32,
    /// Wear in addition to `pec`, in thousandths of a cycle, because reprogramming also wears.
    pub extra_milli: u32,
    /// Part of `pec` that was skipped, not erased.
    pub skipped: u32,
    /// Number of block reads at which the reclaim policy is asked, without [`Self::put_off`].
    policy_alarm: Reads,
    /// Dose that movers have added to the block since that alarm was set. Movers use up none of the
    /// reads that the policy allows.
    put_off: Quarters,
    /// Dose up to which the error model guarantees every page.
    pub model_alarm: Quarters,
    /// Number of erases of the whole drive until which the block is [`PROTECTED`].
    pub protected_until: u64,
    /// Number of erases of the whole drive when the block was closed.
    pub closed_at: u64,
    /// Whether the block, or a wordline of it, was reprogrammed in place since its erase.
    pub reprogrammed: bool,
    /// Number of pages that the codings of the block and of its wordlines take away. For a block
    /// recoded in place, also the pages that it never got.
    pub pages_away: u16,
    /// Number of cycles in which the block was reprogrammed.
    pub reprogrammed_cycles: u32,
    /// Number of times that [`CARRY`] was carried here since the erase. It is 0 if an error model
    /// counts doses.
    pub carries: u32,
    /// Time at which the block's oldest page was programmed, if time counts.
    pub programmed_at: Moment,
    /// Strictest hint of the data that the block holds or will hold.
    pub budget: AccessLatency,
}

impl BlockCold {
    /// Creates the record of a new block with this P/E count.
    pub fn new(pec: u32) -> Self {
        Self {
            pec,
            extra_milli: 0,
            skipped: 0,
            policy_alarm: Reads::NEVER,
            put_off: Quarters::ZERO,
            model_alarm: Quarters::MAX,
            protected_until: 0,
            closed_at: 0,
            reprogrammed: false,
            pages_away: 0,
            reprogrammed_cycles: 0,
            carries: 0,
            programmed_at: 0,
            budget: AccessLatency::Smallest,
        }
    }

    /// Sets the next alarm of the policy.
    pub fn set_policy_alarm(&mut self, at: Reads) {
        (self.policy_alarm, self.put_off) = (at, Quarters::ZERO);
    }

    /// Adds a dose of a mover.
    pub fn put_off_by(&mut self, dose: Quarters) {
        self.put_off = self.put_off.saturating_add(dose);
    }

    /// Returns the dose of movers since the policy set its alarm.
    pub fn put_off(&self) -> Quarters {
        self.put_off
    }

    /// Returns the block's dose at which the policy is asked.
    pub fn policy_alarm_dose(&self) -> Quarters {
        self.policy_alarm.quarters().saturating_add(self.put_off)
    }

    /// Returns a dose of the block without the dose of movers since the policy set its alarm.
    pub fn without_movers(&self, reads: Quarters) -> Quarters {
        reads.saturating_sub(self.put_off)
    }

    /// Returns the effective P/E count, in thousandths of a cycle.
    pub fn effective_milli(&self) -> u64 {
        u64::from(self.pec) * 1000 + u64::from(self.extra_milli)
    }

    /// Returns the effective P/E count without skipped cycles, in thousandths of a cycle. The choice
    /// of blocks compares this wear.
    pub fn erased_milli(&self) -> u64 {
        self.effective_milli() - u64::from(self.skipped) * 1000
    }

    /// Returns the P/E count at which limits are looked up. If reprogramming counts for limits,
    /// this is the effective P/E count, rounded up.
    pub fn limit_pec(&self, wear_counts: bool) -> u32 {
        if wear_counts {
            self.effective_milli().div_ceil(1000).min(u32::MAX.into()) as u32
        } else {
            self.pec
        }
    }
}

/// Returns the first page of a block's next filling; `None` if the valid pages do not fit behind
/// the programmed pages.
pub(crate) fn next_filling(geometry: &Geometry, hot: &BlockHot) -> Option<PageInBlock> {
    let first = u32::from(hot.write_ptr).next_multiple_of(geometry.cell.bits());
    (hot.mode == 0 && first + u32::from(hot.valid) <= geometry.pages_per_block)
        .then_some(PageInBlock::new(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DriveConfig;

    fn geometry(wordlines: u32, cell: &str) -> Geometry {
        let text = format!(
            r#"
            geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = {wordlines}, cell = "{cell}", page_size = "4KiB" }}
            timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
            drive = {{ spare = 0.4 }}
            "#
        );
        Geometry::new(&toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap())
    }

    /// Returns the first pages of the fillings after the first one. The block was closed with
    /// `pages` pages, all of which stay valid.
    fn fillings(geometry: &Geometry, pages: u16) -> Vec<u32> {
        let mut hot = BlockHot { write_ptr: pages, valid: pages, ..BlockHot::ERASED };
        let next = || {
            let first = next_filling(geometry, &hot)?;
            hot.write_ptr = first.number() as u16 + pages;
            Some(first.number())
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_filling_begins_on_a_wordline_of_its_own() {
        assert_eq!(
            fillings(&geometry(64, "tlc"), 30),
            [30, 60, 90, 120, 150],
            "30 of 192 pages: five uses more"
        );
        assert_eq!(
            fillings(&geometry(48, "qlc"), 30),
            [32, 64, 96, 128, 160],
            "two pages of each filling's last wordline are lost"
        );
        assert_eq!(fillings(&geometry(4, "tlc"), 4), [6], "the drawing");
        assert_eq!(fillings(&geometry(4, "tlc"), 12), []);
    }
}
