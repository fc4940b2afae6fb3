//! Tests of help, lists, presets, explanations, exit codes for wrong usage, and interrupts.

use crate::common::{argv, command, finished, vpass, vpass_on};

#[test]
fn without_arguments_it_prints_help() {
    let done = vpass(&[]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("Usage: vpass"));
}

#[test]
fn help_has_an_example_and_the_defaults() {
    for name in ["run", "compare", "list", "show", "explain", "check"] {
        let done = vpass(&[name, "--help"]);
        assert_eq!(done.code, 0);
        assert!(done.stdout.contains("Example"), "{name}");
    }
    for name in ["info", "convert", "cut"] {
        assert!(vpass(&["trace", name, "--help"]).stdout.contains("Example"), "trace {name}");
    }
    assert!(vpass(&["run", "--help"]).stdout.contains("[default: block]"));
    assert_eq!(vpass(&["--version"]).stdout, format!("vpass {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let done = vpass(&["completions", shell]);
        assert_eq!(done.code, 0, "{shell}");
        for word in ["compare", "life", "--within", "--reclaim"] {
            assert!(done.stdout.contains(word.trim_start_matches("--")), "{shell}: {word}");
        }
    }
}

#[test]
fn every_command_has_a_man_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().to_str().expect("UTF-8");
    assert_eq!(vpass(&["man", place]).code, 0);
    for command in ["", "-run", "-compare", "-life", "-trace-info", "-check"] {
        let page = std::fs::read_to_string(folder.path().join(format!("vpass{command}.1")));
        assert!(page.is_ok_and(|page| page.contains(".SH SYNOPSIS")), "vpass{command}.1");
    }
}

#[test]
fn every_key_is_listed_with_default_range_unit_and_meaning() {
    let text = vpass(&["list", "keys"]).stdout;
    let line = |key: &str| {
        text.lines()
            .find(|l| l.trim_start().starts_with(key))
            .unwrap_or_else(|| panic!("{key} in\n{text}"))
            .to_owned()
    };
    for words in ["0.25", "0 to 1 (share)", "Share of the spare blocks"] {
        assert!(line("background").contains(words), "{words} in {}", line("background"));
    }
    assert!(
        line("channels").contains("required") && line("channels").contains("1 to 256"),
        "{}",
        line("channels")
    );
    for line in vpass_on(80, &["list", "keys"]).stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let json = vpass(&["list", "keys", "--json"]).json();
    let keys = json["keys"].as_array().unwrap();
    let rate = keys.iter().find(|k| k["key"] == "workload.rate").unwrap();
    assert_eq!(
        (&rate["unit"], &rate["file"], &rate["default"]),
        (&"requests/s".into(), &"workload".into(), &serde_json::Value::Null)
    );
    // Every key that the list marks as settable is known to `--set`.
    for key in keys.iter().filter(|k| k["settable"] == true) {
        let key = key["key"].as_str().unwrap();
        let done = vpass(&["explain", "--drive", "tiny", "--set", &format!("{key}=")]);
        assert!(!done.stderr.contains("unknown key"), "{}", done.stderr);
    }
    assert!(vpass(&["list"]).stdout.contains("vpass list keys"));
}

#[test]
fn a_preset_is_shown_as_it_stands_and_reads_back() {
    let shown = vpass(&["show", "drive", "tiny"]).stdout;
    assert!(shown.contains("# assumption"), "with its sources");
    assert!(vpass(&["show", "workload", "zipf-read"]).stdout.contains("[workload]"));
    let json = vpass(&["show", "drive", "tiny", "--json"]).json();
    assert_eq!(json["geometry"]["blocks_per_plane"], 51);
    let changed = vpass(&["show", "drive", "tiny", "--set", "drive.capacity=2GiB"]).stdout;
    assert!(
        changed.contains("capacity = \"2GiB\"") && changed.contains("blocks_per_plane = 101"),
        "{changed}"
    );
}

