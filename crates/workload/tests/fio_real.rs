//! Compares fio and vpass on equal job files. Addresses, sizes and directions must agree.
//!
//! fio runs with its null engine, which needs no disk, and writes an iolog. If fio is not
//! installed, the tests print a note and pass.
//!
//! Both sides draw their own random numbers, so counts are compared as two samples. If both come
//! from one distribution, the sum of (a - b)^2 / (a + b) over cells follows a chi-square law.
#![expect(clippy::print_stdout, reason = "a test that cannot run says so")]

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use vpass_drive::base::request::{Op, Request};
use vpass_workload::fio::{FioOptions, FioSource, JobFile};

/// Direction, first byte in the file, and number of bytes.
type LoggedRequest = (Op, u64, u64);
type Log = Vec<LoggedRequest>;

/// Returns whether fio is installed. If not, prints a note.
fn has_fio() -> bool {
    let found = Command::new("fio")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !found {
        println!("fio is not installed: skipped");
    }
    found
}

/// Runs a job file in its own folder. Returns the iolog for each of the names in `logs`.
fn by_fio(text: &str, logs: &[&str]) -> Vec<Log> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.fio"), text).unwrap();
    let run = Command::new("fio")
        .args(["--output", "out", "job.fio"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}\n{text}", String::from_utf8_lossy(&run.stderr));
    let read = |name: &&str| {
        let log = fs::read_to_string(folder.path().join(name)).unwrap();
        log.lines().filter_map(row).collect()
    };
    logs.iter().map(read).collect()
}

/// Runs a file with one job. Returns the file and the first byte of each request. Files are
/// numbered by first use.
fn places_by_fio(text: &str, log: &str) -> Vec<(usize, u64)> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("job.fio"), text).unwrap();
    let run = Command::new("fio")
        .args(["--output", "out", "job.fio"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}\n{text}", String::from_utf8_lossy(&run.stderr));
    let log = fs::read_to_string(folder.path().join(log)).unwrap();
    let names: Vec<&str> = log
        .lines()
        .filter_map(|l| l.split_once(" add").or(l.split_once("\tadd")).map(|(name, _)| name))
        .collect();
    let names: Vec<&str> =
        names.iter().map(|name| name.split_whitespace().last().unwrap()).collect();
    let place = |line: &'_ str| {
        let (_, offset, _) = row(line)?;
        let name = line.split_whitespace().rev().nth(3)?;
        Some((names.iter().position(|n| *n == name)?, offset))
    };
    log.lines().filter_map(place).collect()
}

/// Parses a line of an iolog of version 2 or 3.
fn row(line: &str) -> Option<LoggedRequest> {
    let columns: Vec<_> = line.split_whitespace().rev().collect();
    let [bytes, offset, action, ..] = columns[..] else { return None };
    let op = match action {
        "read" => Op::Read,
        "write" => Op::Write,
        "trim" => Op::Trim,
        _ => return None,
    };
    Some((op, offset.parse().ok()?, bytes.parse().ok()?))
}

fn source(text: &str) -> FioSource {
    let file = JobFile::parse(Path::new("job.fio"), text).unwrap();
    FioSource::new(
        &file,
        1 << 44,
        4096,
        FioOptions { seed: 1, queue_depth: None, has_clock: false },
    )
    .unwrap()
}

/// Returns the requests of vpass for a file with one job.
fn by_vpass(text: &str) -> Log {
    let requests = common::drained(&mut source(text)).unwrap();
    requests.iter().map(|r: &Request| (r.op, r.offset, u64::from(r.bytes))).collect()
}

/// Counts each key.
fn histogram<K: Ord>(keys: impl Iterator<Item = K>) -> BTreeMap<K, u32> {
    let mut counts = BTreeMap::new();
    keys.for_each(|key| *counts.entry(key).or_insert(0) += 1);
    counts
}

