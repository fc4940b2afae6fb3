//! `vpass new policy`: the files of a policy in Rust and in Python, and refusals.

use std::fs;
use std::path::Path;

use crate::common::{Room, vpass};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn a_crate_names_the_sources_and_a_module_needs_none() {
    let room = Room::new();
    let (rust, python) = (room.text("rust"), room.text("python"));
    let made =
        vpass(&["new", "policy", "early-block", "--vpass", SOURCES, "--out", &rust, "--json"]);
    let json = made.json();
    assert_eq!(json["files"], serde_json::json!(["Cargo.toml", "src/lib.rs"]));
    let manifest: toml::Table =
        toml::from_str(&fs::read_to_string(Path::new(&rust).join("Cargo.toml")).unwrap()).unwrap();
    let core = manifest["dependencies"]["vpass-drive"]["path"].as_str().unwrap();
    assert!(Path::new(core).join("Cargo.toml").is_file(), "{core}");
    let source = fs::read_to_string(Path::new(&rust).join("src/lib.rs")).unwrap();
    assert!(source.contains("Given::new(\"early-block\")"), "{source}");
    let said = vpass(&["new", "policy", "early-block", "--python", "--out", &python]).stdout;
    assert!(said.contains("early_block.py, test_early_block.py"), "{said}");
    assert!(said.contains("python -m pytest"), "{said}");
    assert!(Path::new(&python).join("test_early_block.py").is_file());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let room = Room::new();
    let full = room.text("full");
    fs::create_dir(&full).unwrap();
    fs::write(Path::new(&full).join("mine"), "mine").unwrap();
    for (words, said) in [
        (&["block", "--python"][..], "vpass already has a technique of this name"),
        (&["Early", "--python"], "lower-case letters"),
        (&["early", "--vpass", &full], "the folder with the sources of vpass is expected"),
        (&["early", "--python", "--out", &full], "is not empty"),
        (&["early", "--python", "--vpass", "."], "cannot be used with"),
    ] {
        let done = vpass(&[&["new", "policy"], words].concat());
        assert_eq!(done.code, 2, "{words:?}");
        assert!(done.stderr.contains(said), "{}", done.stderr);
    }
    assert_eq!(fs::read_dir(&full).unwrap().count(), 1, "nothing was written");
}
