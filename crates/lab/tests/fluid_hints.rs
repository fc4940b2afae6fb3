//! Tests of drives whose reads take retries, with and without hints, in the fluid and the untimed
//! gear.

use crate::common;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::{agree, mean, of, seeds};
use vpass_drive::base::units::Cause;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, HintSource, Named, Setup, Watch};
use vpass_workload::synthetic::Sample;

struct Case {
    reclaim: &'static str,
    /// Text of the hint file; `None` without hints.
    hints: Option<&'static str>,
    set: &'static [&'static str],
}

/// Hint "idle" for all data, so that all reads may be slow.
const ALL: &str = "[[range]]\noffset = 0\nbytes = \"1GiB\"\naccess_latency = \"idle\"\n";
/// Hint "idle" for one range, and "typical" for another.
const SOME: &str = "[[range]]\noffset = 0\nbytes = \"300MiB\"\naccess_latency = \"idle\"\n\
    [[range]]\noffset = \"500MiB\"\nbytes = \"200MiB\"\naccess_latency = \"typical\"\n";
const HOT: &[&str] = &["workload.distribution=hot-cold:0.1/0.9", "workload.requests=6000000"];
const BRIEF: &[&str] =
    &["workload.distribution=hot-cold:0.1/0.9", "workload.requests=1000000", "workload.rate=1000"];
const REGROUPED: &[&str] = &[
    "workload.distribution=hot-cold:0.1/0.9",
    "workload.requests=1000000",
    "workload.rate=1000",
    "hints.regroup=0.4",
];
const WRITES: &[&str] = &[
    "workload.distribution=hot-cold:0.1/0.9",
    "workload.requests=6000000",
    "workload.read_share=0.999",
];

const CASES: [Case; 6] = [
    Case { reclaim: "block", hints: Some(SOME), set: HOT },
    Case { reclaim: "straw-wl", hints: Some(ALL), set: HOT },
    Case { reclaim: "straw-wl", hints: Some(SOME), set: WRITES },
    Case { reclaim: "erased-probe", hints: Some(ALL), set: HOT },
    Case { reclaim: "observed-retries", hints: None, set: HOT },
    Case { reclaim: "observed-retries", hints: Some(SOME), set: WRITES },
];

/// Tiny drive with error rates and two retries.
fn drive(room: &Path) -> PathBuf {
    let tiny = include_str!("../../../presets/drives/tiny.toml");
    let tired = "\n[error]\nmodel = \"powerlaw\"\ne = 0.0045\nb = 0.0\n\n\
        [ecc]\ncodeword = \"4KiB\"\n\
        cap = [0.0085, 0.01, 0.012]\n\
        retry_decode_us = [50, 70]\n\n[hints]\ntypical_us = 200\nidle_us = 1000\n";
    let path = room.join("tired.toml");
    std::fs::write(&path, format!("{tiny}{tired}")).unwrap();
    path
}

fn setup(room: &Path, gear: Gear, case: &Case, seed: u64) -> Setup {
    let drive = drive(room);
    let common = ["workload.rate=10000", "workload.queue_depth="];
    let set = common.iter().chain(case.set).map(ToString::to_string).collect();
    let base =
        Base { gear, seed, set, oracle: Watch::On, ..Base::new(drive.display().to_string()) };
    let hints = case.hints.map_or(HintSource::Off, |text| {
        let path = room.join(format!("hints-{}.toml", text.len()));
        std::fs::write(&path, text).unwrap();
        HintSource::File(path)
    });
    Setup { hints, ..Setup::new(base, Named::Workload("zipf-read".into())) }
}

fn run(setup: &Setup, reclaim: &str) -> Summary {
    let plan = RunPlan::new(setup, Chosen { reclaim, ..Chosen::default() }, &unwatched)
        .unwrap_or_else(|e| panic!("{e}"));
    let summary = execute(&plan, &Unwatched).unwrap().summary;
    let oracle = summary.oracle.as_ref().unwrap();
    assert!(!oracle.is_bug(), "{reclaim} in the {} gear: {:?}", summary.gear, oracle.findings);
    summary
}

fn room(name: &str) -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&room).unwrap();
    room
}

#[test]
fn retries_and_hints_agree() {
    let room = room("hints-agree");
    for case in &CASES {
        let what = |name: &str| format!("{} {:?} {:?}: {name}", case.reclaim, case.hints, case.set);
        let runs = |gear| -> Vec<Summary> {
            (1..=seeds()).map(|seed| run(&setup(&room, gear, case, seed), case.reclaim)).collect()
        };
        let (untimed, fluid) = (runs(Gear::Untimed), runs(Gear::Fluid));
        let both = |name: &str, value: &dyn Fn(&Summary) -> f64| {
            agree(&what(name), 0.01, &of(&untimed, value), &of(&fluid, value))
        };
        both("pages read", &|s| s.host.read_pages as f64);
        both("copies of reclaim", &|s| s.reclaim.counts.pages_copied as f64);
        both("programs", &|s| s.flash.programs.sum() as f64);
        for retries in 1..3 {
            both(&format!("{retries} retries"), &|s| {
                s.retries.as_ref().unwrap().histogram[retries] as f64
            });
        }
        if case.hints.is_some() {
            for word in 0..3 {
                let of_word = |s: &Summary| s.hints.unwrap().words()[word].1;
                both("reads of a hint", &|s| of_word(s).reads as f64);
                both("budgets missed", &|s| of_word(s).missed_budgets as f64);
                both("pages of a hint", &|s| of_word(s).pages as f64);
            }
        }
        let retried = mean(&of(&fluid, |s| s.retries.as_ref().unwrap().reads_with_retry as f64)).0;
        assert!(
            case.reclaim == "block" || retried > 30.0,
            "{}: {retried}",
            what("no read took a retry")
        );
    }
}

