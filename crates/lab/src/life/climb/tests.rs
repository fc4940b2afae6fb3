//! Tests of the climb: the rungs that run, the end of the climb, and its reports after each rung.

use super::*;
use crate::life::tests::lived;
use crate::plan::Chosen;
use crate::progress::unwatched;
use crate::setup::{Base, Gear, Named, Setup};
use vpass_drive::base::metrics::HostCounts;

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

fn climb(work: Option<u64>) -> Climb {
    Climb {
        rung: None,
        wanted: Wanted { within: 0.1, work },
        seeds: 1,
        samples: None,
        touched: None,
    }
}

/// Returns a life of the given windows. `off` is the relative difference between the lives of two
/// successive seeds.
fn life_of(one: &OneLife, off: f64) -> Lived {
    let chance = if one.plan.seed.is_multiple_of(2) { 1.0 + off } else { 1.0 };
    let simulated = one.windows.map_or(3000.0, |windows| 20.0 + windows.simulated());
    Lived {
        windows_from: one.windows.map(|_| 20.0),
        simulated,
        work: (1000.0 * simulated) as u64,
        ..lived(4.0 * chance)
    }
}

/// Windows and number of the lives that a climb asked for.
type Asked = Vec<(Option<u32>, usize)>;

fn note(asked: &mut Asked, lives: &[OneLife]) {
    asked.push((lives[0].windows.map(|windows| windows.cycles), lives.len()));
}

#[test]
fn a_climb_ends_at_a_narrow_interval_and_repeats_no_life() {
    let mut asked: Asked = vec![];
    let live: Live = &mut |lives| {
        note(&mut asked, lives);
        Ok(lives.iter().map(|one| Ok(life_of(one, 0.05))).collect())
    };
    let mut told = vec![];
    let climbed =
        climb(None).go(&contenders(&["one"]), live, &mut |rung| told.push(rung.rung)).unwrap();
    // Two lives that differ by 5 % have an interval of 31 % to each side; four lives, of 4.6 %.
    assert_eq!(asked, [(Some(8), 2), (Some(15), 2), (Some(15), 2)]);
    assert_eq!(
        (climbed.rung.map(|rung| rung.number), climbed.end, told.len()),
        (Some(3), Some(Next::Answered), 2)
    );
    let named = Climb { rung: climbed.rung, ..climb(None) };
    let live: Live = &mut |lives| Ok(lives.iter().map(|one| Ok(life_of(one, 0.05))).collect());
    let again = named.go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
    assert_eq!(format!("{:?}", again.answers), format!("{:?}", climbed.answers));
}

#[test]
fn wear_that_has_not_settled_leads_to_exact_lives_if_they_are_affordable() {
    let climbed = |work| {
        let mut asked: Asked = vec![];
        let mut gears = vec![];
        let live: Live = &mut |lives| {
            note(&mut asked, lives);
            gears.push(lives[0].plan.gear);
            let life = |one: &OneLife| Lived {
                has_settled: one.windows.is_none(),
                host: HostCounts { read_pages: 10, ..HostCounts::default() },
                ..life_of(one, 0.0)
            };
            Ok(lives.iter().map(|one| Ok(life(one))).collect())
        };
        let climbed = climb(work).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
        (asked, climbed.end, gears)
    };
    let (asked, end, _) = climbed(None);
    assert_eq!((asked, end), (vec![(Some(8), 2), (None, 2)], Some(Next::Answered)));
    // Exact lives are too much work. Longer windows are tried, and give no interval either.
    let (asked, end, _) = climbed(Some(4_000_000));
    assert_eq!(asked, [(Some(8), 2), (Some(15), 2), (Some(40), 4)]);
    assert!(matches!(end, Some(Next::OutOfTime(_))), "{end:?}");
}

#[test]
fn each_life_may_take_its_part_of_the_work_that_is_left() {
    let mut most = vec![];
    let live: Live = &mut |lives| {
        most.push((lives.len(), lives[0].most_work));
        let life = |one: &OneLife| Lived { work: 100, ..life_of(one, 0.05) };
        Ok(lives.iter().map(|one| Ok(life(one))).collect())
    };
    climb(Some(10_000)).go(&contenders(&["one", "two"]), live, &mut |_| ()).unwrap();
    assert_eq!(most, [(4, Some(2500)), (4, Some(2400)), (4, Some(2300))]);
}

#[test]
fn a_drive_that_stops_does_not_end_the_others() {
    let live: Live = &mut |lives| {
        let stops = |n: usize| (n < 2).then(|| Failure::stopped("it is full"));
        let life =
            |(n, one): (usize, &OneLife)| stops(n).map_or_else(|| Ok(life_of(one, 0.01)), Err);
        Ok(lives.iter().enumerate().map(life).collect())
    };
    let named = Climb { rung: Rung::of_number(1).ok(), ..climb(None) };
    let climbed = named.go(&contenders(&["full", "fine"]), live, &mut |_| ()).unwrap();
    assert!(climbed.answers[0].lived.as_ref().is_err_and(Failure::is_stop));
    assert_eq!(climbed.answers[1].lived.as_ref().map(Vec::len), Ok(2));
}

#[test]
fn a_life_that_ended_before_its_windows_is_valid_for_all_rungs() {
    let mut count = 0;
    let live: Live = &mut |lives| {
        count += lives.len();
        Ok(lives.iter().map(|one| Ok(Lived { windows_from: None, ..life_of(one, 0.05) })).collect())
    };
    let climbed = climb(None).go(&contenders(&["one"]), live, &mut |_| ()).unwrap();
    // Four lives are needed, whatever the windows are.
    assert_eq!((count, climbed.end), (4, Some(Next::Answered)));
    let by_windows = climbed.answers[0].interval.unwrap().by_acceleration.unwrap();
    assert!(by_windows < 0.011 * 4.1, "every cycle was simulated: {by_windows}");
}

#[test]
fn samples_of_a_rung_are_among_those_above() {
    assert_eq!(
        [samples_of(2, 448), samples_of(8, 448), samples_of(8, 1), samples_of(8, 6)],
        [2, 8, 1, 2]
    );
}
