//! Measures the cost of a generated request, by distribution. The drive simulates a request in less
//! than 50 ns, so a generator may take a few ns.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use vpass_drive::base::request::RequestSource;
use vpass_workload::phases::{PhasesFile, PhasesSource};
use vpass_workload::synthetic::{SyntheticSource, WorkloadFile};

/// Capacity of 2 TiB. Its 2^27 pages are the largest number of ranks in use.
const CAPACITY: u64 = 2 << 40;
const BATCH: usize = 4096;

const WORKLOADS: [(&str, &str); 9] = [
    ("uniform", "distribution = 'uniform'"),
    ("zipf", "distribution = 'zipf:0.99'"),
    ("zipf, 16-KiB blocks", "distribution = 'zipf:0.99'\nblock_size = '16KiB'"),
    ("sequential", "distribution = 'sequential'"),
    ("hot-cold", "distribution = 'hot-cold:0.1/0.9'"),
    ("uniform, 70 % reads", "distribution = 'uniform'\nread_share = 0.7"),
    (
        "uniform reads, zipf writes",
        "distribution = 'uniform'\nread_share = 0.7\nwrite_distribution = 'zipf:0.99'",
    ),
    ("uniform, two sizes", "block_sizes = [{size='4KiB',share=0.7},{size='16KiB',share=0.3}]"),
    ("uniform, poisson", "rate = 100000.0"),
];

fn main() {
    divan::main();
}

/// Measures batches of a source.
fn measure(bencher: Bencher, source: &mut impl RequestSource) {
    let mut out = Vec::with_capacity(BATCH);
    bencher.counter(ItemsCount::new(BATCH)).bench_local(|| {
        out.clear();
        source.fill(&mut out, BATCH).expect("a generator never fails");
        black_box(&out);
    });
}

#[divan::bench(args = WORKLOADS.map(|w| w.0))]
fn fill(bencher: Bencher, name: &str) {
    let table = WORKLOADS.iter().find(|w| w.0 == name).expect("a name of the list").1;
    let file = WorkloadFile::parse(&format!("[workload]\nrequests = {}\n{table}", u64::MAX >> 1))
        .expect("a good workload");
    let mut source =
        SyntheticSource::new(&file.workload, CAPACITY, 16384, 1).expect("a good workload");
    measure(bencher, &mut source);
}

/// Measures repeated reads of two pages, and a random phase over ranges of many pages.
#[divan::bench]
fn phases(bencher: Bencher) {
    let table = "phase = [{ pages = [17, 19], requests = 5000 }, { ranges = [[0, 99999], [500000, \
                 700000]], order = 'random', requests = 5000 }, { ranges = [[1000, 2000]], \
                 requests = 5000 }]";
    let file = PhasesFile::parse(&format!("[workload]\nrequests = {}\n{table}", u64::MAX >> 1))
        .expect("a good workload");
    let mut source =
        PhasesSource::new(&file.workload, CAPACITY, 16384, 1).expect("a good workload");
    measure(bencher, &mut source);
}
