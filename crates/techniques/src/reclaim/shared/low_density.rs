//! The bit-density manager (ipr-2018 III-C, III-D). It decides how many blocks may have guard
//! levels, and which blocks must return to full density.

use super::super::View;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::BlockId;
use vpass_drive::config::DriveConfig;

/// Low-density block, or block that is being reprogrammed to low density.
struct Member {
    block: BlockId,
    /// Value of the techniques' clock when the block became a low-density block. `from` is its read
    /// count at that time.
    since: u64,
    from: u32,
    /// Whether the block has been chosen to return to full density.
    leaving: bool,
}

/// Low-density blocks. In each domain, at most a fixed share of the blocks may be of low density.
pub(crate) struct LowDensity {
    members: Vec<Member>,
    most: usize,
    reversals: u64,
}

impl LowDensity {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let blocks = Geometry::new(config).blocks_per_domain();
        // SLC cells cannot have guard levels, because a wordline has no second page to give up.
        let most = if config.geometry.cell.bits() == 1 {
            0
        } else {
            (config.density.low_density * f64::from(blocks)) as usize
        };
        Self { members: vec![], most, reversals: 0 }
    }

    /// Returns whether the domain of a block may have one more low-density block.
    pub(crate) fn has_room(&self, view: &View, block: BlockId) -> bool {
        self.near(view, block).filter(|m| !m.leaving).count() < self.most
    }

    /// Returns the low-density blocks in the domain of a block.
    fn near(&self, view: &View, block: BlockId) -> impl Iterator<Item = &Member> {
        self.members
            .iter()
            .filter(move |m| view.geometry.domain_of(m.block) == view.geometry.domain_of(block))
    }

    /// Returns whether low-density blocks are allowed at all.
    pub(crate) fn is_possible(&self) -> bool {
        self.most > 0
    }

    /// Returns whether a block is a low-density block.
    pub(crate) fn holds(&self, block: BlockId) -> bool {
        self.members.iter().any(|m| m.block == block)
    }

    /// Adds a block that becomes a low-density block now.
    pub(crate) fn add(&mut self, view: &View, block: BlockId) {
        self.members.push(Member {
            block,
            since: view.clock(),
            from: view.reads(block).0,
            leaving: false,
        });
    }

    /// Removes a block that is about to be erased, or that could not be made a low-density block.
    pub(crate) fn remove(&mut self, block: BlockId) {
        self.members.retain(|m| m.block != block);
    }

    /// Chooses the low-density block that must return to full density, in the domain of the block
    /// `of`. It is the block with the fewest reads per host page operation since it became a
    /// low-density block. Blocks that a job moves are left out. So are blocks that are younger than
    /// average, because they have too few reads to be judged.
    pub(crate) fn revert_coldest(&mut self, view: &View, of: BlockId) -> Option<BlockId> {
        let age = |m: &Member| view.clock() - m.since;
        let rate = |m: &Member| f64::from(view.reads(m.block).0 - m.from) / age(m).max(1) as f64;
        let is_near = |m: &Member| view.geometry.domain_of(m.block) == view.geometry.domain_of(of);
        let may_leave = |m: &Member| is_near(m) && !m.leaving && view.is_idle(m.block);
        let (count, ages) = self
            .members
            .iter()
            .filter(|m| may_leave(m))
            .fold((0, 0), |(count, sum), m| (count + 1, sum + age(m)));
        let judged = self.members.iter_mut().filter(|m| may_leave(m) && age(m) * count >= ages);
        let coldest =
            judged.min_by(|a, b| rate(a).total_cmp(&rate(b)).then(a.block.cmp(&b.block)))?;
        coldest.leaving = true;
        self.reversals += 1;
        Some(coldest.block)
    }

    /// Returns the blocks from which [`Self::revert_coldest`] chooses. If the domain may have one
    /// more low-density block, it returns no blocks.
    pub(crate) fn compared(&self, view: &View, of: BlockId) -> Vec<BlockId> {
        if self.has_room(view, of) {
            vec![]
        } else {
            self.near(view, of).map(|m| m.block).collect()
        }
    }

    /// Returns counts for the results, each with its name.
    pub(crate) fn counts(&self) -> [(&'static str, u64); 1] {
        [("reversals", self.reversals)]
    }
}
