//! Tests of `vpass trace`: traces are described, converted and cut.

use std::fs;

use vpass_drive::base::request::Op;
use vpass_workload::traces::{Epoch, Target, TraceEvent, TraceRow, TraceWriter};

use crate::common::{Done, Room, command, finished, interrupt, msr_reads, one_line, vpass};

const PGBENCH: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/traces/pgbench-ext4.csv.zst");

fn trace(args: &[&str]) -> Done {
    vpass(&[&["trace"], args].concat())
}

/// Runs a subcommand that must succeed.
#[track_caller]
fn made(args: &[&str]) -> Done {
    let done = trace(args);
    assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{}", done.stderr);
    done
}

/// Log with four reads, two writes and a trim, one second apart. The log has two devices.
const LOG: &str = "fio version 3 iolog\n0 /dev/sda read 0 4096\n1000000 /dev/sda read 12288 \
    8192\n2000000 /dev/sdb write 4194304 65536\n\
    3000000 /dev/sda read 0 4096\n4000001 /dev/sdb write 4194304 512\n5000000 /dev/sda trim \
    1073741824 4096\n6000000 /dev/sda read 0 1024\n";

#[test]
fn info_by_hand() {
    let room = Room::new();
    let json = trace(&["info", &room.file("a.log", LOG), "--drive", "tiny", "--json"]).json();
    let file = &json["files"][0];
    assert_eq!(
        (&file["format"], &file["rows"], &file["span_s"]),
        (&"fio".into(), &7.into(), &6.0.into())
    );
    assert_eq!(
        (&file["reads"]["rows"], &file["writes"]["rows"], &file["trims"]["rows"]),
        (&4.into(), &2.into(), &1.into())
    );
    assert_eq!(
        (&file["reads"]["bytes"], &file["reads"]["p50_bytes"]),
        (&(4096 + 8192 + 4096 + 1024).into(), &4096.into())
    );
    // The read of 8,192 bytes at 12,288 crosses into the second page of 16 KiB. The write of 64 KiB
    // touches 4 pages.
    let footprint = &file["footprint"];
    assert_eq!(json["page_bytes"], 16384);
    assert_eq!(
        (&footprint["pages_read"], &footprint["pages_written"], &footprint["pages_touched"]),
        (&2.into(), &4.into(), &6.into())
    );
    assert_eq!(footprint["extent_bytes"], (1u64 << 30) + 4096 + (4 << 20) + 65_536);
    // Page 0 is read four times, and page 1 once.
    assert_eq!(
        (&file["reads_per_page"]["max"], &file["reads_per_page"]["mean"]),
        (&4.into(), &2.5.into())
    );
    assert_eq!(file["hottest"][5]["share_of_page_reads"], 0.8);
    assert_eq!(file["busiest_regions"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&file["busiest_regions"][0]["device"], &file["busiest_regions"][0]["page_reads"]),
        (&"/dev/sda".into(), &5.into())
    );
    assert_eq!(
        (&file["devices"][1]["name"], &file["devices"][1]["bytes_written"]),
        (&"/dev/sdb".into(), &66_048.into())
    );
    let over_time = &file["over_time"];
    let sum = |name: &str| {
        over_time[name].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((sum("page_reads"), sum("page_writes")), (5, 5));
}

#[test]
fn reads_of_a_block_are_weighed_with_the_drives_own_limits() {
    let room = Room::new();
    let file = room.file("a.log", LOG);
    let info =
        trace(&["info", &file, "--drive", "tiny", "--set", "start.pec=1000", "--json"]).json();
    let explained =
        vpass(&["explain", "--drive", "tiny", "--set", "start.pec=1000", "--json"]).json();
    let ages = explained["ages"].as_array().unwrap();
    let age = ages.iter().find(|age| age["pec"] == 1000).unwrap();
    let worst_case =
        |g: &serde_json::Value| g["limit"].as_f64().unwrap() / g["alpha"].as_f64().unwrap();
    let weakest =
        age["groups"].as_array().unwrap().iter().map(worst_case).fold(f64::INFINITY, f64::min);
    let blocks = &info["files"][0]["blocks"];
    let near = |value: &serde_json::Value, expected: f64| {
        let value = value.as_f64().unwrap();
        assert!((value / expected - 1.0).abs() < 1e-12, "{value} instead of {expected}");
    };
    near(&blocks["endurance"]["worst_case_reads"], weakest);
    assert_eq!(blocks["endurance"]["rewritten_at_reads"], age["thresholds"][0]["reads"]);
    // Both pages lie in the first block. 5 page reads in 6 seconds are 504,000 per week.
    let busiest = &blocks["busiest"];
    assert_eq!(
        (&busiest["offset_bytes"], &busiest["reads"], &busiest["reads_per_week"]),
        (&0.into(), &5.0.into(), &504_000.0.into())
    );
    near(&busiest["weeks_to_worst_case"], weakest / 504_000.0);
    assert_eq!(blocks["mean"]["reads"], 5.0);
}

#[test]
fn info_of_a_real_trace_reads_well() {
    let text = trace(&["info", PGBENCH, "--drive", "tiny"]).stdout;
    let (path, rest) = text.split_once('\n').unwrap();
    assert_eq!(path, PGBENCH);
    insta::assert_snapshot!(rest);
}

#[test]
fn events_of_a_recording_are_kept_or_said_to_be_left_out() {
    let room = Room::new();
    let [recording, copy, cut, msr] =
        ["run.vpt", "copy.vpt", "cut.vpt", "out.csv"].map(|name| room.text(name));
    let mut writer = TraceWriter::new(Target::Compact, vec![], Epoch::Run);
    writer.event(&TraceEvent::Failure("block:7@1ms".parse().unwrap())).unwrap();
    for at_ns in [1000, 2000] {
        let row = TraceRow { at_ns, device: 0, offset: 0, bytes: 4096, op: Op::Write, hint: None };
        writer.row(&row, |_| "drive".into()).unwrap();
        writer.event(&TraceEvent::Flush(at_ns)).unwrap();
    }
    writer.end_at(3_000_000);
    fs::write(&recording, writer.finish().unwrap().0).unwrap();
    let note = "failures of flash (block:7@1ms) and flushes (2), which only the timed gear repeats";
    assert!(!made(&["convert", &recording, &copy]).stderr.contains("left out"));
    for file in [&recording, &copy] {
        let json = trace(&["info", file, "--json"]).json();
        assert_eq!(json["files"][0]["rows"], 2);
        assert!(json["files"][0]["warnings"][0].as_str().unwrap().ends_with(note), "{json:#}");
        let run = |more: &[&str]| {
            vpass(&[&["run", "--drive", "tiny", "--json", "--trace", file], more].concat())
        };
        // The second write comes while the first is flushed.
        for protected in ["true", "false"] {
            let set = format!("drive.write_buffer_protected={protected}");
            let json = run(&["--set", &set]).json();
            assert_eq!(json["failures"]["happened"][0]["failure"], "block:7@1ms");
            assert_eq!(json["oracle"]["protocol_errors"], 0);
        }
        assert_eq!(run(&["--fail", "block:7@1ms"]).code, 2);
        assert!(run(&[&copy[..]]).stderr.contains("must be the only file of its trace"));
    }
    let said = made(&["convert", &recording, &msr]).stderr;
    assert!(said.contains("3 events left out (flushes or failures)"), "{said}");
    let said = made(&["cut", &recording, &cut, "--from", "1us"]).stderr;
    assert!(said.contains("2 events left out (flushes or failures)"), "{said}");
    let life = vpass(&["life", "--drive", "tiny", "--trace", &recording]);
    assert!(life.code == 2 && life.stderr.contains("`vpass life` repeats"), "{}", life.stderr);
}

#[test]
fn several_files_devices_and_formats() {
    let room = Room::new();
    let (log, vpt) = (room.file("a.log", LOG), room.text("a.vpt"));
    made(&["convert", &log, &vpt]);
    let text = trace(&["info", &log, &vpt]).stdout;
    for words in ["a.log\n", "a.vpt\n", "compact\n", "Devices\n", "/dev/sdb", "All files\n"] {
        assert!(text.contains(words), "{words} in\n{text}");
    }
    let mut json = trace(&["info", &log, &vpt, "--json"]).json();
    for file in json["files"].as_array_mut().unwrap() {
        file["file"] = "".into();
        file["format"] = "".into();
        file["time_unit"] = "".into();
        file["time_unit_from"] = "".into();
    }
    assert_eq!(json["files"][0], json["files"][1]);
}

#[test]
fn info_says_when_and_in_which_unit() {
    let room = Room::new();
    let of = |file: &str, more: &[&str]| {
        trace(&[&["info", file, "--json"], more].concat()).json()["files"][0].clone()
    };
    let log = of(&room.file("a.log", LOG), &[]);
    assert_eq!(
        (&log["clock"], &log["time_unit"], &log["time_unit_from"]),
        (&"relative".into(), &"microseconds".into(), &"assumed".into())
    );
    assert_eq!(
        (&log["first_ns"], &log["last_ns"], &log["first_date"]),
        (&0.into(), &6_000_000_000u64.into(), &serde_json::Value::Null)
    );
    let text = trace(&["info", &room.text("a.log"), "--time-unit", "ms"]).stdout;
    assert!(
        ["relative\n", "milliseconds\n", "said\n"].iter().all(|words| text.contains(words)),
        "{text}"
    );
    // Times are ticks of 100 ns since 1601. The compact form keeps the same times.
    let msr = room.file(
        "a.csv",
        "128166372003061629,hm,0,Read,0,512,0\n128166372013061629,hm,0,Read,0,512,0\n",
    );
    made(&["convert", &msr, &room.text("a.vpt")]);
    for (file, unit) in [(msr, "ticks of 100 ns"), (room.text("a.vpt"), "nanoseconds")] {
        let json = of(&file, &[]);
        assert_eq!(
            (&json["clock"], &json["time_unit"], &json["time_unit_from"]),
            (&"absolute".into(), &unit.into(), &"format".into())
        );
        assert_eq!(
            (&json["first_ns"], &json["last_ns"]),
            (&12_816_637_200_306_162_900u64.into(), &12_816_637_201_306_162_900u64.into())
        );
        assert_eq!(
            (&json["first_date"], &json["last_date"]),
            (&"2007-02-22T17:00:00.306Z".into(), &"2007-02-22T17:00:01.306Z".into())
        );
    }
    let none = of(&room.file("P.lis", "0 8 0 0\n"), &["--assume-op", "read"]);
    assert_eq!(
        (&none["clock"], &none["time_unit"], &none["first_ns"]),
        (&"none".into(), &serde_json::Value::Null, &serde_json::Value::Null)
    );
}

#[test]
fn a_rate_that_no_host_keeps_up_is_doubted_wherever_a_trace_is_read() {
    let room = Room::new();
    let file = room.file(
        "a.trace",
        &(0..9000).map(|i| format!("{i} 0 {} 8 1\n", i % 8 * 8)).collect::<Vec<_>>().concat(),
    );
    let words = "9000 requests in 9.00 us are 1000111123 requests per second, more than most hosts \
        sustain; the times of the trace are taken as nanoseconds";
    let info = trace(&["info", &file]).stdout;
    assert!(
        info.contains(words) && info.contains("nanoseconds\n") && info.contains("assumed\n"),
        "{info}"
    );
    assert!(
        trace(&["info", &file, "--json"]).json()["files"][0]["warnings"][0]
            .as_str()
            .unwrap()
            .contains(words)
    );
    assert_eq!(
        trace(&["info", &file, "--json", "--time-unit", "ms"]).json()["files"][0]["warnings"],
        serde_json::json!([])
    );
    assert!(made(&["convert", &file, &room.text("b.vpt")]).stderr.contains(words));
    assert!(
        made(&["cut", &file, &room.text("c.vpt"), "--rows", "8000"])
            .stderr
            .contains("8000 requests in")
    );
    let fixed = trace(&["info", &room.text("b.vpt")]).stdout;
    assert!(
        fixed.contains(
            "as the compact format requires; if the file was made from another trace, make the \
             file again with --time-unit"
        ),
        "{fixed}"
    );
    trace(&["info", &room.text("b.vpt"), "--time-unit", "us"])
        .refuses(2, &["the format fixes the unit of its times (nanoseconds)"]);
    let said = made(&["convert", &file, &room.text("d.vpt"), "--time-unit", "ms"]).stderr;
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(trace(&["info", &room.text("d.vpt"), "--json"]).json()["files"][0]["span_s"], 8.999);
}

#[test]
fn info_tells_regions_apart() {
    let room = Room::new();
    // Rows touch pages of 16 KiB. Pages 0 and 3 are one region, two pages 20 MiB away are another
    // region, and one page is on a second device.
    let rows = "0 1 0 8 1\n1 1 96 32 0\n2 1 40960 64 1\n3 1 40960 8 1\n4 2 64 8 0\n";
    let file = room.file("a.trace", rows);
    let json = trace(&["info", &file, "--drive", "tiny", "--json"]).json();
    let region = |device: &str, pages: [u64; 5]| {
        let [offset, span, touched] = [pages[0], pages[1], pages[2]].map(|n| n * 16_384);
        serde_json::json!({
            "device": device,
            "offset_bytes": offset,
            "span_bytes": span,
            "touched_bytes": touched,
            "page_reads": pages[3],
            "page_writes": pages[4]
        })
    };
    let expected = serde_json::json!([
        region("1", [0, 4, 2, 1, 1]),
        region("1", [1280, 2, 2, 3, 0]),
        region("2", [2, 1, 1, 0, 1])
    ]);
    assert_eq!(json["files"][0]["separate_regions"], expected);
    let text = trace(&["info", &file, "--drive", "tiny"]).stdout;
    assert!(text.contains("Regions with large untouched gaps between them\n"), "{text}");
    assert!(one_line(&text).contains(" 1 20.0 MiB "), "{text}");
}

#[test]
fn a_trace_without_a_clock_has_no_rates() {
    let room = Room::new();
    let file = room.file("P.lis", "0 8 0 0\n8 8 0 1\n64 1 0 2\n");
    let json = trace(&["info", &file, "--assume-op", "read", "--json"]).json();
    assert_eq!(
        (&json["files"][0]["span_s"], &json["files"][0]["blocks"]["mean"]["reads_per_week"]),
        (&0.0.into(), &serde_json::Value::Null)
    );
    assert!(!trace(&["info", &file, "--assume-op", "read"]).stdout.contains("per week"));
    made(&["convert", &file, &room.text("x.vpt"), "--assume-op", "read", "--assume-rate", "10"]);
}

#[test]
fn conversions_come_back() {
    let room = Room::new();
    let file = room.file("a.log", LOG);
    let path = |name: &str| room.text(name);
    assert!(
        made(&["convert", &file, &path("a.vpt.zst")])
            .stderr
            .contains("a.vpt.zst: 7 rows in compact form, ")
    );
    made(&["convert", &path("a.vpt.zst"), &path("b.vpt")]);
    let said = made(&["convert", &path("b.vpt"), &path("c.csv.gz"), "--skip-trims"]).stderr;
    assert!(
        said.contains("c.csv.gz: 6 rows in msr form") && said.contains("1 trim left out"),
        "{said}"
    );
    made(&["convert", &path("c.csv.gz"), &path("e"), "--to", "msr"]);
    std::fs::rename(path("e"), path("e.csv")).unwrap();
    let csv = std::fs::read_to_string(path("e.csv")).unwrap();
    assert_eq!(csv.lines().nth(1), Some("10000000,/dev/sda,0,Read,12288,8192,0"));
    assert_eq!(
        room.names(),
        ["a.log", "a.vpt.zst", "b.vpt", "c.csv.gz", "e.csv"],
        "nothing temporary is left"
    );
}

#[test]
fn what_a_form_loses_is_said_once() {
    let room = Room::new();
    let nanoseconds = room.file("a.trace", "100 0 0 8 1\n250 0 0 8 1\n1999 0 8 8 0\n20 0 8 8 0\n");
    let said = made(&["convert", &nanoseconds, &room.text("a.csv")]).stderr;
    assert!(
        said.contains("this output form stores times in steps of 100 ns, so 3 were rounded down"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1);
    let said = made(&["convert", &nanoseconds, &room.text("a.vpt")]).stderr;
    assert!(!said.contains("rounded"), "{said}");
}

#[test]
fn files_are_joined_by_the_names_of_their_devices() {
    let room = Room::new();
    let row = |host: &str, tick: u64| format!("{tick},{host},0,Read,0,512,0\n");
    let a = room.file("a.csv", &(row("usr", 1_000) + &row("hm", 1_001)));
    let b = room.file("b.csv", &(row("hm", 1_002) + &row("src", 1_003)));
    made(&["convert", &a, &b, &room.text("c.csv")]);
    assert_eq!(
        std::fs::read_to_string(room.path("c.csv")).unwrap(),
        [a, b].map(|f| std::fs::read_to_string(f).unwrap()).concat()
    );
}

#[test]
fn an_output_is_replaced_on_request() {
    let room = Room::new();
    let log = room.file("a.log", LOG);
    let there = room.file("there.vpt", "mine");
    made(&["convert", &log, &there, "--force"]);
    made(&["convert", &there, &there, "--force"]);
    assert_eq!(trace(&["info", &there, "--json"]).json()["files"][0]["rows"], 7);
    std::fs::create_dir(room.path("folder.vpt")).unwrap();
    trace(&["convert", &log, &room.text("folder.vpt"), "--force"])
        .refuses(2, &["is not a regular file"]);
}

#[test]
fn cuts_by_time_device_and_number() {
    let room = Room::new();
    let log = room.file("a.log", LOG);
    let cut = |more: &[&str]| {
        let out = room.text("out.csv");
        made(&[&["cut", &log, &out, "--force", "--skip-trims"], more].concat());
        let text = std::fs::read_to_string(out).unwrap();
        let row = |line: &str| {
            let columns: Vec<&str> = line.split(',').collect();
            [columns[1], columns[3], columns[4], columns[5]].join(" ")
        };
        text.lines().map(row).collect::<Vec<_>>()
    };
    assert_eq!(
        cut(&["--from", "1s", "--to", "3s"]),
        ["/dev/sda Read 12288 8192", "/dev/sdb Write 4194304 65536"]
    );
    assert_eq!(
        cut(&["--only", "/dev/sdb"]),
        ["/dev/sdb Write 4194304 65536", "/dev/sdb Write 4194304 512"]
    );
    assert_eq!(cut(&["--only", "/dev/sda", "--from", "4000ms"]), ["/dev/sda Read 0 1024"]);
    assert_eq!(cut(&["--rows", "2", "--from", "0.1min"]), ["/dev/sda Read 0 1024"]);
    assert_eq!(cut(&["--rows", "1"]), ["/dev/sda Read 0 4096"]);
}

#[test]
fn a_sample_keeps_whole_regions_and_is_part_of_a_larger_one() {
    let room = Room::new();
    let rows = |name: &str, more: &[&str]| {
        let out = room.text(name);
        made(&[&["cut", PGBENCH, &out], more].concat());
        std::fs::read_to_string(out).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = rows("all.csv", &[]);
    assert_eq!(all.len(), 264_884);
    let fifth = rows("fifth.csv", &["--sample", "0.2"]);
    let half = rows("half.csv", &["--sample", "0.5"]);
    let other = rows("other.csv", &["--sample", "0.5", "--seed", "2"]);
    assert_eq!(rows("one.csv", &["--sample", "1"]), all);
    let region = |row: &String| row.split(',').nth(4).unwrap().parse::<u64>().unwrap() >> 20;
    let regions =
        |rows: &[String]| rows.iter().map(region).collect::<std::collections::BTreeSet<_>>();
    let (in_all, in_fifth, in_half) = (regions(&all), regions(&fifth), regions(&half));
    assert!(in_fifth.is_subset(&in_half) && in_half.is_subset(&in_all));
    assert_ne!(in_half, regions(&other));
    let kept: Vec<_> = all.iter().filter(|row| in_half.contains(&region(row))).cloned().collect();
    assert_eq!(kept, half);
    // Each of 719 regions is kept with a probability of one half. Five standard deviations are 67
    // regions.
    let expected = in_all.len() as f64 / 2.0;
    assert!(
        (in_half.len() as f64 - expected).abs() < 67.0,
        "{} of {}",
        in_half.len(),
        in_all.len()
    );
}

#[test]
fn skipped_lines_are_counted() {
    let room = Room::new();
    let file = room.file("a.csv", "1,h,0,Read,0,512,0\noops\n3,h,0,Read,0,512,0\n");
    let said = made(&["convert", &file, &room.text("a.vpt"), "--skip-bad-lines"]).stderr;
    assert!(
        said.contains("a.csv: skipped 1 line that cannot be read; the first: ")
            && said.contains("2 rows"),
        "{said}"
    );
    let json = trace(&["info", &file, "--skip-bad-lines", "--json"]).json();
    assert_eq!((&json["files"][0]["rows"], &json["files"][0]["bad_lines"]), (&2.into(), &1.into()));
}

#[test]
fn a_damaged_compact_trace_is_refused() {
    let room = Room::new();
    let vpt = room.text("a.vpt");
    made(&["convert", PGBENCH, &vpt]);
    let bytes = std::fs::read(&vpt).unwrap();
    std::fs::write(room.path("cut.vpt"), &bytes[..bytes.len() / 2]).unwrap();
    trace(&["info", &room.text("cut.vpt")])
        .refuses(2, &["cut.vpt, record ", "the file ends within a record; it is truncated"]);
    let run = |name: &str| {
        vpass(&["run", "--drive", "tiny", "--gear", "untimed", "--trace", name, "--json"]).json()
    };
    let (mut from_csv, mut from_vpt) = (run(PGBENCH), run(&vpt));
    for json in [&mut from_csv, &mut from_vpt] {
        json["trace"] = serde_json::Value::Null;
        json["simulation"] = serde_json::Value::Null;
        json["workload"] = serde_json::Value::Null;
    }
    assert_eq!(from_csv, from_vpt, "the same rows replay the same");
}

#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing() {
    use std::io::Write;
    use std::process::Stdio;

    let room = Room::new();
    let out = room.text("out.vpt");
    let mut child = command(&["trace", "convert", "/dev/stdin", &out])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    // This trace ends only when its reader closes the pipe.
    let writer = std::thread::spawn(move || {
        let rows = "1,h,0,Read,0,512,0\n".repeat(1000);
        while input.write_all(rows.as_bytes()).is_ok() {}
    });
    while room.names().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    interrupt(&mut child);
    finished(child.wait_with_output().unwrap()).refuses(130, &["interrupted"]);
    writer.join().unwrap();
    assert!(room.names().is_empty(), "{:?}", room.names());
}

/// Other bytes after gzip data are an error, so a damaged or joined file is noticed.
#[test]
fn bytes_behind_gzip_data_are_refused() {
    let room = Room::new();
    let (text, file) = (room.file("a.csv", &msr_reads(&[0, 4096])), room.text("a.csv.gz"));
    made(&["convert", &text, &file]);
    let compressed = std::fs::read(&file).unwrap();
    std::fs::write(&file, [&compressed[..], b"garbage behind the data"].concat()).unwrap();
    trace(&["info", &file]).refuses(2, &["a.csv.gz: cannot be read further"]);
}

/// Columns that the user gives are read by every command, and stand in the manifest.
#[test]
fn columns_of_any_text() {
    let room = Room::new();
    let text = "version,time,op,size,lbn\n1,10,28,4096,8\n1,20,2a,4096,16\n1,30,28,512,24\n";
    let (file, out) = (room.file("a.csv", text), room.text("out"));
    let columns = ["--columns", "_,time:us,op,size:bytes,offset:sectors"];
    let info = trace(&[&["info", &file, "--json"], &columns[..]].concat()).json();
    assert_eq!(info["files"][0]["rows"], 3);
    let run = ["run", "--drive", "tiny", "--gear", "untimed", "--json", "--trace", &file];
    let done = vpass(&[&run[..], &["--out", &out], &columns[..]].concat()).json();
    assert_eq!((&done["trace"]["rows"], &done["host"]["write_bytes"]), (&3.into(), &4096.into()));
    let manifest = std::fs::read_to_string(format!("{out}/manifest.json")).unwrap();
    assert!(manifest.contains("\"columns\": \"_,time:us,op,size:bytes,offset:sectors\""));
}

/// If one file cannot be read, the command fails, but the descriptions of the other files are
/// printed.
#[test]
fn info_of_a_bad_file_shows_the_good_ones() {
    let room = Room::new();
    let good = room.file("a.csv", &msr_reads(&[0, 4096]));
    let bad = room.file("b.csv", "foo\n");
    for files in [[&good, &bad], [&bad, &good]] {
        let done = trace(&["info", files[0], files[1]]);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("b.csv: the format is not recognised"), "{}", done.stderr);
        assert!(done.stdout.contains("a.csv\n"), "{}", done.stdout);
    }
    let worse = room.file("c.csv", "bar\n");
    let both = trace(&["info", &bad, &worse]);
    assert!(both.stdout.is_empty() && both.code == 2, "{}", both.stdout);
    assert!(both.stderr.contains("b.csv: ") && both.stderr.contains("c.csv: "), "{}", both.stderr);
}

/// Copies of the MSR collection begin with column names.
#[test]
fn a_line_of_column_names_is_no_request() {
    let room = Room::new();
    let header = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n";
    let file = room.file("a.csv", &format!("{header}{}", msr_reads(&[0, 4096])));
    let json = trace(&["info", &file, "--json"]).json();
    let of_file = &json["files"][0];
    assert_eq!(
        (&of_file["format"], &of_file["rows"], &of_file["bad_lines"]),
        (&"msr".into(), &2.into(), &0.into())
    );
    let as_msr = trace(&["info", &file, "--format", "msr", "--json"]).json();
    assert_eq!(as_msr["files"][0]["rows"], 2);
}
