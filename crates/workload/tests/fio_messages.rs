//! Checks errors about a job file that cannot run. They have the file, the line number, the fault,
//! the expected content, and the text of the line.

use std::path::Path;

use vpass_workload::fio::{FioOptions, FioSource, JobFile};

/// Returns the error of a text, on a 1-GiB drive in the timed gear.
fn error(text: &str) -> String {
    let source = |file: &JobFile| {
        FioSource::new(
            file,
            1 << 30,
            16_384,
            FioOptions { seed: 1, queue_depth: None, has_clock: true },
        )
    };
    let result =
        JobFile::parse(Path::new("a.fio"), text).and_then(|file| source(&file).map(|_| ()));
    result.expect_err("the text is wrong").to_string()
}

/// Checks the error of one line, in a job that is valid without it.
#[track_caller]
fn says(line: &str, what: &str) {
    assert_eq!(error(&job_with(line)), format!("a.fio, line 3: {what}; the line is \"{line}\""));
}

#[test]
fn text_that_is_no_job_file() {
    assert_eq!(
        error(""),
        "a.fio: holds no job; besides [global], a section such as [job] is expected"
    );
    assert_eq!(
        error("[global]\nbs=4k\n"),
        "a.fio: holds no job; besides [global], a section such as [job] is expected"
    );
    assert_eq!(
        error("; a comment\nbs=4k\n[a]\n"),
        "a.fio, line 2: an option before the first section; a section such as [job] or [global] is \
         expected; the line is \"bs=4k\""
    );
    assert_eq!(
        error("[a\nsize=1m\n"),
        "a.fio, line 1: the section has no closing bracket at the end; a section such as [job] is \
         expected; the line is \"[a\""
    );
    assert_eq!(
        error("[]\n"),
        "a.fio, line 1: a section without a name; a section such as [job] is expected; the line is \
         \"[]\""
    );
    let long = format!("description={}", "x".repeat(9000));
    assert!(
        error(&format!("[a]\n{long}\n")).starts_with(
            "a.fio, line 2: the line is longer than 8192 bytes, which fio does not read"
        )
    );
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.fio");
    let read = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        JobFile::read(&path).unwrap_err().to_string().replace(&path.display().to_string(), "a.fio")
    };
    assert_eq!(
        read(b"[a]\n\x80\n"),
        r#"a.fio: is not text (line 2); a fio job file is expected; the line is "\x80""#
    );
    assert_eq!(
        read(&vec![b'\n'; 2 << 20]),
        "a.fio: is larger than 1 MiB; a fio job file, a few kilobytes of text, is expected"
    );
    assert!(read(b"[a]\ninclude missing.inc\n").contains("line 2: the included file: "));
    let of = |path: &Path| JobFile::read(path).unwrap_err().to_string();
    assert_eq!(
        of(Path::new("/no/such.fio")),
        "/no/such.fio: cannot be opened: No such file or directory (os error 2)"
    );
    assert_eq!(
        of(folder.path()),
        format!("{}: is not a regular file; a fio job file is expected", folder.path().display())
    );
}

#[test]
fn names_of_options() {
    says("iodpth=4", "fio 3.33 has no option \"iodpth\" (did you mean iodepth?)");
    says("qqqq=4", "fio 3.33 has no option \"qqqq\"");
    says("BS=4k", "fio 3.33 has no option \"BS\" (did you mean bs?)");
    says("bs", "bs: the option has no value; name=value is expected");
    says("rw=", "rw: the option has no value; name=value is expected");
    says(
        "numjobs=${VPASS_NOT_SET}",
        "there is no variable \"VPASS_NOT_SET\" in the environment; set this variable, or write \
         its value",
    );
}

