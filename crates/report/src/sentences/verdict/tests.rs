//! Tests of the headline, and of the printed verdict below it.

use super::*;
use crate::testing::{compared, folder, json, json_with_lives, with_lives};
use serde_json::{Value, json as value};

fn read(json: &Value) -> Model {
    Model::read(&[folder(json)]).unwrap()
}

#[test]
fn the_longest_of_simulated_lives_is_the_headline() {
    let model = Model { kind: crate::model::Kind::Lives, ..with_lives() };
    assert_eq!(
        headline(&model),
        "<em><code>straw-wl</code></em> keeps all data and lives longest: 6.00\u{a0}days"
    );
}

#[test]
fn findings_are_sentences_with_names_as_code() {
    let mut model = compared();
    model.findings = [("uber".to_owned(), "UBER is lowest under `a<b`".to_owned())].into();
    let said = findings(&model, &["uber", "none"]);
    assert_eq!(said, "UBER is lowest under <code>a&lt;b</code>.");
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
fn the_headline_is_the_first_printed_sentence() {
    assert_eq!(headline(&compared()), "<code>none</code> lost data: 698 pages");
    let silent = Model { verdict: vec![], ..compared() };
    assert_eq!(headline(&silent), "No technique is clearly the best");
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
    json["verdict"] = value!(["No technique lost data.", "RAM is smallest under `a<b`."]);
    let model = read(&json);
    assert_eq!(headline(&model), "No technique lost data");
    assert_eq!(lede(&model), "RAM is smallest under <code>a&lt;b</code>.");
    assert!(!crate::parts::warnings::section(&model).html.contains("RAM is smallest"));
}
