//! Makes new attacks by changing known attacks. A search for the strongest attack uses these new
//! attacks.
//!
//! A search begins with the known attacks ([`ATTACKS`]) on a few blocks, and with random attacks.
//! Then the search changes the best of these attacks. Every attack is a list of phases, so each
//! result of the search can be run as a workload.
//!
//! The changes are those that a clever attacker would try. The request count of a phase is
//! multiplied by a factor, changed by 1 or by the check interval, or rounded to a multiple of the
//! check interval. A new phase reads the wordlines around a victim, some wordlines of a block, a
//! whole block, or one page in each of several blocks. A few of the new phases write or trim pages
//! instead of reading them.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use vpass_drive::base::units::Lpn;
use vpass_workload::attack::{ATTACKS, Knowledge, Target};
use vpass_workload::phases::{Order, PhaseConfig, PhaseOp};

/// Number of blocks that a search attacks. With few blocks, a trial is short, and changing one
/// phase has a visible effect.
const BLOCKS: usize = 4;
/// Largest number of phases that an attack may have after changes.
const MOST_PHASES: usize = 48;
/// Largest number of phases of a random attack.
const RANDOM_PHASES: u64 = 6;
/// Largest number of changes made to an attack at once.
const MOST_CHANGES: u64 = 4;

/// Generator of attacks on one drive. The same seed gives the same attacks.
pub(crate) struct Breeder {
    knowledge: Knowledge,
    random: Xoshiro256PlusPlus,
}

