//! Climb up the ladder of lives, one rung after another. A rung is one acceleration of wear and one
//! number of lives. The climb ends when the intervals of all techniques are as narrow as wanted.
//!
//! All techniques climb together, so their years are compared on the same rung. A rung keeps the
//! lives of the rungs below and simulates only the missing lives. With `--rung`, vpass simulates
//! the given rung and the rung that it is compared with.

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
    /// Plan of the life with the first seed and the first sample.
    pub plan: RunPlan,
}

/// Start and aim of a climb, as the user set them.
#[derive(Clone, Copy, Debug)]
pub struct Climb {
    /// Rung that the user chose; if absent, the results choose the rung.
    pub rung: Option<Rung>,
    /// Wanted precision and time.
    pub wanted: Wanted,
    /// Number of seeds that the user set. It multiplies the number of lives on a rung.
    pub seeds: u32,
    /// Number of samples that the user set; if absent, the rung decides.
    pub samples: Option<u32>,
    /// Number of threads for the lives.
    pub threads: usize,
    /// Number of pages that the workload touches in all samples together; `None` for whole drives.
    pub touched: Option<u64>,
}

/// Result of a climb for one technique.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Label in the table.
    pub label: String,
    /// Plans of the technique's lives.
    pub plans: Vec<RunPlan>,
    /// Lives of the technique, or the reason why its drive was refused or stopped.
    pub lived: Result<Vec<Lived>, Failure>,
    /// Factor of each life: years of the drive per year of the life. The factor is 1, except on a
    /// rung, where samples may have more or fewer reads than their share.
    pub factors: Vec<f64>,
    /// Whether the lives belong to a rung, so that acceleration affects their years.
    pub is_on_rung: bool,
    /// Interval of the years; `None` if the rung is not compared with another rung.
    pub interval: Option<Interval>,
}

/// End of a climb, with its answers.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// Rung of the answers; `None` if even the first rung was too slow.
    pub rung: Option<Rung>,
    /// Answer of each technique.
    pub answers: Vec<Answer>,
    /// Reason why the climb ended; `None` for a fixed rung.
    pub end: Option<Next>,
}

/// Function that simulates the given lives. It returns `None` if the deadline comes first.
pub type Live<'a> =
    &'a mut dyn FnMut(&[OneLife], Deadline) -> Result<Option<Vec<Result<Lived, Failure>>>, Failure>;

/// Life that the climb has simulated.
struct Known {
    contender: usize,
    seed: u64,
    residue: u32,
    acceleration: NonZeroU32,
    lived: Result<Lived, Failure>,
}

impl Climb {
    /// Climbs the ladder. Reports each finished rung, except the last one, to `told`.
    ///
    /// # Errors
    /// Returns an interruption, or a failure of the machine.
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
        // Only the first rung needs a deadline. The climb estimates the time of every other rung
        // before that rung begins.
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

    /// Simulates the missing lives of a rung. Returns the number of cycles that each thread
    /// simulated, or `None` if the deadline came first.
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

    /// Returns the number of cycles that each thread has to simulate for a rung.
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
        // Some threads are idle during the last lives.
        let turns = missing.len().div_ceil(threads) as f64;
        if missing.is_empty() { 0.0 } else { all / missing.len() as f64 * turns }
    }

    /// Returns the missing lives of a rung. A life that ended in its warm-up is valid for every
    /// acceleration.
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

    /// Returns the plans of a technique on a rung. All samples of the drive come first, then
    /// further seeds.
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

/// Time of the simulation so far, and number of P/E cycles that it simulated.
struct Pace {
    seconds: f64,
    cycles: f64,
}

impl Pace {
    fn seconds_of(&self, cycles: f64) -> f64 {
        if self.cycles > 0.0 { self.seconds / self.cycles * cycles } else { 0.0 }
    }
}

/// Returns the number of samples for this many lives, if a sample is one page in `of`. The number
/// is a power of two, so higher rungs contain the samples of lower rungs.
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

/// Returns the number of cycles of the mean block that the simulation of a life took.
fn simulated(lived: &Lived) -> f64 {
    simulated_at(lived, lived.acceleration)
}

