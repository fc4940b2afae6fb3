//! Reads past the limit. A loss is a result if the drive reports it, and a bug if the drive hides
//! it or reports it wrongly. The scene has 12 pages in block 0, limit 100 and alpha 9. The 12th
//! read of wordline 0 gives wordline 1 a dose of 108.

use vpass_drive::api::parity::{self, STRIPE};
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::DisturbConfig;
use vpass_drive::watch::observer::{Event, FROM_BUFFER, NO_PPN, Observer, Origin, ReadResult};

use crate::common::{Scene, config, false_loss, limit, stamp, wordline_model};

fn hammered(reads: u32) -> Scene {
    let mut s = Scene::tiny();
    s.write(0, 0..12);
    for _ in 0..reads {
        s.read(0, 0);
    }
    s
}

/// Returns a scene in which a drive must round the dose from before a program. That dose is 4.5,
/// and 10 reads beside it and 5 elsewhere make it 99.5 of 100.
fn rounded() -> Scene {
    let disturb = DisturbConfig { preprogram_weight: 0.5, ..wordline_model(100.0, 9.0) };
    let mut s = Scene::new(&config(4, 4, disturb));
    s.write(0, 0..3);
    s.read(0, 0);
    s.write(3, 3..12);
    (0..10).for_each(|_| s.read(0, 0));
    (0..5).for_each(|_| s.read(9, 9));
    s
}

/// Moves or rewrites wordline 1 (pages 3, 4 and 5) before the end of the run.
fn rewrite_victims(s: &mut Scene) {
    s.write(12, 3..6);
}

#[test]
fn data_at_its_limit_is_alive() {
    let mut s = hammered(11);
    s.read(3, 3); // 99 of 100, and its own read does not disturb it
    let report = s.clean();
    assert!((report.worst_dose_ratio - 0.99).abs() < 1e-12, "{}", report.worst_dose_ratio);
    s.read(9, 9); // 1 more from far away: 100 of 100
    s.read(3, 3);
    assert!((s.clean().worst_dose_ratio - 1.0).abs() < 1e-12);
}

#[test]
fn unreported_use_past_the_limit_is_caught_whoever_reads() {
    for cause in [Cause::Host, Cause::Gc, Cause::Reclaim, Cause::Parity] {
        let mut s = hammered(12);
        s.read_by(cause, 4, 4, ReadResult::Good);
        rewrite_victims(&mut s);
        let by = format!("{} read used lpn 4", cause.name());
        s.caught(
            limit,
            &[&by, "ppn 4 (block 0, wordline 1)", "dose 108.000 of a limit of 100.000"],
        );
    }
    let mut s = hammered(12);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(4), whole: true });
    s.fill(4, 4, ReadResult::Good);
    rewrite_victims(&mut s);
    s.caught(limit, &["host read used lpn 4"]);
}

#[test]
fn unread_and_unreported_data_past_the_limit_is_caught_at_the_end() {
    let s = hammered(12);
    assert_eq!(s.oracle.report().limit_violations, 0, "nobody has looked yet");
    let report = s.oracle.finish();
    assert_eq!((report.limit_violations, report.findings.len()), (3, 3));
    assert!(
        report.findings[0].contains("at the end lpn 3 is past its limit and not reported"),
        "{}",
        report.findings[0]
    );
    assert!((report.worst_dose_ratio - 1.08).abs() < 1e-12);
    assert_eq!(s.oracle.finish(), report, "asking changes nothing");
}

#[test]
fn what_nobody_needs_any_more_may_decay() {
    let mut s = hammered(12);
    rewrite_victims(&mut s);
    s.clean();
    let mut s = hammered(12);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(4) });
    s.write(12, [5]);
    assert_eq!(s.clean().reads_checked, 12);
}

#[test]
fn reported_losses_are_results() {
    let mut s = hammered(12);
    s.fail(3, 3);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.fail(3, NO_PPN);
    s.read_by(Cause::Gc, 4, 4, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.fail(5, 5);
    s.fail(3, 3);
    let report = s.clean();
    assert_eq!(
        (report.uncorrectable_reads, report.lost_pages),
        (4, 2),
        "lpn 5 failed but is not given up"
    );
    s.write(12, [3]);
    s.read(3, 12);
    s.clean();
}

#[test]
fn a_page_lost_twice_is_one_page() {
    let mut s = hammered(12);
    for measured in [false, true] {
        if measured {
            s.oracle.take(Event::MeasuredPhase);
        }
        for _ in 0..2 {
            s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
            s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
            s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
            assert_eq!(s.oracle.report().lost_pages, 3);
            s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
            s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(4), whole: true });
            s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(5), whole: true });
        }
    }
}