/// Compares two histograms. Cells with small counts are merged. `clump` is the number of requests
/// that lie together; the variance grows by this factor.
#[track_caller]
fn agree<K: Ord + Copy>(what: &str, ours: &BTreeMap<K, u32>, fios: &BTreeMap<K, u32>, clump: f64) {
    let keys: std::collections::BTreeSet<K> = ours.keys().chain(fios.keys()).copied().collect();
    let (ours_all, fios_all) =
        (f64::from(ours.values().sum::<u32>()), f64::from(fios.values().sum::<u32>()));
    // If sizes are cut at visited blocks, two runs of fio differ too. The standard deviation is 1.1
    // %.
    assert!(
        (ours_all / fios_all - 1.0).abs() < 0.08,
        "{what}: {ours_all} requests, fio {fios_all}"
    );
    let (mut sum, mut cells, mut a, mut b) = (0.0, 0.0, 0.0, 0.0);
    for key in keys {
        a += f64::from(ours.get(&key).copied().unwrap_or(0));
        b += f64::from(fios.get(&key).copied().unwrap_or(0)) * ours_all / fios_all;
        if a + b >= 40.0 {
            sum += (a - b) * (a - b) / (a + b) / clump;
            cells += 1.0;
            (a, b) = (0.0, 0.0);
        }
    }
    // The limit allows five standard deviations, and a bit more for few cells. Each side has a part
    // of the variance of a + b.
    assert!(
        sum <= cells + 5.0 * (2.0 * f64::max(cells, 1.0)).sqrt() + 10.0,
        "{what}: {sum:.0} over {cells} cells"
    );
}

/// Compares directions, sizes and addresses. Addresses are compared in 100 equal parts of the file,
/// for all directions together and for each direction.
#[track_caller]
fn same_statistics(text: &str, fios: &Log, ours: &Log, clump: f64) {
    let end = fios.iter().map(|(_, offset, bytes)| offset + bytes).max().unwrap();
    let ours_end = ours.iter().map(|(_, offset, bytes)| offset + bytes).max().unwrap();
    assert!(ours_end.abs_diff(end) <= end / 100, "{text}\nends at {ours_end}, fio's at {end}");
    let of = |key: fn(&LoggedRequest, u64) -> (u8, u64)| {
        [ours, fios].map(|log| histogram(log.iter().map(|r| key(r, end))))
    };
    for (what, [ours, fios]) in [
        ("directions", of(|r, _| (r.0 as u8, 0))),
        ("sizes", of(|r, _| (r.0 as u8, r.2))),
        ("addresses", of(|r, end| (0, r.1 * 100 / end))),
        ("addresses by direction", of(|r, end| (r.0 as u8, r.1 * 100 / end))),
    ] {
        agree(&format!("{text}\n{what}"), &ours, &fios, clump);
    }
}

/// Returns the number of distinct addresses, and the accesses of the 1, 2, 4, 8 .. most popular
/// addresses.
fn popularity(log: &Log) -> Vec<u32> {
    let mut counts: Vec<u32> = histogram(log.iter().map(|r| r.1)).into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let tops = (0..).map(|k| 1usize << k).take_while(|n| *n < counts.len());
    std::iter::once(counts.len() as u32).chain(tops.map(|n| counts[..n].iter().sum())).collect()
}

/// Compares the accesses of the most popular addresses, and the number of distinct addresses.
/// Positions do not matter.
#[track_caller]
fn same_popularity(text: &str, fios: &Log, ours: &Log, clump: f64) {
    for (n, (a, b)) in popularity(ours).into_iter().zip(popularity(fios)).enumerate() {
        let (a, b) = (f64::from(a), f64::from(b));
        let what = if n == 0 {
            "addresses".into()
        } else {
            format!("requests of the 2^{} most popular", n - 1)
        };
        assert!(
            (a - b).abs() <= 5.0 * (clump * (a + b)).sqrt() + 0.005 * b,
            "{text}\n{what}: {a}, fio {b}"
        );
    }
}

/// Runs jobs with these options, all at the same time. Returns each job as a separate file, with
/// fio's requests.
fn each_by_fio(jobs: &[String]) -> Vec<(String, Log)> {
    let job = |(i, options): (usize, &String)| {
        format!("[job{i}]\nioengine=null\nwrite_iolog=log{i}\n{options}\n")
    };
    let jobs: Vec<String> = jobs.iter().enumerate().map(job).collect();
    let logs: Vec<String> = (0..jobs.len()).map(|i| format!("log{i}")).collect();
    let logs = by_fio(&jobs.concat(), &logs.iter().map(String::as_str).collect::<Vec<_>>());
    jobs.into_iter().zip(logs).collect()
}

#[track_caller]
fn compare(jobs: &[&str], clump: f64) {
    for (text, fios) in each_by_fio(&jobs.iter().map(|j| (*j).to_owned()).collect::<Vec<_>>()) {
        let ours = by_vpass(&text);
        same_statistics(&text, &fios, &ours, clump);
        same_popularity(&text, &fios, &ours, clump);
    }
}

