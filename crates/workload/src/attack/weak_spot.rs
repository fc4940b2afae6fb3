//! # Weak-spot
//! Attack that keeps reading a small area around the weakest wordline. The area reaches two
//! wordlines to each side. Reclaim moves the pages of this area together, so they still disturb
//! each other after the move.
//!
//! - **Source:** WSF, "weak-spot dwell" (POMACS 2026, arXiv 2608.14073).
//! - **Breaks:** no guarantee. The attack only makes a policy copy data as often as possible.
//!
//! ```text
//! weakest wordline 2 of 6: pages of wordlines 0 to 4 at random, 20 x 500 reads
//! ```

use super::Knowledge;
use crate::phases::{Order, PhaseConfig};

/// Number of reads that the attack makes, divided by the number of neighbour reads that the weakest
/// wordline endures. A policy must move the pages about this many times to keep the data.
const LIVES: f64 = 20.0;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let of_target = |target| {
        let victim = knowledge.victim(target)?;
        let stride = knowledge.neighbour_stride as usize;
        let around = (0..5)
            .filter_map(|i| (victim + i * stride).checked_sub(2 * stride))
            .filter(|w| *w < target.wordlines.len());
        let pages = around.flat_map(|w| knowledge.pages(target, w)).collect();
        let requests = (target.wordlines[victim].reads_beside() * LIVES) as u64 + 1;
        Some(PhaseConfig { order: Order::Random, ..PhaseConfig::reads(pages, requests) })
    };
    knowledge.targets.iter().find_map(of_target).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::units::Lpn;

    use super::super::knowledge::tests::knowledge;

    #[test]
    fn one_spot_and_its_surroundings() {
        let phases = super::phases(&knowledge(2, 6, 2));
        assert_eq!(phases.len(), 1);
        assert_eq!(
            (phases[0].pages.clone(), phases[0].requests),
            (Lpn::range(0..15).collect(), 10_001)
        );
        assert_eq!(
            super::phases(&knowledge(1, 6, 0))[0].pages,
            Lpn::range(0..9).collect::<Vec<_>>()
        );
    }
}
