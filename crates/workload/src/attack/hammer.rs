//! # Hammer
//! Attack that reads the two neighbours of the weakest wordline of a block. The attack goes on
//! until the wordline has lost its data, or until the policy has moved this data. Then the attack
//! reads the weakest wordline once and continues with the next block.
//!
//! - **Source:** the worst access pattern in the paper on straw-2024 (Fig. 2, "PA").
//! - **Breaks:** a drive without reclaim, and every policy that allows more than `limit / alpha`
//!   reads of a block.
//!
//! ```text
//! limit 4,500, alpha 9: 4,500 / 9 = 500 reads reach the limit; 511 are made, in turn on the six
//! pages beside the wordline
//! ```

use super::Knowledge;
use crate::phases::PhaseConfig;

/// Number of reads that the attack makes, divided by the number of reads that bring the wordline to
/// its limit. The attack makes one more read, because the number is rounded down.
const BEYOND: f64 = 1.02;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let mut phases = vec![];
    for target in &knowledge.targets {
        let Some(victim) = knowledge.victim(target) else { continue };
        let reads = (target.wordlines[victim].reads_beside() * BEYOND) as u64 + 1;
        phases.push(PhaseConfig::reads(knowledge.pages_beside(target, victim), reads));
        phases.push(PhaseConfig::reads(knowledge.pages(target, victim).take(1).collect(), 1));
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::super::knowledge::tests::knowledge;
    use crate::phases::PhaseConfig;
    use vpass_drive::base::units::Lpn;

    #[test]
    fn beside_the_weakest_wordline_of_each_block() {
        let phases = super::phases(&knowledge(2, 6, 2));
        assert_eq!(phases[0], PhaseConfig::reads([3, 4, 5, 9, 10, 11].map(Lpn::new).to_vec(), 511));
        assert_eq!(phases[1], PhaseConfig::reads(vec![Lpn::new(6)], 1));
        assert_eq!(
            phases[2],
            PhaseConfig::reads([1003, 1004, 1005, 1009, 1010, 1011].map(Lpn::new).to_vec(), 511)
        );
        assert_eq!(phases.len(), 4);
    }
}
