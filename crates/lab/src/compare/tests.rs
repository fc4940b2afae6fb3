//! Tests of `compare.json`. Its lists must agree with the words and stars of the table.

use super::verdict::tests::{days, plan, row, summary, tail, tails};
use super::*;

/// Returns the JSON of a comparison with these rows.
fn json(rows: &[ComparisonRow]) -> Value {
    json_of(rows, &[], &plan(), 1).unwrap()
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
fn the_verdict_is_the_printed_text_sentence_by_sentence() {
    let lost = |run: Summary| Summary { data_lost_pages: 7, ..run };
    let sizes = Sizes::of(&plan());
    for rows in [
        vec![row("a", vec![tail(282.0, Some(3.0))]), row("b", vec![tail(289.0, Some(3.0))])],
        vec![row("a", vec![lost(summary())]), row("b", vec![lost(summary())])],
        vec![row("none", vec![lost(summary())]), row("b", vec![summary()])],
    ] {
        let sentences = json(&rows)["verdict"].clone();
        let sentences: Vec<&str> =
            sentences.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        assert_eq!(sentences.join(" "), verdict::verdict(&rows, &sizes).trim());
        assert!(sentences.len() > 1 && sentences.iter().all(|text| text.ends_with('.')));
    }
    let rows = [row("a", vec![lost(summary())]), row("b", vec![lost(summary())])];
    let expected =
        ["Every technique lost data.", "`a` lost data: 7 pages; `b` lost data: 7 pages."];
    assert_eq!(json(&rows)["verdict"], json!(expected));
}

#[test]
fn each_column_has_a_label_of_its_own_and_the_unit_of_its_key() {
    let json = json(&[row("a", vec![summary()]), row("b", vec![summary()])]);
    assert_eq!((&json["schema"], &json["techniques"][1]["label"]), (&json!(1), &json!("b")));
    let about = json["columns"].as_object().unwrap();
    assert_eq!(about["read_p99_9_us"], json!({ "label": "read p99.9", "unit": "us" }));
    assert_eq!(about["write_amplification"], json!({ "label": "write amplification", "unit": "" }));
    let mut labels: Vec<_> = COLUMNS.iter().map(super::column::Column::label).collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), COLUMNS.len());
    for column in &COLUMNS {
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
        assert_eq!(column.unit(), unit, "{}", column.key);
    }
}