#[test]
fn losses_count_from_the_measured_phase() {
    let mut s = hammered(12);
    s.fail(3, 3);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.oracle.take(Event::MeasuredPhase);
    s.fail(3, NO_PPN);
    s.fail(4, 4);
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    let report = s.clean();
    assert_eq!((report.uncorrectable_reads, report.lost_pages), (2, 2));
    // Nothing has been used since. The worst remaining wordline is 2, with 12 reads of wordline 0
    // and the 2 failed reads beside it.
    assert!((report.worst_dose_ratio - 0.30).abs() < 1e-12, "{}", report.worst_dose_ratio);
}

#[test]
fn losses_found_without_a_read_need_a_page_past_its_limit() {
    let mut s = hammered(12);
    for lpn in 3..6 {
        s.oracle.take(Event::Lost { lpn: Lpn::new(lpn) });
    }
    assert_eq!(s.clean().lost_pages, 3);
    s.erase(BlockId::new(0));
    assert_eq!(s.oracle.finish().false_losses, 0, "the erase keeps the proof");
    let mut s = rounded();
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    assert_eq!(
        s.oracle.finish().false_losses,
        0,
        "99.5 of 100: the drive's rounding may be off by one dose unit"
    );
    let mut s = hammered(11);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    assert_eq!(s.oracle.finish().false_losses, 1, "99 of 100, and nothing to round");
    let mut s = hammered(10);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.erase(BlockId::new(0));
    s.caught(false_loss, &["lpn 3 was reported lost, but no page with its data is past its limit"]);
}

#[test]
fn newer_data_in_the_buffer_is_not_lost_with_the_old() {
    let mut s = hammered(12);
    rewrite_victims(&mut s);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(4), whole: true });
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.caught(false_loss, &["lpn 4"]);
}

#[test]
fn an_old_copy_that_can_not_be_read_leaves_newer_data_alone() {
    let mut s = hammered(12);
    s.write(12, 4..6);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
    s.read_by(Cause::Gc, 3, 3, ReadResult::Uncorrectable);
    s.program(14, 3, Origin::Host, Cause::Host);
    s.read(3, 14);
    assert_eq!(s.clean().lost_pages, 0);
    let mut s = hammered(12);
    s.write(12, 4..6);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
    s.read_by(Cause::Gc, 3, 3, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.caught(false_loss, &["lpn 3 was reported lost, but no page with its data is past its limit"]);
}

#[test]
fn an_old_copy_that_is_still_needed_is_lost_with_the_page() {
    let mut s = hammered(12);
    s.write(12, 4..6);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: false });
    s.read_by(Cause::Gc, 3, 3, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: false });
    s.fail(3, NO_PPN);
    assert_eq!(
        (s.clean().lost_pages, s.clean().uncorrectable_reads),
        (1, 1),
        "the lost part does not come back"
    );
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: true });
    s.program(14, 3, Origin::Host, Cause::Host);
    s.read(3, 14);
    s.clean();
}

#[test]
fn a_false_alarm_is_caught() {
    let mut s = rounded();
    s.fail(3, 3);
    s.clean();
    let mut s = hammered(11);
    s.fail(3, 3); // 99 of 100, and nothing to round
    s.caught(
        false_loss,
        &["host read of lpn 3 was reported uncorrectable at ppn 3", "dose 99.000"],
    );
    let mut s = hammered(10);
    s.fail(3, 3); // 90 of 100
    s.caught(
        false_loss,
        &["host read of lpn 3 was reported uncorrectable at ppn 3", "dose 90.000"],
    );
    let mut s = hammered(0);
    s.fail(3, FROM_BUFFER);
    s.caught(
        false_loss,
        &["host read of lpn 3 failed, but no flash page was read; it holds version 1"],
    );
    let mut s = hammered(0);
    s.oracle.take(Event::Lost { lpn: Lpn::new(20) });
    s.caught(false_loss, &["lpn 20 was reported lost, but it holds no data"]);
}

