//! Collects the knowledge of an attacker: where every page lies, how much each wordline endures,
//! and how the policy is set.

use std::cmp::Reverse;

use vpass_drive::api::reclaim::{CHECK_INTERVAL, COUNTERS};
use vpass_drive::base::units::{BlockId, Lpn, WordlineInBlock};
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::NO_PPN;

/// Number of blocks that are attacked in one round, one after the other. With fewer blocks, a
/// policy could move the data of all attacked blocks before the round ends.
const TARGETS: usize = 64;
/// Number of neighbour reads that an attack omits, so that the policy does not move the block too
/// early. Two of these reads are omitted because reads of all pages in turn may stop before the
/// last page. Each of the victim's two neighbours may then have one read more than other wordlines.
/// The third read is omitted because of rounding.
const UNEVEN: f64 = 3.0;
/// Smallest ratio of the valid pages in an attacked block to the valid pages in the fullest block.
const FULL_ENOUGH: f64 = 0.9;

/// Knowledge of an attacker about a drive.
#[derive(Clone, Debug)]
pub struct Knowledge {
    /// Number of logical pages of the drive.
    pub host_pages: u32,
    /// Number of pages of a wordline.
    pub pages_per_wordline: u32,
    /// Difference between the numbers of two physically neighbouring wordlines.
    pub neighbour_stride: u32,
    /// Number of reads of a block after which the policy checks the block again.
    pub check_interval: u32,
    /// Number of reads of a block that a policy expects between a check and the end of the reclaim
    /// job that the check starts. The number is at least 1.
    pub late_reads: u32,
    /// Number of wordline counters that a policy has per block.
    pub counters: u32,
    /// Blocks to attack, with the weakest block first. There is at least one block.
    pub targets: Vec<Target>,
}

/// Block under attack, with its data.
#[derive(Clone, Debug)]
pub struct Target {
    /// Number of the block.
    pub block: BlockId,
    /// Logical page held by each page of the block, or `None` for a page without data.
    pub pages: Vec<Option<Lpn>>,
    /// Strength of each wordline.
    pub wordlines: Vec<Strength>,
}

/// Limit and neighbour weight (alpha) of a wordline: the true values, and the values that the
/// policy assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength {
    /// True limit of the wordline, in dose units.
    pub limit: f64,
    /// True dose that the wordline gets from a read of a neighbouring wordline.
    pub alpha: f64,
    /// Limit that the policy assumes for the wordline, in dose units.
    pub assumed_limit: f64,
    /// Dose that the policy assumes for the wordline when a neighbouring wordline is read.
    pub assumed_alpha: f64,
}

/// Numbers of reads in the two steps of an attack on a block. First, all pages are read evenly.
/// Then the neighbours of one wordline are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMix {
    /// Number of reads that are spread evenly over all pages of the block.
    pub even: u64,
    /// Number of reads of the two neighbours of the chosen wordline.
    pub neighbours: u64,
}

impl Strength {
    /// Returns the number of reads of neighbouring wordlines that this wordline endures.
    pub fn reads_beside(&self) -> f64 {
        self.limit / self.alpha
    }
}

impl Knowledge {
    /// Collects an attacker's knowledge about a drive that uses the reclaim technique `reclaim`.
    /// Returns `None` if the drive has no data, or no table of limits.
    pub fn of(drive: &Drive, reclaim: &str) -> Option<Self> {
        let (config, geometry) = (drive.config(), drive.geometry());
        let limits = LimitTable::of(config)?;
        let blocks = worth_attacking(drive, &limits);
        let targets = targets(drive, &limits, &blocks);
        (!targets.is_empty()).then(|| Self {
            host_pages: geometry.host_pages,
            pages_per_wordline: geometry.cell.bits(),
            neighbour_stride: geometry.neighbour_stride,
            check_interval: CHECK_INTERVAL.value(&config.reclaim.params, reclaim) as u32,
            late_reads: drive.late_reads().max(1),
            counters: COUNTERS.value(&config.reclaim.params, reclaim) as u32,
            targets,
        })
    }

