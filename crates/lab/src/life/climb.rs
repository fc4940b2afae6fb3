//! Climb up the ladder of lives, one rung after another. Each rung sets the acceleration of wear,
//! and how many lives are simulated. The climb ends when the intervals of all techniques are as
//! narrow as the user wants.
//!
//! All techniques climb together, so their years are compared on the same rung. Lives that were
//! simulated for a lower rung are used again, so only missing lives are simulated. With `--rung`,
//! vpass simulates the given rung and a lower rung for comparison.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use super::interval::{Interval, Pair};
use super::ladder::{LADDER, Next, Rung, Standing, Wanted};
use super::{Deadline, Lived, OneLife, accelerated_loss, held};
use crate::failure::Failure;
use crate::plan::{FEWEST_PAGES, RunPlan};

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
    /// Precision that the user wants, and time that the climb may take.
    pub wanted: Wanted,
    /// Number of seeds that the user set. The number of lives on each rung is multiplied by this
    /// number.
    pub seeds: u32,
    /// Number of samples that the user set. If absent, the rung determines the number of samples.
    pub samples: Option<u32>,
    /// Number of threads for the lives.
    pub threads: usize,
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
    /// Whether the lives belong to a rung. On a rung, acceleration affects the years.
    pub is_on_rung: bool,
    /// Interval of the years. `None` if the rung is not compared with a lower rung.
    pub interval: Option<Interval>,
}

/// Outcome of a climb, with the answers for all techniques.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// Rung on which the answers were found. `None` if even the first rung took too long.
    pub rung: Option<Rung>,
    /// Answer of each technique.
    pub answers: Vec<Answer>,
    /// Reason why the climb ended. `None` if the user chose the rung.
    pub end: Option<Next>,
}

/// Function that simulates the given lives. The function returns `None` if the deadline passes
/// before the lives are finished.
pub type Live<'a> =
    &'a mut dyn FnMut(&[OneLife], Deadline) -> Result<Option<Vec<Result<Lived, Failure>>>, Failure>;

/// Life that the climb has already simulated.
struct Known {
    contender: usize,
    seed: u64,
    residue: u32,
    acceleration: NonZeroU32,
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
        let began = Instant::now();
        let mut known: Vec<Known> = vec![];
        if let Some(rung) = self.rung {
            for rung in rung.coarser().into_iter().chain([rung]) {
                self.ascend(rung, contenders, &mut known, live, None)?;
            }
            return Ok(Climbed {
                rung: Some(rung),
                answers: self.answers(rung, contenders, &known),
                end: None,
            });
        }
        let mut rung = LADDER[0];
        // Only the first rung has a deadline. For every other rung, the climb first estimates how
        // long the rung takes.
        let mut deadline =
            self.wanted.seconds.map(|seconds| began + Duration::from_secs_f64(seconds));
        loop {
            let begins = Instant::now();
            let Some(cycles) = self.ascend(rung, contenders, &mut known, live, deadline.take())?
            else {
                return Ok(Climbed {
                    rung: None,
                    answers: vec![],
                    end: Some(Next::OutOfTime(f64::INFINITY)),
                });
            };
            let pace = Pace { seconds: begins.elapsed().as_secs_f64(), cycles };
            let answers = self.answers(rung, contenders, &known);
            let standing = Standing {
                half: widest(&answers),
                elapsed: began.elapsed().as_secs_f64(),
                next_takes: rung
                    .above()
                    .map_or(0.0, |above| pace.seconds_of(self.ahead(above, contenders, &known))),
            };
            let next = rung.next(self.wanted, standing);
            let climbed = Climbed { rung: Some(rung), answers, end: Some(next) };
            let Next::Climb(above) = next else { return Ok(climbed) };
            told(&climbed);
            rung = above;
        }
    }

    /// Simulates the missing lives of a rung. Returns the mean number of P/E cycles that a thread
    /// simulated. Returns `None` if the deadline passes before the lives are finished.
    fn ascend(
        &self,
        rung: Rung,
        contenders: &[Contender],
        known: &mut Vec<Known>,
        live: Live,
        deadline: Deadline,
    ) -> Result<Option<f64>, Failure> {
        let missing = self.missing(rung, contenders, known);
        let asked: Vec<_> = missing
            .iter()
            .map(|(_, plan)| OneLife { plan, acceleration: rung.acceleration })
            .collect();
        let Some(lived) = live(&asked, deadline)? else { return Ok(None) };
        let cycles = lived.iter().flatten().map(simulated).sum::<f64>();
        for ((contender, plan), lived) in missing.iter().zip(lived) {
            let (seed, residue) = (plan.seed, plan.sample.residue);
            known.push(Known {
                contender: *contender,
                seed,
                residue,
                acceleration: rung.acceleration,
                lived,
            });
        }
        Ok(Some(cycles / self.threads.clamp(1, asked.len().max(1)) as f64))
    }

    /// Returns the expected number of P/E cycles that each thread must simulate for a rung.
    fn ahead(&self, rung: Rung, contenders: &[Contender], known: &[Known]) -> f64 {
        let missing = self.missing(rung, contenders, known);
        let of = |contender: usize| {
            let like =
                known.iter().find(|other| other.contender == contender && other.lived.is_ok());
            like.and_then(|other| other.lived.as_ref().ok())
                .map_or(0.0, |lived| simulated_at(lived, rung.acceleration))
        };
        let all = missing.iter().map(|(contender, _)| of(*contender)).sum::<f64>();
        let threads = self.threads.clamp(1, missing.len().max(1));
        // Some threads are idle while the last lives are simulated.
        let turns = missing.len().div_ceil(threads) as f64;
        if missing.is_empty() { 0.0 } else { all / missing.len() as f64 * turns }
    }

    /// Returns the plans of those lives of a rung that must still be simulated. A life that ended
    /// during the warm-up is valid for every acceleration.
    fn missing(
        &self,
        rung: Rung,
        contenders: &[Contender],
        known: &[Known],
    ) -> Vec<(usize, RunPlan)> {
        let plans = |(at, contender): (usize, &Contender)| -> Vec<(usize, RunPlan)> {
            let failed = known.iter().any(|other| other.contender == at && other.lived.is_err());
            let plans = if failed { vec![] } else { self.plans(rung, contender) };
            plans.into_iter().map(|plan| (at, plan)).collect()
        };
        let all = contenders.iter().enumerate().flat_map(plans);
        all.filter(|(at, plan)| find(known, *at, plan, rung.acceleration).is_none()).collect()
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
            let at_rung = |plan: &RunPlan, rung: Rung| find(known, at, plan, rung.acceleration);
            let pairs: Vec<Pair> = answer
                .plans
                .iter()
                .filter_map(|plan| {
                    let coarse = rung.coarser().and_then(|coarser| at_rung(plan, coarser));
                    at_rung(plan, rung).map(|fine| Pair {
                        fine,
                        coarse,
                        factor: held::factor(plan, fine),
                    })
                })
                .collect();
            let lived = pairs.iter().map(|pair| pair.fine.clone()).collect();
            let factors = pairs.iter().map(|pair| pair.factor).collect();
            Answer { lived: Ok(lived), factors, interval: self.interval(&pairs), ..answer }
        };
        contenders.iter().enumerate().map(of).collect()
    }

    fn interval(&self, pairs: &[Pair]) -> Option<Interval> {
        let interval = Interval::of(pairs)?;
        let few = self.touched.is_some_and(|touched| touched * (pairs.len() as u64) < FEWEST_PAGES);
        Some(Interval { is_range: few, ..interval })
    }
}

