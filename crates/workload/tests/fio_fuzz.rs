//! Runs random job files. Each file is refused with an error, or gives only requests that lie on
//! the drive. `VPASS_FUZZ_EXECS` is the number of files.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::pass::PassSource;

const CAPACITY: u64 = 1 << 26;

#[rustfmt::skip]
const OPTIONS: [&str; 48] = [
    "rw", "rw", "rw_sequencer", "rwmixread", "rwmixwrite", "bs", "bsrange", "bssplit",
    "bs_unaligned", "blockalign", "size", "size", "io_size", "filesize", "offset",
    "offset_increment", "offset_align", "number_ios", "loops", "numjobs", "filename", "directory",
    "filename_format", "nrfiles", "random_distribution", "percentage_random", "norandommap",
    "random_generator", "ioengine", "iodepth", "rate", "rate_iops", "rate_process", "runtime",
    "ramp_time", "time_based", "startdelay", "stonewall", "exitall", "verify", "kb_base", "fsync",
    "direct", "oops", "thinktime", "thinktime_blocks", "file_service_type", "openfiles",
];

#[rustfmt::skip]
const VALUES: [&str; 71] = [
    "0", "1", "2", "3", "7", "8", "64", "100", "101", "512", "4k", "4096", "5000", "64k", "1m",
    "16m", "17m", "64m", "1g", "1p", "9223372036854775807", "18446744073709551616", "-1", "-4k",
    "10%", "50%", "100%", "101%", "4k,8k", "4k,,8k", ",", "1,2,3,4", "4k-64k", "64k-4k", "1-2",
    "512-3000,4k-8k", "4k/50:8k/50", "4k/1:64k/99", "1/50:3/", "4k/0:8k/100", "read", "randread",
    "randwrite", "randrw", "rw", "randtrim", "trimwrite", "randtrimwrite", "randread:8", "read:4k",
    "read:-8k", "write:1p", "random", "zipf:1.2", "zipf:0.5:0.3", "pareto:0.2", "zoned:60/10:40/90",
    "zoned_abs:50/4k:50/1m", "lfsr", "libaio", "identical", "poisson", "/dev/x", "", "1s", "é",
    "a:b", "a:b:c", "random:3", "sequential", "normal:20:0.3",
];

/// Runs a file with and without a clock, if possible, for some thousand requests.
fn run(text: &str) {
    let Ok(file) = JobFile::parse(Path::new("/nowhere/jobs.fio"), text) else { return };
    for has_clock in [true, false] {
        let options = FioOptions { seed: 1, queue_depth: None, has_clock };
        let Ok(mut source) = FioSource::new(&file, CAPACITY, 4096, options) else { continue };
        source.len_hint();
        for pass in 0..2 {
            drain(&mut source, text, pass);
            source.next_pass().unwrap();
        }
    }
}

fn drain(source: &mut FioSource, text: &str, pass: u64) {
    let (mut out, mut now) = (Vec::new(), pass << 40);
    for _ in 0..8 {
        source.tell_time(now);
        out.clear();
        source.fill(&mut out, 300).unwrap();
        assert!(out.len() <= 300);
        for request in &out {
            assert!(
                request.bytes > 0 && request.offset + u64::from(request.bytes) <= CAPACITY,
                "{request:?} of\n{text}"
            );
        }
        if source.arrival() == Arrival::Open {
            assert!(out.iter().all(|r| r.at < 1 << 63) && out.is_sorted_by_key(|r| r.at), "{text}");
        }
        if source.arrival() == Arrival::Reactive {
            assert!(out.iter().all(|r| r.at <= now), "{text}");
            assert!(out.is_empty() || source.waits_until().is_some(), "{text}");
            for request in &out {
                source.completed(request.origin);
            }
        }
        now += 300_000_000;
        if out.is_empty() && source.waits_until().is_none() && !source.next_stage() {
            return;
        }
    }
}

fn line() -> impl Strategy<Value = String> {
    let option = (select(&OPTIONS[..]), select(&VALUES[..]))
        .prop_map(|(name, value)| format!("{name}={value}"));
    let alone = select(&OPTIONS[..]).prop_map(str::to_owned);
    let section = select(vec!["[a]", "[b]", "[global]", "[", "[]"]).prop_map(str::to_owned);
    prop_oneof![16 => option, 1 => alone, 3 => section, 1 => "\\PC{0,20}"]
}

#[test]
fn any_job_file_is_run_or_refused() {
    let cases =
        std::env::var("VPASS_FUZZ_EXECS").map_or(3000, |n| n.parse().expect("a number of files"));
    let lines = prop::collection::vec(line(), 1..8)
        .prop_map(|lines| format!("[a]\nsize=1m\n{}\n", lines.join("\n")));
    let any = prop_oneof![8 => lines, 1 => "(\\[a\\]\n)?(\\PC|\n|=|\\[|\\]){0,80}"];
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&any, |text| {
            run(&text);
            Ok(())
        })
        .unwrap();
}

#[test]
fn single_options_with_every_value() {
    for name in OPTIONS {
        for value in VALUES {
            for rest in ["rw=randrw", "rw=rw\nrate_iops=100", "rw=randread\nbsrange=1k-9k"] {
                run(&format!("[a]\nsize=1m\n{rest}\n{name}={value}\n"));
            }
        }
    }
}
