//! Reads past the limit. A loss is a result if the drive reports it, and a bug if the drive hides
//! it or reports it wrongly. The scene has 12 pages in block 0, limit 100 and alpha 9. The 12th
//! read of wordline 0 gives wordline 1 a dose of 108.

use vpass_drive::api::parity::{self, STRIPE};
use vpass_drive::base::units::Lpn;
use vpass_drive::config::DisturbConfig;
use vpass_drive::watch::observer::{Event, FROM_BUFFER, NO_PPN, Observer};

use crate::common::{Scene, config, wordline_model};
use crate::script::{after, play};

fn hammered(reads: u32) -> Scene {
    after(Scene::tiny(), &format!("write 0..12 at 0; {reads} x read 0 at 0"))
}

/// Returns a scene in which a drive must round the dose from before a program. That dose is 4.5,
/// and 10 reads beside it and 5 elsewhere make it 99.5 of 100.
fn rounded() -> Scene {
    let disturb = DisturbConfig { preprogram_weight: 0.5, ..wordline_model(100.0, 9.0) };
    let s = Scene::new(&config(4, 4, disturb));
    let s = after(s, "write 0..3 at 0; read 0 at 0; write 3..12 at 3");
    after(s, "10 x read 0 at 0; 5 x read 9 at 9")
}

#[test]
fn data_at_its_limit_is_alive() {
    // 99 of 100, and its own read does not disturb it.
    let s = after(hammered(11), "read 3 at 3");
    let report = s.clean();
    assert!((report.worst_dose_ratio - 0.99).abs() < 1e-12, "{}", report.worst_dose_ratio);
    // 1 more from far away: 100 of 100.
    let s = after(s, "read 9 at 9; read 3 at 3");
    assert!((s.clean().worst_dose_ratio - 1.0).abs() < 1e-12);
}

