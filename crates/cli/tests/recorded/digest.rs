//! A run's digest: the first 64 bits of SHA-256 over every file of its results, less the program's version and what a clock measured.

use std::path::Path;
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};

use crate::runs::Run;

/// Files that no two runs share: the machine's times, and how the program was called.
const LEFT_OUT: [&str; 2] = ["timing.json", "manifest.json"];

/// Makes a run and gives the digest of what it wrote.
pub(crate) fn of(run: &Run) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_vpass"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let done = command.args(&run.words).arg("--out").arg(&out).stdin(Stdio::null()).output().expect("the binary runs");
    // 3: data was lost, which some of these runs are there for.
    assert!(matches!(done.status.code(), Some(0 | 3)), "{}: {}", run.title(), String::from_utf8_lossy(&done.stderr));
    let mut sum = Sha256::new();
    for name in names(&out) {
        let bytes = std::fs::read(out.join(&name)).expect("a file of the results");
        sum.update(name.as_bytes());
        sum.update(if Path::new(&name).extension() == Some("json".as_ref()) { without_version(&bytes) } else { bytes });
    }
    let sum = sum.finalize();
    let first = u64::from_be_bytes(sum[..8].try_into().expect("32 bytes"));
    format!("{first:016x}")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the results");
    let mut names: Vec<_> = entries.map(|e| e.expect("an entry").file_name().into_string().expect("a name of ours")).collect();
    names.retain(|name| !LEFT_OUT.contains(&name.as_str()));
    names.sort();
    names
}

fn without_version(json: &[u8]) -> Vec<u8> {
    let mut value: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    drop_key(&mut value);
    value.to_string().into_bytes()
}

fn drop_key(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.remove("vpass");
            map.values_mut().for_each(drop_key);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(drop_key),
        _ => {}
    }
}
