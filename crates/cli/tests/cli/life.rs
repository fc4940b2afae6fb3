//! Tests of the projected life of a drive, and of the messages if the life is unknown.

use serde_json::Value;

use crate::common::{Done, Room, argv, number, small_run, vpass};

/// Runs two dies of straw-2t-tlc with 40 blocks each, which are 7 GiB. The run is untimed, with
/// skewed reads at 20,000 per second.
fn worn_by_reads(room: &Room, more: &[&str]) -> Value {
    let text = "[workload]\nread_share = 1.0\nblock_size = '4KiB'\nrate = 20000\ndistribution = \
        'zipf:0.99'\n";
    let workload = room.file("reads.toml", text);
    let line = format!(
        "run --drive straw-2t-tlc --workload {workload} --gear untimed --oracle off --json"
    );
    let args = argv(&line);
    let cut = argv(
        "--set geometry.channels=1 --set geometry.dies_per_channel=2 \
        --set geometry.planes_per_die=1 --set geometry.blocks_per_plane=40 \
        --set drive.capacity=7GiB",
    );
    vpass(&[&args[..], &cut, more].concat()).json()
}

#[test]
fn the_life_of_a_new_drive_is_that_of_all_its_ages() {
    let room = Room::new();
    // The sum takes each third of the life at the rate of the P/E cycles in the middle of this
    // third.
    let cycles_per_day = |pec: u32| {
        let json = worn_by_reads(
            &room,
            &["--set", &format!("start.pec={pec}"), "--set", "workload.requests=5e7"],
        );
        let days = number(&json, "/simulation/simulated_s") / 86_400.0;
        (number(&json, "/wear/pec_mean") - f64::from(pec)) / days
    };
    let by_ages: f64 = [500, 1500, 2500].iter().map(|pec| 1000.0 / cycles_per_day(*pec)).sum();
    let new = worn_by_reads(&room, &["--set", "start.pec=0", "--set", "workload.requests=5e7"]);
    let life = number(&new, "/wear/projected_life_days");
    assert!((life / by_ages - 1.0).abs() < 0.1, "{life} days from 0 cycles, {by_ages} by all ages");
    // At the rate of the new drive, the life would be half as long again.
    let kept_up = 3000.0 / number(&new, "/wear/pec_mean") * number(&new, "/simulation/simulated_s")
        / 86_400.0;
    assert!(kept_up > 1.4 * by_ages, "{kept_up} {by_ages}");
    assert!(
        number(&new, "/wear/life_low_days") < life && life < number(&new, "/wear/life_high_days")
    );
    assert!(new["wear"]["life_method"].as_str().unwrap().contains("thresholds"));
}

#[test]
fn runs_at_several_ages_give_one_life() {
    let room = Room::new();
    let new = ["--set", "start.pec=0", "--set", "workload.requests=2e7"];
    let alone = worn_by_reads(&room, &new);
    let joined = worn_by_reads(&room, &[&new[..], &["--ages", "2000,1000"]].concat());
    let ages: Vec<_> = joined["wear"]["ages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|age| age["start_pec"].as_u64().unwrap())
        .collect();
    assert_eq!(ages, [0, 1000, 2000]);
    let rate = |age: usize| number(&joined, &format!("/wear/ages/{age}/pec_per_day"));
    assert!(rate(0) < rate(1) && rate(1) < rate(2));
    let (one, all) =
        (number(&alone, "/wear/projected_life_days"), number(&joined, "/wear/projected_life_days"));
    assert!((all / one - 1.0).abs() < 0.1, "{all} {one}");
    assert_eq!(joined["flash"], alone["flash"], "all else is of the drive itself");
    // In a closed loop, wear per day has no meaning at any age.
    let closed = small_drive("2e5", &["--ages", "1000", "--json"]).json();
    for age in 0..2 {
        assert!(closed["wear"]["ages"][age]["pec_per_day"].is_null(), "{closed}");
        assert!(number(&closed, &format!("/wear/ages/{age}/pec_per_tb_read")) > 0.0);
    }
}

fn small_drive(requests: &str, more: &[&str]) -> Done {
    let requests = format!("workload.requests={requests}");
    vpass(
        &[
            &[
                "run",
                "--drive",
                "tiny",
                "--workload",
                "uniform-read",
                "--set",
                &requests,
                "--set",
                "workload.footprint=0.01",
            ],
            more,
        ]
        .concat(),
    )
}

#[test]
fn few_cycles_are_a_range_fewer_a_request_for_more_and_none_no_wear() {
    // Four blocks are read. Each is read 4,096 times between two rewrites.
    let range = small_drive("1e5", &[]);
    assert!(
        range.stdout.contains("This run is too short to project the drive's life: only "),
        "{}",
        range.stdout
    );
    assert!(
        range.stdout.contains(
            " block cycles were seen. `vpass life` simulates a life if workload.rate is set."
        ),
        "{}",
        range.stdout
    );
    let json = small_drive("1e5", &["--json"]).json();
    assert!(number(&json, "/reclaim/invocations") > 0.0);
    assert!(!json["warnings"].to_string().contains("No block was rewritten because of reads yet"));
    assert!(
        json["wear"]["read_bytes_until_worn"].is_null()
            && json["wear"]["life_unit"] == "read_bytes"
    );
    assert!(
        number(&json, "/wear/read_bytes_until_worn_low")
            < number(&json, "/wear/read_bytes_until_worn_high")
    );
    assert!(
        ["life_low_days", "life_high_days", "projected_life_days"]
            .iter()
            .all(|key| json["wear"][key].is_null()),
        "no request has a time"
    );
    assert!((3.0..30.0).contains(&number(&json, "/wear/cycles_observed")));
    // Reclaim of single wordlines fills two blocks. The run has 2 cycles in 200,000 requests, and
    // would have 30 in 3 million requests.
    let few = small_drive("2e5", &["--reclaim", "straw-ss-sound"]);
    assert!(
        few.stdout.contains(
            "There were too few erases to project the drive's life (2.00 block cycles): run at \
             least 3,000,000 requests, perhaps more."
        ),
        "{}",
        few.stdout
    );
    let none = small_drive("1e3", &[]);
    let words = "No wear was seen: nothing was programmed or erased. The run is too short to \
        project the drive's life: run at least ";
    assert!(none.stdout.contains(words), "{}", none.stdout);
    let json = small_drive("1e4", &["--json"]).json();
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.contains("of the reads at which `block` rewrites this block"), "{warning}");
}

