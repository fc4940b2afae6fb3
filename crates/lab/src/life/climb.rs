//! Climb up the ladder of lives. Each rung sets the windows of the lives, and how many lives are
//! simulated. The climb ends when the intervals of all techniques are as narrow as the user wants.
//!
//! All techniques climb together, so their years are compared on the same rung. Lives that were
//! simulated for a lower rung are used again, so only missing lives are simulated. With `--rung`,
//! vpass simulates only the given rung.
//!
//! The work of a climb is counted in page programs, not in seconds. So the same command climbs to
//! the same rung on any machine.

use super::interval::{Interval, Scaled};
use super::ladder::{LADDER, Next, Rung, Standing, Wanted};
use super::windows::Windows;
use super::{End, Lived, OneLife, held};
use crate::failure::Failure;
use crate::plan::{FEWEST_PAGES, RunPlan};
use crate::setup::Gear;

/// Combination of techniques that takes part in a climb.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Label in the table.
    pub label: String,
    /// Plan of the first life, which has the first seed and the first sample of the drive.
    pub plan: RunPlan,
}

/// Settings of a climb, as the user gave them.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    /// Rung that the user chose. If absent, the climb starts at the lowest rung.
    pub rung: Option<Rung>,
    /// Precision that the user wants, and work that the climb may take.
    pub wanted: Wanted,
    /// Number of seeds that the user set. The number of lives on each rung is multiplied by this
    /// number.
    pub seeds: u32,
    /// Number of samples that the user set. If absent, the rung determines the number of samples.
    pub samples: Option<u32>,
    /// Number of pages that the workload touches in all samples together. `None` if whole drives
    /// are simulated.
    pub touched: Option<u64>,
}

/// Result of a climb for one technique.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Label in the table.
    pub label: String,
    /// Plans of the technique's lives.
    pub plans: Vec<RunPlan>,
    /// Lives of the technique, or the reason why the drive was refused or stopped.
    pub lived: Result<Vec<Lived>, Failure>,
    /// Factors, one for each life, that convert the years of a sample to years of the drive. A
    /// factor is 1 if the lives are not on a rung, or if the sample serves the expected number of
    /// reads.
    pub factors: Vec<f64>,
    /// Whether the lives belong to a rung.
    pub is_on_rung: bool,
    /// Interval of the years. `None` if wear had not settled, or if a life did not end.
    pub interval: Option<Interval>,
}

/// Outcome of a climb, with the answers for all techniques.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// Rung on which the answers were found. `None` outside the ladder.
    pub rung: Option<Rung>,
    /// Answer of each technique.
    pub answers: Vec<Answer>,
    /// Reason why the climb ended. `None` if the user chose the rung.
    pub end: Option<Next>,
}

/// Function that simulates the given lives.
pub type Live<'a> = &'a mut dyn FnMut(&[OneLife]) -> Result<Vec<Result<Lived, Failure>>, Failure>;

/// Life that the climb has already simulated.
struct Known {
    contender: usize,
    seed: u64,
    residue: u32,
    windows: Option<Windows>,
    lived: Result<Lived, Failure>,
}

impl Climb {
    /// Climbs the ladder. After each rung except the last, passes the answers so far to `told`.
    ///
    /// # Errors
    /// Returns an error if the user interrupts the climb, or if `live` returns an error.
    pub fn go(
        &self,
        contenders: &[Contender],
        live: Live,
        told: &mut dyn FnMut(&Climbed),
    ) -> Result<Climbed, Failure> {
        let mut known: Vec<Known> = vec![];
        if let Some(rung) = self.rung {
            self.ascend(rung, contenders, &mut known, live, None)?;
            let answers = self.answers(rung, contenders, &known);
            return Ok(Climbed { rung: Some(rung), answers, end: None });
        }
        let mut rung = LADDER[0];
        let mut left = self.wanted.work;
        loop {
            let work = self.ascend(rung, contenders, &mut known, live, left)?;
            left = left.map(|left| left.saturating_sub(work));
            let answers = self.answers(rung, contenders, &known);
            let lived = || answers.iter().filter_map(|answer| answer.lived.as_ref().ok()).flatten();
            let next = rung.next(
                self.wanted,
                Standing {
                    half: widest(&answers),
                    has_settled: lived().all(|lived| lived.has_settled),
                    left,
                    work_of: &|rung| self.work_ahead(rung, contenders, &known),
                },
            );
            let climbed = Climbed { rung: Some(rung), answers, end: Some(next) };
            let Next::Climb(above) = next else { return Ok(climbed) };
            told(&climbed);
            rung = above;
        }
    }

