//! Tests of folders that are shown side by side: rows, winners, and folders that do not fit
//! together.

use super::*;
use crate::testing::{of_technique, with_life};
use serde_json::json;

/// Makes the result folder of one run with these numbers.
fn folder(name: &str, reclaim: &str, rewritten: u64, half: f64, pec: u32) -> Folder {
    folder_on("tiny", name, reclaim, rewritten, half, pec)
}

fn folder_on(
    drive: &str,
    name: &str,
    reclaim: &str,
    rewritten: u64,
    half: f64,
    pec: u32,
) -> Folder {
    let run = of_technique(reclaim, 0, rewritten, 64, [1.0, 1.0]);
    let mut summary = with_life(run, 1e6 / rewritten as f64);
    summary.batch_means.reclaim_write_pages = Some(half);
    summary.drive = drive.into();
    let manifest = json!({"drive_configuration": {"start": {"pec": pec}}});
    let summary = serde_json::to_value(summary).unwrap();
    let files = [("summary.json", summary), ("manifest.json", manifest)];
    Folder::of_files(
        name,
        files.map(|(name, json)| (name.to_owned(), json.to_string().into_bytes())),
    )
}

#[test]
fn runs_become_rows_with_winners_that_their_noise_tells_apart() {
    let one = folder("a", "block", 5000, 100.0, 0);
    let two = folder("b", "straw-wl", 1000, 100.0, 0);
    let model = Model::read(&[one.clone(), two]).unwrap();
    assert_eq!(model.names(), ["block", "straw-wl"]);
    assert_eq!(model.winners["reclaim_write_pages"], ["straw-wl"]);
    assert_eq!(model.winners["life"], ["straw-wl"]);
    assert!(model.winners["controller_ram_bytes"].is_empty(), "both take 64 bytes");
    assert!(model.notes.is_empty());
    // The intervals 5,000 ± 100 and 4,900 ± 100 overlap. The ranges of the lives overlap too.
    let near = folder("b", "straw-wl", 4900, 100.0, 0);
    let model = Model::read(&[one, near]).unwrap();
    assert!(model.winners["reclaim_write_pages"].is_empty() && model.winners["life"].is_empty());
}

#[test]
fn other_settings_are_said_and_equal_names_get_their_folder() {
    let folders = [folder("new", "block", 1, 0.0, 0), folder("worn", "block", 1, 0.0, 1500)];
    let model = Model::read(&folders).unwrap();
    assert_eq!(model.names(), ["block (new)", "block (worn)"]);
    assert_eq!(
        model.notes,
        ["The settings of worn differ from those of new: start.pec is 1500 instead of 0."]
    );
}

#[test]
fn folders_of_two_drives_are_refused() {
    let other = folder_on("large", "b", "block", 1, 0.0, 0);
    let why = Model::read(&[folder("a", "block", 1, 0.0, 0), other]).unwrap_err().to_string();
    assert_eq!(
        why,
        "a has drive `tiny`, and b has drive `large`; only folders with the same drive can be \
         shown side by side"
    );
}
