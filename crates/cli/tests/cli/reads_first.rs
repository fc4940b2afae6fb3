//! Tests of reads first, parity second: limits that parity raises, expected numbers, and settings
//! that exclude this mode.

use serde_json::Value;

use crate::common::{argv, one_line, vpass};

/// Run of half a million page reads on nine dies of 40 blocks. Only a few of the reads are of cold
/// data.
const RUN: &str = "run --drive da-raid5-mlc --workload da-raid5-websearch --gear untimed --set \
    geometry.blocks_per_plane=40 --set drive.spare=0.35 \
    --set workload.requests=300000 --set bch.target=stripe --reclaim block";

#[track_caller]
fn ran(more: &str) -> crate::common::Done {
    let line = format!("{RUN} {more}");
    let done = vpass(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(done.code, 0, "{}", done.stderr);
    done
}

fn number(json: &Value, path: &str) -> f64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is not in {json}"))
}

#[test]
fn parity_that_is_always_there_spares_rewrites_and_says_what_is_expected() {
    let [alone, late, raised] = ["none", "ppc", "raid5"]
        .map(|parity| ran(&format!("--parity {parity} --oracle full --json")).json());
    for json in [&alone, &late] {
        assert!(json.pointer("/parity/reads_first").is_none(), "{json}");
        assert!(number(json, "/flash/programs/reclaim") > 0.0, "held to a page's limit");
    }
    let of = |key: &str| number(&raised, &format!("/parity/reads_first/{key}"));
    assert!(
        number(&raised, "/flash/programs/reclaim") <= 0.0,
        "the hottest block stays below its stripe's limit"
    );
    assert!((of("raised") - 3.4684).abs() < 1e-3);
    let reads: f64 =
        raised["flash"]["reads"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
    assert!((of("reads") - reads).abs() < 0.5, "all reads of flash count");
    let (expected, at_most, alone, target) = (
        of("expected_uber"),
        of("expected_uber_at_most"),
        of("expected_uber_without_parity"),
        of("uber_target"),
    );
    assert!(
        expected > 0.0 && expected < at_most && at_most < target && at_most < alone,
        "{expected} {at_most} {alone} {target}"
    );
    assert!(of("expected_failed_reads") > 0.0 && of("expected_failed_reads") < 1.0);
    let words = ran("--parity raid5").stdout;
    assert!(
        one_line(&words).contains("raised by the factor 3.47 UBER target 1.00e-15 "),
        "{words}"
    );
}

#[test]
fn what_does_not_go_with_raised_limits_is_refused() {
    let refused = |line: &str, words: &[&str]| {
        vpass(&line.split_whitespace().collect::<Vec<_>>()).refuses(2, words)
    };
    refused(
        &format!("{RUN} --parity raid5 --fail die:1@r50"),
        &["--fail", "bch.target = \"stripe\"", "--set bch.target=uber"],
    );
    let hard = "run --drive tiny --workload uniform-read --set bch.target=stripe";
    refused(
        hard,
        &[
            "with other models",
            "a raised limit would seem to cost nothing",
            "needs error.model = \"bch\"",
        ],
    );
    refused(
        &format!("{RUN} --set bch.combine=sum --set error.noise=true"),
        &["error.noise = true", "set error.noise = false"],
    );
    refused(&format!("{RUN} --set bch.spread_own=1.5"), &["bch.spread_own"]);
}

#[test]
fn what_parity_adds_is_explained() {
    let line = argv("explain --drive da-raid5-mlc --set bch.target=stripe --set start.pec=15000");
    let json = vpass(&[&line[..], &["--json"]].concat()).json();
    assert_eq!(json.pointer("/stripes/limits").and_then(Value::as_array).map(Vec::len), Some(4));
    assert!(
        (number(&json, "/stripes/limits/0/reads") - 4322.0).abs() < 0.5
            && (number(&json, "/stripes/limits/1/reads") - 14_992.0).abs() < 0.5
    );
    let words = vpass(&line).stdout;
    assert!(words.contains("Stripes\n") && words.contains("first page that fails"), "{words}");
    assert!(!vpass(&line[..3]).stdout.contains("Stripes\n"), "only where it is asked for");
}
