//! Tests of the summary of two lives, computed by hand. Each life is that of half a drive, with 200
//! programmed pages.

use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::units::Cause;
use vpass_lab::life::series::Course;
use vpass_lab::life::summary::Life;
use vpass_lab::life::{End, Lived};
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::unwatched;
use vpass_lab::results::{ByCause, Hints, OfWord, Retries};
use vpass_lab::setup::{Base, Gear, Named, Setup};
use vpass_oracle::OracleReport;
use vpass_workload::synthetic::Sample;

const PAGE: u64 = 16_384;

fn plans() -> Vec<RunPlan> {
    let plan = |residue| {
        let set = ["workload.rate=1000", "workload.queue_depth="].map(str::to_owned).to_vec();
        let base = Base { gear: Gear::Fluid, set, ..Base::new("tiny") };
        let setup = Setup {
            sample: Sample { of: 2, residue },
            ..Setup::new(base, Named::Workload("zipf-read".into()))
        };
        RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap_or_else(|e| panic!("{e}"))
    };
    vec![plan(0), plan(1)]
}

/// Pages programmed for the host, GC, reads, age, levelling, parity and hints.
fn programs(pages: [u64; 7]) -> ByCause {
    let causes = [
        Cause::Host,
        Cause::Gc,
        Cause::Reclaim,
        Cause::Refresh,
        Cause::Wear,
        Cause::Parity,
        Cause::Hint,
    ];
    let mut counts = [0; Cause::COUNT];
    for (cause, pages) in causes.into_iter().zip(pages) {
        counts[cause as usize] = pages;
    }
    ByCause::from(counts)
}

fn retries(histogram: [u64; 3]) -> Retries {
    Retries {
        histogram: histogram.to_vec(),
        mean: None,
        reads_with_retry: 0,
        began_higher: 0,
        budget_raised: 0,
    }
}

fn hints(smallest: (u64, u64), idle: (u64, u64)) -> Hints {
    let of = |(reads, missed_budgets), retries| OfWord {
        budget_us: None,
        retries,
        latency_us: 50.0 * f64::from(retries + 1),
        pages: 1,
        pages_kept_tighter: 0,
        reads,
        missed_budgets,
        raised_budgets: 0,
    };
    Hints { smallest: of(smallest, 0), typical: of((0, 0), 1), idle: of(idle, 2), ram_bytes: 0 }
}

fn report(worst_dose_ratio: f64, stamp_errors: u64) -> OracleReport {
    OracleReport {
        reads_checked: 0,
        stamp_errors,
        limit_violations: 0,
        uncorrectable_reads: 0,
        lost_pages: 0,
        worst_dose_ratio,
        false_losses: 0,
        protocol_errors: 0,
        request_errors: 0,
        books_errors: 0,
        findings: vec![],
    }
}

fn lives() -> [Lived; 2] {
    let one = Lived {
        years: 1.0,
        end: End::WornOut,
        pec_mean: 3000.0,
        programs: programs([100, 50, 30, 10, 6, 3, 1]),
        erases: programs([0, 1, 1, 0, 0, 0, 0]),
        host: HostCounts {
            write_requests: 100,
            write_pages: 100,
            write_bytes: 100 * PAGE,
            read_requests: 100,
            read_pages: 100,
            read_bytes: 600 * PAGE,
            ..HostCounts::default()
        },
        data_lost_pages: 3,
        uber: Some(1e-16),
        retries: Some(retries([90, 10, 0])),
        hints: Some(hints((40, 0), (60, 6))),
        oracle: Some(report(0.4, 0)),
        windows_from: None,
        has_settled: true,
        simulated: 3000.0,
        work: 0,
        pec_first: 0.0,
        batches: vec![],
        halves: vec![],
        course: Course::default(),
    };
    let other = Lived {
        years: 3.0,
        end: End::LivesOn,
        pec_mean: 2000.0,
        programs: programs([40, 40, 80, 20, 10, 5, 5]),
        erases: programs([0, 0, 1, 0, 0, 0, 0]),
        host: HostCounts {
            write_requests: 80,
            small_writes: 80,
            write_pages: 80,
            partial_page_writes: 80,
            fill_reads: 45,
            write_bytes: 20 * PAGE,
            read_requests: 100,
            read_pages: 100,
            read_bytes: 200 * PAGE,
            ..HostCounts::default()
        },
        data_lost_pages: 0,
        uber: Some(3e-16),
        retries: Some(retries([50, 30, 20])),
        hints: Some(hints((80, 8), (20, 10))),
        oracle: Some(report(0.7, 0)),
        windows_from: None,
        has_settled: true,
        simulated: 3000.0,
        work: 0,
        pec_first: 0.0,
        batches: vec![],
        halves: vec![],
        course: Course::default(),
    };
    [one, other]
}

