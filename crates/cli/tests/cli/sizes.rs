//! Test of the sizes of documents, because a script once wrote a document of 59 MB.

use std::path::{Path, PathBuf};

/// Largest size of a document. No document needs more.
const MOST_BYTES: u64 = 200_000;

/// Folders that have no documents of the project.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// Returns the Markdown files below a folder that are larger than `most`, and the number of files
/// checked.
fn too_large(folder: &Path, most: u64) -> (Vec<PathBuf>, usize) {
    let (mut found, mut seen) = (vec![], 0);
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            let (below, seen_below) = too_large(&path, most);
            found.extend(below);
            seen += seen_below;
        } else if kind.is_file() && path.extension().is_some_and(|of| of == "md") {
            seen += 1;
            found.extend((entry.metadata().unwrap().len() > most).then_some(path));
        }
    }
    (found, seen)
}

#[test]
fn no_document_is_larger_than_a_document() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (found, seen) = too_large(Path::new(root), MOST_BYTES);
    assert!(found.is_empty(), "{found:?} are larger than {MOST_BYTES} bytes");
    assert!(seen > 10, "{seen} documents were looked at");
}

#[test]
fn the_test_above_can_fail() {
    let room = crate::common::Room::new();
    room.file("small.md", "12345");
    room.file("large.md", "123456");
    room.file("large.txt", "123456");
    std::fs::create_dir(room.path("target")).unwrap();
    room.file("target/large.md", "123456");
    assert_eq!(too_large(&room.path(""), 5), (vec![room.path("large.md")], 2));
}
