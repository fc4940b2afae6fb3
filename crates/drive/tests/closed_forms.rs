//! Latencies computed by hand. They are those of reads of several pages, writes that wait for
//! space, writes without a buffer, suspended programs, copies of a job, and the host link. A page
//! has 16 KiB. It takes 20,480 ns on a channel of 800 MB/s, and 16,384 ns on a host link of 1000
//! MB/s.

use crate::common;

use common::log::run_watched;
use common::{Script, request};
use vpass_drive::base::request::{Op, Request};

const SENSE: u64 = 50_000;
const TRANSFER: u64 = 20_480;
const LINK: u64 = 16_384;
const PROGRAM: u64 = 500_000;
/// Time to transfer a page to its die and program it.
const WRITE: u64 = TRANSFER + PROGRAM;

/// Returns a drive of this number of dies, each with its own channel.
fn drive(dies: u32, timing: &str, buffer: &str, fill: u32) -> String {
    let timing =
        format!("sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 {timing}");
    let drive = format!(
        "drive = {{ spare = 0.2, write_buffer = \"{buffer}\" }}\nstart = {{ fill = {fill} }}\ngc = {{ background = 0 }}"
    );
    common::dies(dies, "slc", &timing, &drive)
}

/// Returns the sums of the latencies of reads and of writes.
fn total(text: &str, requests: Vec<Request>) -> (u64, u64) {
    let (_, engine) = common::run_timed(text, &mut Script(requests));
    (engine.metrics().read.total_ns() as u64, engine.metrics().write.total_ns() as u64)
}

/// Four pages are on two dies, two on each. A die senses its second page when the first one has
/// left the register. With a cache register, it senses at once. Two pages come out at a time, and
/// share the link.
#[test]
fn a_read_of_several_pages_ends_with_its_last() {
    let read = || vec![request(Op::Read, 0, 0, 4)];
    let link = ", ecc_us = 3.5, host_mb_s = 1000";
    let (ns, _) = total(&drive(2, link, "64KiB", 1), read());
    assert_eq!(ns, 2 * (SENSE + TRANSFER) + 3_500 + 2 * LINK);
    let (ns, _) = total(&drive(2, &format!("{link}, cache_read = true"), "64KiB", 1), read());
    // The pages of the first pair are on the link until 106,748 ns. Those of the second pair are
    // ready at 123,980 ns.
    assert_eq!(ns, 2 * SENSE + TRANSFER + 3_500 + 2 * LINK);
    let (ns, _) = total(&drive(2, ", host_mb_s = 100", "64KiB", 1), read());
    assert_eq!(
        ns,
        SENSE + TRANSFER + 4 * 10 * LINK,
        "a slow link is never idle from the first page on"
    );
}

/// The buffer gathers two pages and has space for two that are being programmed. Of six writes at
/// one time, two stay in it, two push those out, and each of the others waits for a program.
#[test]
fn a_write_waits_until_a_program_makes_room() {
    let writes = (0..6).map(|page| request(Op::Write, 0, page, 1)).collect();
    assert_eq!(total(&drive(1, "", "64KiB", 0), writes).1, WRITE + 2 * WRITE);
}

/// Three pages are written, two of them on one of two dies.
#[test]
fn without_a_buffer_a_write_ends_with_its_last_program() {
    let write = || vec![request(Op::Write, 0, 0, 3)];
    assert_eq!(total(&drive(1, "", "0B", 0), write()).1, 3 * WRITE);
    assert_eq!(total(&drive(2, "", "0B", 0), write()).1, 2 * WRITE);
    assert_eq!(
        total(&drive(2, ", host_mb_s = 1000", "0B", 0), write()).1,
        3 * LINK + 2 * WRITE,
        "no page is programmed before it is there"
    );
}

/// A read comes 100 us after the write of another page of its die: 79,520 ns of the program are
/// done. The program is resumed when the read's page has left the die, and takes 100 us longer. A
/// second read finds that the program was suspended as often as allowed, and waits for it.
#[test]
fn a_program_suspended_takes_its_time_the_reads_and_the_cost() {
    let timing = ", suspend = true, suspend_program_us = 100, suspend_limit = 1";
    let read = |at| request(Op::Read, at, 2000, 1);
    let end = WRITE + 100_000 + SENSE + TRANSFER;
    let one = total(&drive(1, timing, "0B", 1), vec![request(Op::Write, 0, 0, 1), read(100_000)]);
    assert_eq!(one, (SENSE + TRANSFER, end));
    let two = total(
        &drive(1, timing, "0B", 1),
        vec![request(Op::Write, 0, 0, 1), read(100_000), read(200_000)],
    );
    assert_eq!(two, (SENSE + TRANSFER + end - 200_000 + SENSE + TRANSFER, end));
    let none = total(&drive(1, "", "0B", 1), vec![request(Op::Write, 0, 0, 1), read(100_000)]);
    assert_eq!(
        none,
        (WRITE - 100_000 + SENSE + TRANSFER, WRITE),
        "without suspension the read waits"
    );
}

