//! Tests of workloads with changing rates, in the fluid and the untimed gear. The workloads are
//! phases, a trace, and fio jobs with a rate.

use crate::common;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use common::{agree, of, seeds};
use vpass_drive::base::units::Cause;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Replay, Setup, Watch};
use vpass_workload::synthetic::Sample;

/// Folder for one test.
pub(crate) fn room(name: &str) -> PathBuf {
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&room).unwrap();
    room
}

pub(crate) fn file(room: &Path, name: &str, text: &str) -> PathBuf {
    let path = room.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

pub(crate) fn plan(gear: Gear, workload: Named, repeat: u32, seed: u64) -> Setup {
    let base = Base { gear, seed, oracle: Watch::On, ..Base::new("tiny") };
    Setup { repeat: std::num::NonZeroU32::new(repeat).unwrap(), ..Setup::new(base, workload) }
}

pub(crate) fn run(setup: &Setup, reclaim: &str) -> Summary {
    let plan = RunPlan::new(setup, Chosen { reclaim, ..Chosen::default() }, &unwatched)
        .unwrap_or_else(|e| panic!("{e}"));
    let summary = execute(&plan, &Unwatched).unwrap().summary;
    let oracle = summary.oracle.as_ref().unwrap();
    assert!(!oracle.is_bug(), "{reclaim} in the {} gear: {:?}", summary.gear, oracle.findings);
    summary
}

/// Compares both gears over several seeds: reads, writes, reclaim, wear, and the worst dose. Read
/// counts are constant in the stream, but the fluid gear draws them. Its worst dose is therefore
/// larger.
pub(crate) fn gears_agree(
    workload: &Named,
    reclaim: &str,
    repeat: u32,
    fewest_copies: u64,
    worst_within: f64,
) {
    let runs = |gear| -> Vec<Summary> {
        (1..=seeds())
            .map(|seed| run(&plan(gear, workload.clone(), repeat, seed), reclaim))
            .collect()
    };
    let (untimed, fluid) = (runs(Gear::Untimed), runs(Gear::Fluid));
    let both = |name: &str, value: &dyn Fn(&Summary) -> f64| {
        agree(&format!("{reclaim}: {name}"), 0.02, &of(&untimed, value), &of(&fluid, value));
    };
    both("read requests", &|s| s.host.read_requests as f64);
    both("bytes read", &|s| s.host.read_bytes as f64);
    both("pages read", &|s| s.host.read_pages as f64);
    both("pages written", &|s| s.host.write_pages as f64);
    both("erases of reclaim", &|s| s.flash.erases.of(Cause::Reclaim) as f64);
    both("copies of reclaim", &|s| s.reclaim.counts.pages_copied as f64);
    both("programs", &|s| s.flash.programs.sum() as f64);
    let worst = |s: &Summary| s.oracle.as_ref().unwrap().worst_dose_ratio;
    agree(
        &format!("{reclaim}: worst dose"),
        worst_within,
        &of(&untimed, worst),
        &of(&fluid, worst),
    );
    assert!(
        fluid.iter().any(|s| s.reclaim.counts.pages_copied >= fewest_copies),
        "{reclaim}: nothing to compare"
    );
}

/// Phases that read two hot sets, with writes between them.
const PHASES: &str = "[workload]\nrate = 10000.0\nrequests = 1500000\n\
    [[workload.phase]]\nranges = [[0, 400]]\norder = \"random\"\nrequests = 200000\n\
    [[workload.phase]]\nranges = [[300, 30000]]\nop = \"write\"\norder = \"random\"\n\
    requests = 2000\n\
    [[workload.phase]]\npages = [7, 9, 9, 40000]\nrequests = 50000\n";

#[test]
fn phases_agree() {
    let path = file(&room("phases"), "phases.toml", PHASES);
    for reclaim in ["block", "straw-wl"] {
        gears_agree(&Named::Workload(path.display().to_string()), reclaim, 2, 100, 0.02);
    }
}

/// Trace with the columns of MSR Cambridge. Some pages are read early, other pages later, and a few
/// pages are written.
fn trace(room: &Path) -> PathBuf {
    let mut text = String::new();
    let mut random = 1u64;
    let mut below = |n: u64| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % n
    };
    for row in 0..150_000u64 {
        let at = 128_166_372_000_000_000 + row * 2000 + below(1500);
        let hot = 30_000 * (row / 50_000) % 60_000;
        let (op, page, bytes) = match below(50) {
            0 => ("Write", below(60_000), 16_384),
            1..10 => ("Read", below(60_000), 24_576),
            _ => ("Read", hot + below(600), 8192),
        };
        let _ = writeln!(text, "{at},host,0,{op},{},{bytes},100", page * 16_384);
    }
    file(room, "trace.csv", &text)
}

#[test]
fn a_trace_agrees() {
    let files = vec![trace(&room("trace"))];
    for reclaim in ["block", "straw-wl"] {
        gears_agree(
            &Named::Trace { files: files.clone(), replay: Replay::default() },
            reclaim,
            10,
            100,
            0.05,
        );
    }
}

#[test]
fn jobs_with_a_rate_agree() {
    let job = "[reader]\nrw=randread\nbs=16k\nsize=16m\nfilename=a\nrate_iops=2000\n\
        number_ios=200000\nio_size=16g\n";
    let jobs = Named::Fio(file(&room("jobs"), "jobs.fio", job));
    gears_agree(&jobs, "straw-wl", 4, 100, 0.05);
}

/// Checks that samples of phases and of a trace have the right pages. Their reads and writes add up
/// to those of the whole drive.
#[test]
fn samples_add_up() {
    let room = room("samples");
    let phases = Named::Workload(file(&room, "phases.toml", PHASES).display().to_string());
    let trace = Named::Trace { files: vec![trace(&room)], replay: Replay::default() };
    for workload in [phases, trace] {
        let of =
            |sample| run(&Setup { sample, ..plan(Gear::Fluid, workload.clone(), 1, 1) }, "block");
        let whole = of(Sample::WHOLE);
        let samples: Vec<Summary> = (0..2).map(|residue| of(Sample { of: 2, residue })).collect();
        let sum = |value: &dyn Fn(&Summary) -> u64| samples.iter().map(value).sum::<u64>() as f64;
        let (reads, written) = (sum(&|s| s.host.read_pages), sum(&|s| s.host.write_pages));
        assert!(
            (reads - whole.host.read_pages as f64).abs() < 6.0 * reads.sqrt(),
            "{reads} of {}",
            whole.host.read_pages
        );
        assert!(
            (written - whole.host.write_pages as f64).abs() < 0.5,
            "{written} of {}",
            whole.host.write_pages
        );
    }
}
