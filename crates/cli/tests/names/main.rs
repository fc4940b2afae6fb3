//! Test of names that other programs use: commands, flags and their values, keys, presets,
//! techniques, JSON paths, files and columns of `--out`, and exit codes.
//!
//! `names.txt` has all names. The test reports a new name, and `make record-names` adds it. The
//! test fails if a name is removed, and `make record-names` keeps such a name.

mod calls;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rayon::prelude::*;
use serde_json::Value;

use crate::calls::{SHORT, of_codes, of_names};

type Names = BTreeSet<String>;

/// Settings that give the tiny drive data with an error rate, and reads with up to two retries.
const TIRED: &str = "\n[error]\nmodel = \"powerlaw\"\ne = 0.0045\nb = 0.0\n[ecc]\ncodeword \
    = \"4KiB\"\ncap = [0.0085, 0.01, 0.012]\n\
    retry_decode_us = [50, 70]\n[hints]\ntypical_us = 150\nidle_us = 1000\n";

/// Hints of a host that accepts slow reads of a part of its data.
const HINTS: &str = "[[range]]\noffset = \"0B\"\nbytes = \"256MiB\"\naccess_latency = \"idle\"\n";

fn vpass<S: AsRef<std::ffi::OsStr>>(words: &[S]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vpass"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
        .args(words)
        .stdin(Stdio::null())
        .env("COLUMNS", "100")
        .output()
        .expect("the binary runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Collects commands, flags and their values from the help of a command and its subcommands.
fn of_help(command: &[String], names: &mut Names) {
    let name = if command.is_empty() { "vpass".to_owned() } else { command.join(" ") };
    let help = text(&vpass(&[command, &["--help".to_owned()]].concat()).stdout);
    let (mut section, mut of) = ("", String::new());
    for line in help.lines().filter(|line| !line.is_empty()) {
        if !line.starts_with(' ') {
            section = line;
            continue;
        }
        let (indent, line) = (line.len() - line.trim_start().len(), line.trim());
        let first = line.split_whitespace().next().unwrap_or("");
        if section == "Commands:" && indent == 2 && first != "help" {
            names.insert(format!("command {name} {first}").replace("vpass ", ""));
            of_help(&[command, &[first.to_owned()]].concat(), names);
        }
        let flags = line.split("  ").next().unwrap_or("");
        let is_flag =
            flags.starts_with('-') && !flags.starts_with("- ") && !section.starts_with("Example");
        if indent <= 6 && (is_flag || section == "Arguments:" && flags.starts_with(['<', '['])) {
            // The name of a value is prose, unless it lists the possible values.
            let (flag, values) =
                if is_flag { flags.split_once(" <").unwrap_or((flags, "")) } else { (flags, "") };
            flag.clone_into(&mut of);
            names.insert(format!("flag {name} {of}"));
            let values = values
                .split('>')
                .next()
                .filter(|values| values.contains('|') && values.to_lowercase() == *values);
            names.extend(
                values
                    .into_iter()
                    .flat_map(|values| values.split('|'))
                    .map(|value| format!("value {name} {of} = {value}")),
            );
        }
        if line.starts_with("- ") && indent == 10 {
            let value = line[2..].split(':').next().unwrap_or("");
            names.insert(format!("value {name} {of} = {value}"));
        }
        if let Some((_, values)) = line.split_once("[possible values: ") {
            names.extend(
                values
                    .trim_end_matches(']')
                    .split(", ")
                    .map(|value| format!("value {name} {of} = {value}")),
            );
        }
    }
}

/// Collects the paths of a JSON value. All entries of a list share one path.
fn of_json(title: &str, path: &str, value: &Value, names: &mut Names) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                of_json(
                    title,
                    &if path.is_empty() { key.clone() } else { format!("{path}.{key}") },
                    value,
                    names,
                );
            }
        }
        Value::Array(values) => {
            names.insert(format!("json {title} {path}[]"));
            for value in values {
                of_json(title, &format!("{path}[]"), value, names);
            }
        }
        _ => _ = names.insert(format!("json {title} {path}")),
    }
}

/// Collects the files of a results folder, with their JSON paths and columns.
fn of_folder(title: &str, folder: &Path, below: &str, names: &mut Names) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = format!(
            "{below}{}",
            path.file_name().expect("a name").to_str().expect("a name of ours")
        );
        if path.is_dir() {
            of_folder(title, &path, &format!("{name}/"), names);
            continue;
        }
        names.insert(format!("file {title} {name}"));
        let content = std::fs::read(&path).expect("a file of the results");
        // The folders for the rows of a comparison all hold the same files.
        let name =
            name.rsplit_once('/').map_or_else(|| name.clone(), |(_, file)| format!("*/{file}"));
        match path.extension().and_then(|e| e.to_str()) {
            Some("json") => of_json(
                &format!("{title}/{name}"),
                "",
                &serde_json::from_slice(&content).expect("JSON"),
                names,
            ),
            Some("csv") => of_columns(&format!("{title}/{name}"), &text(&content), names),
            _ => {}
        }
    }
}