#[track_caller]
fn near(what: &str, one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-9 * other.abs(), "{what}: {one} and {other}");
}

#[test]
fn means_and_intervals() {
    let life = Life::of("two".into(), &plans(), &lives());
    near("years", life.years.mean, 2.0);
    // Student's t has one degree of freedom. The standard deviation is the square root of two, so
    // the standard error of the mean is 1.
    assert!((life.years.ci95.unwrap() - 12.7062).abs() < 1e-3);
    near("P/E cycles", life.pec_mean.mean, 2500.0);
    // A whole drive has twice the counts of half a drive.
    near("host", life.host_bytes_written.mean, (2 * 60 * PAGE) as f64);
    near("flash", life.flash_bytes_written.mean, (2 * 200 * PAGE) as f64);
    near("lost", life.data_lost_pages, 3.0);
    // The mean of 200 / 100 and 200 / 20 is 6.
    near("amplification", life.write_amplification.unwrap().mean, 6.0);
    // Because of reads, the lives programmed 30 pages for 600 pages read, and 80 pages for 200
    // pages read. These are 5 % and 40 %.
    near("read wear", life.read_wear.unwrap().mean, 22.5);
    // 80 of 180 writes are small, and 45 fill reads are a quarter of 180.
    assert_eq!(
        (life.mapping_unit.small_write_share, life.mapping_unit.fill_reads_per_write),
        (Some(80.0 / 180.0), Some(0.25))
    );
    assert!(
        life.warnings[0].starts_with("44 % of the writes are smaller than the mapping unit"),
        "{:?}",
        life.warnings
    );
    // The mean of 100 / 100 and 40 / 20 is 1.5.
    assert!(
        life.warnings[0].contains(
            "0.25 fill reads, and 1.50 bytes of host data were programmed per byte written"
        ),
        "{:?}",
        life.warnings
    );
    near("UBER", life.uber.unwrap().mean, 2e-16);
    near("worst dose", life.worst_dose_ratio.unwrap(), 0.7);
    assert!(life.lost_data() && !life.competes() && !life.has_bug());
    assert_eq!(
        life.lives.iter().map(|one| (one.residue, one.years, one.end)).collect::<Vec<_>>(),
        [(0, 1.0, End::WornOut), (1, 3.0, End::LivesOn)]
    );
}

/// Without host writes, undisturbed flash programs nothing, so all programs are net read wear: 60
/// pages for 600 pages read, and 120 for 200. These are 10 % and 60 %. `read_wear` is 5 % and 40 %.
#[test]
fn net_read_wear_is_known_if_the_host_writes_nothing() {
    let [mut one, mut other] = lives();
    assert_eq!(Life::of("two".into(), &plans(), &lives()).read_wear_net, None, "the host writes");
    (one.host.write_bytes, one.programs) = (0, programs([0, 20, 30, 0, 10, 0, 0]));
    (other.host.write_bytes, other.programs) = (0, programs([0, 40, 80, 0, 0, 0, 0]));
    let life = Life::of("two".into(), &plans(), &[one.clone(), other.clone()]);
    near("net read wear", life.read_wear_net.unwrap().mean, 35.0);
    near("read wear", life.read_wear.unwrap().mean, 22.5);
    other.programs = programs([0, 40, 80, 1, 0, 0, 0]);
    assert_eq!(Life::of("two".into(), &plans(), &[one, other]).read_wear_net, None, "refresh");
}

