//! Tests of life estimates against simulated lives, cycle by cycle. The cases were fixed before the
//! first of them was run.
#![expect(clippy::print_stdout, reason = "a table of errors is printed")]

use vpass_lab::estimate::{self, Case, Estimate};
use vpass_lab::life::{End, Until, live_all};
use vpass_lab::plan::{Chosen, RunPlan, Tables, gc_named, parity_named};
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
    ]
}

/// Cases with writes from start to end.
fn sequential() -> Vec<(&'static str, Asked)> {
    const WRITES: Asked = Asked { distribution: "sequential", read_share: 0.0, ..READS };
    const BOTH: [&str; 1] = ["workload.write_distribution=sequential"];
    vec![
        ("sequential writes", WRITES),
        ("sequential, a third of the drive", Asked { more: &["workload.footprint=0.3"], ..WRITES }),
        ("sequential, writes of 4 KiB", Asked { more: &["workload.block_size=4KiB"], ..WRITES }),
        (
            "sequential, 87 reads of 100",
            Asked { distribution: "uniform", read_share: 0.87, more: &BOTH, ..READS },
        ),
        // Levelling moves the other data, but only in a life longer than the gap of wear.
        (
            "sequential, a third, 3,000 P/E cycles",
            Asked {
                more: &["workload.footprint=0.3", "drive.capacity=256MiB"],
                pec: (0, 3000),
                ..WRITES
            },
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
    for (name, asked) in [&even()[0], &even()[3]] {
        check(name, *asked, 1..=1, Case::EvenWrites);
    }
}

#[test]
fn sequential_writes_are_within_6_percent() {
    for (name, asked) in &sequential()[1..4] {
        check(name, *asked, 1..=1, Case::SequentialWrites);
    }
}

/// Checks all cases with three seeds each; `make estimates` prints the table of `docs/estimate.md`.
#[test]
#[ignore = "minutes"]
fn all_cases_are_within_their_bounds() {
    let all = [
        (Case::BlocksByReads, by_reads()),
        (Case::EvenWrites, even()),
        (Case::SequentialWrites, sequential()),
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
        (Asked { reclaim: "straw-wl", ..READS }, "no equation is known for `straw-wl`"),
        (Asked { refresh: Some("block"), ..READS }, "no equation is known for refresh (`block`)"),
        (Asked { read_share: 0.5, ..SKEWED }, "no equation is known for this workload"),
        (
            Asked { distribution: "sequential", read_share: 0.0, ..SKEWED },
            "no equation is known for",
        ),
        // Between two overwrites, a block serves 192 x 93 / 7 = 2,551 reads, and `block` moves a
        // block after 2,152 reads.
        (
            Asked { read_share: 0.93, more: &["workload.write_distribution=sequential"], ..READS },
            "no equation is known for this workload",
        ),
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

/// `count` and `none` may keep data too long. On `tiny`, each read of a block adds a dose of 1 to
/// all of its wordlines, and more to two neighbours.
#[test]
fn a_technique_that_loses_data_has_no_estimate() {
    let of = |asked: Asked| estimate::of(&plan(asked, 1)).unwrap();
    let why = of(Asked { reclaim: "none", ..READS }).unwrap_err();
    assert!(why.starts_with("`none` does not protect the data: at 3,000 P/E cycles"), "{why}");
    assert!(why.ends_with(" reads, but is never rewritten"), "{why}");
    let number = why.split("data after ").nth(1).unwrap().split(' ').next().unwrap();
    let endured: u32 = number.replace(',', "").parse().unwrap();
    // `block` of `tiny` moves a block of 3,000 P/E cycles after 2,152 reads, so 2,000 are safe.
    for (reads, is_safe) in [(2000, true), (endured * 105 / 100, false)] {
        let more = format!("reclaim.count.reads={reads}");
        let more: &'static [&'static str] = vec![&*more.leak()].leak();
        let asked = Asked { reclaim: "count", more, pec: (2995, 3000), ..READS };
        let lives = live_all(&[plan(asked, 1)], Until::default(), None, &unwatched).unwrap();
        assert_eq!(lives[0].data_lost_pages == 0, is_safe, "{reads}");
        let said = of(asked);
        assert_eq!(said.is_ok(), is_safe, "{said:?}");
    }
    // The host overwrites a block long before its reads reach the limit.
    let written = Asked { reclaim: "none", read_share: 0.5, more: SKEWED.more, ..READS };
    assert_eq!(of(written).unwrap().case, Case::EvenWrites);
    let hardly = of(Asked { read_share: 0.9999, ..written }).unwrap_err();
    assert!(hardly.contains("but is rewritten after up to "), "{hardly}");
}

/// Lives never exceed the bound, and reach it if nothing but sequential writes wears the drive.
#[test]
fn the_bound_holds_for_writes_of_any_kind() {
    let tables = Tables::default();
    for (name, asked, least) in [
        ("sequential", sequential()[0].1, 0.97),
        ("4 KiB", sequential()[2].1, 0.97),
        ("skewed", Asked { read_share: 0.5, ..SKEWED }, 0.2),
        ("few hours", Asked { more: &["workload.hours_per_day=0.001"], ..sequential()[0].1 }, 0.97),
    ] {
        let plan = plan(asked, 1);
        let bound = estimate::bound::at_most(&plan, &tables).unwrap().unwrap().years;
        let lives = live_all(&[plan], Until::default(), None, &unwatched).unwrap();
        let share = lives[0].years / bound;
        assert!(share <= 1.0 && share > least, "{name}: {share}");
    }
    assert!(estimate::bound::at_most(&plan(READS, 1), &tables).unwrap().is_none());
}

/// The host writes 20,000 pages of 16 KiB a second.
#[test]
fn years_by_tbw_follow_from_the_rate_of_writes() {
    let by_tbw = |more| {
        let asked = Asked { more, ..sequential()[0].1 };
        estimate::bound::years_by_tbw(&plan(asked, 1), &Tables::default()).unwrap()
    };
    let years = by_tbw(&["sheet.tbw=600"]).unwrap();
    let by_hand = 600e12 / (20_000.0 * 16_384.0) / (365.0 * 86_400.0);
    assert!((years / by_hand - 1.0).abs() < 1e-3, "{years} {by_hand}");
    assert_eq!(by_tbw(&[]), None);
}

/// A key-value window of 300 MB on `tiny`, at 2 tokens a second of 100 KB. The data sheet's number
/// is 408 blocks x 192 pages x 16 KiB x 3,000 cycles = 3.85 TB; at 17.3 GB a day these are 222.8
/// days.
#[test]
fn a_key_value_window_is_written_from_start_to_end() {
    let model = |key: &str, value: &str| format!("workload.model.{key}={value}");
    let set = vec![
        model("size", "300MB"),
        model("cache", "299MB"),
        model("expert", "1MB"),
        model("active", "10"),
        model("dense", "20MB"),
        model("tokens_per_second", "2"),
        model("kv_written", "100KB"),
        model("kv_read", "100KB"),
        model("kv_window", "300MB"),
    ];
    let base = Base { gear: Gear::Fluid, set, oracle: Watch::Off, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload("llm-moe-744b".into()));
    let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
    let estimate = estimate::of(&plan).unwrap().unwrap();
    let days = estimate.life_years.unwrap() * 365.0;
    let by_hand = 408.0 * 192.0 * 16_384.0 * 3000.0 / (2.0 * 100e3) / 86_400.0;
    assert_eq!(estimate.case, Case::SequentialWrites);
    // Reads of the model, most of which the cache holds, shorten the life a little.
    assert!(days < by_hand && days > 0.97 * by_hand, "{days} {by_hand}");
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