#[test]
fn a_read_is_explained() {
    let text = vpass(&["explain", "--drive", "tiny", "--reclaim", "block"]);
    assert_eq!(text.code, 0, "{}", text.stderr);
    for word in ["LSB", "MSB", "alpha", "ERC_MAX", "R_late"] {
        assert!(text.stdout.contains(word), "{word}");
    }
    let json = vpass(&["explain", "--drive", "tiny", "--json"]).json();
    // A read takes 20 us of sensing, and transfers 16 KiB at 1,000 MB/s and at 4,000 MB/s.
    assert_eq!(json["read"][0]["total_us"], 40.48);
    assert_eq!(json["ages"][0]["pec"], 0);
    assert!(json["ages"][0]["thresholds"][0]["reads"].as_u64().unwrap() < 40_000 / 9);
    assert_eq!(
        vpass(&["explain", "--drive", "ida-512g-tlc"]).code,
        0,
        "a drive without disturbance"
    );
}

/// The expected numbers follow from the preset. At 1,000 cycles, the base is 1.48e-3 + 3.9e-10 x
/// 1000^2.05 = 2.0309e-3. A read of the worst group adds (0.0085 - 0.0020309) / 630,000.
///
/// A retry that decodes 0.010625 adds 630,000 x 0.002125 / 0.0064691 reads.
#[test]
fn the_error_budget_of_a_page_is_explained() {
    let json = vpass(&["explain", "--drive", "aged-tlc", "--json"]).json();
    let budget = &json["error_budget"];
    assert_eq!((&budget["longest_age"], &budget["acceleration"]), (&"1y".into(), &1.0.into()));
    assert_eq!(budget["levels"].as_array().unwrap().len(), 5);
    assert_eq!(
        (&budget["levels"][0]["corrects"], &budget["levels"][1]["takes_us"][1][1]),
        (&369.into(), &66.827.into())
    );
    let pages = budget["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 5 * 4 * 3, "rows and start.pec, groups, kinds");
    let page = pages
        .iter()
        .find(|p| p["pec"] == 1000 && p["group"] == "worst" && p["page_kind"] == "MSB")
        .unwrap();
    let near = |is: &serde_json::Value, should_be: f64| {
        assert!((is.as_f64().unwrap() / should_be - 1.0).abs() < 1e-3, "{is} {should_be}")
    };
    near(&page["base"], 2.0309e-3);
    near(&page["slope"], 1.0268e-8);
    near(&page["levels"][0]["dose"][0], 630_000.0);
    near(&page["levels"][1]["dose"][0], 836_945.0);
    assert!(
        page["levels"][0]["dose"][3].as_f64().unwrap() < 0.0,
        "a year is too much for a first read"
    );
    // The expected end is ((0.0085 - 0.0020309) / (6.28e-5 x 1000^0.14))^(1 / 0.54) hours, which
    // are 37.1 days. A step of age begins up to 4.4 % earlier.
    let ends = page["levels"][0]["ends_days"].as_f64().unwrap();
    assert!((35.4..37.2).contains(&ends), "{ends}");
    what_is_printed_at_2398_cycles_is_the_law();
    let text = vpass(&["explain", "--drive", "aged-tlc", "--set", "error.temperature_c=55"]).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Error budget",
        "error.reference_c 6.44",
        "(error.longest_age) 1y",
        "ages 0, 1d, 30d, 1y",
        "630,000, ",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert!(vpass(&["explain", "--drive", "tiny", "--json"]).json()["error_budget"].is_null());
    assert!(!vpass(&["explain", "--drive", "tiny"]).stdout.contains("Error budget"));
}

/// Between two rows of the table, the printed base, slope and retention determine the remaining
/// dose. Level 0 ends after 10.57 days, or up to one step of age earlier.
fn what_is_printed_at_2398_cycles_is_the_law() {
    let json =
        vpass(&["explain", "--drive", "aged-tlc", "--set", "start.pec=2398", "--json"]).json();
    let budget = &json["error_budget"];
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let pages = budget["pages"].as_array().unwrap().iter().filter(|page| page["pec"] == 2398);
    let mut compared = 0;
    for page in pages {
        let (base, slope) = (number(&page["base"]), number(&page["slope"]));
        assert!((base / 4.789_6e-3 - 1.0).abs() < 1e-4, "{base}");
        for (level, left) in
            budget["levels"].as_array().unwrap().iter().zip(page["levels"].as_array().unwrap())
        {
            for (dose, retention) in
                left["dose"].as_array().unwrap().iter().zip(page["retention"].as_array().unwrap())
            {
                let by_law = (number(&level["cap"]) - base - number(retention)) / slope;
                assert!(
                    (number(dose) - by_law).abs() < 0.01,
                    "{dose} is left, {by_law} by the law"
                );
                compared += 1;
            }
        }
        let ends = number(&page["levels"][0]["ends_days"]);
        assert!(ends <= 10.58 && ends > 10.57 / 1.0443, "{ends}");
    }
    assert_eq!(compared, 4 * 3 * 5 * 4, "groups, kinds, levels, ages");
}

#[test]
fn every_drive_explains_every_technique() {
    let listed = vpass(&["list", "reclaim", "--json"]).json();
    let techniques: Vec<_> =
        listed["reclaim"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert!(techniques.len() > 10);
    let drives = [
        "tiny",
        "straw-2t-tlc",
        "ipr-128g-tlc",
        "ida-512g-tlc",
        "da-raid5-mlc",
        "modern-tlc",
        "modern-tlc-232",
        "modern-qlc",
        "aged-tlc",
        "aged-tlc-days",
        "aged-qlc",
        "rlr-retrier-tlc",
        "real-d",
        "real-i",
    ];
    for drive in drives {
        for reclaim in &techniques {
            let done = vpass(&["explain", "--drive", drive, "--reclaim", reclaim, "--json"]);
            assert_eq!(done.code, 0, "{drive} {reclaim}: {}", done.stderr);
            done.json();
        }
    }
}

#[test]
fn a_check_of_one_case_says_so() {
    let done = vpass(&["check", "--seed", "3"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("1 random drive (seeds 3 and up)"), "{}", done.stdout);
}

/// With `--reclaim`, the command runs cases of one technique. The table has a row for each
/// technique that had cases.
#[test]
fn a_check_of_several_cases_shows_what_each_technique_came_to() {
    let done = vpass(&["check", "--seed", "3", "--count", "4", "--reclaim", "straw-wl"]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    let rows: Vec<Vec<&str>> =
        done.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[0].join(" "),
        "technique cases refused attacked reads checked worst dose / limit pages lost, none \
         guaranteed"
    );
    assert_eq!(rows[1][..2], ["straw-wl", "4"]);
    assert!(
        done.stdout.lines().nth(2).unwrap().starts_with("4 random drives (seeds 3 and up)"),
        "{}",
        done.stdout
    );
}

/// The digest depends only on the cases. The same cases give the same digest, and other cases give
/// another digest. No case runs.
#[test]
fn a_digest_of_cases_as_drawn_is_the_same_again_and_needs_a_count() {
    let digest = |args: &[&str]| {
        let done = vpass(&[&["check", "--digest"], args].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert!(done.stdout.contains("no case was run"), "{}", done.stdout);
        done.stdout.split_once(':').expect("a digest").0.to_owned()
    };
    let ten = ["--count", "10"];
    let with = |more: &[&'static str]| digest(&[&ten[..], more].concat());
    assert_eq!(with(&[]), with(&[]));
    let others = [
        with(&[]),
        with(&["--seed", "2"]),
        with(&["--fail"]),
        with(&["--reclaim", "block"]),
        with(&["--gc", "cost-benefit"]),
        with(&["--gc", "greedy"]),
        digest(&["--count", "11"]),
    ];
    let distinct: std::collections::BTreeSet<_> = others.iter().collect();
    assert_eq!(distinct.len(), others.len(), "{others:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    use crate::common::{Room, interrupt};
    use std::process::Stdio;

    let room = Room::new();
    let out = room.text("deep/results");
    let line = format!(
        "run --drive tiny --workload uniform-read --set workload.requests=1e12 --out {out}"
    );
    let args = argv(&line);
    let mut child = command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The run has begun when its parent folder exists.
    while !room.path("deep").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    interrupt(&mut child);
    finished(child.wait_with_output().unwrap()).refuses(130, &["interrupted"]);
    assert!(room.names().is_empty(), "{:?}", room.names());
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    use std::process::Stdio;
    let mut child =
        command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let done = finished(child.wait_with_output().unwrap());
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
}
