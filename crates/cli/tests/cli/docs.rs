//! Does the map of the code still match the code?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// All Rust files below a folder.
fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The words in backticks.
fn quoted(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).flat_map(|span| span.split(|c: char| !c.is_alphanumeric() && c != '_')).collect()
}

#[test]
fn the_architecture_page_names_every_file() {
    let page = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let mut missing = vec![];
    for name in ["core", "oracle", "workload", "lab", "cli"] {
        let section = page.split("\n### ").find(|s| s.starts_with(&format!("`crates/{name}`"))).expect("a section for each crate");
        let named = quoted(section);
        let mut files = vec![];
        files_below(&Path::new(ROOT).join("crates").join(name).join("src"), &mut files);
        let stem = |file: &PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
        let unnamed = files.iter().map(stem).filter(|stem| !["lib", "main"].contains(&stem.as_str()) && !named.contains(stem.as_str()));
        missing.extend(unnamed.map(|stem| format!("{name}: {stem}")));
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md, code map: not there: {missing:?}");
}

#[test]
fn the_files_that_the_architecture_page_names_exist() {
    let page = fs::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md")).unwrap();
    let order = page.split("## Reading order").nth(1).expect("a reading order");
    let paths = order.split('`').skip(1).step_by(2).filter(|span| span.contains("/src/"));
    let absent: Vec<_> = paths.filter(|path| !Path::new(ROOT).join("crates").join(path).exists()).collect();
    assert!(absent.is_empty(), "{absent:?}");
    assert!(order.contains("core/src/drive.rs"));
}