#[test]
fn lost_data_that_reappears_is_caught() {
    for (ppn, words) in
        [(NO_PPN, "served as unmapped"), (FROM_BUFFER, "served from the write buffer")]
    {
        let mut s = hammered(12);
        rewrite_victims(&mut s);
        s.fail(9, 9);
        s.oracle.take(Event::Lost { lpn: Lpn::new(9) });
        s.read(9, ppn);
        let report = s.oracle.finish();
        assert_eq!(
            (report.stamp_errors, report.false_losses),
            (1, 1),
            "page 9 was fine: the loss itself was false"
        );
        assert!(
            report.findings[1].contains(words) && report.findings[1].contains("data reported lost"),
            "{:?}",
            report.findings
        );
    }
}

#[test]
fn a_copy_of_data_that_could_not_be_read_is_caught() {
    let mut s = hammered(12);
    s.read_by(Cause::Gc, 3, 3, ReadResult::Uncorrectable);
    s.program(12, 3, Origin::Copy(Ppn::new(3)), Cause::Gc);
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    s.caught(
        stamp,
        &["gc at ppn 12: copy for lpn 3 of a page that the drive could not read, ppn 3"],
    );
}

#[test]
fn a_page_completed_with_data_that_could_not_be_read_is_caught() {
    let mut s = hammered(12);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: false });
    s.fill(3, 3, ReadResult::Uncorrectable);
    s.program(12, 3, Origin::Host, Cause::Host);
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    s.caught(
        stamp,
        &["host at ppn 12: program of lpn 3, but the drive could not read its data and did not \
            report it lost"],
    );
    let mut s = hammered(12);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: false });
    s.fill(3, 3, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(3) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    assert_eq!((s.clean().lost_pages, s.clean().uncorrectable_reads), (3, 0));
}

#[test]
fn what_has_completed_a_page_may_decay() {
    let mut s = hammered(11);
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(3), whole: false });
    s.fill(3, 3, ReadResult::Good);
    s.oracle.take(Event::Filled { lpn: Lpn::new(3) });
    s.read(0, 0);
    s.read_by(Cause::Gc, 3, 3, ReadResult::Uncorrectable);
    s.program(12, 3, Origin::Host, Cause::Host);
    s.oracle.take(Event::Lost { lpn: Lpn::new(4) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    assert_eq!(s.clean().lost_pages, 2);
}

/// Returns a scene on three dies with stripes of two pages and without parity. Pages 0, 5 and 6
/// share a wordline that is past its limit, and page 0 is partly written.
fn partly_written_in_stripes() -> Scene {
    let mut config = config(4, 4, wordline_model(100.0, 9.0));
    config.geometry.dies_per_channel = 3;
    config.parity.params.set(None, STRIPE.key, STRIPE.number(2.0));
    let mut s = Scene::new(&parity::drive(config, vpass_techniques::card("raid5")));
    for (ppn, lpn) in (0..).zip([0, 5, 6, 11]) {
        s.write(ppn, [lpn]);
        s.oracle.take(Event::Unprotected { stripe: lpn / 2 });
    }
    (0..12).for_each(|_| s.read(11, 3));
    s.oracle.take(Event::Lost { lpn: Lpn::new(5) });
    s.oracle.take(Event::Lost { lpn: Lpn::new(6) });
    s.oracle.take(Event::Wrote { request: 0, lpn: Lpn::new(0), whole: false });
    s
}

#[test]
fn the_rest_of_a_page_is_lost_whoever_finds_it() {
    let mut s = partly_written_in_stripes();
    s.read_by(Cause::Parity, 0, 0, ReadResult::Uncorrectable);
    s.oracle.take(Event::Lost { lpn: Lpn::new(0) });
    assert_eq!(s.clean().lost_pages, 3);
    let mut s = partly_written_in_stripes();
    s.oracle.take(Event::Lost { lpn: Lpn::new(0) });
    s.caught(false_loss, &["lpn 0 was reported lost, but no page with its data is past its limit"]);
}

#[test]
fn a_retry_that_succeeds_takes_the_report_back() {
    let mut s = rounded();
    s.fail(3, 3);
    s.read_by(Cause::Retry, 3, 3, ReadResult::Good);
    s.program(12, 3, Origin::Copy(Ppn::new(3)), Cause::Reclaim);
    s.read(3, 12);
    s.clean();
}
