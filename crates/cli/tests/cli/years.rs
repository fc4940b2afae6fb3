//! Tests of `vpass life`, the fluid gear and samples: their output and their errors.

use serde_json::Value;

use crate::common::{Room, argv, msr_reads, number, ran, tired, vpass};

/// Returns the command for a life of the tiny drive. The drive is rated for only a few cycles, so
/// it wears out in about an hour.
fn lives(more: &[&str]) -> Vec<&'static str> {
    let fixed = argv(
        "life --drive tiny --workload zipf-read --set workload.rate=10000 --set drive.rated_pec=5",
    );
    fixed
        .into_iter()
        .chain(
            more.iter()
                .map(|word| -> &'static str { Box::leak((*word).to_owned().into_boxed_str()) }),
        )
        .collect()
}

#[test]
fn a_life_is_as_long_in_the_fluid_gear_as_request_by_request() {
    let fluid = vpass(&lives(&["--seeds", "3", "--json"])).json();
    let untimed = vpass(&lives(&["--gear", "untimed", "--oracle", "off", "--json"])).json();
    let years = |json: &Value| number(json, "/techniques/0/years/mean");
    assert!(
        (years(&fluid) / years(&untimed) - 1.0).abs() < 0.03,
        "{} and {}",
        years(&fluid),
        years(&untimed)
    );
    assert!(number(&fluid, "/techniques/0/years/ci95") < 0.1 * years(&fluid));
    assert!((number(&fluid, "/techniques/0/pec_mean/mean") - 5.0).abs() < 0.2);
    for json in [&fluid, &untimed] {
        assert_eq!(json.pointer("/techniques/0/worn_out"), Some(&Value::Bool(true)));
        // Only reads wear this drive.
        assert!((number(json, "/techniques/0/consumed/reads/mean") - 1.0).abs() < 1e-9, "{json}");
        assert!(number(json, "/techniques/0/host_bytes_written/mean") < 1.0);
    }
    assert_eq!(
        (&fluid["gear"], &untimed["gear"]),
        (&Value::from("fluid"), &Value::from("untimed"))
    );
    assert!(
        fluid
            .pointer("/techniques/0/lives")
            .and_then(Value::as_array)
            .unwrap()
            .iter()
            .all(|one| one["oracle_clean"] == true)
    );
}

/// If each erase counts as ten cycles, a tenth of the erases give the same life.
#[test]
fn an_accelerated_life_is_as_long() {
    let life = |acceleration: &str| {
        let acceleration = format!("wear.acceleration={acceleration}");
        vpass(&lives(&["--set", "drive.rated_pec=60", "--set", &acceleration, "--json"])).json()
    };
    let (exact, accelerated) = (life("1"), life("10"));
    let years = |json: &Value| number(json, "/techniques/0/years/mean");
    assert!(
        (years(&accelerated) / years(&exact) - 1.0).abs() < 0.1,
        "{} and {}",
        years(&accelerated),
        years(&exact)
    );
    let bytes = |json: &Value| number(json, "/techniques/0/flash_bytes_written/mean");
    assert!(
        (bytes(&accelerated) / bytes(&exact) - 1.0).abs() < 0.1,
        "{} and {}",
        bytes(&accelerated),
        bytes(&exact)
    );
    assert!((number(&accelerated, "/techniques/0/pec_mean/mean") - 60.0).abs() < 3.0);
    assert_eq!(accelerated.pointer("/techniques/0/lives/0/oracle_clean"), Some(&Value::Bool(true)));
}

