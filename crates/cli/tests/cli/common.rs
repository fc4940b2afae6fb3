//! Helpers of the tests that run the command and read its results.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Command that has ended, with its exit code and its output.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// Returns the standard output, which must be one JSON object and nothing else.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let value: Value = serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.stdout, self.stderr));
        assert!(value.is_object());
        value
    }

    /// Asserts this exit code, an empty standard output, and all of these words on standard error.
    #[track_caller]
    pub(crate) fn refuses(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{}", self.stderr);
        assert_eq!(self.stdout, "");
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` in: {}", self.stderr);
        }
    }
}

/// Returns the arguments of a command line.
pub(crate) fn argv(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vpass"));
    // The output must not depend on the terminal of the tests, or on the time that a run takes.
    command.args(args).stdin(Stdio::null()).env_remove("COLUMNS").env("VPASS_PROGRESS", "off");
    command
}

pub(crate) fn finished(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

/// Runs `vpass` with these arguments.
pub(crate) fn vpass(args: &[&str]) -> Done {
    finished(command(args).output().expect("the binary runs"))
}

/// Runs `vpass` with the arguments of a line.
pub(crate) fn ran(line: &str) -> Done {
    vpass(&argv(line))
}

/// Sends SIGINT to a command when the command is ready for it. Fails if the command has already
/// ended.
#[track_caller]
pub(crate) fn interrupt(child: &mut Child) {
    while !catches_interrupts(child.id()) {
        assert!(
            child.try_wait().expect("a child of ours").is_none(),
            "the command was over before it could be interrupted"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success(), "the command was over before it could be interrupted");
}

/// Returns whether a process has a handler for SIGINT: the second bit of the hexadecimal mask
/// `SigCgt` (proc(5)). Without /proc, returns true.
fn catches_interrupts(process: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else {
        return true;
    };
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).map(str::trim);
    caught
        .and_then(|mask| u64::from_str_radix(mask, 16).ok())
        .is_none_or(|mask| mask & 1 << (2 - 1) != 0)
}

/// Runs `vpass` with these arguments on a terminal of this width.
pub(crate) fn vpass_on(columns: usize, args: &[&str]) -> Done {
    finished(command(args).env("COLUMNS", columns.to_string()).output().expect("the binary runs"))
}

/// Runs the tiny drive under a few random reads, with additional arguments.
pub(crate) fn small_run(more: &[&str]) -> Done {
    vpass(
        &[&argv("run --drive tiny --workload uniform-read --set workload.requests=2000")[..], more]
            .concat(),
    )
}

/// Temporary folder for one test.
pub(crate) struct Room(tempfile::TempDir);

impl Room {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path as text.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("the file is written");
        path.to_str().expect("a path of ours").to_owned()
    }

    /// Returns the path of a name in the folder, as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("a path of ours").to_owned()
    }

    /// Returns the names in the folder, sorted.
    pub(crate) fn names(&self) -> Vec<String> {
        names_in(self.0.path())
    }
}

pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> = entries
        .map(|e| e.expect("an entry").file_name().into_string().expect("a name of ours"))
        .collect();
    names.sort();
    names
}

/// Makes an MSR trace with 4 KiB reads at these offsets, one per microsecond.
pub(crate) fn msr_reads(offsets: &[u64]) -> String {
    let row = |(i, offset)| {
        format!("{},host,0,Read,{offset},4096,0\n", 128_166_372_000_000_000u64 + 10 * i as u64)
    };
    offsets.iter().enumerate().map(row).collect()
}

/// Returns the text of the tiny drive with error rates of its data, and with up to two retries per
/// read.
pub(crate) fn tired() -> String {
    let tiny = include_str!("../../../../presets/drives/tiny.toml");
    let law = "[error]\nmodel = \"powerlaw\"\ne = 0.0045\nb = 0.0\n";
    let code =
        "[ecc]\ncodeword = \"4KiB\"\ncap = [0.0085, 0.01, 0.012]\nretry_decode_us = [50, 70]\n";
    format!("{tiny}\n{law}{code}[hints]\ntypical_us = 150\nidle_us = 1000\n")
}

/// Returns the number at a path of JSON.
#[track_caller]
pub(crate) fn number(json: &Value, path: &str) -> f64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} is not in {json}"))
}

/// Returns a text whose words are separated by single spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
