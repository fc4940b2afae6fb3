//! Checks generated requests. They must be equal for equal seeds and all batch sizes, lie on the
//! drive, be aligned, and follow the distributions of the table.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_workload::pass::{PassSource, Passes};
use vpass_workload::synthetic::{SyntheticSource, WorkloadFile};

const GIB: u64 = 1 << 30;
const PAGE: u32 = 16384;

fn build(table: &str, capacity: u64, seed: u64) -> Result<SyntheticSource, String> {
    let file = WorkloadFile::parse(&format!("[workload]\n{table}")).map_err(|e| e.to_string())?;
    SyntheticSource::new(&file.workload, capacity, PAGE, seed).map_err(|e| e.to_string())
}

fn drawn(table: &str, capacity: u64, seed: u64, batch: usize) -> Vec<Request> {
    let mut source = build(table, capacity, seed).unwrap();
    let mut out = Vec::new();
    loop {
        let before = out.len();
        source.fill(&mut out, batch).unwrap();
        if out.len() == before {
            return out;
        }
    }
}

const TABLES: [&str; 8] = [
    "",
    "distribution = 'zipf:0.99'\nread_share = 0.6",
    "distribution = 'sequential'\nread_share = 0.5\nblock_size = '128KiB'",
    "distribution = 'hot-cold:0.1/0.9'\nrun = '1MiB'\nrate = 1000",
    "distribution = 'uniform'\nwrite_distribution = 'zipf:1.2'\nread_share = 0.7\nrate = 5e5\n\
     arrivals = 'constant'",
    "block_sizes = [{size='4KiB',share=0.5},{size=512,share=0.2},{size='24KiB',share=0.3}]\n\
     footprint = 0.37",
    "distribution = 'sequential'\nblock_sizes = [{size='4KiB',share=0.7},{size='16KiB',share=0.3}]",
    "distribution = 'hot-cold:0.01/0.95'\nwrite_distribution = 'hot-cold:0.05/0.9'\nhot_sets = \
     'disjoint'\nread_share = 0.8\nrun = '512KiB'",
];

#[test]
fn a_seed_is_a_stream_for_every_batch_size() {
    for table in TABLES {
        let table = format!("requests = 5000\n{table}");
        let whole = drawn(&table, GIB, 1, usize::MAX);
        assert_eq!(whole.len(), 5000);
        for batch in [1, 7, 512, 700] {
            assert_eq!(drawn(&table, GIB, 1, batch), whole, "{table}, {batch} at a time");
        }
        let random =
            table.contains("zipf") || !table.contains("sequential") || table.contains("sizes");
        assert_eq!(
            drawn(&table, GIB, 2, 512) != whole,
            random || table.contains("share"),
            "{table}"
        );
    }
}

#[test]
fn requests_are_aligned_and_on_the_drive() {
    for table in TABLES {
        // The capacity is not a multiple of any block or run size.
        let capacity = GIB + 12_345;
        let end =
            if table.contains("footprint") { (capacity as f64 * 0.37) as u64 } else { capacity };
        for r in drawn(&format!("requests = 20000\n{table}"), capacity, 3, 512) {
            assert!(r.offset.is_multiple_of(u64::from(r.bytes)), "{table}: {r:?}");
            assert!(r.offset + u64::from(r.bytes) <= end, "{table}: {r:?}");
        }
    }
}

#[test]
fn a_drive_of_one_block_is_enough_for_uniform() {
    assert!(drawn("requests = 100", 4096, 1, 512).iter().all(|r| r.offset == 0));
}

