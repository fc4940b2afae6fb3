//! Tests of drive files, workload files and `--set`.

use crate::common::{Done, Room, argv, ran, small_run, vpass};

fn tiny_text() -> String {
    vpass(&["show", "drive", "tiny"]).stdout
}

#[test]
fn a_drive_file_works_like_the_preset() {
    let room = Room::new();
    let file = room.file("mine.toml", &tiny_text());
    let run = |drive: &str| {
        let mut json = ran(&format!(
            "run --drive {drive} --workload zipf-read --set workload.requests=500 --json"
        ))
        .json();
        for key in ["simulation", "drive"] {
            json[key] = serde_json::Value::Null;
        }
        json
    };
    assert_eq!(run(&file), run("tiny"));
}

#[test]
fn set_takes_numbers_words_sizes_and_lists() {
    let sets = [
        "start.pec=1000",
        "reclaim.schedule=batch:8",
        "timing.sense_us=[20,30,40]",
        "drive.rated_pec = 5000",
        "workload.requests=1e3",
    ];
    let args: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).chain(["--json"]).collect();
    let json = small_run(&args).json();
    assert_eq!(json["host"]["read_requests"], 1000);
    assert_eq!(json["wear"]["pec_min"], 1000);
    assert_eq!(json["wear"]["rated_pec"], 5000);
}

/// On `tiny`, a check every 4,367 reads leaves the worst wordlines enough margin. A check every
/// 5,000 reads does not.
#[test]
fn settings_that_leave_a_technique_no_room_are_refused_with_one_that_does() {
    let interval = |reads: &str, more: &[&str]| {
        let set = format!("reclaim.check_interval={reads}");
        small_run(
            &[&["--gear", "untimed", "--reclaim", "straw-ss-sound", "--set", &set], more].concat(),
        )
    };
    interval("5000", &[]).refuses(
        2,
        &[
            "reclaim.check_interval = 5000: `straw-ss-sound`",
            "set reclaim.check_interval = 4096 or less",
        ],
    );
    let near = interval("4096", &[]);
    assert_eq!(near.code, 0, "{}", near.stderr);
    assert!(
        near.stderr.contains("`straw-ss-sound` may lose data at 1 or more P/E cycles"),
        "{}",
        near.stderr
    );
    let beyond = interval("1000", &["--set", "drive.rated_pec=3100"]);
    assert!(beyond.stderr.contains("disturb.table ends at 3000 P/E cycles"), "{}", beyond.stderr);
}

/// Returns the value that a refusal advises for a key: the text after `KEY=`.
#[track_caller]
fn advised(done: &Done, key: &str) -> String {
    assert_eq!(done.code, 2, "{}{}", done.stdout, done.stderr);
    let (_, rest) = done
        .stderr
        .split_once(&format!("{key}="))
        .unwrap_or_else(|| panic!("no {key}= in {}", done.stderr));
    rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '.').collect()
}

