//! Checks job files as streams: shares of concurrent jobs, stages, rates, time, and passes.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use common::drained;
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource};
use vpass_workload::fio::{FioOptions, FioSource, JobFile};
use vpass_workload::pass::{PassSource, Passes};

const CAPACITY: u64 = 1 << 30;
const TIMED: FioOptions = FioOptions { seed: 1, queue_depth: None, has_clock: true };
const UNTIMED: FioOptions = FioOptions { has_clock: false, ..TIMED };

fn with(text: &str, options: FioOptions) -> FioSource {
    let file = JobFile::parse(Path::new("jobs.fio"), text).unwrap();
    FioSource::new(&file, CAPACITY, 4096, options).unwrap()
}

fn source(text: &str) -> FioSource {
    with(text, TIMED)
}

/// Serves a source that follows completions, until a time. At any load, a request takes the time
/// that `takes` returns. Returns all requests.
fn served(source: &mut FioSource, until: u64, takes: impl Fn(&Request) -> u64) -> Vec<Request> {
    let (mut all, mut under_way, mut now) = (Vec::new(), BTreeSet::new(), 0);
    while now < until {
        source.tell_time(now);
        assert_eq!(source.arrival(), Arrival::Reactive);
        let mut out = Vec::new();
        source.fill(&mut out, 7).unwrap();
        under_way
            .extend(out.iter().enumerate().map(|(i, r)| (now + takes(r), all.len() + i, r.origin)));
        all.extend(&out);
        if !out.is_empty() {
            continue;
        }
        let Some(wakes) = source.waits_until() else { break };
        now = wakes.min(under_way.first().map_or(u64::MAX, |(end, ..)| *end));
        source.tell_time(now);
        while let Some((end, n, origin)) =
            under_way.first().copied().filter(|(end, ..)| *end <= now)
        {
            source.completed(origin);
            under_way.remove(&(end, n, origin));
        }
    }
    all
}

fn offsets(requests: &[Request]) -> Vec<u64> {
    requests.iter().map(|r| r.offset).collect()
}

#[test]
fn without_a_clock_the_shares_of_jobs_follow_their_depths() {
    let mut source = with(
        "[global]\nioengine=libaio\nsize=1m\nrw=read\n[a]\niodepth=3\n[b]\niodepth=1\nbs=64k\n",
        UNTIMED,
    );
    assert_eq!(source.arrival(), Arrival::Closed { depth: 4 });
    let mut out = Vec::new();
    source.fill(&mut out, 12).unwrap();
    let of_a: Vec<bool> = out.iter().map(|r| r.bytes == 4096).collect();
    assert_eq!(of_a.iter().filter(|a| **a).count(), 9, "three of four are a's: {of_a:?}");
    // Job b has 16 requests. After its end, all requests belong to job a.
    let rest = drained(&mut source).unwrap();
    assert_eq!(rest.len() + 12, 256 + 16);
    assert_eq!(source.arrival(), Arrival::Closed { depth: 3 });
}

#[test]
fn each_job_waits_for_its_own_requests() {
    // During a large request of 10 us, ten small requests of 1 us are served.
    let mut source = source(
        "[global]\nioengine=libaio\nsize=1m\nrw=read\n[a]\niodepth=3\n[b]\niodepth=1\nbs=64k\n",
    );
    let requests = served(&mut source, 20_000, |r| if r.bytes == 4096 { 1_000 } else { 10_000 });
    let of =
        |origin| requests.iter().filter(|r| r.origin == origin).map(|r| r.at).collect::<Vec<_>>();
    assert_eq!(of(1), [0, 10_000]);
    assert_eq!(of(0), (0..20).flat_map(|us| [us * 1_000; 3]).collect::<Vec<_>>());
    assert_eq!((source.counts()[0].read_requests, source.counts()[1].read_bytes), (60, 128 << 10));
}

#[test]
fn a_job_with_a_rate_runs_beside_one_without() {
    // The first job makes four requests per millisecond. The second makes a request after each
    // completion. The third job begins late.
    let text = "[global]\nsize=16k\n[a]\nrate_iops=4000\n[b]\n[c]\nstartdelay=1ms\n";
    let requests = served(&mut source(text), u64::MAX, |_| 100_000);
    let of = |origin| {
        requests.iter().filter(|r| r.origin == origin).map(|r| r.at / 1_000).collect::<Vec<_>>()
    };
    assert_eq!(
        [of(0), of(1), of(2)],
        [vec![0, 250, 500, 750], vec![0, 100, 200, 300], vec![1000, 1100, 1200, 1300]]
    );
    let mut rest = source(&format!("{text}[d]\nstonewall\n"));
    served(&mut rest, u64::MAX, |_| 100_000);
    assert!(rest.next_stage());
    assert_eq!(drained(&mut rest).unwrap().len(), 4);
}