    /// Simulates the missing lives of a rung, and returns their work. Each life may take an equal
    /// part of the work that is left.
    fn ascend(
        &self,
        rung: Rung,
        contenders: &[Contender],
        known: &mut Vec<Known>,
        live: Live,
        left: Option<u64>,
    ) -> Result<u64, Failure> {
        let missing = self.missing(rung, contenders, known);
        let most_work = left.map(|left| left / missing.len().max(1) as u64);
        let asked: Vec<_> = missing
            .iter()
            .map(|(_, plan)| OneLife { plan, windows: rung.windows, most_work })
            .collect();
        let lived = live(&asked)?;
        let work = lived.iter().flatten().map(|lived| lived.work).sum();
        for ((contender, plan), lived) in missing.iter().zip(lived) {
            let (seed, residue, windows) = (plan.seed, plan.sample.residue, rung.windows);
            known.push(Known { contender: *contender, seed, residue, windows, lived });
        }
        Ok(work)
    }

    /// Returns the expected work of the missing lives of a rung.
    fn work_ahead(&self, rung: Rung, contenders: &[Contender], known: &[Known]) -> f64 {
        let of = |(contender, plan): &(usize, RunPlan)| {
            let like = known.iter().filter(|other| other.contender == *contender);
            like.filter_map(|other| other.lived.as_ref().ok())
                .map(|lived| work_at(rung, plan, lived))
                .next_back()
                .unwrap_or(0.0)
        };
        self.missing(rung, contenders, known).iter().map(of).sum()
    }

    /// Returns the plans of those lives of a rung that must still be simulated. A life that ended
    /// before its windows began is valid for all rungs.
    fn missing(
        &self,
        rung: Rung,
        contenders: &[Contender],
        known: &[Known],
    ) -> Vec<(usize, RunPlan)> {
        let plans = |(at, contender): (usize, &Contender)| -> Vec<(usize, RunPlan)> {
            let failed = known.iter().any(|other| other.contender == at && other.lived.is_err());
            let plans = if failed { vec![] } else { self.plans(rung, contender) };
            let like = known.iter().find(|other| other.contender == at);
            let lived = like.and_then(|other| other.lived.as_ref().ok());
            plans.into_iter().map(|plan| (at, in_best_gear(rung, plan, lived))).collect()
        };
        let all = contenders.iter().enumerate().flat_map(plans);
        all.filter(|(at, plan)| find(known, *at, plan, rung.windows).is_none()).collect()
    }

    /// Returns the plans of a technique on a rung. The plans of all samples with the first seed
    /// come first, followed by the plans with further seeds.
    fn plans(&self, rung: Rung, contender: &Contender) -> Vec<RunPlan> {
        let of = contender.plan.sample.of;
        let samples = self.samples.unwrap_or_else(|| samples_of(rung.lives, of));
        let seeds =
            if self.samples.is_some() { self.seeds } else { self.seeds * rung.lives / samples };
        let residues = (0..samples).map(|n| n * (of / samples));
        let of_seed = |seed: u32| {
            let seed = contender.plan.seed.wrapping_add(seed.into());
            residues
                .clone()
                .map(move |residue| RunPlan { seed, ..contender.plan.clone() }.of_residue(residue))
        };
        (0..seeds).flat_map(of_seed).collect()
    }

    fn answers(&self, rung: Rung, contenders: &[Contender], known: &[Known]) -> Vec<Answer> {
        let of = |(at, contender): (usize, &Contender)| {
            let plans = self.plans(rung, contender);
            let failed = known.iter().find(|other| other.contender == at && other.lived.is_err());
            let answer = Answer {
                label: contender.label.clone(),
                plans,
                lived: Ok(vec![]),
                factors: vec![],
                is_on_rung: true,
                interval: None,
            };
            if let Some(failure) = failed.and_then(|other| other.lived.as_ref().err()) {
                return Answer { lived: Err(failure.clone()), ..answer };
            }
            let scaled: Vec<Scaled> = answer
                .plans
                .iter()
                .filter_map(|plan| {
                    let lived = find(known, at, plan, rung.windows)?;
                    Some(Scaled { lived, factor: held::factor(plan, lived) })
                })
                .collect();
            let lived = scaled.iter().map(|life| life.lived.clone()).collect();
            let factors = scaled.iter().map(|life| life.factor).collect();
            let has_similar = answer.plans.iter().any(RunPlan::has_similar_pages);
            let interval = self.interval(&scaled, has_similar);
            Answer { lived: Ok(lived), factors, interval, ..answer }
        };
        contenders.iter().enumerate().map(of).collect()
    }

