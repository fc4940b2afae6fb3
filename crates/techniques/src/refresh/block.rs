//! # Block
//! Rewrites each block before its oldest page reaches the age `refresh.period`.
//!
//! - **Paper:** Cai et al., Flash correct-and-refresh, ICCD 2012 (the variant that moves data at a
//!   fixed period).
//! - **Acts at:** the time when a block reaches the age `(1 - lead) x period`. If the block is
//!   still open then, it is closed first.
//! - **Costs:** each block that is not rewritten for other reasons is programmed once per period.
//! - **Does not help:** data that becomes unreadable through reads within one period.
//! - **Safety:** in the untimed gear, no page becomes older than the period. In the timed gear, a
//!   page may become older by the time of work in progress on its die and of outstanding requests.
//!
//! ```text
//! period 32 d, lead 1/8: written on day 0, refreshed from day 28 on in idle gaps, `at_once` blocks at a time, urgent shortly before day 32
//! ```

use std::collections::BTreeMap;

use super::{Aged, Refresh, RefreshTechnique, Wanted};
use vpass_drive::api::card::{About, Args, Card, Kind, New, Param};
use vpass_drive::base::span::SECOND;
use vpass_drive::base::units::{BlockId, Moment, Ns};
use vpass_drive::config::DriveConfig;

pub(super) const LEAD: Param = Param {
    key: "lead",
    kind: Kind::Real,
    unit: "",
    default: 0.125,
    range: (0.001, 0.9),
    draw: &[0.01, 0.125, 0.5],
    meaning: "a block is due when this share of its period is left; a due block is refreshed in an \
        idle moment",
    source: "assumption: this share is enough for a drive that is idle one day in eight",
    alias: None,
};

pub(super) const AT_ONCE: Param = Param {
    key: "at_once",
    kind: Kind::Whole,
    unit: "blocks",
    default: 4.0,
    range: (1.0, 65_536.0),
    draw: &[1.0, 4.0, 64.0],
    meaning: "largest number of blocks refreshed at a time; a block at the end of its period \
        ignores this limit",
    source: "assumption: this number leaves most dies to the host",
    alias: None,
};

pub(super) const PATROL: Param = Param {
    key: "patrol",
    kind: Kind::Real,
    unit: "blocks/s",
    default: 0.0,
    range: (0.0, 1e6),
    draw: &[0.0, 0.001, 1.0],
    meaning: "largest number of refreshes begun per second; a block at the end of its period \
              ignores this limit; 0: no limit",
    source: "assumption: blocks written at different times are due at different times",
    alias: None,
};

pub(crate) const CARD: RefreshTechnique = Card {
    about: About {
        name: "block",
        summary: "rewrites each block before its oldest page reaches the age `refresh.period`",
        paper: "Cai et al., ICCD 2012",
        params: &[LEAD, AT_ONCE, PATROL],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| Box::new(Block::new(args, config))),
};

/// Number of times that a waiting block may ask again during its lead time. A block waits while too
/// many other blocks are being rewritten.
const TURNS: Ns = 16;

pub(super) struct Block {
    period: Ns,
    lead: Ns,
    at_once: u32,
    /// Smallest time between the starts of two refresh jobs; 0 if there is no limit.
    gap: Ns,
    /// Next free time slot.
    next: Moment,
    /// Time slots of the blocks that wait for their refresh. Each entry also has the time at which
    /// the oldest page of the block was programmed.
    turns: BTreeMap<BlockId, (Moment, Moment)>,
}

impl Block {
    pub(super) fn new(args: &Args, config: &DriveConfig) -> Self {
        let period = config.refresh.period.0;
        let lead = (period as f64 * args.real(&LEAD)) as Ns;
        let rate = args.real(&PATROL);
        let gap = if rate > 0.0 { (SECOND as f64 / rate).ceil() as Ns } else { 0 };
        let at_once = args.whole(&AT_ONCE);
        Self {
            period,
            lead: lead.clamp(1, period),
            at_once,
            gap,
            next: Moment::MIN,
            turns: BTreeMap::new(),
        }
    }

    /// Returns the time slot at which a block's refresh may begin. Blocks get slots in the order in
    /// which they become due.
    fn turn(&mut self, aged: &Aged) -> Moment {
        if self.gap == 0 {
            return aged.now;
        }
        match self.turns.get(&aged.block) {
            Some((turn, since)) if *since == aged.since => *turn,
            _ => {
                let turn = self.next.max(aged.now);
                self.next = turn + self.gap.cast_signed();
                self.turns.insert(aged.block, (turn, aged.since));
                turn
            }
        }
    }
}

impl Refresh for Block {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        Some(since + (self.period - self.lead).cast_signed())
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        Some(since + self.period.cast_signed())
    }

    fn on_time(&mut self, aged: &Aged) -> Wanted {
        let end = aged.since + self.period.cast_signed();
        let turn = self.turn(aged);
        if aged.now >= end || turn <= aged.now && aged.under_way < self.at_once {
            self.turns.remove(&aged.block);
            return Wanted::Rewrite;
        }
        let again = if turn > aged.now {
            turn
        } else {
            aged.now + (self.lead / TURNS).max(1).cast_signed()
        };
        Wanted::Later(again.min(end))
    }

    fn set_back(&mut self, by: Ns) {
        self.next = self.next.saturating_sub(by.cast_signed());
        for (turn, since) in self.turns.values_mut() {
            (*turn, *since) = (*turn - by.cast_signed(), *since - by.cast_signed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a period of 32 and a lead of 4, blocks are due from the age 28 on.
    #[test]
    fn worked_example() {
        let mut block = Block {
            period: 32,
            lead: 4,
            at_once: 2,
            gap: 0,
            next: Moment::MIN,
            turns: BTreeMap::new(),
        };
        assert_eq!((block.first_look(0), block.done_by(0)), (Some(28), Some(32)));
        assert_eq!(block.first_look(-10), Some(18), "written before time 0");
        let mut at = |now, under_way| {
            block.on_time(&Aged { block: BlockId::new(0), now, since: 0, under_way })
        };
        assert_eq!(
            [at(28, 1), at(28, 2), at(32, 2)],
            [Wanted::Rewrite, Wanted::Later(29), Wanted::Rewrite]
        );
    }

    /// Three blocks are due at time 28, and time slots are 3 apart. The second block waits until
    /// time 31. The third waits only until the end of its period, at time 32.
    #[test]
    fn a_patrol_takes_blocks_in_turn() {
        let mut block = Block {
            period: 32,
            lead: 4,
            at_once: 9,
            gap: 3,
            next: Moment::MIN,
            turns: BTreeMap::new(),
        };
        let mut at =
            |number, now, since| block.on_time(&Aged { block: number, now, since, under_way: 0 });
        assert_eq!(
            [at(BlockId::new(0), 28, 0), at(BlockId::new(1), 28, 0), at(BlockId::new(2), 28, 0)],
            [Wanted::Rewrite, Wanted::Later(31), Wanted::Later(32)]
        );
        assert_eq!(
            [at(BlockId::new(1), 30, 0), at(BlockId::new(1), 31, 0), at(BlockId::new(2), 32, 0)],
            [Wanted::Later(31), Wanted::Rewrite, Wanted::Rewrite]
        );
        assert_eq!(
            at(BlockId::new(1), 60, 32),
            Wanted::Rewrite,
            "written anew since, and no request waits"
        );
    }
}