#[test]
fn sequential_jobs_are_the_same_requests() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "rw=read\nsize=1m",
        "rw=write\nsize=1000k\nbs=64k",
        "rw=read\nsize=64k\nio_size=200k\nbs=8k",
        "rw=read\nsize=128k\noffset=64k\nbs=16k\nloops=3",
        "rw=read:4k\nsize=256k",
        "rw=read:-8k\nsize=256k",
        "rw=read\nsize=256k\nnumber_ios=7",
        "rw=read\nfilesize=512k\nsize=64k\noffset=128k",
        "rw=read\nsize=50%\nfilesize=1m\nbs=64k",
        "rw=read\nsize=1m\nio_size=25%\nbs=64k",
        "rw=read\nsize=1000000\nkb_base=1000\nbs=4k",
    ];
    for (text, fios) in each_by_fio(&jobs.map(str::to_owned)) {
        assert_eq!(by_vpass(&text), fios, "{text}");
    }
}

/// Returns the number of bytes in a log.
fn bytes_of(log: &Log) -> u64 {
    log.iter().map(|(_, _, bytes)| bytes).sum()
}

#[test]
fn jobs_with_loops_and_io_size_issue_as_many_bytes() {
    if !has_fio() {
        return;
    }
    let ways = [
        "read",
        "write",
        "rw",
        "trim",
        "randread",
        "randwrite",
        "randrw",
        "randtrim",
        "randread\nnorandommap",
        "randwrite\nnorandommap",
        "randrw\nnorandommap",
        "randwrite\nrandom_distribution=zipf:1.1",
    ];
    let amounts = [
        "",
        "io_size=96k",
        "io_size=260k",
        "io_size=400k",
        "io_size=512k",
        "io_size=1000k",
        "number_ios=20",
        "number_ios=20\nio_size=1m",
        "number_ios=100\nio_size=300k",
    ];
    let mut jobs = vec![];
    for (way, amount) in ways.iter().flat_map(|way| amounts.map(|amount| (way, amount))) {
        jobs.extend([1, 2, 3].map(|n| format!("rw={way}\nsize=256k\nbs=8k\n{amount}\nloops={n}")));
    }
    let mut wrong = vec![];
    for (text, fios) in jobs.chunks(64).flat_map(each_by_fio) {
        let (ours, fios) = (bytes_of(&by_vpass(&text)), bytes_of(&fios));
        // The pass of a mix ends when one direction, at random, has no position left.
        let slack = if text.contains("rw=rw") { fios / 5 } else { 0 };
        if ours.abs_diff(fios) > slack {
            wrong.push(format!("{} {ours}, fio {fios}", text.replace('\n', " ")));
        }
    }
    assert!(wrong.is_empty(), "{}\n{} wrong", wrong.join("\n"), wrong.len());
}

#[test]
fn random_reads_cover_each_block_once() {
    if !has_fio() {
        return;
    }
    compare(
        &[
            "rw=randread\nsize=64m",
            "rw=randrw\nrwmixread=70\nsize=64m\noffset=16m",
            "rw=randtrim\nsize=16m\nio_size=48m",
        ],
        1.0,
    );
    let ours = by_vpass("[job]\nsize=64m\nrw=randread\n");
    assert_eq!(histogram(ours.iter().map(|r| r.1)).len(), 16_384);
}

#[test]
fn random_requests_without_a_map() {
    if !has_fio() {
        return;
    }
    let alone = [
        "rw=randread\nsize=64m\nnorandommap",
        "rw=randrw\nrwmixwrite=10\nsize=256m\nnorandommap",
        "rw=randwrite\nsize=64m\nbs=4k\nblockalign=1k",
    ];
    compare(&alone, 1.0);
    // Requests come in runs of 8.
    compare(&["rw=randread:8\nsize=64m\nnorandommap"], 8.0);
}

#[test]
fn mixes_of_sizes() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "rw=read\nsize=256m\nbsrange=4k-64k",
        "rw=randread\nsize=256m\nbsrange=4k-10k\nnorandommap",
        "rw=randread\nsize=256m\nbssplit=4k/10:64k/50:32k/40\nnorandommap",
        "rw=randrw\nrwmixread=60\nsize=256m\nbssplit=2k/50:4k/50,4k/90:8k/10\nnorandommap",
        "rw=rw\nsize=64m\nbs=4k,16k",
        // These requests end at the first block that was visited before.
        "rw=randread\nsize=256m\nbssplit=4k/30:64k/30:32k/20:16k/20",
        "rw=randwrite\nsize=64m\nbsrange=4k-16k",
    ];
    compare(&jobs, 1.0);
}