/// Time that the simulation of a rung took, and number of simulated P/E cycles.
struct Pace {
    seconds: f64,
    cycles: f64,
}

impl Pace {
    fn seconds_of(&self, cycles: f64) -> f64 {
        if self.cycles > 0.0 { self.seconds / self.cycles * cycles } else { 0.0 }
    }
}

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
    acceleration: NonZeroU32,
) -> Option<&'a Lived> {
    let is_it = |other: &&Known| {
        other.contender == contender
            && other.seed == plan.seed
            && other.residue == plan.sample.residue
    };
    let lives = known
        .iter()
        .filter(is_it)
        .filter_map(|other| Some((other.acceleration, other.lived.as_ref().ok()?)));
    let mut same = lives.filter(|(at, lived)| {
        *at == acceleration || at.get() > 1 && lived.accelerated_from.is_none()
    });
    same.next().map(|(_, lived)| lived)
}

/// Returns the number of P/E cycles of the mean block that were simulated for a life. An
/// accelerated erase is counted as one cycle.
fn simulated(lived: &Lived) -> f64 {
    simulated_at(lived, lived.acceleration)
}

/// Returns the number of P/E cycles of the mean block that must be simulated for a life like
/// `lived`, but with the given acceleration.
fn simulated_at(lived: &Lived, acceleration: NonZeroU32) -> f64 {
    let from = lived.accelerated_from.unwrap_or(lived.pec_mean);
    from - lived.pec_first + (lived.pec_mean - from) / f64::from(acceleration.get())
}

/// Returns half the width of the widest interval, as a share of the years. Returns `None` if a
/// needed interval is missing.
fn widest(answers: &[Answer]) -> Option<f64> {
    let mut widest = 0.0f64;
    for answer in answers {
        let Ok(lived) = &answer.lived else { continue };
        let mut both = answer.plans.iter().zip(lived);
        if both.any(|(plan, lived)| accelerated_loss::of(plan, lived).is_some()) {
            return None;
        }
        // If a life lost data, its years do not count and need no interval.
        let needs_none = lived.iter().all(|lived| lived.end == super::End::LivesOn)
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
