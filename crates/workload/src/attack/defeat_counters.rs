//! # Defeat-counters
//! Reads as many wordlines evenly as a policy has counters for a block. The neighbours of a victim
//! are among them, and the victim is never read. A Space-Saving table then answers with its
//! smallest count when it is asked for the victim's own reads, and the policy subtracts that count
//! from the victim's dose. At the last look that leaves the victim where it is, its neighbours are
//! hammered until the next look. The same follows in the next block.
//!
//! - **Source:** the tracker of straw-2024 (III-B). The error of Space-Saving (Metwally et al.,
//!   ICDT 2005) is at most reads / counters.
//! - **Breaks:** a policy that takes the table's answers for upper bounds of a dose, where reads /
//!   counters is more than its margin.
//!
//! ```text
//! 4 counters, limit 4,500, alpha 9, I = 10, 36 pages a block: wordlines 1, 3, 6 and 9 evenly, victim 2 never
//! its estimate   B (2 x 9 + 4 - 1 - 2) / 4 = 4.75 B, in truth (2 x 9 + 4 - 2) / 4 = 5 B
//! a look leaves  4,500 - 9 x (10 + 1) - (36 + 2 x 8 x 3) = 4,317 / 4.75 = 908: 900 reads, the last 6 beside the victim
//! in truth       5 x 894 + 9 x 6 = 4,524, more than the limit; and 10 reads beside it follow until the next look
//! ```

use super::{Knowledge, Target};
use crate::phases::PhaseConfig;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let mut phases = vec![];
    for target in &knowledge.targets {
        let Some(victim) = knowledge.victim(target) else { continue };
        let tracked = tracked(knowledge, target, victim);
        let per_read = per_read(knowledge, target, victim, tracked.len());
        let Some(reads) = knowledge.up_to_the_last_look(target, victim, per_read) else { continue };
        let pages = tracked.iter().filter_map(|w| knowledge.pages(target, *w).next()).collect();
        phases.push(PhaseConfig::reads(pages, reads.even));
        phases
            .push(PhaseConfig::reads(knowledge.pages_beside(target, victim), reads.of_neighbours));
    }
    phases
}

/// The victim's neighbours, and others until the table is full: the strongest surroundings first,
/// none next to what is read already while that can be avoided.
fn tracked(knowledge: &Knowledge, target: &Target, victim: usize) -> Vec<usize> {
    let mut tracked: Vec<usize> =
        knowledge.neighbours(victim).filter(|w| knowledge.holds(target, *w)).collect();
    let surroundings = |w: usize| {
        knowledge
            .neighbours(w)
            .map(|n| target.wordlines[n].reads_beside())
            .fold(f64::INFINITY, f64::min)
    };
    let mut others: Vec<usize> = (0..target.wordlines.len())
        .filter(|w| *w != victim && knowledge.holds(target, *w))
        .collect();
    others.sort_by(|a, b| surroundings(*b).total_cmp(&surroundings(*a)));
    for apart in [2, 1, 0] {
        for w in &others {
            let near = |t: &usize| t.abs_diff(*w) <= apart * knowledge.neighbour_stride as usize;
            if tracked.len() < knowledge.counters as usize
                && !tracked.contains(w)
                && (apart == 0 || !tracked.iter().any(near))
            {
                tracked.push(*w);
            }
        }
    }
    tracked
}

/// Dose of the victim for each read of the tracked wordlines in turn, as the table sees it.
fn per_read(knowledge: &Knowledge, target: &Target, victim: usize, tracked: usize) -> f64 {
    let counters = tracked as f64;
    let beside =
        knowledge.neighbours(victim).filter(|w| knowledge.holds(target, *w)).count() as f64;
    (beside * target.wordlines[victim].assumed_alpha + counters - 1.0 - beside) / counters
}

#[cfg(test)]
mod tests {
    use super::super::knowledge::tests::knowledge;
    use crate::phases::PhaseConfig;
    use vpass_core::base::units::Lpn;

    #[test]
    fn a_full_table_without_the_victim_and_then_a_burst() {
        let phases = super::phases(&knowledge(2, 12, 2));
        // Wordlines 1 and 3 beside the victim 2; 6 and 9 are apart from them and from each other.
        assert_eq!(phases[0], PhaseConfig::reads([3, 9, 18, 27].map(Lpn::new).to_vec(), 894));
        assert_eq!(phases[1], PhaseConfig::reads([3, 4, 5, 9, 10, 11].map(Lpn::new).to_vec(), 16));
        assert_eq!(phases.len(), 4);
    }
}
