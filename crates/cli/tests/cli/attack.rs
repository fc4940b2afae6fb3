//! Tests of `vpass attack` and of the phase workloads that it makes.

use serde_json::Value;

use crate::common::{Done, Room, argv, tired, vpass};

const AGED: &[&str] = &["--drive", "tiny", "--set", "start.pec=2000", "--gear", "untimed"];

fn attack(name: &str, reclaim: &str, more: &[&str]) -> Done {
    vpass(&[&["attack", name, "--reclaim", reclaim], AGED, more].concat())
}

/// Returns the results of the drive in a summary: requests, operations, wear and losses.
fn facts(json: &Value) -> Vec<Value> {
    ["host", "flash", "reclaim", "wear", "oracle", "data_lost_pages", "uncorrectable_reads"]
        .map(|key| json[key].clone())
        .to_vec()
}

#[test]
fn an_unprotected_drive_loses_what_is_hammered_and_a_protected_one_does_not() {
    let lost = attack("hammer", "none", &["--json"]);
    assert_eq!(lost.code, 3, "{}", lost.stderr);
    // Each of 64 blocks loses the three pages of one wordline.
    assert_eq!(lost.json()["data_lost_pages"], 192);
    for name in ["hammer", "defeat-counters", "below-interval", "charge-and-burst", "weak-spot"] {
        for reclaim in ["block", "straw-wl"] {
            let kept = attack(name, reclaim, &["--json"]);
            assert_eq!(kept.code, 0, "{name} {reclaim}: {}", kept.stderr);
            let json = kept.json();
            assert!(json["reclaim"]["pages_copied"].as_u64() > Some(0), "{name} {reclaim}");
        }
    }
}

/// Without parity, an attack loses data. With parity, some of this data is rebuilt, and the replay
/// command names the parity technique.
#[test]
fn parity_repairs_what_an_attack_spoils() {
    let room = Room::new();
    let place = room.path("hammer.toml");
    let sets =
        ["--set", "drive.capacity=512MiB", "--set", "drive.spare=0.5", "--set", "parity.stripe=3"];
    let lost =
        |more: &[&str]| attack("hammer", "none", &[&sets[..], more, &["--json"]].concat()).json();
    let (without, with) =
        (lost(&[]), lost(&["--parity", "ppc", "--write", place.to_str().unwrap()]));
    assert!(
        without["data_lost_pages"].as_u64() > with["data_lost_pages"].as_u64(),
        "{} {}",
        without["data_lost_pages"],
        with["data_lost_pages"]
    );
    assert!(
        with["parity"]["rebuilt_pages"].as_u64() > Some(0) && with["parity_technique"] == "ppc"
    );
    assert!(std::fs::read_to_string(place).unwrap().contains(" --parity ppc "));
}

/// Hints allow slow reads. An attack on such a drive causes retries, but the oracle finds no error
/// and no data is lost.
#[test]
fn hints_lose_nothing_under_attack() {
    let room = Room::new();
    let hints = room.file(
        "hints.toml",
        "[[range]]\noffset = 0\nbytes = \"400MiB\"\naccess_latency = \"idle\"\n[[range]]\noffset \
         = \"600MiB\"\nbytes = \"100MiB\"\naccess_latency = \"typical\"\n",
    );
    let drive = room.file("tired.toml", &tired());
    for name in
        ["hammer", "defeat-counters", "below-interval", "charge-and-burst", "weak-spot", "adaptive"]
    {
        for reclaim in ["block", "straw-wl"] {
            let line = format!(
                "attack {name} --drive {drive} --gear untimed --reclaim {reclaim} --hints {hints} \
                --json"
            );
            let args = argv(&line);
            let done = vpass(&args);
            assert_eq!(done.code, 0, "{name} {reclaim}: {}{}", done.stdout, done.stderr);
            assert!(done.json()["hints"]["idle"]["pages"].as_u64() > Some(0));
        }
    }
}

