//! Recipes whose drives are read for long at a low rate.

use crate::common::{Room, vpass};

/// Two budgets on a drive whose reads take retries early, and the same behind the span in time.
const RECIPE: &str = "title = 'spans'\ndrive = 'rlr-rewriter-tlc'\nlong_us = 400\n\
    set = ['drive.capacity=320MiB', 'geometry.channels=1', 'geometry.planes_per_die=1', 'drive.write_buffer=0', 'start.pec=900']\n\
    workload = [{ name = 'even', config = { block_size = '16KiB' } }]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['block', 'straw-wl'], span = { days = 14, reads_per_page = 400 }, seeds = 2, \
    variant = [{ name = 'no retry' }, { name = 'some', hints = 'idle.toml' }] }]\n\
    figure = [{ name = 'f', title = 'mean', group = 'g', metric = ['/reads/mean_us'], unit = 'us', over_variant = 'no retry', \
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
    let last = |start: &str| csv.lines().find(|l| l.starts_with(start)).unwrap().rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!((last("no retry,even,2,block,") - 1.0).abs() < 1e-12 && last("some,even,2,straw-wl,") >= 1.0, "{csv}");
    assert!(done.stdout.contains("1.00 ± 0"), "{}", done.stdout);
    let weeks = read("weeks.csv");
    let reads: Vec<f64> =
        weeks.lines().filter(|l| l.starts_with("some,even,block,1,")).map(|l| l.split(',').nth(6).unwrap().parse().unwrap()).collect();
    // 20,480 pages and 400 reads of each, half of them in each of two weeks.
    assert!(reads.len() == 2 && reads.iter().all(|reads| (reads - 20_480.0 * 200.0).abs() < 2.0), "{weeks}");
    let runs: serde_json::Value = serde_json::from_str(&read("runs.json")).unwrap();
    let hints = runs.as_array().unwrap().iter().find(|run| run["variant"] == "some").unwrap()["summary"]["hints"]["idle"].clone();
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
        "reads_per_page = 400 }",
        "reads_per_page = 400, window = { reads = 9, load = 0.1 } }",
        "a `window` is expected in the timed gear",
    );
    refused("gear = 'untimed'", "gear = 'timed'", "a `window` is expected in the timed gear");
    refused("seeds = 2", "seeds = 2, load = 0.3", "its days and reads a page are its rate");
    refused("seeds = 2", "cycles = 2.0, reads_per_block = 9.0", "`span` is expected without");
    refused("seeds = 2", "sample = '1/104'", "and `sample` nowhere else");
    refused("gear = 'untimed'", "gear = 'fluid'", "`gear = \"fluid\"` is expected beside `span` and `sample`");
    refused("seeds = 2", "seeds = 2, sample = '5/4'", "one page in N is expected");
    refused("'no retry', b", "'no retries', b", "unknown variant `no retries`; did you mean `no retry`?");
    refused("over_variant", "over = 'block', over_variant", "one of `over` and `over_variant` is expected");
    refused("long_us = 400\n", "", "plot weeks: `weeks` are of a group with a `span`");
    refused("hints = 'idle.toml'", "hints = 'busy.toml'", "busy.toml");
}
