//! Tests of `compare.json`. Its lists must agree with the words and stars of the table.

use serde_json::{Value, json};

use super::verdict::tests::{compared, days, row, summary, tail, tails};
use super::*;

/// Returns the JSON of a comparison of these rows.
fn json(rows: &[ComparisonRow]) -> Value {
    serde_json::to_value(compared(rows)).unwrap()
}

#[test]
fn rows_within_the_noise_are_not_told_apart() {
    let tied = |rows: &[ComparisonRow], key: &str| json(rows)["not_told_apart"][key].clone();
    let rows = |off: f64| {
        let of = |us: f64, off: f64| tails([us - off, us, us + off]);
        [row("a", of(282.0, 0.0)), row("b", of(289.0, off)), row("c", of(400.0, off))]
    };
    let key = "read_p99_9_us";
    // With three seeds, a deviation of 1.5 makes the difference 7 ± 8.6, and one of 1 makes it
    // 7 ± 5.7. No interval reaches 400.
    assert_eq!(tied(&rows(1.5), key), json!(["a", "b"]));
    assert_eq!(tied(&rows(1.0), key), json!([]));
    assert_eq!(json(&rows(1.0))["winners"][key], json!(["a"]));
    // Without known noise, no row is known to be better than another row.
    let of = |us: f64| vec![tail(us, None)];
    let unknown = [row("a", of(282.0)), row("b", of(289.0)), row("c", of(400.0))];
    assert_eq!(tied(&unknown, key), json!(["a", "b", "c"]));
    // Rows with equal values are also in the list. A row that lost data does not compete.
    let lost = Summary { data_lost_pages: 7, ..tail(282.0, Some(1.0)) };
    let rows = [row("none", vec![lost]), row("a", vec![tail(300.0, Some(1.0))])];
    assert_eq!(tied(&rows, key), json!([]));
    let equal = [row("a", vec![summary()]), row("b", vec![summary()])];
    assert_eq!(tied(&equal, "controller_ram_bytes"), json!(["a", "b"]));
    assert_eq!(tied(&[row("a", vec![summary()])], key), json!([]));
}

#[test]
fn the_life_has_its_list_in_the_unit_of_the_workload() {
    let of = |settled: bool, middle: f64| {
        let mut run = days(Some(middle), 0.9 * middle, 1.1 * middle);
        run.wear.life_settled = settled;
        vec![run]
    };
    let tied = |rows: &[ComparisonRow]| json(rows)["not_told_apart"]["life"].clone();
    assert_eq!(tied(&[row("a", of(true, 4.0)), row("b", of(true, 3.9))]), json!(["a", "b"]));
    assert_eq!(tied(&[row("a", of(true, 4.0)), row("b", of(true, 2.0))]), json!([]));
    // One run is too short to project a life, so the lives may not be compared.
    assert_eq!(tied(&[row("a", of(true, 4.0)), row("b", of(false, 2.0))]), json!(["a", "b"]));
}

#[test]
fn every_technique_that_lost_data_is_named() {
    let lost = || vec![Summary { data_lost_pages: 7, ..summary() }];
    let expected =
        ["Every technique lost data.", "`a` lost data: 7 pages; `b` lost data: 7 pages."];
    assert_eq!(compared(&[row("a", lost()), row("b", lost())]).verdict, expected);
}

#[test]
fn a_file_holds_the_comparison() {
    let lost = Summary { data_lost_pages: 7, ..summary() };
    let written = json(&[row("a", vec![lost]), row("b", vec![summary()])]);
    let read: Comparison = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), written);
}

#[test]
fn each_column_has_a_label_of_its_own_and_the_unit_of_its_key() {
    let json = json(&[row("a", vec![summary()]), row("b", vec![summary()])]);
    assert_eq!((&json["schema"], &json["techniques"][1]["label"]), (&json!(1), &json!("b")));
    let about = json["columns"].as_object().unwrap();
    assert_eq!(about["read_p99_9_us"], json!({ "label": "read p99.9", "unit": "us" }));
    assert_eq!(about["write_amplification"], json!({ "label": "write amplification", "unit": "" }));
    let mut labels: Vec<_> = QUANTITIES.iter().map(|quantity| quantity.label).collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), QUANTITIES.len());
    for column in &QUANTITIES {
        let last = column.key.rsplit('_').next().unwrap();
        let unit = match last {
            "us" | "days" | "pages" => last,
            "bytes" | "worn" => "bytes",
            "percent" | "wear" | "net" => "%",
            "erases" => "blocks",
            "mean" => "retries per page read",
            "uber" => "codewords per bit",
            "amplification" => "",
            other => panic!("a unit for {other}"),
        };
        assert_eq!(column.unit.name(), unit, "{}", column.key);
    }
}
