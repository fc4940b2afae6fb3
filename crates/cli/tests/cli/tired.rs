//! Tests of drives whose data has error rates. Impossible settings are refused, and costs are
//! reported only if they are known.

use crate::common::{Room, names_in, ran, vpass};

/// Settings of `tiny` with data of up to thirty days. The error rate of this data grows with age
/// from 0.001 to 0.0082.
const TIRED: &str = "--workload uniform-read --reclaim none --gear untimed --set \
    workload.requests=20000 --set workload.queue_depth= \
    --set workload.rate=1000 --set error.model=powerlaw --set error.e=1e-3 --set error.b=1e-5 \
    --set error.m=0 --set error.longest_age=30d \
    --set start.age=30d --set ecc.codeword=4KiB --set ecc.cap=[0.004,0.006,0.0085] --set \
    ecc.retry_decode_us=[20,20]";

fn tired(command: &str, more: &str) -> Vec<String> {
    format!("{command} --drive tiny {TIRED} {more}").split_whitespace().map(str::to_owned).collect()
}

#[track_caller]
fn run(words: &[String]) -> crate::common::Done {
    vpass(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn the_rate_of_data_errors_stands_in_results_where_it_is_known() {
    let room = Room::new();
    let out = room.path("out").display().to_string();
    let json = run(&tired("run", &format!("--json --out {out}"))).json();
    let (uber, retries) = (&json["uber"], &json["retries"]);
    assert_eq!(uber["bits_read"], 20_000u64 * 16_384 * 8);
    // At the last cap, UBER is 1e-16 for each 32,768 bits. Almost no page is at this cap, so the
    // expected rate is far smaller.
    let rate = uber["rate"].as_f64().unwrap();
    assert!(rate > 1e-26 && rate < 1e-16 / 32_768.0, "{rate}");
    assert_eq!(
        [&uber["counted"], &uber["counted_low"]].map(|n| n.as_f64().unwrap().to_bits()),
        [0; 2],
        "nothing was lost"
    );
    let high = uber["counted_high"].as_f64().unwrap() * (20_000.0 * 16_384.0 * 8.0);
    assert!((high - 3.689).abs() < 1e-3, "{high}");
    let with_retry = retries["reads_with_retry"].as_u64().unwrap();
    assert!(with_retry > 8_000 && with_retry < 15_000, "{retries}");
    let series = std::fs::read_to_string(room.path("out").join("series.csv")).unwrap();
    let (header, last) = (series.lines().next().unwrap(), series.lines().last().unwrap());
    assert!(
        header.ends_with(
            ",host_retries,host_reads_with_retry,expected_lost_codewords,lost_by_age_pages"
        ),
        "{header}"
    );
    assert_eq!(header.split(',').count(), last.split(',').count());
    let column = |from_the_end: usize| last.rsplit(',').nth(from_the_end).unwrap();
    assert_eq!([column(2), column(0)], [&with_retry.to_string(), "0"]);
    let by_codeword: f64 = column(1).parse().unwrap();
    assert!((by_codeword / (rate * 20_000.0 * 16_384.0 * 8.0) - 1.0).abs() < 1e-12);
    assert!(names_in(&room.path("out")).contains(&"summary.json".into()));

    let plain =
        ran("run --drive tiny --workload uniform-read --set workload.requests=500 --json").json();
    assert!(plain.get("uber").is_none() && plain.get("retries").is_none());
}

#[test]
fn a_run_gives_its_rate_over_seeds() {
    let json = run(&tired("run", "--seeds 3 --json --set error.noise=true")).json();
    let (uber, over) = (&json["uber"], &json["uber"]["over_seeds"]);
    let number = |of: &serde_json::Value| of.as_f64().unwrap();
    assert_eq!((&over["seeds"], &over["data_lost_pages"]), (&3.into(), &0.into()));
    assert_eq!(over["bits_read"], 3 * 20_000u64 * 16_384 * 8);
    assert!(
        number(&over["rate"]["mean"]) > 0.0
            && number(&over["rate"]["ci95"]) > 0.0
            && number(&over["counted_low"]) < 1e-30,
        "{over}"
    );
    assert!(
        (3.0 * number(&over["counted_high"]) / number(&uber["counted_high"]) - 1.0).abs() < 1e-9,
        "as many lost, of three times as many"
    );
    let alone = run(&tired("run", "--json --set error.noise=true")).json();
    assert_eq!((&alone["uber"]["rate"], alone["uber"].get("over_seeds")), (&uber["rate"], None));
    assert!(run(&tired("run", "--seeds 2")).stdout.contains("Over seeds\n"));
    let plain = ["run", "--drive", "tiny", "--workload", "uniform-read", "--seeds", "2"];
    vpass(&plain).refuses(
        2,
        &["--seeds 2: several seeds repeat a run to find its UBER", "error.model", "ecc.codeword"],
    );
}

/// At 1e-5 per hour, age alone exceeds the last cap after 31 days. If data is up to 300 days old,
/// nine tenths are lost by age. Data lost by reads was nearly as old.
#[test]
fn losses_by_age_stand_apart_although_data_may_become_older() {
    let room = Room::new();
    let out = room.path("out").display().to_string();
    let old = "--set error.longest_age=1y --set start.age=300d";
    let json = run(&tired("run", &format!("{old} --json --out {out}"))).json();
    let losses = |by: &str| json["losses"][by].as_u64().unwrap();
    assert!(
        losses("by_age") > 10_000 && losses("by_reads") < losses("by_age") / 50,
        "{}",
        json["losses"]
    );
    assert_eq!(json["oracle"]["books_errors"], 0);
    let series = std::fs::read_to_string(room.path("out").join("series.csv")).unwrap();
    let seen_by_reads: u64 =
        series.lines().last().unwrap().rsplit(',').next().unwrap().parse().unwrap();
    assert!(seen_by_reads > 1_000 && seen_by_reads <= losses("by_age"), "{seen_by_reads}");
    let columns = &run(&tired("compare", &format!("{old} --seeds 1 --json"))).json()["techniques"]
        [0]["columns"];
    assert_eq!(
        columns["lost_by_age_pages"]["mean"].as_f64(),
        Some(losses("by_age") as f64),
        "{columns}"
    );
    let kept = &run(&tired("compare", "--json")).json()["techniques"][0]["columns"];
    assert!(kept.get("lost_by_age_pages").is_none(), "{kept}");
}

/// Without refresh and `start.age`, data does not age. If other rows have data that ages, the
/// comparison says so.
#[test]
fn a_row_whose_data_does_not_age_says_so_beside_others() {
    let text = |more: &str| run(&tired("compare", &format!("--refresh none,block {more}"))).stdout;
    assert!(
        text("--set start.age=0s").contains("none + none: data does not age in this run"),
        "{}",
        text("--set start.age=0s")
    );
    assert!(!text("").contains("does not age"));
}

/// The results report the space and the corrupted pages of merging, but only for a technique that
/// merges.
#[test]
fn a_refresh_that_merges_says_what_it_merged() {
    let text = |refresh: &str| {
        run(&tired("run", &format!("--refresh {refresh} --set refresh.period=30d"))).stdout
    };
    let (ida, block) = (text("ida"), text("block"));
    assert!(
        ida.contains("merged wordlines")
            && ida.contains("pages that merges corrupted")
            && ida.contains("blocks that merging costs"),
        "{ida}"
    );
    assert!(!block.contains("merged wordlines"), "{block}");
}

/// The noise of a run follows from its seed.
#[test]
fn noise_is_of_the_seed() {
    let of = |seed: u32| {
        run(&tired(
            "run",
            &format!(
                "--json --set error.noise=true --seed {seed}"
            ),
        ))
        .json()["retries"]
            .clone()
    };
    assert_eq!(of(1), of(1));
    assert!(of(1) != of(2));
}

/// The run takes twenty seconds, far less than the refresh period of thirty days. Without old data
/// at the start, such a run shows no cost of refresh.
#[test]
fn a_run_in_which_nothing_came_to_be_refreshed_says_so() {
    let warnings = |start_age: &str, refresh: &str| {
        let json =
            run(&tired("run", &format!("--set start.age={start_age} --refresh {refresh} --json")))
                .json();
        json["warnings"]
            .as_array()
            .expect("a list")
            .iter()
            .filter(|w| w.as_str().is_some_and(|w| w.contains("because of its age")))
            .count()
    };
    assert_eq!(
        [warnings("0s", "block"), warnings("30d", "block"), warnings("1d", "none")],
        [1, 0, 0]
    );
}
