//! Tests of flash that fails during a run. Impossible failures are refused, and the results say
//! exactly what happened to the data.

use serde_json::Value;
use vpass_lab::numbers::count;

use crate::common::{argv, one_line, ran, small_run, vpass};

/// Run of two thousand reads and writes on a drive with stripes of three pages and parity. The
/// drive has four dies of two planes, and space to lose half of a die.
const STRIPED: &str = "run --drive tiny --workload random-70-30 --set workload.requests=2000 --set \
    drive.capacity=256MiB --set drive.spare=0.75 \
    --set parity.stripe=3 --set start.overwrite=0.2 --reclaim block --json";

/// Returns the results of this run, and whether the run kept all data.
#[track_caller]
fn striped(more: &str) -> (Value, bool) {
    let line = format!("{STRIPED} {more}");
    let done = ran(&line);
    assert!(matches!(done.code, 0 | 3), "{}", done.stderr);
    (done.json(), done.code == 0)
}

/// Returns the number of rebuilt pages, over all causes of rebuilding.
fn rebuilt(failures: &Value) -> u64 {
    ["background", "reads", "writes"]
        .iter()
        .map(|why| {
            let key = if *why == "background" {
                "rebuilt_in_background_pages".into()
            } else {
                format!("rebuilt_for_{why}_pages")
            };
            failures[key].as_u64().unwrap()
        })
        .sum()
}

/// With parity, all data of a failed plane, block or page is rebuilt. No data is lost, in both
/// gears and for every parity technique.
#[test]
fn what_parity_gives_back_is_rebuilt() {
    for parity in ["raid5", "ppc", "hc"] {
        for (unit, gear, rebuild) in [
            ("plane:3", "timed", 8),
            ("plane:0", "untimed", 16),
            ("block:17", "untimed", 1),
            ("page:777", "timed", 1),
        ] {
            let (json, all_kept) = striped(&format!(
                "--parity {parity} --gear {gear} --fail {unit}@r300 --set parity.rebuild={rebuild}"
            ));
            let failures = &json["failures"];
            let what = format!("{parity} {unit}: {failures}");
            let one = &failures["happened"][0];
            assert_eq!(
                (&one["failure"], &one["request"]),
                (&format!("{unit}@r300").into(), &300.into()),
                "{what}"
            );
            assert_eq!(
                (&failures["lost_pages"], &json["data_lost_pages"], &failures["unmended_pages"]),
                (&0.into(), &0.into(), &0.into()),
                "{what}"
            );
            assert_eq!(
                failures["unprotected_stripes"], 0,
                "the other plane of the die has room: {what}"
            );
            // Data that the host or a newer parity replaces need not be rebuilt.
            let (pages, rebuilt) = (one["pages"].as_u64().unwrap(), rebuilt(failures));
            assert!(
                rebuilt <= pages && rebuilt + 40 > pages && (pages > 0 || unit.starts_with("page")),
                "{what}"
            );
            assert!(
                failures["mended_after_requests"].as_u64().is_some_and(|n| n <= 1700) || pages == 0,
                "{what}"
            );
            assert_eq!(failures["mended_after_s"].is_f64(), gear == "timed" && pages > 0, "{what}");
            assert!(all_kept && json["oracle"]["stamp_errors"] == 0);
        }
    }
}

/// If wear decides which stripes have parity, failed pages of stripes without parity are lost. The
/// text gives their number, and the other pages are rebuilt.
#[test]
fn what_has_no_parity_for_want_of_wear_is_told() {
    for (parity, stage) in [("pe-aware", Value::Null), ("da-raid5", 2.into())] {
        let line = format!(
            "--parity {parity} --refresh none --fail plane:3@r300 --set parity.rebuild=16 \
            --set parity.t_p=10 --set start.pec=10 --set start.worn_share=0.3 \
            --set start.worn_pec=20"
        );
        let (json, all_kept) = striped(&format!("{line} --gear untimed"));
        let failures = &json["failures"];
        let [lost, unprotected, not_worn, waiting, twice] = [
            "lost_pages",
            "lost_unprotected_pages",
            "lost_not_worn_pages",
            "lost_waiting_pages",
            "lost_twice_failed_pages",
        ]
        .map(|key| failures[key].as_u64().unwrap());
        assert!(!all_kept && lost > 100 && json["data_lost_pages"] == lost, "{parity}: {failures}");
        assert_eq!(
            (unprotected, not_worn, waiting, twice),
            (lost, lost, 0, 0),
            "{parity}: {failures}"
        );
        assert_eq!(
            (&failures["unmended_pages"], &failures["unprotected_stripes"]),
            (&0.into(), &0.into()),
            "{parity}"
        );
        assert!(rebuilt(failures) > 100, "{parity}: {failures}");
        assert_eq!(failures["happened"][0]["stage"], stage);
        assert_eq!(json["oracle"]["stamp_errors"], 0);
        let words = STRIPED.replace("--json", "") + " --gear untimed " + &line;
        let report = vpass(&words.split_whitespace().collect::<Vec<_>>()).stdout;
        let said = format!("lost pages of stripes without a worn block {}", count(lost));
        assert!(one_line(&report).contains(&said), "{said}: {report}");
        assert_eq!(one_line(&report).contains("pages stage "), parity == "da-raid5", "{report}");
    }
}

