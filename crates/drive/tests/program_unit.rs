//! Programs of whole wordlines: the times of programs, their durations, and the places where pages
//! are read until then.

use crate::common;

use common::log::{Log, run_watched};
use common::{PAGE, Script, config, dies};
use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{Cause, Ppn};
use vpass_drive::drive::Drive;
use vpass_drive::time::{Replay, run_untimed};
use vpass_techniques::usual;

/// Time to transfer 16 KiB at 800 MB/s.
const TRANSFER_NS: u64 = 20_480;

/// Returns an empty TLC drive of a single die, whose wordlines are programmed in 600 us.
fn one_die(drive: &str, timing: &str) -> String {
    let timing = format!(
        r#"sense_us = 50, program_unit = "wordline", program_us = 600, erase_us = 3000, channel_mb_s = 800, {timing}"#
    );
    dies(1, "tlc", &timing, &format!("drive = {{ spare = 0.2, {drive} }}\nstart = {{ fill = 0 }}"))
}

fn request(op: Op, at_us: u64, page: u64, pages: u64) -> Request {
    common::request(op, at_us * 1000, page, pages)
}

fn run(text: &str, requests: Vec<Request>) -> (Drive, Replay) {
    common::run_timed(text, &mut Script(requests))
}

fn host_programs(drive: &Drive) -> (u64, u64) {
    (drive.flash_counts().programs[Cause::Host as usize], drive.flash_counts().padded_pages)
}

/// Four pages are a wordline and a page of the next one, which is padded. They take 3 transfers and
/// a program, then 1 transfer and a program.
#[test]
fn without_a_buffer_a_write_is_acknowledged_when_its_last_wordline_is_programmed() {
    let (drive, engine) = run(
        &one_die("write_buffer = 0", ""),
        vec![request(Op::Write, 0, 0, 4), request(Op::Read, 2000, 3, 1)],
    );
    assert_eq!(engine.metrics().write.mean_ns() as u64, 4 * TRANSFER_NS + 2 * 600_000);
    assert_eq!(host_programs(&drive), (6, 2));
    assert_eq!(
        engine.metrics().read.mean_ns() as u64,
        50_000 + TRANSFER_NS,
        "the padded wordline is on flash"
    );
    let mut untimed = common::drive(&one_die("write_buffer = 0", ""), false);
    run_untimed(&mut untimed, &mut Script(vec![request(Op::Write, 0, 0, 4)]), &mut |_, _| true)
        .unwrap();
    assert_eq!(host_programs(&untimed), (6, 2), "as in time");
}

/// Two pages fit in the buffer, so the first of three leaves it and waits for its wordline. While
/// it waits, reads of it take no time. A pause of 100 ms brings it to flash: after the read at 99 ms,
/// the pause ends at 199 ms.
#[test]
fn a_page_that_waits_is_served_from_memory_and_padded_after_a_pause() {
    let script = || {
        (0..3)
            .map(|page| request(Op::Write, 0, page, 1))
            .chain([request(Op::Read, 99_000, 0, 1), request(Op::Read, 200_000, 0, 1)])
            .collect()
    };
    let (drive, engine) = run(&one_die("write_buffer = \"64KiB\"", ""), script());
    assert_eq!(
        (engine.metrics().read.quantile_ns(0.5), 2 * engine.metrics().read.mean_ns() as u64),
        (0, 50_000 + TRANSFER_NS)
    );
    assert_eq!(host_programs(&drive), (3, 2));
    let (drive, engine) = run(&one_die("write_buffer = \"64KiB\"", "pad_after_us = 0"), script());
    assert_eq!(engine.metrics().read.max_ns(), 0, "it waits for ever");
    assert_eq!(host_programs(&drive), (0, 0));
}

/// A page that is rewritten or trimmed while it waits takes no place in the wordline. Pages 0 and 1
/// leave the buffer, 1 is trimmed and 0 rewritten. Together with 2 and 3, three pages wait.
#[test]
fn what_waits_is_rewritten_in_place_and_forgotten_when_trimmed() {
    let mut script: Vec<Request> = (0..4).map(|page| request(Op::Write, 0, page, 1)).collect();
    script.extend([request(Op::Trim, 1, 1, 1), request(Op::Write, 2, 0, 1)]);
    script.extend((4..6).map(|page| request(Op::Write, 3, page, 1)));
    script.push(request(Op::Read, 5000, 0, 1));
    let (drive, engine) = run(&one_die("write_buffer = \"64KiB\"", ""), script);
    assert_eq!(host_programs(&drive), (3, 0));
    assert_eq!(engine.metrics().read.mean_ns() as u64, 50_000 + TRANSFER_NS);
    assert_eq!(drive.host_counts().unmapped_read_pages, 0);
}

#[test]
fn a_die_programs_a_wordline_in_the_time_of_one_program() {
    let pages = 30_000;
    let writes = (0..pages).map(|i| request(Op::Write, 0, i % 9600, 1)).collect();
    let (drive, engine) = run(&one_die("write_buffer = \"1MiB\"", ""), writes);
    assert_eq!(
        drive.flash_counts().programs[Cause::Gc as usize],
        0,
        "sequential rewrites leave nothing to copy"
    );
    let erases: u64 = drive.flash_counts().erases.iter().sum();
    let wordlines = drive.flash_counts().programs[Cause::Host as usize] / 3;
    let busy_ns = wordlines * (3 * TRANSFER_NS + 600_000) + erases * 3_000_000;
    // The last 32 pages are acknowledged while the buffer's programs are still running.
    let took = engine.last_completion() as f64;
    assert!(
        (took / busy_ns as f64 - 1.0).abs() < 0.01,
        "{took} ns for {wordlines} wordlines and {erases} erases: {busy_ns} ns"
    );
}

