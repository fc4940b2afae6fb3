//! Progress lines about long work. The lines are printed if standard error is not a terminal. When
//! a new stage of the work begins, a line names the stage. Every ten seconds, a line shows the rate
//! and the remaining time.
//!
//! ```text
//! vpass: measuring
//! vpass: measuring: 1,234,000 of 5,000,000 requests, 120,000/s, 31 s left
//! ```

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vpass_lab::failure::Failure;
use vpass_lab::numbers::count;

/// Time before the first progress line. Shorter work prints no lines.
const SAY_AFTER: Duration = Duration::from_secs(2);
/// Default time between two progress lines about the same stage.
const SAY_EVERY: Duration = Duration::from_secs(10);
/// Environment variable for progress lines. The variable holds `off`, or the number of seconds
/// between two lines.
const PROGRESS: &str = "VPASS_PROGRESS";

/// Returns the time between two progress lines; `None` if the user wants no lines.
///
/// # Errors
/// Returns an error if the value of the variable is neither `off` nor a number of seconds.
pub(super) fn interval() -> Result<Option<Duration>, Failure> {
    let Some(said) = std::env::var_os(PROGRESS) else { return Ok(Some(SAY_EVERY)) };
    let said = said.to_string_lossy();
    if said == "off" {
        return Ok(None);
    }
    let seconds = said.parse().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.map(|seconds| Some(Duration::from_secs_f64(seconds))).ok_or_else(|| {
        Failure::usage(format!(
            "{PROGRESS}={said}: `off`, or a time of 0.1 to 86,400 seconds between two lines, is \
             expected"
        ))
    })
}

/// Progress lines about one task.
pub(super) struct Lines {
    said: Mutex<Said>,
    ended: Condvar,
    /// Number of items done so far.
    done: Arc<AtomicU64>,
    total: Option<u64>,
    things: String,
}

#[derive(Default)]
struct Said {
    /// Whether the work has already taken long enough to print lines.
    is_long: bool,
    /// Whether the work is over. After that, no line is printed.
    is_over: bool,
    stages: Present,
}

/// List of the current stages, one for each part of the work. Each stage is stored with the name of
/// its part. The stage that began last is at the end of the list.
#[derive(Default)]
pub(super) struct Present(Vec<(Option<String>, String)>);

/// Name of the stage in which items are counted.
const COUNTING: &str = "measuring";

impl Present {
    /// Begins a new stage in one part of the work.
    pub(super) fn enter(&mut self, whose: Option<&str>, what: &str) {
        self.0.retain(|(other, _)| other.as_deref() != whose);
        self.0.push((whose.map(Into::into), what.into()));
    }

    /// Returns the name of the stage of the whole work. If a part of the work is in the stage
    /// "measuring", the name is "measuring". Otherwise, the name is that of the latest stage.
    /// Before the first stage, the name is empty.
    pub(super) fn of_all(&self) -> &str {
        let counts = self.0.iter().find(|(_, what)| what == COUNTING);
        counts.or(self.0.last()).map_or("", |(_, what)| what)
    }
}

impl Lines {
    /// Begins the progress lines of a task. Returns `None` if the user wants no lines. Also returns
    /// `None` on a terminal, because a terminal shows a bar instead.
    pub(super) fn begin(
        every: Option<Duration>,
        done: &Arc<AtomicU64>,
        total: Option<u64>,
        things: &str,
    ) -> Option<Arc<Self>> {
        let every = every.filter(|_| !std::io::stderr().is_terminal())?;
        let lines = Arc::new(Self {
            said: Mutex::default(),
            ended: Condvar::new(),
            done: done.clone(),
            total,
            things: things.into(),
        });
        let later = lines.clone();
        // If the system cannot start a thread, the command prints no progress lines.
        std::thread::Builder::new().spawn(move || later.say(every)).is_ok().then_some(lines)
    }