/// A life of 3,000 cycles does not fit into the work of 60 microseconds. What is known is printed.
#[test]
fn a_simulation_that_runs_out_of_work_gives_bounds() {
    let all = ["--set", "drive.rated_pec=3000", "--set", "workload.read_share=0.9"];
    for gear in ["fluid", "untimed"] {
        let asked = [&all[..], &["--gear", gear, "--minutes", "0.000001", "--json"]].concat();
        let done = vpass(&lives(&asked));
        assert_eq!(done.code, 1, "{}", done.stderr);
        let json = done.json();
        let [low, high] = ["years/mean", "years_at_most"]
            .map(|key| number(&json, &format!("/techniques/0/{key}")));
        assert_eq!(json.pointer("/techniques/0/out_of_work"), Some(&Value::Bool(true)));
        assert_eq!(json.pointer("/techniques/0/lives/0/end"), Some(&"out_of_work".into()));
        // 1,000 of 10,000 pages a second are written. The flash has 408 blocks of 192 pages.
        let by_host = 78_336.0 * 3000.0 / 1000.0 / (365.0 * 86_400.0);
        assert!(low < 1e-4 && high > low && (high / by_host - 1.0).abs() < 0.5, "{high} {by_host}");
    }
    let text = vpass(&lives(&[&all[..], &["--minutes", "0.000001"]].concat())).stdout;
    assert!(text.contains("used up its work") && text.contains("at most"), "{text}");
}

/// `vpass life --estimate` answers without a simulation, also where no equation is known. The host
/// writes half of 10,000 pages a second; 78,336 pages endure 3,001 programs.
#[test]
fn an_estimate_alone_needs_no_simulation() {
    let of = |more: &[&str]| {
        let fixed = ["life", "--estimate", "--drive", "tiny", "--workload", "zipf-read"];
        let rate = ["--set", "workload.rate=10000", "--set", "workload.block_size=16KiB"];
        vpass(&[&fixed[..], &rate, more].concat())
    };
    let reads = of(&["--reclaim", "block,none"]);
    let lines: Vec<&str> = reads.stdout.lines().collect();
    assert_eq!((reads.code, reads.stderr.as_str()), (0, ""));
    assert!(lines[0].starts_with("Estimate for `block` (closed form, within 1 %"), "{lines:?}");
    assert!(lines[1].starts_with("No estimate for `none`: `none` does not protect"), "{lines:?}");
    assert!(reads.stdout.contains("No bound: the host writes nothing"), "{lines:?}");
    let writes = ["--reclaim=straw-wl", "--set=workload.read_share=0.5", "--set=sheet.tbw=600"];
    let json = of(&[&writes[..], &["--json"]].concat()).json();
    let because = "no equation is known for `straw-wl`";
    assert_eq!(json.pointer("/techniques/0/estimate/none_because"), Some(&because.into()));
    let year = 365.0 * 86_400.0;
    let (bound, by_hand) = (number(&json, "/at_most/years"), 78_336.0 * 3001.0 / 5000.0 / year);
    // The write buffer of 64 pages absorbs some writes of popular pages.
    assert!(bound > by_hand && bound < 1.3 * by_hand, "{bound} {by_hand}");
    let by_tbw = 600e12 / (5000.0 * 16_384.0) / year;
    assert!((number(&json, "/years_by_tbw") / by_tbw - 1.0).abs() < 0.01, "{json}");
    let text = of(&writes).stdout;
    assert!(text.contains("By its data sheet (600 TB written)"), "{text}");
    assert!(text.contains("The drive lives at most"), "{text}");
}

/// A life has the years by the data sheet beside its own, and null without such a number.
#[test]
fn a_life_has_the_years_by_its_data_sheet() {
    let more = ["--set=workload.read_share=0.5", "--set=sheet.tbw=0.1", "--rung=1"];
    let done = vpass(&lives(&[&more[..], &["--json"]].concat())).json();
    let year = 365.0 * 86_400.0;
    let by_hand = 0.1e12 / (5000.0 * 4096.0) / year;
    assert!((number(&done, "/years_by_tbw") / by_hand - 1.0).abs() < 0.01, "{done}");
    assert!(vpass(&lives(&more)).stdout.contains("By its data sheet (0.10 TB written)"));
    let without = vpass(&lives(&["--rung=1", "--json"])).json();
    assert_eq!(without.get("years_by_tbw"), Some(&Value::Null));
}

