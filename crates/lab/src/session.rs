//! Session of a drive, for every caller. A session creates, observes and fills the drive. Then it
//! warms up, measures and judges the drive.
//!
//! ```text
//! Session::new   a drive with its content, and its oracle
//! warm_up        serves requests that are not counted
//! measure        begins counting
//! serve          serves requests in the drive's gear
//! judge          finds losses in data that was not read, and ends the oracle's checks
//! ```

use vpass_core::base::request::{Request, RequestSource};
use vpass_core::base::steady::Images;
use vpass_core::config::{ConfigError, DriveConfig};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::slots::card::Protection;
use vpass_core::time::{Replay, RunError, end_warm_up, run_untimed, serve_untimed, warm_up};
use vpass_core::watch::watcher::{Batches, Watcher};
use vpass_oracle::snapshots::{DoseRecord, ERASURES};
use vpass_oracle::{Level, Oracle, OracleReport};

/// Start-up states of the latest drives. The drives of a comparison share these states.
static IMAGES: Images = Images::new();

/// Inputs of a session.
#[derive(Clone, Debug)]
pub struct Beginning<'a> {
    /// Drive with all values resolved.
    pub config: &'a DriveConfig,
    /// Techniques of the drive and their random seed.
    pub techniques: &'a Techniques,
    /// Whether time is simulated.
    pub timed: bool,
    /// Level of the oracle's checks; `None` without an oracle.
    pub oracle: Option<Level>,
    /// Random seed of the drive's content.
    pub seed: u64,
}

/// Function that is called regularly with the number of requests served so far. It returns false to
/// stop.
pub type Step<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;

/// Drive with its content, before the start of counting.
pub struct Session {
    drive: Drive,
    timed: bool,
}

impl Session {
    /// Creates the drive.
    ///
    /// # Errors
    /// Reports a technique without enough space on the drive.
    pub fn new(beginning: &Beginning) -> Result<Self, ConfigError> {
        let Beginning { config, techniques, timed, oracle, seed } = *beginning;
        let mut drive = Drive::new(config.clone(), techniques, timed)?;
        if let Some(level) = oracle {
            let mut oracle = Oracle::new(drive.geometry(), drive.config()).at(level);
            oracle.expect_refresh(
                drive.config(),
                techniques.refresh.name(),
                techniques.seed,
                timed,
            );
            let card = techniques.reclaim.card();
            if card.is_some_and(|technique| technique.protects == Protection::Sound) {
                oracle.expect_budgets(drive.config());
            }
            if drive.moves_without_alarm() {
                oracle.expect_early_jobs();
            }
            drive.observe(Box::new(oracle));
        }
        drive.precondition_from(seed, &IMAGES);
        Ok(Self { drive, timed })
    }

    /// Records erases, and doses if the drive has an oracle. The record begins with the counted
    /// phase.
    pub fn record_doses(&mut self) {
        self.drive.keep_erasures(ERASURES);
        if let Some(oracle) = self.drive.observer::<Oracle>() {
            oracle.record_doses();
        }
    }

    /// Adds a watcher. It takes the events from now on, until the session is judged.
    pub fn watch(&mut self, watcher: Box<dyn Watcher>) {
        self.drive.observe(Box::new(Batches::new(watcher)));
    }

    /// Returns the drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Returns the drive, for a gear that runs it directly.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Serves requests in the untimed gear, whatever the gear of the drive. Returns the number of
    /// requests.
    ///
    /// # Errors
    /// Returns the errors of the workload, or a stop by `step`.
    pub fn warm_up(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        warm_up(&mut self.drive, source, step)
    }

    /// Serves a part of a warm-up. The caller calls [`Self::end_warm_up`] after the last part.
    ///
    /// # Errors
    /// Reports a request after the end of time, or a stop by `step`.
    pub fn warm_up_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// Sets the clock to 0.
    pub fn restart_clock(&mut self) {
        self.drive.restart_clock();
    }

    /// Ends a warm-up that came in parts, by writing the write buffer.
    pub fn end_warm_up(&mut self) {
        end_warm_up(&mut self.drive);
    }

    /// Begins counting.
    pub fn measure(mut self) -> Measured {
        self.drive.restart_clock();
        self.drive.begin_measurement();
        let engine = self.timed.then(|| Replay::new(&self.drive));
        Measured { drive: self.drive, engine }
    }
}

/// Drive in the counted phase.
pub struct Measured {
    /// Drive of the session.
    pub drive: Drive,
    /// Engine of the timed gear; `None` in other gears.
    pub engine: Option<Replay>,
}

impl Measured {
    /// Serves requests in the drive's gear. Returns the number of requests.
    ///
    /// # Errors
    /// Returns the errors of the workload, or a stop by `step`.
    pub fn serve(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        match &mut self.engine {
            Some(engine) => engine.run(&mut self.drive, source, step),
            None => run_untimed(&mut self.drive, source, step),
        }
    }

    /// Serves the given requests on a drive in the untimed gear.
    ///
    /// # Errors
    /// Reports a request after the end of time, or a stop by `step`.
    pub fn serve_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// Ends the measurement.
    pub fn judge(self) -> Judged {
        let Self { mut drive, engine } = self;
        drive.report_unread_losses();
        while let Some(mut batches) = drive.end_observation_of::<Batches>() {
            batches.flush();
        }
        let oracle = drive.end_observation_of::<Oracle>();
        let threshold_used = oracle.as_ref().and_then(|oracle| oracle.threshold_used());
        let concluded = oracle.map(|oracle| oracle.conclude_with_doses(&drive));
        let (oracle, doses) =
            concluded.map_or((None, None), |(report, doses)| (Some(report), doses));
        Judged { drive, engine, oracle, threshold_used, doses }
    }
}

/// Drive at the end of a session.
pub struct Judged {
    /// Drive after its last request.
    pub drive: Drive,
    /// Engine of the timed gear; `None` in other gears.
    pub engine: Option<Replay>,
    /// Report of the oracle; `None` without an oracle.
    pub oracle: Option<OracleReport>,
    /// Largest ratio of dose to limit in a block when its reclaim job began. `None` without an
    /// oracle or without reclaim jobs.
    pub threshold_used: Option<f64>,
    /// Record of doses. `None` if no record was wanted, if the drive has no oracle, or if reads
    /// disturb nothing.
    pub doses: Option<DoseRecord>,
}