#[test]
fn values_of_options() {
    let bytes =
        "a whole number of bytes is expected, with or without a unit: 4096, 4k, 1m, 2g, 0x1000";
    says("bs=4x", &format!("bs: {bytes}"));
    says("bs=1.5k", &format!("bs: {bytes}"));
    says("bs=(4*1024)", "bs: arithmetic in parentheses is not supported; write the number itself");
    says(
        "bs=4k-8k",
        "bs: a single size is expected; use bsrange for a range of sizes, and bssplit for sizes \
         with shares",
    );
    says("bs=0", "bs: a request of 0 bytes; a size from 1 byte to 16 MiB is expected");
    says(
        "blocksize=32m",
        "blocksize: a request of 33554432 bytes; a size from 1 byte to 16 MiB is expected",
    );
    says("bsrange=4k", "bsrange: a range such as 4k-64k is expected");
    says("bssplit=4k/50:8k/40", "bssplit: the percentages add up to 90; 100 is expected");
    says(
        "rw=rnadread",
        "rw: one of read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw is \
         expected; did you mean randread?",
    );
    says("rw=randread:0", "rw: a whole number from 1 to 4294967295 is expected");
    says("rwmixread=130", "rwmixread: a percentage from 0 to 100 is expected");
    says("iodepth=0", "iodepth: a whole number from 1 to 65536 is expected");
    says("numjobs=5000", "numjobs: a whole number from 1 to 4096 is expected");
    says(
        "runtime=10x",
        "runtime: a time is expected, a whole number with or without a unit: 30, 90s, 10m, 500ms, \
         2h",
    );
    says("stonewall=yes", "stonewall: 1 or 0 is expected");
    says("kb_base=1", "kb_base: 1024 or 1000 is expected");
    says("rate=1,2,3,4", "rate: at most three values are expected, for reads, writes and trims");
    says(
        "random_distribution=zipf:1",
        "random_distribution: a theta from 0 to 100 other than 1 is expected, as in zipf:1.2",
    );
    says(
        "random_distribution=zoned:60/10:30/20",
        "random_distribution: the percentages of the accesses add up to 90; 100 is expected",
    );
    says("size=101%", "size: a percentage from 0% to 100% is expected");
    says("size=8z", "size: zones are not supported; a size in bytes is expected");
}

#[test]
fn options_that_would_change_the_workload_stop_the_run() {
    for (line, why) in [
        (
            "readfua=1",
            "requests that must reach the flash before they complete are not modelled; set this \
             option to 0",
        ),
        ("zonemode=zbd", "zones are not modelled; leave this option out"),
        (
            "read_iolog=x.log",
            "this option replays a recorded trace; run the trace with `trace=FILE`",
        ),
        (
            "wait_for=b",
            "waiting for a single job is not supported; with stonewall, a job waits for all jobs \
             before it in the file",
        ),
        (
            "latency_target=1ms",
            "a load that depends on the latency is not supported; leave this option out and set \
             iodepth",
        ),
    ] {
        says(line, &format!("{} is not supported: {why}", line.split('=').next().unwrap()));
    }
    says(
        "random_distribution=normal:200",
        "random_distribution: a percentage is expected, as in normal:20",
    );
    says("nrfiles=0", "nrfiles: a whole number from 1 to 4096 is expected");
    says("filename=:", "filename: a name is expected, or several names separated by colons");
    says(
        "filename=a:-",
        "filename: standard input and output are not drives; name a file or a device",
    );
    assert_eq!(
        error("[a]\nsize=1m\nnrfiles=4\nopenfiles=2\n"),
        "a.fio, line 4: openfiles=2 is not supported, because each clone keeps its 4 files open; \
         leave this option out; the line is \"openfiles=2\""
    );
    assert_eq!(
        error("[a]\nsize=1m\nnrfiles=4096\nnumjobs=17\n"),
        "a.fio: its jobs and their clones have 69632 files; at most 65536 are supported"
    );
    says(
        "ioengine=cpuio",
        "ioengine: the engine cpuio sends no reads or writes to a drive; leave the job out",
    );
    says(
        "filesize=1m-2m",
        &format!(
            "filesize: {}; a range of sizes is not supported",
            "a whole number of bytes is expected, with or without a unit: 4096, 4k, 1m, 2g, 0x1000"
        ),
    );
    says("time_based", "time_based needs a runtime, such as runtime=60");
    assert_eq!(
        error("[a]\nsize=1m\nverify=crc32c\nrw=write\n"),
        "a.fio, line 3: reading written data back (verify) is not supported; leave this option \
         out, or add a job that has stonewall and reads the data; the line is \"verify=crc32c\""
    );
}

