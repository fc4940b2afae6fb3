//! Tests of the climb: the rungs that run, the end of the climb, and its reports after each rung.

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
    labels.iter().map(|label| Contender { label: (*label).into(), plan: plan.clone() }).collect()
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

/// Returns a life at acceleration `k`. For each 100 of `k`, its years are shorter by the share
/// `falls`.
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
    // From K = 100 to K = 30, the life grows by 0.56 to 3.76 years. From K = 30 to K = 10, the life
    // grows by 0.16 to 3.92 years. An interval reaches at least 5 % of the years to each side.
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
