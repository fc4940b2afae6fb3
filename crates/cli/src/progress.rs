//! A progress bar on a terminal, from the first second on; elsewhere a line for each stage of work
//! that takes more than two seconds. And the one place that hears Ctrl-C.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use vpass_lab::failure::Failure;
use vpass_lab::progress::Progress;

use crate::exit::Exit;

/// The user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Work under way that does not look at the above: drives being made.
static DEAF: AtomicUsize = AtomicUsize::new(0);
/// The first interrupt never ends the process at once: what was found so far is worth keeping.
static PATIENT: AtomicBool = AtomicBool::new(false);
/// Results are whole and on their way to their place: nothing is to be thrown away any more.
static KEPT: AtomicBool = AtomicBool::new(false);
/// What is kept of a command that is not done, in a sentence.
static ROWS: Mutex<Option<String>> = Mutex::new(None);
/// What is to be removed should the process end at once.
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(vec![]);

/// A folder or file that is not yet what it should become.
#[derive(Clone, Debug)]
pub(crate) struct Unfinished {
    pub(crate) temporary: PathBuf,
    /// Where it will be.
    pub(crate) place: PathBuf,
    /// Folders above it that were made for it, the innermost first.
    pub(crate) made: Vec<PathBuf>,
}

impl Unfinished {
    /// To be removed should the user stop the process.
    pub(crate) fn register(&self) {
        KEPT.store(false, Ordering::Relaxed);
        if let Ok(mut all) = UNFINISHED.lock() {
            all.push(self.clone());
        }
    }

    /// It is whole: from now on no interrupt removes it, nor says that nothing was written.
    pub(crate) fn keep(&self) {
        if let Ok(mut all) = UNFINISHED.lock() {
            KEPT.store(true, Ordering::Relaxed);
            all.retain(|other| other.temporary != self.temporary);
        }
    }

    /// Removes it, and what was made for it as far as nothing else is in there.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_dir_all(&self.temporary)
            .or_else(|_| std::fs::remove_file(&self.temporary));
        for folder in &self.made {
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// What a path will be called once what is written there is in its place.
pub(crate) fn place_of(path: &Path) -> PathBuf {
    let all = UNFINISHED.lock();
    let found = all.ok().and_then(|all| {
        all.iter().find_map(|u| Some(u.place.join(path.strip_prefix(&u.temporary).ok()?)))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// Whoever works is given so long to hear of an interrupt and to end in good order.
const GRACE: Duration = Duration::from_millis(700);

/// Takes over SIGINT, SIGTERM and SIGHUP: the first asks the run to stop, and stops the process
/// where that takes too long or nobody listens; so does the second.
pub(crate) fn hear_interrupts() {
    // Where no handler can be set the system's own stays: the process ends at once, which leaves
    // only a temporary folder.
    let _ = ctrlc::set_handler(|| {
        let is_first = !INTERRUPTED.swap(true, Ordering::Relaxed);
        if is_first && PATIENT.load(Ordering::Relaxed) {
            return;
        }
        if is_first && DEAF.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(GRACE);
        }
        // Held to the end: what is whole by now is in its place, and nothing else will be.
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

/// Takes note of finished rows that stay where this command ends early: how many, and where.
pub(crate) fn rows_are_kept(what: Option<String>) {
    if let Ok(mut rows) = ROWS.lock() {
        *rows = what;
    }
}

/// Why the command ends, with the rows that are kept.
pub(crate) fn in_words(failure: &Failure) -> String {
    let rows = ROWS.lock().ok().and_then(|rows| rows.clone());
    match rows {
        None => failure.sentence.clone(),
        Some(rows) if *failure == Failure::interrupted() => format!("interrupted; {rows}"),
        Some(rows) => format!("{}; {rows}", failure.sentence),
    }
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

/// The bar of a piece of work, counted in requests or whatever else it does.
pub(crate) struct Bar {
    shown: ProgressBar,
    done: AtomicU64,
    stages: Option<Arc<Stages>>,
}

/// Stages of work, said a line each.
#[derive(Default)]
struct Stages(Mutex<Said>);

#[derive(Default)]
struct Said {
    /// The work takes long enough for lines.
    is_long: bool,
    /// The work is over: nothing more is said.
    is_over: bool,
    /// Before that is known, the latest stage of each piece of work, by its name.
    waiting: Vec<(Option<String>, String)>,
}

/// Work that ends before this says nothing of its stages.
const SAY_AFTER: Duration = Duration::from_secs(2);

impl Stages {
    /// Stages for work that begins now, unless a terminal shows a bar or the user wants no lines.
    fn begin() -> Option<Arc<Self>> {
        if std::io::stderr().is_terminal()
            || std::env::var_os(PROGRESS).is_some_and(|said| said == "off")
        {
            return None;
        }
        let stages = Arc::new(Self::default());
        let later = stages.clone();
        let say = move || {
            std::thread::sleep(SAY_AFTER);
            later.say_what_waits();
        };
        std::thread::Builder::new().spawn(say).is_ok().then_some(stages)
    }

    fn enter(&self, whose: Option<&str>, what: &str) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if said.is_long {
            return say_stage(whose, what);
        }
        match said.waiting.iter_mut().find(|(other, _)| other.as_deref() == whose) {
            Some((_, stage)) => what.clone_into(stage),
            None => said.waiting.push((whose.map(Into::into), what.into())),
        }
    }

    fn say_what_waits(&self) {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !said.is_over {
            said.is_long = true;
            said.waiting.drain(..).for_each(|(whose, what)| say_stage(whose.as_deref(), &what));
        }
    }

    fn end(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
    }
}

/// Environment variable: `off` silences the lines that say what is being done.
const PROGRESS: &str = "VPASS_PROGRESS";

fn say_stage(whose: Option<&str>, what: &str) {
    let whose = whose.map(|whose| format!("{whose}: ")).unwrap_or_default();
    crate::out::say(&format!("vpass: {whose}{what}"));
}

/// A run that ends before this shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);
/// The bar moves this often even where nothing is counted, as while a drive is being filled.
const TICK: Duration = Duration::from_millis(200);

impl Bar {
    /// For so many of these things in all, where that is known.
    pub(crate) fn new(total: Option<u64>, things: &str) -> Self {
        let template = match total {
            Some(_) => format!(
                "{{bar:30}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}, {{elapsed}}, {{eta}} left"
            ),
            None => format!("{{spinner}} {{human_pos}} {things}, {{elapsed}}"),
        };
        KEPT.store(false, Ordering::Relaxed);
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template(&template)
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        if std::io::stderr().is_terminal() {
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
        Self { shown: bar, done: AtomicU64::new(0), stages: Stages::begin() }
    }
}

impl Progress for Bar {
    fn advance(&self, done: u64) -> bool {
        self.shown.set_position(self.done.fetch_add(done, Ordering::Relaxed) + done);
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
        if let Some(stages) = &self.stages {
            stages.enter(whose, what);
        }
    }

    fn note(&self, sentence: &str) {
        crate::out::say(&format!("vpass: {sentence}"));
    }
}

/// A bar for whoever asks for one.
pub(crate) fn bar(total: Option<u64>, things: &str) -> Box<dyn Progress> {
    Box::new(Bar::new(total, things))
}

impl Drop for Bar {
    /// Takes the bar away.
    fn drop(&mut self) {
        self.shown.finish_and_clear();
        if let Some(stages) = &self.stages {
            stages.end();
        }
    }
}