#[test]
fn shares_hold() {
    let requests = drawn("requests = 100000\nread_share = 0.7", GIB, 1, 512);
    let reads = requests.iter().filter(|r| r.op == Op::Read).count();
    // The standard deviation is 145.
    assert!(reads.abs_diff(70_000) < 700, "{reads}");
    assert!(
        drawn("requests = 100\nread_share = 1.0", GIB, 1, 512).iter().all(|r| r.op == Op::Read)
    );
    assert!(
        drawn("requests = 100\nread_share = 0.0", GIB, 1, 512).iter().all(|r| r.op == Op::Write)
    );
    let sizes = drawn(
        "requests = 100000\nblock_sizes = [{size='4KiB',share=0.7},{size='16KiB',share=0.3}]",
        GIB,
        1,
        512,
    );
    let small = sizes.iter().filter(|r| r.bytes == 4096).count();
    assert!(small.abs_diff(70_000) < 700, "{small}");
}

#[test]
fn direction_and_address_are_independent() {
    let requests = drawn("requests = 200000\nread_share = 0.5", GIB, 1, 512);
    let low = |op: Op| requests.iter().filter(|r| r.op == op && r.offset < GIB / 2).count() as f64;
    let all = |op: Op| requests.iter().filter(|r| r.op == op).count() as f64;
    for op in [Op::Read, Op::Write] {
        assert!((low(op) / all(op) - 0.5).abs() < 0.01, "{op:?}: {} of {}", low(op), all(op));
    }
}

#[test]
fn uniform_is_even() {
    let mut parts = [0u32; 64];
    for r in drawn("requests = 640000", GIB, 1, 512) {
        parts[(r.offset / (GIB / 64)) as usize] += 1;
    }
    assert!(parts.iter().all(|n| n.abs_diff(10_000) < 500), "{parts:?}");
}

#[test]
fn sequential_wraps_in_each_direction() {
    let requests = drawn(
        "requests = 40\ndistribution = 'sequential'\nread_share = 0.5",
        4096 * 6 + 100,
        1,
        512,
    );
    for op in [Op::Read, Op::Write] {
        let blocks: Vec<_> =
            requests.iter().filter(|r| r.op == op).map(|r| r.offset / 4096).collect();
        assert!(blocks.len() > 6, "both directions are there");
        assert!(
            blocks.iter().enumerate().all(|(i, block)| *block == i as u64 % 6),
            "{op:?}: {blocks:?}"
        );
    }
}

#[test]
fn the_hot_part_is_hot_and_scattered_in_runs() {
    let requests =
        drawn("requests = 200000\ndistribution = 'hot-cold:0.1/0.9'\nrun = '1MiB'", GIB, 1, 512);
    let mut runs = vec![0u32; 1024];
    for r in &requests {
        runs[(r.offset >> 20) as usize] += 1;
    }
    // 102 hot runs get 180,000 requests, which are 1,765 for each run. 922 cold runs get 22 each.
    let hot: Vec<_> = (0..1024).filter(|i| runs[*i] > 500).collect();
    assert_eq!(hot.len(), 102);
    assert!(hot.iter().map(|i| runs[*i]).sum::<u32>().abs_diff(180_000) < 1000);
    assert!(
        (20..85).contains(&hot.iter().filter(|i| **i < 512).count()),
        "hot runs lie in both halves"
    );
}

#[test]
fn zipf_is_hot_by_page_and_reads_share_the_hot_pages_with_writes() {
    let requests =
        drawn("requests = 200000\ndistribution = 'zipf:1.2'\nread_share = 0.5", GIB, 1, 512);
    let hottest = |op: Op| {
        let mut pages = vec![0u32; 65_536];
        requests
            .iter()
            .filter(|r| r.op == op)
            .for_each(|r| pages[(r.offset / 16_384) as usize] += 1);
        (0..65_536).max_by_key(|i| pages[*i]).unwrap()
    };
    assert_eq!(hottest(Op::Read), hottest(Op::Write));
    let page = hottest(Op::Read);
    let blocks: std::collections::BTreeSet<_> = requests
        .iter()
        .filter(|r| r.offset / 16_384 == page as u64)
        .map(|r| r.offset % 16_384)
        .collect();
    assert_eq!(blocks.len(), 4, "a page of 16 KiB is hot in all its blocks of 4 KiB");
}