    /// Begins a new stage in one part of the work.
    pub(super) fn enter(&self, whose: Option<&str>, what: &str) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.stages.enter(whose, what);
        if said.is_long {
            say_stage(whose, what);
        }
    }

    /// Ends the progress lines of the work.
    pub(super) fn end(&self) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.ended.notify_all();
    }

    /// Prints progress lines until the work is over.
    fn say(&self, every: Duration) {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = |said, time| {
            let waited = self.ended.wait_timeout_while(said, time, |said: &mut Said| !said.is_over);
            waited.unwrap_or_else(PoisonError::into_inner).0
        };
        let mut at = Instant::now();
        let mut said = wait(said, SAY_AFTER);
        if said.is_over {
            return;
        }
        said.is_long = true;
        said.stages.0.iter().for_each(|(whose, what)| say_stage(whose.as_deref(), what));
        let mut before = 0;
        loop {
            said = wait(said, every);
            if said.is_over {
                return;
            }
            let (now, done) = (Instant::now(), self.done.load(Ordering::Relaxed));
            let rate = (done - before) as f64 / (now - at).as_secs_f64();
            if done > 0 {
                let line = line(said.stages.of_all(), done, self.total, &self.things, rate);
                crate::out::say(&format!("vpass: {line}"));
            }
            (before, at) = (done, now);
        }
    }
}

fn say_stage(whose: Option<&str>, what: &str) {
    let whose = whose.map(|whose| format!("{whose}: ")).unwrap_or_default();
    crate::out::say(&format!("vpass: {whose}{what}"));
}

/// Returns one progress line. `rate` is the number of items done per second.
fn line(stage: &str, done: u64, total: Option<u64>, things: &str, rate: f64) -> String {
    let stage = if stage.is_empty() { String::new() } else { format!("{stage}: ") };
    let of = total.map_or_else(String::new, |total| format!(" of {}", count(total)));
    let speed = if rate >= 1.0 { format!(", {}", per_second(rate)) } else { String::new() };
    let left = total.filter(|_| rate > 0.0).map_or_else(String::new, |total| {
        format!(", {} left", roughly(total.saturating_sub(done) as f64 / rate))
    });
    format!("{stage}{}{of} {things}{speed}{left}", count(done))
}

/// Formats a rate per second, such as "120,000/s".
pub(super) fn per_second(rate: f64) -> String {
    format!("{}/s", count(rate.round() as u64))
}

/// Formats a time as a whole number with its unit, such as "31 s".
fn roughly(seconds: f64) -> String {
    let (number, unit) = match seconds {
        s if s < 120.0 => (s, "s"),
        s if s < 7_200.0 => (s / 60.0, "min"),
        s if s < 172_800.0 => (s / 3_600.0, "h"),
        s => (s / 86_400.0, "days"),
    };
    format!("{} {unit}", count(number.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_stage_numbers_rate_and_time_left() {
        let of = |done, rate| line("measuring", done, Some(5_000_000), "requests", rate);
        assert_eq!(
            of(1_234_000, 120_000.4),
            "measuring: 1,234,000 of 5,000,000 requests, 120,000/s, 31 s left"
        );
        assert_eq!(of(1, 1000.0), "measuring: 1 of 5,000,000 requests, 1,000/s, 83 min left");
        assert_eq!(of(1_400_000, 100.0).rsplit(", ").next(), Some("10 h left"));
        assert_eq!(of(0, 0.5).rsplit(", ").next(), Some("116 days left"));
        assert_eq!(of(5_000_000, 10.0).rsplit(", ").next(), Some("0 s left"));
        // At a rate of 0, the time left is unknown.
        assert_eq!(of(7, 0.0), "measuring: 7 of 5,000,000 requests");
        assert_eq!(line("", 9, None, "cases", 3.0), "9 cases, 3/s");
    }

    #[test]
    fn the_stage_of_all_is_measuring_while_any_part_measures() {
        let mut stages = Present::default();
        assert_eq!(stages.of_all(), "");
        for (whose, what, of_all) in [
            (Some("none"), "preparing the drive", "preparing the drive"),
            (Some("none"), "measuring", "measuring"),
            (Some("block"), "preparing the drive", "measuring"),
            (Some("none"), "checking the end", "checking the end"),
            (Some("block"), "measuring", "measuring"),
        ] {
            stages.enter(whose, what);
            assert_eq!(stages.of_all(), of_all);
        }
    }
}