#[test]
fn unreported_use_past_the_limit_is_caught_whoever_reads() {
    play(
        || hammered(12),
        "
        read 4 at 4; write 3..6 at 12
        limit: host read used lpn 4
        | ppn 4 (block 0, wordline 1)
        | dose 108.000 of a limit of 100.000

        read 4 at 4 by gc; write 3..6 at 12
        limit: gc read used lpn 4
        | dose 108.000 of a limit of 100.000

        read 4 at 4 by reclaim; write 3..6 at 12
        limit: reclaim read used lpn 4
        | dose 108.000 of a limit of 100.000

        read 4 at 4 by parity; write 3..6 at 12
        limit: parity read used lpn 4
        | dose 108.000 of a limit of 100.000

        wrote 4; fill 4 at 4; write 3..6 at 12
        limit: host read used lpn 4

        // Nobody needs this data any more.
        write 3..6 at 12
        clean

        wrote 3; trim 4; write 5 at 12
        clean 12 reads
        ",
    );
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
fn a_page_lost_twice_is_one_page() {
    let mut s = hammered(12);
    for measured in [false, true] {
        if measured {
            s.oracle.take(Event::MeasuredPhase);
        }
        for _ in 0..2 {
            s.lose([3, 4, 5]);
            assert_eq!(s.oracle.report().lost_pages, 3);
            (3..6).for_each(|lpn| s.wrote(lpn));
        }
    }
}

#[test]
fn reported_losses_are_results() {
    play(
        || hammered(12),
        "
        // Page 5 fails but is not given up.
        fail 3 at 3; lose 3; fail 3 at nowhere; fail 4 at 4 by gc; lose 4 4; fail 5 at 5; fail 3 at 3
        clean 4 failed 2 lost
        write 3 at 12; read 3 at 12
        clean

        // A page past its limit needs no read to be lost.
        lose 3 4 5
        clean 3 lost

        // Newer data in the buffer is not lost with the old.
        write 3..6 at 12; wrote 4; lose 4
        false loss: lpn 4

        // An old copy that cannot be read leaves newer data alone.
        write 4 5 at 12; wrote 3; fail 3 at 3 by gc; program 3 at 14; read 3 at 14
        clean 0 lost

        write 4 5 at 12; wrote 3; fail 3 at 3 by gc; lose 3
        false loss: lpn 3 was reported lost, but no page with its data is past its limit

        // An old copy that is still needed is lost with the page. The lost part does not come back.
        write 4 5 at 12; part 3; fail 3 at 3 by gc; lose 3; part 3; fail 3 at nowhere
        clean 1 lost 1 failed
        wrote 3; program 3 at 14; read 3 at 14
        clean
        ",
    );
    // Losses count from the measured phase. Nothing has been used since. The worst remaining
    // wordline is 2, with 12 reads of wordline 0 and the 2 failed reads beside it.
    let before = after(hammered(12), "fail 3 at 3; lose 3; measure");
    let report = after(before, "fail 3 at nowhere; fail 4 at 4; lose 4 5").clean();
    assert_eq!((report.uncorrectable_reads, report.lost_pages), (2, 2));
    assert!((report.worst_dose_ratio - 0.30).abs() < 1e-12, "{}", report.worst_dose_ratio);
}

#[test]
fn losses_need_a_page_past_its_limit() {
    let false_losses = |s, steps| after(s, steps).oracle.finish().false_losses;
    let kept = false_losses(hammered(12), "lose 3 4 5; erase 0");
    assert_eq!(kept, 0, "the erase keeps the proof");
    let near = false_losses(rounded(), "lose 3");
    assert_eq!(near, 0, "99.5 of 100: the drive's rounding may be off by one dose unit");
    let below = false_losses(hammered(11), "lose 3");
    assert_eq!(below, 1, "99 of 100, and nothing to round");
    play(
        rounded,
        "
        fail 3 at 3
        clean

        // A retry that succeeds takes the report back.
        fail 3 at 3; read 3 at 3 by retry; program 3 at 12 by reclaim from 3; read 3 at 12
        clean
        ",
    );
    play(
        || hammered(10),
        "
        lose 3; erase 0
        false loss: lpn 3 was reported lost, but no page with its data is past its limit

        // 90 and 99 of 100, and nothing to round.
        fail 3 at 3
        false loss: host read of lpn 3 was reported uncorrectable at ppn 3
        | dose 90.000

        read 0 at 0; fail 3 at 3
        false loss: host read of lpn 3 was reported uncorrectable at ppn 3
        | dose 99.000

        fail 3 at buffer
        false loss: host read of lpn 3 failed, but no flash page was read; it holds version 1

        lose 20
        false loss: lpn 20 was reported lost, but it holds no data
        ",
    );
}

#[test]
fn lost_data_that_reappears_is_caught() {
    for (ppn, words) in
        [(NO_PPN, "served as unmapped"), (FROM_BUFFER, "served from the write buffer")]
    {
        let mut s = after(hammered(12), "write 3..6 at 12; fail 9 at 9; lose 9");
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
fn data_that_could_not_be_read_is_neither_copied_nor_completed() {
    play(
        || hammered(12),
        "
        fail 3 at 3 by gc; program 3 at 12 by gc from 3; lose 4 5
        stamp: gc at ppn 12: copy for lpn 3 of a page that the drive could not read, ppn 3

        part 3; fill 3 at 3 in vain; program 3 at 12; lose 4 5
        stamp: host at ppn 12: program of lpn 3, but the drive could not read its data and did not
        | report it lost

        part 3; fill 3 at 3 in vain; lose 3 4 5
        clean 3 lost 0 failed
        ",
    );
    play(
        || hammered(11),
        "
        // What has completed a page may decay.
        part 3; fill 3 at 3; filled 3; read 0 at 0; fail 3 at 3 by gc; program 3 at 12; lose 4 5
        clean 2 lost
        ",
    );
}

/// Pages 0, 5 and 6 of three dies with stripes of two pages share a wordline that is past its
/// limit. There is no parity, and page 0 is partly written.
#[test]
fn the_rest_of_a_page_is_lost_whoever_finds_it() {
    let partly_written_in_stripes = || {
        let mut config = config(4, 4, wordline_model(100.0, 9.0));
        config.geometry.dies_per_channel = 3;
        config.parity.params.set(None, STRIPE.key, STRIPE.number(2.0));
        let mut s = Scene::new(&parity::drive(config, vpass_techniques::card("raid5")));
        for (ppn, lpn) in (0..).zip([0, 5, 6, 11]) {
            s.write(ppn, [Lpn::new(lpn)]);
            s.oracle.take(Event::Unprotected { stripe: lpn / 2 });
        }
        after(s, "12 x read 11 at 3; lose 5 6; part 0")
    };
    play(
        partly_written_in_stripes,
        "
        fail 0 at 0 by parity; lose 0
        clean 3 lost

        lose 0
        false loss: lpn 0 was reported lost, but no page with its data is past its limit
        ",
    );
}
