//! Progress display and handling of Ctrl-C. A terminal shows a progress bar after one second.
//! Without a terminal, lines are printed if the work takes more than two seconds.

mod lines;

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use vpass_lab::failure::Failure;
use vpass_lab::progress::Progress;

use self::lines::{Lines, Present};
use crate::dialect;
use crate::exit::Exit;

/// Whether the user asked the command to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Number of running jobs that do not check for interrupts. For example, a job that builds a drive
/// does not check.
static DEAF: AtomicUsize = AtomicUsize::new(0);
/// Whether the first interrupt only asks the work to stop. The command can then save the results
/// that it has so far.
static PATIENT: AtomicBool = AtomicBool::new(false);
/// Whether results are complete and are being renamed to their final path. An interrupt must not
/// remove such results.
static KEPT: AtomicBool = AtomicBool::new(false);
/// Sentence that names the finished runs which are kept if the command ends early.
static ROWS: Mutex<Option<String>> = Mutex::new(None);
/// Files and folders that are removed if an interrupt ends the process.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(vec![]);

/// Folder or file that is being written under a temporary name.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    pub(crate) temporary: PathBuf,
    /// Final path of the folder or file.
    pub(crate) place: PathBuf,
    /// Parent folders that were made for this path, the innermost first.
    pub(crate) made: Vec<PathBuf>,
}

impl Unfinished {
    /// Registers the folder or file. If the user interrupts the process, the folder or file is
    /// removed.
    pub(crate) fn register(&self) {
        KEPT.store(false, Ordering::Relaxed);
        if let Ok(mut all) = UNFINISHED.lock() {
            all.push(self.clone());
        }
    }

    /// Marks the folder or file as complete. A later interrupt does not remove the folder or file.
    /// If an interrupt ends the process, vpass prints only "interrupted".
    pub(crate) fn keep(&self) {
        if let Ok(mut all) = UNFINISHED.lock() {
            KEPT.store(true, Ordering::Relaxed);
            all.retain(|other| other.temporary != self.temporary);
        }
    }

