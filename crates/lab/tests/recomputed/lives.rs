//! Lives of a language model, computed a second time. The recorded lives give the means, the
//! intervals, the course, and the rounds of `vpass llm`.
//!
//! ```text
//! two lives a and b:     mean (a + b) / 2, half width 12.7062 |a - b| / 2, t of 1 degree
//! n strata each,
//! differences d:         t / 2 sqrt(sum of d^2), t of n degrees;
//!                        strata in pairs: the same, t of n / 2 degrees
//! windows:               the second halves against the first ones, without the effect of wear,
//!                        and 1/24 of the change of the strata's differences; at least 3 %
//! ```

use serde_json::Value;
use vpass_drive::base::units::Cause;
use vpass_lab::life::climb::{Climb, Contender};
use vpass_lab::life::ladder::{LADDER, Wanted};
use vpass_lab::life::summary::Life;
use vpass_lab::life::{Lived, Until, live_each};
use vpass_lab::llm::Technique;
use vpass_lab::plan::{Chosen, RunPlan, Tables};
use vpass_lab::progress::unwatched;
use vpass_lab::setup::{Base, Gear, Named, Setup};

use crate::cases::file;
use crate::tables::number_at;

/// Two-sided 95 % quantiles of Student's t, from printed tables.
const T_1: f64 = 12.706_204_736;
const T_2_3_5_6: [(usize, f64); 4] =
    [(2, 4.302_652_730), (3, 3.182_446_305), (5, 2.570_581_836), (6, 2.446_911_851)];
const PAGE: f64 = 16_384.0;

/// Two lives on rung 2, as they were simulated, and their summary.
struct Recorded {
    plan: RunPlan,
    lives: [Lived; 2],
    life: Life,
}

/// Plans a model whose tokens write to the drive, too. `hours` are the hours of use per day.
fn plan(hours: u32) -> RunPlan {
    let text = format!(
        "[workload]\nhours_per_day = {hours}\n[workload.model]\nsize = \"400MiB\"\nexpert = \
         \"256KiB\"\nactive = 40\npopularity = \"zipf:0.9\"\ntokens_per_second = 0.2\n"
    );
    let workload = file("toml", &text).display().to_string();
    let set = [
        "drive.rated_pec=3000",
        "workload.model.kv_written=16KiB",
        "workload.model.kv_window=64MiB",
        // Wear levelling runs in the warm-up and in each window.
        "wear.static_gap=10",
    ];
    let set = set.map(str::to_owned).to_vec();
    let base = Base { gear: Gear::Fluid, set, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload(workload));
    RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_or_else(|e| panic!("{e}"))
}

impl Recorded {
    fn of(hours: u32) -> Self {
        let climb = Climb {
            rung: Some(LADDER[1]),
            wanted: Wanted { within: 0.1, work: None },
            seeds: 1,
            samples: None,
            touched: None,
        };
        let contender = Contender { label: "block".into(), plan: plan(hours) };
        let mut all: Vec<Lived> = vec![];
        let climbed = climb
            .go(
                std::slice::from_ref(&contender),
                &mut |asked| {
                    let (until, tables) = (Until::default(), Tables::default());
                    let lived = live_each(asked, until, None, &tables, &unwatched, &|_, _| ())?;
                    all.extend(lived.iter().flatten().cloned());
                    Ok(lived)
                },
                &mut |_| (),
            )
            .unwrap();
        Self {
            plan: contender.plan,
            lives: all.try_into().expect("two lives"),
            life: Life::answered(&climbed.answers[0]).unwrap(),
        }
    }

    fn each(&self, of: impl Fn(&Lived) -> f64) -> [f64; 2] {
        [of(&self.lives[0]), of(&self.lives[1])]
    }
}

#[track_caller]
fn near(what: &str, said: Option<f64>, right: f64, within: f64) {
    let said = said.unwrap_or_else(|| panic!("{what}: no value, but {right} is right"));
    assert!(
        (said - right).abs() <= within * right.abs().max(1e-9),
        "{what}: {said}, but {right} is right"
    );
}

fn mean([a, b]: [f64; 2]) -> f64 {
    f64::midpoint(a, b)
}

/// Returns half the width of the interval by strata; `None` if they do not explain how far the
/// two lives are apart.
fn by_batches([first, second]: [&[f64]; 2]) -> Option<f64> {
    let half = |length: usize| {
        let sum = |life: &[f64]| {
            life.chunks_exact(length).map(|part| part.iter().sum()).collect::<Vec<f64>>()
        };
        let pairs = sum(first).into_iter().zip(sum(second));
        let differences: Vec<f64> = pairs.map(|(one, other)| one - other).collect();
        let (count, apart) = (differences.len() as f64, differences.iter().sum::<f64>());
        let (_, t) = T_2_3_5_6.iter().find(|(degrees, _)| *degrees == differences.len())?;
        let off: f64 = differences.iter().map(|d| (d - apart / count).powi(2)).sum();
        let explained = count / (count - 1.0) * off / 2.0;
        (apart * apart / 2.0 <= 2.0 * explained)
            .then(|| t / 2.0 * differences.iter().map(|d| d * d).sum::<f64>().sqrt())
    };
    Some(half(1)?.max(half(2)?))
}

