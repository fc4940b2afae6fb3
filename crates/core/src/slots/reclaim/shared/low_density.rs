//! The bit-density manager (ipr-2018 III-C, III-D): chooses the blocks that get guard levels, and
//! those that must give them back.

use super::super::View;
use crate::base::geometry::Geometry;
use crate::base::units::BlockId;
use crate::bugs::{Bug, planted};
use crate::config::DriveConfig;

/// A block of low density, or one that is becoming it.
struct Member {
    block: BlockId,
    /// Clock and reads of the block when it became one.
    since: u64,
    from: u32,
    /// Whether it was asked to give its guard levels back.
    leaving: bool,
}

/// At most a share of the blocks of each domain.
pub(in crate::slots::reclaim) struct LowDensity {
    members: Vec<Member>,
    most: usize,
    reversals: u64,
}

impl LowDensity {
    pub(in crate::slots::reclaim) fn new(config: &DriveConfig) -> Self {
        let blocks = Geometry::new(config).blocks_per_domain();
        // Cells of one bit have nothing to give up.
        let most = if config.geometry.cell.bits() == 1 {
            0
        } else {
            (config.density.low_density * f64::from(blocks)) as usize
        };
        Self { members: vec![], most, reversals: 0 }
    }

    /// Whether there may be one more where a block lies.
    pub(in crate::slots::reclaim) fn has_room(&self, view: &View, block: BlockId) -> bool {
        self.near(view, block).filter(|m| !m.leaving).count()
            < self.most + usize::from(planted(Bug::LowDensityOverfull))
    }

    /// Those in the domain of a block.
    fn near(&self, view: &View, block: BlockId) -> impl Iterator<Item = &Member> {
        self.members
            .iter()
            .filter(move |m| view.geometry.domain_of(m.block) == view.geometry.domain_of(block))
    }

    /// Whether there may ever be one.
    pub(in crate::slots::reclaim) fn is_possible(&self) -> bool {
        self.most > 0
    }

    /// Whether a block is one.
    pub(in crate::slots::reclaim) fn holds(&self, block: BlockId) -> bool {
        self.members.iter().any(|m| m.block == block)
    }

    /// A block becomes one now.
    pub(in crate::slots::reclaim) fn add(&mut self, view: &View, block: BlockId) {
        self.members.push(Member {
            block,
            since: view.clock(),
            from: view.reads(block).0,
            leaving: false,
        });
    }

    /// A block is about to be erased, or did not become one.
    pub(in crate::slots::reclaim) fn remove(&mut self, block: BlockId) {
        self.members.retain(|m| m.block != block);
    }

    /// The one in the domain of a block that was read least per page operation of the host since it
    /// became one, and that nobody moves; it is to be reverted. One that is younger than they are
    /// on average has not been read enough to be judged.
    pub(in crate::slots::reclaim) fn revert_coldest(
        &mut self,
        view: &View,
        of: BlockId,
    ) -> Option<BlockId> {
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

    /// Blocks that [`Self::revert_coldest`] chooses from, where there may not be one more.
    pub(in crate::slots::reclaim) fn compared(&self, view: &View, of: BlockId) -> Vec<BlockId> {
        if self.has_room(view, of) {
            vec![]
        } else {
            self.near(view, of).map(|m| m.block).collect()
        }
    }

    /// What it counts, for results.
    pub(in crate::slots::reclaim) fn counts(&self) -> [(&'static str, u64); 1] {
        [("reversals", self.reversals)]
    }
}