#[test]
fn a_depth_with_a_synchronous_engine_is_one() {
    let source =
        with("[a]\nsize=1m\niodepth=32\n[b]\nsize=1m\nioengine=io_uring\niodepth=5\n", UNTIMED);
    assert_eq!(source.arrival(), Arrival::Closed { depth: 6 });
    let note = "job a: iodepth=32 counts as 1, as in fio, because ioengine=psync, which is fio's \
                default, waits for each request; ioengine=libaio keeps 32 outstanding";
    assert_eq!(source.notes(), [note]);
}

#[test]
fn files_lie_side_by_side_and_shared_ones_once() {
    let source = source(
        "[global]\nsize=10000\n[a]\nnumjobs=2\n[b]\nfilename=shared\n[c]\nfilename=shared\n\
         offset=4k\n[d]\ndirectory=x\nfilename=shared\n",
    );
    let starts: Vec<_> = source.jobs().iter().map(|job| job.starts.clone()).collect();
    // Each file begins at a page of 4 KiB. a.0.0 begins at 0, a.1.0 at 12 KiB, and shared at 24
    // KiB. x/shared begins after the 14,096 bytes of shared.
    assert_eq!(starts, [vec![0, 12_288], vec![24_576], vec![28_672], vec![40_960]]);
}

#[test]
fn reads_and_writes_share_their_hot_blocks() {
    for distribution in ["zipf:1.2", "pareto:0.1"] {
        let text = format!(
            "[a]\nrw=randrw\nsize=64m\nio_size=800m\nrandom_distribution={distribution}\n\
             numjobs=2\nfilename=x\n"
        );
        let requests = drained(&mut with(&text, UNTIMED)).unwrap();
        // The clones alternate. As in fio, each clone has its own hot blocks.
        let hottest = |clone: usize, op: Op| {
            let mut counts = BTreeMap::new();
            requests
                .iter()
                .skip(clone)
                .step_by(2)
                .filter(|r| r.op == op)
                .for_each(|r| *counts.entry(r.offset).or_insert(0u32) += 1);
            let mut places: Vec<_> = counts.into_iter().collect();
            places.sort_by_key(|(place, n)| (std::cmp::Reverse(*n), *place));
            places.iter().take(10).map(|(place, _)| *place).collect::<Vec<_>>()
        };
        let common = |a: Vec<u64>, b: Vec<u64>| a.iter().filter(|place| b.contains(place)).count();
        assert!(common(hottest(0, Op::Read), hottest(0, Op::Write)) >= 8, "{distribution}");
        assert!(common(hottest(0, Op::Read), hottest(1, Op::Read)) <= 2, "{distribution}");
    }
}

#[test]
fn writes_of_larger_blocks_stay_in_the_file() {
    // Reads choose from 16 blocks. Writes of 16 KiB have only 4 blocks.
    let requests = drained(&mut source(
        "[a]\nrw=randrw\nbs=4k,16k\nsize=64k\nio_size=8m\nrandom_distribution=zipf:1.2\n",
    ))
    .unwrap();
    assert!(requests.iter().all(|r| r.offset + u64::from(r.bytes) <= 64 << 10));
    let writes =
        requests.iter().filter(|r| r.op == Op::Write).count() as f64 / requests.len() as f64;
    assert!((writes - 0.5).abs() < 0.05, "{writes}");
}

#[test]
fn a_job_cycles_through_its_files() {
    // Each file has 20 KiB. The files lie side by side: a at 0, b at 20 KiB.
    let of = |options: &str| {
        offsets(
            &drained(&mut source(&format!("[j]\nfilename=a:b\nsize=40k\nbs=10k\n{options}\n")))
                .unwrap(),
        )
    };
    let k = |places: [u64; 4]| places.map(|p| p << 10).to_vec();
    assert_eq!(of(""), k([0, 20, 10, 30]));
    assert_eq!(of("nrfiles=7"), k([0, 20, 10, 30]), "names count, nrfiles does not");
    assert_eq!(of("loops=2"), [k([0, 20, 10, 30]), k([0, 20, 10, 30])].concat());
    let record = source("[j]\nnrfiles=3\nfilesize=8k\nnumjobs=2\n").jobs()[0].clone();
    assert_eq!((record.files, record.region_bytes, record.io_bytes), (3, 8192, Some(24 << 10)));
    assert_eq!(record.starts, [0, 8192, 16_384, 24_576, 32_768, 40_960]);
}