#[test]
fn skewed_addresses() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "random_distribution=zipf:1.2:0",
        "random_distribution=zipf:0.8:0.25",
        "random_distribution=zipf:1.1:0\nsize=100m",
        "random_distribution=zipf:0.9:0\nsize=1t\nbs=64k",
        "random_distribution=pareto:0.2:0",
        "random_distribution=pareto:0.4:0.5\nsize=100m",
    ];
    let jobs = jobs
        .map(|options| format!("rw=randread\nsize=256m\nnumber_ios=100000\nio_size=1t\n{options}"));
    compare(&jobs.each_ref().map(String::as_str), 1.0);
}

/// Returns the twenty most frequent positions of a direction.
fn hottest(log: &Log, op: Op) -> Vec<u64> {
    let mut counts: Vec<(u64, u32)> =
        histogram(log.iter().filter(|r| r.0 == op).map(|r| r.1)).into_iter().collect();
    counts.sort_unstable_by_key(|(place, n)| (std::cmp::Reverse(*n), *place));
    counts.iter().take(20).map(|(place, _)| *place).collect()
}

fn hot_in_common(log: &Log) -> usize {
    let writes = hottest(log, Op::Write);
    hottest(log, Op::Read).iter().filter(|place| writes.contains(place)).count()
}

#[test]
fn reads_and_writes_have_the_same_hot_blocks() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "random_distribution=zipf:1.2",
        "random_distribution=zipf:0.9\nbs=8k\nrwmixread=70",
        "random_distribution=pareto:0.1\nnorandommap",
        "random_distribution=normal:5:0.25",
        "random_distribution=zipf:1.1\nbs=16k",
    ];
    let jobs = jobs
        .map(|options| format!("rw=randrw\nsize=64m\nnumber_ios=200000\nio_size=1t\n{options}"));
    for (text, fios) in each_by_fio(&jobs) {
        let ours = by_vpass(&text);
        let [of_ours, of_fios] = [&ours, &fios].map(hot_in_common);
        // Zones and a broad normal distribution have no clear twenty hottest blocks.
        assert!(
            of_ours.abs_diff(of_fios) <= 5,
            "{text}: {of_ours} of the 20 hottest are hot in both directions, in fio {of_fios}"
        );
        for op in [Op::Read, Op::Write] {
            let of = |log: &Log| -> Log { log.iter().filter(|r| r.0 == op).copied().collect() };
            same_popularity(&text, &of(&fios), &of(&ours), 1.0);
        }
        // The accesses of a block in both directions together decide its wear and disturbance.
        same_popularity(&text, &fios, &ours, 1.0);
        if text.contains("zipf:1.2") || text.contains("pareto") {
            assert!(of_fios >= 15, "{text}: {of_fios}");
        }
    }
}

#[test]
fn several_files_are_served_in_fio_s_order() {
    if !has_fio() {
        return;
    }
    let jobs = [
        "rw=read\nsize=80k\nnrfiles=3",
        "rw=read\nsize=70000\nfilename=a:b",
        "rw=write\nsize=64k\nnrfiles=2\nio_size=200k",
        "rw=read\nfilesize=64k\nnrfiles=2\nsize=96k",
        "rw=read\nfilesize=64k\nnrfiles=3\nbs=16k\nloops=2",
        "rw=read\nsize=64k\noffset=16k\nfilename=a:b:c",
        "rw=read\nsize=50%\nfilesize=64k\nnrfiles=2",
    ];
    for options in jobs {
        let text = format!("[job]\nioengine=null\nwrite_iolog=log\n{options}\n");
        let fios = places_by_fio(&text, "log");
        let mut source = source(&text);
        // The files of the job lie side by side.
        let starts = source.jobs()[0].starts.clone();
        let requests = common::drained(&mut source).unwrap();
        let place = |r: &Request| {
            let file = starts.iter().rposition(|start| *start <= r.offset).unwrap();
            (file, r.offset - starts[file])
        };
        // fio counts bytes from the start of a file. The record counts from the start of the job's
        // region.
        let offset = if options.contains("offset=16k") { 16 << 10 } else { 0 };
        let ours: Vec<_> =
            requests.iter().map(place).map(|(file, at)| (file, at + offset)).collect();
        assert_eq!(ours, fios, "{text}");
    }
}

