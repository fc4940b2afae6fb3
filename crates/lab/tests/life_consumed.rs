//! Tests of the causes of wear. The expected numbers are computed from the length of a life, the
//! data written in it, and the size of a block.

use std::num::NonZeroUsize;

use vpass_drive::base::span::YEAR;
use vpass_drive::base::units::Cause;
use vpass_lab::life::summary::Life;
use vpass_lab::life::{End, Lived, Until, live_all};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::unwatched;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup, Watch};

/// Sizes of the tiny drive: pages of the host, and pages of a block.
const HOST_PAGES: f64 = 65_536.0;
const OF_A_BLOCK: f64 = 192.0;
const PAGE: f64 = 16_384.0;

fn plan(gear: Gear, chosen: Chosen, set: &[&str]) -> RunPlan {
    let common = ["workload.rate=10000", "workload.queue_depth=", "workload.block_size=16KiB"];
    let set = common.iter().chain(set).map(ToString::to_string).collect();
    let base = Base { gear, set, oracle: Watch::On, ..Base::new("tiny") };
    RunPlan::new(&Setup::new(base, Named::Workload("zipf-read".into())), chosen, &unwatched)
        .unwrap_or_else(|e| panic!("{e}"))
}

fn life(gear: Gear, chosen: Chosen, set: &[&str]) -> (Lived, Life, f64) {
    let plans = [plan(gear, chosen, set)];
    let of =
        |until: Until| live_all(&plans, until, NonZeroUsize::new(1), &unwatched).unwrap().remove(0);
    let lived = of(Until::default());
    adds_up(&lived, &of(Until { years: Some(1e-9), uber: None }));
    assert!(lived.end == End::WornOut && !lived.oracle.as_ref().unwrap().is_bug());
    let life = Life::of("one".into(), &plans, std::slice::from_ref(&lived));
    let seconds = lived.years * YEAR as f64 / 1e9;
    (lived, life, seconds)
}

fn near(what: &str, one: f64, other: f64, share: f64) {
    assert!((one - other).abs() <= share * other.abs(), "{what}: {one} and {other}");
}

/// Checks that the programmed pages fill the erased blocks. Also checks that the P/E cycles of the
/// mean block are the erases divided by the number of blocks.
fn adds_up(lived: &Lived, start: &Lived) {
    let (programmed, erased) = Cause::ALL.iter().fold((0.0, 0.0), |(programmed, erased), cause| {
        (programmed + lived.programs.of(*cause) as f64, erased + lived.erases.of(*cause) as f64)
    });
    near("P/E cycles", lived.pec_mean - start.pec_mean, erased / blocks(), 1e-3);
    // The programmed pages differ from the pages of the erased blocks by at most the whole drive.
    assert!(
        (programmed - erased * OF_A_BLOCK).abs() <= blocks() * OF_A_BLOCK,
        "{programmed} pages, {erased} blocks"
    );
}

/// Checks that shares and bytes follow from the programmed pages.
fn shares_add_up(lived: &Lived, life: &Life) {
    let consumed = life.consumed.as_ref().unwrap();
    near("shares", consumed.rows().iter().map(|(_, share)| share.mean).sum(), 1.0, 1e-9);
    let programmed: f64 = Cause::ALL.iter().map(|cause| lived.programs.of(*cause) as f64).sum();
    near("bytes", life.flash_bytes_written.mean, programmed * PAGE, 1e-9);
    let named = [
        ("host", consumed.host, Cause::Host),
        ("GC", consumed.gc, Cause::Gc),
        ("reads", consumed.reads, Cause::Reclaim),
        ("age", consumed.age, Cause::Refresh),
        ("levelling", consumed.wear_levelling, Cause::Wear),
        ("parity", consumed.parity, Cause::Parity),
        ("hints", consumed.hints, Cause::Hint),
    ];
    for ((row, told), (name, share, cause)) in consumed.rows().into_iter().zip(named) {
        assert_eq!((row, told), (name, share));
        near(name, share.mean * programmed, lived.programs.of(cause) as f64, 1e-9);
    }
}

/// Returns the number of blocks of the tiny drive.
fn blocks() -> f64 {
    let plan = plan(Gear::Untimed, Chosen::default(), &["workload.requests=1"]);
    let geometry = &plan.drive.config.geometry;
    f64::from(geometry.blocks_per_plane.unwrap() * geometry.planes())
}

#[test]
fn reads_alone() {
    let set = ["drive.rated_pec=12", "workload.distribution=uniform", "workload.rate=1000"];
    let (lived, life, seconds) = life(Gear::Fluid, Chosen::default(), &set);
    shares_add_up(&lived, &life);
    let consumed = life.consumed.unwrap();
    assert!((consumed.reads.mean - 1.0).abs() < 1e-12 && lived.host.write_bytes == 0);
    // Whole blocks move, so each erase follows the copying of a block's pages.
    near(
        "copies",
        lived.programs.of(Cause::Reclaim) as f64,
        lived.erases.of(Cause::Reclaim) as f64 * OF_A_BLOCK,
        0.05,
    );
    near("reads", lived.host.read_pages as f64, seconds * 1000.0, 0.01);
    // All blocks are read at the same rate and rewritten at the same number of reads. So twice the
    // reads halve the life.
    let twice = ["drive.rated_pec=12", "workload.distribution=uniform", "workload.rate=2000"];
    near(
        "a drive that is read twice as often",
        self::life(Gear::Fluid, Chosen::default(), &twice).2,
        seconds / 2.0,
        0.05,
    );
}

