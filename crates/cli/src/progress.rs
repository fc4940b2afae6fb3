//! A progress bar on a terminal, from the first second on, and the one place that hears Ctrl-C.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Work under way that does not look at the above: drives being made.
static DEAF: AtomicUsize = AtomicUsize::new(0);
/// The first interrupt never ends the process at once: what was found so far is worth keeping.
static PATIENT: AtomicBool = AtomicBool::new(false);
/// What is to be removed should the process end at once.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(vec![]);

/// A folder or file that is not yet what it should become.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    pub(crate) temporary: PathBuf,
    /// Folders above it that were made for it, the innermost first.
    pub(crate) made: Vec<PathBuf>,
}

impl Unfinished {
    /// To be removed should the user stop the process.
    pub(crate) fn register(&self) {
        if let Ok(mut all) = UNFINISHED.lock() {
            all.push(self.clone());
        }
    }

    /// Removes it, and what was made for it as far as nothing else is in there.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.temporary).or_else(|_| std::fs::remove_file(&self.temporary));
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Takes over SIGINT, SIGTERM and SIGHUP: the first asks the run to stop, the second stops it. So does the first while
/// nobody listens.
pub(crate) fn hear_interrupts() {
    // Where no handler can be set the system's own stays: the process ends at once, which leaves only a temporary folder.
    let _ = ctrlc::set_handler(|| {
        let deaf = DEAF.load(Ordering::Relaxed) > 0 && !PATIENT.load(Ordering::Relaxed);
        if INTERRUPTED.swap(true, Ordering::Relaxed) || deaf {
            if let Ok(all) = UNFINISHED.lock() {
                all.iter().for_each(Unfinished::remove);
            }
            let failure = crate::exit::Failure::interrupted();
            crate::out::say(&format!("vpass: {}", failure.sentence));
            std::process::exit(failure.exit as i32);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// From now on the first interrupt waits until whoever works looks.
pub(crate) fn keep_what_is_found() {
    PATIENT.store(true, Ordering::Relaxed);
}

/// Does something that cannot be asked to stop; an interrupt ends the process meanwhile.
pub(crate) fn deaf<T>(work: impl FnOnce() -> T) -> T {
    DEAF.fetch_add(1, Ordering::Relaxed);
    let done = work();
    DEAF.fetch_sub(1, Ordering::Relaxed);
    done
}

/// Progress of one or several runs at the same time, counted in requests or whatever else they do.
pub(crate) struct Progress {
    bar: ProgressBar,
    cancelled: AtomicBool,
    done: AtomicU64,
}

/// A run that ends before this shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// The bar moves this often even where nothing is counted, as while a drive is being filled.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// For so many of these things in all, where that is known.
    pub(crate) fn new(total: Option<u64>, things: &str) -> Self {
        let template = match total {
            Some(_) => format!("{{bar:30}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}, {{elapsed}}, {{eta}} left"),
            None => format!("{{spinner}} {{human_pos}} {things}, {{elapsed}}"),
        };
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        if std::io::stderr().is_terminal() {
            let bar = bar.clone();
            std::thread::spawn(move || {
                std::thread::sleep(SHOW_AFTER);
                if !bar.is_finished() {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            });
        }
        Self { bar, cancelled: AtomicBool::new(false), done: AtomicU64::new(0) }
    }

    /// Counts what was done; false where the run is to stop.
    pub(crate) fn advance(&self, done: u64) -> bool {
        self.bar.set_position(self.done.fetch_add(done, Ordering::Relaxed) + done);
        self.may_go_on()
    }

    /// Whether neither the user nor another run's failure wants an end.
    pub(crate) fn may_go_on(&self) -> bool {
        !is_interrupted() && !self.cancelled.load(Ordering::Relaxed)
    }

    /// Stops all runs that share this.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    /// Takes the bar away.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