#[test]
fn writes_can_have_a_distribution_of_their_own() {
    let table = "requests = 100000\nread_share = 0.5\nwrite_distribution = 'zipf:1.2'";
    // Returns the share of the requests of a direction that go to the busiest of 64 equal parts.
    let busiest = |requests: &[Request], op: Op| {
        let mut parts = [0u32; 64];
        for r in requests.iter().filter(|r| r.op == op) {
            parts[(r.offset / (GIB / 64)) as usize] += 1;
        }
        f64::from(*parts.iter().max().unwrap()) / f64::from(parts.iter().sum::<u32>())
    };
    // An even share is 1 / 64 = 0.016. The first rank of zipf:1.2 over 65,536 pages alone gets 0.2.
    // Ranks are scattered; without this, one part would get almost all requests.
    let requests = drawn(table, GIB, 1, 512);
    assert!(busiest(&requests, Op::Read) < 0.02, "reads are even");
    assert!(
        (0.18..0.5).contains(&busiest(&requests, Op::Write)),
        "writes are skewed: {}",
        busiest(&requests, Op::Write)
    );
    let swapped = drawn(
        "requests = 100000\nread_share = 0.5\ndistribution = 'zipf:1.2'\nwrite_distribution = \
         'uniform'",
        GIB,
        1,
        512,
    );
    assert!(busiest(&swapped, Op::Write) < 0.02, "writes are even");
    assert!((0.18..0.5).contains(&busiest(&swapped, Op::Read)), "reads are skewed");
}

#[test]
fn hot_reads_and_hot_writes_can_lie_apart() {
    let hot_runs = |hot_sets: &str, op: Op| {
        let table = format!(
            "requests = 200000\ndistribution = 'hot-cold:0.01/0.95'\nwrite_distribution = \
             'hot-cold:0.05/0.9'\nread_share = 0.5\nrun = '1MiB'\n{hot_sets}"
        );
        let mut runs = vec![0u32; 1024];
        for r in drawn(&table, GIB, 1, 512).iter().filter(|r| r.op == op) {
            runs[(r.offset >> 20) as usize] += 1;
        }
        // 10 runs get 95,000 reads, which are 9,500 for each run. 51 runs get 90,000 writes, which
        // are 1,765 for each run. Cold runs get 5 reads and 10 writes.
        (0..1024).filter(|i| runs[*i] > 500).collect::<std::collections::BTreeSet<usize>>()
    };
    let both = ["hot_sets = 'disjoint'", ""]
        .map(|hot_sets| (hot_runs(hot_sets, Op::Read), hot_runs(hot_sets, Op::Write)));
    for (read, written) in &both {
        assert_eq!((read.len(), written.len()), (10, 51));
        assert!(
            (10..42).contains(&written.iter().filter(|i| **i < 512).count()),
            "hot runs lie in both halves"
        );
    }
    assert!(both[0].0.is_disjoint(&both[0].1), "apart");
    assert!(both[1].0.is_subset(&both[1].1), "shared, where nothing is said");
    assert_eq!(both[0].0, both[1].0, "the reads are the same");
}

#[test]
fn arrivals_follow_the_table() {
    let arrival = |table: &str| build(table, GIB, 1).unwrap().arrival();
    assert_eq!(arrival(""), Arrival::Closed { depth: 64 });
    assert_eq!(arrival("queue_depth = 3"), Arrival::Closed { depth: 3 });
    assert_eq!(arrival("rate = 1000.0"), Arrival::Open);
    let at = |table: &str| {
        drawn(&format!("requests = 100001\n{table}"), GIB, 1, 512)
            .iter()
            .map(|r| r.at)
            .collect::<Vec<_>>()
    };
    assert_eq!(at("rate = 1000\narrivals = 'constant'")[..3], [0, 1_000_000, 2_000_000]);
    let poisson = at("rate = 1000");
    assert!(
        poisson.is_sorted() && poisson[100_000].abs_diff(100_000_000_000) < 1_600_000_000,
        "{}",
        poisson[100_000]
    );
}

