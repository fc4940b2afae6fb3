//! Tests of recipes whose drives are read for many days at a low rate.

use crate::common::{Room, vpass};

/// Recipe with two hint budgets, on a drive whose reads need retries early. A timed window follows
/// the span.
const RECIPE: &str = "title = 'spans'\ndrive = 'rlr-rewriter-tlc'\nlong_us = 400\n\
    set = ['drive.capacity=320MiB', 'drive.spare=0.4', 'geometry.channels=1', \
    'geometry.planes_per_die=1', 'drive.write_buffer=0', 'start.pec=900']\n\
    workload = [{ name = 'even', config = { block_size = '16KiB' } }]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['block', 'straw-wl'], span = { days = 14, \
    reads_per_page = 100 }, seeds = 2, \
    variant = [{ name = 'no retry' }, { name = 'some', hints = 'idle.toml' }] }]\n\
    figure = [{ name = 'f', title = 'mean', group = 'g', metric = ['/reads/mean_us'], unit = 'us', \
    over_variant = 'no retry', \
    by_workload = true, interval = true }]\n\
    plot = [{ name = 'weeks', title = 'by week', group = 'g', kind = 'weeks' }]\n";

const IDLE: &str = "[[range]]\noffset = 0\nbytes = '320MiB'\naccess_latency = 'idle'\n";

