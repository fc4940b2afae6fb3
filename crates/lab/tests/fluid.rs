//! Tests of the fluid gear against the untimed gear, and of samples against whole drives. Both
//! gears draw their reads at random, so the tests compare means over seeds. The means must agree
//! within 1 %, or within three standard errors of their difference.

use crate::common;

use common::{agree, mean, of, seeds};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};
use vpass_workload::synthetic::Sample;

struct Pair {
    reclaim: &'static str,
    set: &'static [&'static str],
}

const ZIPF: &[&str] = &["workload.distribution=zipf:0.9", "workload.requests=2000000"];
const HOT: &[&str] = &["workload.distribution=hot-cold:0.1/0.9", "workload.requests=6000000"];
const EVEN: &[&str] = &["workload.distribution=uniform", "workload.requests=4000000"];
const MIXED: &[&str] =
    &["workload.distribution=zipf:0.9", "workload.requests=2000000", "workload.read_share=0.98"];
/// Half of the pages have no data at first.
const HALF: &[&str] =
    &["workload.distribution=uniform", "workload.requests=4000000", "start.fill=0.5"];
const HALF_WRITTEN: &[&str] = &[
    "workload.distribution=uniform",
    "workload.requests=2000000",
    "workload.read_share=0.99",
    "start.fill=0.5",
];
const SPLIT: &[&str] = &[
    "workload.distribution=hot-cold:0.1/0.9",
    "workload.write_distribution=hot-cold:0.2/0.8",
    "workload.hot_sets=disjoint",
    "workload.requests=8000000",
    "workload.read_share=0.999",
];
const SENSINGS: &[&str] =
    &["workload.distribution=zipf:0.9", "workload.requests=2000000", "disturb.dose=sensings"];

const PAIRS: [Pair; 15] = [
    Pair { reclaim: "block", set: ZIPF },
    Pair { reclaim: "block", set: HOT },
    Pair { reclaim: "block", set: EVEN },
    Pair { reclaim: "block", set: MIXED },
    Pair { reclaim: "block", set: SENSINGS },
    Pair { reclaim: "block", set: HALF },
    Pair { reclaim: "block", set: HALF_WRITTEN },
    Pair { reclaim: "page-type", set: ZIPF },
    Pair { reclaim: "straw-wl", set: ZIPF },
    Pair { reclaim: "straw-wl", set: HOT },
    Pair { reclaim: "straw-wl", set: SPLIT },
    Pair { reclaim: "erased-probe", set: HOT },
    Pair { reclaim: "ideal", set: ZIPF },
    Pair { reclaim: "chance-probe", set: HOT },
    Pair { reclaim: "chance-probe", set: SPLIT },
];

/// Techniques that count reads themselves, or use the reads of other blocks.
const WITH_STATE: [Pair; 11] = [
    Pair { reclaim: "tiered", set: HOT },
    Pair { reclaim: "tiered", set: SPLIT },
    Pair { reclaim: "redftl", set: HOT },
    Pair { reclaim: "read-leveling", set: HOT },
    Pair { reclaim: "hotld", set: SPLIT },
    Pair { reclaim: "ipr", set: SPLIT },
    Pair { reclaim: "straw-ss", set: ZIPF },
    Pair { reclaim: "straw-ss", set: SPLIT },
    Pair { reclaim: "straw-ss", set: SENSINGS },
    Pair { reclaim: "straw-ss-sound", set: HOT },
    Pair { reclaim: "straw-ss-published", set: HOT },
];

fn plan(gear: Gear, reclaim: &str, set: &[&str], seed: u64, sample: Sample) -> RunPlan {
    let common = ["workload.rate=10000", "workload.queue_depth="];
    let set = common.iter().chain(set).map(ToString::to_string).collect();
    let base = Base { gear, seed, set, oracle: Watch::On, ..Base::new("tiny") };
    let setup = Setup { sample, ..Setup::new(base, Named::Workload("zipf-read".into())) };
    RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap()
}

fn run(gear: Gear, reclaim: &str, set: &[&str], seed: u64, sample: Sample) -> Summary {
    let summary = execute(&plan(gear, reclaim, set, seed, sample), &Unwatched).unwrap().summary;
    let oracle = summary.oracle.as_ref().unwrap();
    assert!(
        !oracle.is_bug(),
        "{reclaim} {set:?} in the {} gear: {:?}",
        summary.gear,
        oracle.findings
    );
    summary
}

#[test]
fn the_fluid_gear_agrees_with_the_untimed_one() {
    both_gears_agree(&PAIRS);
}