#[test]
fn passes_continue_in_time_and_random_numbers() {
    let table = "requests = 100\nrate = 1000\narrivals = 'constant'";
    let one = drawn("requests = 300\nrate = 1000\narrivals = 'constant'", GIB, 1, 512);
    let mut source = build(table, GIB, 1).unwrap();
    let mut out = Vec::new();
    for pass in 1..=3 {
        if pass > 1 {
            source.next_pass().unwrap();
        }
        source.fill(&mut out, 1000).unwrap();
        source.fill(&mut out, 1000).unwrap();
        assert_eq!(out.len(), 100 * pass);
    }
    assert_eq!(out, one);
    let mut repeated = Passes::new(build(table, GIB, 1).unwrap(), NonZeroU32::new(3).unwrap());
    let mut again = Vec::new();
    (0..4).for_each(|_| repeated.fill(&mut again, 100).unwrap());
    assert_eq!(again, one);
}

#[test]
fn a_configuration_round_trips() {
    for table in TABLES {
        let file = WorkloadFile::parse(&format!("description = 'd'\n[workload]\n{table}")).unwrap();
        assert_eq!(WorkloadFile::parse(&toml::to_string(&file).unwrap()).unwrap(), file, "{table}");
    }
}

/// With 64 runs of 16 KiB, each half is 32 runs, and both fit.
#[test]
fn two_disjoint_halves_fit() {
    let table = "hot_sets = 'disjoint'\ndistribution = 'hot-cold:0.5/0.9'\nwrite_distribution = \
                 'hot-cold:0.5/0.9'";
    build(table, 1 << 20, 1).unwrap();
}

#[test]
fn errors_in_a_file_show_their_place() {
    let error = |text: &str| WorkloadFile::parse(text).unwrap_err().to_string();
    assert_eq!(
        error("[workload]\ndistribution = 'unifrom'\n"),
        "TOML parse error at line 2, column 16\n  |\n2 | distribution = 'unifrom'\n  \
         |                ^^^^^^^^^\n\"unifrom\" is not a distribution (did you mean \
         \"uniform\"?); known forms: \"uniform\", \"zipf:0.99\", \"sequential\", \
         \"hot-cold:0.1/0.9\"\n"
    );
    assert!(
        error("[workload]\nblok_size = 1\n")
            .contains("unknown field `blok_size`, expected one of `requests`")
    );
    assert!(
        error("[workload]\nhot_sets = 'apart'\n")
            .contains("unknown variant `apart`, expected `shared` or `disjoint`")
    );
    assert!(error("[workload]\nblock_size = '4 KiBs'\n").contains("`4 KiBs`"));
    assert!(error("").contains("missing field `workload`"));
}

#[test]
fn an_earlier_time_has_the_same_hot_pages_and_other_requests() {
    let table = "distribution = 'hot-cold:0.2/1'\nwrite_distribution = 'hot-cold:0.1/1'\nhot_sets \
                 = 'disjoint'\nread_share = 0.5\nblock_size = '16KiB'\nrequests = 20000";
    let now = drawn(table, 64 << 20, 7, 1000);
    let file = WorkloadFile::parse(&format!("[workload]\n{table}")).unwrap();
    let mut earlier = vec![];
    SyntheticSource::earlier(&file.workload, 64 << 20, PAGE, 7)
        .unwrap()
        .fill(&mut earlier, 20_000)
        .unwrap();
    for op in [Op::Read, Op::Write] {
        let of = |requests: &[Request]| {
            requests.iter().filter(|r| r.op == op).map(|r| r.offset).collect::<Vec<_>>()
        };
        let hot = |requests: &[Request]| of(requests).into_iter().collect::<BTreeSet<_>>();
        assert_eq!(hot(&now), hot(&earlier), "{op:?}");
        assert_ne!(of(&now)[..100], of(&earlier)[..100], "{op:?}");
    }
}