/// Writes share one direction of the link, and reads the other. The pages read here are empty.
#[test]
fn the_link_carries_writes_one_after_another_and_reads_beside_them() {
    let text = drive(1, ", host_mb_s = 1000", "1MiB", 0);
    let requests =
        vec![request(Op::Write, 0, 0, 2), request(Op::Write, 0, 2, 2), request(Op::Read, 0, 9, 1)];
    assert_eq!(total(&text, requests), (LINK, 2 * LINK + 4 * LINK));
}

/// A block of 64 pages acts at 1000 - 64 - 50 = 886 reads. Then no request comes for a second. The
/// die copies one page after another: sensing, transfer out, transfer in and program. Then it
/// erases the block.
#[test]
fn a_jobs_copies_follow_each_other_without_a_gap() {
    let text = drive(1, "", "64KiB", 1)
        + r#"
        reclaim = { schedule = "deadline", late_reads = 50 }
        disturb = { model = "count", table = [{ pec = 0, limit = [1000] }] }
        "#;
    let mut requests: Vec<Request> =
        (0..886).map(|i| request(Op::Read, i * 200_000, 0, 1)).collect();
    let last = 885 * 200_000;
    requests.push(request(Op::Read, last + 1_000_000_000, 0, 1));
    let (drive, _, log) = run_watched(&text, |_| Script(requests));
    assert_eq!(drive.reclaim_counts().invocations, 1);
    let job: Vec<_> =
        log.busy().filter(|(from, _)| (last + 1..last + 1_000_000_000).contains(from)).collect();
    let (from, to) = (job.first().unwrap().0, job.last().unwrap().1);
    assert_eq!(from, last + SENSE + TRANSFER, "after the read that called for it");
    assert_eq!(to - from, 64 * (SENSE + TRANSFER + WRITE) + 3_000_000);
}

/// A wordline's first page takes 1.6 ms and its second 5 ms (da-raid5-2013, Table II and IV-A).
/// Three pages are written without a buffer: first, second, first.
#[test]
fn each_page_kind_is_programmed_in_its_own_time() {
    let timing = "sense_us = 400, program_us = [1600, 5000], erase_us = 1500, channel_mb_s = 0";
    let drive = "drive = { spare = 0.3, write_buffer = \"0B\" }\nstart = { fill = 0 }\ngc = { background = 0 }";
    let writes = |pages| vec![request(Op::Write, 0, 0, pages)];
    let text = common::dies(1, "mlc", timing, drive);
    assert_eq!(
        [1, 2, 3].map(|pages| total(&text, writes(pages)).1),
        [1_600_000, 6_600_000, 8_200_000]
    );
    let one = common::dies(1, "mlc", &timing.replace("[1600, 5000]", "[1600, 1600]"), drive);
    let plain = common::dies(1, "mlc", &timing.replace("[1600, 5000]", "1600"), drive);
    assert_eq!(total(&one, writes(9)), total(&plain, writes(9)));
}

/// A job takes the time of its copies and of its erase. The erase is longer from 15,001 cycles on.
#[test]
fn a_worn_block_is_erased_in_a_time_of_its_own() {
    let job_ns = |pec: u32| {
        let timing = "sense_us = 400, program_us = [1600, 5000], erase_us = 1500, channel_mb_s = 0, \
                      erase_by_pec = [{ pec = 15001, us = 10000 }, { pec = 20000, us = 12000 }]";
        let rest = format!(
            r#"
            drive = {{ spare = 0.3, write_buffer = "64KiB" }}
            gc = {{ background = 0 }}
            start = {{ fill = 1, pec = {pec} }}
            reclaim = {{ schedule = "deadline", late_reads = 50 }}
            disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
            "#
        );
        let text = common::dies(1, "mlc", timing, &rest);
        let last = 999 * 500_000;
        let mut requests: Vec<Request> =
            (0..1000).map(|i| request(Op::Read, i * 500_000, 0, 1)).collect();
        requests.push(request(Op::Read, last + 3_000_000_000, 0, 1));
        let (drive, _, log) = run_watched(&text, |_| Script(requests));
        assert_eq!(drive.reclaim_counts().invocations, 1);
        let of_die = log.busy().map(|(from, to)| to - from).filter(|ns| *ns != 400_000);
        of_die.sum::<u64>()
            - u64::from(drive.geometry().pages_per_block) * (1_600_000 + 5_000_000) / 2
    };
    assert_eq!(
        [14_999, 15_000, 15_001, 19_999, 20_000].map(job_ns),
        [1_500_000, 1_500_000, 10_000_000, 10_000_000, 12_000_000]
    );
}
