//! Small drives for this crate's tests, and techniques for them. The crate has no techniques of its
//! own, so each slot has a fake that does its work in the plainest way.

use crate::api::card::{About, Card, New};
use crate::api::gc::{Candidates, GcPolicy, GcTechnique};
use crate::api::parity::{Change, Equation, Parity, ParityTechnique, REBUILD, STRIPE};
use crate::api::reclaim::{Action, Policy, Promise, Rewrite, Technique, Threshold, View};
use crate::api::refresh::{Aged, NO_REFRESH, Refresh, RefreshTechnique, Wanted};
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, Bytes, Moment, Ns, Reads};
use crate::config::{ByWear, DriveConfig, LastStage, Schedule};
use crate::drive::{Drive, Techniques};

/// Returns the fakes that rewrite blocks near their limits and clean the emptiest ones. There is no
/// refresh and no parity.
pub(crate) fn fakes() -> Techniques {
    Techniques { reclaim: &WHOLE, gc: &EMPTIEST, refresh: &NEVER, parity: &NO_STRIPES, seed: 0 }
}

/// Returns these fakes with a reclaim technique that never acts.
pub(crate) fn without_reclaim() -> Techniques {
    Techniques { reclaim: &IDLE, ..fakes() }
}

/// Returns these fakes with a parity technique.
pub(crate) fn with_parity(parity: &'static ParityTechnique) -> Techniques {
    Techniques { parity, ..fakes() }
}

const fn named(name: &'static str) -> About {
    About { name, ..About::PLAIN }
}

/// Never rewrites data.
pub(crate) static IDLE: Technique =
    Card { about: named("idle"), new: New::Listed(|_, _, _| Box::new(Whole { acts: false })) };

/// Rewrites a whole block when the limit of its first group leaves just enough reads for the job.
pub(crate) static WHOLE: Technique =
    Card { about: named("whole"), new: New::Listed(|_, _, _| Box::new(Whole { acts: true })) };

struct Whole {
    acts: bool,
}

impl Policy for Whole {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let Some(limits) = view.limits.filter(|_| self.acts) else { return Reads::NEVER };
        let limit = limits.lookup_worn(0, view.worn(block, false)).limit.units() as u32;
        let of_job = view.geometry.pages_per_block + view.late_reads;
        Reads(limit.saturating_sub(of_job).max(1))
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if !self.acts {
            return Reads::NEVER;
        }
        out.push(Rewrite::all(block).into());
        Reads(view.reads(block).0 + view.late_in_a_job())
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("tests judge it by what it does")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}

/// Cleans the block with the fewest valid pages.
static EMPTIEST: GcTechnique =
    Card { about: named("emptiest"), new: New::Listed(|_, _, _| Box::new(Emptiest)) };

struct Emptiest;

impl GcPolicy for Emptiest {
    fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        let listed = among.lists().flat_map(|valid| among.index.in_bucket(valid));
        listed.map(|(block, _)| block).find(|block| (among.allowed)(*block))
    }
}

/// Never refreshes data.
static NEVER: RefreshTechnique = Card {
    about: named(NO_REFRESH),
    new: New::Listed(|_, _, _| Box::new(Timely { period: None })),
};

/// Rewrites each block in the last eighth of the refresh period.
pub(crate) static TIMELY: RefreshTechnique = Card {
    about: named("timely"),
    new: New::Listed(|_, config, _| Box::new(Timely { period: Some(config.refresh.period.0) })),
};

struct Timely {
    period: Option<Ns>,
}

impl Refresh for Timely {
    fn first_look(&self, since: Moment) -> Option<Moment> {
        self.period.map(|period| since + (period - period / 8).cast_signed())
    }

    fn done_by(&self, since: Moment) -> Option<Moment> {
        self.period.map(|period| since + period.cast_signed())
    }

    fn on_time(&mut self, _aged: &Aged) -> Wanted {
        Wanted::Rewrite
    }
}

/// Keeps no parity.
pub(crate) static NO_STRIPES: ParityTechnique =
    Card { about: named("no-stripes"), new: New::Listed(|_, _, _| Box::new(Striped::default())) };

/// Updates parity with each write.
pub(crate) static STRIPED: ParityTechnique = Card {
    about: About { params: &[STRIPE, REBUILD], ..named("striped") },
    new: New::Listed(|_, _, _| Box::new(Striped::default())),
};

/// Keeps partial parity in a cache.
pub(crate) static CACHED: ParityTechnique = Card {
    about: About { params: &[STRIPE, REBUILD], ..named("cached") },
    new: New::Listed(|_, _, _| Box::new(Striped { cache_pages: 64, by_wear: None })),
};

/// Keeps parity for stripes with a page in a worn block. A block is worn above the P/E cycles with
/// which the drive starts.
pub(crate) static BY_WEAR: ParityTechnique = Card {
    about: About { params: &[STRIPE, REBUILD], ..named("by-wear") },
    new: New::Listed(|_, config, _| Striped::by_wear(worn_above(config))),
};

/// Counts stripes by the published rule, and is otherwise as [`BY_WEAR`].
pub(crate) static BY_PRINTED_RULE: ParityTechnique = Card {
    about: About { params: &[STRIPE, REBUILD], ..named("by-printed-rule") },
    new: New::Listed(|_, config, _| {
        Striped::by_wear(ByWear { as_printed: true, ..worn_above(config) })
    }),
};

/// Gives all stripes parity as soon as a page is written to a worn block.
pub(crate) static IN_LAST_STAGE: ParityTechnique = Card {
    about: About { params: &[STRIPE, REBUILD], ..named("in-last-stage") },
    new: New::Listed(|_, config, _| {
        let last = LastStage { beyond: 0, cut_off: 8, cache_pages: 64 };
        Striped::by_wear(ByWear { last: Some(last), ..worn_above(config) })
    }),
};

fn worn_above(config: &DriveConfig) -> ByWear {
    ByWear { above: config.start.pec, as_printed: false, queue: 64, last: None }
}

#[derive(Default)]
struct Striped {
    cache_pages: u32,
    by_wear: Option<ByWear>,
}

impl Striped {
    fn by_wear(by_wear: ByWear) -> Box<dyn Parity> {
        Box::new(Self { cache_pages: 0, by_wear: Some(by_wear) })
    }
}

impl Parity for Striped {
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    fn cache_pages(&self) -> u32 {
        self.cache_pages
    }

    fn longest_cached(&self) -> Option<u32> {
        self.by_wear.map(|_| u32::MAX)
    }

    fn by_wear(&self) -> Option<ByWear> {
        self.by_wear
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }
}

/// Returns the drive of a text under a technique, preconditioned with seed 1.
pub(crate) fn drive(text: &str, reclaim: &'static Technique) -> Drive {
    let mut config = toml::from_str::<DriveConfig>(text).unwrap();
    // The jobs of these tests run at once, so that they need no `R_late`.
    if !text.contains("schedule") {
        config.reclaim.schedule = Schedule::Foreground;
    }
    let techniques = Techniques { reclaim, ..fakes() };
    let mut drive = Drive::new(config.resolve().unwrap(), &techniques, false).unwrap();
    drive.precondition(1);
    drive
}
