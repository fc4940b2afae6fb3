//! What is known of a block: 16 bytes on the read path, the rest apart.

use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::units::{Moment, PageInBlock, Reads};
use crate::bugs::{Bug, planted};
pub use crate::disturb::Wordline;

/// Life of a block between two erases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BlockState {
    /// Erased, in the free pool.
    Free,
    /// Being written by a stream.
    Open,
    /// Written as far as it will be.
    Closed,
}

/// Some page of the block may be past its limit: every read asks the error model.
pub const SUSPECT: u8 = 1;
/// A job is moving the block's data.
pub const MOVING: u8 = 2;
/// Filled by a move not long ago: no victim while there is another.
pub const PROTECTED: u8 = 4;
/// The reads of each of its pages are counted.
pub const PAGES_COUNTED: u8 = 8;
/// Some of its wordlines were recoded by themselves.
pub const HAS_RECODED: u8 = 16;
/// Some of it has failed: every read rings, and nothing is written to it any more.
pub const FAILED: u8 = 32;
/// A job ended and left data in it. The policy is asked about the block at its next read.
pub const LEFT: u8 = 64;

/// A block that nobody wants to look at is looked at here: so much of its dose is carried into
/// [`BlockCold`], long before 32 bits are full.
pub const CARRY: Quarters = Quarters::from_count(1 << 31);

/// The part of a block's record that reads touch: a quarter of a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct BlockHot {
    /// Dose deposited in the block since its erase, less what was carried.
    pub reads: Quarters,
    /// The dose at which somebody wants to look at the block; nothing asks at every read.
    pub alarm: Quarters,
    /// Those before this page are programmed, but for what the mode takes away.
    pub write_ptr: u16,
    /// Pages that hold current data.
    pub valid: u16,
    /// Where the block is in its life.
    pub state: BlockState,
    /// Coding of its cells, by number; wordlines of a block of full density may have others
    /// (`recoded`).
    pub mode: u8,
    /// The stream that wrote it.
    pub stream: u8,
    /// [`SUSPECT`], [`MOVING`], [`PROTECTED`], [`PAGES_COUNTED`], [`HAS_RECODED`], [`FAILED`],
    /// [`LEFT`].
    pub flags: u8,
}

const _: () = assert!(size_of::<BlockHot>() == 16);

impl BlockHot {
    /// An erased block.
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

    /// The page before which all are programmed, but for what the mode takes away.
    #[inline]
    pub fn written_to(&self) -> PageInBlock {
        PageInBlock::new(self.write_ptr.into())
    }

    /// Whether a flag is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The rest of a block's record.
#[derive(Clone, Copy, Debug)]
pub struct BlockCold {
    /// P/E cycles, the drive's starting age included.
    pub pec: u32,
    /// Thousandths of a cycle of wear beyond `pec` (reprogramming wears too).
    pub extra_milli: u32,
    /// Block reads at which the reclaim policy wants to be asked, [`Self::put_off`] apart.
    policy_alarm: Reads,
    /// Dose of what movers have sensed in the block since that was set: they use up none of the
    /// reads that it allows.
    put_off: Quarters,
    /// Dose up to which the error model answers for every page.
    pub model_alarm: Quarters,
    /// Number of erases of the whole drive up to which the block is [`PROTECTED`].
    pub protected_until: u64,
    /// It, or a wordline of it, was reprogrammed in place since its erase.
    pub reprogrammed: bool,
    /// Pages that its coding and those of its wordlines take away, and of a block recoded in place
    /// those that it never got; where there are any.
    pub pages_away: u16,
    /// Cycles in which it was reprogrammed.
    pub reprogrammed_cycles: u32,
    /// How many times [`CARRY`] was carried here since its erase; never where an error model
    /// counts.
    pub carries: u32,
    /// When its oldest page was programmed, where time counts.
    pub programmed_at: Moment,
    /// The tightest that the host says of what it holds, or is to hold.
    pub budget: AccessLatency,
}

impl BlockCold {
    /// A new block of this age.
    pub fn new(pec: u32) -> Self {
        Self {
            pec,
            extra_milli: 0,
            policy_alarm: Reads::NEVER,
            put_off: Quarters::ZERO,
            model_alarm: Quarters::MAX,
            protected_until: 0,
            reprogrammed: false,
            pages_away: 0,
            reprogrammed_cycles: 0,
            carries: 0,
            programmed_at: 0,
            budget: AccessLatency::Smallest,
        }
    }

    /// The policy names its next alarm.
    pub fn set_policy_alarm(&mut self, at: Reads) {
        (self.policy_alarm, self.put_off) = (
            at,
            if planted(Bug::PutOffGrows) && at != Reads::NEVER {
                self.put_off
            } else {
                Quarters::ZERO
            },
        );
    }

    /// A mover deposited this dose.
    pub fn put_off_by(&mut self, dose: Quarters) {
        self.put_off = self.put_off.saturating_add(dose);
    }

    /// What movers have sensed since the policy named its alarm.
    pub fn put_off(&self) -> Quarters {
        self.put_off
    }

    /// The block's dose at which the policy wants to be asked.
    pub fn policy_alarm_dose(&self) -> Quarters {
        self.policy_alarm.quarters().saturating_add(self.put_off)
    }

    /// Of a block's dose, what no mover deposited since the policy named its alarm.
    pub fn without_movers(&self, reads: Quarters) -> Quarters {
        reads.saturating_sub(self.put_off)
    }

    /// Effective P/E count, in thousandths of a cycle.
    pub fn effective_milli(&self) -> u64 {
        u64::from(self.pec) * 1000 + u64::from(self.extra_milli)
    }

    /// The P/E count that limits are looked up at: where reprogramming wears for them, too, the
    /// effective one, rounded up.
    pub fn limit_pec(&self, wear_counts: bool) -> u32 {
        if wear_counts {
            self.effective_milli().div_ceil(1000).min(u32::MAX.into()) as u32
        } else {
            self.pec
        }
    }
}

/// The first page of a block's next filling, where what is valid in it fits behind what it was
/// programmed with.
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

    /// First pages of the fillings after the first, of a block that was closed with so many pages,
    /// all of which stay valid.
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
