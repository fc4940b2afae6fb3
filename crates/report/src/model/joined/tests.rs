//! Tests of folders that are shown side by side: rows, winners, and folders that do not fit
//! together.

use super::*;
use serde_json::json;

/// Makes the result folder of one run with these numbers.
fn folder(name: &str, reclaim: &str, rewritten: f64, half: f64, pec: u32) -> Folder {
    let summary = json!({
        "vpass": "0.1.0", "drive": "tiny", "workload": "zipf", "gear": "timed", "seed": 1,
        "reclaim_technique": reclaim, "data_lost_pages": 0, "uncorrectable_reads": 0,
        "flash": {"programs": {"reclaim": rewritten}},
        "batch_means": {"reclaim_write_pages": half},
        "controller_ram_bytes": 64,
        "wear": {"life_unit": "days", "life_settled": true, "projected_life_days": 1e6 / rewritten,
                 "life_low_days": 0.9e6 / rewritten, "life_high_days": 1.1e6 / rewritten},
    });
    let manifest = json!({"drive_configuration": {"start": {"pec": pec}}});
    let files = [("summary.json", summary), ("manifest.json", manifest)];
    Folder::of_files(
        name,
        files.map(|(name, json)| (name.to_owned(), json.to_string().into_bytes())),
    )
}

#[test]
fn runs_become_rows_with_winners_that_their_noise_tells_apart() {
    let one = folder("a", "block", 5000.0, 100.0, 0);
    let two = folder("b", "straw-wl", 1000.0, 100.0, 0);
    let model = Model::read(&[one.clone(), two]).unwrap();
    assert_eq!(model.names(), ["block", "straw-wl"]);
    assert_eq!(model.winners["reclaim_write_pages"], ["straw-wl"]);
    assert_eq!(model.winners["life"], ["straw-wl"]);
    assert!(model.winners["controller_ram_bytes"].is_empty(), "both take 64 bytes");
    assert!(model.notes.is_empty());
    // The intervals 5,000 ± 100 and 4,900 ± 100 overlap. The ranges of the lives overlap too.
    let near = folder("b", "straw-wl", 4900.0, 100.0, 0);
    let model = Model::read(&[one, near]).unwrap();
    assert!(model.winners["reclaim_write_pages"].is_empty() && model.winners["life"].is_empty());
}

#[test]
fn other_settings_are_said_and_equal_names_get_their_folder() {
    let folders = [folder("new", "block", 1.0, 0.0, 0), folder("worn", "block", 1.0, 0.0, 1500)];
    let model = Model::read(&folders).unwrap();
    assert_eq!(model.names(), ["block (new)", "block (worn)"]);
    assert_eq!(
        model.notes,
        ["The settings of worn differ from those of new: start.pec is 1500 instead of 0."]
    );
}

#[test]
fn folders_of_two_drives_are_refused() {
    let mut other = folder("b", "block", 1.0, 0.0, 0);
    let mut summary = other.json("summary.json").unwrap().unwrap();
    summary["drive"] = "large".into();
    other = Folder::of_files("b", [("summary.json".to_owned(), summary.to_string().into_bytes())]);
    let why = Model::read(&[folder("a", "block", 1.0, 0.0, 0), other]).unwrap_err().to_string();
    assert_eq!(
        why,
        "a has drive `tiny`, and b has drive `large`; only folders with the same drive can be \
         shown side by side"
    );
}

#[test]
fn a_summary_without_names_and_a_folder_given_twice_are_refused() {
    let summary = folder("odd", "block", 1.0, 0.0, 0).json("summary.json").unwrap().unwrap();
    let refused = |summary: &Value| {
        let file = ("summary.json".to_owned(), summary.to_string().into_bytes());
        Model::read(&[Folder::of_files("odd", [file])]).unwrap_err().to_string()
    };
    assert!(refused(&json!({})).starts_with("odd/summary.json: `reclaim_technique` is missing; a"));
    for key in ["drive", "workload", "reclaim_technique"] {
        let why = refused(&compared::without(summary.clone(), key));
        assert!(why.starts_with(&format!("odd/summary.json: `{key}` is missing")), "{why}");
    }
    let twice = |name: &str| {
        let folders = [folder("a", "block", 1.0, 0.0, 0), folder(name, "block", 1.0, 0.0, 0)];
        Model::read(&folders).unwrap_err().to_string()
    };
    assert_eq!(twice("a"), "the folder a is given twice; each folder must have other results");
    assert_eq!(
        twice("./a"),
        "the folders a and ./a have the same files; each folder must have other results"
    );
}