/// The drive drains between the bursts of the adaptive attack, and the summary says so. A file
/// cannot replay these requests, because they depend on the state of the drive.
#[test]
fn an_adaptive_attack_finds_its_way_by_itself() {
    let done = attack("adaptive", "none", &["--requests", "5000", "--json"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let again = attack("adaptive", "none", &["--requests", "5000", "--json"]);
    assert_eq!(facts(&again.json()), facts(&done.json()));
    let host = &done.json()["host"];
    let served = ["read_requests", "write_requests", "trim_requests"]
        .map(|key| host[key].as_u64().unwrap())
        .iter()
        .sum::<u64>();
    assert_eq!(served, 5000);
    let words = attack("adaptive", "straw-wl", &["--requests", "5000"]);
    assert_eq!(words.code, 0, "{}", words.stderr);
    assert!(
        words.stdout.contains("between two bursts, when no request is outstanding"),
        "{}",
        words.stdout
    );
    assert!(vpass(&["list", "attacks"]).stdout.contains("adaptive"));
}

#[test]
fn a_written_attack_is_replayed_with_the_same_result() {
    let room = Room::new();
    let file = room.text("hammer.toml");
    let aged = argv("--drive tiny --set start.pec=2000 --set start.overwrite=0.5 --seed 7 --json");
    let done = vpass(
        &[
            &["attack", "hammer", "--reclaim", "none", "--requests", "60000", "--write", &file],
            &aged[..],
        ]
        .concat(),
    );
    assert_eq!(done.code, 3, "{}", done.stderr);
    let replayed = vpass(&[&["run", "--reclaim", "none", "--workload", &file], &aged[..]].concat());
    assert_eq!((replayed.code, facts(&replayed.json())), (3, facts(&done.json())));
    assert_eq!(replayed.json()["host"]["read_requests"], 60_000);
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.contains(
            "# vpass run --drive tiny --reclaim none --gc greedy --gear timed --seed \
        7 --set 'start.pec=2000'"
        ),
        "{text}"
    );
    let again = ["attack", "hammer", "--drive", "tiny", "--write", &file];
    vpass(&again).refuses(2, &["hammer.toml exists; --force replaces it"]);
}

#[test]
fn copies_are_blamed_on_the_ranges_whose_reads_caused_them() {
    let json = attack("hammer", "block", &["--json"]).json();
    let blame = json["reclaim"]["blame"].as_array().unwrap();
    let copies: Vec<f64> = blame.iter().map(|b| b["copies"].as_f64().unwrap()).collect();
    let sum: f64 = copies.iter().sum();
    assert!((sum - json["reclaim"]["pages_copied"].as_f64().unwrap()).abs() < 0.1, "{sum}");
    assert!(copies.is_sorted_by(|a, b| a >= b) && blame[0]["bytes"] == 1 << 24);
    assert!(
        attack("hammer", "block", &[])
            .stdout
            .contains("Address ranges whose reads caused most copies\n")
    );
    assert_eq!(
        attack("hammer", "none", &["--json"]).json()["reclaim"]["blame"],
        Value::Array(vec![])
    );
}

/// With `--rate`, every attack runs through whole refresh periods in both gears, also the adaptive
/// attack. Without `--rate`, no time passes.
#[test]
fn an_attack_on_a_drive_that_refreshes_has_a_clock() {
    let in_gear = |name: &str, gear: &str, more: &[&str]| {
        let ages = argv(
            "--set start.pec=2000 --set refresh.period=2min --set start.age=2min --requests 20000 \
            --json",
        );
        vpass(
            &[
                &["attack", name, "--drive", "tiny", "--reclaim", "straw-wl", "--gear", gear],
                &ages[..],
                more,
            ]
            .concat(),
        )
    };
    for (name, refresh, gear) in [
        ("hammer", "ida", "untimed"),
        ("adaptive", "ida", "untimed"),
        ("weak-spot", "block", "untimed"),
        ("hammer", "ida", "timed"),
    ] {
        let done = in_gear(name, gear, &["--refresh", refresh, "--rate", "100"]);
        assert_eq!(done.code, 0, "{name} {refresh}: {}", done.stderr);
        let json = done.json();
        assert!(
            json["refresh"]["invocations"].as_u64() > Some(10)
                && json["oracle"]["findings"] == Value::Array(vec![]),
            "{name}: {json}"
        );
    }
}

#[test]
fn phases_are_run_in_order_and_what_is_wrong_with_them_is_said() {
    let room = Room::new();
    let run = |table: &str, more: &[&str]| {
        let file =
            room.file("phases.toml", &format!("description = 'by hand'\n[workload]\n{table}"));
        vpass(&[&["run", "--drive", "tiny", "--workload", &file, "--json"], more].concat())
    };
    let table = "requests = 70\n[[workload.phase]]\npages = [5]\nrequests = \
        20\n[[workload.phase]]\nranges = [[0, 9]]\nop = 'write'\nrequests = 15\n";
    let json = run(table, &[]).json();
    // The phases make 20 reads, 15 writes, 20 reads and 15 writes.
    assert_eq!(
        (&json["host"]["read_pages"], &json["host"]["write_pages"]),
        (&40.into(), &30.into())
    );
    assert_eq!(json["workload_source"], "generated in phases");
    assert_eq!(run(table, &["--set", "workload.requests=36"]).json()["host"]["read_requests"], 21);
}