fn of_columns(title: &str, csv: &str, names: &mut Names) {
    let header = csv.lines().find(|line| !line.starts_with('#')).expect("a header");
    names.extend(header.split(',').map(|column| format!("column {title} {column}")));
}

/// Returns the arguments of a call. `OUT`, `TIRED` and `HINTS` become paths in the folder.
fn words(call: &str, folder: &Path) -> Vec<String> {
    let call = SHORT.iter().fold(call.to_owned(), |call, (short, long)| call.replace(short, long));
    let path = |name: &str| folder.join(name).to_str().expect("a path of ours").to_owned();
    call.split(' ')
        .map(|word| match word {
            "OUT" => path("out"),
            "TIRED" => path("tired.toml"),
            "HINTS" => path("hints.toml"),
            word => word.to_owned(),
        })
        .collect()
}

fn of_call(title: &str, call: &str) -> Names {
    let mut names = Names::new();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tired = format!("{}{TIRED}", include_str!("../../../../presets/drives/tiny.toml"));
    std::fs::write(folder.path().join("tired.toml"), tired).expect("a drive file");
    std::fs::write(folder.path().join("hints.toml"), HINTS).expect("a file of hints");
    let done = vpass(&words(call, folder.path()));
    assert!(matches!(done.status.code(), Some(0 | 3)), "{call}: {}", text(&done.stderr));
    if call.contains("--json") {
        let value = serde_json::from_slice(&done.stdout).expect("JSON");
        of_json(&format!("{title} --json"), "", &value, &mut names);
        of_list(title, &value, &mut names);
    }
    if folder.path().join("out").exists() {
        of_folder(&format!("{title} --out"), &folder.path().join("out"), "", &mut names);
    }
    names
}

/// Collects the names in a list: presets, techniques, formats and keys.
fn of_list(title: &str, value: &Value, names: &mut Names) {
    for (kind, entries) in
        value.as_object().into_iter().flatten().filter(|_| title.starts_with("list"))
    {
        for entry in entries.as_array().into_iter().flatten() {
            let name = entry
                .get("name")
                .or_else(|| entry.get("key"))
                .and_then(Value::as_str)
                .expect("a name");
            names.insert(format!("{kind} {name}"));
            for parameter in entry.get("parameters").and_then(Value::as_array).into_iter().flatten()
            {
                names.insert(format!(
                    "parameter {kind}.{name}.{}",
                    parameter.as_str().expect("a key")
                ));
            }
        }
    }
}

/// Returns all current names.
fn now() -> Names {
    let mut names = Names::new();
    of_help(&[], &mut names);
    let of_calls: Vec<_> =
        of_names().par_iter().map(|(title, call)| of_call(title, call)).collect();
    names.extend(of_calls.into_iter().flatten());
    let csv = "compare --drive tiny --workload zipf-read --set workload.requests=500 --reclaim \
        none,block --csv";
    of_columns("compare --csv", &text(&vpass(&words(csv, Path::new(""))).stdout), &mut names);
    let code = |call: &str| vpass(&words(call, Path::new(""))).status.code();
    let of_codes: Vec<_> = of_codes()
        .par_iter()
        .map(|(_, (case, call))| format!("exit {case}: {}", code(call).unwrap_or(-1)))
        .collect();
    names.extend(of_codes);
    names
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/names/names.txt")
}

fn recorded() -> Names {
    std::fs::read_to_string(file())
        .expect("the names are in the repository")
        .lines()
        .map(str::to_owned)
        .collect()
}

/// Returns names as text, one per line, below a heading.
fn lines<'a>(heading: &str, names: impl Iterator<Item = &'a String>) -> String {
    let mut text = String::new();
    for name in names {
        writeln!(text, "  {name}").unwrap();
    }
    if text.is_empty() { text } else { format!("{heading}:\n{text}") }
}

#[test]
fn no_name_is_gone() {
    let (recorded, now) = (recorded(), now());
    let added = lines("new names (`make record-names` adds them)", now.difference(&recorded));
    // The text is printed even if the test passes.
    std::io::stderr().write_all(added.as_bytes()).expect("stderr");
    let gone = lines("names that programs may use are gone", recorded.difference(&now));
    assert!(gone.is_empty(), "{gone}");
}

#[test]
fn exit_codes_are_those_of_the_help() {
    for (code, (case, _)) in of_codes() {
        assert!(recorded().contains(&format!("exit {case}: {code}")), "{case}");
    }
}

#[test]
#[ignore = "make record-names: adds what is new"]
fn add_new_names() {
    let all: Names = recorded().into_iter().chain(now()).collect();
    let mut text = String::new();
    for name in all {
        writeln!(text, "{name}").unwrap();
    }
    std::fs::write(file(), text).expect("the names can be written");
}