    /// Returns the numbers of the physical neighbours of a wordline.
    pub fn neighbours(&self, wordline: usize) -> impl Iterator<Item = usize> + use<> {
        let (stride, wordlines) = (self.neighbour_stride as usize, self.targets[0].wordlines.len());
        let above = Some(wordline + stride).filter(|w| *w < wordlines);
        wordline.checked_sub(stride).into_iter().chain(above)
    }

    /// Returns the logical pages that a wordline of an attacked block holds.
    pub fn pages<'a>(
        &self,
        target: &'a Target,
        wordline: usize,
    ) -> impl Iterator<Item = Lpn> + use<'a> {
        let bits = self.pages_per_wordline as usize;
        target.pages[wordline * bits..(wordline + 1) * bits].iter().copied().flatten()
    }

    /// Returns whether a wordline of an attacked block holds data.
    pub fn holds(&self, target: &Target, wordline: usize) -> bool {
        self.pages(target, wordline).next().is_some()
    }

    /// Returns the logical pages that the neighbours of a wordline hold.
    pub fn pages_beside(&self, target: &Target, wordline: usize) -> Vec<Lpn> {
        self.neighbours(wordline).flat_map(|w| self.pages(target, w)).collect()
    }

    /// Returns the weakest wordline of a block: the wordline that endures the fewest reads of
    /// neighbouring wordlines. A wordline is considered only if it holds data and at least one
    /// neighbour holds data. Among equally weak wordlines, the wordline with the most data in its
    /// neighbours is returned.
    pub fn victim(&self, target: &Target) -> Option<usize> {
        let beside = |w: usize| self.pages_beside(target, w).len();
        let candidates =
            (0..target.wordlines.len()).filter(|w| self.holds(target, *w) && beside(*w) > 0);
        let weaker = |a: &usize, b: &usize| {
            let by_strength =
                target.wordlines[*a].reads_beside().total_cmp(&target.wordlines[*b].reads_beside());
            by_strength.then(beside(*b).cmp(&beside(*a)))
        };
        candidates.min_by(weaker)
    }

    /// Returns how many reads an attack can make of a block before the policy moves the victim
    /// `wordline`. The last of these reads comes just before the check that starts the move.
    /// `per_read` is the mean dose that the wordline gets per read while all pages are read evenly.
    ///
    /// Even reads come first, up to the last check that leaves the wordline in place. If the dose
    /// at this check is below the policy's threshold, reads of the neighbours replace the last even
    /// reads. Reads of the neighbours then continue until the next check. Returns `None` if the
    /// first check already moves the wordline.
    pub fn up_to_the_last_check(
        &self,
        target: &Target,
        wordline: usize,
        per_read: f64,
    ) -> Option<ReadMix> {
        let s = target.wordlines[wordline];
        let (interval, late) = (f64::from(self.check_interval), f64::from(self.late_reads));
        let left = s.assumed_limit
            - s.assumed_alpha * (interval.max(late + 1.0) + late)
            - self.moving(target, s.assumed_alpha);
        let check = (left / per_read / interval).floor() * interval;
        if check < interval {
            return None;
        }
        let heavier = s.assumed_alpha - per_read;
        let beside = if heavier > 0.0 {
            ((left - per_read * check) / heavier - UNEVEN).floor().clamp(0.0, check - 1.0)
        } else {
            0.0
        };
        Some(ReadMix { even: (check - beside) as u64, neighbours: (beside + interval) as u64 })
    }

    /// Returns the largest dose that a wordline gets while its whole block is moved:
    /// `P + 2 (alpha - 1) p`. P is the number of pages of the block, and p is the number of pages
    /// of a wordline.
    pub fn moving(&self, target: &Target, alpha: f64) -> f64 {
        target.pages.len() as f64 + 2.0 * (alpha - 1.0) * f64::from(self.pages_per_wordline)
    }
}

/// Returns blocks with many valid pages. The weakest of these blocks comes first.
fn worth_attacking(drive: &Drive, limits: &LimitTable) -> Vec<BlockId> {
    let mut valid = vec![0u32; drive.geometry().blocks as usize];
    for row in drive.map_rows().filter(|row| row.ppn != NO_PPN) {
        valid[drive.geometry().block_of(row.ppn).index()] += 1;
    }
    let most = valid.iter().copied().max().unwrap_or(0);
    let enough = ((f64::from(most) * FULL_ENOUGH) as u32).max(1);
    let mut blocks: Vec<BlockId> =
        drive.geometry().block_ids().filter(|b| valid[b.index()] >= enough).collect();
    blocks.sort_by_key(|b| (limits.block_factor(*b), Reverse(valid[b.index()]), *b));
    blocks.truncate(TARGETS);
    blocks
}

