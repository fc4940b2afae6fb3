//! Time of one uniformly random host read in the oracle, in batches of 32. The drive has 2 TiB, and
//! its counters are far too large for any cache. `cargo test` runs it on a small drive, so that it
//! stays correct.

use divan::Bencher;
use divan::counter::ItemsCount;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{Bytes, Cause, Lpn, Ppn};
use vpass_drive::config::{DisturbConfig, DisturbModel, DriveConfig, PerPec};
use vpass_drive::watch::observer::{Event, NO_LPN, Observer, PhysRead};
use vpass_oracle::Oracle;

#[path = "../tests/oracle/common.rs"]
#[expect(dead_code, reason = "the tests use the rest")]
mod common;

const BATCH: usize = 32;
const BATCHES: usize = 1 << 12;

fn main() {
    divan::main();
}

/// Returns a drive with blocks of 2,568 TLC wordlines. In a benchmark it has 2 TiB of 16-KiB pages
/// and 3.5 % spare flash.
fn drive(model: DisturbModel) -> DriveConfig {
    let table = vec![
        PerPec { pec: 0, limit: vec![1e6, 5e5, 4e5], alpha: vec![8.0, 9.0, 9.5] },
        PerPec { pec: 2000, limit: vec![7e5, 3e5, 2e5], alpha: vec![8.5, 9.5, 10.0] },
    ];
    let groups = ["good", "fair", "worst"].map(String::from).to_vec();
    let blocks = if std::env::args().any(|arg| arg == "--bench") { 18_048 } else { 16 };
    let mut config = common::config(
        blocks,
        2568,
        DisturbConfig { model, groups, table, ..DisturbConfig::default() },
    );
    if blocks > 16 {
        config.drive.capacity = Some(Bytes(2 << 40));
    }
    config
}

/// Returns a full drive with page n at flash page n, and many batches of random reads.
fn full(model: DisturbModel) -> (Oracle, Vec<PhysRead>) {
    let config = drive(model);
    let geometry = Geometry::new(&config);
    let mut oracle = Oracle::new(&geometry, &config);
    for block in geometry.block_ids() {
        let first = geometry.first_page(block).number();
        let lpns = Lpn::new(first).run(geometry.pages_per_block);
        let lpns: Vec<Lpn> =
            lpns.map(|lpn| if lpn.number() < geometry.host_pages { lpn } else { NO_LPN }).collect();
        oracle.take(Event::Preloaded { block, lpns: &lpns });
    }
    let mut state = 1u64;
    let reads = (0..BATCH * BATCHES).map(|_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let page = (((state >> 32) * u64::from(geometry.host_pages)) >> 32) as u32;
        PhysRead::good(Lpn::new(page), Ppn::new(page), Cause::Host)
    });
    (oracle, reads.collect())
}

#[divan::bench(args = ["none", "wordline"], sample_count = 20, sample_size = 1)]
fn reads(bencher: Bencher, model: &str) {
    let (mut oracle, reads) =
        full(if model == "none" { DisturbModel::None } else { DisturbModel::Wordline });
    bencher.counter(ItemsCount::new(reads.len())).bench_local(|| {
        for batch in reads.chunks(BATCH) {
            oracle.take(Event::Reads { batch });
        }
    });
    assert!(!oracle.report().is_bug(), "{:?}", oracle.report().findings);
}

#[divan::bench(sample_count = 3, sample_size = 1)]
fn finish(bencher: Bencher) {
    let (mut oracle, reads) = full(DisturbModel::Wordline);
    reads.chunks(BATCH).for_each(|batch| oracle.take(Event::Reads { batch }));
    bencher.bench_local(|| oracle.finish());
}
