//! Live drives for the tests, and the programs that use them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::client::Client;

/// Small drive whose pages move often. Blocks have 24 pages, and data stays readable for about 90
/// reads of a block.
const DRIVE: &str = r#"
description = "small drive of a test"
geometry = { channels = 1, dies_per_channel = 2, planes_per_die = 1, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB", neighbour_stride = 1 }
timing = { sense_us = 20, program_us = 100, erase_us = 1000, channel_mb_s = 1000, host_mb_s = 4000, ecc_us = 0 }
drive = { capacity = "4MiB", spare = 0.3, write_buffer = "128KiB", rated_pec = 3000 }
reclaim = { schedule = "deadline" }
start = { fill = 1.0 }

[disturb]
model = "wordline"
dose = "reads"
preprogram_weight = 0
groups = ["best", "good", "bad", "worst"]
group_share = [0.25, 0.25, 0.25, 0.25]
table = [
    { pec = 0, limit = [1800, 1500, 1160, 800], alpha = [8.7, 9.0, 9.0, 9.1] },
    { pec = 3000, limit = [900, 750, 580, 400], alpha = [9.0, 9.3, 9.3, 9.4] },
]
"#;

/// Bytes of a page of the small drive.
pub(crate) const PAGE: u64 = 4096;

/// Results of a command that has ended.
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Done {
    /// Takes the output of a command.
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Returns the summary. The command must have ended with this code, and printed nothing else.
    #[track_caller]
    pub(crate) fn summary(&self, code: i32) -> Value {
        self.summary_of(&[code])
    }

    /// Returns the summary. The command must have ended with one of these codes.
    #[track_caller]
    pub(crate) fn summary_of(&self, codes: &[i32]) -> Value {
        assert!(codes.contains(&self.code), "{} {}{}", self.code, self.stdout, self.stderr);
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|e| panic!("{e}\n{}\n{}", self.stdout, self.stderr))
    }
}

/// Folder of a test with the small drive. The folder ends with the value.
pub(crate) struct Room(TempDir);

impl Room {
    /// Makes the folder. Returns `None` and names the test if a program that it needs is missing.
    /// With the environment variable `VPASS_LIVE`, a missing program is an error.
    pub(crate) fn of(test: &str, programs: &[&str]) -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_absent = |program: &&&str| {
            !std::env::split_paths(&folders).any(|folder| folder.join(program).is_file())
        };
        let mut absent: Vec<_> = programs.iter().filter(is_absent).copied().collect();
        absent.extend(gathered().is_none().then_some("vpass or its plug-in"));
        if absent.is_empty() {
            let room = tempfile::tempdir().expect("a temporary folder");
            fs::write(room.path().join("small.toml"), DRIVE).expect("space on the disk");
            return Some(Self(room));
        }
        assert!(std::env::var_os("VPASS_LIVE").is_none(), "{test}: {absent:?} are missing");
        eprintln!("{test} is skipped: {absent:?} are missing");
        None
    }

    /// Returns the path of a name in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns the command that serves the small drive under the full oracle.
    pub(crate) fn command(&self, more: &[&str]) -> Command {
        self.vpass("serve", more)
    }

    /// Returns a command of vpass for the small drive, under the full oracle.
    pub(crate) fn vpass(&self, name: &str, more: &[&str]) -> Command {
        let mut command = Command::new(gathered().expect("both were built").join("vpass"));
        command.args([name, "--oracle", "full", "--json"]);
        if !more.contains(&"--drive") {
            command.arg("--drive").arg(self.path("small.toml"));
        }
        command.args(more).env("VPASS_PROGRESS", "off").env("TMPDIR", self.0.path());
        command.current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs a script in the folder of the test.
    pub(crate) fn run(&self, script: &str) -> Done {
        let mut shell = Command::new("sh");
        let script = format!("set -e; {script}");
        shell.arg("-c").arg(script).current_dir(self.0.path()).stdin(Stdio::null());
        Done::of(shell.output().expect("the shell starts"))
    }

    /// Serves the small drive until vpass ends by itself.
    pub(crate) fn run_until_end(&self, more: &[&str]) -> Done {
        Done::of(self.command(more).output().expect("vpass starts"))
    }

    /// Serves the small drive to a script. The shell runs the script in the folder of the test.
    pub(crate) fn serve(&self, more: &[&str], script: &str) -> Done {
        let script = format!("set -e; exec >&2; {script}");
        Done::of(self.command(more).args(["--", &script]).output().expect("vpass starts"))
    }

    /// Serves the small drive at the socket `socket` until [`Server::end`].
    pub(crate) fn begin(&self, more: &[&str]) -> Server {
        let socket = self.path("socket");
        let mut command = self.command(more);
        command.arg("--socket").arg(&socket).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("vpass starts");
        while Client::connect(&socket).is_err() {
            if child.try_wait().expect("a child of ours").is_some() {
                let done = Done::of(child.wait_with_output().expect("a child of ours"));
                panic!("{}", done.stderr);
            }
            sleep(Duration::from_millis(5));
        }
        Server { child, socket }
    }
}

/// Server of a live drive.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) socket: PathBuf,
}

impl Server {
    /// Sends a signal to the server.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("kill starts").success());
    }

    /// Ends the server with SIGTERM, and returns its results.
    pub(crate) fn end(self) -> Done {
        self.signal("-TERM");
        Done::of(self.child.wait_with_output().expect("a child of ours"))
    }
}

/// Asserts that GC and reclaim together moved each page of the small drive several times, and that
/// both did a part of it.
#[track_caller]
pub(crate) fn assert_moved(summary: &Value) {
    let programs = &summary["flash"]["programs"];
    let [gc, reclaim] = ["gc", "reclaim"].map(|cause| programs[cause].as_u64().expect("a count"));
    let pages = (4 << 20) / PAGE;
    assert!(gc > pages && reclaim > pages && gc + reclaim > 5 * pages, "{programs}");
}

/// Returns the folder with the program and its plug-in; `None` if the build has not made both.
fn gathered() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER.get_or_init(gather).as_deref()
}

/// Brings the program and its plug-in, which Cargo makes in two folders, into one.
fn gather() -> Option<PathBuf> {
    let own = std::env::current_exe().expect("the path of the test");
    let made = own.parent().expect("a folder of libraries");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("live");
    fs::create_dir_all(&folder).expect("space on the disk");
    for (from, name) in [(made.parent()?, "vpass"), (made, "libvpass_nbdkit.so")] {
        // Another test process may use the file that is there.
        let new = folder.join(format!("{name}.{}", std::process::id()));
        fs::hard_link(from.join(name), &new).ok()?;
        fs::rename(&new, folder.join(name)).expect("a folder of ours");
        // Renaming one of two links to the same file does nothing.
        let _ = fs::remove_file(new);
    }
    Some(folder)
}