    fn interval(&self, lives: &[Scaled], has_similar: bool) -> Option<Interval> {
        let interval = Interval::of(lives, has_similar)?;
        let few = self.touched.is_some_and(|touched| touched * (lives.len() as u64) < FEWEST_PAGES);
        Some(Interval { is_range: few, ..interval })
    }
}

/// Returns the expected work of a life on a rung. `lived` is a life of the same technique.
fn work_at(rung: Rung, plan: &RunPlan, lived: &Lived) -> f64 {
    let of_cycle = lived.work as f64 / lived.simulated.max(1e-9);
    let single_reads = if plan.is_fluid() { 0.0 } else { reads_of_program(lived) / 4.0 };
    let rated = f64::from(plan.drive.config.drive.rated_pec);
    let warm_up = |most: u32| match lived.windows_from {
        Some(from) if lived.has_settled => from - lived.pec_first,
        _ => f64::from(most),
    };
    let cycles = rung
        .windows
        .map_or(rated, |windows| warm_up(windows.most_warm) + windows.simulated())
        .min(rated - lived.pec_first);
    of_cycle * cycles * (1.0 + single_reads)
}

/// Returns the number of pages that the host reads per programmed page.
fn reads_of_program(lived: &Lived) -> f64 {
    lived.host.read_pages as f64 / lived.programs.sum().max(1) as f64
}

/// Returns the plan of a life in the gear that takes less work. If every cycle of a whole drive is
/// simulated, and the host reads few pages per programmed page, single requests take less work than
/// rates of reads. `lived` is a life of the same technique.
fn in_best_gear(rung: Rung, plan: RunPlan, lived: Option<&Lived>) -> RunPlan {
    let reads_little = lived.is_some_and(|lived| reads_of_program(lived) < FEW_READS);
    if rung.windows.is_none() && plan.sample.is_whole() && reads_little {
        return RunPlan { gear: Gear::Untimed, ..plan };
    }
    plan
}

/// Largest number of page reads per programmed page for which the untimed gear takes less work than
/// the fluid gear. At 5 reads on `tiny`, a life takes 45 s in the untimed gear, and 70 s in the
/// fluid gear.
const FEW_READS: f64 = 8.0;

/// Returns how many samples a rung with `lives` lives has. A sample has one page in `of`. The
/// result is a power of two, so the samples of lower rungs are used again on higher rungs.
fn samples_of(lives: u32, of: u32) -> u32 {
    let mut samples = 1;
    while samples * 2 <= lives && samples * 2 <= of && of.is_multiple_of(samples * 2) {
        samples *= 2;
    }
    samples
}

fn find<'a>(
    known: &'a [Known],
    contender: usize,
    plan: &RunPlan,
    windows: Option<Windows>,
) -> Option<&'a Lived> {
    let is_it = |other: &&Known| {
        other.contender == contender
            && other.seed == plan.seed
            && other.residue == plan.sample.residue
    };
    let lives = known
        .iter()
        .filter(is_it)
        .filter_map(|other| Some((other.windows, other.lived.as_ref().ok()?)));
    // A life that ended before its windows began is exact.
    let is_exact = |lived: &Lived| lived.windows_from.is_none() && lived.end != End::OutOfWork;
    let mut same = lives.filter(|(of, lived)| *of == windows || is_exact(lived));
    same.next_back().map(|(_, lived)| lived)
}

/// Returns half the width of the widest interval, as a share of the years. Returns `None` if a
/// needed interval is missing.
fn widest(answers: &[Answer]) -> Option<f64> {
    let mut widest = 0.0f64;
    for answer in answers {
        let Ok(lived) = &answer.lived else { continue };
        // If a life lost data, its years do not count and need no interval.
        let needs_none = lived.iter().all(|lived| lived.end == End::LivesOn)
            || lived.iter().any(|lived| lived.data_lost_pages > 0);
        if needs_none {
            continue;
        }
        let interval = answer.interval?;
        widest = widest.max(interval.half() / f64::midpoint(interval.low, interval.high));
    }
    Some(widest)
}

#[cfg(test)]
mod tests;
