//! Tests of lives of samples: results for the whole drive, and the intervals of these results.

use std::num::NonZeroUsize;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::Cause;
use vpass_drive::config::{DriveConfig, ProgramUnit};
use vpass_drive::hints::Hinted;
use vpass_lab::life::summary::Life;
use vpass_lab::life::{End, Until, live_all};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::unwatched;
use vpass_lab::setup::{Base, Gear, HintSource, Named, Setup, Watch};
use vpass_workload::synthetic::Sample;

/// Returns the lives of the tiny drive, one for each of its samples.
fn lives(reclaim: &str, of: u32, until: Until, set: &[&str]) -> Life {
    lives_of(1, reclaim, of, until, set)
}

/// Returns the lives of [`lives`] with another seed.
fn lives_of(seed: u64, reclaim: &str, of: u32, until: Until, set: &[&str]) -> Life {
    let common = [
        "workload.rate=10000",
        "workload.queue_depth=",
        "workload.block_size=16KiB",
        "start.overwrite=1",
    ];
    let set: Vec<String> = common.iter().chain(set).map(ToString::to_string).collect();
    let plan = |residue| {
        let base = Base {
            gear: Gear::Fluid,
            seed,
            set: set.clone(),
            oracle: Watch::On,
            ..Base::new("tiny")
        };
        let setup = Setup {
            sample: Sample { of, residue },
            ..Setup::new(base, Named::Workload("zipf-read".into()))
        };
        RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched)
            .unwrap_or_else(|e| panic!("{e}"))
    };
    let plans: Vec<RunPlan> = (0..of).map(plan).collect();
    let lived = live_all(&plans, until, NonZeroUsize::new(1), &unwatched).unwrap();
    Life::of(reclaim.into(), &plans, &lived)
}

/// Returns the configuration of the whole tiny drive.
fn tiny() -> DriveConfig {
    let setup = Setup::new(Base::new("tiny"), Named::Workload("zipf-read".into()));
    RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap().drive.config
}

fn near(what: &str, one: f64, other: f64, share: f64) {
    assert!((one - other).abs() <= share * other.abs(), "{what}: {one} and {other}");
}

#[test]
fn samples_are_of_a_whole_drive() {
    let [whole, halves] = [1, 2].map(|of| {
        lives("block", of, Until::default(), &["workload.read_share=0.95", "drive.rated_pec=12"])
    });
    near("years", halves.years.mean, whole.years.mean, 0.05);
    near(
        "bytes of the host's",
        halves.host_bytes_written.mean,
        whole.host_bytes_written.mean,
        0.05,
    );
    near(
        "bytes of the flash",
        halves.flash_bytes_written.mean,
        whole.flash_bytes_written.mean,
        0.05,
    );
    assert!(whole.years.ci95.is_none() && halves.worn_out && halves.lives.len() == 2);
    // For two values, the standard deviation divided by the square root of two is half of the
    // difference. 12.7062 is Student's t for one degree of freedom.
    let [one, other] = [0, 1].map(|at| halves.lives[at].years);
    near("interval", halves.years.ci95.unwrap(), 12.7062 * (one - other).abs() / 2.0, 1e-4);
    near("mean", halves.years.mean, f64::midpoint(one, other), 1e-12);
}

#[test]
fn losses_end_the_lives_of_samples_and_of_a_whole_drive_alike() {
    // All pages are read equally often, so the pages with the lowest limits are lost first. A life
    // ends once reads have found 1 in 1,000 pages lost. More pages may be lost, which no read has
    // found.
    let set = ["workload.distribution=uniform", "start.pec=2900"];
    let ended = |seed, of| {
        let life = lives_of(seed, "none", of, Until::default(), &set);
        assert!(life.lives.iter().all(|one| one.end == End::LostData), "{:?}", life.lives);
        let pages = f64::from(Geometry::new(&tiny()).host_pages);
        let share = life.data_lost_pages / pages;
        assert!(share > 1e-3 && share < 0.2, "{share} of the pages");
        life.years.mean
    };
    let pairs: Vec<[f64; 2]> = (1..=6).map(|seed| [1, 2].map(|of| ended(seed, of))).collect();
    let mean = |of: &dyn Fn(&[f64; 2]) -> f64| pairs.iter().map(of).sum::<f64>() / 6.0;
    let (whole, apart) = (mean(&|pair| pair[0]), mean(&|pair| pair[1] - pair[0]));
    let variance = mean(&|pair| (pair[1] - pair[0] - apart).powi(2)) * 6.0 / 5.0;
    // 4.032 is Student's t for five degrees of freedom at 99 %.
    let noise = 4.032 * (variance / 6.0).sqrt();
    assert!(noise < 0.1 * whole, "{pairs:?} are too few to compare");
    assert!(apart.abs() <= 0.1 * whole, "{pairs:?}: {apart} apart");
}

/// A small sample gets only one page of a 4-MiB buffer. With a buffer of one page, a drive would
/// write a wordline for every page.
#[test]
fn small_samples_keep_a_write_buffer() {
    let set = [
        "workload.rate=20k",
        "workload.queue_depth=",
        "workload.block_size=16KiB",
        "drive.write_buffer=4MiB",
    ]
    .map(str::to_owned)
    .to_vec();
    let base = Base { gear: Gear::Fluid, set, oracle: Watch::On, ..Base::new("modern-tlc") };
    let setup = Setup {
        sample: Sample { of: 256, residue: 0 },
        ..Setup::new(base, Named::Workload("random-70-30".into()))
    };
    let plans =
        [RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_or_else(|e| panic!("{e}"))];
    let lived =
        live_all(&plans, Until { years: Some(2e-5), uber: None }, NonZeroUsize::new(1), &unwatched)
            .unwrap()
            .remove(0);
    assert_eq!(plans[0].drive.config.drive.write_buffer.0, 2 * 16_384);
    let written = lived.host.write_bytes as f64 / 16_384.0;
    assert!(written > 5000.0 && plans[0].drive.config.timing.program_unit == ProgramUnit::Wordline);
    near("pages programmed for the host", lived.programs.of(Cause::Host) as f64, written, 0.01);
}

/// The drive has 117,187,500 pages in 256 samples, so the first 172 samples have one page more. If
/// all pages have the same hint, all pages of each sample must have it, too.
#[test]
fn every_sample_has_the_hints_of_the_whole_drive() {
    let hints = HintSource::File(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/hints/all-idle.toml").into(),
    );
    let set = ["workload.rate=20k", "workload.queue_depth="].map(str::to_owned).to_vec();
    let base = Base { gear: Gear::Fluid, set, oracle: Watch::On, ..Base::new("modern-tlc") };
    let setup = Setup {
        hints,
        sample: Sample { of: 256, residue: 0 },
        ..Setup::new(base, Named::Workload("zipf-read".into()))
    };
    let plan =
        RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_or_else(|e| panic!("{e}"));
    for residue in [0, 171, 172, 200, 255] {
        let config = plan.clone().of_residue(residue).drive.config;
        let (page, capacity) = (config.geometry.page_size.0, config.drive.capacity.unwrap().0);
        let words =
            Hinted::new(config.hints.said.as_ref().unwrap(), page, (capacity / page) as u32)
                .in_use();
        assert_eq!(words, [AccessLatency::Idle], "residue {residue}");
    }
}
