//! Tests of life estimates against simulated lives, cycle by cycle. The cases were fixed before the
//! first of them was run.
#![expect(clippy::print_stdout, reason = "a table of errors is printed")]

use vpass_lab::estimate::{self, Case, Estimate};
use vpass_lab::life::{End, Until, live_all};
use vpass_lab::plan::{Chosen, RunPlan, gc_named, parity_named};
use vpass_lab::progress::unwatched;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};

/// Case: even or skewed requests of whole pages on `tiny`, from one P/E count to another.
#[derive(Clone, Copy)]
struct Asked {
    reclaim: &'static str,
    distribution: &'static str,
    read_share: f64,
    pec: (u32, u32),
    more: &'static [&'static str],
    refresh: Option<&'static str>,
}

const READS: Asked = Asked {
    reclaim: "block",
    distribution: "uniform",
    read_share: 1.0,
    pec: (2950, 3000),
    more: &[],
    refresh: None,
};
const SKEWED: Asked = Asked { distribution: "zipf:0.99", more: &["start.overwrite=1"], ..READS };

fn plan(asked: Asked, seed: u64) -> RunPlan {
    let mut set: Vec<String> = vec![
        format!("start.pec={}", asked.pec.0),
        format!("drive.rated_pec={}", asked.pec.1),
        format!("workload.distribution={}", asked.distribution),
        format!("workload.read_share={}", asked.read_share),
        "workload.block_size=16KiB".into(),
        "workload.rate=20000".into(),
        "workload.queue_depth=".into(),
    ];
    set.extend(asked.more.iter().map(ToString::to_string));
    let base = Base { gear: Gear::Fluid, set, seed, oracle: Watch::Off, ..Base::new("tiny") };
    let named = Chosen { reclaim: asked.reclaim, refresh: asked.refresh, ..Chosen::default() };
    RunPlan::new(&Setup::new(base, Named::Workload("uniform-read".into())), named, &unwatched)
        .unwrap()
}

/// Returns the estimate, and its error relative to the mean of lives with these seeds.
fn off(asked: Asked, seeds: std::ops::RangeInclusive<u64>) -> (Estimate, f64) {
    let plans: Vec<RunPlan> = seeds.map(|seed| plan(asked, seed)).collect();
    let estimate = estimate::of(&plans[0]).unwrap().unwrap();
    let lives = live_all(&plans, Until::default(), None, &unwatched).unwrap();
    assert!(lives.iter().all(|life| life.end == End::WornOut));
    let years = lives.iter().map(|life| life.years).sum::<f64>() / lives.len() as f64;
    (estimate, estimate.off_by(Some(years)).unwrap())
}

/// Checks the case and its printed bound, and prints the error.
fn check(name: &str, asked: Asked, seeds: std::ops::RangeInclusive<u64>, case: Case) {
    let (estimate, off) = off(asked, seeds);
    println!("{name}: estimate {:.3e} years, {:+.2} %", estimate.life_years.unwrap(), 100.0 * off);
    assert_eq!(estimate.case, case, "{name}");
    assert!(off.abs() <= estimate.within, "{name}: {off}");
}

/// Cases with reads alone, under techniques that rewrite whole blocks.
fn by_reads() -> Vec<(&'static str, Asked)> {
    vec![
        ("even reads", READS),
        ("skewed reads", Asked { distribution: "zipf:0.99", ..READS }),
        ("hot and cold reads", Asked { distribution: "hot-cold:0.1/0.9", ..READS }),
        (
            "reads across a row of the table",
            Asked { distribution: "zipf:0.99", pec: (980, 1030), ..READS },
        ),
        ("reads of a drive half full", Asked { more: &["start.fill=0.5"], ..READS }),
        ("reads under ideal", Asked { reclaim: "ideal", pec: (2985, 3000), ..READS }),
    ]
}

/// Cases with even writes.
fn even() -> Vec<(&'static str, Asked)> {
    let even = Asked { more: SKEWED.more, ..READS };
    vec![
        ("even writes", Asked { read_share: 0.0, ..even }),
        ("even writes, 7 reads of 10", Asked { read_share: 0.7, ..even }),
        ("even writes, 99 reads of 100", Asked { read_share: 0.99, ..even }),
        ("even writes, 999 reads of 1,000", Asked { read_share: 0.999, ..even }),
        (
            "few spare blocks",
            Asked {
                read_share: 0.0,
                more: &["start.overwrite=1", "drive.spare=0.08", "drive.capacity="],
                ..even
            },
        ),
        (
            "refresh of rarely read data",
            Asked {
                more: &["workload.rate=2000", "refresh.period=2min"],
                refresh: Some("block"),
                ..READS
            },
        ),
    ]
}

