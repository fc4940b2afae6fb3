//! A progress bar on a terminal, after the first second. Elsewhere, lines about work that takes
//! more than two seconds. This file also handles Ctrl-C.

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
use crate::exit::Exit;

/// Whether the user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Number of jobs that do not check for an interrupt, such as making a drive.
static DEAF: AtomicUsize = AtomicUsize::new(0);
/// Whether the first interrupt keeps the process alive to save what was found so far.
static PATIENT: AtomicBool = AtomicBool::new(false);
/// Whether results are complete and being moved, so that they must not be removed any more.
static KEPT: AtomicBool = AtomicBool::new(false);
/// Sentence about the rows that an unfinished command keeps.
static ROWS: Mutex<Option<String>> = Mutex::new(None);
/// Files and folders to remove if the process ends at once.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(vec![]);

/// Folder or file that is being written.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    pub(crate) temporary: PathBuf,
    /// Final path.
    pub(crate) place: PathBuf,
    /// Parent folders made for it, the innermost first.
    pub(crate) made: Vec<PathBuf>,
}

impl Unfinished {
    /// Registers it for removal if the user stops the process.
    pub(crate) fn register(&self) {
        KEPT.store(false, Ordering::Relaxed);
        if let Ok(mut all) = UNFINISHED.lock() {
            all.push(self.clone());
        }
    }

    /// Marks it as complete. No interrupt removes it any more, or reports that nothing was written.
    pub(crate) fn keep(&self) {
        if let Ok(mut all) = UNFINISHED.lock() {
            KEPT.store(true, Ordering::Relaxed);
            all.retain(|other| other.temporary != self.temporary);
        }
    }

    /// Removes it, and the folders made for it if they are empty.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.temporary)
            .or_else(|_| std::fs::remove_file(&self.temporary));
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Returns the final path of something that is being written.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let all = UNFINISHED.lock();
    let found = all.ok().and_then(|all| {
        all.iter().find_map(|u| Some(u.place.join(path.strip_prefix(&u.temporary).ok()?)))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Time for running work to notice an interrupt and to end in order.
const GRACE: Duration = Duration::from_millis(700);

/// Handles SIGINT, SIGTERM and SIGHUP. The first signal asks the run to stop. If the run does not
/// stop soon, or does not check for signals, the process ends. A second signal ends it at once.
pub(crate) fn hear_interrupts() {
    // Without a handler, the system ends the process at once and leaves only a temporary folder.
    let _ = ctrlc::set_handler(|| {
        let is_first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if is_first && PATIENT.load(Ordering::Relaxed) {
            return;
        }
        if is_first && DEAF.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(GRACE);
        }
        // Holds the lock until the end: complete results are in their place, and no others will be.
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
        std::process::exit(Exit::from(&failure) as i32);
    });
}

/// Records which finished rows stay if this command ends early.
pub(crate) fn rows_are_kept(what: Option<String>) {
    if let Ok(mut rows) = ROWS.lock() {
        *rows = what;
    }
}

/// Returns why the command ends, and which rows are kept.
pub(crate) fn in_words(failure: &Failure) -> String {
    let rows = ROWS.lock().ok().and_then(|rows| rows.clone());
    match rows {
        None => failure.sentence.clone(),
        Some(rows) if *failure == Failure::interrupted() => format!("interrupted; {rows}"),
        Some(rows) => format!("{}; {rows}", failure.sentence),
    }
}

/// Returns whether the user asked to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Makes the first interrupt wait until the running work checks for it.
pub(crate) fn keep_what_is_found() {
    PATIENT.store(true, Ordering::Relaxed);
}

/// Does work that does not check for interrupts; an interrupt meanwhile ends the process.
pub(crate) fn deaf<T>(work: impl FnOnce() -> T) -> T {
    DEAF.fetch_add(1, Ordering::Relaxed);
    let done = work();
    DEAF.fetch_sub(1, Ordering::Relaxed);
    done
}

/// Progress bar of one piece of work, counted in requests or other things.
pub(crate) struct Bar {
    shown: ProgressBar,
    done: Arc<AtomicU64>,
    present: Mutex<Present>,
    lines: Option<Arc<Lines>>,
}

/// Progress that the user wants to see.
#[derive(Clone, Copy)]
struct Wanted {
    /// Whether a terminal shows bars.
    bars: bool,
    /// Time between two lines elsewhere; `None` for no lines.
    lines: Option<Duration>,
}

static WANTED: OnceLock<Wanted> = OnceLock::new();

/// Sets what is shown of progress, from `--quiet` and the environment.
///
/// # Errors
/// Reports a value of the environment that has no meaning.
pub(crate) fn settle(quiet: bool) -> Result<(), Failure> {
    let lines = lines::interval()?.filter(|_| !quiet);
    // A process settles it once.
    let _ = WANTED.set(Wanted { bars: !quiet, lines });
    Ok(())
}

/// Time before the bar appears; a shorter run shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// Interval at which the bar moves even without counts, such as while a drive is filled.
const TICK: Duration = Duration::from_millis(200);

impl Bar {
    /// Makes a bar; `total` is the number of things, if it is known.
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
            // Without a thread there is no bar.
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

/// Makes a bar for the lab.
pub(crate) fn bar(total: Option<u64>, things: &str) -> Box<dyn Progress> {
    Box::new(Bar::new(total, things))
}

impl Drop for Bar {
    /// Removes the bar.
    fn drop(&mut self) {
        self.shown.finish_and_clear();
        if let Some(lines) = &self.lines {
            lines.end();
        }
    }
}
