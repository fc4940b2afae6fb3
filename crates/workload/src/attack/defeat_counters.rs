//! # Defeat-counters
//! Attack that makes a Space-Saving table underestimate a victim's dose, then hammers the victim.
//!
//! A policy has a fixed number of counters per block. The attack chooses the same number of
//! wordlines and reads them evenly. The victim's neighbours are chosen, but never the victim. The
//! table then reports its smallest count as the number of reads of the victim. The policy subtracts
//! this count from the victim's dose, although the victim was never read. After the last check that
//! leaves the victim in place, the attack reads only the victim's neighbours until the next check.
//! Then the attack continues in the next block.
//!
//! - **Source:** the tracker of the reclaim technique straw-2024 (section III-B of its paper). The
//!   error of Space-Saving (Metwally et al., ICDT 2005) is at most the number of reads divided by
//!   the number of counters.
//! - **Breaks:** a policy that takes the table's estimates as upper bounds of a dose. The attack
//!   succeeds if the number of reads divided by the number of counters exceeds the policy's margin.
//!
//! ```text
//! 4 counters, limit 4,500, alpha 9, I = 10, 36 pages per block
//! reads            wordlines 1, 3, 6 and 9 evenly; victim 2 never
//! estimated dose   B (2 x 9 + 4 - 1 - 2) / 4 = 4.75 B after B reads
//! true dose        B (2 x 9 + 4 - 2) / 4 = 5 B
//! a check leaves   4,500 - 9 x (10 + 1) - (36 + 2 x 8 x 3) = 4,317; / 4.75 = 908 reads
//! reads made       900 up to that check, the last 6 beside the victim
//! true dose then   5 x 894 + 9 x 6 = 4,524, above the limit of 4,500; 10 more reads follow
//! ```

use super::{Knowledge, Target};
use crate::phases::PhaseConfig;

pub(super) fn phases(knowledge: &Knowledge) -> Vec<PhaseConfig> {
    let mut phases = vec![];
    for target in &knowledge.targets {
        let Some(victim) = knowledge.victim(target) else { continue };
        let tracked = tracked(knowledge, target, victim);
        let per_read = per_read(knowledge, target, victim, tracked.len());
        let Some(reads) = knowledge.up_to_the_last_check(target, victim, per_read) else {
            continue;
        };
        let pages = tracked.iter().filter_map(|w| knowledge.pages(target, *w).next()).collect();
        phases.push(PhaseConfig::reads(pages, reads.even));
        phases.push(PhaseConfig::reads(knowledge.pages_beside(target, victim), reads.neighbours));
    }
    phases
}

/// Chooses the wordlines to read, one for each counter of the table. The victim's neighbours are
/// chosen first. Wordlines that are far from all chosen wordlines come next. Among equally distant
/// wordlines, those with the strongest neighbours come first.
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

/// Returns the mean dose per read that the table estimates for the victim while the chosen
/// wordlines are read in turn.
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
    use vpass_drive::base::units::Lpn;

    #[test]
    fn a_full_table_without_the_victim_and_then_a_burst() {
        let phases = super::phases(&knowledge(2, 12, 2));
        // Wordlines 1 and 3 are neighbours of victim 2. Wordlines 6 and 9 have no chosen neighbour.
        assert_eq!(phases[0], PhaseConfig::reads([3, 9, 18, 27].map(Lpn::new).to_vec(), 894));
        assert_eq!(phases[1], PhaseConfig::reads([3, 4, 5, 9, 10, 11].map(Lpn::new).to_vec(), 16));
        assert_eq!(phases.len(), 4);
    }
}
