//! Tests of messages about drives with parity: too little space, different reliability, blocks that
//! are not recycled, and drives that stop.

use serde_json::Value;

use crate::common::{Done, ran};

#[track_caller]
fn json(line: &str) -> Value {
    let done = ran(&format!("{line} --json"));
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    done.json()
}

/// Returns the warnings of results, or of one row of results, one per line.
fn warnings(of: &Value) -> String {
    of["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sentence| sentence.as_str().unwrap().to_owned() + "\n")
        .collect()
}

/// Rows without space for their parity are refused. If the row fits the drive at all, the message
/// names two keys with which every row fits. With one more page, some rows do not fit.
#[test]
fn the_capacity_that_is_named_fits_all_rows() {
    let line = "compare --drive tiny --workload zipf-read --parity none,raid5,pe-aware --set \
        parity.stripe=3 --set workload.requests=200 --gear untimed --csv";
    let refused = ran(line);
    let lacks = |done: &Done| {
        let all = [
            "parity technique `pe-aware`",
            "refused: ",
            " rows of the comparison is ",
            "set both keys, and remove drive.spare",
        ];
        assert!(
            done.code == 0 && all.iter().all(|words| done.stderr.contains(words)),
            "{}",
            done.stderr
        );
        assert!(done.stdout.lines().all(|line| !line.contains("pe-aware,")), "{}", done.stdout);
    };
    lacks(&refused);
    let key = |name: &str| -> u64 {
        let word = refused
            .stderr
            .split([' ', ';'])
            .find_map(|word| word.strip_prefix(name))
            .expect("it is there");
        word.parse().expect("a number")
    };
    let (capacity, blocks) = (key("drive.capacity="), key("geometry.blocks_per_plane="));
    let with = |capacity: u64| {
        ran(&format!(
            "{line} --set drive.capacity={capacity} --set geometry.blocks_per_plane={blocks}"
        ))
    };
    let done = with(capacity);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let left_out: Vec<&str> =
        done.stderr.lines().filter(|line| line.contains("left out")).collect();
    assert!(
        matches!(left_out[..], [one] if one.contains("`observed-retries`")),
        "once, and not for lack of space: {left_out:?}"
    );
    let rows = |technique: &str| {
        done.stdout.lines().filter(|line| line.starts_with(&format!("{technique},"))).count()
    };
    assert_eq!(
        ["block", "redftl", "read-leveling", "hotld", "ipr", "ipr-wl"].map(rows),
        [3; 6],
        "{}",
        done.stdout
    );
    let larger = with(capacity + 16384);
    assert!(
        larger.code == 0 && larger.stderr.contains("rows of the comparison is "),
        "{}",
        larger.stderr
    );
    let fewer = larger.stdout.lines().count();
    assert!(fewer < done.stdout.lines().count() && fewer > 1, "{}", larger.stdout);
    let alone = ran("run --drive tiny --workload zipf-read --parity raid5 --set parity.stripe=3");
    alone.refuses(
        2,
        &[
            "the largest capacity that fits on this flash is drive.capacity=",
            "set both keys, and remove drive.spare",
        ],
    );
    assert!(!alone.stderr.contains("compar"), "{}", alone.stderr);
}

#[test]
fn what_would_be_right_is_possible() {
    let two_dies =
        "run --drive tiny --workload zipf-read --parity raid5 --set geometry.dies_per_channel=1";
    ran(two_dies).refuses(
        2,
        &["the drive has 2: the shortest stripe, parity.stripe=2, needs 3 dies; use more \
            dies"],
    );
    let hc = "run --drive tiny --workload zipf-read --set workload.requests=100 --set \
        parity.stripe=3 --set drive.capacity=256MiB --set drive.spare=0.75 --parity hc";
    for published in [0, 1] {
        let line = format!("{hc} --set parity.hc.published={published}");
        ran(&format!("{line} --set parity.hc.n_update=4")).refuses(
            2,
            &["parity.hc.n_update = 4 is above the 3 pages of a stripe; n_update must be at most \
                3, and n_update = 3 always updates partial parity in place"],
        );
        for right in ["", "--set parity.hc.n_update=3"] {
            assert_eq!(
                ran(&format!("{line} {right}")).code,
                0,
                "{right}: the default is not an error"
            );
        }
    }
}

/// If blocks are left to parity, no rewrite follows and no guarantee ends. If blocks are recycled,
/// both happen.
#[test]
fn nothing_is_said_to_come_for_blocks_that_are_left_to_parity() {
    let line = "run --drive tiny --workload zipf-read --set workload.requests=20000 --set \
        workload.rate=30000 --set parity.stripe=3 --set drive.capacity=256MiB \
        --set drive.spare=0.75 --set start.pec=10 --set start.overwrite=0.2 --parity da-raid5 \
        --reclaim block --refresh block --set refresh.period=30d";
    let to_come =
        ["of the reads at which `block` rewrites this block", "block allows data to be at most"];
    let young = json(&format!("{line} --set parity.t_p=1000"));
    for words in to_come {
        assert!(warnings(&young).contains(words), "{words}: {}", warnings(&young));
    }
    assert_eq!(young["parity"]["by_wear"]["life"]["left_to_parity_blocks"], 0);
    // All blocks are worn. In the last stage, no block is recycled.
    for (l, stage) in [(1_000_000, 2), (100, 3)] {
        let worn = json(&format!("{line} --set parity.t_p=0 --set parity.l={l}"));
        let stages = &worn["parity"]["by_wear"]["life"];
        assert!(
            stages["stage"] == stage && stages["left_to_parity_blocks"].as_u64() > Some(300),
            "all of them: {stages}"
        );
        for words in to_come {
            assert!(!warnings(&worn).contains(words), "{words}: {}", warnings(&worn));
        }
    }
}

/// The guarantee of `block` ends above `T_p`, where da-raid5 leaves blocks to parity. With
/// `pe-aware`, no block is left to parity.
#[test]
fn no_promise_ends_where_none_is_made() {
    let line = format!(
        "run {OF_A_CODE} --set workload.rate=60 --reclaim block --refresh block \
        --set refresh.period=330d"
    );
    let worn = "--set start.worn_share=0.3 --set start.worn_pec=15002";
    assert!(
        !warnings(&json(&format!("{line} {worn} --parity da-raid5"))).contains("may lose data")
    );
    let promised = ran(&format!("{line} {worn} --parity pe-aware"));
    promised.refuses(2, &["`block` would lose data. At 15001 P/E cycles,"]);
}

/// Small version of the preset drive with its code, and a few hundred requests.
const OF_A_CODE: &str = "--drive da-raid5-mlc --workload da-raid5-tpcc --set \
    geometry.blocks_per_plane=64 --set drive.spare=0.4 --set workload.requests=500";

#[test]
fn rows_of_unequal_reliability_say_so() {
    let unequal = "The compared rows are not equally reliable: UBER counts single pages, and ";
    let before_repair = "UBER counts single pages before repair";
    let of = |parities: &str| {
        json(&format!("compare {OF_A_CODE} --reclaim block --parity {parities} --seeds 1"))
    };
    let rows = of("none,udl,raid5");
    for row in rows["techniques"].as_array().unwrap() {
        assert!(row["columns"]["uber"]["mean"].as_f64() > Some(0.0), "{row}");
        assert!(warnings(row).contains(&format!(
            "{unequal}`raid5` rebuilds some of the pages that UBER counts as lost, but `none`, \
             `udl` cannot rebuild any of these pages."
        )));
        assert_eq!(
            warnings(row).contains(before_repair),
            row["parity"] == "raid5",
            "{}",
            warnings(row)
        );
    }
    assert_eq!(rows["winners"]["uber"], serde_json::json!([]));
    let words = ran(&format!("compare {OF_A_CODE} --reclaim block --parity none,raid5")).stdout;
    assert!(words.contains(&format!("all: {}", &unequal[..50])), "{words}");
    for equal in ["none,udl", "raid5", "none,raid5 --set bch.target=stripe"] {
        let rows = of(equal);
        assert!(
            rows["techniques"]
                .as_array()
                .unwrap()
                .iter()
                .all(|row| !warnings(row).contains("unequal")),
            "{equal}"
        );
    }
    let run = json(&format!("run {OF_A_CODE} --reclaim block --parity raid5"));
    assert!(warnings(&run).contains(before_repair), "{}", warnings(&run));
}

/// Drive with four dies, and stripes of three pages and parity.
const STRIPED: &str = "--drive tiny --workload random-70-30 --set workload.requests=2000 --set \
    drive.capacity=256MiB --set drive.spare=0.75 --set start.overwrite=0.2 \
    --reclaim block --gear untimed --set parity.rebuild=16";

/// A second die fails on a drive that has one die more than a stripe has pages. More spare area
/// does not help, but a shorter stripe does. Techniques that can continue have their rows.
#[test]
fn a_drive_that_stops_leaves_the_others_their_rows() {
    let failing = format!("{STRIPED} --fail die:2@r100,die:1@r1500");
    let stopped = ran(&format!("run {failing} --set parity.stripe=3 --parity raid5"));
    stopped.refuses(
        1,
        &[
            "die:1@r1500: the drive stopped",
            "2 of 4 dies are left; set parity.stripe=2 or less, or use a drive with more dies",
        ],
    );
    assert!(!stopped.stderr.contains("spare"), "{}", stopped.stderr);
    json(&format!("run {failing} --set parity.stripe=2 --parity raid5"));

    let line =
        format!("compare {failing} --set parity.stripe=3 --parity raid5,none,udl --refresh none");
    let done = ran(&format!("{line} --json"));
    assert_eq!(done.code, 1, "{}", done.stderr);
    assert!(
        done.stderr.contains("under block + raid5: die:1@r1500: the drive stopped"),
        "{}",
        done.stderr
    );
    let found = done.json();
    let names = |key: &str| {
        found[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["parity"].as_str().unwrap_or("none"))
            .collect::<Vec<_>>()
    };
    assert_eq!((names("techniques"), names("stopped")), (vec!["none", "udl"], vec!["raid5"]));
    assert!(found["stopped"][0]["why"].as_str().unwrap().contains("parity.stripe=2 or less"));
    assert!(found["techniques"][0]["runs"][0]["failures"]["lost_pages"].as_u64() > Some(8000));
    let words = ran(&line).stdout;
    for said in [
        "block + raid5: stopped without results:",
        "block + none: failures lost ",
        "injected into every drive: die:2@r100, die:1@r1500",
    ] {
        assert!(words.contains(said), "{said} in\n{words}");
    }
    ran(&format!("compare {failing} --set parity.stripe=3 --parity raid5"))
        .refuses(1, &["the drive stopped"]);
}

#[test]
fn reports_in_words_have_wear_by_die_windows_and_rebuilds() {
    let line = format!("{STRIPED} --set parity.stripe=3");
    let timed = line.replace("untimed", "timed");
    let worn = "--set drive.capacity=512MiB --set drive.spare=0.45 --set start.overwrite=1";
    let words = ran(&format!("run {timed} {worn} --parity ppc")).stdout;
    for said in ["P/E cycles mean by die", "Delayed\n", "Cost of a power loss\n"] {
        assert!(words.contains(said), "{said} in\n{words}");
    }
    let words = ran(&format!(
        "run {line} --parity raid5 --fail die:2@r100,block:50@r101 --set parity.rebuild=0"
    ))
    .stdout;
    assert!(words.contains("lost pages without parity in place"), "{words}");
    let half = format!("run {line} --parity raid5 --fail die:2@r100 --set parity.rebuild=0.5");
    let words = ran(&half).stdout;
    assert!(words.contains("No data was lost so far, but the rebuild is not done: "), "{words}");
    assert!(warnings(&json(&half)).contains("describe a drive under rebuild"));
    let words = ran(&format!("compare {line} --parity raid5 --fail die:2@r100 --seeds 1")).stdout;
    assert!(
        words.contains("untimed gear, parity raid5, seed 1")
            && words.contains("block: failures lost 0 pages; "),
        "{words}"
    );
    let lived = "life --drive tiny --workload random-70-30 --set workload.rate=1000 --years 0.0001 \
        --gear untimed --parity raid5";
    let words = ran(&format!(
        "{lived} --set parity.stripe=3 --set drive.capacity=256MiB --set drive.spare=0.75"
    ))
    .stdout;
    assert!(words.contains(", parity raid5, the whole drive"), "{words}");
}
