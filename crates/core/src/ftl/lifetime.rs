//! The stages of a drive's life, where its parity has some (da-raid5-2013 III-B), and which blocks
//! are left alone in them.
//!
//! ```text
//! stage 1     no block is worn                                    no parity, blocks are recycled
//! stage 2     one is                                              stripes with a page in worn blocks have parity, other blocks are recycled
//! stage 3     more than L stripes have a page in worn blocks      all stripes up to a watermark have parity; behind the last none is recycled
//! ```

use crate::base::metrics::{FlashCounts, HostCounts};
use crate::base::units::{BlockId, Ns};
use crate::base::window::Window;
use crate::bugs::Bug;
use crate::config::LastStage;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::partial::Part;

/// Where a drive is in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// No block is worn.
    #[default]
    Young,
    /// Some are.
    Worn,
    /// All stripes have parity, or are about to get it.
    Last,
}

impl Stage {
    /// Its number in the paper.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// What was so when a stage began. Counts are those since the measured phase began.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// The stage.
    pub stage: Stage,
    /// When.
    pub at: Ns,
    /// What the host had asked for.
    pub host: HostCounts,
    /// What flash had done.
    pub flash: FlashCounts,
    /// Stripes that had parity.
    pub protected_stripes: u64,
    /// Stripes that waited for theirs.
    pub waiting: Window,
}

/// The stage that a drive is in, and when each began.
#[derive(Clone, Debug, Default)]
pub struct Lifetime {
    pub(super) last: Option<LastStage>,
    stage: Stage,
    /// In the last stage: stripes below this one were seen to.
    pub(crate) watermark: u32,
    /// The stage in which the measured phase began, and what was so when those began that followed.
    first: Stage,
    began: Vec<Beginning>,
    /// Page writes of the host, and the time, at which the last stage had seen to all stripes.
    all_seen_to: Option<(u64, Ns)>,
    /// Blocks that rebuilds have read, and whose policy is to be asked as soon as nothing is being
    /// moved.
    unasked: Vec<BlockId>,
}

impl Lifetime {
    pub(crate) fn new(last: Option<LastStage>) -> Self {
        Self { last, ..Self::default() }
    }

    /// The stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What the last stage begins with, and is like.
    pub fn last(&self) -> Option<LastStage> {
        self.last
    }

    /// Page writes of the host since the measured phase began, and the time, at which the second
    /// and the last stage began in it.
    pub fn began(&self) -> [Option<(u64, Ns)>; 2] {
        let of = |stage: Stage| {
            self.began
                .iter()
                .find(|began| began.stage == stage)
                .map(|began| (began.host.write_pages, began.at))
        };
        [of(Stage::Worn), of(Stage::Last)]
    }

    /// The stage in which the measured phase began.
    pub fn first(&self) -> Stage {
        self.first
    }

    /// What was so when the stages began that followed in it.
    pub fn beginnings(&self) -> &[Beginning] {
        &self.began
    }

    /// Page writes of the host, and the time, at which the last stage had seen to all stripes in
    /// it.
    pub fn all_seen_to(&self) -> Option<(u64, Ns)> {
        self.all_seen_to
    }

    /// Stripes that the last stage has seen to.
    pub fn watermark(&self) -> u32 {
        self.watermark
    }

    /// What began before the measured phase began before it.
    pub(crate) fn restart(&mut self) {
        (self.first, self.began, self.all_seen_to) = (self.stage, vec![], None);
    }

    /// The clock shows 0 in the place of this time.
    pub(crate) fn set_back(&mut self, passed: Ns) {
        for at in self
            .began
            .iter_mut()
            .map(|began| &mut began.at)
            .chain(self.all_seen_to.iter_mut().map(|(_, at)| at))
        {
            *at = at.saturating_sub(passed);
        }
    }

    /// A block whose policy is to be asked.
    pub(crate) fn take_unasked(&mut self) -> Option<BlockId> {
        self.unasked.pop()
    }

    pub(crate) fn is_last(&self) -> bool {
        self.stage == Stage::Last
    }

    /// Another stage begins.
    pub(crate) fn enter(&mut self, began: Beginning) {
        self.stage = began.stage;
        self.began.push(began);
    }

    /// The last stage has seen to all stripes.
    pub(crate) fn end_sweep(&mut self, host_writes: u64, now: Ns) {
        self.all_seen_to = Some((host_writes, now));
    }
}

impl Ftl {
    /// The stage that is due by now.
    pub(crate) fn stage_due(&self) -> Stage {
        let Some(last) = self.worn.lifetime.last else { return Stage::Young };
        let due = match (self.worn.any_is_worn, self.worn.marked) {
            (false, _) => Stage::Young,
            (true, marked) if marked <= last.beyond => Stage::Worn,
            (true, _) => Stage::Last,
        };
        due.max(self.worn.lifetime.stage)
    }

    /// These were read to rebuild a page that a block which is left alone has lost: the policies of
    /// their blocks may want to be asked.
    pub(super) fn note_unasked(&mut self, flash: &Flash, parts: &[Part]) {
        if self.worn.lifetime.last.is_none() {
            return;
        }
        let places = parts.iter().filter_map(|part| match *part {
            Part::Partial(_) => None,
            Part::Page(lpn) => self.place_of(lpn),
            Part::Kept(_, src) => Some(src),
        });
        let rung: Vec<BlockId> = places
            .filter(|ppn| !flash.may_be_read_unasked(*ppn))
            .map(|ppn| flash.geometry.block_of(ppn))
            .collect();
        self.worn.lifetime.unasked.extend(rung);
    }

    /// Whether a block is not recycled, neither for its reads nor for its age: parity repairs what
    /// cannot be read of it.
    pub(crate) fn is_left_alone(&self, flash: &Flash, block: BlockId) -> bool {
        if self.worn.lifetime.last.is_none() {
            return false;
        }
        let all_formed = self.worn.lifetime.is_last()
            && self.stripes.is_none_or(|stripes| self.worn.lifetime.watermark == stripes.count());
        (all_formed || self.is_worn(flash, block)) != self.bugs.has(Bug::WornRecycled)
    }
}