/// Returns the effect of windows as a share of the years.
fn by_windows(lives: &[Lived; 2]) -> f64 {
    let sum = |of: &dyn Fn(&Lived) -> f64| lives.iter().map(of).sum::<f64>();
    let half = |is_second: bool| {
        sum(&|lived| {
            let of = lived.halves.iter().map(|h| if is_second { h.second } else { h.first });
            of.sum()
        })
    };
    let stratum = |n: usize| sum(&|lived| lived.halves[n].first + lived.halves[n].second);
    let part = sum(&|lived| lived.halves[0].part) / 2.0;
    let last = lives[0].halves.len() - 1;
    // From stratum to stratum, the years fall by this factor. The middles of the two halves of a
    // window are half a window apart.
    let of_stratum = (stratum(last) / stratum(0)).powf(1.0 / last as f64);
    let by_wear = part / 2.0 * of_stratum.ln();
    let of_windows = half(false) + half(true);
    let drift = (half(true) - half(false) - by_wear * of_windows / 2.0).abs() * 2.0;
    let bend = ((stratum(last) - stratum(last - 1)) - (stratum(1) - stratum(0))).abs() / 24.0;
    ((drift + bend) / sum(&|lived| lived.years)).max(0.03)
}

fn interval(recorded: &Recorded, json: &Value) {
    let years = recorded.each(|lived| lived.years);
    for lived in &recorded.lives {
        assert!(lived.windows_from.is_some() && lived.has_settled);
        assert!(T_2_3_5_6.iter().any(|(count, _)| *count == lived.halves.len()), "windows");
        let strata = lived.halves.iter().map(|halves| halves.first + halves.second);
        assert!(strata.zip(&lived.batches).all(|(years, batch)| (years - batch).abs() < 1e-12));
    }
    let by_acceleration = by_windows(&recorded.lives) * mean(years);
    let by_lives = T_1 * (years[0] - years[1]).abs() / 2.0;
    let by_batches = by_batches(recorded.lives.each_ref().map(|lived| &lived.batches[..]));
    let half = by_acceleration.max(by_batches.unwrap_or(by_lives));
    let said = |path: &str| number_at(json, path);
    near("years", said("years.mean"), mean(years), 1e-9);
    near("half width", said("years.ci95"), half, 1e-6);
    near("low", said("interval.low"), (mean(years) - half).max(0.0), 1e-6);
    near("high", said("interval.high"), mean(years) + half, 1e-6);
    near("by acceleration", said("interval.by_acceleration"), by_acceleration, 1e-6);
    near("by lives", said("interval.by_lives"), by_lives, 1e-6);
    assert_eq!(said("interval.by_batches").is_some(), by_batches.is_some());
    if let Some(half) = by_batches {
        near("by batches", said("interval.by_batches"), half, 1e-6);
    }
}

/// Checks the means over the two lives, and their intervals.
fn means(recorded: &Recorded, json: &Value) {
    let share = |cause: Cause| {
        move |lived: &Lived| lived.programs.of(cause) as f64 / lived.programs.sum() as f64
    };
    let by_reads = |lived: &Lived| {
        (lived.programs.of(Cause::Reclaim) + lived.programs.of(Cause::Retry)) as f64 * PAGE
    };
    let written = |lived: &Lived| lived.host.write_bytes as f64;
    let programmed = |lived: &Lived| lived.programs.sum() as f64 * PAGE;
    let read = |lived: &Lived| lived.host.read_bytes as f64;
    let columns = [
        ("pec_mean", recorded.each(|lived| lived.pec_mean)),
        ("host_bytes_written", recorded.each(written)),
        ("host_bytes_read", recorded.each(read)),
        ("flash_bytes_written", recorded.each(programmed)),
        ("write_amplification", recorded.each(|lived| programmed(lived) / written(lived))),
        ("read_wear", recorded.each(|lived| 100.0 * by_reads(lived) / read(lived))),
        ("consumed.host", recorded.each(share(Cause::Host))),
        ("consumed.gc", recorded.each(share(Cause::Gc))),
        ("consumed.reads", recorded.each(share(Cause::Reclaim))),
        ("consumed.age", recorded.each(share(Cause::Refresh))),
        ("consumed.wear_levelling", recorded.each(share(Cause::Wear))),
        ("consumed.parity", recorded.each(share(Cause::Parity))),
    ];
    for (column, [a, b]) in columns {
        near(column, number_at(json, &format!("{column}.mean")), mean([a, b]), 1e-9);
        let half = T_1 * (a - b).abs() / 2.0;
        near(column, number_at(json, &format!("{column}.ci95")), half, 1e-6);
    }
    near("first", number_at(json, "pec_first"), mean(recorded.each(|l| l.pec_first)), 1e-9);
}

