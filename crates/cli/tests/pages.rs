//! Runs small versions of the commands in README.md, docs/start and docs/guides. Checks that the
//! generated pages can be made, and that no link of a page is dead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const VPASS: &str = env!("CARGO_BIN_EXE_vpass");

/// Options whose values are replaced, so that a command ends soon.
const SMALLER: [(&str, &str); 4] =
    [("--minutes", "0.002"), ("--requests", "2000"), ("--repeat", "2"), ("--seeds", "2")];

/// Arguments that are added to a command with the arguments of the first column.
const ADDED: [(&[&str], &[&str]); 7] = [
    (&["run", "--workload"], &["--set", "workload.requests=2000"]),
    (&["compare", "--workload"], &["--set", "workload.requests=2000"]),
    (&["life"], &["--exact", "--years", "0.00002"]),
    (&["llm", "block,straw-wl"], &["--set", "start.pec=990"]),
    (&["modern-tlc", "--set"], &["--set", "drive.capacity=4GB"]),
    (&["modern-tlc-232", "--set"], &["--set", "drive.capacity=4GB"]),
    (&["aged-tlc", "--set"], &["--set", "drive.capacity=2GB"]),
];

/// Options that are removed from a command. An exact life takes neither.
const TAKEN_OUT: [(&str, &str); 2] = [("life", "--minutes"), ("life", "--rung")];

/// Texts in the example files, and their replacements.
const SMALLER_FILES: [(&str, &[(&str, &str)]); 5] = [
    ("examples/jobs/read-hot.fio", &[("io_size=12g", "io_size=12m"), ("io_size=4g", "io_size=4m")]),
    ("examples/jobs/database.fio", &[("size=256m", "size=32m"), ("io_size=2g", "io_size=2m")]),
    ("examples/hints/all-idle.toml", &[("1920GB", "4GB")]),
    ("examples/workloads/mixed.toml", &[]),
    ("examples/sweeps/wear.toml", &[("500k", "2k")]),
];
const TRACE: &str = "examples/traces/pgbench-ext4.csv.zst";

/// Command of a page: its arguments, the file for its output, and its exit code.
struct Line {
    words: Vec<String>,
    into: Option<String>,
    code: i32,
}

impl Line {
    fn of(text: &str) -> Self {
        let (command, comment) = text.split_once(" #").unwrap_or((text, ""));
        let code = comment.split_once("exit code ").map_or(0, |(_, code)| code.parse().unwrap());
        let (command, into) = command.split_once(" > ").unwrap_or((command, ""));
        let words: Vec<_> = command.split_whitespace().skip(1).map(str::to_owned).collect();
        let into = (!into.is_empty()).then(|| into.trim().to_owned());
        if code != 0 {
            // The output on the page needs all requests of the command.
            return Self { words, into, code };
        }
        Self { words: small(words), into, code }
    }

    fn run(&self, folder: &Path) -> Output {
        let output = Command::new(VPASS).args(&self.words).current_dir(folder).output().unwrap();
        if let Some(into) = &self.into {
            fs::write(folder.join(into), &output.stdout).unwrap();
        }
        output
    }
}

/// Returns the arguments of a version of the command that ends soon.
fn small(mut words: Vec<String>) -> Vec<String> {
    for (command, option) in TAKEN_OUT {
        if let Some(at) =
            words.iter().position(|word| word == option).filter(|_| words[0] == command)
        {
            words.drain(at..at + 2);
        }
    }
    for (option, value) in SMALLER {
        if let Some(at) = words.iter().position(|word| word == option) {
            value.clone_into(&mut words[at + 1]);
        }
    }
    let added =
        ADDED.iter().filter(|(all, _)| all.iter().all(|one| words.iter().any(|w| w == one)));
    let added: Vec<_> =
        added.flat_map(|(_, words)| words.iter().map(|s| (*s).to_owned())).collect();
    words.extend(added);
    words
}

/// Returns the commands of a page, in order.
fn lines_of(page: &Path) -> Vec<Line> {
    let text = fs::read_to_string(page).unwrap().replace("\\\n", " ");
    let blocks = text.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines: Vec<_> = blocks.flat_map(str::lines).filter(|l| l.starts_with("vpass ")).collect();
    assert!(lines.iter().all(|line| !line.contains(['"', '\''])), "{}: no quotes", page.display());
    // The table in README.md also has commands.
    let spans = text.split('`').filter(|s| s.starts_with("vpass ") && s.contains("--drive"));
    let spans = spans.filter(|span| !span.contains('\n') && page.ends_with("README.md"));
    lines.into_iter().chain(spans).map(Line::of).collect()
}

/// Returns all pages whose commands run.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![Path::new(ROOT).join("README.md")];
    for folder in ["docs/start", "docs/guides"] {
        let found = fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
        let found = found.map(|entry| entry.unwrap().path());
        let mut found: Vec<_> =
            found.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
        found.sort();
        pages.extend(found);
    }
    pages
}

/// Makes a folder with small versions of the example files.
fn folder() -> PathBuf {
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pages-{}", std::process::id()));
    for (name, changes) in SMALLER_FILES {
        let mut text = fs::read_to_string(Path::new(ROOT).join(name)).unwrap();
        for (from, to) in changes {
            assert!(text.contains(from), "{name}: {from}");
            text = text.replace(from, to);
        }
        let place = folder.join(name);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }
    fs::create_dir_all(folder.join("examples/traces")).unwrap();
    let mut cut = Command::new(VPASS);
    cut.args(["trace", "cut", "--sample", "0.01", "--as", "msr"]).arg(Path::new(ROOT).join(TRACE));
    assert!(cut.arg(folder.join(TRACE)).status().unwrap().success());
    folder
}

#[test]
fn every_command_of_the_pages_works() {
    let folder = folder();
    let mut run = 0;
    for page in pages() {
        for line in lines_of(&page) {
            let output = line.run(&folder);
            let said = String::from_utf8_lossy(&output.stderr);
            let (page, words) = (page.display(), line.words.join(" "));
            assert_eq!(output.status.code(), Some(line.code), "{page}: vpass {words}\n{said}");
            run += 1;
        }
    }
    assert!(run > 40, "{run} commands");
    fs::remove_dir_all(folder).unwrap();
}

/// Runs a Python script of `docs`.
fn script(arguments: &[&str]) {
    let output = Command::new("python3").args(arguments).current_dir(ROOT).output();
    let output = output.expect("python3 is needed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the names in the output of `vpass list WHAT --json`.
fn listed(what: &str) -> Vec<String> {
    let output = Command::new(VPASS).args(["list", what, "--json"]).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let names = found[what].as_array().unwrap().iter();
    names.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_technique_gets_a_page_and_no_link_is_dead() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("docs-{}", std::process::id()));
    let place = out.to_str().unwrap();
    script(&["docs/generate.py", "--vpass", VPASS, "--out", place]);
    for slot in ["reclaim", "refresh", "parity", "gc"] {
        for name in listed(slot) {
            let page = fs::read_to_string(out.join(format!("docs/{slot}/{name}.md"))).unwrap();
            assert!(page.contains(&format!("`--{slot} {name}`")), "{slot} {name}");
        }
    }
    script(&["docs/check_links.py", place]);
    fs::remove_dir_all(out).unwrap();
}