/// One of four dies fails, with stripes of three pages and parity. No data is lost, but every
/// stripe with a page on this die stays without parity. If a second die fails, its data is lost.
#[test]
fn a_second_failure_is_told_apart() {
    let (json, all_kept) = striped("--parity raid5 --fail die:2@r100 --set parity.rebuild=16");
    let one = &json["failures"];
    let held = one["happened"][0]["pages"].as_u64().unwrap();
    assert!(
        all_kept
            && one["lost_pages"] == 0
            && one["unmended_pages"] == 0
            && one["unprotected_stripes"].as_u64() > Some(held / 2),
        "{one}"
    );
    // No page is rebuilt between the two failures.
    let (json, all_kept) = striped(
        "--parity raid5 --fail die:2@r100 --fail block:50@r101 --set parity.rebuild=0 \
        --gear untimed",
    );
    let two = &json["failures"];
    let [_, block] = two["happened"].as_array().unwrap().as_slice() else { panic!("{two}") };
    let (lost, twice) =
        (two["lost_pages"].as_u64().unwrap(), two["lost_twice_failed_pages"].as_u64().unwrap());
    let unprotected = two["lost_unprotected_pages"].as_u64().unwrap();
    assert!(
        !all_kept
            && twice > 0
            && unprotected > 0
            && lost == twice + unprotected
            && lost <= 2 * block["pages"].as_u64().unwrap(),
        "{two}"
    );
}

/// Without parity, exactly the data of the failed part is lost, and the results say so. A failure
/// that is due after the end of the run does not happen.
#[test]
fn without_parity_all_is_lost_that_lay_there() {
    let halved = argv(
        "--set drive.capacity=512MiB --set drive.spare=0.5 --reclaim none \
        --fail die:2@r1000,block:3@r5000",
    );
    let json = small_run(&[&halved[..], &["--json"]].concat()).json();
    let failures = &json["failures"];
    let pages = failures["happened"][0]["pages"].as_u64().unwrap();
    assert!(
        pages == 8_192 && json["data_lost_pages"] == pages && failures["lost_pages"] == pages,
        "{failures}"
    );
    assert_eq!(
        (&failures["lost_twice_failed_pages"], &failures["lost_unprotected_pages"]),
        (&0.into(), &0.into())
    );
    let failed = json["uncorrectable_reads"].as_u64().unwrap();
    assert!((200..300).contains(&failed), "a quarter of 1,000 reads: {failed}");
    assert_eq!(failures["to_come"], serde_json::json!(["block:3@r5000"]));
    let report = small_run(&halved).stdout;
    for words in ["die:2@r1000 1,000 ", "before the end block:3@r5000", "lost pages 8,192"] {
        assert!(one_line(&report).contains(words), "{words}: {report}");
    }
    let clean = small_run(&["--json"]).json();
    assert!(clean.get("failures").is_none());
}

/// A lack of space stops the run with an error, but only after the failure.
#[test]
fn a_drive_without_room_for_its_data_stops() {
    let too_full = "--fail plane:2@r1000 --set drive.capacity=600MiB --set drive.spare=0.35 \
        --parity raid5 --set parity.stripe=3";
    for too_full in ["--fail die:2@r1000", too_full] {
        let stopped = small_run(&too_full.split(' ').collect::<Vec<_>>());
        stopped
            .refuses(1, &["2@r1000: the drive stopped", "blocks left", "increase `drive.spare`"]);
    }
}

#[test]
fn all_of_a_comparison_fail_alike() {
    let line = "compare --drive tiny --workload random-70-30 --set workload.requests=1500 --set \
        drive.capacity=256MiB --set drive.spare=0.75 --set parity.stripe=3 \
        --reclaim block --parity none,raid5,ppc,pe-aware --fail plane:1@r200 --set \
        parity.rebuild=16 --gear untimed --json";
    let json = ran(line).json();
    let lost: Vec<u64> = json["techniques"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["runs"][0]["failures"]["lost_pages"].as_u64().unwrap())
        .collect();
    assert!(lost[0] > 1000 && lost[1..3] == [0, 0] && lost[3] > 1000, "no block is worn: {lost:?}");
}

/// If data ages, data on failed flash counts neither as lost by reads nor as lost by age.
#[test]
fn failures_are_a_cause_of_their_own() {
    let failing = argv(
        "--set drive.capacity=512MiB --set drive.spare=0.5 --reclaim none --refresh block \
        --fail die:2@r1000",
    );
    let json = small_run(&[&failing[..], &["--json"]].concat()).json();
    let lost = &json["failures"]["lost_pages"];
    assert!(*lost == 8_192 && json["data_lost_pages"] == *lost, "{json}");
    assert_eq!(
        json["losses"],
        serde_json::json!({"by_reads": 0, "by_age": 0, "by_failures": lost})
    );
    assert!(one_line(&small_run(&failing).stdout).contains("Losses by failures 8,192"));
    assert!(
        small_run(&["--refresh", "block", "--json"]).json()["losses"].get("by_failures").is_none()
    );
}