#[test]
fn every_advised_drive_can_be() {
    let explain = |drive: &str, sets: &[&str]| {
        let sets = sets.iter().flat_map(|set| ["--set", set]);
        vpass(&["explain", "--drive", drive, "--json"].into_iter().chain(sets).collect::<Vec<_>>())
    };
    let (mut advice, mut taken) = (0, 0);
    for drive in [
        "tiny",
        "straw-2t-tlc",
        "ipr-128g-tlc",
        "da-raid5-mlc",
        "modern-tlc",
        "modern-qlc",
        "aged-tlc",
        "aged-qlc",
    ] {
        for more in
            ["start.pec=0", "geometry.channels=1", "drive.spare=0.036", "geometry.planes_per_die=1"]
        {
            let refused = explain(drive, &[more, "drive.capacity=1MiB"]);
            let mut smallest = 1 << 30;
            // A drive with many planes has enough spare blocks with one block in each plane.
            if refused.code != 0 {
                let text = refused
                    .stderr
                    .split_once(" bytes,")
                    .expect("a number of bytes")
                    .0
                    .rsplit(' ')
                    .next()
                    .unwrap();
                smallest = text.parse::<u64>().unwrap();
                let size = format!("drive.capacity={}", advised(&refused, "drive.capacity"));
                assert_eq!(explain(drive, &[more, &size]).code, 0, "{drive} {more} {size}");
                // A capacity that is one page smaller is too small. The largest page has 32 KiB.
                explain(drive, &[more, &format!("drive.capacity={}", smallest - 32768)])
                    .refuses(2, &["smallest capacity"]);
                advice += 1;
            }
            // Every larger capacity up to ten times the smallest one fits, to the byte.
            for i in 0..12 {
                let capacity = format!("drive.capacity={}", smallest + smallest * i * i / 13);
                let done = explain(drive, &[more, &capacity]);
                assert_eq!(done.code, 0, "{drive} {more} {capacity}: {}", done.stderr);
                taken += 1;
            }
        }
        let few = explain(
            drive,
            &["geometry.blocks_per_plane=1", "geometry.channels=1", "geometry.dies_per_channel=1"],
        );
        let blocks =
            format!("geometry.blocks_per_plane={}", advised(&few, "geometry.blocks_per_plane"));
        assert_eq!(
            explain(drive, &[&blocks, "geometry.channels=1", "geometry.dies_per_channel=1"]).code,
            0,
            "{drive} {blocks}"
        );
    }
    assert!(advice == 15 && taken == 8 * 4 * 12, "{advice} {taken}");
    let both = ["drive.capacity=1GiB", "geometry.blocks_per_plane=43"];
    let blocks = advised(&explain("tiny", &both), "geometry.blocks_per_plane");
    // A capacity of 1 GiB fills 342 blocks of 3 MiB. With 12 more, there are 354 blocks, which are
    // 44.25 in each of 8 planes.
    assert_eq!(blocks, "45");
    assert_eq!(explain("tiny", &[both[0], "geometry.blocks_per_plane=45"]).code, 0);
    assert_eq!(explain("tiny", &["drive.capacity=1.3GiB"]).code, 0, "1395864371.2 bytes");
}

#[test]
fn a_file_that_is_no_drive_becomes_one_by_what_is_advised() {
    let room = Room::new();
    let text = tiny_text().replace("capacity = \"1GiB\"", "capacity = \"8MiB\"");
    let file = room.file("small.toml", &text);
    let size = advised(&vpass(&["explain", "--drive", &file]), "drive.capacity");
    assert_eq!(
        vpass(&["explain", "--drive", &file, "--set", &format!("drive.capacity={size}")]).code,
        0
    );
    let file = room.file(
        "few.toml",
        &text
            .replace("capacity = \"8MiB\"", "")
            .replace("[geometry]", "[geometry]\nblocks_per_plane = 2"),
    );
    let blocks = advised(&vpass(&["explain", "--drive", &file]), "geometry.blocks_per_plane");
    assert_eq!(
        vpass(&[
            "explain",
            "--drive",
            &file,
            "--set",
            &format!("geometry.blocks_per_plane={blocks}")
        ])
        .code,
        0
    );
    assert_eq!(vpass(&["explain", "--drive", &file, "--set", "drive.capacity=1GiB"]).code, 0);
}

#[test]
fn the_drive_that_a_trace_needs_is_named_and_can_be() {
    let room = Room::new();
    for (drive, offset) in [
        ("tiny", 1u64 << 30),
        ("tiny", (3 << 30) + 4096),
        ("tiny", 5_000_000_000),
        ("ipr-128g-tlc", (137 << 30) - 512),
    ] {
        let trace = room.file("far.csv", &crate::common::msr_reads(&[0, offset / 512 * 512]));
        let run = |sets: &[&str]| {
            vpass(
                &[
                    &[
                        "run",
                        "--drive",
                        drive,
                        "--trace",
                        &trace,
                        "--gear",
                        "untimed",
                        "--oracle",
                        "off",
                        "--set",
                        "start.fill=0",
                    ],
                    sets,
                ]
                .concat(),
            )
        };
        let capacity = format!("drive.capacity={}", advised(&run(&[]), "drive.capacity"));
        let done = run(&["--set", &capacity]);
        assert_eq!(done.code, 0, "{drive} {capacity}: {}", done.stderr);
    }
}

