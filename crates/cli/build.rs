//! Commit of the sources, for the manifest of a run. The script reads the files of git, because a
//! build machine may lack the git program. Outside a git checkout, no commit is set.

#[path = "build/git.rs"]
mod git;

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=build");
    let Some(git) = git::folder_of_git(&root.join(".git")) else { return };
    // Cargo would run this script at every build if a listed file did not exist.
    for path in git.moves().into_iter().filter(|path| path.exists()) {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    if let Some(commit) = git.commit() {
        println!("cargo:rustc-env=VPASS_GIT_COMMIT={commit}");
    }
}