#[test]
fn rare_options_are_refused_by_name() {
    says(
        "rw=randtrimwrite",
        "rw: randtrimwrite is not supported; write a job that trims and a job that writes",
    );
    for line in [
        "rw_sequencer=identical",
        "bs_unaligned",
        "blocksize_unaligned=1",
        "percentage_random=50,0",
        "random_generator=lfsr",
        "file_service_type=random",
        "iodepth_low=2",
        "thinktime=5",
        "thinktime_spin=5",
        "thinktime_blocks=4",
        "thinktime_blocks_type=issue",
        "thinktime_iotime=10",
        "exitall",
        "exit_what=all",
        "do_verify=0",
        "zonesize=1m",
    ] {
        let (name, message) = (line.split('=').next().unwrap(), error(&job_with(line)));
        let begin = format!("a.fio, line 3: {name} is not supported: ");
        assert!(
            message.starts_with(&begin) && message.ends_with(&format!("\"{line}\"")),
            "{message}"
        );
    }
    for line in [
        "rw_sequencer=sequential",
        "bs_unaligned=0",
        "percentage_random=100",
        "random_generator=tausworthe64",
        "file_service_type=roundrobin",
        "iodepth_low=0",
        "thinktime=0",
        "exitall=0",
        "do_verify=1",
        "zonemode=none",
    ] {
        let file = JobFile::parse(Path::new("a.fio"), &job_with(line)).unwrap();
        assert_eq!(file.left_out(), [line.split('=').next().unwrap()]);
    }
}

fn job_with(line: &str) -> String {
    format!("[a]\nsize=1m\n{line}\n")
}

#[test]
fn rates_that_cannot_be() {
    assert_eq!(
        error("[global]\nrate=4m,\n[a]\nsize=1m\nrw=randrw\n"),
        "a.fio, line 2: rate gives no rate for the writes of this job; give a rate for each \
         direction; the line is \"rate=4m,\""
    );
    assert_eq!(
        error("[a]\nsize=1m\nrate=4m\nrate_iops=10\n"),
        "a.fio, line 3: rate and rate_iops exclude each other; give only one of the two options; \
         the line is \"rate=4m\""
    );
}

#[test]
fn places_that_cannot_be() {
    assert_eq!(
        error("[a]\nrw=read\n"),
        "a.fio, line 1: job a: the size of the file a.0.0 is not known; give the job a size, such \
         as size=1g; the line is \"[a]\""
    );
    assert_eq!(
        error("[a]\noffset=10%\nfilename=x\n"),
        "a.fio, line 1: job a: the offset is a percentage of a file whose size is not known; give \
         the job a size, such as size=1g; the line is \"[a]\""
    );
    assert_eq!(
        error("[a]\nfilename=/dev/sda\noffset=2g\n"),
        "a.fio, line 1: job a: the offset of 2GiB is beyond the end of the file, whose size is \
         1GiB; the line is \"[a]\""
    );
    assert_eq!(
        error("[a]\nsize=2k\n"),
        "a.fio, line 1: job a: a block of 4KiB does not fit into the region of 2KiB; the line is \
         \"[a]\""
    );
    assert_eq!(
        error("[a]\nsize=1g\n[b]\nsize=1m\nnumjobs=9\n"),
        "a.fio: its files take 1033MiB (a.0.0 1GiB, b.0.0 1MiB, b.1.0 1MiB, b.2.0 1MiB and 6 \
         more), but the drive has only 1GiB; give smaller sizes or offsets, give the same filename \
         to jobs that share data, or use a larger drive (`drive.capacity=1033MiB`)"
    );
    assert_eq!(
        error("[a]\nsize=1m\nrw=randread\nrandom_distribution=zoned_abs:100/2m\n"),
        "a.fio, line 1: job a: random_distribution: the zones end at 2097152 bytes, but the file \
         has only 1048576; the line is \"[a]\""
    );
    assert_eq!(
        error("[a]\nnumjobs=4000\nsize=4k\n[b]\nnumjobs=97\nsize=4k\n"),
        "a.fio, line 4: with this job, the file has 4097 jobs, clones included; fio runs at most \
         4096; the line is \"[b]\""
    );
    assert!(error("[a]\nfilename=/dev/x\nrw=randread\nbsrange=1-3\nnumjobs=9\n").contains(
        "the random maps of jobs with several block sizes would take more than 1 \
                       GiB; add norandommap"
    ));
}

