//! Tests of verdicts on small comparisons. The winners of these comparisons are known.

use super::*;
use crate::testing::{compared, folder, json, json_with_lives, with_lives};
use serde_json::{Value, json as value};

fn read(json: &Value) -> Model {
    Model::read(&[folder(json)]).unwrap()
}

#[test]
fn the_longest_life_wins_with_its_ratio_to_block() {
    assert_eq!(
        headline(&with_lives()),
        "<em><code>straw-wl</code></em> keeps all data and lives longest: 6.00\u{a0}days, \
         3.0\u{a0}times <code>block</code>"
    );
}

#[test]
fn lives_that_are_ranges_give_the_smallest_ratio() {
    let mut json = json_with_lives();
    for i in [1, 2] {
        json["techniques"][i]["columns"]["projected_life_days"] = Value::Null;
    }
    // The smallest possible ratio of the lives is 0.9 x 6 days divided by 1.1 x 2 days, which is
    // 2.45.
    let said = headline(&read(&json));
    assert!(said.ends_with("at least 2.5\u{a0}times <code>block</code>"), "{said}");
}

#[test]
fn without_a_life_the_next_measure_with_a_winner_counts() {
    assert_eq!(
        headline(&compared()),
        "<em><code>straw-wl</code></em> keeps all data and rewrites the fewest pages because of \
         reads: 2,000, against 200,000 under <code>block</code>"
    );
}

#[test]
fn nothing_that_lost_data_wins_and_neither_does_none() {
    let mut json = json_with_lives();
    json["winners"]["life"] = value!(["none", "straw-wl"]);
    assert!(headline(&read(&json)).starts_with("<em><code>straw-wl</code>"));
    // Even if `none` loses no data, it does not protect data.
    json["techniques"][0]["runs"][0]["data_lost_pages"] = 0.into();
    json["winners"] = value!({"life": ["none"]});
    let said = headline(&read(&json));
    assert_eq!(
        said,
        "<code>block</code> and <code>straw-wl</code> keep all data, and cannot be ranked by life, \
         read tail and rewritten pages"
    );
    let needless = "<code>none</code> loses nothing in this run, so";
    assert!(lede(&read(&json)).contains(needless));
    assert!(!lede(&compared()).contains("loses nothing"));
}

#[test]
fn one_that_kept_its_data_and_none_that_did() {
    let mut json = json();
    json["techniques"][1]["runs"][0]["data_lost_pages"] = 5.into();
    assert_eq!(headline(&read(&json)), "Only <em><code>straw-wl</code></em> keeps all data");
    json["techniques"][2]["runs"][0]["uncorrectable_reads"] = 5.into();
    assert_eq!(headline(&read(&json)), "Every technique lost data");
}

#[test]
fn a_single_run_is_a_page_too() {
    let mut json = json_with_lives();
    json["techniques"].as_array_mut().unwrap().truncate(2);
    json["techniques"].as_array_mut().unwrap().remove(0);
    let said = headline(&read(&json));
    assert_eq!(said, "<em><code>block</code></em> keeps all data and lives 2.00\u{a0}days");
}

#[test]
fn the_lede_has_losses_lives_costs_and_the_catch() {
    assert_eq!(
        lede(&compared()),
        "<b>Without reclaim <code>none</code> loses 698\u{a0}pages</b> of data. <code>vpass \
         life</code> simulates the life of the drive. <code>block</code> takes 1.20\u{a0}KiB of \
         controller memory and rewrites 200,000\u{a0}pages; <code>straw-wl</code> takes \
         80.0\u{a0}KiB and \
         rewrites 2,000\u{a0}pages. The slowest read of the best technique takes \
         <b>170\u{a0}ms</b>, against 52.0\u{a0}ms under <code>block</code>."
    );
}

#[test]
fn lives_without_a_winner_are_not_told_apart() {
    let mut json = json_with_lives();
    json["winners"]["life"] = value!([]);
    let said = lede(&read(&json));
    let expected = "The lives are too close to rank: <code>block</code> 2.00\u{a0}days and \
        <code>straw-wl</code> 6.00\u{a0}days.";
    assert!(said.contains(expected), "{said}");
}

