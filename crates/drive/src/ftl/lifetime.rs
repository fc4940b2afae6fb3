//! Stages of the life of a drive whose parity depends on wear (da-raid5-2013 III-B), and which
//! blocks are not recycled in them.
//!
//! ```text
//! stage 1     no block is worn                                    no parity, blocks are recycled
//! stage 2     a block is worn                                     stripes with a page in worn blocks have parity, other blocks are recycled
//! stage 3     more than L stripes have a page in worn blocks      all stripes up to a watermark have parity; when all have it, no block is recycled
//! ```

use crate::base::metrics::{FlashCounts, HostCounts};
use crate::base::units::{BlockId, Ns};
use crate::base::window::Window;
use crate::config::LastStage;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::partial::Part;

/// Stage of a drive's life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Stage in which no block is worn.
    #[default]
    Young,
    /// Stage in which some blocks are worn.
    Worn,
    /// Stage in which all stripes have parity, or will get it soon.
    Last,
}

impl Stage {
    /// Returns the number of the stage in the paper.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// State of the drive when a stage began. Counts begin with the measured phase.
#[derive(Clone, Debug)]
pub struct Beginning {
    /// Stage that began.
    pub stage: Stage,
    /// Time at which the stage began.
    pub at: Ns,
    /// Counts of host requests up to then.
    pub host: HostCounts,
    /// Counts of flash operations up to then.
    pub flash: FlashCounts,
    /// Number of stripes with parity.
    pub protected_stripes: u64,
    /// Stripes that waited for their parity.
    pub waiting: Window,
}

/// Stage that a drive is in, and the times at which stages began.
#[derive(Clone, Debug, Default)]
pub struct Lifetime {
    pub(super) last: Option<LastStage>,
    stage: Stage,
    /// In the last stage, stripes below this number have been handled.
    pub(crate) watermark: u32,
    /// Stage in which the measured phase began, and the stages that began after that.
    first: Stage,
    began: Vec<Beginning>,
    /// Number of host page writes, and the time, at which the last stage had handled all stripes.
    all_seen_to: Option<(u64, Ns)>,
    /// Blocks that rebuilds have read. Their policies are asked when no data is being moved.
    pub(crate) unasked: Vec<BlockId>,
}

impl Lifetime {
    pub(crate) fn new(last: Option<LastStage>) -> Self {
        Self { last, ..Self::default() }
    }

    /// Returns the current stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Returns the settings of the last stage.
    pub fn last(&self) -> Option<LastStage> {
        self.last
    }

    /// Returns when the second and the last stage began in the measured phase. For each, this is
    /// the number of host page writes since the phase began, and the time.
    pub fn began(&self) -> [Option<(u64, Ns)>; 2] {
        let of = |stage: Stage| {
            self.began
                .iter()
                .find(|began| began.stage == stage)
                .map(|began| (began.host.write_pages, began.at))
        };
        [of(Stage::Worn), of(Stage::Last)]
    }

    /// Returns the stage in which the measured phase began.
    pub fn first(&self) -> Stage {
        self.first
    }

    /// Returns the stages that began in the measured phase.
    pub fn beginnings(&self) -> &[Beginning] {
        &self.began
    }

    /// Returns the number of host page writes, and the time, at which the last stage had handled
    /// all stripes in the measured phase.
    pub fn all_seen_to(&self) -> Option<(u64, Ns)> {
        self.all_seen_to
    }

    /// Returns the number of stripes that the last stage has handled.
    pub fn watermark(&self) -> u32 {
        self.watermark
    }

    /// Drops the records from before the measured phase.
    pub(crate) fn restart(&mut self) {
        (self.first, self.began, self.all_seen_to) = (self.stage, vec![], None);
    }

    /// Sets the clock back to 0.
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

    pub(crate) fn is_last(&self) -> bool {
        self.stage == Stage::Last
    }

    /// Begins another stage.
    pub(crate) fn enter(&mut self, began: Beginning) {
        self.stage = began.stage;
        self.began.push(began);
    }

    /// Records that the last stage has handled all stripes.
    pub(crate) fn end_sweep(&mut self, host_writes: u64, now: Ns) {
        self.all_seen_to = Some((host_writes, now));
    }
}

impl Ftl {
    /// Returns the stage that is due now.
    pub(crate) fn stage_due(&self) -> Stage {
        let Some(last) = self.worn.lifetime.last else { return Stage::Young };
        let due = match (self.worn.any_is_worn, self.worn.marked) {
            (false, _) => Stage::Young,
            (true, marked) if marked <= last.beyond => Stage::Worn,
            (true, _) => Stage::Last,
        };
        due.max(self.worn.lifetime.stage)
    }

    /// Notes blocks that were read to rebuild a lost page of a block that is not recycled. Their
    /// policies may have to be asked.
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

    /// Returns whether a block is not recycled, neither for its reads nor for its age. Parity then
    /// repairs its unreadable data.
    pub(crate) fn is_left_alone(&self, flash: &Flash, block: BlockId) -> bool {
        if self.worn.lifetime.last.is_none() {
            return false;
        }
        let all_formed = self.worn.lifetime.is_last()
            && self.stripes.is_none_or(|stripes| self.worn.lifetime.watermark == stripes.count());
        all_formed || self.is_worn(flash, block)
    }
}