#[test]
fn the_untimed_gear_has_no_time() {
    let untimed = |text: &str| {
        let file = JobFile::parse(Path::new("a.fio"), text).unwrap();
        FioSource::new(
            &file,
            1 << 30,
            4096,
            FioOptions { seed: 1, queue_depth: None, has_clock: false },
        )
    };
    assert_eq!(
        untimed("[a]\nsize=1m\nruntime=5\ntime_based\n").err().unwrap().to_string(),
        "a.fio, line 1: job a ends by time (time_based), but the untimed gear has no time without \
         a rate; use `gear=timed`, or give the job a rate or number_ios; the line is \"[a]\""
    );
    assert_eq!(
        untimed("[a]\nsize=1m\nrate_iops=10\n[b]\nsize=1m\n").err().unwrap().to_string(),
        "a.fio, line 1: job a has a rate and job b has none; the untimed gear cannot run these two \
         jobs at once, because this gear does not know how long a request takes: use `gear=timed`, \
         give a rate to both jobs or to neither job, make one job wait for the other (stonewall), \
         or use `queue_depth=N`; the line is \"[a]\""
    );
    let source = untimed("[a]\nsize=1m\nstartdelay=1\n").unwrap();
    assert_eq!(
        source.notes(),
        ["job a: its startdelay is ignored, because the untimed gear has no time without a rate"]
    );
    assert!(untimed("[a]\nsize=1m\nruntime=5\ntime_based\nrate_iops=10\n").is_ok());
    let source = untimed("[a]\nsize=1m\nruntime=5\n").unwrap();
    assert_eq!(
        source.notes(),
        ["job a: its runtime is ignored, because the untimed gear has no time without a rate"]
    );
}

#[test]
fn safety_options_are_noted_once() {
    let text = "[global]\nfsync=32\nend_fsync=1\nfdatasync=0\n[a]\nsize=1m\nsync=dsync\n\
                fsync_on_close\n[b]\nsize=1m\nfsync=1\n";
    let file = JobFile::parse(Path::new("a.fio"), text).unwrap();
    let source = FioSource::new(
        &file,
        1 << 30,
        4096,
        FioOptions { seed: 1, queue_depth: None, has_clock: true },
    )
    .unwrap();
    let note = "fsync, end_fsync, sync, fsync_on_close: these options have no effect, because a \
        write that the simulated drive has acknowledged is safe";
    assert_eq!(
        (source.notes(), file.left_out()),
        (&[note.into()][..], &["fdatasync".to_owned()][..])
    );
}

#[test]
fn options_that_do_not_matter_are_listed_once() {
    let text = "[global]\nioengine=libaio\ndirect=1\nthread\nfsync=0\n[a]\nsize=1m\ndirect=0\n\
                log_avg_msec=10\n[b]\nsize=1m\ngroup_reporting\n";
    let file = JobFile::parse(Path::new("a.fio"), text).unwrap();
    assert_eq!(
        file.left_out(),
        ["ioengine", "direct", "thread", "fsync", "log_avg_msec", "group_reporting"]
    );
}