#[test]
fn read_wear_is_unknown_if_a_life_read_nothing() {
    let [one, mut other] = lives();
    other.host.read_bytes = 0;
    assert_eq!(Life::of("two".into(), &plans(), &[one, other]).read_wear, None);
}

#[test]
fn shares_are_means_of_shares() {
    let consumed = Life::of("two".into(), &plans(), &lives()).consumed.unwrap();
    let by_hand = [
        ("host", 0.35),
        ("GC", 0.225),
        ("reads", 0.275),
        ("age", 0.075),
        ("levelling", 0.04),
        ("parity", 0.02),
        ("hints", 0.015),
    ];
    for ((name, share), (row, right)) in consumed.rows().into_iter().zip(by_hand) {
        assert_eq!(name, row);
        near(name, share.mean, right);
    }
    // Half the difference, (0.5 - 0.2) / 2, is the standard deviation divided by the square root of
    // two.
    assert!((consumed.host.ci95.unwrap() - 12.7062 * 0.15).abs() < 1e-3);
    let json = serde_json::to_value(&consumed).unwrap();
    let of = |name: &str| json[name]["mean"].as_f64().unwrap();
    for (name, right) in [
        ("host", 0.35),
        ("gc", 0.225),
        ("reads", 0.275),
        ("age", 0.075),
        ("wear_levelling", 0.04),
        ("parity", 0.02),
        ("hints", 0.015),
    ] {
        near(name, of(name), right);
    }
    let none = lives().map(|lived| Lived { programs: programs([0; 7]), ..lived });
    assert!(Life::of("none".into(), &plans(), &none).consumed.is_none());
}

#[test]
fn reads_by_retries_and_hints() {
    let life = Life::of("two".into(), &plans(), &lives());
    let shares: Vec<f64> =
        life.reads_by_retries.as_ref().unwrap().iter().map(|share| share.mean).collect();
    assert_eq!(shares.len(), 3);
    shares.iter().zip([0.7, 0.2, 0.1]).for_each(|(share, right)| near("retries", *share, right));
    let of = |word| life.hints.as_ref().unwrap()[word];
    near("reads of idle data", of("idle").reads.mean, 0.4);
    near("its missed budgets", of("idle").missed_budgets.unwrap().mean, 0.3);
    near("reads of data that is read fast", of("smallest").reads.mean, 0.6);
    near("its missed budgets", of("smallest").missed_budgets.unwrap().mean, 0.05);
    assert!(of("typical").reads.mean == 0.0 && of("typical").missed_budgets.is_none());
    assert_eq!((of("idle").retries, of("idle").latency_us), (2, 150.0));
}

#[test]
fn how_lives_ended() {
    let of = |ends: [End; 2]| {
        let [one, other] = lives();
        let life = Life::of(
            "two".into(),
            &plans(),
            &[Lived { end: ends[0], ..one }, Lived { end: ends[1], ..other }],
        );
        (life.worn_out, life.ended, life.length_text())
    };
    assert_eq!(of([End::WornOut, End::WornOut]), (true, true, "2.00 ± 12.7 years".into()));
    assert_eq!(of([End::WornOut, End::Uber]), (false, true, "2.00 ± 12.7 years".into()));
    assert_eq!(of([End::LivesOn, End::Uber]), (false, false, "> 2.00 years".into()));
    // The mean of 0.02 and 0.06 years is 14.6 days. The half width, 12.706 times 0.02 years, is
    // 92.8 days. For 0.2 and 0.6 years, both numbers are ten times larger.
    let text = |scale: f64| {
        let [one, other] = lives().map(|lived| Lived { end: End::WornOut, ..lived });
        let lives = [Lived { years: 0.02 * scale, ..one }, Lived { years: 0.06 * scale, ..other }];
        Life::of("two".into(), &plans(), &lives).length_text()
    };
    assert_eq!((text(1.0), text(10.0)), ("14.6 ± 92.8 days".into(), "146 ± 928 days".into()));
    let [one, other] = lives();
    let bugs =
        Life::of("two".into(), &plans(), &[one, Lived { oracle: Some(report(0.5, 1)), ..other }]);
    assert!(bugs.has_bug());
}