/// Returns the number of cycles of the mean block that a similar life would take at an
/// acceleration.
fn simulated_at(lived: &Lived, acceleration: NonZeroU32) -> f64 {
    let from = lived.accelerated_from.unwrap_or(lived.pec_mean);
    from - lived.pec_first + (lived.pec_mean - from) / f64::from(acceleration.get())
}

/// Returns half the width of the widest interval, as a share of the years of its answer. Returns
/// `None` if some answer needs an interval but has none.
fn widest(answers: &[Answer]) -> Option<f64> {
    let mut widest = 0.0f64;
    for answer in answers {
        let Ok(lived) = &answer.lived else { continue };
        let mut both = answer.plans.iter().zip(lived);
        if both.any(|(plan, lived)| accelerated_loss::of(plan, lived).is_some()) {
            return None;
        }
        // The years of lives that lost data are no answer, with or without an interval.
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
mod tests {
    use super::*;
    use crate::life::{End, tests::lived};
    use crate::plan::Chosen;
    use crate::progress::unwatched;
    use crate::setup::{Base, Gear, Named, Setup};

    fn contenders(labels: &[&str]) -> Vec<Contender> {
        let base =
            Base { gear: Gear::Fluid, set: vec!["workload.rate=1000".into()], ..Base::new("tiny") };
        let plan = RunPlan::new(
            &Setup::new(base, Named::Workload("zipf-read".into())),
            Chosen::default(),
            &unwatched,
        )
        .unwrap();
        labels
            .iter()
            .map(|label| Contender { label: (*label).into(), plan: plan.clone() })
            .collect()
    }

    fn climb(seconds: Option<f64>) -> Climb {
        Climb {
            rung: None,
            wanted: Wanted { within: 0.1, seconds },
            seeds: 1,
            samples: None,
            threads: 2,
            touched: None,
        }
    }

    /// Returns a life at acceleration `k`. Its years fall by the share `falls` for each 100 of `k`.
    fn life_at(k: NonZeroU32, falls: f64, seed: u64) -> Lived {
        let chance = if seed.is_multiple_of(2) { 1.001 } else { 0.999 };
        Lived {
            acceleration: k,
            accelerated_from: Some(10.0),
            ..lived(4.0 * chance * (1.0 - falls * f64::from(k.get()) / 100.0))
        }
    }

    #[test]
    fn a_climb_ends_at_a_small_difference_and_repeats_no_life() {
        let mut asked = vec![];
        let live: Live = &mut |lives, _| {
            asked.push((lives[0].acceleration.get(), lives.len()));
            Ok(Some(
                lives.iter().map(|one| Ok(life_at(one.acceleration, 0.2, one.plan.seed))).collect(),
            ))
        };
        let mut told = vec![];
        let climbed =
            climb(None).go(&contenders(&["one"]), live, &mut |rung| told.push(rung.rung)).unwrap();
        // From K = 100 to K = 30, years grow by 0.56 of 3.76. From K = 30 to K = 10, years grow by
        // 0.16 of 3.92. An interval has at least 5 % of the years to each side.
        assert_eq!(asked, [(100, 2), (30, 2), (30, 2), (10, 4)]);
        assert_eq!(
            (climbed.rung.map(|rung| rung.number), climbed.end, told.len()),
            (Some(4), Some(Next::Answered), 3)
        );
        let interval = climbed.answers[0].interval.unwrap();
        assert!((interval.by_acceleration.unwrap() - 0.196).abs() < 1e-9, "{interval:?}");
        assert!((interval.low..interval.high).contains(&4.0));
    }

    #[test]
    fn a_loss_under_acceleration_needs_a_higher_rung() {
        let live: Live = &mut |lives, _| {
            let life = |one: &OneLife| {
                let k = one.acceleration;
                let data_lost_pages = if k.get() > 10 { 5 } else { 0 };
                Ok(Lived { data_lost_pages, ..life_at(k, 0.001, one.plan.seed) })
            };
            Ok(Some(lives.iter().map(life).collect()))
        };
        let climbed = climb(None).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        assert_eq!(climbed.rung.map(|rung| rung.acceleration.get()), Some(10));
        assert_eq!(climbed.end, Some(Next::Answered));
    }

    #[test]
    fn a_named_rung_gives_the_result_of_the_climb() {
        let live: Live = &mut |lives, _| {
            Ok(Some(
                lives.iter().map(|one| Ok(life_at(one.acceleration, 0.2, one.plan.seed))).collect(),
            ))
        };
        let climbed = climb(None).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        let named = Climb { rung: climbed.rung, ..climb(None) };
        let again = named.go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        assert_eq!(format!("{:?}", again.answers), format!("{:?}", climbed.answers));
    }

    #[test]
    fn a_drive_that_stops_does_not_end_the_others() {
        let live: Live = &mut |lives, _| {
            let stops = |n: usize| (n < 2).then(|| Failure::stopped("it is full"));
            let life = |(n, one): (usize, &OneLife)| {
                stops(n).map_or_else(|| Ok(life_at(one.acceleration, 0.01, one.plan.seed)), Err)
            };
            Ok(Some(lives.iter().enumerate().map(life).collect()))
        };
        let named = Climb { rung: Rung::of_number(1).ok(), ..climb(None) };
        let climbed = named.go(&contenders(&["full", "fine"]), live, &mut |_| ()).unwrap();
        assert!(climbed.answers[0].lived.as_ref().is_err_and(Failure::is_stop));
        assert_eq!(climbed.answers[1].lived.as_ref().map(Vec::len), Ok(2));
    }

    #[test]
    fn a_slow_first_rung_is_given_up() {
        let mut deadlines = vec![];
        let live: Live = &mut |_, deadline| {
            deadlines.push(deadline.is_some());
            Ok(None)
        };
        let climbed = climb(Some(1.0)).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        assert!(climbed.rung.is_none() && climbed.answers.is_empty());
        assert_eq!(deadlines, [true]);
    }

    #[test]
    fn time_does_not_end_a_later_rung_that_has_begun() {
        let mut deadlines = vec![];
        let live: Live = &mut |lives, deadline| {
            deadlines.push(deadline.is_some());
            let life = |one: &OneLife| Ok(life_at(one.acceleration, 0.2, one.plan.seed));
            Ok(Some(lives.iter().map(life).collect()))
        };
        climb(Some(1000.0)).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        assert_eq!(deadlines, [true, false, false, false]);
    }

    #[test]
    fn lives_of_a_rung_have_seeds_of_their_own_and_those_of_the_rung_below() {
        let mut asked = vec![];
        let live: Live = &mut |lives, _| {
            asked.extend(lives.iter().map(|one| (one.acceleration.get(), one.plan.seed)));
            let life = |one: &OneLife| Ok(life_at(one.acceleration, 0.0, one.plan.seed));
            Ok(Some(lives.iter().map(life).collect()))
        };
        let contenders = contenders(&["one"]);
        let first = contenders[0].plan.seed;
        let named = Climb { rung: Rung::of_number(3).ok(), ..climb(None) };
        let climbed = named.go(&contenders, live, &mut |_| ()).unwrap();
        let of = |k: u32, lives: u64| (0..lives).map(move |n| (k, first + n));
        assert_eq!(asked, of(100, 2).chain(of(30, 4)).collect::<Vec<_>>());
        let plans = &climbed.answers[0].plans;
        assert_eq!(
            plans.iter().map(|plan| plan.seed).collect::<Vec<_>>(),
            (first..first + 4).collect::<Vec<_>>()
        );
    }

    #[test]
    fn a_life_that_ended_in_its_warm_up_needs_no_other_acceleration() {
        let mut count = 0;
        let live: Live = &mut |lives, _| {
            count += lives.len();
            Ok(Some(
                lives
                    .iter()
                    .map(|one| {
                        Ok(Lived {
                            accelerated_from: None,
                            ..life_at(one.acceleration, 0.0, one.plan.seed)
                        })
                    })
                    .collect(),
            ))
        };
        let climbed = climb(None).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        assert_eq!((count, climbed.end), (2, Some(Next::Answered)));
        assert_eq!(climbed.answers[0].interval.unwrap().by_acceleration, Some(0.0));
        assert_eq!(climbed.answers[0].lived.as_ref().unwrap()[0].end, End::WornOut);
    }

    #[test]
    fn samples_of_a_rung_are_among_those_above() {
        assert_eq!(
            [samples_of(2, 448), samples_of(8, 448), samples_of(8, 1), samples_of(8, 6)],
            [2, 8, 1, 2]
        );
    }
}