#[test]
fn a_file_without_a_size_has_that_of_other_jobs() {
    let source = source(
        "[a]\nfilename=x\nsize=50%\n[b]\nfilename=x\nsize=1m\n[c]\nfilename=x\n[d]\nfilename=y\n\
         size=25%\n",
    );
    let bytes: Vec<_> = source.jobs().iter().map(|job| job.region_bytes).collect();
    assert_eq!(bytes, [512 << 10, 1 << 20, 1 << 20, CAPACITY / 4]);
    assert_eq!(
        source.notes(),
        ["job d: the size of its file y is not known; size=25% counts as a share of the drive"]
    );
}

#[test]
fn a_device_is_the_drive() {
    let source = source(
        "[global]\nfilename=/dev/nvme0n1\n[a]\n[b]\noffset=25%\nsize=50%\n[c]\nsize=1m\n\
         offset_increment=10%\nnumjobs=2\n[d]\noffset=1m\n",
    );
    let of = |i: usize| (source.jobs()[i].starts.clone(), source.jobs()[i].region_bytes);
    assert_eq!(of(0), (vec![0], CAPACITY));
    assert_eq!(of(1), (vec![CAPACITY / 4], CAPACITY * 3 / 8), "half of what is left");
    // The offset is a tenth of the drive, rounded up to a block.
    assert_eq!(of(2), (vec![0, (CAPACITY / 10).next_multiple_of(4096)], 1 << 20));
    assert_eq!(of(3), (vec![1 << 20], CAPACITY - (1 << 20)));
}

#[test]
fn stages_wait_for_each_other() {
    let text = "[global]\nioengine=libaio\nrw=write\nsize=16k\n[a]\niodepth=2\n[b]\nstonewall\n\
                rate_iops=1000\n[c]\nwait_for_previous\n";
    let mut source = source(text);
    assert_eq!((source.len_hint(), source.has_next_stage()), (Some(12), true));
    let first = drained(&mut source).unwrap();
    assert_eq!(
        (offsets(&first), source.arrival()),
        (vec![0, 4096, 8192, 12_288], Arrival::Closed { depth: 2 })
    );
    source.tell_time(5_000_000);
    assert!(source.next_stage());
    assert_eq!(source.arrival(), Arrival::Open);
    let second = drained(&mut source).unwrap();
    let at: Vec<u64> = second.iter().map(|r| r.at).collect();
    assert_eq!(
        at,
        [5_000_000, 6_000_000, 7_000_000, 8_000_000],
        "its clock begins when the first stage is done"
    );
    assert!(source.next_stage());
    assert_eq!(
        (drained(&mut source).unwrap().len(), source.arrival()),
        (4, Arrival::Closed { depth: 1 })
    );
    assert!(!source.next_stage());
}

#[test]
fn passes_go_through_all_stages() {
    let text = "[a]\nsize=8k\n[b]\nstonewall\nrw=randwrite\nsize=8k\n";
    let mut repeated = Passes::new(source(text), 3.try_into().unwrap());
    let mut ops = Vec::new();
    loop {
        ops.extend(drained(&mut repeated).unwrap().iter().map(|r| r.op));
        if !repeated.next_stage() {
            break;
        }
    }
    let (r, w) = (Op::Read, Op::Write);
    assert_eq!(ops, [r, r, w, w, r, r, w, w, r, r, w, w]);
}

#[test]
fn rates_are_merged_by_time() {
    // Requests of 8 KiB at 8 MiB/s come every 976,562.5 ns. Requests of 4 KiB at 2,000 per second
    // come every 500 us.
    let mut source = source(
        "[a]\nrw=read\nbs=8k\nsize=32k\nrate=8m\n[b]\nrw=write\nsize=16k\nrate_iops=2000\n\
         startdelay=100us\n",
    );
    assert_eq!(source.arrival(), Arrival::Open);
    let requests = drained(&mut source).unwrap();
    let got: Vec<_> = requests.iter().map(|r| (r.at, r.op)).collect();
    let (r, w) = (Op::Read, Op::Write);
    let expected = [
        (0, r),
        (100_000, w),
        (600_000, w),
        (976_562, r),
        (1_100_000, w),
        (1_600_000, w),
        (1_953_125, r),
        (2_929_687, r),
    ];
    assert_eq!(got, expected);
}