#[test]
fn a_comparison_of_all_techniques_leaves_out_those_without_room_and_says_so() {
    let compare = argv(
        "compare --drive tiny --workload uniform-read --set workload.requests=2000 --gear untimed",
    );
    let narrow = ["--set", "reclaim.check_interval=5000", "--json"];
    let done = vpass(&[&compare[..], &narrow].concat());
    let json = done.json();
    let compared: Vec<&str> = json["techniques"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["reclaim"].as_str().unwrap())
        .collect();
    assert!(
        compared.contains(&"block") && !compared.iter().any(|name| name.starts_with("straw")),
        "{compared:?}"
    );
    assert!(
        done.stderr.contains("left out: drive tiny: reclaim.check_interval = 5000: `straw-wl`"),
        "{}",
        done.stderr
    );
    // If the user names a technique that is refused beside others, it has a row in the list of
    // refusals. If it is the only technique, the command fails.
    let named = vpass(&[&compare[..], &narrow, &["--reclaim", "block,straw-wl"]].concat());
    let refused = &named.json()["refused"];
    assert!(
        refused[0]["why"].as_str().unwrap().contains("reclaim.check_interval = 5000: `straw-wl`"),
        "{refused}"
    );
    assert_eq!((named.code, &named.json()["techniques"][0]["reclaim"]), (0, &"block".into()));
}

#[test]
fn a_rate_takes_the_place_of_a_depth_and_a_depth_that_of_a_rate() {
    let run = |sets: &[&str]| {
        vpass(
            &[
                &argv(
                    "run --drive tiny --workload zipf-read --set workload.requests=2k --json",
                )[..],
                sets,
            ]
            .concat(),
        )
    };
    // 2,000 requests at 100 per second take 20 s. At queue depth 64, they take far less than 1 s on
    // this drive.
    let seconds = |done: Done| done.json()["simulation"]["simulated_s"].as_f64().unwrap();
    let slow = seconds(run(&["--set", "workload.rate=100"]));
    assert!((18.0..22.0).contains(&slow), "{slow}");
    assert!(
        seconds(run(&["--set", "workload.rate=0.1k", "--set", "workload.queue_depth="])) > 18.0,
        "taken away and replaced"
    );

    let room = Room::new();
    let file =
        room.file("open.toml", "[workload]\nrequests = '2k'\nrate = 100\narrivals = 'constant'\n");
    let of_file = |more: &[&str]| {
        vpass(&[&["run", "--drive", "tiny", "--workload", &file, "--json"], more].concat())
    };
    assert!(seconds(of_file(&[])) > 18.0);
    assert!(seconds(of_file(&["--set", "workload.queue_depth=64"])) < 1.0);
    assert!(seconds(of_file(&["--queue-depth", "64"])) < 1.0);
    assert!(
        seconds(of_file(&["--set", "workload.rate=", "--set", "workload.arrivals="])) < 1.0,
        "64 where neither is given"
    );

    run(&[
        "--set",
        "workload.block_sizes=[{size = '4KiB', share = 1}]",
        "--set",
        "workload.block_size=4KiB",
    ])
    .refuses(2, &["exclude each other"]);
    assert_eq!(
        run(&[
            "--set",
            "workload.block_sizes=[{size = '8KiB', share = \
            1}]"
        ])
        .json()["host"]["read_bytes"],
        2000 * 8192
    );
}

#[test]
fn a_key_without_a_value_is_taken_away() {
    let shown = |sets: &[&str]| vpass(&[&["show", "drive", "tiny"], sets].concat());
    assert!(shown(&["--set", "gc.background=0.5"]).stdout.contains("background = 0.5"));
    assert!(
        shown(&["--set", "gc.background=0.5", "--set", "gc.background="])
            .stdout
            .contains("background = 0.25"),
        "the default"
    );
    assert!(
        shown(&["--set", "drive.write_buffer="]).stdout.contains("write_buffer = \"4MiB\""),
        "not the preset's 1MiB"
    );
}

#[test]
fn counts_take_decimal_units_and_sizes_binary_ones() {
    let requests =
        |text: &str| small_run(&["--json", "--set", &format!("workload.requests={text}")]);
    let reads = |done: &Done| done.json()["host"]["read_requests"].as_u64().unwrap();
    for (text, n) in [("1k", 1000), ("2K", 2000), ("0.003M", 3000), ("4e3", 4000)] {
        assert_eq!(reads(&requests(text)), n, "{text}");
    }
    assert_eq!(
        vpass(&["show", "drive", "tiny", "--set", "start.pec=1k", "--json"]).json()["start"]["pec"],
        1000
    );
    assert_eq!(
        vpass(&["show", "workload", "zipf-read", "--set", "workload.block_size=4k", "--json"])
            .json()["workload"]["block_size"],
        "4KiB"
    );
    assert_eq!(reads(&small_run(&["--warm-up", "1k", "--json"])), 1000, "of 2,000");
}

