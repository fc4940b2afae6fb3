//! Data is rewritten before it is older than `refresh.period`, in both gears, at exactly the time
//! that follows from its writing.

use crate::common;

use common::{PAGE, Script, config, dies, request};
use vpass_drive::base::failure::{Failure, Unit, When};
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::span::SECOND;
use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, RunError, run_untimed, warm_up};
use vpass_techniques::{card, usual};

const TIMING: &str = "sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800";

/// Creates an empty drive of one die with 80 blocks of 64 pages, under refresh. The period is 1,000
/// s, and its last 125 s are for idle gaps.
fn drive(tables: &str, timed: bool) -> Drive {
    let text = dies(
        1,
        "slc",
        TIMING,
        &format!(
            "drive = {{ spare = 0.5, write_buffer = 0 }}\nrefresh = {{ period = \"1000s\" }}\n{tables}"
        ),
    );
    let techniques = Techniques { reclaim: card("none"), refresh: card("block"), ..usual() };
    let mut drive = Drive::new(config(&text), &techniques, timed).unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

const EMPTY: &str = "start = { fill = 0.0 }";

fn serve(drive: &mut Drive, requests: &[Request]) {
    let mut source = Script(requests.to_vec());
    if drive.is_timed() {
        Replay::new(drive).run(drive, &mut source, &mut |_, _| true).unwrap();
    } else {
        run_untimed(drive, &mut source, &mut |_, _| true).unwrap();
    }
}

/// Returns the refreshes until a read at this second. A page was written at 100 s.
fn refreshed_by(second: Ns, timed: bool) -> u64 {
    let mut drive = drive(EMPTY, timed);
    serve(
        &mut drive,
        &[request(Op::Write, 100 * SECOND, 0, 1), request(Op::Read, second * SECOND, 0, 1)],
    );
    assert_eq!(
        drive.flash_counts().programs[Cause::Refresh as usize],
        drive.flash_counts().reads[Cause::Refresh as usize]
    );
    drive.flash_counts().programs[Cause::Refresh as usize]
}

/// The refresh comes at 100 s + 875 s.
#[test]
fn a_page_is_rewritten_at_the_time_that_follows_from_its_writing() {
    for timed in [false, true] {
        assert_eq!([974, 976].map(|second| refreshed_by(second, timed)), [0, 1], "timed: {timed}");
    }
}

/// A page without any requests is rewritten every 875 s, also in one long pause: until 10,000 s, at
/// 875, 1,750 .. 9,625 s.
#[test]
fn a_pause_has_all_its_refreshes() {
    for timed in [false, true] {
        let mut drive = drive(EMPTY, timed);
        serve(&mut drive, &[request(Op::Write, 0, 0, 1), request(Op::Read, 10_000 * SECOND, 0, 1)]);
        assert_eq!(drive.refresh_counts().invocations, 11, "timed: {timed}");
        let counts = drive.flash_counts();
        assert_eq!(
            (counts.programs[Cause::Refresh as usize], counts.erases[Cause::Refresh as usize]),
            (11, 11)
        );
        assert_eq!(
            (drive.refresh_counts().open_blocks, drive.refresh_counts().unused_pages),
            (11, 11 * 63),
            "each was open, with one page"
        );
    }
}

/// A rewritten block is as old as its oldest page, wherever its newest pages come from.
#[test]
fn a_blocks_age_is_that_of_its_oldest_page() {
    let mut drive = drive(EMPTY, false);
    let writes = (0..60).map(|n| request(Op::Write, n * 14 * SECOND, n, 1));
    let all: Vec<_> = writes.chain([request(Op::Read, 876 * SECOND, 0, 1)]).collect();
    serve(&mut drive, &all);
    assert_eq!(
        drive.flash_counts().programs[Cause::Refresh as usize],
        60,
        "written from 0 to 826 s, and moved together at 875 s"
    );
}

/// 40 blocks have ages of 0 to 800 s. Until 875 s, each has been refreshed once, at the time that
/// follows from its age.
#[test]
fn ages_at_the_start_are_spread_evenly() {
    let of = |second: Ns| {
        let mut drive = drive("start = { age = \"800s\" }", false);
        serve(&mut drive, &[request(Op::Read, second * SECOND, 0, 1)]);
        drive.refresh_counts().invocations
    };
    let [none, half, all] = [74, 475, 875].map(of);
    assert_eq!((none, all), (0, 40), "the oldest is due at 75 s, the youngest at 875 s");
    assert!((10..=30).contains(&half), "{half} of 40 by half that time");
}

/// The clock of the measured phase begins at 0. Data from a warm-up keeps its age.
#[test]
fn a_warm_up_passes_time() {
    for timed in [false, true] {
        let mut drive = drive(EMPTY, timed);
        let warm: Vec<_> = [0, 500].map(|s| request(Op::Write, s * SECOND, s, 1)).to_vec();
        warm_up(&mut drive, &mut Script(warm), &mut |_, _| true).unwrap();
        drive.restart_clock();
        drive.begin_measurement();
        assert_eq!(drive.now(), 0);
        serve(&mut drive, &[374, 376].map(|s| request(Op::Read, s * SECOND, 0, 1)));
        assert_eq!(
            drive.refresh_counts().invocations,
            1,
            "due 875 s after the first write, 500 s of which were warm-up; timed: {timed}"
        );
    }
}

/// A block is not refreshed if GC, reclaim or a rewrite of the host empties it before it is due.
#[test]
fn what_is_erased_in_time_is_not_refreshed() {
    let mut drive = drive("", false);
    // All pages are overwritten every 160 s, block by block.
    let all: Vec<_> =
        (0..2560 * 20).map(|n| request(Op::Write, n * SECOND / 16, n % 2560, 1)).collect();
    serve(&mut drive, &all);
    let counts = drive.flash_counts();
    assert!(counts.erases[Cause::Gc as usize] > 500, "{counts:?}");
    assert_eq!(drive.refresh_counts().invocations, 0);
}

/// A block of one page fails with its page, as if the whole block failed. No data is left to
/// refresh, and the block is not erased. The period is 1,000 s.
#[test]
fn a_block_that_fails_with_its_only_page_is_not_refreshed() {
    for (timed, of_page) in [(false, true), (false, false), (true, true), (true, false)] {
        let text = r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 80, wordlines_per_block = 1, cell = "slc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.5, write_buffer = 0 }
            refresh = { period = "1000s" }
            start = { fill = 0.0 }
        "#;
        let techniques = Techniques { reclaim: card("none"), refresh: card("block"), ..usual() };
        let mut drive = Drive::new(config(text), &techniques, timed).unwrap();
        drive.precondition(1);
        drive.begin_measurement();
        serve(&mut drive, &[request(Op::Write, 0, 0, 1)]);
        let place = drive.map_rows().next().expect("a page is written").ppn.number();
        let unit = if of_page { Unit::Page(place) } else { Unit::Block(place) };
        drive.expect_failures(&[Failure { unit, when: When::Request(0) }]);
        serve(&mut drive, &[1, 10_000].map(|second| request(Op::Read, second * SECOND, 0, 1)));
        let erases: u64 = drive.flash_counts().erases.iter().sum();
        assert_eq!(
            (drive.lost_pages(), drive.refresh_counts().invocations, erases),
            (1, 0, 0),
            "timed: {timed}, page: {of_page}"
        );
    }
}

/// All requests come together near 900 s and keep the die busy past 1,000 s. Without an idle gap,
/// the refresh becomes urgent in time.
#[test]
fn a_busy_die_refreshes_before_the_period_ends() {
    let mut drive = drive("", true);
    // A read takes 77 us, so 1,500,000 reads take at least 115 s.
    let mut all: Vec<_> =
        (0..1_500_000).map(|n| request(Op::Read, 870 * SECOND, n % 2560, 1)).collect();
    all.push(request(Op::Read, 1_001 * SECOND, 0, 1));
    serve(&mut drive, &all);
    assert_eq!(drive.refresh_counts().invocations, 40);
    assert_eq!(drive.flash_counts().erases[Cause::Refresh as usize], 40);
}

#[test]
fn requests_without_times_are_refused() {
    let mut drive = drive(EMPTY, false);
    let mut source =
        common::Cycle { offsets: vec![0, PAGE], bytes: PAGE as u32, left: 10, at: 0, depth: 1 };
    let Err(RunError::Source(refused)) = run_untimed(&mut drive, &mut source, &mut |_, _| true)
    else {
        panic!("it was served")
    };
    assert!(refused.to_string().contains("workload.rate"), "{refused}");
}

#[test]
fn what_refresh_cannot_keep_is_refused() {
    let refused = |tables: &str, refresh: &str| {
        let text = dies(1, "slc", TIMING, &format!("drive = {{ spare = 0.5 }}\n{tables}"));
        let techniques = Techniques { refresh: card(refresh), ..usual() };
        Drive::new(config(&text), &techniques, false).err().map(|e| e.to_string())
    };
    let older = "start = { age = \"31d\" }";
    assert_eq!(
        refused(older, "block").unwrap(),
        "start.age = \"31d\" must be at most refresh.period = \"30d\": refresh rewrites data \
         before the data is older than this period"
    );
    assert_eq!(refused(older, "none"), None);
    // 80 blocks of 64 pages take 550 us per page and 3 ms per erase: 3.056 s, given in whole
    // seconds.
    assert_eq!(
        refused("refresh = { period = \"3s\" }", "block").unwrap(),
        "refresh.period = \"3s\" must be at least \"4s\", the time to rewrite every block once"
    );
    assert_eq!(refused("refresh = { period = \"3.06s\" }", "block"), None);
    let text = dies(1, "slc", TIMING, "drive = { spare = 0.5 }\nrefresh = { period = \"0s\" }");
    let resolved = toml::from_str::<vpass_drive::config::DriveConfig>(&text).unwrap().resolve();
    assert_eq!(
        resolved.unwrap_err().to_string(),
        "refresh.period is 0; a span of time such as \"30d\" is expected"
    );
}

/// Data is written at 0 and never read. After three years, age leaves no margin, and the end of the
/// run reports the loss.
#[test]
fn data_that_age_alone_has_ruined_is_reported_at_the_end() {
    let year = 365 * 86_400 * SECOND;
    let table = |alpha: &str| format!("table = [{{ pec = 0, limit = [1000.0]{alpha} }}]");
    for (model, table) in [("count", table("")), ("wordline", table(", alpha = [9.0]"))] {
        for (after, lost, longest) in [(year, 0, "1y"), (3 * year, 1, "1y"), (3 * year, 1, "10y")] {
            let text = format!(
                r#"
                drive = {{ spare = 0.5, write_buffer = 0 }}
                start = {{ fill = 0.0, age = "1s" }}
                disturb = {{ model = "{model}", {table} }}
                ecc = {{ cap = [0.0085, 0.0125], retry_decode_us = [20] }}
                error = {{ model = "powerlaw", e = 0.001, b = 0.000005, m = 0.0, n = 0.8, longest_age = "{longest}" }}
                "#
            );
            let techniques = Techniques { reclaim: card("none"), ..usual() };
            let mut drive =
                Drive::new(config(&dies(1, "slc", TIMING, &text)), &techniques, false).unwrap();
            serve(&mut drive, &[request(Op::Write, 0, 0, 1), request(Op::Read, after, 1, 1)]);
            drive.report_unread_losses();
            assert_eq!(
                (drive.lost_pages(), drive.lost_by_age()),
                (lost, lost),
                "{model}, {longest}"
            );
        }
    }
}

/// A read adds 0.0075 / 1000, and a month 0.000966. So a page endures a dose of 871 without a retry
/// and of 1,404 with one. This is 871 reads and 267 reads that count twice.
#[test]
fn what_reads_take_of_old_data_is_lost_by_reads() {
    let text = r#"
        drive = { spare = 0.5, write_buffer = 0 }
        start = { fill = 0.0, age = "1s" }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
        ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
        error = { model = "powerlaw", e = 0.001, b = 0.000005, m = 0.0, n = 0.8 }
    "#;
    let month = 30 * 86_400 * SECOND;
    for (reads, lost) in [(1130, 0), (1150, 1)] {
        let techniques = Techniques { reclaim: card("none"), ..usual() };
        let mut drive =
            Drive::new(config(&dies(1, "slc", TIMING, text)), &techniques, false).unwrap();
        let reads = (0..reads).map(|n| request(Op::Read, month + n, 0, 1));
        serve(
            &mut drive,
            &std::iter::once(request(Op::Write, 0, 0, 1)).chain(reads).collect::<Vec<_>>(),
        );
        drive.report_unread_losses();
        assert_eq!((drive.lost_pages(), drive.lost_by_age()), (lost, 0));
    }
}

/// Creates a drive of one die with a buffer of four pages. After three years, written data on it is
/// lost.
fn ruined_by_three_years(unit: &str, reclaim: &str) -> Drive {
    let timing = format!("{TIMING}, program_unit = \"{unit}\"");
    let text = r#"
        drive = { spare = 0.5, write_buffer = "64KiB" }
        start = { fill = 0.0, age = "1s" }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
        ecc = { cap = [0.0085, 0.0125], retry_decode_us = [20] }
        error = { model = "powerlaw", e = 0.001, b = 0.000005, m = 0.0, n = 0.8 }
    "#;
    let techniques = Techniques { reclaim: card(reclaim), ..usual() };
    Drive::new(config(&dies(1, "slc", &timing, text)), &techniques, false).unwrap()
}

/// Pages are written at 0, and partly rewritten three years later. The rest of them cannot be read
/// and is lost by age, whichever operation finds this.
#[test]
fn the_rest_of_a_page_that_age_has_ruined_is_lost_by_age() {
    let year = 365 * 86_400 * SECOND;
    for unit in ["page", "wordline"] {
        let mut drive = ruined_by_three_years(unit, "none");
        let part = |at, page| Request { bytes: 512, ..request(Op::Write, at, page, 1) };
        let first = (0..16).map(|page| request(Op::Write, page, page, 1));
        let later = [part(3 * year, 0), part(3 * year, 1), request(Op::Read, 3 * year, 1, 1)];
        // These writes take the space of those pages in the buffer.
        let others = (16..64).map(|page| request(Op::Write, 3 * year, page, 1));
        serve(&mut drive, &first.chain(later).chain(others).collect::<Vec<_>>());
        assert_eq!((drive.lost_pages(), drive.lost_by_age()), (2, 2), "{unit}");
    }
}

/// Here a move finds the lost rest: reads of another page cause reclaim of a block of 64 lost
/// pages.
#[test]
fn the_rest_that_a_move_finds_ruined_by_age_is_lost_by_age() {
    let year = 365 * 86_400 * SECOND;
    for unit in ["page", "wordline"] {
        let mut drive = ruined_by_three_years(unit, "block");
        let first = (0..72).map(|page| request(Op::Write, page, page, 1));
        let part = Request { bytes: 512, ..request(Op::Write, 3 * year, 0, 1) };
        let reads = (1..1500).map(|n| request(Op::Read, 3 * year + n * SECOND, 1, 1));
        serve(&mut drive, &first.chain([part]).chain(reads).collect::<Vec<_>>());
        assert!(
            drive.reclaim_counts().invocations > 0 && drive.host_counts().fill_reads == 0,
            "{unit}: a move comes first"
        );
        assert_eq!((drive.lost_pages(), drive.lost_by_age()), (64, 64), "{unit}");
    }
}

/// The 2-3-2 code takes 10 us or 15 us for each sensing. A wordline with a trimmed LSB page is
/// merged at 875 s. Then reads of its CSB page sense once instead of three times, and reads of its
/// MSB page twice as before.
#[test]
fn merging_in_the_code_of_todays_tlc_saves_the_middle_pages_sensings() {
    let more = "drive = { spare = 0.5, write_buffer = 0 }\nrefresh = { period = \"1000s\", ida = { error_rate = 0 } }\nstart = { fill = 0.0 }";
    let timing = TIMING.replace("sense_us = 50", "sense_us = [40, 55, 40]");
    let sensed = |cell: &str, reclaim: &str| {
        let text = dies(1, cell, &timing, more);
        let techniques = Techniques { reclaim: card(reclaim), refresh: card("ida"), ..usual() };
        let mut drive = Drive::new(config(&text), &techniques, true).map_err(|e| e.to_string())?;
        let writes = (0..3).map(|page| request(Op::Write, 0, page, 1));
        let reads =
            |second: Ns| [1, 2].map(|page| request(Op::Read, (second + page) * SECOND, page, 1));
        let requests =
            writes.chain([request(Op::Trim, SECOND, 0, 1)]).chain(reads(10)).chain(reads(900));
        let mut replay = Replay::new(&drive);
        replay.run(&mut drive, &mut Script(requests.collect()), &mut |_, _| true).unwrap();
        assert_eq!(drive.refresh_counts().merged_wordlines, 1);
        let of_transfers = 4 * 20_480;
        Ok::<_, String>(replay.metrics().read.total_ns() - of_transfers)
    };
    assert_eq!(sensed("tlc-2-3-2", "none"), Ok(55_000 + 40_000 + 25_000 + 40_000));
    let refused = sensed("tlc-2-3-2", "ipr-wl").unwrap_err();
    assert!(
        refused.contains("`ipr-wl` uses guard levels")
            && refused.contains("geometry.cell = \"tlc-2-3-2\""),
        "{refused}"
    );
}