/// Returns years, P/E cycles and programmed pages of the host and of all causes, at a share of a
/// recorded life.
fn at_share(lived: &Lived, share: f64) -> [f64; 4] {
    let course = serde_json::to_value(&lived.course).unwrap();
    let state = |one: &Value| {
        let pages: Vec<f64> = one["programs"]
            .as_object()
            .map(|causes| causes.values().filter_map(Value::as_f64).collect())
            .unwrap();
        [
            number_at(one, "years").unwrap(),
            number_at(one, "pec").unwrap(),
            number_at(one, "programs.host").unwrap(),
            pages.iter().sum(),
        ]
    };
    let states: Vec<[f64; 4]> = course.as_array().unwrap().iter().map(state).collect();
    let years = share * lived.years;
    let after = states.iter().position(|of| of[0] >= years).unwrap_or(states.len() - 1);
    let (to, from) = (states[after], states[after.saturating_sub(1)]);
    let part = if to[0] > from[0] { (years - from[0]) / (to[0] - from[0]) } else { 1.0 };
    std::array::from_fn(|n| from[n] + part * (to[n] - from[n]))
}

/// Checks the rows of the course, at every eighth of the life.
fn course(recorded: &Recorded, json: &Value) {
    for eighth in 1..=8 {
        let states = [0, 1].map(|n| at_share(&recorded.lives[n], f64::from(eighth) / 8.0));
        let said = |key: &str| number_at(json, &format!("series.{}.{key}", 8 * eighth));
        let of = |n: usize| mean([states[0][n], states[1][n]]);
        near("years of a row", said("years"), of(0), 1e-6);
        near("cycles of a row", said("pec_mean"), of(1), 1e-6);
        let host = mean([states[0][2] / states[0][3], states[1][2] / states[1][3]]);
        near("host's share of a row", said("consumed_host"), host, 1e-6);
    }
}

/// Checks the rounds of `vpass llm`: pages that the host read, for each page that the drive rewrote
/// in the recorded lives. The reads of a life are drawn, and `vpass llm` uses their mean: in 640
/// pages, a token reads 40 experts.
fn rounds(recorded: &Recorded, hours: u32) {
    let law = recorded.plan.model_law().unwrap();
    let technique = Technique::simulated(&recorded.plan, &law, &recorded.life, 2).unwrap();
    let json = serde_json::to_value(&technique).unwrap();
    let days = mean(recorded.each(|lived| lived.years)) * 365.0;
    let reads = 0.2 * 3600.0 * f64::from(hours) * 640.0 * days;
    let drawn = mean(recorded.each(|lived| lived.host.read_pages as f64));
    near("reads", Some(drawn), reads, 0.01);
    let bytes = reads * PAGE;
    let rewritten = |from: f64, to: f64| {
        mean([0, 1].map(|n| {
            let [[_, _, host, all], [_, _, host_after, all_after]] =
                [from, to].map(|share| at_share(&recorded.lives[n], share));
            (all_after - all) - (host_after - host)
        }))
    };
    let whole =
        mean(recorded.each(|lived| (lived.programs.sum() - lived.programs.of(Cause::Host)) as f64));
    for (end, share, pages) in [
        ("", 1.0, whole),
        ("_fresh", 0.125, rewritten(0.0, 0.125)),
        ("_worn", 0.125, rewritten(0.875, 1.0)),
    ] {
        let (rounds, per_100) = (share * reads / pages, 100.0 * pages * PAGE / (share * bytes));
        let within = if end.is_empty() { 1e-4 } else { 0.05 };
        near(
            &format!("rounds{end}"),
            number_at(&json, &format!("rounds_per_rewrite{end}")),
            rounds,
            within,
        );
        near(
            &format!("written{end}"),
            number_at(&json, &format!("written_per_100_read{end}")),
            per_100,
            within,
        );
    }
    let said = |path: &str| number_at(&json, path);
    let programmed = mean(recorded.each(|lived| lived.programs.sum() as f64 * PAGE));
    near("bytes a day", said("flash_bytes_per_day"), programmed / days, 1e-6);
    let cycles = mean(recorded.each(|lived| lived.pec_mean - lived.pec_first));
    let a_year = 100.0 * cycles / 3000.0 * 365.0 / days;
    near("endurance", said("endurance_percent_per_year"), a_year, 1e-6);
}

#[test]
fn lives_and_rounds_by_the_recorded_lives() {
    for hours in [24, 8] {
        let recorded = Recorded::of(hours);
        let json = serde_json::to_value(&recorded.life).unwrap();
        interval(&recorded, &json);
        means(&recorded, &json);
        course(&recorded, &json);
        rounds(&recorded, hours);
    }
}