/// Checks that every page of a sample has the hint that it has on the whole drive.
#[test]
fn a_sample_has_the_hints_of_its_pages() {
    let room = room("hints-sample");
    let case = &CASES[2];
    let whole = run(&setup(&room, Gear::Fluid, case, 1), case.reclaim).hints.unwrap();
    let of_samples: Vec<_> = (0..2)
        .map(|residue| {
            run(
                &Setup { sample: Sample { of: 2, residue }, ..setup(&room, Gear::Fluid, case, 1) },
                case.reclaim,
            )
            .hints
            .unwrap()
        })
        .collect();
    for word in 0..3 {
        let of_word = |hints: &vpass_lab::results::Hints| hints.words()[word].1;
        let pages: u64 = of_samples.iter().map(|hints| of_word(hints).pages).sum();
        let reads: u64 = of_samples.iter().map(|hints| of_word(hints).reads).sum();
        assert_eq!(pages, of_word(&whole).pages);
        assert!(
            (reads as f64 - of_word(&whole).reads as f64).abs() <= 6.0 * (reads as f64).sqrt(),
            "{reads} {:?}",
            of_word(&whole)
        );
    }
}

/// The hints change every 2 MiB. So every block has data with several hints, until the drive
/// regroups the data.
#[test]
fn data_is_regrouped_in_both_gears() {
    let room = room("hints-regroup");
    let mut mixed = String::new();
    for n in 0..250 {
        let _ = writeln!(
            mixed,
            "[[range]]\noffset = \"{}MiB\"\nbytes = \"2MiB\"\naccess_latency = \"idle\"",
            4 * n
        );
    }
    let of = |gear, set: &'static [&'static str]| {
        let case = Case { reclaim: "block", hints: Some(mixed.clone().leak()), set };
        let summary = run(&setup(&room, gear, &case, 1), case.reclaim);
        (
            summary.hints.unwrap().idle.pages_kept_tighter as f64,
            summary.flash.programs.of(Cause::Hint) as f64,
        )
    };
    let ((kept, none), (left, moved)) = (of(Gear::Fluid, BRIEF), of(Gear::Fluid, REGROUPED));
    let (left_untimed, moved_untimed) = of(Gear::Untimed, REGROUPED);
    assert!(none == 0.0 && kept > 20_000.0, "{kept}");
    assert!(
        left < 0.05 * kept && left_untimed < 0.05 * kept,
        "{left} and {left_untimed} of {kept}"
    );
    // Reclaim and GC also regroup the blocks that they take first.
    assert!(
        moved > kept && (moved / moved_untimed - 1.0).abs() < 0.1,
        "{moved} and {moved_untimed}"
    );
}

/// Pages 0 and 16 start in one block, and only page 0 has a hint. One phase reads page 0, and the
/// next phase reads page 16.
#[test]
fn reads_of_phases_have_the_hints_of_their_own_pages() {
    let room = room("hints-phases");
    let phases = room.join("phases.toml");
    let text = "[workload]\nrate = 1000.0\n[[workload.phase]]\npages = [0]\nrequests = 3000\n\
        [[workload.phase]]\npages = [16]\nrequests = 1000\n";
    std::fs::write(&phases, text).unwrap();
    let hints = "[[range]]\noffset = 0\nbytes = \"16KiB\"\naccess_latency = \"idle\"\n";
    let of = |gear| {
        let case = Case { reclaim: "block", hints: Some(hints), set: &[] };
        let of_case = setup(&room, gear, &case, 1);
        let base = Base { set: vec![], ..of_case.base.clone() };
        let summary = run(
            &Setup {
                hints: of_case.hints,
                ..Setup::new(base, Named::Workload(phases.display().to_string()))
            },
            case.reclaim,
        );
        let hints = summary.hints.unwrap();
        (hints.idle.reads, hints.smallest.reads)
    };
    assert_eq!(of(Gear::Untimed), (3000, 1000));
    let (idle, smallest) = of(Gear::Fluid);
    // The allowed differences are six standard deviations of a Poisson count.
    assert!(idle.abs_diff(3000) < 330 && smallest.abs_diff(1000) < 190, "{idle} and {smallest}");
}
