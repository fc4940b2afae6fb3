//! # Block
//! Rewrites a block before its oldest page comes to an age, `refresh.period`.
//!
//! - **Paper:** Cai et al., Flash correct-and-refresh, ICCD 2012 (remapping, at a fixed period).
//! - **Acts at:** the age `(1 - lead) x period` of a block; an open one is closed for it.
//! - **Costs:** each block that nobody rewrites is programmed once a period.
//! - **Does not help:** data that reads wear out within the period.
//! - **Safety:** no page grows older than the period, untimed. Timed, what a die is doing already and the latency of the requests under way
//!   come on top.
//!
//! ```text
//! period 32 d, lead 1/8: written on day 0, under way from day 28 on in idle gaps, `at_once` blocks at a time, urgent as day 32 comes near
//! ```

use super::{Aged, Refresh, RefreshTechnique, Wanted};
use crate::base::units::{Moment, Ns};
use crate::config::DriveConfig;
use crate::slots::card::{About, Args, Card, Kind, Param};

pub(super) const LEAD: Param = Param {
    key: "lead",
    kind: Kind::Real,
    unit: "",
    default: 0.125,
    range: (0.001, 0.9),
    draw: &[0.01, 0.125, 0.5],
    meaning: "share of the period before its end in which a block may wait for idle gaps",
    source: "assumption: a drive that is idle one day of eight needs no more",
    alias: None,
};

pub(super) const AT_ONCE: Param = Param {
    key: "at_once",
    kind: Kind::Whole,
    unit: "blocks",
    default: 4.0,
    range: (1.0, 65_536.0),
    draw: &[1.0, 4.0, 64.0],
    meaning: "blocks under way at a time, but for those whose period ends",
    source: "assumption: a patrol that leaves most dies to the host",
    alias: None,
};

pub(super) const CARD: RefreshTechnique = Card {
    about: About {
        name: "block",
        summary: "rewrites each block before its oldest page comes to the age `refresh.period`",
        paper: "Cai et al., ICCD 2012",
        params: &[LEAD, AT_ONCE],
        ..About::PLAIN
    },
    new: |args, config, _| Box::new(Block::new(args, config)),
};

/// Times that a block asks again while others are under way.
const TURNS: Ns = 16;

pub(super) struct Block {
    period: Ns,
    lead: Ns,
    at_once: u32,
}

impl Block {
    pub(super) fn new(args: &Args, config: &DriveConfig) -> Self {
        let period = config.refresh.period.0;
        let lead = (period as f64 * args.real(&LEAD)) as Ns;
        Self { period, lead: lead.clamp(1, period), at_once: args.whole(&AT_ONCE) }
    }
}

impl Refresh for Block {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        Some(since + (self.period - self.lead).cast_signed())
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        Some(since + self.period.cast_signed())
    }

    fn on_time(&self, aged: &Aged) -> Wanted {
        let end = aged.since + self.period.cast_signed();
        if aged.under_way < self.at_once || aged.now >= end {
            return Wanted::Rewrite;
        }
        Wanted::Later((aged.now + (self.lead / TURNS).max(1).cast_signed()).min(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Period 32, lead 4: due from 28 on.
    #[test]
    fn worked_example() {
        let block = Block { period: 32, lead: 4, at_once: 2 };
        assert_eq!((block.first_look(0), block.done_by(0)), (Some(28), Some(32)));
        assert_eq!(block.first_look(-10), Some(18), "written before time 0");
        let at = |now, under_way| block.on_time(&Aged { now, since: 0, under_way });
        assert_eq!([at(28, 1), at(28, 2), at(32, 2)], [Wanted::Rewrite, Wanted::Later(29), Wanted::Rewrite]);
    }
}
