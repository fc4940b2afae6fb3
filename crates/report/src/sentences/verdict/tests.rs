//! Tests of the headline, and of the printed verdict below it.

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
fn the_leader_wins_in_the_first_measure_with_a_winner() {
    let label = |model: &Model| leader(model).map(|row| row.label.clone());
    assert_eq!(label(&with_lives()).as_deref(), Some("straw-wl"));
    assert_eq!(label(&compared()).as_deref(), Some("straw-wl"), "it rewrites the fewest pages");
    // Even if `none` loses no data, it does not protect data.
    let mut json = json_with_lives();
    json["techniques"][0]["runs"][0]["data_lost_pages"] = 0.into();
    json["winners"] = value!({"life": ["none"]});
    assert_eq!(label(&read(&json)), None);
}

#[test]
fn the_headline_says_which_techniques_lose_data() {
    let mut json = json();
    assert_eq!(headline(&read(&json)), "<code>none</code> loses data");
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
fn the_printed_verdict_stands_below_the_headline_once() {
    let mut json = json();
    json["techniques"][0]["runs"][0]["data_lost_pages"] = 0.into();
    json["verdict"] = value!(["No technique lost data.", "RAM is smallest under `a<b`."]);
    let model = read(&json);
    assert_eq!(headline(&model), "No technique lost data");
    assert_eq!(lede(&model), "RAM is smallest under <code>a&lt;b</code>.");
    assert!(!crate::parts::warnings::section(&model).html.contains("RAM is smallest"));
}
