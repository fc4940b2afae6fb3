//! Outcome of a run: the fields of every file that it wrote, and its exit code.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::fields::{Fields, digest};
use crate::runs::Run;

/// Files that differ in every run, because of the times of the machine or the arguments of the
/// program.
const LEFT_OUT: [&str; 2] = ["timing.json", "manifest.json"];

/// Makes a run and reads its files.
pub(crate) fn of(run: &Run) -> Fields {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vpass"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.args(&run.words).arg("--out").arg(&out).stdin(Stdio::null());
    let done = command.output().expect("the binary runs");
    // Exit code 3 means that data was lost, which is the purpose of some of these runs.
    let code = done.status.code().unwrap_or(-1);
    assert!([0, 3].contains(&code), "{}: {}", run.title(), String::from_utf8_lossy(&done.stderr));
    let names = names(&out);
    let mut fields = Fields::default();
    fields.value("exit", code.to_string());
    fields.value("files", names.join(","));
    for name in names {
        let bytes = std::fs::read(out.join(&name)).expect("a file of the results");
        match Path::new(&name).extension().and_then(|e| e.to_str()) {
            Some("json") => fields.json(&name, &bytes),
            Some("csv") => fields.csv(&name, std::str::from_utf8(&bytes).expect("UTF-8")),
            _ => fields.value(&format!("{name} bytes"), digest(&bytes)),
        }
    }
    fields
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the results");
    let names = entries.map(|e| e.expect("an entry").file_name().into_string());
    let mut names: Vec<_> = names.map(|name| name.expect("a name of ours")).collect();
    names.retain(|name| !LEFT_OUT.contains(&name.as_str()));
    names.sort();
    names
}