#[test]
fn techniques_with_state_agree_in_both_gears() {
    both_gears_agree(&WITH_STATE);
}

fn both_gears_agree(pairs: &[Pair]) {
    for Pair { reclaim, set } in pairs {
        let runs = |gear| -> Vec<Summary> {
            (1..=seeds()).map(|seed| run(gear, reclaim, set, seed, Sample::WHOLE)).collect()
        };
        let (untimed, fluid) = (runs(Gear::Untimed), runs(Gear::Fluid));
        let what = |name: &str| format!("{reclaim} {set:?}: {name}");
        let both = |name: &str, share: f64, value: &dyn Fn(&Summary) -> f64| {
            agree(&what(name), share, &of(&untimed, value), &of(&fluid, value))
        };
        both("pages read", 0.01, &|s| s.host.read_pages as f64);
        both("read requests", 0.01, &|s| s.host.read_requests as f64);
        both("bytes read", 0.01, &|s| s.host.read_bytes as f64);
        both("pages read without data", 0.01, &|s| s.host.unmapped_read_pages as f64);
        both("pages written", 0.01, &|s| s.host.write_pages as f64);
        both("erases of reclaim", 0.01, &|s| {
            s.flash.erases.of(vpass_drive::base::units::Cause::Reclaim) as f64
        });
        both("copies of reclaim", 0.01, &|s| s.reclaim.counts.pages_copied as f64);
        both("erases", 0.01, &|s| s.flash.erases.sum() as f64);
        both("programs", 0.01, &|s| s.flash.programs.sum() as f64);
        both("alarms", 0.01, &|s| s.reclaim.counts.alarms as f64);
        // An extreme over few seeds varies by a few per cent.
        both("worst dose", 0.02, &|s| s.oracle.as_ref().unwrap().worst_dose_ratio);
        assert!(
            fluid.iter().any(|s| s.reclaim.counts.pages_copied > 100),
            "{}: nothing to compare",
            what("copies")
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let counts = || {
        let s = run(Gear::Fluid, "straw-wl", MIXED, 3, Sample::WHOLE);
        (s.host, s.flash.programs, s.flash.erases, s.reclaim.counts.alarms)
    };
    let (one, other) = (counts(), counts());
    assert_eq!(format!("{one:?}"), format!("{other:?}"));
}

/// Compares the means of four samples with the whole drive of 32 planes. The difference must lie
/// within the interval of the samples.
#[test]
fn samples_agree_with_the_whole_drive() {
    let size: &[&str] =
        &["geometry.dies_per_channel=8", "drive.capacity=2GiB", "start.overwrite=1"];
    let sets: [(&str, Vec<&str>); 3] = [
        ("block", [size, ZIPF, &["workload.requests=8000000"]].concat()),
        ("straw-wl", [size, HOT, &["workload.requests=8000000"]].concat()),
        (
            "block",
            [
                size,
                &[
                    "workload.read_share=0.9",
                    "workload.block_size=16KiB",
                    "workload.requests=4000000",
                ],
            ]
            .concat(),
        ),
    ];
    for (reclaim, set) in &sets {
        let whole = run(Gear::Fluid, reclaim, set, 1, Sample::WHOLE);
        let samples: Vec<Summary> = (0..4)
            .map(|residue| run(Gear::Fluid, reclaim, set, 1, Sample { of: 4, residue }))
            .collect();
        let within = |name: &str, value: &dyn Fn(&Summary) -> f64| {
            let (mean, variance) = mean(&of(&samples, value));
            // 12.9 is Student's t for three degrees of freedom at 99.9 %. At least 1 % is allowed.
            // Few events also differ by chance: three standard errors of a Poisson count. GC and
            // reclaim move the pages of a block together.
            let together = if name == "programs" { 128.0 } else { 1.0 };
            let by_chance = 3.0 * (mean * together / 4.0).sqrt();
            let allowed = (12.9 * variance.sqrt()).max(0.01 * mean).max(by_chance);
            let whole = value(&whole) / 4.0;
            assert!(
                (mean - whole).abs() <= allowed,
                "{reclaim} {set:?}: {name}: {mean} of a sample, {whole} of the whole, {allowed} \
                 apart at most"
            );
        };
        within("pages read", &|s| s.host.read_pages as f64);
        within("pages written", &|s| s.host.write_pages as f64);
        within("copies of reclaim", &|s| s.reclaim.counts.pages_copied as f64);
        within("erases", &|s| s.flash.erases.sum() as f64);
        within("programs", &|s| s.flash.programs.sum() as f64);
    }
}
