//! Tests of the commit of the build. vpass reads the commit from the files of every kind of
//! checkout. Outside git, the commit is null.

#[path = "../../build/git.rs"]
mod files_of_git;

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Room, small_run};
use files_of_git::folder_of_git;

const FIRST: &str = "0123456789abcdef0123456789abcdef01234567";
const SECOND: &str = "89abcdef0123456789abcdef0123456789abcdef";

fn write(room: &Room, name: &str, text: &str) {
    let path = room.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn commit(git: &Path) -> Option<String> {
    folder_of_git(git)?.commit()
}

#[test]
fn the_commit_is_that_of_the_branch_or_of_head() {
    let room = Room::new();
    let git = room.path(".git");
    assert_eq!(commit(&git), None, "no git");
    write(&room, ".git/HEAD", "ref: refs/heads/a/b\n");
    assert_eq!(commit(&git), None, "a branch without commits");
    write(
        &room,
        ".git/packed-refs",
        &format!("# pack\n{SECOND} refs/heads/a\n{FIRST} refs/heads/a/b\n"),
    );
    assert_eq!(commit(&git).as_deref(), Some(FIRST));
    write(&room, ".git/refs/heads/a/b", &format!("{SECOND}\n"));
    assert_eq!(commit(&git).as_deref(), Some(SECOND), "a loose branch is newer than a packed one");
    write(&room, ".git/HEAD", &format!("{FIRST}\n"));
    assert_eq!(commit(&git).as_deref(), Some(FIRST));
    write(&room, ".git/HEAD", "0123\n");
    assert_eq!(commit(&git), None, "not a hash");
}

#[test]
fn a_second_checkout_has_a_head_of_its_own() {
    let room = Room::new();
    write(&room, "main/.git/HEAD", "ref: refs/heads/main\n");
    write(&room, "main/.git/refs/heads/main", FIRST);
    write(&room, "main/.git/refs/heads/other", SECOND);
    write(&room, "main/.git/worktrees/other/HEAD", "ref: refs/heads/other\n");
    write(&room, "main/.git/worktrees/other/commondir", "../..\n");
    write(&room, "other/.git", "gitdir: ../main/.git/worktrees/other\n");
    assert_eq!(commit(&room.path("other/.git")).as_deref(), Some(SECOND));
    assert_eq!(commit(&room.path("main/.git")).as_deref(), Some(FIRST));
    // Without the log of HEAD, the files of all branches count.
    let moves = || folder_of_git(&room.path("other/.git")).unwrap().moves();
    assert!(moves().iter().any(|path| path.ends_with("refs/heads")));
    write(&room, "main/.git/worktrees/other/logs/HEAD", "");
    assert_eq!(moves().len(), 2);
    assert!(moves().iter().all(|path| path.exists()));
}

#[test]
fn the_manifest_has_the_commit_of_these_sources() {
    let room = Room::new();
    assert_eq!(small_run(&["--out", &room.text("out")]).code, 0);
    let manifest = fs::read_to_string(room.path("out/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let git = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git");
    assert_eq!(manifest["git_commit"].as_str(), commit(&git).as_deref());
}
