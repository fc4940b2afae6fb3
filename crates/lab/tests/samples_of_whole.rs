//! Tests of small samples against their whole drives. Write amplification and life must agree
//! within 1 %.
//!
//! A whole drive of 1,512 blocks is small enough to be simulated. Its eight samples have the
//! smallest size allowed, and together hold the data of the whole drive. Any difference is an error
//! of sampling or chance.

use std::num::NonZeroUsize;

use vpass_lab::life::summary::Life;
use vpass_lab::life::{Until, live_all};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::unwatched;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};
use vpass_workload::synthetic::Sample;

/// Simulated drive and technique.
struct Case {
    drive: &'static str,
    reclaim: &'static str,
    set: &'static [&'static str],
}

const COMMON: [&str; 5] = [
    "workload.rate=10000",
    "workload.queue_depth=",
    "workload.block_size=16KiB",
    "start.overwrite=1",
    "workload.distribution=uniform",
];

/// Drive with 1,280 blocks of data and 232 spare blocks, on 8 planes of 4 dies.
const SIZE: &str = "drive.capacity=3840MiB";

fn plans(case: &Case, samples: Sample, residues: u32, seeds: u64, oracle: Watch) -> Vec<RunPlan> {
    let set: Vec<String> = COMMON.iter().chain(case.set).map(ToString::to_string).collect();
    let plan = |residue, seed| {
        let base =
            Base { gear: Gear::Fluid, set: set.clone(), seed, oracle, ..Base::new(case.drive) };
        let setup = Setup {
            sample: Sample { residue, ..samples },
            ..Setup::new(base, Named::Workload("zipf-read".into()))
        };
        RunPlan::new(&setup, Chosen { reclaim: case.reclaim, ..Chosen::default() }, &unwatched)
            .unwrap_or_else(|e| panic!("{e}"))
    };
    (0..residues)
        .flat_map(|residue| (1..=seeds).map(move |seed| (residue, seed)))
        .map(|(residue, seed)| plan(residue, seed))
        .collect()
}

/// Returns lives of this many samples, or of the whole drive.
fn lives(case: &Case, of: u32, seeds: u64, oracle: Watch) -> Life {
    let plans = plans(case, Sample { of, residue: 0 }, of, seeds, oracle);
    let lived = live_all(&plans, Until::default(), NonZeroUsize::new(2), &unwatched).unwrap();
    assert!(
        lived.iter().all(|life| life.oracle.as_ref().is_none_or(|oracle| !oracle.is_bug())),
        "{}",
        case.reclaim
    );
    Life::of(case.reclaim.into(), &plans, &lived)
}

fn near(what: &str, sample: f64, right: f64, share: f64) {
    assert!(
        (sample / right - 1.0).abs() <= share,
        "{what}: {sample} by samples, but {right} is right"
    );
}

/// Compares all samples 1/`of` of a drive with the whole drive.
fn samples_are_right(case: &Case, of: u32, seeds: u64) {
    let (whole, samples) = (lives(case, 1, seeds, Watch::Off), lives(case, of, seeds, Watch::Off));
    let what = format!("{} {:?} 1/{of}", case.reclaim, case.set);
    near(&format!("{what}: years"), samples.years.mean, whole.years.mean, 0.01);
    if let (Some(sample), Some(whole)) = (samples.write_amplification, whole.write_amplification) {
        near(&format!("{what}: write amplification"), sample.mean, whole.mean, 0.01);
    }
    near(
        &format!("{what}: bytes programmed"),
        samples.flash_bytes_written.mean,
        whole.flash_bytes_written.mean,
        0.01,
    );
}

#[test]
fn the_smallest_samples_live_as_long_as_the_whole_drive() {
    let cases = [
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &[SIZE, "drive.rated_pec=14", "workload.read_share=0.5"],
        },
        // Reads cause nearly half of the programs.
        Case {
            drive: "tiny",
            reclaim: "block",
            set: &[SIZE, "drive.rated_pec=14", "workload.read_share=0.995"],
        },
    ];
    for case in &cases {
        samples_are_right(case, 8, 1);
    }
}

/// Samples of a drive that is not full live as long as the whole drive. Reads cause all wear, and a
/// part of them reads pages without data.
#[test]
fn samples_live_as_long_at_any_fill() {
    for fill in ["start.fill=0.3", "start.fill=0.5", "start.fill=0.9"] {
        let set = Vec::leak(vec![SIZE, "drive.rated_pec=14", "workload.read_share=1", fill]);
        samples_are_right(&Case { drive: "tiny", reclaim: "block", set }, 8, 1);
    }
}

