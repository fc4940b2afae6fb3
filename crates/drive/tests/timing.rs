//! Correctness of time: closed forms, an exact queueing result, and figures from published
//! simulators.

use crate::common;

use common::{Cycle, Uniform, run_timed};
use vpass_drive::base::request::Arrival;

/// Drive of the cross-check: 8 channels x 4 chips x 1 die x 2 planes x 256 blocks x 64 pages x 16
/// KiB.
const CROSS_CHECK: &str = r#"
    geometry = { channels = 8, dies_per_channel = 4, planes_per_die = 2, blocks_per_plane = 256, wordlines_per_block = 64, cell = "slc", page_size = "16KiB" }
    timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
    drive = { spare = 0.1 }
"#;

fn mean_us(text: &str, requests: u64, bytes: u32, depth: u32) -> f64 {
    let capacity = common::config(text).drive.capacity.unwrap().0;
    let (_, engine) = run_timed(text, &mut Uniform::reads(requests, capacity, bytes, depth));
    engine.metrics().read.mean_ns() / 1e3
}

#[test]
fn agrees_with_mqsim_at_queue_depth_1_and_16() {
    let small = mean_us(CROSS_CHECK, 20_000, 4096, 1);
    assert!(
        (small - 55.12).abs() < 1e-9 && (small - 55.0).abs() < 1.0,
        "4 KiB at QD 1: {small} us"
    );
    let large = mean_us(CROSS_CHECK, 20_000, 16_384, 1);
    assert!(
        (large - 70.48).abs() < 1e-9 && (large - 71.0).abs() < 1.0,
        "16 KiB at QD 1: {large} us"
    );
    let deep = mean_us(CROSS_CHECK, 1_000_000, 4096, 16);
    assert!((deep / 73.0 - 1.0).abs() < 0.03, "4 KiB at QD 16: {deep} us, MQSim prints 73");
}

#[test]
fn an_unloaded_read_takes_the_sum_of_its_parts() {
    let text = CROSS_CHECK
        .replace("channel_mb_s = 800", "channel_mb_s = 800, ecc_us = 3.5, host_mb_s = 4000");
    let (_, engine) = run_timed(&text, &mut Uniform::reads(1000, 1 << 30, 16_384, 1));
    let read = &engine.metrics().read;
    assert_eq!((read.mean_ns() * 1e3) as u64, (50_000 + 20_480 + 3_500 + 4_096) * 1000);
    assert_eq!(engine.last_completion(), 1000 * 78_076);
}

/// Returns the reads per second if every die (and plane) always has a waiting read. Pages that were
/// filled in order are on the 32 dies in turn, with a row of 32 blocks in each plane.
fn saturated_reads_per_s(text: &str, bytes: u32) -> f64 {
    let page = |row: u64, i: u64| (row * 32 * 64 + i) * 16_384;
    let offsets = (0..1024).flat_map(|i| [page(0, i), page(1, i)]).collect();
    let requests = 1_000_000;
    let (_, engine) =
        run_timed(text, &mut Cycle { offsets, bytes, left: requests, at: 0, depth: 1024 });
    requests as f64 * 1e9 / engine.last_completion() as f64
}

#[test]
fn saturated_bandwidth_is_that_of_the_bottleneck() {
    // Entries are (replacements, bytes, reads per second): for dies, then channels, then the host
    // link, and then with a cache register.
    let dies = 32.0 / 55.12e-6;
    let channels = 8.0 / 20.48e-6;
    let cached = 32.0 / 50e-6;
    let link = 1e9 / 4096.0;
    for (timing, bytes, expected) in [
        ("channel_mb_s = 800", 4096, dies),
        ("channel_mb_s = 800", 16_384, channels),
        ("channel_mb_s = 800, cache_read = true", 4096, cached),
        ("channel_mb_s = 800, cache_read = true", 16_384, channels),
        ("channel_mb_s = 800, host_mb_s = 1000", 4096, link),
    ] {
        let text = CROSS_CHECK.replace("channel_mb_s = 800", timing);
        let got = saturated_reads_per_s(&text, bytes);
        assert!(
            (got / expected - 1.0).abs() < 0.005,
            "{timing}, {bytes} B: {got:.0} reads/s, expected {expected:.0}"
        );
    }
}

#[test]
fn independent_planes_multiply_the_dies() {
    let text = CROSS_CHECK
        .replace("channel_mb_s = 800", "channel_mb_s = 100000, independent_planes = true");
    let got = saturated_reads_per_s(&text, 4096);
    let expected = 64.0 / (50e-6 + 4096.0 / 1e11);
    assert!((got / expected - 1.0).abs() < 0.005, "{got:.0} reads/s, expected {expected:.0}");
}

#[test]
fn one_die_under_poisson_reads_waits_as_m_d_1_does() {
    let text = CROSS_CHECK.replace(
        "channels = 8, dies_per_channel = 4, planes_per_die = 2",
        "channels = 1, dies_per_channel = 1, planes_per_die = 1",
    );
    for load in [0.3, 0.6, 0.8] {
        let service = 55_120.0;
        let capacity = common::config(&text).drive.capacity.unwrap().0;
        let mut source = Uniform::reads(2_000_000, capacity, 4096, 1);
        (source.arrival, source.mean_gap) = (Arrival::Open, service / load);
        let (_, engine) = run_timed(&text, &mut source);
        let wait = engine.metrics().read.mean_ns() - service;
        let expected = load * service / (2.0 * (1.0 - load));
        assert!(
            (wait / expected - 1.0).abs() < 0.02,
            "load {load}: mean wait {wait:.0} ns, M/D/1 {expected:.0} ns"
        );
    }
}
