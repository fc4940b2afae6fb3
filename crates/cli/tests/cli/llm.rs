//! Tests of `vpass llm` and of workloads with a model: answers, sentences and errors.

use serde_json::Value;

use crate::common::{Room, vpass};

/// Options of a small model on the tiny drive: 800 MB of experts, of which a token reads 40 MB.
const SMALL: [&str; 15] = [
    "--drive",
    "tiny",
    "--model",
    "800MB",
    "--experts",
    "2MB",
    "--active",
    "25",
    "--cache",
    "100MB",
    "--tokens-per-second",
    "10",
    "--set",
    "drive.rated_pec=5",
    "--set=workload.model.popularity=uniform",
];

fn llm(more: &[&'static str]) -> Vec<&'static str> {
    ["llm"].into_iter().chain(SMALL).chain(more.iter().copied()).collect()
}

fn number(json: &Value, pointer: &str) -> f64 {
    json.pointer(pointer)
        .and_then(Value::as_f64)
        .unwrap_or_else(|| panic!("{pointer} is a number in {json}"))
}

/// Derives every number of the answer from the options and from the years.
#[test]
fn the_numbers_of_an_answer_agree_with_each_other() {
    let json = vpass(&llm(&["--json", "--reclaim", "block", "--rung", "1"])).json();
    let of = |key: &str| number(&json, &format!("/techniques/0/{key}"));
    // Experts have 2,002,944 bytes in whole units of 4 KiB: 399 of them, all equally popular.
    let (expert, experts) = (2_002_944.0, 399.0);
    let read = 25.0 * expert * (1.0 - 100e6 / (experts * expert));
    let near = |what: &str, a: f64, b: f64, within: f64| {
        assert!((a / b - 1.0).abs() < within, "{what}: {a} for {b}");
    };
    near("bytes of a token", number(&json, "/bytes_per_token"), read, 1e-6);
    near("bytes a second", number(&json, "/read_bytes_per_second"), 10.0 * read, 1e-6);
    let page = 16_384.0;
    // An expert begins within a page, so that some pages are read for two experts.
    let reads = 10.0 * read * 86_400.0 / (experts * expert);
    near("reads of a page", number(&json, "/reads_of_a_page_per_day"), reads, 0.01);
    let (years, wear) = (of("years"), of("written_per_100_read"));
    let day = of("flash_bytes_per_day");
    near("bytes written", wear, 100.0 * day / (10.0 * read * 86_400.0), 0.02);
    near("rounds", of("rounds_per_rewrite"), 100.0 / wear, 0.01);
    near("endurance", of("endurance_percent_per_year") * years, 100.0, 0.1);
    near("cycles", day * years * 365.0 / (408.0 * 192.0 * page), 5.0, 0.1);
    let at = |pointer: &str| number(&json, pointer);
    let by_rounds = 5.0 * 408.0 * 192.0 * 39.0 / (10.0 * read / page) / (365.0 * 86_400.0);
    near("39 rounds", at("/real_drives/0/years"), by_rounds, 0.01);
    near("1,194 rounds", at("/real_drives/1/years"), by_rounds * 1194.0 / 39.0, 0.01);
    let ratio = at("/thresholds/1/years") / at("/thresholds/0/years");
    assert!(ratio > 3.5 && ratio < 4.5, "twice against half the threshold: {ratio}");
    assert_eq!(json.pointer("/another_gb_of_cache/years_added"), Some(&Value::Null));
}

#[test]
fn an_estimate_does_not_know_what_is_lost() {
    let json = vpass(&llm(&["--json", "--reclaim", "block,straw-wl"])).json();
    let lost = |n: usize| json.pointer(&format!("/techniques/{n}/data_lost_pages"));
    assert_eq!([lost(0), lost(1)], [Some(&Value::from(0.0)), Some(&Value::Null)]);
}

#[test]
fn an_answer_reads_well_and_estimates_say_so() {
    let out = vpass(&llm(&["--reclaim", "block,straw-wl"]));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let text = out.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "A model of 799 MB at 10.0 tokens a second (100 MB cached) reads 438 MB/s",
        "`tiny` with `block` rewrites a page every",
        "`tiny` with `straw-wl` rewrites a page every",
        "By an estimate (with errors of at most",
        "The result depends on the threshold: under `block`, half the threshold gives",
        "Six real drives rewrote a page once in 39.0 rounds to once in more than 1,194 rounds.",
        "Another GB of cache would hold the rest of the model.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_model_in_memory_is_not_read() {
    let out = vpass(&llm(&["--set", "workload.model.cache=1GB"]));
    assert!(
        out.stdout.contains("The host's cache holds the whole model of 799 MB"),
        "{}",
        out.stdout
    );
}

#[test]
fn wrong_options_are_refused_with_what_would_be_right() {
    for (options, part) in [
        (&["--model", "zipf-read"][..], "the workload has no [workload.model]"),
        (&["--model", "nothing-such"], "unknown workload `nothing-such`"),
        (&["--model", "5TB", "--experts", "19MB"], "the drive has 1GiB"),
        (&["--hours", "25"], "workload.hours_per_day = 25 is outside 0.001 to 24"),
        (&["--cache", "many"], "many"),
        (&["--active", "0"], "a number above 0 is expected"),
        (&["--set", "workload.model.popularity=zip"], "zip"),
        (&["--set", "workload.model.cahce=1"], "did you mean `workload.model.cache`?"),
        (&["--reclaim", "blok"], "did you mean"),
    ] {
        let mut line = vec!["llm", "--drive", "tiny"];
        line.extend(options);
        let out = vpass(&line);
        assert_eq!(out.code, 2, "{line:?}\n{}", out.stderr);
        assert!(out.stderr.contains(part), "{line:?}\n{}", out.stderr);
    }
}

/// A model reads for 8 hours a day: as many bytes a day as round the clock at a third of the rate.
#[test]
fn hours_of_use_have_idle_gaps_in_each_gear() {
    let room = Room::new();
    let file = room.file(
        "model.toml",
        "[workload]\nhours_per_day = 8\n[workload.model]\nsize = \"100MB\"\n\
         expert = \"1MB\"\nactive = 2\ntokens_per_second = 0.1\ntokens = 5760\n",
    );
    let run = |gear: &'static str| {
        vpass(&["run", "--drive", "tiny", "--workload", &file, "--gear", gear, "--json"]).json()
    };
    // 2,880 tokens come in the 8 hours of a day, so the second day ends the run.
    let hours = |json: &Value| number(json, "/simulation/simulated_s") / 3600.0;
    let (timed, fluid) = (run("timed"), run("fluid"));
    for json in [&timed, &fluid] {
        assert!((hours(json) - 32.0).abs() < 0.1, "{}", hours(json));
    }
    let bytes = |json: &Value| number(json, "/host/read_bytes");
    let expected = 5760.0 * 2.0 * 1_003_520.0;
    for json in [&timed, &fluid] {
        assert!((bytes(json) / expected - 1.0).abs() < 0.02, "{} {expected}", bytes(json));
    }
}

#[test]
fn a_run_without_reads_has_no_read_wear() {
    let json = vpass(&[
        "run",
        "--drive",
        "tiny",
        "--workload",
        "random-70-30",
        "--set",
        "workload.read_share=0",
        "--set",
        "workload.requests=10000",
        "--json",
    ])
    .json();
    assert_eq!(json.get("read_wear"), Some(&Value::Null));
    assert!(number(&json, "/write_amplification") > 0.9);
}
