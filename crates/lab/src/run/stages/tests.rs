//! Tests of the stages of page reads, on small drives. The stages must add up to the latencies.
//! Results must be grouped by the validity of the lower pages of the wordline.

use vpass_drive::base::units::Bytes;
use vpass_workload::synthetic::WorkloadConfig;

use crate::plan::{Chosen, RunPlan};
use crate::progress::{Unwatched, unwatched};
use crate::results::Summary;
use crate::run::execute;
use crate::setup::{Base, Named, Setup, Watch};

/// Plans reads of one page without a host link. The latency of such a read equals that of its page
/// read.
fn plan(drive: &str, page: &str, keys: &str) -> RunPlan {
    let of_page = format!("workload.block_size={page}");
    let set = keys
        .split_whitespace()
        .chain(["timing.host_mb_s=0", &of_page])
        .map(str::to_owned)
        .collect();
    let base = Base { oracle: Watch::Off, set, ..Base::new(drive) };
    let plan = RunPlan::new(
        &Setup::new(base, Named::Workload("uniform-read".into())),
        Chosen { reclaim: "none", ..Chosen::default() },
        &unwatched,
    )
    .unwrap();
    RunPlan { stages: true, ..plan }
}

fn found(plan: &RunPlan) -> Summary {
    execute(plan, &Unwatched).unwrap().summary
}

#[test]
fn the_stages_of_page_reads_add_up_to_their_latency_and_observation_changes_nothing() {
    let tiny = "workload.requests=30000 timing.sense_us=[10,20,40] workload.read_share=0.9 \
         workload.queue_depth=16 disturb.model=none";
    let tired = "workload.requests=20000 drive.capacity=4GiB start.pec=2800 start.age=60d \
         workload.queue_depth=16";
    for (drive, page, keys, decode_us) in
        [("tiny", "16KiB", tiny, 0.0), ("aged-tlc", "16KiB", tired, 4.0)]
    {
        let plan = plan(drive, page, keys);
        let summary = found(&plan);
        let reads = summary.page_reads.as_ref().unwrap();
        let all = reads.all;
        let sum = all.wait_us
            + all.sense_us
            + all.channel_wait_us
            + all.transfer_us
            + all.retry_us
            + decode_us;
        let mean = summary.latency_us.read.mean.unwrap();
        // A read of a page that is still in the write buffer takes no time.
        let from_flash = all.reads as f64 / summary.host.read_requests as f64;
        assert!(
            (sum * from_flash / mean - 1.0).abs() < 1e-9,
            "{drive}: {sum} is not {mean}: {all:?}"
        );
        assert!(all.wait_us > 0.0 && all.channel_wait_us > 0.0, "{all:?}");
        assert_eq!(all.retry_us > 0.0, drive == "aged-tlc", "{all:?}");
        assert!(from_flash > 0.99 && all.faster == 0, "{all:?}");
        let of_cases: u64 = reads.by_validity.values().map(|stages| stages.reads).sum();
        let of_kinds: u64 = reads.by_kind.values().map(|stages| stages.reads).sum();
        assert_eq!((of_cases, of_kinds), (all.reads, all.reads));
        let unwatched = found(&RunPlan { stages: false, ..plan });
        let without = |summary: &Summary| {
            let mut value = serde_json::to_value(summary).unwrap();
            let map = value.as_object_mut().unwrap();
            map.retain(|key, _| key != "page_reads" && key != "simulation");
            value
        };
        assert!(without(&summary) == without(&unwatched), "{drive}");
    }
}

#[test]
fn reads_are_counted_by_the_valid_pages_below_while_the_drive_changes() {
    // Before the counted part, the host makes random page writes. The number of these writes is a
    // quarter of the number of pages. In the counted part, the host writes nothing.
    let config = WorkloadConfig {
        requests: 16_384,
        read_share: 0.0,
        block_size: Some(Bytes(16 << 10)),
        ..WorkloadConfig::default()
    };
    let quiet =
        "workload.requests=60000 timing.sense_us=[10,20,40] disturb.model=none drive.spare=0.5";
    let before = RunPlan { before: Some(config), ..plan("tiny", "16KiB", quiet) };
    let reads = found(&before).page_reads.unwrap();
    let share = |case: &str| reads.by_validity[case].share;
    // The start-up state filled all pages. Each of these pages is still valid with probability
    // e^(-1/4), independently of other pages. Later writes went to other blocks, and nearly all of
    // their pages are valid.
    let p = (-0.25f64).exp();
    let expected = |below: f64| p * below / 3.0;
    for (case, below) in [
        ("-C", 1.0 - p),
        ("--M", (1.0 - p).powi(2)),
        ("-CM", p * (1.0 - p)),
        ("L-M", p * (1.0 - p)),
    ] {
        let (share, expected) = (share(case), expected(below));
        assert!((share / expected - 1.0).abs() < 0.25, "{case}: {share}, {expected} expected");
    }
    assert!(
        (reads.by_kind["csb"].sense_us - 20.0).abs() < 1e-9
            && (reads.by_kind["msb"].share - 1.0 / 3.0).abs() < 0.02
    );
    // Without the workload before the main workload, all pages of each wordline are valid.
    let reads = found(&RunPlan { before: None, ..before }).page_reads.unwrap();
    assert_eq!(
        reads.by_validity["LCM"].reads
            + reads.by_validity["LC"].reads
            + reads.by_validity["L"].reads,
        reads.all.reads
    );
}