/// Collects the logical pages and the wordline strengths of the given blocks.
fn targets(drive: &Drive, limits: &LimitTable, blocks: &[BlockId]) -> Vec<Target> {
    let geometry = drive.geometry();
    let pec: Vec<u32> = drive.block_states().map(|row| row.pec).collect();
    let mut place = vec![usize::MAX; geometry.blocks as usize];
    let blank = |block: BlockId| Target {
        block,
        pages: vec![None; geometry.pages_per_block as usize],
        wordlines: geometry
            .wordlines_in_block()
            .map(|w| strength(limits, block, pec[block.index()], w))
            .collect(),
    };
    let mut targets: Vec<Target> = blocks.iter().copied().map(blank).collect();
    for (i, block) in blocks.iter().enumerate() {
        place[block.index()] = i;
    }
    for row in drive.map_rows().filter(|row| row.ppn != NO_PPN && !row.buffered) {
        let block = geometry.block_of(row.ppn);
        if let Some(target) = targets.get_mut(place[block.index()]) {
            target.pages[(row.ppn - geometry.first_page(block)) as usize] = Some(row.lpn);
        }
    }
    targets
}

fn strength(limits: &LimitTable, block: BlockId, pec: u32, wordline: WordlineInBlock) -> Strength {
    let group = limits.group_of(wordline);
    let (truth, assumed) = (limits.truth(group, pec), limits.lookup(group, pec));
    Strength {
        limit: limits.limit_of(truth.limit, wordline, limits.block_factor(block)).units(),
        alpha: truth.alpha.weight(),
        assumed_limit: assumed.limit.units(),
        assumed_alpha: assumed.alpha.weight(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Makes knowledge for tests: full blocks of TLC wordlines, with an alpha of 9. Wordline w of
    /// block b holds logical pages 1000 b + 3 w to 1000 b + 3 w + 2. The limit is 4,500 for
    /// wordline `weak` and 9,000 for all others.
    pub(in crate::attack) fn knowledge(blocks: u32, wordlines: u32, weak: usize) -> Knowledge {
        let strength =
            |limit| Strength { limit, alpha: 9.0, assumed_limit: limit, assumed_alpha: 9.0 };
        let target = |block: BlockId| Target {
            block,
            pages: Lpn::new(1000 * block.number()).run(3 * wordlines).map(Some).collect(),
            wordlines: (0..wordlines as usize)
                .map(|w| strength(if w == weak { 4500.0 } else { 9000.0 }))
                .collect(),
        };
        Knowledge {
            host_pages: 1000 * blocks,
            pages_per_wordline: 3,
            neighbour_stride: 1,
            check_interval: 10,
            late_reads: 1,
            counters: 4,
            targets: BlockId::range(0..blocks).map(target).collect(),
        }
    }

    #[test]
    fn the_victim_is_the_weakest_wordline_that_has_data_and_data_beside_it() {
        let mut knowledge = knowledge(1, 6, 2);
        assert_eq!(knowledge.victim(&knowledge.targets[0]), Some(2));
        assert_eq!(
            knowledge.pages_beside(&knowledge.targets[0], 2),
            [3, 4, 5, 9, 10, 11].map(Lpn::new)
        );
        assert_eq!(knowledge.neighbours(0).collect::<Vec<_>>(), [1]);
        assert_eq!(knowledge.neighbours(5).collect::<Vec<_>>(), [4]);
        // Wordlines 1 and 3, the neighbours of wordline 2, now hold no data.
        for page in [3, 4, 5, 9, 10, 11] {
            knowledge.targets[0].pages[page] = None;
        }
        assert_eq!(knowledge.victim(&knowledge.targets[0]), Some(4));
        knowledge.neighbour_stride = 2;
        assert_eq!(
            knowledge.victim(&knowledge.targets[0]),
            Some(2),
            "its neighbours are 0 and 4 now"
        );
    }
}