/// Returns the write amplification of greedy GC under uniform writes. It is 1 / (1 - v), with
/// ln(1/v) = (1 - v) / alpha (Desnoyers, ACM TOS 10(2), 2014).
fn closed_form(alpha: f64) -> f64 {
    let v = (0..10_000).fold(0.0, |v: f64, _| (-(1.0 - v) / alpha).exp());
    1.0 / (1.0 - v)
}

/// Simulates uniform writes to the smallest sample of `modern-tlc`. Its write amplification must be
/// that of the closed form for the whole drive.
#[test]
fn the_smallest_sample_of_a_large_drive_has_its_write_amplification() {
    // The drive has 64 planes of 735 blocks of 2,856 pages. Two blocks are free. The host and GC
    // each have 16 open blocks, which are half full.
    let written = (64.0 * 735.0 - 2.0 - 32.0 / 2.0) * 2856.0;
    let right = closed_form(117_187_500.0 / written);
    assert!((right - 4.11).abs() < 0.01, "{right}");
    let case = Case {
        drive: "modern-tlc",
        reclaim: "straw-wl",
        set: &["start.pec=2990", "workload.read_share=0.5"],
    };
    let plans = plans(&case, Sample { of: 256, residue: 0 }, 2, 1, Watch::Off);
    let lived = live_all(&plans, Until::default(), NonZeroUsize::new(2), &unwatched).unwrap();
    let life = Life::of("straw-wl".into(), &plans, &lived);
    near("write amplification", life.write_amplification.unwrap().mean, right, 0.01);
    // The life is ten cycles of all pages, at 10,000 requests per second, of which half are writes.
    let host_pages = 10.0 * 64.0 * 735.0 * 2856.0 / right;
    near("years", life.years.mean, host_pages / 5000.0 / (365.25 * 86_400.0), 0.01);
}

/// Checks that the oracle, which counts the cycles of samples by itself, finds no error.
#[test]
fn the_oracle_agrees_with_samples() {
    let case = Case {
        drive: "tiny",
        reclaim: "straw-wl",
        set: &[SIZE, "drive.rated_pec=8", "workload.read_share=0.99"],
    };
    lives(&Case { ..case }, 8, 1, Watch::On);
}

/// Compares several geometries, spares, techniques and workloads, at several sizes of samples. The
/// seeds are enough to show a difference of 1 %.
#[test]
#[ignore = "minutes: make soak"]
fn samples_of_many_drives_live_as_long_as_the_whole_drives() {
    const LONG: &str = "drive.rated_pec=30";
    let cases = [
        Case { drive: "tiny", reclaim: "none", set: &[SIZE, LONG, "workload.read_share=0"] },
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &["drive.capacity=4GiB", LONG, "workload.read_share=0.9", "drive.spare=0.07"],
        },
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &[SIZE, LONG, "workload.read_share=0.9", "drive.spare=0.28"],
        },
        Case { drive: "tiny", reclaim: "block", set: &[SIZE, LONG, "workload.read_share=0.99"] },
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &[SIZE, LONG, "workload.read_share=0.9", "workload.distribution=zipf:0.6"],
        },
        Case {
            drive: "tiny",
            reclaim: "none",
            set: &[SIZE, LONG, "workload.read_share=0.5", "workload.distribution=hot-cold:0.2/0.8"],
        },
        // The technique gives read-hot data streams of its own.
        Case {
            drive: "tiny",
            reclaim: "ipr",
            set: &[
                SIZE,
                LONG,
                "workload.read_share=0.99",
                "workload.distribution=hot-cold:0.1/0.9",
            ],
        },
        // This drive has eight dies of one plane each.
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &[
                SIZE,
                LONG,
                "workload.read_share=0.9",
                "geometry.channels=4",
                "geometry.planes_per_die=1",
            ],
        },
        // This drive has one die of four planes, and blocks of 576 pages.
        Case {
            drive: "tiny",
            reclaim: "straw-wl",
            set: &[
                "drive.capacity=12GiB",
                LONG,
                "workload.read_share=0.5",
                "geometry.channels=1",
                "geometry.dies_per_channel=1",
                "geometry.planes_per_die=4",
                "geometry.wordlines_per_block=192",
            ],
        },
    ];
    for case in &cases {
        for of in [2, 4, 8] {
            samples_are_right(case, of, 4);
        }
    }
}