/// Returns the drive of ipr-2018, Table I, reduced to one die: 192 pages per block, 100/1600/5000
/// us, limit 10,000 reads.
fn ipr(schedule: &str, unit: &str) -> String {
    let timing = format!(
        r#"sense_us = 100, program_unit = "{unit}", program_us = 1600, erase_us = 5000, channel_mb_s = 0"#
    );
    let tables = format!(
        r#"
        drive = {{ spare = 0.2 }}
        reclaim = {{ schedule = "{schedule}" }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}] }}
        "#
    );
    dies(1, "tlc", &timing, &tables)
}

/// Returns the busy time of the die, and the number of host reads of it.
fn busy(log: &Log) -> (u64, u64) {
    (log.busy().map(|(from, to)| to - from).sum(), log.reads_below(Ppn::new(80 * 192), |_| false))
}

/// The job of a block of 192 pages reads 192 pages, programs 64 wordlines or 192 pages, and erases
/// the block. It runs in one piece, in batches and in gaps.
#[test]
fn a_job_occupies_its_die_for_its_reads_its_programs_and_its_erase() {
    for (unit, job_ns) in [
        ("wordline", 192 * 100_000 + 64 * 1_600_000 + 5_000_000),
        ("page", 192 * 1_700_000 + 5_000_000),
    ] {
        for schedule in ["foreground", "batch:24", "deadline"] {
            let requests = (0..12_000).map(|i| request(Op::Read, i * 1000, 0, 1)).collect();
            let (drive, engine, log) = run_watched(&ipr(schedule, unit), |_| Script(requests));
            assert_eq!(drive.reclaim_counts().invocations, 1, "{unit}, {schedule}");
            let (busy_ns, reads) = busy(&log);
            assert!(reads > 11_900, "{unit}, {schedule}: few are served from memory");
            assert_eq!(busy_ns, reads * 100_000 + job_ns, "{unit}, {schedule}");
            if schedule == "foreground" {
                assert_eq!(
                    engine.metrics().read.max_ns() / 1_000_000,
                    (job_ns + 100_000) / 1_000_000,
                    "{unit}: the read that triggered it"
                );
            }
        }
    }
}

/// Computes the number of reads during a job that shares its die with them. It is 192 (100 + 1600 /
/// 3) / 100, or an eighth of the limit if that is less.
#[test]
fn a_block_that_is_out_sooner_serves_fewer_late_reads() {
    let late =
        |unit| Drive::new(config(&ipr("deadline", unit)), &usual(), true).unwrap().late_reads();
    assert_eq!((late("wordline"), late("page")), (1216, 1250));
}

/// One of the block's pages was partly written. The move completes it in the write buffer: it is
/// read, but takes no place in a wordline. So 191 pages must be programmed, and the last two of
/// them wait.
#[test]
fn a_job_charges_no_program_for_a_page_that_it_completes_in_the_buffer() {
    let part = Request { bytes: 512, ..request(Op::Write, 0, 5, 1) };
    let reads = (0..10_500).map(|i| request(Op::Read, i * 1000, 0, 1));
    let requests = [part].into_iter().chain(reads).collect();
    let (drive, _, log) = run_watched(&ipr("foreground", "wordline"), |_| Script(requests));
    assert_eq!(drive.reclaim_counts().invocations, 1);
    let (busy_ns, reads) = busy(&log);
    assert_eq!(busy_ns, reads * 100_000 + 192 * 100_000 + 63 * 1_600_000 + 5_000_000);
}

/// Source of writes of half a page each to pages on flash, as many at a time as there are slots.
struct Halves {
    left: u64,
    pages: u64,
}

impl RequestSource for Halves {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        for _ in 0..self.left.min(max as u64) {
            self.left -= 1;
            let page = self.left * 7919 % self.pages;
            out.push(Request { bytes: PAGE as u32 / 2, ..request(Op::Write, 0, page, 1) });
        }
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Closed { depth: 64 }
    }
}

/// Returns the ratio of the time to the shortest time that four dies need for half-page writes.
fn time_of_halves(write_buffer_kib: u64) -> f64 {
    let text = one_die(&format!("write_buffer = \"{write_buffer_kib}KiB\""), "");
    let text = text.replace("channels = 1", "channels = 4").replace("fill = 0", "fill = 1.0");
    let pages = config(&text).drive.capacity.unwrap().0 / PAGE;
    let (drive, engine) = common::run_timed(&text, &mut Halves { left: 9_000, pages });
    let counts = drive.flash_counts();
    // Some pages are left in the buffer.
    let fills = counts.reads[Cause::Host as usize];
    assert_eq!(
        counts.programs.iter().sum::<u64>(),
        counts.programs[Cause::Host as usize],
        "nothing is cleaned"
    );
    assert!(
        fills.abs_diff(counts.programs[Cause::Host as usize]) < 8 && fills > 8_000,
        "each page is filled: {fills}"
    );
    let of_a_page = 50_000 + TRANSFER_NS + (600_000 + 3 * TRANSFER_NS) / 3;
    // The last write is acknowledged while half of the buffer must still be programmed.
    let programmed = fills - write_buffer_kib * 1024 / PAGE / 2;
    engine.last_completion() as f64 / (programmed * of_a_page / 4) as f64
}

/// A wordline waits until the rest of each of its pages is read. Meanwhile its die does other work,
/// as long as the buffer holds any. So the wait costs no throughput, and the time of a page is its
/// read and its share of a program.
#[test]
fn dies_that_fill_pages_are_busy_while_wordlines_wait() {
    let (large, small) = (time_of_halves(8192), time_of_halves(256));
    assert!((0.99..1.03).contains(&large), "{large}");
    assert!(small > 1.1, "with room for two wordlines they idle: {small}");
}