#[test]
fn a_drive_that_hardly_wears_outlives_the_simulation() {
    let done = ran("life --drive tiny --workload zipf-read --set workload.rate=0.001");
    assert_eq!(done.code, 0, "{}", done.stderr);
    let in_table = done.stdout.lines().find(|line| line.starts_with("  years ")).expect("a row");
    assert!(in_table.contains("> 100 years"), "{in_table}");
    assert!(done.stdout.contains("lives > 100 years under `block`"), "{}", done.stdout);
    let done = vpass(&lives(&["--years", "0.00001"]));
    assert!(
        done.code == 0
            && done.stdout.contains("> 5.26 min")
            && done.stdout.contains("The oracle checks doses"),
        "{}",
        done.stdout
    );
    let done = vpass(&lives(&["--years", "0.00001", "--oracle", "off"]));
    assert!(
        done.stdout.contains("Reads were simulated in bulk") && !done.stdout.contains("The oracle"),
        "without an oracle: {}",
        done.stdout
    );
}

/// The assumptions about a trace are printed before its life, as before a run.
#[test]
fn a_life_says_what_its_trace_was_taken_for() {
    let room = Room::new();
    let trace = room.file("reads.csv", &msr_reads(&[0, 16384, 0, 32768]));
    let done = ran(&format!("life --drive tiny --trace {trace} --years 0.0000001 --oracle off"));
    assert!(done.code == 0 && done.stderr.contains("reads.csv is read as msr"), "{}", done.stderr);
}

/// Hint file in which the host accepts slow reads of all data.
const IDLE: &str = "[[range]]\noffset = 0\nbytes = \"1GiB\"\naccess_latency = \"idle\"\n";