/// Makes a comparison of four techniques. In each of these columns, two techniques have overlapping
/// intervals and may be the best.
fn with_two_in_front(columns: &[&str]) -> Value {
    let mut json = json_with_lives();
    let mut fourth = json["techniques"][2].clone();
    fourth["reclaim"] = "ipr-wl".into();
    json["techniques"].as_array_mut().unwrap().push(fourth);
    json["winners"] = value!({});
    for column in columns {
        json["not_told_apart"][column] = value!(["straw-wl", "ipr-wl"]);
    }
    json
}

#[test]
fn two_techniques_in_front_of_a_third_are_the_headline() {
    let json = with_two_in_front(&["life", "read_p99_9_us"]);
    assert_eq!(
        headline(&read(&json)),
        "<em><code>straw-wl</code></em> and <em><code>ipr-wl</code></em> keep all data and live \
         longest, but are too close to rank: 6.00\u{a0}days and 6.00\u{a0}days, against \
         2.00\u{a0}days under <code>block</code>"
    );
    assert!(!lede(&read(&json)).contains("too close to rank"), "the headline says it");
    // The best of them comes first, as in its values.
    let mut unequal = with_two_in_front(&["read_p99_9_us"]);
    unequal["techniques"][3]["columns"]["read_p99_9_us"]["mean"] = 383.0.into();
    let said = headline(&read(&unequal));
    assert!(
        said.starts_with("<em><code>ipr-wl</code></em> and <em><code>straw-wl</code>"),
        "{said}"
    );
    assert!(said.contains(": 383\u{a0}µs and 655\u{a0}µs, against"), "{said}");
    // The headline prefers a sole winner of another column to two equal techniques, but not if
    // these two are equal in life.
    let mut json = with_two_in_front(&["read_p99_9_us"]);
    assert!(
        headline(&read(&json))
            .contains("have the shortest tail of reads, but are too close to rank")
    );
    json["winners"]["reclaim_write_pages"] = value!(["straw-wl"]);
    assert!(headline(&read(&json)).contains("rewrites the fewest pages"));
    // The headline has no group of equal techniques if the group has all techniques, or one that
    // lost data.
    json["winners"] = value!({});
    json["not_told_apart"]["read_p99_9_us"] = value!(["block", "straw-wl", "ipr-wl"]);
    assert!(headline(&read(&json)).contains("cannot be ranked by"));
    json["not_told_apart"]["read_p99_9_us"] = value!(["none", "straw-wl"]);
    assert!(headline(&read(&json)).contains("cannot be ranked by"));
}

#[test]
fn lives_that_outlive_the_simulation_are_not_too_close() {
    let mut model = read(&with_two_in_front(&["life"]));
    for row in &mut model.rows[2..] {
        row.life.as_mut().unwrap().lives_on = true;
    }
    assert_eq!(
        headline(&model),
        "<em><code>straw-wl</code></em> and <em><code>ipr-wl</code></em> keep all data and outlive \
         the simulation, so the longest life is not known: >\u{a0}6.00\u{a0}days and \
         >\u{a0}6.00\u{a0}days, against 2.00\u{a0}days under <code>block</code>"
    );
    model.rows.remove(1);
    let said = lede(&model);
    assert!(said.contains("The drives outlive the simulation: <code>straw-wl</code>"), "{said}");
}

#[test]
fn assumptions_of_the_winner_are_on_the_page() {
    let mut model = with_lives();
    assert!(!lede(&model).contains("assumptions"));
    model.rows[2].assumptions = vec!["The rate is 1,000 a second.".into()];
    assert!(lede(&model).contains("rest on assumptions, <a href=\"#warn\">listed below</a>"));
    let html = crate::parts::warnings::section(&model).html;
    for part in
        ["id=\"warn\"", ">Warnings, assumptions and verdict<", "The rate is 1,000 a second."]
    {
        assert!(html.contains(part), "{html}");
    }
}
