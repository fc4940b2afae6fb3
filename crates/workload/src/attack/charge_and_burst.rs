//! # Charge-and-burst
//! Attack that first reads many blocks, one after the other, until each is near the read count at
//! which a policy rewrites a block. Then the attack reads all these blocks in turn, so that all of
//! them reach this count at the same time.
//!
//! - **Source:** CAB, "charge and burst" (POMACS 2026, arXiv 2608.14073).
//! - **Breaks:** a policy that expects few reclaim jobs at a time. In the timed gear, the attack
//!   shows how long many simultaneous reclaim jobs delay other reads.
//!
//! ```text
//! limit 4,500, alpha 9, 18 pages per block, interval 10
//! careful   (4,500 - 18 - 2 x 8 x 3) / 9 - 3 x 10 = 462 reads beside the weakest wordline
//! charge    90 % of 462 = 416 of these reads, in each block
//! burst     550 - 416 = 134 reads of each block, in turn: 10 % beyond the limit
//! ```

use super::{Knowledge, Target};
use crate::phases::PhaseConfig;

/// Number of reads of a block before the burst, divided by the number of reads after which a
/// careful policy rewrites the block.
const CHARGE: f64 = 0.9;
/// Number of all reads that the attack makes of a block, divided by the number of reads that bring
/// the block's weakest wordline to its limit.
const BEYOND: f64 = 1.1;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let mut phases = vec![];
    let mut beside = vec![];
    let mut burst = 0;
    for target in &knowledge.targets {
        let Some(victim) = knowledge.victim(target) else { continue };
        let charge = charge(knowledge, target, victim);
        let pages = knowledge.pages_beside(target, victim);
        let beyond = (target.wordlines[victim].reads_beside() * BEYOND) as u64;
        burst = burst.max(beyond.saturating_sub(charge));
        beside.push(pages[0]);
        phases.push(PhaseConfig::reads(pages, charge));
    }
    if burst > 0 {
        let requests = burst * beside.len() as u64;
        phases.push(PhaseConfig::reads(beside, requests));
    }
    phases
}

/// Returns the number of reads of a block before the burst. After these reads, the block is near
/// the read count at which a careful policy rewrites the block.
fn charge(knowledge: &Knowledge, target: &Target, victim: usize) -> u64 {
    let s = target.wordlines[victim];
    let careful = (s.assumed_limit - knowledge.moving(target, s.assumed_alpha)) / s.assumed_alpha
        - 3.0 * f64::from(knowledge.check_interval);
    (careful * CHARGE).max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::super::knowledge::tests::knowledge;
    use crate::phases::PhaseConfig;
    use vpass_drive::base::units::Lpn;

    #[test]
    fn all_blocks_are_charged_and_then_read_in_turn() {
        let phases = super::phases(&knowledge(3, 6, 2));
        assert_eq!(
            phases[1],
            PhaseConfig::reads([1003, 1004, 1005, 1009, 1010, 1011].map(Lpn::new).to_vec(), 416)
        );
        assert_eq!(phases[3], PhaseConfig::reads([3, 1003, 2003].map(Lpn::new).to_vec(), 3 * 134));
        assert_eq!(phases.len(), 4);
    }
}