/// Under uniform writes, a drive settles within a few turnovers of its blocks. The first two
/// turnovers take 300,000 pages.
#[test]
fn a_life_is_projected_once_rates_and_state_have_settled() {
    let run = |requests: &str, more: &[&str]| {
        let requests = format!("workload.requests={requests}");
        let args = argv("run --drive tiny --workload random-70-30 --gear untimed --oracle off");
        let line = format!(
            "--set workload.read_share=0 --set workload.block_size=16KiB --set start.overwrite=1 \
            --set {requests}"
        );
        let set = argv(&line);
        vpass(&[&args[..], &set, more].concat())
    };
    let (short, long) = (run("6000", &["--json"]).json(), run("600000", &["--json"]).json());
    assert_eq!(
        (&short["wear"]["life_settled"], &long["wear"]["life_settled"]),
        (&false.into(), &true.into())
    );
    assert!(
        number(&short, "/wear/host_bytes_until_worn") > 0.0,
        "the JSON has the number all the same"
    );
    let (short, long) = (run("6000", &[]).stdout, run("600000", &[]).stdout);
    assert!(
        short.contains(
            "the rates of the run have not settled, or the drive's start-up state still has an \
             effect. `vpass life` simulates a life if workload.rate is set"
        ),
        "{short}"
    );
    assert!(!short.contains(" TBW"), "{short}");
    assert!(
        long.contains(
            "Estimate, projected from the run: the drive would reach its rated 3,000 \
        P/E cycles after "
        ),
        "{long}"
    );
}

#[test]
fn pages_wear_a_drive_that_has_erased_nothing_yet() {
    let args = argv(
        "run --drive tiny --workload random-70-30 --gear untimed --set workload.read_share=0 \
        --json",
    );
    let json = vpass(
        &[&args[..], &["--set", "workload.block_size=16KiB", "--set", "workload.requests=9600"]]
            .concat(),
    )
    .json();
    let erases: u64 =
        json["flash"]["erases"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    // 9,600 pages fill 50 blocks. Pages in the buffer are not programmed, and neither are pages
    // that were overwritten there.
    assert!(
        erases < 10 && (49.0..=50.0).contains(&number(&json, "/wear/cycles_observed")),
        "{erases} {}",
        json["wear"]
    );
    let warning = json["warnings"][0].as_str().unwrap();
    assert!(warning.contains("blocks but erased only"), "{warning}");
}

#[test]
fn a_drive_that_cannot_keep_up_says_so() {
    let room = Room::new();
    let run = |rate: &str, more: &[&str]| {
        let text = format!(
            "[workload]\nrequests = 50000\nread_share = 1.0\nblock_size = '16KiB'\nrate = {rate}\n"
        );
        let workload = room.file("rated.toml", &text);
        vpass(&[&["run", "--drive", "tiny", "--workload", &workload], more].concat())
    };
    let json = run("1000000", &["--json"]).json();
    assert!((number(&json, "/throughput/offered_iops") / 1e6 - 1.0).abs() < 0.02);
    let (lag, done) =
        (number(&json, "/throughput/backlog_s"), number(&json, "/simulation/simulated_s"));
    // 50,000 requests arrive in 0.05 s. The two channels take 16.4 us per page, which is 0.41 s in
    // all. Sometimes they wait for dies.
    assert!((0.36..0.45).contains(&lag) && (done - lag - 0.05).abs() < 0.001, "{lag} {done}");
    assert!(json["warnings"][0].as_str().unwrap().contains("could not keep up: "));
    let words = run("1000000", &[]).stdout;
    for word in ["Latency\n", "Warnings", "The drive could not keep up with the requests."] {
        assert!(words.contains(word), "{word} in\n{words}");
    }
    let idle = run("10000", &["--json"]).json();
    assert!(
        number(&idle, "/throughput/backlog_s") < 0.001
            && idle["warnings"]
                .as_array()
                .unwrap()
                .iter()
                .all(|w| !w.as_str().unwrap().contains("keep up"))
    );
    let closed = small_run(&["--json"]).json();
    assert!(
        closed["throughput"]["backlog_s"].is_null()
            && closed["throughput"]["offered_iops"].is_null()
    );
}
