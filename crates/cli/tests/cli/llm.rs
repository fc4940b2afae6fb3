//! Tests of `vpass llm` and of workloads with a model: answers, sentences and errors.

use serde_json::Value;

use crate::common::{Room, argv, number, ran, vpass};

/// Options of a small model on the tiny drive: 800 MB of experts, of which a token reads 40 MB.
const SMALL: &str = "--drive tiny --model 800MB --experts 2MB --active 25 --cache 100MB \
    --tokens-per-second 10 --set drive.rated_pec=5 --set=workload.model.popularity=uniform";

fn llm(more: &[&'static str]) -> Vec<&'static str> {
    ["llm"].into_iter().chain(argv(SMALL)).chain(more.iter().copied()).collect()
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
fn an_answer_reads_well_and_estimates_say_so() {
    let out = vpass(&llm(&["--reclaim", "block,straw-wl"]));
    assert_eq!(out.code, 0, "{}", out.stderr);
    let text = out.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "A model of 799 MB (100 MB cached) at 10.0 tokens a second for 24.0 hours a day reads 438",
        "With `block`, reads make the drive rewrite each page every",
        "With `straw-wl`, reads make the drive rewrite each page every",
        "Techniques label block straw-wl years ",
        "Thresholds threshold, times years 0.50 ",
        "The same estimate without a change threshold, times 1.00 years ",
        " rounds of reads per rewrite years 39.0 ",
        "Another GB of cache reads saved 100 %",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Updates the model every 864 s, so that a drive of 32 P/E cycles is worn out by both.
#[test]
fn with_updates_the_years_have_an_interval_and_real_drives_wear_by_them() {
    let more =
        ["--json", "--set", "drive.rated_pec=32", "--set", "workload.model.update_days=0.01"];
    let json = vpass(&llm(&[&more[..], &["--reclaim", "block"]].concat())).json();
    let at = |pointer: &str| number(&json, pointer);
    let (low, high) = (at("/techniques/0/years_interval/0"), at("/techniques/0/years_interval/1"));
    let years = at("/techniques/0/years");
    assert_eq!(at("/techniques/0/rung") as u32, 2);
    assert!(low < years && years < high, "{low} {years} {high}");
    // No equation is known for updates.
    assert_eq!(json.pointer("/threshold_unchanged"), Some(&Value::Null));
    assert_eq!(json.pointer("/thresholds"), Some(&Value::Array(vec![])));
    let (page, experts) = (16_384.0, 399.0 * 2_002_944.0);
    let programs = |rounds: f64| {
        at("/read_bytes_per_second") / page / rounds + experts / page / (0.01 * 86_400.0)
    };
    let lives = |rounds: f64| 32.0 * 408.0 * 192.0 / programs(rounds) / (365.0 * 86_400.0);
    for (n, rounds) in [39.0, 1194.0].into_iter().enumerate() {
        let ratio = at(&format!("/real_drives/{n}/years")) / lives(rounds);
        assert!((ratio - 1.0).abs() < 0.01, "{rounds} rounds: {ratio}");
    }
}

#[test]
fn without_updates_the_first_rung_answers() {
    let json = vpass(&llm(&["--json"])).json();
    assert_eq!(number(&json, "/techniques/0/rung") as u32, 1);
    // The life has an interval, so no estimate stands beside it.
    let years = number(&json, "/techniques/0/years");
    let [low, high] =
        [0, 1].map(|end| number(&json, &format!("/techniques/0/years_interval/{end}")));
    assert!(low < years && years < high && high < 1.2 * low, "{low} {years} {high}");
    assert_eq!(json.pointer("/techniques/0/years_by_estimate"), Some(&Value::Null));
}

/// The host link carries 4,000 MB/s, and a token reads 43.8 MB.
#[test]
fn a_warning_names_the_most_tokens_that_the_link_carries() {
    let of = |tokens: &'static str, more: &[&'static str]| {
        let line = [&["--set", tokens][..], more].concat();
        vpass(&llm(&line))
    };
    let (slower, faster) =
        ("workload.model.tokens_per_second=91", "workload.model.tokens_per_second=92");
    let warnings = |json: &Value| json["warnings"].as_array().cloned().expect("a list");
    assert_eq!(warnings(&of(slower, &["--json"]).json()), Vec::<Value>::new());
    let json = of(faster, &["--json"]).json();
    let most = 4e9 / number(&json, "/bytes_per_token");
    assert!(most > 91.0 && most < 92.0, "{most}");
    let said = warnings(&json)[0].as_str().expect("a sentence").to_owned();
    let expected = format!("at most {:.1} tokens a second", (most * 10.0).floor() / 10.0);
    assert!(said.contains("carries 4.00 GB/s") && said.contains(&expected), "{said}");
    assert!(of(faster, &[]).stdout.contains("`tiny` cannot serve 92.0 tokens a second."));
}

/// Returns the answer for a model of which another GB of cache holds a third.
fn with_room_for_cache(more: &[&'static str]) -> Value {
    let large = argv(
        "llm --drive=tiny --set=drive.capacity=4GiB --set=drive.rated_pec=5 \
        --set=workload.model.popularity=uniform --model=3GB --experts=2MB --active=25 \
        --cache=100MB --json",
    );
    vpass(&[&large[..], more].concat()).json()
}

/// A drive that serves three tokens a year outlives the simulation.
#[test]
fn more_cache_adds_no_years_to_a_life_that_the_simulation_cuts() {
    let json = with_room_for_cache(&["--tokens-per-second=1e-7"]);
    assert_eq!(json.pointer("/techniques/0/worn_out"), Some(&Value::Bool(false)));
    assert_eq!(json.pointer("/another_gb_of_cache/years_added/0"), Some(&Value::Null));
}

/// The updates of 3 GB every 864 s wear the drive as before, whatever the cache holds. There are
/// about 32 of them in this life, so half an update is 1.6 % of the writes.
#[test]
fn more_cache_saves_only_the_wear_of_reads() {
    let json = with_room_for_cache(&[
        "--tokens-per-second=2",
        "--set=drive.rated_pec=40",
        "--set=workload.model.update_days=0.01",
    ]);
    let at = |pointer: &str| number(&json, pointer);
    let saved = at("/another_gb_of_cache/reads_saved_percent") / 100.0;
    let written = at("/model_bytes") / 0.01 / at("/techniques/0/flash_bytes_per_day");
    assert!(written > 0.05 && written < 0.95, "both wear the drive: {written}");
    let expected = at("/techniques/0/years") * (1.0 / (1.0 - (1.0 - written) * saved) - 1.0);
    let ratio = at("/another_gb_of_cache/years_added/0") / expected;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
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
        (&["--model", "5TB", "--experts", "19MB"], "key-value window need 5TB; the drive has"),
        (&["--model", "800MB", "--experts", "1TB"], "an expert of 1TB is too large"),
        (&["--model", "800MB", "--experts", "1TB"], "workload.model.expert must be at most 800MB"),
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
    let json = ran("run --drive tiny --workload random-70-30 --set workload.read_share=0 \
        --set workload.requests=10000 --json")
    .json();
    assert_eq!(json.get("read_wear"), Some(&Value::Null));
    assert!(number(&json, "/write_amplification") > 0.9);
}