#[test]
fn parameters_have_keys_of_their_own_and_flat_ones() {
    let shown = |drive: &str, sets: &[&str]| {
        let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
        vpass(&[&["show", "drive", drive, "--json"], sets.as_slice()].concat())
    };
    let both = |done: &Done| {
        let json = done.json();
        (
            json["reclaim"]["probe_probability"].as_f64(),
            json["reclaim"]["chance-probe"]["probability"].as_f64(),
        )
    };
    for key in ["reclaim.chance-probe.probability", "reclaim.probe_probability"] {
        assert_eq!(
            both(&shown("tiny", &[&format!("{key}=0.02")])),
            (Some(0.02), Some(0.02)),
            "{key}"
        );
    }
    let different = ["reclaim.chance-probe.probability=0.02", "reclaim.probe_probability=0.03"];
    shown("tiny", &different).refuses(
        2,
        &["reclaim.probe_probability = 0.03 and reclaim.chance-probe.probability = 0.02 contradict \
            each other"],
    );
    shown("tiny", &["gc.stable-greedy.slack=2"])
        .refuses(2, &["gc.stable-greedy.slack = 2 is outside 0 to 1"]);
    shown("tiny", &["reclaim.chance-prob.probability=0.1"]).refuses(
        2,
        &["unknown key `reclaim.chance-prob.probability` in --set: did you mean \
            `reclaim.chance-probe.probability`?"],
    );
    shown("tiny", &["reclaim.tiered.layer_set=0.1"]).refuses(
        2,
        &["unknown key `reclaim.tiered.layer_set` in --set: did you mean \
            `reclaim.tiered.layer_sets`?"],
    );
    shown("tiny", &["slack=0.1"]).refuses(2, &["did you mean `gc.stable-greedy.slack`?"]);
    shown("tiny", &["gc.stable-greedy=0.1"])
        .refuses(2, &["unknown key `gc.stable-greedy` in --set: known are gc.stable-greedy.slack"]);

    let room = Room::new();
    let file =
        room.file("mine.toml", &tiny_text().replace("[reclaim]\n", "[reclaim]\ncounters = 16\n"));
    let counters = |done: &Done| {
        let json = done.json();
        ["straw-ss", "straw-ss-published", "straw-ss-sound"]
            .map(|name| json["reclaim"][name]["counters"].as_u64().unwrap())
    };
    assert_eq!(counters(&shown(&file, &[])), [16; 3]);
    assert_eq!(
        counters(&shown(&file, &["reclaim.straw-ss.counters=8"])),
        [8, 16, 16],
        "the others keep what the file says"
    );
    let file =
        room.file("typo.toml", &format!("{}\n[reclaim.straw-ss]\ncounter = 16\n", tiny_text()));
    let line = tiny_text().lines().count() + 3;
    shown(&file, &[]).refuses(
        2,
        &[&format!(
            "unknown key `reclaim.straw-ss.counter` in {file} line {line}: did you mean \
             `reclaim.straw-ss.counters`?"
        )],
    );
}

/// The manifest repeats a run. The manifest has every parameter, and its configuration is a valid
/// drive file.
#[test]
fn a_manifest_has_every_parameter_and_reads_as_a_drive() {
    let room = Room::new();
    let out = room.path("out").display().to_string();
    let more = ["--reclaim", "straw-ss", "--set", "reclaim.straw-ss.counters=8", "--out", &out];
    small_run(&more);
    let manifest: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(room.path("out/manifest.json")).unwrap())
            .unwrap();
    let drive = &manifest["drive_configuration"];
    assert_eq!(
        (&drive["reclaim"]["straw-ss"]["counters"], &drive["reclaim"]["check_interval"]),
        (&8.into(), &1000.into())
    );
    let text = toml::to_string(&toml::Table::try_from(drive).unwrap()).unwrap();
    let file = room.file("again.toml", &text);
    assert_eq!(vpass(&["show", "drive", &file, "--json"]).json(), *drive);
}