/// Without reclaim, this drive does not wear. Errors end its life.
#[test]
fn errors_end_a_life() {
    let room = Room::new();
    let drive = room.file("tired.toml", &tired());
    let of = |reclaim: &str, gear: &str| {
        let line = format!(
            "life --drive {drive} --workload hot-cold --set workload.rate=1000 \
            --set workload.read_share=1"
        );
        let fixed = argv(&line);
        let line = format!(
            "--set drive.rated_pec=2 --gear {gear} --reclaim {reclaim} --uber 1e-15 --json"
        );
        let more = argv(&line);
        let done = vpass(&[&fixed[..], &more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.json()
    };
    let ends = |json: &Value| {
        json.pointer("/techniques/0/lives/0/end").and_then(Value::as_str).unwrap().to_owned()
    };
    let (kept, lost) = (of("block", "fluid"), of("none", "fluid"));
    assert_eq!((ends(&kept), ends(&lost)), ("worn_out".into(), "uber".into()));
    assert!(
        number(&kept, "/techniques/0/uber/mean") < 1e-15
            && number(&lost, "/techniques/0/uber/mean") > 1e-15
    );
    let (years, untimed) =
        (|json: &Value| number(json, "/techniques/0/years/mean"), of("none", "untimed"));
    assert!(
        ends(&untimed) == "uber" && (years(&lost) / years(&untimed) - 1.0).abs() < 0.15,
        "{} and {}",
        years(&lost),
        years(&untimed)
    );
}

/// Data with two different hints, side by side in every block of the start-up state.
#[test]
fn regrouping_is_a_cause_of_its_own() {
    let room = Room::new();
    let mixed: String = (0..250)
        .map(|n| IDLE.replace("1GiB", "2MiB").replace("= 0\n", &format!("= \"{}MiB\"\n", 4 * n)))
        .collect();
    let (drive, hints) = (room.file("tired.toml", &tired()), room.file("mixed.toml", &mixed));
    let life = |set: &str, more: &[&str]| {
        let line = format!(
            "life --drive {drive} --workload zipf-read --set workload.rate=10000 \
            --set drive.rated_pec=5"
        );
        let fixed = argv(&line);
        vpass(&[&fixed[..], &["--set", set, "--hints", &hints], more].concat())
    };
    let json = life("hints.regroup=0.4", &["--json"]).json();
    let consumed = json.pointer("/techniques/0/consumed").unwrap();
    let sum: f64 =
        consumed.as_object().unwrap().values().map(|share| share["mean"].as_f64().unwrap()).sum();
    assert!(number(consumed, "/hints/mean") > 0.05 && (sum - 1.0).abs() < 1e-9, "{consumed}");
    assert!(
        json.pointer("/techniques/0/lives/0/oracle_clean") == Some(&Value::Bool(true)),
        "{json}"
    );
    let (with, without) =
        (life("hints.regroup=0.4", &[]).stdout, life("hints.regroup=", &[]).stdout);
    let has_cause = |shown: &str| shown.contains("programmed for hints");
    assert!(has_cause(&with) && !has_cause(&without), "{with}{without}");
}

/// A workload file can have hints for some of its data.
#[test]
fn a_workload_file_may_have_hints_of_its_own() {
    let room = Room::new();
    let (drive, said) = (room.file("tired.toml", &tired()), IDLE.replace("1GiB", "300MiB"));
    let hints = room.file("said.toml", &said);
    let table = "[workload]\nrequests = 20000\nqueue_depth = 1\n";
    let plain = room.file("plain.toml", table);
    let own = room
        .file("own.toml", &format!("{table}\n{}", said.replace("[[range]]", "[[hints.range]]")));
    let in_turn = "[[workload.phase]]\npages = [5, 90]\nrequests = 900\n";
    let phases = room.file(
        "phases.toml",
        &format!("{}{in_turn}", std::fs::read_to_string(&own).unwrap().replace(table, "")),
    );
    let run = |workload: &str, more: &[&str]| {
        let fixed =
            ["run", "--drive", &drive, "--gear", "untimed", "--json", "--workload", workload];
        vpass(&[&fixed[..], more].concat())
    };
    let of = |workload: &str, more: &[&str]| run(workload, more).json()["hints"].clone();
    let beside = of(&plain, &["--hints", &hints]);
    assert!(beside.pointer("/idle/pages").and_then(Value::as_u64) > Some(0), "{beside}");
    assert_eq!(of(&own, &[]), beside);
    assert_eq!(of(&own, &["--set", "workload.requests=20000"]), beside);
    assert_eq!(of(&phases, &[])["idle"]["pages"], beside["idle"]["pages"]);
    assert_eq!((of(&own, &["--hints", "off"]), of(&plain, &[])), (Value::Null, Value::Null));
}

/// Every technique has a rule for reads in bulk, and the list shows this rule.
#[test]
fn every_technique_runs_in_bulk() {
    let list = vpass(&["list", "reclaim", "--json"]).json();
    let said: Vec<(&str, &str)> = list["reclaim"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["in_bulk"].as_str().unwrap()))
        .collect();
    for (reclaim, word) in [
        ("block", "exact"),
        ("chance-probe", "exact"),
        ("straw-ss", "order_drawn"),
        ("ipr", "mean_clock"),
    ] {
        assert!(said.contains(&(reclaim, word)), "{said:?}");
    }
    let run =
        argv("run --drive tiny --workload zipf-read --gear fluid --set workload.rate=1000 --set");
    // `observed-retries` needs a drive with retries.
    for (reclaim, _) in said.iter().filter(|(reclaim, _)| *reclaim != "observed-retries") {
        let done = vpass(
            &[&run[..], &["workload.requests=20000", "--reclaim", reclaim, "--json"]].concat(),
        );
        assert_eq!(
            (done.code, done.json()["gear"].as_str()),
            (0, Some("fluid")),
            "{reclaim}: {}",
            done.stderr
        );
    }
}

/// On a rung, each read counts once before wear is accelerated. Blocks whose reads were not drawn
/// by then would count them many times.
#[test]
fn a_sample_of_reads_alone_serves_its_share() {
    let json = ran("life --drive tiny --workload uniform-read --set workload.rate=20k \
        --set drive.rated_pec=1000 --sample 1/2 --rung 1 --json")
    .json();
    let held = number(&json, "/techniques/0/reads_held");
    assert!((held - 1.0).abs() < 0.01, "{held}");
}

#[test]
fn a_hint_for_half_of_a_drive_is_one_for_half_of_its_sample() {
    let room = Room::new();
    let hints = room
        .file("half.toml", "[[range]]\noffset = '60GB'\nbytes = '60GB'\naccess_latency = 'idle'\n");
    let workload = argv(
        "--workload uniform-read --set workload.queue_depth= --set workload.rate=10 \
        --set workload.requests=1000",
    );
    let line =
        format!("run --drive rlr-rewriter-tlc --gear fluid --sample 1/8 --hints {hints} --json");
    let drive = argv(&line);
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
