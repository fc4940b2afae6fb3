//! Tests of workloads with parts: in all gears, in samples, and against the same requests from
//! elsewhere.

use crate::fluid_sources::{file, gears_agree, plan, room, run};
use vpass_lab::results::Summary;
use vpass_lab::setup::{Gear, Named, Setup};
use vpass_workload::synthetic::Sample;

/// Database in the first quarter, and a log at the end that is read and written in sequence of no
/// kind. The middle of the drive stays untouched.
const PARTS: &str = "[workload]\nrequests = 3000000\n\
    [[workload.part]]\nend = '25%'\nrate = 9000.0\nread_share = 0.995\n\
    block_size = '16KiB'\ndistribution = 'zipf:0.9'\nwrite_distribution = 'uniform'\n\
    [[workload.part]]\nbegin = '90%'\nrate = 1000.0\nread_share = 0.9\nblock_size = '64KiB'\n";

fn named(name: &str, text: &str) -> Named {
    Named::Workload(file(&room(name), "parts.toml", text).display().to_string())
}

#[test]
fn both_gears_serve_parts_alike() {
    for reclaim in ["block", "straw-wl"] {
        gears_agree(&named("parts", PARTS), reclaim, 1, 100, 0.05);
    }
}

#[test]
fn a_single_part_makes_the_requests_of_the_same_table() {
    let keys = "rate = 5000.0\nread_share = 0.8\ndistribution = 'hot-cold:0.1/0.9'\n\
        block_sizes = [{ size = '4KiB', share = 0.5 }, { size = '32KiB', share = 0.5 }]\n";
    let plain = format!("[workload]\nrequests = 40000\n{keys}");
    let part = format!("[workload]\nrequests = 40000\n[[workload.part]]\n{keys}");
    let counts = |name: &str, text: &str, gear| -> serde_json::Value {
        let summary = run(&plan(gear, named(name, text), 2, 7), "block");
        let mut json = serde_json::to_value(summary).unwrap();
        let members = json.as_object_mut().unwrap();
        for of_the_file in ["simulation", "workload", "workload_source", "manifest"] {
            members.remove(of_the_file);
        }
        json
    };
    for gear in [Gear::Timed, Gear::Untimed] {
        assert_eq!(counts("one_table", &plain, gear), counts("one_part", &part, gear));
    }
}

/// Counts requests from the keys alone: 10,000 a second, of which 8,955 and 900 are reads.
#[test]
fn parts_have_their_own_rates_sizes_and_addresses() {
    let summary = run(&plan(Gear::Untimed, named("own", PARTS), 1, 3), "block");
    let close = |what: &str, got: u64, expected: f64| {
        let off = (got as f64 - expected).abs();
        assert!(off < 5.0 * expected.sqrt(), "{what}: {got}, expected about {expected}");
    };
    close("reads", summary.host.read_requests, 3e6 * (0.9 * 0.995 + 0.1 * 0.9));
    close("writes", summary.host.write_requests, 3e6 * (0.9 * 0.005 + 0.1 * 0.1));
    let pages = 3e6 * (0.9 * 0.995 + 4.0 * 0.1 * 0.9);
    let off = (summary.host.read_pages as f64 - pages).abs();
    assert!(off < 0.005 * pages, "{} pages, expected {pages}", summary.host.read_pages);
}

#[test]
fn samples_of_parts_add_up() {
    let workload = named("sampled", PARTS);
    let of = |sample| run(&Setup { sample, ..plan(Gear::Fluid, workload.clone(), 1, 1) }, "block");
    let whole = of(Sample::WHOLE);
    let samples: Vec<Summary> = (0..2).map(|residue| of(Sample { of: 2, residue })).collect();
    let sum = |value: &dyn Fn(&Summary) -> u64| samples.iter().map(value).sum::<u64>() as f64;
    for (what, all, expected) in [
        ("reads", sum(&|s| s.host.read_pages), whole.host.read_pages),
        ("writes", sum(&|s| s.host.write_pages), whole.host.write_pages),
    ] {
        assert!(
            (all - expected as f64).abs() < 6.0 * all.sqrt(),
            "{what}: {all} in samples, {expected} on the drive"
        );
    }
}