#[test]
fn a_variant_is_divided_by_another_and_every_week_has_its_reads() {
    let room = Room::new();
    room.file("idle.toml", IDLE);
    let out = room.path("out");
    let done = vpass(&["paper", &room.file("run.toml", RECIPE), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let csv = read("f.csv");
    assert!(csv.starts_with("# mean\nvariant,workload,seed,reclaim,us,over_no_retry\n"), "{csv}");
    let last = |start: &str| {
        csv.lines()
            .find(|l| l.starts_with(start))
            .unwrap()
            .rsplit(',')
            .next()
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    assert!(
        (last("no retry,even,2,block,") - 1.0).abs() < 1e-12
            && last("some,even,2,straw-wl,") >= 1.0,
        "{csv}"
    );
    assert!(done.stdout.contains("1.00 ± 0"), "{}", done.stdout);
    let weeks = read("weeks.csv");
    let reads: Vec<f64> = weeks
        .lines()
        .filter(|l| l.starts_with("some,even,block,1,"))
        .map(|l| l.split(',').nth(6).unwrap().parse().unwrap())
        .collect();
    // 20,480 pages have 100 reads each, half of them in each of two weeks.
    assert!(
        reads.len() == 2 && reads.iter().all(|reads| (reads - 20_480.0 * 50.0).abs() < 2.0),
        "{weeks}"
    );
    let runs: serde_json::Value = serde_json::from_str(&read("runs.json")).unwrap();
    let some = runs.as_array().unwrap().iter().find(|run| run["variant"] == "some").unwrap();
    let hints = some["summary"]["hints"]["idle"].clone();
    assert_eq!((hints["retries"].as_u64(), hints["pages"].as_u64()), (Some(4), Some(20_480)));
}

#[test]
fn spans_that_do_not_go_together_with_the_rest_are_refused() {
    let room = Room::new();
    room.file("idle.toml", IDLE);
    let refused = |from: &str, to: &str, words: &str| {
        assert!(RECIPE.contains(from), "{from}");
        let done = vpass(&["paper", &room.file("run.toml", &RECIPE.replacen(from, to, 1))]);
        assert!(done.code == 2 && done.stderr.contains(words), "{}", done.stderr);
    };
    refused("days = 14", "days = 0", "amounts above 0 are expected");
    refused(
        "reads_per_page = 100 }",
        "reads_per_page = 100, window = { reads = 9, load = 0.1 } }",
        "a `window` is needed in the timed gear",
    );
    refused("gear = 'untimed'", "gear = 'timed'", "a `window` is needed in the timed gear");
    refused(
        "seeds = 2",
        "seeds = 2, load = 0.3",
        "the rate of a span follows from its days and its reads per page",
    );
    refused("seeds = 2", "cycles = 2.0, reads_per_block = 9.0", "`span` cannot be used with");
    refused("seeds = 2", "sample = '1/104'", "`sample` is only for `gear = \"fluid\"`");
    refused("gear = 'untimed'", "gear = 'fluid'", "`gear = \"fluid\"` needs `span` and `sample`");
    refused("seeds = 2", "seeds = 2, sample = '5/4'", "1/N is expected for one page in N");
    refused(
        "'no retry', b",
        "'no retries', b",
        "unknown variant `no retries`; did you mean `no retry`?",
    );
    refused("over_variant", "over = 'block', over_variant", "give either `over` or `over_variant`");
    refused("long_us = 400\n", "", "plot weeks: kind `weeks` needs `long_us` in the recipe");
    refused("hints = 'idle.toml'", "hints = 'busy.toml'", "busy.toml");
}

#[test]
fn a_hint_for_half_of_a_drive_is_one_for_half_of_its_sample() {
    let room = Room::new();
    let hints = room
        .file("half.toml", "[[range]]\noffset = '60GB'\nbytes = '60GB'\naccess_latency = 'idle'\n");
    let workload = [
        "--workload",
        "uniform-read",
        "--set",
        "workload.queue_depth=",
        "--set",
        "workload.rate=10",
        "--set",
        "workload.requests=1000",
    ];
    let drive = [
        "run",
        "--drive",
        "rlr-rewriter-tlc",
        "--gear",
        "fluid",
        "--sample",
        "1/8",
        "--hints",
        hints.as_str(),
        "--json",
    ];
    let done = vpass(&[&drive[..], &workload[..]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let hints = &done.json()["hints"];
    let pages = |word: &str| hints[word]["pages"].as_i64().unwrap();
    // A capacity of 120 GB has 7,324,218 pages.
    assert!(
        (pages("idle") - 457_764).abs() <= 1 && (pages("smallest") - 457_764).abs() <= 1,
        "{hints}"
    );
}

#[test]
fn a_small_rlr_runs_and_its_latencies_follow_from_its_retries() {
    let room = Room::new();
    let out = room.path("rlr");
    let recipe = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../papers/read-latency-relaxation-2021/small.toml");
    let done = vpass(&["paper", recipe.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        !done.stdout.contains("data lost") && !done.stdout.contains("could not keep up"),
        "{}",
        done.stdout
    );
    let last = |name: &str, start: &str| -> f64 {
        let csv = std::fs::read_to_string(out.join(format!("{name}.csv"))).unwrap();
        let line = csv
            .lines()
            .find(|l| l.starts_with(start))
            .unwrap_or_else(|| panic!("{start} in {csv}"));
        line.rsplit(',').next().unwrap().parse().unwrap()
    };
    // A block has 307,200 reads, and is rewritten after about 85,000 reads.
    assert!((last("rewriting", "TLC 0 cycles 120 GB,random-reads,28,") - 3.0).abs() < 0.1);
    // The three rewrites are spread evenly over half a year. The last rewrite is in its last third.
    let weeks = std::fs::read_to_string(out.join("half-a-year-by-week.csv")).unwrap();
    let rewritten = |from: usize, to: usize| -> f64 {
        let of_drive =
            weeks.lines().filter(|l| l.starts_with("TLC 0 cycles 120 GB,random-reads,block,1,0,"));
        of_drive
            .skip(from)
            .take(to - from)
            .map(|l| l.split(',').nth(7).unwrap().parse::<f64>().unwrap())
            .sum()
    };
    assert!((rewritten(18, 26) / rewritten(0, 26) - 1.0 / 3.0).abs() < 0.1, "{weeks}");
    let long = |rate: &str| {
        last("retriers-last-week", &format!("{rate} reads a page,random-reads,observed-retries"))
    };
    assert!(long("400") < 1e-12 && long("800") > 0.1);
    // Retries save rewrites. Under straw-wl, retries disturb other data, which costs much of this
    // saving. The cost is smaller if a read begins at the level that worked last.
    let spent = |variant: &str, technique: &str| {
        last("file-server-rewritten", &format!("{variant},read-only,{technique},"))
    };
    assert!(spent("2 retries", "block") < 0.7 && spent("2 retries", "straw-wl") < 0.7);
    assert!(spent("2 retries from last", "straw-wl") < spent("2 retries", "straw-wl"));
    assert!((last("file-server-latency", "2 retries,read-only,block,") - 1.0).abs() < 0.01);
    let writes = |variant: &str| last("writes-rewritten", &format!("{variant},70:30,block,"));
    assert!(writes("1 retry") < writes("0 retries"));
    // At a low load, reads hardly wait for each other. The latency of a read then follows from its
    // retries, even if it began at a higher level.
    for variant in ["2 retries", "2 retries from last"] {
        let (timed, exact) = (
            last("window-latency", &format!("{variant},read-only,")),
            last("window-idle", &format!("{variant},read-only,")),
        );
        assert!(
            exact > 130.0 && (timed / exact - 1.0).abs() < 0.002,
            "{variant}: {timed} us, {exact} us from retries"
        );
    }
    assert!(
        last("window-retries", "2 retries,read-only,") > 0.1
            && last("window-retries", "2 retries from last,read-only,") < 0.01
    );
}