impl Breeder {
    /// Makes a generator of attacks on the weakest blocks of a drive.
    pub(crate) fn new(mut knowledge: Knowledge, seed: u64) -> Self {
        knowledge.targets.truncate(BLOCKS);
        Self { knowledge, random: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }

    /// Returns the number of requests in a trial of an attack. The number is 2 x L for each
    /// attacked block. L is the lowest limit of a wordline.
    pub(crate) fn requests(&self) -> u64 {
        let limits =
            self.knowledge.targets.iter().flat_map(|t| t.wordlines.iter().map(|w| w.limit));
        (2.0 * self.knowledge.targets.len() as f64 * limits.fold(f64::INFINITY, f64::min)) as u64
            + 1
    }

    /// Returns the phases of each known attack.
    pub(crate) fn known(&self) -> Vec<Vec<PhaseConfig>> {
        ATTACKS
            .iter()
            .map(|attack| (attack.phases)(&self.knowledge))
            .filter(|phases| !phases.is_empty())
            .collect()
    }

    /// Makes a random attack.
    pub(crate) fn random(&mut self) -> Vec<PhaseConfig> {
        let phases = 1 + self.below(RANDOM_PHASES);
        (0..phases).map(|_| self.phase()).collect()
    }

    /// Returns a changed copy of an attack.
    pub(crate) fn changed(&mut self, phases: &[PhaseConfig]) -> Vec<PhaseConfig> {
        let mut phases = phases.to_vec();
        for _ in 0..=self.below(MOST_CHANGES) {
            self.change(&mut phases);
        }
        phases
    }

    fn change(&mut self, phases: &mut Vec<PhaseConfig>) {
        let at = self.index(phases.len());
        match self.below(12) {
            0 if phases.len() < MOST_PHASES => phases.insert(at, self.phase()),
            1 if phases.len() < MOST_PHASES => {
                let to = self.index(phases.len() + 1);
                phases.insert(to, phases[at].clone());
            }
            2 if phases.len() > 1 => {
                phases.remove(at);
            }
            3 => {
                let other = self.index(phases.len());
                phases.swap(at, other);
            }
            4 => phases[at] = self.phase(),
            5 => {
                let order = if phases[at].order == Order::Random {
                    Order::RoundRobin
                } else {
                    Order::Random
                };
                phases[at].order = order;
            }
            6 => self.change_pages(&mut phases[at].pages),
            _ => self.change_requests(phases, at),
        }
    }

    /// Changes the request count of a phase. In half of all cases, other phases with the same count
    /// get the same change.
    fn change_requests(&mut self, phases: &mut [PhaseConfig], at: usize) {
        let before = phases[at].requests;
        let interval = u64::from(self.knowledge.check_interval);
        let after = match self.below(8) {
            0 => before + 1,
            1 => before - 1,
            2 => before + interval,
            3 => before.saturating_sub(interval),
            4 => before.next_multiple_of(interval),
            5 => before / interval * interval,
            _ => (before as f64 * (0.5 + 1.5 * self.unit())) as u64,
        };
        let all = self.random.next_u64().is_multiple_of(2);
        for (i, phase) in phases.iter_mut().enumerate() {
            if i == at || all && phase.requests == before {
                phase.requests = after.max(1);
            }
        }
    }

    /// Adds one page to a list of pages, or removes one page from the list.
    fn change_pages(&mut self, pages: &mut Vec<Lpn>) {
        if pages.len() > 1 && self.random.next_u64().is_multiple_of(2) {
            pages.remove(self.index(pages.len()));
            return;
        }
        let target = self.index(self.knowledge.targets.len());
        let wordline = self.index(self.knowledge.targets[target].wordlines.len());
        let of_wordline: Vec<Lpn> =
            self.knowledge.pages(&self.knowledge.targets[target], wordline).collect();
        let place = self.index(pages.len() + 1);
        if let Some(page) = of_wordline.first() {
            pages.insert(place, *page);
        }
    }

    /// Makes a random phase.
    fn phase(&mut self) -> PhaseConfig {
        let at = self.index(self.knowledge.targets.len());
        // A copy of the target is used, because the code below borrows `self` to draw random
        // numbers.
        let target = self.knowledge.targets[at].clone();
        let victim = self.victim(&target);
        let reads_beside = target.wordlines[victim].reads_beside();
        let interval = u64::from(self.knowledge.check_interval);
        let part = |unit: f64, of: f64| (unit * of) as u64 + 1;
        let kind = self.below(16);
        let (pages, requests) = match kind {
            0..=3 => (
                self.knowledge.pages_beside(&target, victim),
                part(1.2 * self.unit(), reads_beside),
            ),
            4..=6 => (self.knowledge.pages_beside(&target, victim), interval * (1 + self.below(3))),
            7..=9 => (
                self.some_wordlines(&target, victim),
                part(self.unit(), target.wordlines[victim].limit),
            ),
            10 | 11 => (
                target.pages.iter().copied().flatten().collect(),
                part(self.unit(), target.wordlines[victim].limit),
            ),
            12 | 13 => {
                let beside = |t: &Target| {
                    self.knowledge
                        .victim(t)
                        .and_then(|v| self.knowledge.pages_beside(t, v).first().copied())
                };
                let pages: Vec<Lpn> = self.knowledge.targets.iter().filter_map(beside).collect();
                let blocks = pages.len() as f64;
                (pages, part(self.unit(), reads_beside * blocks))
            }
            _ => (self.some_wordlines(&target, victim), 1 + self.below(200)),
        };
        // Writes in the start-up state may have invalidated all pages of the neighbours. In this
        // case, the phase uses one other page of the block.
        let pages = if pages.is_empty() {
            target.pages.iter().copied().flatten().take(1).collect()
        } else {
            pages
        };
        let op = match kind {
            14 => PhaseOp::Write,
            15 => PhaseOp::Trim,
            _ => PhaseOp::Read,
        };
        PhaseConfig { op, ..PhaseConfig::reads(pages, requests) }
    }

    /// Chooses a wordline. In three of four cases, this is the weakest wordline with data. In all
    /// other cases, the wordline is random.
    fn victim(&mut self, target: &Target) -> usize {
        let any = self.index(target.wordlines.len());
        let weakest = self.knowledge.victim(target);
        weakest.filter(|_| !self.random.next_u64().is_multiple_of(4)).unwrap_or(any)
    }

    /// Chooses some wordlines of a block, and returns one page of each chosen wordline. The number
    /// of chosen wordlines is near the number of wordline counters that the policy has per block.
    /// The neighbours of the victim are chosen first. The victim itself is never chosen.
    fn some_wordlines(&mut self, target: &Target, victim: usize) -> Vec<Lpn> {
        let wordlines = target.wordlines.len();
        let about = (f64::from(self.knowledge.counters) * (0.5 + self.unit())) as usize;
        let mut chosen: Vec<usize> = self.knowledge.neighbours(victim).collect();
        for _ in chosen.len()..about.min(wordlines / 2) {
            let wordline = self.index(wordlines);
            if wordline != victim && !chosen.contains(&wordline) {
                chosen.push(wordline);
            }
        }
        chosen.into_iter().filter_map(|w| self.knowledge.pages(target, w).next()).collect()
    }

    fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// Draws a number from 0 to `count - 1`. The bias is below `count / 2^64`.
    fn below(&mut self, count: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(count)) >> 64) as u64
    }

    fn unit(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use vpass_workload::phases::{PhasesConfig, PhasesSource};

    use super::*;
    use crate::search::Victim;

    #[test]
    fn bred_attacks_run_on_the_drive_and_repeat_by_seed() {
        let victim = Victim::new("tiny", &[], "block", 1).unwrap();
        let mut knowledge = victim.knowledge().unwrap();
        let breed = |seed| {
            let mut breeder = Breeder::new(knowledge.clone(), seed);
            let mut all = breeder.known();
            assert_eq!(all.len(), ATTACKS.len());
            all.extend((0..50).map(|_| breeder.random()));
            for i in 0..2000 {
                let changed = breeder.changed(&all[i % all.len()]);
                all.push(changed);
            }
            all
        };
        let all = breed(1);
        assert_eq!(all, breed(1));
        assert_ne!(all, breed(2));
        let bytes = u64::from(knowledge.host_pages) * 4096;
        for phases in &all {
            let config = PhasesConfig { phase: phases.clone(), ..PhasesConfig::default() };
            assert!(PhasesSource::new(&config, bytes, 4096, 1).is_ok(), "{phases:?}");
        }
        let ops = |op| all.iter().flatten().filter(|p| p.op == op).count();
        assert!(
            ops(PhaseOp::Write) > 100
                && ops(PhaseOp::Trim) > 100
                && all.iter().all(|a| a.len() <= MOST_PHASES)
        );
        // Each of the four blocks has a limit of 4,500 reads, and a trial has twice the sum.
        knowledge.targets.iter_mut().flat_map(|t| &mut t.wordlines).for_each(|w| w.limit = 9000.0);
        knowledge.targets[0].wordlines[2].limit = 4500.0;
        assert_eq!(Breeder::new(knowledge, 1).requests(), 36_001);
    }
}