#[test]
fn random_requests_go_to_files_as_in_fio() {
    if !has_fio() {
        return;
    }
    for options in ["nrfiles=4", "filename=a:b\nbsrange=4k-16k\nnorandommap"] {
        let text =
            format!("[job]\nioengine=null\nwrite_iolog=log\nrw=randread\nsize=64m\n{options}\n");
        let fios = places_by_fio(&text, "log");
        let mut source = source(&text);
        let starts = source.jobs()[0].starts.clone();
        let requests = common::drained(&mut source).unwrap();
        let ours =
            requests.iter().map(|r| starts.iter().rposition(|start| *start <= r.offset).unwrap());
        let (ours, fios) = (histogram(ours), histogram(fios.iter().map(|place| place.0)));
        agree(&text, &ours, &fios, 1.0);
    }
}

#[test]
fn rates_decide_the_mix() {
    if !has_fio() {
        return;
    }
    for options in ["rate_iops=2000,1000", "rate_iops=2000", "rate=8m,16m\nbs=4k,16k"] {
        let text = format!(
            "[job]\nioengine=null\nwrite_iolog=log\nrw=randrw\nrwmixread=80\nsize=4m\n{options}\n"
        );
        let (ours, fios) = (by_vpass(&text), by_fio(&text, &["log"]).remove(0));
        let reads =
            |log: &Log| log.iter().filter(|r| r.0 == Op::Read).count() as f64 / log.len() as f64;
        assert!(
            (reads(&ours) - reads(&fios)).abs() < 0.03,
            "{options}: {} of them reads, fio {}",
            reads(&ours),
            reads(&fios)
        );
    }
}

#[test]
fn several_jobs_and_what_they_inherit() {
    if !has_fio() {
        return;
    }
    let text = "[global]\nioengine=null\nsize=16m\nbs=8k ; both\n[first]\nrw=randread\n\
                write_iolog=a\n[global]\nbs=16k\nsize=8m\n[second]\nrw=write\nwrite_iolog=b\n\
                io_size=4m\n[third]\nfilename=first.0.0\nrw=randwrite\nbsrange=4k-8k\nnorandommap\n\
                write_iolog=c\n";
    let fios = by_fio(text, &["a", "b", "c"]);
    let mut source = source(text);
    let starts: Vec<u64> = source.jobs().iter().map(|job| job.starts[0]).collect();
    assert_eq!(starts, [0, 16 << 20, 0], "the third shares the first one's file");
    let requests = common::drained(&mut source).unwrap();
    // The first job reads. The second job writes after it. The third job writes to the file of the
    // first job.
    let of = |job: usize| -> Log {
        let mine = |r: &&Request| match job {
            0 => r.op == Op::Read,
            1 => r.offset >= 16 << 20,
            _ => r.op == Op::Write && r.offset < 16 << 20,
        };
        requests
            .iter()
            .filter(mine)
            .map(|r| (r.op, r.offset - starts[job], u64::from(r.bytes)))
            .collect()
    };
    for (job, fios) in fios.iter().enumerate() {
        same_statistics(&format!("job {job}"), fios, &of(job), 1.0);
    }
}

#[test]
fn every_option_of_fio_is_known() {
    if !has_fio() {
        return;
    }
    let help = |args: &[&str]| {
        String::from_utf8(Command::new("fio").args(args).output().unwrap().stdout).unwrap()
    };
    let mut names: Vec<String> = Vec::new();
    for args in [
        ["--cmdhelp"],
        ["--enghelp=libaio"],
        ["--enghelp=io_uring"],
        ["--enghelp=sg"],
        ["--enghelp=pvsync2"],
        ["--enghelp=rbd"],
    ] {
        names.extend(
            help(&args)
                .lines()
                .filter_map(|l| l.split_once(':'))
                .map(|(name, _)| name.trim().to_owned()),
        );
    }
    names.retain(|name| !name.is_empty() && !name.contains(' '));
    assert!(names.len() > 200, "{}", names.len());
    // Options of profiles, which fio accepts in each job.
    for name in ["threads", "numruns", "device-names", "verifysort"] {
        let job = format!("[job]\nsize=1m\n{name}=1\n");
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("job.fio"), job).unwrap();
        let parsed = Command::new("fio")
            .args(["--parse-only", "job.fio"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(parsed.status.success(), "{name}");
        names.push(name.into());
    }
    let unknown = |name: &String| {
        let parsed = JobFile::parse(Path::new("job.fio"), &format!("[job]\nsize=1m\n{name}=0\n"));
        parsed.err().is_some_and(|e| e.to_string().contains("has no option"))
    };
    let unknown: Vec<_> = names.iter().filter(|n| unknown(n)).collect();
    // Options of a newer fio are refused as unknown. This is not an error of vpass.
    let is_ours = help(&["--version"]).trim() == "fio-3.33";
    assert!(unknown.is_empty() || !is_ours, "{unknown:?}");
}
