//! # Below-interval
//! Attack that reads all pages of a block evenly until shortly before the policy would move the
//! block. Then the attack hammers the weakest wordline of the block.
//!
//! A policy checks a block after every I reads of the block; I is the check interval. The attack
//! reads all pages of a block evenly, up to the last check that does not move the block. The attack
//! does this with many blocks, one after the other. Then the attack returns to each block, and
//! reads the neighbours of the weakest wordline until the next check.
//!
//! - **Source:** the check interval of the reclaim technique straw-2024 (section III-A of its
//!   paper). In straw-2024, a margin of `alpha I` covers the reads between two checks.
//! - **Breaks:** a policy whose margin is too small for the reads between two checks, or too small
//!   for the reads that its own reclaim jobs make.
//!
//! ```text
//! 6 wordlines of 3 pages, limit 4,500, alpha 9, I = 10. Dose of the weakest wordline:
//! of 18 even reads, 3 are its own, 6 weigh 9, 9 weigh 1   63 / 18 = 3.5 per read
//! a check leaves doses up to   4,500 - 9 x (10 + 1) - (18 + 2 x 8 x 3) = 4,335
//! reads at the last such check 4,335 / 3.5 = 1,238.6: 1,230
//! of these, could weigh 9      (4,335 - 3.5 x 1,230) / (9 - 3.5) = 5.5; 2 do
//! reads of the neighbours      12, with the 10 until the next check
//! ```

use super::{Knowledge, Target};
use crate::phases::PhaseConfig;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let mut phases = vec![];
    let mut bursts = vec![];
    for target in &knowledge.targets {
        let Some(victim) = knowledge.victim(target) else { continue };
        let Some(reads) =
            knowledge.up_to_the_last_check(target, victim, per_read(knowledge, target, victim))
        else {
            continue;
        };
        phases
            .push(PhaseConfig::reads(target.pages.iter().copied().flatten().collect(), reads.even));
        bursts.push(PhaseConfig::reads(knowledge.pages_beside(target, victim), reads.neighbours));
    }
    phases.extend(bursts);
    phases
}

/// Returns the mean dose that the victim wordline gets per read while all pages of the block are
/// read in turn.
fn per_read(knowledge: &Knowledge, target: &Target, victim: usize) -> f64 {
    let pages = target.pages.iter().flatten().count() as f64;
    let own = knowledge.pages(target, victim).count() as f64;
    let beside = knowledge.pages_beside(target, victim).len() as f64;
    (beside * target.wordlines[victim].assumed_alpha + pages - own - beside) / pages
}

#[cfg(test)]
mod tests {
    use super::super::knowledge::tests::knowledge;
    use crate::phases::PhaseConfig;
    use vpass_drive::base::units::Lpn;

    #[test]
    fn even_reads_up_to_the_last_check_and_then_a_burst() {
        let phases = super::phases(&knowledge(2, 6, 2));
        assert_eq!(phases[0], PhaseConfig::reads(Lpn::range(0..18).collect(), 1228));
        assert_eq!(phases[1], PhaseConfig::reads(Lpn::range(1000..1018).collect(), 1228));
        assert_eq!(phases[2], PhaseConfig::reads([3, 4, 5, 9, 10, 11].map(Lpn::new).to_vec(), 12));
        assert_eq!(phases.len(), 4);
    }
}
