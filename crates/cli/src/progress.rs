//! A progress bar on a terminal, from the first second on, and the one place that hears Ctrl-C.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Folders to remove should the user not want to wait for a tidy stop.
pub(crate) static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

/// Takes over SIGINT, SIGTERM and SIGHUP: the first asks the run to stop, the second stops it.
pub(crate) fn hear_interrupts() {
    // Where no handler can be set the system's own stays: the process ends at once, which leaves only a temporary folder.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            if let Ok(folders) = UNFINISHED.lock() {
                for folder in folders.iter() {
                    let _ = std::fs::remove_dir_all(folder);
                }
            }
            std::process::exit(crate::exit::Exit::Interrupted as i32);
        }
    });
}

/// Whether the user asked to stop.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Progress of one or several runs at the same time, counted in requests or whatever else they do.
pub(crate) struct Progress {
    bar: ProgressBar,
    started: Instant,
    shown: AtomicBool,
    served: AtomicU64,
    cancelled: AtomicBool,
}

/// A run that ends before this shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);

impl Progress {
    /// For so many of these things in all, where that is known.
    pub(crate) fn new(total: Option<u64>, things: &str) -> Self {
        let template = match total {
            Some(_) => format!("{{bar:30}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}, {{per_sec}}, {{eta}} left"),
            None => format!("{{spinner}} {{human_pos}} {things}, {{per_sec}}, {{elapsed}}"),
        };
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, started: Instant::now(), shown: AtomicBool::new(false), served: AtomicU64::new(0), cancelled: AtomicBool::new(false) }
    }

    /// Counts requests; false where the run is to stop.
    pub(crate) fn advance(&self, requests: u64) -> bool {
        let served = self.served.fetch_add(requests, Ordering::Relaxed) + requests;
        if !self.shown.load(Ordering::Relaxed) && self.started.elapsed() >= SHOW_AFTER && !self.shown.swap(true, Ordering::Relaxed) {
            // Draws nothing unless standard error is a terminal.
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_position(served);
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

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