#[test]
fn writes_alone() {
    let set = [
        "drive.rated_pec=40",
        "workload.read_share=0",
        "workload.distribution=uniform",
        "start.overwrite=2",
        "workload.rate=100",
    ];
    for gear in [Gear::Fluid, Gear::Untimed] {
        let (lived, life, seconds) =
            life(gear, Chosen { reclaim: "none", ..Chosen::default() }, &set);
        shares_add_up(&lived, &life);
        let consumed = life.consumed.unwrap();
        assert!(consumed.reads.mean == 0.0 && consumed.age.mean == 0.0);
        near("bytes of the host's", lived.host.write_bytes as f64, seconds * 100.0 * PAGE, 0.02);
        // Some pages are overwritten in the write buffer, or wait there at the end. These pages are
        // not programmed.
        near(
            "the host's share",
            consumed.host.mean * life.flash_bytes_written.mean,
            lived.host.write_bytes as f64,
            0.01,
        );
        near("the others'", 1.0 / consumed.host.mean, life.write_amplification.unwrap().mean, 0.01);
        // Wear is even, so all cycles follow from the pages of the host and the pages that GC moves
        // for them.
        let cycles = (40.0 - 2.0) * blocks() * OF_A_BLOCK;
        near(
            "cycles",
            cycles / life.write_amplification.unwrap().mean * PAGE,
            lived.host.write_bytes as f64,
            0.1,
        );
    }
}

/// Checks that a life of some seconds also ends at the rated P/E cycles.
#[test]
fn a_life_of_seconds_ends_in_time() {
    let set = ["drive.rated_pec=4", "workload.distribution=uniform", "workload.rate=200000"];
    let (lived, _, seconds) = life(Gear::Fluid, Chosen::default(), &set);
    near("P/E cycles", lived.pec_mean, 4.0, 0.02);
    near("reads", lived.host.read_pages as f64, seconds * 200_000.0, 0.01);
}

#[test]
fn lives_come_in_the_order_of_their_plans() {
    let plans = ["workload.read_share=0", "workload.read_share=1"]
        .map(|share| plan(Gear::Fluid, Chosen::default(), &[share]));
    let lived =
        live_all(&plans, Until { years: Some(1e-6), uber: None }, NonZeroUsize::new(2), &unwatched)
            .unwrap();
    assert!(
        lived[0].host.write_bytes > 0
            && lived[0].host.read_pages == 0
            && lived[1].host.write_bytes == 0
            && lived[1].host.read_pages > 0,
        "{lived:?}"
    );
}

#[test]
fn age_alone() {
    let set = ["drive.rated_pec=8", "refresh.period=2000s", "workload.rate=0.001"];
    let (lived, life, seconds) = life(
        Gear::Fluid,
        Chosen { reclaim: "block", refresh: Some("block"), ..Chosen::default() },
        &set,
    );
    shares_add_up(&lived, &life);
    let consumed = life.consumed.unwrap();
    assert!(consumed.age.mean > 0.95, "{consumed:?}");
    // Each period rewrites all data once. Some data is rewritten slightly earlier, and none later.
    let passes = lived.programs.of(Cause::Refresh) as f64 / HOST_PAGES;
    assert!((1.0..1.35).contains(&(passes * 2000.0 / seconds)), "{passes} passes in {seconds} s");
}

/// Checks a life in which all causes wear the drive.
#[test]
fn all_causes() {
    let set = [
        "drive.rated_pec=25",
        "refresh.period=1500s",
        "workload.rate=1000",
        "workload.read_share=0.97",
        "start.overwrite=1",
    ];
    let (lived, life, seconds) = life(
        Gear::Fluid,
        Chosen { reclaim: "straw-wl", refresh: Some("block"), ..Chosen::default() },
        &set,
    );
    shares_add_up(&lived, &life);
    let consumed = life.consumed.unwrap();
    assert!(
        [consumed.host, consumed.gc, consumed.age].iter().all(|share| share.mean > 0.01),
        "{consumed:?}"
    );
    near(
        "bytes of the host's",
        lived.host.write_bytes as f64,
        seconds * 1000.0 * 0.03 * PAGE,
        0.02,
    );
}

/// Compares the projection printed after a run with the exact life.
#[test]
fn projections_are_near_lives() {
    let cases: [(&str, &[&str]); 3] = [
        ("block", &["workload.distribution=zipf:0.9"]),
        ("straw-wl", &["workload.distribution=hot-cold:0.1/0.9"]),
        (
            "block",
            &["workload.distribution=zipf:0.9", "workload.read_share=0.98", "start.overwrite=1"],
        ),
    ];
    for (reclaim, set) in cases {
        let chosen = Chosen { reclaim, ..Chosen::default() };
        let set = [&["drive.rated_pec=100"], set].concat();
        let run = [&set[..], &["workload.requests=8000000"]].concat();
        let summary = execute(&plan(Gear::Fluid, chosen, &run), &vpass_lab::progress::Unwatched)
            .unwrap()
            .summary;
        let projected = summary.wear.projected_life_days.unwrap_or_else(|| {
            panic!("{reclaim} {set:?}: {} cycles", summary.wear.cycles_observed)
        });
        let lived = self::life(Gear::Fluid, chosen, &set).2 / 86_400.0;
        near(&format!("{reclaim} {set:?}"), projected, lived, 0.15);
    }
}
