//! Tests of `vpass compare`.

use crate::common::{Done, Room, names_in, vpass, vpass_on};

/// Compares techniques with one seed, unless `more` names another number.
fn compare(more: &[&str]) -> Done {
    let args = [
        "compare",
        "--drive",
        "tiny",
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=3e5",
        "--set",
        "workload.footprint=0.01",
    ];
    let seeds: &[&str] = if more.contains(&"--seeds") { &[] } else { &["--seeds", "1"] };
    vpass(&[&args[..], seeds, more].concat())
}

#[test]
fn what_lost_data_wins_nothing() {
    let done = compare(&["--reclaim", "none,block", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let json = done.json();
    assert_eq!(json["techniques"][0]["reclaim"], "none");
    let lost = json["techniques"][0]["columns"]["data_lost_pages"]["mean"].as_f64().unwrap();
    assert!(lost > 0.0 && json["techniques"][0]["columns"]["reclaim_erases"]["mean"] == 0.0);
    assert!(json["techniques"][0]["no_wear_seen"] == true, "and for all that it lives longest");
    assert_eq!(
        json["winners"]["projected_life_days"].as_array().map(Vec::len),
        Some(0),
        "no time is known in a closed loop"
    );
    for (column, names) in json["winners"].as_object().unwrap() {
        assert!(names.as_array().unwrap().iter().all(|name| name == "block"), "{column}: {names}");
    }
    for column in [
        "data_lost_pages",
        "reclaim_erases",
        "read_bytes_until_worn",
        "life",
        "controller_ram_bytes",
    ] {
        assert_eq!(json["winners"][column][0], "block", "{column}");
    }
    assert!(
        json["techniques"][1]["columns"]["controller_ram_bytes"]["mean"].as_f64().unwrap() > 0.0
    );
    assert_eq!(json["winners"]["gc_erases"].as_array().unwrap().len(), 0, "all alike");
    assert_eq!(json["techniques"][1]["runs"][0]["data_lost_pages"], 0);
    let words = compare(&["--reclaim", "none,block"]).stdout;
    let sentence = format!(
        "`none` lost data: {lost} pages. Only `block` kept all data, so there is nothing to \
         compare it with."
    );
    for word in
        ["p99.9", "*", "RAM", &sentence, "data lost", "pages of host data that the drive lost"]
    {
        assert!(words.contains(word), "{word} in\n{words}");
    }
}

#[test]
fn a_technique_that_did_nothing_is_no_winner() {
    // `block` rewrites four blocks once. `straw-ss-sound` checks single wordlines and rewrites no
    // block.
    let short = ["--reclaim", "block,straw-ss-sound", "--set", "workload.requests=3e4"];
    let json = compare(&[&short[..], &["--json"]].concat()).json();
    assert!(
        json["techniques"][0]["runs"][0]["wear"]["cycles_observed"].as_f64().unwrap() > 3.5,
        "the last job need not be done"
    );
    assert_eq!(
        (&json["techniques"][1]["no_wear_seen"], json["winners"]["life"].as_array().map(Vec::len)),
        (&true.into(), Some(0))
    );
    assert!(
        json["techniques"][1]["columns"]["projected_life_days"].is_null()
            && json["techniques"][1]["life_low"].is_f64()
    );
    let words = compare(&short).stdout;
    assert!(!words.contains('*') || !words.contains(" is smallest "), "{words}");
    let idle = "Read reclaim did nothing under `straw-ss-sound`, because its ";
    assert!(words.contains(idle) && words.contains(" found no data at risk."), "{words}");
    assert!(
        !words.contains("life is") && !words.contains("  life"),
        "no life has settled: {words}"
    );
    assert_eq!(
        words.matches("`vpass life` simulates the life of the drive.").count(),
        1,
        "{words}"
    );
    assert!(words.contains("Only one seed was run."), "{words}");
    assert!(
        json["winners"].as_object().unwrap().values().all(|names| names == &serde_json::json!([]))
    );
}

#[test]
fn what_differs_within_its_uncertainty_is_not_told_apart() {
    // The techniques have 24 and 1.4 block cycles. With so few cycles, the ranges of their lives
    // overlap.
    let words =
        compare(&["--reclaim", "block,straw-ss-sound", "--set", "workload.requests=1e5"]).stdout;
    // No run has settled, so no life is shown.
    assert!(words.contains(" `vpass life` simulates the life of the drive."), "{words}");
    assert!(!words.contains("life is longest"), "{words}");
}

/// Parity makes a drive write more and serve fewer requests per second. In a closed loop, a slower
/// drive does not have a longer life.
#[test]
fn a_slow_drive_is_not_the_longest_lived_in_a_closed_loop() {
    let small = [
        "--set",
        "geometry.blocks_per_plane=64",
        "--set",
        "drive.spare=0.4",
        "--set",
        "workload.requests=40000",
    ];
    let args = [
        "compare",
        "--drive",
        "da-raid5-mlc",
        "--workload",
        "da-raid5-tpcc",
        "--reclaim",
        "none",
        "--parity",
        "none,raid5",
    ];
    let done = vpass(&[&args[..], &small, &["--json"]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let json = done.json();
    let number = |row: usize, path: &str| {
        json.pointer(&format!("/techniques/{row}/runs/0/{path}"))
            .and_then(serde_json::Value::as_f64)
            .unwrap_or_else(|| panic!("{row} {path}"))
    };
    for row in [0, 1] {
        // The wear per byte does not change with age here. Each cycle takes as many bytes as in the
        // run, up to 15,000 cycles of 9 dies with 64 blocks each.
        let left = (15_000.0 - number(row, "wear/effective_pec_mean")) * 9.0 * 64.0;
        let expected = left / number(row, "wear/cycles_observed") * number(row, "host/write_bytes");
        assert!((number(row, "wear/host_bytes_until_worn") / expected - 1.0).abs() < 1e-6, "{row}");
        assert!(json["techniques"][row]["runs"][0]["wear"]["projected_life_days"].is_null());
        assert_eq!(json["techniques"][row]["life_unit"], "host_bytes");
    }
    let seconds_a_cycle =
        |row: usize| number(row, "simulation/simulated_s") / number(row, "wear/cycles_observed");
    assert!(seconds_a_cycle(1) > seconds_a_cycle(0), "in seconds raid5 lives longer");
    assert!(
        number(1, "wear/host_bytes_until_worn") < 0.9 * number(0, "wear/host_bytes_until_worn")
    );
    // One run has not settled, so no life wins. The verdict says the same.
    assert_eq!(json["winners"]["life"], serde_json::json!([]));
    assert_eq!(json["winners"]["host_bytes_until_worn"], json["winners"]["life"]);
    let words = vpass(&[&args[..], &small].concat()).stdout;
    // Without parity, the run has not settled and shows no life. The comparison therefore names no
    // technique with the longest life.
    assert!(words.contains("`vpass life` simulates the life of the drive."), "{words}");
    let row = words.lines().find(|line| line.starts_with("  none + none ")).expect("a row");
    assert!(!row.contains("TBW"), "{row}");
    for unit in [" h*", " h ", " days", " years"] {
        assert!(
            !words.lines().any(|line| line.starts_with("  none + ") && line.contains(unit)),
            "{unit} in\n{words}"
        );
    }
}

#[test]
fn a_drive_that_cannot_keep_up_wins_no_latency() {
    let room = Room::new();
    let text =
        "[workload]\nrequests = 50000\nread_share = 1.0\nblock_size = '16KiB'\nrate = 1000000\n";
    let workload = room.file("rated.toml", text);
    let args = ["compare", "--drive", "tiny", "--workload", &workload, "--reclaim", "none,block"];
    let json = vpass(&[&args[..], &["--json"]].concat()).json();
    assert!(
        json["techniques"][0]["saturated"] == true
            && json["winners"]["read_p99_us"].as_array().unwrap().is_empty()
    );
    assert!(json["techniques"][0]["warnings"][0].as_str().unwrap().contains("could not keep up"));
    let words = vpass(&args).stdout;
    assert!(
        words.contains("none (saturated)")
            && words.contains("  all: The drive could not keep up: "),
        "{words}"
    );
}

#[test]
fn seeds_give_intervals_and_threads_change_nothing() {
    let run = |threads: &str| {
        let mut json =
            compare(&["--reclaim", "block", "--seeds", "3", "--threads", threads, "--json"]).json();
        for run in json["techniques"][0]["runs"].as_array_mut().unwrap() {
            run["simulation"] = serde_json::Value::Null;
        }
        json
    };
    let one = run("1");
    let columns = &one["techniques"][0]["columns"];
    assert!(columns["read_p99_us"]["ci95"].is_f64());
    let seeds: Vec<_> = one["techniques"][0]["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["seed"].as_u64().unwrap())
        .collect();
    assert_eq!(seeds, [1, 2, 3]);
    assert_eq!(one, run("2"));
}

#[test]
fn a_comparison_writes_a_folder_per_run() {
    let room = Room::new();
    let done =
        compare(&["--reclaim", "none,block", "--gear", "untimed", "--out", &room.text("out")]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(
        names_in(&room.path("out")),
        ["block", "compare.csv", "compare.json", "none", "timing.json"]
    );
    assert_eq!(
        names_in(&room.path("out/block")),
        [
            "blocks.csv",
            "dose.csv",
            "dose_blocks.csv",
            "dose_map.csv",
            "erasures.csv",
            "manifest.json",
            "series.csv",
            "summary.json",
            "timing.json"
        ]
    );
    let csv = std::fs::read_to_string(room.path("out/compare.csv")).unwrap();
    assert!(csv.starts_with("reclaim,gc,runs,projected_life_days,projected_life_days_ci95,"));
    assert_eq!(csv.lines().count(), 3);
}

#[test]
fn what_no_drive_can_do_is_said_and_wins_nothing() {
    let json = compare(&["--reclaim", "ideal,block", "--gear", "untimed", "--json"]).json();
    let said = |i: usize| {
        (
            &json["techniques"][i]["counterfactual"],
            &json["techniques"][i]["runs"][0]["counterfactual"],
        )
    };
    assert_eq!((said(0), said(1)), ((&true.into(), &true.into()), (&false.into(), &false.into())));
    let copies = |i: usize| {
        json["techniques"][i]["columns"]["reclaim_write_pages"]["mean"].as_f64().unwrap()
    };
    assert!(copies(0) < copies(1), "{} {}", copies(0), copies(1));
    assert!(
        json["winners"].as_object().unwrap().values().all(|names| names
            .as_array()
            .unwrap()
            .iter()
            .all(|n| n != "ideal"))
    );
    let words = compare(&["--reclaim", "ideal,block", "--gear", "untimed"]).stdout;
    assert!(
        words.contains("ideal (counterfactual)") && words.contains("ideal: COUNTERFACTUAL"),
        "{words}"
    );
    let explained = vpass(&["explain", "--drive", "tiny", "--reclaim", "ideal"]).stdout;
    assert!(
        explained.contains("COUNTERFACTUAL") && explained.contains("median (counterfactual)"),
        "{explained}"
    );
    let kinds = vpass(&["explain", "--drive", "straw-2t-tlc", "--reclaim", "page-type"]).stdout;
    for words in
        ["LSB 1.80, CSB 1.80, MSB 1.00", "MSB pages rewritten", "LSB and CSB pages rewritten"]
    {
        assert!(kinds.contains(words), "{words} in\n{kinds}");
    }
}

#[test]
fn wrong_techniques_are_refused_before_anything_runs() {
    compare(&["--reclaim", "none,blok"]).refuses(2, &["did you mean `block`?"]);
    compare(&["--reclaim", "none,none"]).refuses(2, &["named twice"]);
    compare(&["--gc", "greedy,cost-benefits"]).refuses(2, &["did you mean `cost-benefit`?"]);
    compare(&["--seeds", "0"]).refuses(2, &["--seeds"]);
}

#[test]
fn gc_policies_are_combined_with_techniques() {
    let json = compare(&[
        "--reclaim",
        "none,block",
        "--gc",
        "greedy,cost-benefit",
        "--gear",
        "untimed",
        "--json",
    ])
    .json();
    assert_eq!(json["techniques"].as_array().unwrap().len(), 4);
}

#[test]
fn a_comparison_is_csv_or_markdown_on_standard_output() {
    let room = Room::new();
    let done = compare(&["--reclaim", "none,block", "--csv", "--out", &room.text("out")]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.stdout, std::fs::read_to_string(room.path("out/compare.csv")).unwrap());
    assert!(
        done.stdout.starts_with("reclaim,gc,runs,") && done.stdout.contains("\nblock,greedy,1,"),
        "{}",
        done.stdout
    );

    let done = compare(&["--reclaim", "none,block", "--markdown"]);
    let lines: Vec<_> = done.stdout.lines().collect();
    assert!(
        lines.len() == 4
            && lines[0].starts_with("| reclaim | reclaim writes |")
            && lines[1].starts_with("| --- | ---: |"),
        "{}",
        done.stdout
    );
    let bars = |line: &str| line.matches('|').count();
    assert!(lines.iter().all(|line| bars(line) == bars(lines[0])), "{}", done.stdout);

    compare(&["--csv", "--json"]).refuses(2, &["--csv", "--json"]);
    compare(&["--csv", "--markdown"]).refuses(2, &["--csv", "--markdown"]);
}

#[test]
fn a_comparison_fits_its_terminal() {
    let args = [
        "compare",
        "--drive",
        "tiny",
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=1k",
        "--seeds",
        "2",
    ];
    for columns in [60, 80, 120] {
        let done = vpass_on(columns, &args);
        // The title and the names of the runs are sentences, which a terminal wraps.
        let long: Vec<_> =
            done.stdout.lines().skip(2).filter(|line| line.chars().count() > columns).collect();
        assert_eq!(long, [""; 0], "{}", done.stdout);
        assert_eq!(done.stdout.matches("of host data that").count(), 1, "one legend");
        // Every column is in one of the parts.
        for word in ["writes", "erases", "ampl.", "p50", "p99.9", "max", "wait", "RAM", "lost"] {
            assert!(done.stdout.contains(word), "{word} in\n{}", done.stdout);
        }
    }
    let wide = vpass(&args);
    assert_eq!(
        wide.stdout.lines().filter(|line| line.starts_with("  block")).count(),
        1,
        "one part in a pipe\n{}",
        wide.stdout
    );
}

#[test]
fn waits_are_means_and_shares() {
    let json = compare(&["--reclaim", "none,block", "--json"]).json();
    let of = |i: usize, key: &str| json["techniques"][i]["columns"][key]["mean"].as_f64().unwrap();
    assert_eq!((of(0, "reclaim_wait_us"), of(0, "reclaim_wait_percent")), (0.0, 0.0));
    let run = &json["techniques"][1]["runs"][0];
    let (stall, pages) =
        (run["reclaim"]["stall_us"].as_f64().unwrap(), run["host"]["read_pages"].as_f64().unwrap());
    let latency = run["latency_us"]["read"]["mean"].as_f64().unwrap();
    assert!(stall > 0.0);
    assert!((of(1, "reclaim_wait_us") - stall / pages).abs() < 1e-9);
    assert!((of(1, "reclaim_wait_percent") - 100.0 * stall / pages / latency).abs() < 1e-9);
    let untimed = compare(&["--reclaim", "block", "--gear", "untimed", "--json"]).json();
    assert!(untimed["techniques"][0]["columns"]["reclaim_wait_us"].is_null());
}

#[test]
fn the_last_seeds_of_all_are_seeds() {
    let first = u64::MAX - 1;
    let done = compare(&[
        "--set",
        "workload.requests=1000",
        "--reclaim",
        "block",
        "--seeds",
        "2",
        "--seed",
        &first.to_string(),
    ]);
    assert!(
        done.stdout.contains(&format!("seeds {first} to {}:", u64::MAX)),
        "{}{}",
        done.stdout,
        done.stderr
    );
}

/// `udl` brings a reclaim and a refresh technique, unless the user names them. The label is only
/// `udl`.
#[test]
fn udl_is_a_composition() {
    let on_drive = |more: &[&str]| {
        let drive = [
            "compare",
            "--drive",
            "da-raid5-mlc",
            "--workload",
            "da-raid5-tpcc",
            "--set",
            "geometry.blocks_per_plane=64",
        ];
        vpass(
            &[
                &drive[..],
                &["--set", "drive.spare=0.4", "--set", "workload.requests=500", "--json"],
                more,
            ]
            .concat(),
        )
    };
    let rows = |done: &Done| -> Vec<[String; 3]> {
        assert_eq!(done.code, 0, "{}", done.stderr);
        let of = |row: &serde_json::Value| {
            ["reclaim", "refresh", "parity"].map(|key| row[key].as_str().unwrap_or("-").to_owned())
        };
        done.json()["techniques"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(rows(&on_drive(&["--parity", "udl"])), [["block", "block", "udl"]]);
    let beside = on_drive(&["--reclaim", "block", "--parity", "none,udl"]);
    assert_eq!(rows(&beside), [["block", "none", "none"], ["block", "block", "udl"]]);
    assert!(
        beside.json()["winners"]["gc_erases"]
            .as_array()
            .unwrap()
            .iter()
            .all(|name| name == "block + none" || name == "block + udl")
    );
    assert_eq!(
        rows(&on_drive(&["--reclaim", "none", "--refresh", "none", "--parity", "udl"])),
        [["none", "-", "udl"]]
    );
    let refused = on_drive(&["--parity", "udl", "--set", "refresh.period=10d"]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stderr.contains("`udl` computes the refresh period from the [bch]"),
        "{}",
        refused.stderr
    );
}

/// If the user names no reclaim techniques, the techniques that fit each parity technique run. The
/// others are reported. A drive without space for the parity is refused.
#[test]
fn parity_goes_with_every_reclaim_technique() {
    let few = [
        "compare",
        "--drive",
        "tiny",
        "--workload",
        "random-70-30",
        "--set",
        "workload.requests=200",
        "--parity",
        "none,raid5",
        "--csv",
    ];
    let room =
        ["--set", "drive.capacity=512MiB", "--set", "drive.spare=0.6", "--set", "parity.stripe=3"];
    let done = vpass(&[&few[..], &room].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows = |technique: &str| {
        done.stdout.lines().filter(|line| line.starts_with(&format!("{technique},"))).count()
    };
    assert_eq!(
        ["block", "straw-wl", "redftl", "read-leveling", "ipr-wl"].map(rows),
        [2; 5],
        "{}",
        done.stdout
    );
    let left_out: Vec<&str> =
        done.stderr.lines().filter(|line| line.contains("left out")).collect();
    assert!(
        matches!(left_out[..], [one] if one.contains("a drive with read retries")),
        "once: {left_out:?}"
    );
    // With the default stripe, the drive has too few dies for parity, so rows with parity are
    // refused. Rows without parity run.
    let done = vpass(&few);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("block + raid5, ")
            && done.stderr.contains("refused: ")
            && done.stderr.contains("set parity.stripe=3 or less")
    );
    assert!(done.stdout.lines().skip(1).all(|line| !line.contains("raid5")), "{}", done.stdout);
}

/// Data that ages for three years needs refresh under `block`. Without refresh, this combination is
/// refused and the others run.
#[test]
fn one_refused_pair_leaves_the_other_rows() {
    let room = Room::new();
    let on = |reclaim: &str, refresh: &str, more: &[&str]| {
        let drive = [
            "compare",
            "--drive",
            "aged-tlc",
            "--workload",
            "uniform-read",
            "--set",
            "workload.requests=200",
        ];
        let small = [
            "--set",
            "geometry.channels=1",
            "--set",
            "geometry.blocks_per_plane=24",
            "--set",
            "start.age=20d",
        ];
        vpass(&[&drive[..], &small, &["--reclaim", reclaim, "--refresh", refresh], more].concat())
    };
    let out = room.text("out");
    let done = on("block,none", "none,block", &["--json", "--seeds", "1", "--out", &out]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let json = done.json();
    let names: Vec<_> = json["techniques"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| format!("{}+{}", row["reclaim"], row["refresh"]))
        .collect();
    assert_eq!(names, ["\"block\"+\"block\"", "\"none\"+\"none\"", "\"none\"+\"block\""]);
    let [refused] = &json["refused"].as_array().unwrap()[..] else {
        panic!("one is refused: {}", json["refused"])
    };
    assert_eq!(
        (&refused["reclaim"], &refused["refresh"], &refused["label"]),
        (&"block".into(), &"none".into(), &"block + none".into())
    );
    let why = refused["why"].as_str().unwrap();
    assert!(done.stderr.contains(&format!("block + none: refused: {why}")), "{}", done.stderr);
    let kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(room.path("out").join("compare.json")).unwrap())
            .unwrap();
    assert_eq!(kept["refused"], json["refused"]);
    let text =
        on("block,none", "none,block", &[]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("block + none (refused) - -")
            && text
                .contains("block + none: no results, because the drive refuses this technique: "),
        "{text}"
    );
    // All rows are refused.
    let none = on("block", "none", &["--json"]);
    none.refuses(2, &[why]);
    assert_eq!(none.stdout, "");
    on("block,blok", "none,block", &[]).refuses(2, &["did you mean `block`?"]);
    on("block,block", "none", &[]).refuses(2, &["block is named twice"]);
}

/// Every parity technique has a row in one table, on a capacity that leaves space for each parity.
#[test]
fn every_parity_technique_has_a_row() {
    let all = "none,raid5,ppc,udl,pe-aware,hc,da-raid5";
    let on = |blocks: &str, techniques: [&str; 2]| {
        let drive = [
            "compare",
            "--drive",
            "tiny",
            "--workload",
            "random-70-30",
            "--set",
            "workload.requests=300",
            "--gear",
            "untimed",
            "--json",
        ];
        let techniques = [
            "--reclaim",
            techniques[0],
            "--refresh",
            techniques[1],
            "--parity",
            all,
            "--set",
            "parity.stripe=3",
        ];
        let age =
            ["--set", "workload.rate=1000", "--set", "drive.capacity=768MiB", "--set", blocks];
        vpass(&[&drive[..], &techniques, &age].concat())
    };
    for techniques in
        [["none", "none"], ["block", "block"], ["straw-wl", "none"], ["page-type", "block"]]
    {
        let done = on("geometry.blocks_per_plane=70", techniques);
        assert_eq!(done.code, 0, "{techniques:?}: {}", done.stderr);
        let json = done.json();
        let rows = json["techniques"].as_array().unwrap();
        let names: Vec<&str> =
            rows.iter().map(|row| row["parity"].as_str().unwrap_or("none")).collect();
        assert_eq!(names, all.split(',').collect::<Vec<_>>());
        assert!(
            rows.iter().all(|row| row["runs"][0]["host"] == rows[0]["runs"][0]["host"]),
            "the same requests"
        );
        let life = &rows[6]["runs"][0]["parity"]["by_wear"]["life"];
        assert_eq!((life["stage"].as_u64(), life["l"].as_u64()), (Some(1), Some(16_384)), "{life}");
        let warnings = rows[6]["warnings"].to_string();
        assert!(
            warnings.contains(
                "the last stage needs more than 16,384 stripes (parity.l) in worn blocks"
            ),
            "{warnings}"
        );
    }
    let tight = on("geometry.blocks_per_plane=46", ["block", "none"]);
    assert_eq!(tight.code, 0, "what needs no parity has room: {}", tight.stderr);
    assert!(
        tight.stderr.contains("the largest capacity that fits")
            && tight.stderr.contains("drive.capacity="),
        "{}",
        tight.stderr
    );
    // If no row has space for its parity, the comparison fails.
    let only = [
        "compare",
        "--drive",
        "tiny",
        "--workload",
        "random-70-30",
        "--parity",
        "raid5,ppc",
        "--set",
        "parity.stripe=3",
    ];
    let narrow = [
        "--reclaim",
        "block",
        "--set",
        "drive.capacity=768MiB",
        "--set",
        "geometry.blocks_per_plane=40",
    ];
    vpass(&[&only[..], &narrow].concat())
        .refuses(2, &["the largest capacity that fits", "for all 2 rows of the comparison"]);
}

/// If techniques need different spare areas, the technique with the largest need is refused. The
/// message names a capacity that suits all techniques.
#[test]
fn one_capacity_fits_all_that_are_compared() {
    let on = |capacity: &str| {
        let drive = [
            "compare",
            "--drive",
            "tiny",
            "--workload",
            "random-70-30",
            "--set",
            "workload.requests=200",
            "--gear",
            "untimed",
            "--json",
        ];
        let techniques = [
            "--reclaim",
            "block,redftl,read-leveling",
            "--parity",
            "none,raid5,pe-aware",
            "--set",
            "parity.stripe=3",
        ];
        vpass(
            &[
                &drive[..],
                &techniques,
                &["--set", "geometry.blocks_per_plane=40", "--set", capacity],
            ]
            .concat(),
        )
    };
    let refused = on("drive.capacity=640MiB");
    assert_eq!(refused.code, 0, "{}", refused.stderr);
    let json = refused.json();
    let without = json["refused"].as_array().unwrap();
    let why = |row: &serde_json::Value| row["why"].as_str().unwrap().to_owned();
    let fewest = without.iter().find(|row| row["label"] == "redftl + pe-aware").unwrap();
    for words in [
        "`pe-aware` leaves ",
        "for the 2 kinds of data that `redftl` separates",
        "a die needs 9",
        "for all 9 rows of the comparison",
    ] {
        assert!(why(fewest).contains(words), "{words} in {fewest}");
    }
    assert_eq!(json["techniques"].as_array().unwrap().len() + without.len(), 9);
    let named = refused
        .stderr
        .split_whitespace()
        .find(|word| word.starts_with("drive.capacity="))
        .expect("it is there");
    let done = on(named);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.json()["techniques"].as_array().map(Vec::len), Some(9));
}

/// The database trace of the demo: `block` programs fewer pages than undisturbed flash, because
/// reclaim separates read-mostly data and GC copies less.
#[test]
fn net_read_wear_is_what_a_run_programs_beyond_undisturbed_flash() {
    let trace =
        format!("{}/../../examples/traces/pgbench-ext4.csv.zst", env!("CARGO_MANIFEST_DIR"));
    let run = ["--drive", "tiny", "--trace", &trace, "--repeat", "20", "--gear", "untimed"];
    let run = [&run[..], &["--oracle", "off", "--json"]].concat();
    let compared =
        vpass(&[&["compare", "--seeds", "1", "--reclaim", "none,block"], &run[..]].concat()).json();
    let twin = ["run", "--reclaim", "none", "--set", "disturb.model=none"];
    let twin = vpass(&[&twin[..], &run[..]].concat()).json();
    let programs = |run: &serde_json::Value| -> i64 {
        let causes = run["flash"]["programs"].as_object().unwrap();
        causes.values().map(|pages| pages.as_i64().unwrap()).sum()
    };
    let nets = [0, 1].map(|row| {
        let row = &compared["techniques"][row];
        let more = programs(&row["runs"][0]) - programs(&twin);
        let read = row["runs"][0]["host"]["read_bytes"].as_f64().unwrap();
        let net = row["columns"]["read_wear_net"]["mean"].as_f64().unwrap();
        assert!((net - 100.0 * more as f64 * 16384.0 / read).abs() < 1e-9, "{net}, {more} pages");
        assert_eq!(row["runs"][0]["read_wear_net"], net);
        net
    });
    assert!(nets[1] < 0.0, "{nets:?}");
    assert!(compared["techniques"][1]["columns"]["read_wear"]["mean"].as_f64() > Some(0.0));
}

#[test]
fn net_read_wear_is_unknown_without_reads_and_without_a_twin() {
    let nets = |more: &[&str]| -> Vec<serde_json::Value> {
        let small = ["--set", "workload.requests=2000", "--json"];
        let json = compare(&[&small[..], more].concat()).json();
        let rows = json["techniques"].as_array().unwrap();
        rows.iter().map(|row| row["columns"]["read_wear_net"].clone()).collect()
    };
    let known = nets(&["--reclaim", "none,block"]);
    assert!(known.iter().all(|net| net["mean"] == 0.0), "{known:?}");
    let writes = nets(&["--reclaim", "none,block", "--set", "workload.read_share=0"]);
    assert!(writes.iter().all(serde_json::Value::is_null), "{writes:?}");
    // The twin has the GC policy of the first row.
    let gcs = nets(&["--reclaim", "block", "--gc", "greedy,cost-benefit"]);
    assert!(gcs[0]["mean"] == 0.0 && gcs[1].is_null(), "{gcs:?}");
    // Two seeds have two twins. On undisturbed flash, `none` is the twin.
    let seeds = nets(&["--reclaim", "block", "--seeds", "2"]);
    assert!(seeds[0]["ci95"] == 0.0, "{seeds:?}");
    let none = nets(&["--reclaim", "none,block", "--set", "disturb.model=none"]);
    assert!(none.iter().all(|net| net["mean"] == 0.0), "{none:?}");
}

/// Refresh needs the error budget that reads also use, so no twin can run.
#[test]
fn data_that_ages_has_no_net_read_wear() {
    let args = ["compare", "--drive", "aged-tlc", "--workload", "uniform-read", "--json"];
    let more = ["--refresh", "block", "--reclaim", "block", "--set", "workload.requests=1000"];
    let rate = ["--set", "workload.rate=1000", "--set", "drive.capacity=4GiB"];
    let done = vpass(&[&args[..], &more, &rate].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.json()["techniques"][0]["columns"]["read_wear_net"].is_null());
}