#[test]
fn a_rate_of_requests_counts_the_smallest_block() {
    // As in fio 3.33, the rate is 1,000 blocks of 4 KiB per second. So a request of 64 KiB takes 16
    // ms.
    let mut source = source("[a]\nbssplit=4k/50:64k/50\nsize=64m\nrate_iops=1000\n");
    let requests = drained(&mut source).unwrap();
    let bytes: u64 = requests[..requests.len() - 1].iter().map(|r| u64::from(r.bytes)).sum();
    let seconds = requests.last().unwrap().at as f64 / 1e9;
    assert!(
        (bytes as f64 / seconds / 4_096_000.0 - 1.0).abs() < 1e-6,
        "{bytes} bytes in {seconds} s"
    );
}

#[test]
fn poisson_requests_have_the_rate() {
    let mut source = source("[a]\nsize=400m\nrate_iops=1000\nrate_process=poisson\n");
    let requests = drained(&mut source).unwrap();
    let seconds = requests.last().unwrap().at as f64 / 1e9;
    assert!(
        (requests.len() as f64 / seconds / 1000.0 - 1.0).abs() < 0.02,
        "{} in {seconds} s",
        requests.len()
    );
    let squares: f64 =
        requests.windows(2).map(|w| ((w[1].at - w[0].at) as f64 / 1e6).powi(2)).sum();
    let mean = squares / requests.len() as f64;
    assert!((mean - 2.0).abs() < 0.1, "exponential gaps have a mean square of 2: {mean}");
}

#[test]
fn time_ends_a_job() {
    // A job with a rate ends exactly, by its own clock.
    let mut by_rate = source("[a]\nrw=randread\nsize=1m\nrate_iops=1000\nruntime=2\ntime_based\n");
    assert_eq!(drained(&mut by_rate).unwrap().len(), 2000);
    // A single job without a rate ends within a batch, by the drive's clock.
    let text = "[a]\nioengine=libaio\nsize=1m\ntime_based\nramp_time=1\niodepth=4\nruntime=2\n";
    let mut by_drive = source(text);
    assert_eq!(by_drive.len_hint(), None);
    let mut out = Vec::new();
    for now in [0, 2_999_999_999] {
        out.clear();
        by_drive.tell_time(now);
        by_drive.fill(&mut out, 1000).unwrap();
        assert_eq!((out.len(), by_drive.arrival()), (64, Arrival::Closed { depth: 4 }), "{now}");
    }
    by_drive.tell_time(3_000_000_000);
    assert!(drained(&mut by_drive).unwrap().is_empty());
    assert!(!by_drive.next_stage());
    // Several jobs end exactly. Requests take 0.1 s, so 4 x 20 of them begin before 2 s, and 10
    // before 1 s.
    let text = "[global]\nioengine=libaio\nsize=1m\ntime_based\n[a]\niodepth=4\nruntime=2\n[b]\n\
                iodepth=1\nruntime=1\n";
    let requests = served(&mut source(text), u64::MAX, |_| 100_000_000);
    assert_eq!(
        [0, 1].map(|origin| requests.iter().filter(|r| r.origin == origin).count()),
        [80, 10]
    );
}

#[test]
fn a_queue_depth_given_outranks_depths_and_rates() {
    let options = FioOptions { queue_depth: Some(7), ..TIMED };
    let mut source = with("[a]\nsize=64k\nrate_iops=10\n[b]\nsize=64k\niodepth=9\n", options);
    assert_eq!(source.arrival(), Arrival::Closed { depth: 7 });
    let requests = drained(&mut source).unwrap();
    assert!(requests.len() == 32 && requests.iter().all(|r| r.at == 0));
    assert_eq!(source.arrival(), Arrival::Closed { depth: 7 });
}

#[test]
fn random_numbers_follow_the_seed() {
    let text =
        "[a]\nrw=randrw\nsize=64m\nbsrange=4k-16k\nrandom_distribution=zipf:1.2\nnumjobs=2\n";
    let run = |seed| drained(&mut with(text, FioOptions { seed, ..UNTIMED })).unwrap();
    assert_eq!(run(3), run(3));
    assert_ne!(run(3), run(4));
    let clones =
        drained(&mut with("[a]\nrw=randread\nsize=64m\nfilename=x\nnumjobs=2\n", UNTIMED)).unwrap();
    let of =
        |parity: usize| clones.iter().skip(parity).step_by(2).map(|r| r.offset).collect::<Vec<_>>();
    assert_ne!(of(0), of(1), "clones have chance of their own");
}
