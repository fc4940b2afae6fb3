//! Tests of drives whose data has error rates. Impossible settings are refused, and costs are
//! reported only if they are known.

use crate::common::{Room, names_in, vpass};

/// Asserts that `aged-tlc` with these settings is refused.
#[track_caller]
fn refused(sets: &[&str], words: &[&str]) {
    refused_on("aged-tlc", sets, words);
}

#[track_caller]
fn refused_on(drive: &str, sets: &[&str], words: &[&str]) {
    let mut args = vec!["run", "--drive", drive, "--workload", "random-70-30"];
    args.extend(sets.iter().flat_map(|set| {
        if set.starts_with("--") { set.split(' ').collect() } else { vec!["--set", set] }
    }));
    vpass(&args).refuses(2, words);
}

#[test]
fn what_cannot_be_is_refused_with_exit_code_2() {
    refused(
        &["error.e=0.0085"],
        &[
            "fresh data of group best",
            "first level of [ecc] decodes up to 8.50e-3",
            "start.pec = 1500",
        ],
    );
    refused_on("modern-qlc", &["start.pec=2601"], &["after 2700 P/E cycles", "lower start.pec"]);
    refused(&["ecc.cap=[0.01,0.01,0.02,0.03,0.04]"], &["ecc.cap", "does not rise"]);
    refused(&["ecc.retry_decode_us=[20]"], &["ecc.retry_decode_us has 1 numbers for 4 retries"]);
    refused(
        &["reclaim.retries=5"],
        &["reclaim.retries = 5", "[ecc] has 4", "reclaim.retries must be at most 4"],
    );
    refused(&["ecc.retry_sense_us=[20,30]"], &["ecc.retry_sense_us has 2 numbers for 4 retries"]);
    refused(&["error.model=table"], &["error.table is empty", "disturb.table"]);
    let table = "error.table=[{pec=0,base=[1e-3,1e-3,1e-3,1e-3],retention=[[0],[0],[0],[0]]}]";
    refused(
        &["error.model=table", "error.ages=['1d']", table],
        &["error.table has rows at 0 P/E cycles; rows at the P/E cycles of disturb.table \
            (0, 1000, 2000, 3000) are expected"],
    );
    let table = "error.table=[{pec=0,base=[1e-3],retention=[[0]]}]";
    refused(
        &["error.model=table", "error.ages=['1d']", table],
        &["base has 1 entries for 4 groups of disturb.groups"],
    );
    refused(&["error.base_by_group=[1,1]"], &["error.base_by_group has 2 numbers", "4 in total"]);
    refused(&["error.temperature_c=125.5"], &["error.temperature_c = 125.5 is outside -40 to 125"]);
    refused(&["error.temperature_c=-41"], &["error.temperature_c"]);
    refused(&["error.longest_age=0s"], &["error.longest_age"]);
    let in_time = ["--reclaim none", "workload.queue_depth=", "workload.rate=10"];
    refused(
        &[&in_time[..], &["start.age=2y"]].concat(),
        &["start.age = \"2y\" must be at most error.longest_age = \"1y\""],
    );
    refused(
        &[&in_time[..], &["--refresh block", "start.age=31d"]].concat(),
        &["start.age = \"31d\" must be at most refresh.period = \"30d\""],
    );
    refused(
        &[&in_time[..], &["--refresh block", "refresh.period=0s"]].concat(),
        &["refresh.period is 0"],
    );
    refused(
        &[&in_time[..], &["--refresh block", "refresh.period=1s"]].concat(),
        &["the time to rewrite every block once"],
    );
    refused(
        &["--refresh block", "refresh.period=300d", "start.pec=2800"],
        &[
            "refresh.period = \"300d\" lets data reach an age of 337.5d",
            "would lose data",
            "; set refresh.period = \"",
            "or less, for wear of up to 3000 P/E cycles",
        ],
    );
    refused(
        &["start.age=1d"],
        &["error.longest_age = \"1y\" without refresh", "--refresh block with refresh.period = \""],
    );
    refused(&["--gear untimed", "--refresh block"], &["workload.rate"]);
    refused(
        &["start.age=2y", "workload.queue_depth=", "workload.rate=10"],
        &["start.age = \"2y\" must be at most error.longest_age"],
    );
    refused_on(
        "tiny",
        &["geometry.cell=slc", "--refresh ida"],
        &["`ida` needs cells of two bits or more", "geometry.cell is \"slc\"", "use `block`"],
    );
}

#[test]
fn noise_and_levels_need_what_they_work_on() {
    let rates = [
        "error.model=powerlaw",
        "error.e=1e-3",
        "ecc.cap=[0.004,0.006]",
        "ecc.retry_decode_us=[20]",
    ];
    refused_on(
        "tiny",
        &[&rates[..], &["error.noise=true"]].concat(),
        &["error.noise = true", "set ecc.codeword"],
    );
    refused_on(
        "tiny",
        &["ecc.codeword=4KiB", "error.noise=true"],
        &["error.noise = true", "error.model = \"none\""],
    );
    refused_on(
        "tiny",
        &["ecc.start_from_last=true"],
        &["ecc.start_from_last = true", "error.model = \"none\""],
    );
    refused_on(
        "tiny",
        &[&rates[..], &["ecc.slow_retries=2"]].concat(),
        &["ecc.slow_retries = 2 has no effect", "set ecc.start_from_last = true"],
    );
    refused_on(
        "tiny",
        &[&rates[..], &["ecc.start_from_last=true", "ecc.slow_retries=2"]].concat(),
        &["ecc.slow_retries = 2", "takes at most 1 retries", "must be 1 to 1"],
    );
    refused_on(
        "tiny",
        &["model=count"],
        &["did you mean `disturb.model`, `error.model` or `workload.model`?"],
    );
}

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

    let plain = vpass(&[
        "run",
        "--drive",
        "tiny",
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=500",
        "--json",
    ])
    .json();
    assert!(plain.get("uber").is_none() && plain.get("retries").is_none());
}

#[test]
fn comparisons_have_columns_for_it_with_an_interval_over_seeds() {
    let json = run(&tired("compare", "--seeds 3 --json --set error.noise=true")).json();
    let columns = &json["techniques"][0]["columns"];
    for key in ["retries_mean", "uber"] {
        assert!(
            columns[key]["mean"].as_f64().unwrap() > 0.0
                && columns[key]["ci95"].as_f64().unwrap() > 0.0,
            "{columns}"
        );
        assert!(json["winners"].get(key).is_some());
    }
    let text = run(&tired("compare", "")).stdout;
    assert!(text.contains("UBER") && text.contains("retries"), "{text}");
    let plain = vpass(&[
        "compare",
        "--drive",
        "tiny",
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=500",
        "--reclaim",
        "none",
        "--json",
    ]);
    assert!(plain.json()["techniques"][0]["columns"].get("uber").is_none());
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
                "--json --set error.noise=true --seed \
            {seed}"
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
