//! Outcome of a run: the fields of every file that it wrote, and its exit code.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fields::{Fields, digest};
use crate::runs::Run;

/// File that differs in every run, because it has the times of the machine.
const LEFT_OUT: &str = "timing.json";

/// Makes a run and reads its files. The program's exit codes are joined if the run has several
/// commands.
pub(crate) fn of(run: &Run) -> Fields {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join(Run::OUT);
    let codes: Vec<_> = run.commands().map(|words| execute(words, folder.path())).collect();
    let page = folder.path().join(Run::PAGE);
    if page.exists() {
        unpack(&page, &out);
    }
    let mut files = files(&out);
    // The manifests of single runs repeat their arguments.
    if ["run", "attack"].contains(&run.words[0].as_str()) {
        files.remove("manifest.json");
    }
    let names: Vec<_> = files.keys().map(String::as_str).collect();
    let mut fields = Fields::default();
    fields.value("exit", codes.join(","));
    fields.value("files", names.join(","));
    for (name, contents) in &files {
        for bytes in contents {
            add(&mut fields, name, bytes);
        }
    }
    fields
}

/// Runs a command and returns its exit code. A JSON object that the command prints becomes a file
/// in the folder of the results.
fn execute(words: &[String], folder: &Path) -> String {
    let out = folder.join(Run::OUT);
    let mut command = Command::new(env!("CARGO_BIN_EXE_vpass"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    for word in words {
        let is_place = [Run::OUT, Run::PAGE].contains(&word.as_str());
        command.arg(if is_place { folder.join(word) } else { word.into() });
    }
    let prints = words.iter().any(|word| word == "--json");
    if !prints {
        command.arg("--out").arg(&out);
    }
    let done = command.stdin(Stdio::null()).output().expect("the binary runs");
    // Exit code 3 means that data was lost, which is the purpose of some of these runs.
    let code = done.status.code().unwrap_or(-1);
    assert!(
        [0, 3].contains(&code),
        "{}: {}",
        words.join(" "),
        String::from_utf8_lossy(&done.stderr)
    );
    if prints {
        fs::create_dir_all(&out).expect("the folder of the results");
        fs::write(out.join(format!("{}.json", words[0])), done.stdout).expect("a file");
    }
    code.to_string()
}

/// Writes the data of a page as files into the folder of the results: the tables as CSV, the rest
/// as JSON.
fn unpack(page: &Path, out: &Path) {
    let text = fs::read_to_string(page).expect("a page");
    let (_, data) = text.split_once(r#"<script type="application/json" id="data">"#).expect("data");
    let (data, _) = data.split_once("</script>").expect("the end of the data");
    let mut data: Value = serde_json::from_str(data).expect("JSON");
    let tables = data.as_object_mut().and_then(|data| data.remove("csv")).expect("tables");
    for (name, table) in tables.as_object().expect("tables by name") {
        let text = table.as_str().expect("a table");
        fs::write(out.join(format!("page-{name}.csv")), text).expect("a file");
    }
    fs::write(out.join("page.json"), data.to_string()).expect("a file");
}

/// Returns the contents of the files by name. The rows of a comparison have folders of their own;
/// their files have the names `row/NAME`, and one content for each row.
fn files(out: &Path) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut files = BTreeMap::<_, Vec<_>>::new();
    for (name, path) in entries(out) {
        let inside = if path.is_dir() { entries(&path) } else { vec![] };
        let row = inside.into_iter().map(|(name, path)| (format!("row/{name}"), path));
        let own = path.is_file().then_some((name, path));
        for (name, path) in own.into_iter().chain(row) {
            files.entry(name).or_default().push(fs::read(path).expect("a file of the results"));
        }
    }
    files
}

/// Returns the names and paths of what is in a folder, sorted by name.
fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).expect("the folder of the results").map(|e| {
        let e = e.expect("an entry");
        (e.file_name().into_string().expect("a name of ours"), e.path())
    });
    let mut entries: Vec<_> = entries.filter(|(name, _)| name != LEFT_OUT).collect();
    entries.sort();
    entries
}

fn add(fields: &mut Fields, name: &str, bytes: &[u8]) {
    match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some("json") => fields.json(name, bytes),
        Some("csv") => fields.csv(name, std::str::from_utf8(bytes).expect("UTF-8")),
        _ => fields.value(&format!("{name} bytes"), digest(bytes)),
    }
}