/// Cases with skewed writes, and cases in which single wordlines are rewritten.
fn skewed() -> Vec<(&'static str, Asked)> {
    let wordlines = Asked { reclaim: "straw-wl", pec: (2975, 3000), ..READS };
    vec![
        ("skewed writes", Asked { read_share: 0.0, ..SKEWED }),
        ("skewed, 7 reads of 10", Asked { read_share: 0.7, ..SKEWED }),
        ("skewed, 99 reads of 100", Asked { read_share: 0.99, ..SKEWED }),
        ("skewed, 999 reads of 1,000", Asked { read_share: 0.999, ..SKEWED }),
        (
            "hot and cold writes",
            Asked { read_share: 0.0, distribution: "hot-cold:0.2/0.8", ..SKEWED },
        ),
        (
            "hot and cold, 9 reads of 10",
            Asked { read_share: 0.9, distribution: "hot-cold:0.1/0.9", ..SKEWED },
        ),
        ("straw-wl, even reads", wordlines),
        ("straw-wl, skewed reads", Asked { distribution: "zipf:0.99", ..wordlines }),
        (
            "straw-wl, skewed, 99 reads of 100",
            Asked { reclaim: "straw-wl", read_share: 0.99, ..SKEWED },
        ),
        (
            "straw-ss-sound, skewed reads",
            Asked { reclaim: "straw-ss-sound", distribution: "zipf:0.99", ..wordlines },
        ),
    ]
}

#[test]
fn reads_alone_are_within_1_percent() {
    for (name, asked) in &by_reads()[..4] {
        check(name, *asked, 1..=1, Case::BlocksByReads);
    }
}

#[test]
fn even_writes_are_within_6_percent() {
    for (name, asked) in [&even()[0], &even()[3], &even()[5]] {
        check(name, *asked, 1..=1, Case::EvenWrites);
    }
}

#[test]
fn skewed_writes_and_wordlines_are_within_30_percent() {
    for (name, asked) in [&skewed()[0], &skewed()[5], &skewed()[6]] {
        check(name, *asked, 1..=1, Case::MeanField);
    }
}

/// Checks all cases with three seeds each; `make estimates` prints the table of `docs/estimate.md`.
#[test]
#[ignore = "minutes"]
fn all_cases_are_within_their_bounds() {
    let all = [
        (Case::BlocksByReads, by_reads()),
        (Case::EvenWrites, even()),
        (Case::MeanField, skewed()),
    ];
    for (case, asked) in all {
        for (name, asked) in asked {
            check(name, asked, 1..=3, case);
        }
    }
}

#[test]
fn without_a_known_equation_there_is_no_estimate() {
    for (asked, why) in [
        (Asked { reclaim: "hotld", ..READS }, "no equation is known for `hotld`"),
        (Asked { reclaim: "tiered", ..READS }, "no equation is known for `tiered`"),
        (
            Asked { more: &["start.pec_spread=5"], ..READS },
            "blocks have different wear at the start",
        ),
    ] {
        let said = estimate::of(&plan(asked, 1)).unwrap().unwrap_err();
        assert!(said.contains(why), "{said}");
    }
    let mut with_parity = plan(READS, 1);
    with_parity.parity = parity_named("raid5").unwrap();
    assert!(estimate::of(&with_parity).unwrap().unwrap_err().contains("parity"));
    let mut other_gc = plan(Asked { read_share: 0.5, ..READS }, 1);
    other_gc.gc = gc_named("cost-benefit").unwrap();
    assert!(estimate::of(&other_gc).unwrap().unwrap_err().contains("greedy"));
}

#[test]
fn a_closed_loop_has_a_life_in_bytes() {
    let mut set: Vec<String> = vec![
        "start.overwrite=1".into(),
        "workload.block_size=16KiB".into(),
        "start.pec=2950".into(),
    ];
    set.push("workload.read_share=0".into());
    let base = Base { gear: Gear::Untimed, set, oracle: Watch::Off, ..Base::new("tiny") };
    let closed = RunPlan::new(
        &Setup::new(base, Named::Workload("uniform-read".into())),
        Chosen::default(),
        &unwatched,
    )
    .unwrap();
    let (closed, open) = (
        estimate::of(&closed).unwrap().unwrap(),
        estimate::of(&plan(even()[0].1, 1)).unwrap().unwrap(),
    );
    assert!(closed.life_years.is_none() && open.life_years.is_some());
    assert!((closed.host_bytes.unwrap() / open.host_bytes.unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(
        estimate::early("block", &Ok(closed)).split(": ").next().unwrap(),
        "Estimate for `block` (closed form, within 6 % where measured)"
    );
}