    /// Removes the folder or file, and the empty parent folders that were made for it.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.temporary)
            .or_else(|_| std::fs::remove_file(&self.temporary));
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Returns the final path of a file that now lies in a temporary folder. Other paths are returned
/// unchanged.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let all = UNFINISHED.lock();
    let found = all.ok().and_then(|all| {
        all.iter().find_map(|u| Some(u.place.join(path.strip_prefix(&u.temporary).ok()?)))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Longest time that vpass waits until interrupted work stops by itself. After this time, vpass
/// ends the process.
const GRACE: Duration = Duration::from_millis(700);

/// Handles SIGINT, SIGTERM and SIGHUP. The first signal asks the work to stop. If the work does not
/// stop soon or cannot stop, the process ends. A second signal ends the process at once.
pub(crate) fn hear_interrupts() {
    // If the system refuses the signal handler, a signal ends the process at once. Hidden temporary
    // folders and files then stay.
    let _ = ctrlc::set_handler(|| {
        let is_first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if is_first && PATIENT.load(Ordering::Relaxed) {
            return;
        }
        if is_first && DEAF.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(GRACE);
        }
        // While the signal handler holds the lock on `UNFINISHED`, no thread can mark further
        // results as complete. Results that are already marked as complete are kept.
        let Ok(all) = UNFINISHED.lock() else { return };
        let kept = KEPT.load(Ordering::Relaxed);
        if is_first && kept {
            return;
        }
        all.iter().for_each(Unfinished::remove);
        let failure = Failure::interrupted();
        crate::out::say(&format!(
            "vpass: {}",
            if kept { "interrupted".into() } else { in_words(&failure) }
        ));
        std::process::exit(Exit::from(&failure).code().into());
    });
}

/// Stores a sentence about the finished runs that are kept if this command ends early.
pub(crate) fn rows_are_kept(what: Option<String>) {
    if let Ok(mut rows) = ROWS.lock() {
        *rows = what;
    }
}

/// Returns a text that says why the command ends, and which finished runs are kept.
pub(crate) fn in_words(failure: &Failure) -> String {
    let rows = ROWS.lock().ok().and_then(|rows| rows.clone());
    match rows {
        None => dialect::sentence(failure),
        Some(rows) if *failure == Failure::interrupted() => format!("interrupted; {rows}"),
        Some(rows) => format!("{}; {rows}", dialect::sentence(failure)),
    }
}

/// Returns whether the user asked the command to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Makes the first interrupt only ask the work to stop. The process then ends after the work has
/// saved the results that exist by then.
pub(crate) fn keep_what_is_found() {
    PATIENT.store(true, Ordering::Relaxed);
}

/// Runs a job that does not check for interrupts. An interrupt during this job ends the process
/// without waiting.
pub(crate) fn deaf<T>(work: impl FnOnce() -> T) -> T {
    DEAF.fetch_add(1, Ordering::Relaxed);
    let done = work();
    DEAF.fetch_sub(1, Ordering::Relaxed);
    done
}

/// Progress bar for one task. The bar counts requests or other items.
pub(crate) struct Bar {
    shown: ProgressBar,
    done: Arc<AtomicU64>,
    present: Mutex<Present>,
    lines: Option<Arc<Lines>>,
}

/// Kinds of progress display that the user wants.
#[derive(Clone, Copy)]
struct Wanted {
    /// Whether a terminal shows progress bars.
    bars: bool,
    /// Time between two progress lines if standard error is not a terminal; `None` for no lines.
    lines: Option<Duration>,
}

static WANTED: OnceLock<Wanted> = OnceLock::new();

/// Stores which kinds of progress to show, according to `--quiet` and an environment variable.
///
/// # Errors
/// Returns an error if the environment variable has an invalid value.
pub(crate) fn settle(quiet: bool) -> Result<(), Failure> {
    let lines = lines::interval()?.filter(|_| !quiet);
    // Each process calls this function once, so `WANTED` is not set yet.
    let _ = WANTED.set(Wanted { bars: !quiet, lines });
    Ok(())
}

/// Time before the progress bar appears. Shorter work shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// Interval at which the bar is redrawn. The bar is redrawn even if the count does not change, for
/// example while a drive is filled.
const TICK: Duration = Duration::from_millis(200);

impl Bar {
    /// Makes a progress bar. `total` is the number of items to count; `None` if the number is
    /// unknown.
    pub(crate) fn new(total: Option<u64>, things: &str) -> Self {
        let template = match total {
            Some(_) => format!(
                "{{msg}}{{bar:16}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}, \
                 {{rate}}, {{eta}} left"
            ),
            None => format!("{{spinner}} {{msg}}{{human_pos}} {things}, {{rate}}, {{elapsed}}"),
        };
        let wanted = WANTED.get().copied().unwrap_or(Wanted { bars: false, lines: None });
        KEPT.store(false, Ordering::Relaxed);
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template(&template)
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("rate", |state: &ProgressState, to: &mut dyn Write| {
                    let _ = to.write_str(&lines::per_second(state.per_sec()));
                }),
        );
        if wanted.bars && std::io::stderr().is_terminal() {
            let bar = bar.clone();
            let show = move || {
                std::thread::sleep(SHOW_AFTER);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            };
            // If the system cannot start a thread, the command shows no bar.
            let _ = std::thread::Builder::new().spawn(show);
        }
        let done = Arc::new(AtomicU64::new(0));
        let lines = Lines::begin(wanted.lines, &done, total, things);
        Self { shown: bar, done, present: Mutex::default(), lines }
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64) -> bool {
        let done = self.done.fetch_add(done, Ordering::Relaxed) + done;
        self.shown.set_position(done);
        self.may_go_on()
    }

    fn may_go_on(&self) -> bool {
        !is_interrupted()
    }

    fn listens(&self, listens: bool) {
        if listens {
            DEAF.fetch_sub(1, Ordering::Relaxed);
        } else {
            DEAF.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stage(&self, whose: Option<&str>, what: &str) {
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.enter(whose, what);
        self.shown.set_message(format!("{} ", vpass_lab::plain::line(present.of_all())));
        if let Some(lines) = &self.lines {
            lines.enter(whose, what);
        }
    }

    fn note(&self, sentence: &str) {
        crate::out::say(&format!("vpass: {sentence}"));
    }
}

/// Makes a progress bar for the simulations of `vpass_lab`.
pub(crate) fn bar(total: Option<u64>, things: &str) -> Box<dyn Progress> {
    Box::new(Bar::new(total, things))
}

impl Drop for Bar {
    /// Removes the progress bar from the terminal.
    fn drop(&mut self) {
        self.shown.finish_and_clear();
        if let Some(lines) = &self.lines {
            lines.end();
        }
    }
}
