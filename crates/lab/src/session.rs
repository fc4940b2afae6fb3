//! Session: the simulation of a drive, from its creation to the final checks. A session creates the
//! drive, attaches its oracle, and fills the drive with data. It then warms up the drive, serves
//! the counted requests, and checks the drive at the end.
//!
//! ```text
//! Session::new   creates a drive with its content, and its oracle
//! warm_up        serves requests that are not counted
//! measure        begins to count
//! serve          serves requests in the drive's gear
//! judge          finds losses in data that was not read, and ends the oracle's checks
//! ```

use vpass_drive::api::card::Protection;
use vpass_drive::base::request::{Request, RequestSource};
use vpass_drive::base::steady::Images;
use vpass_drive::config::{ConfigError, DriveConfig};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, RunError, end_warm_up, run_untimed, serve_untimed, warm_up};
use vpass_drive::watch::observer::{Event, Observer};
use vpass_oracle::snapshots::{DoseRecord, ERASURES};
use vpass_oracle::{Level, Oracle, OracleReport};

/// Start-up states of recently created drives. The drives that a comparison simulates can share
/// such a state, so it is computed only once.
static IMAGES: Images = Images::new();

/// Inputs of a session.
#[derive(Clone, Debug)]
pub struct Beginning<'a> {
    /// Configuration of the drive, in which every key has a value.
    pub config: &'a DriveConfig,
    /// Techniques of the drive, and the random seed that the techniques use.
    pub techniques: &'a Techniques,
    /// Whether the session simulates time.
    pub timed: bool,
    /// Level of the oracle's checks; `None` without an oracle.
    pub oracle: Option<Level>,
    /// Random seed for the drive's content.
    pub seed: u64,
}

/// Function that the session calls regularly, with the drive and the number of requests served so
/// far. The function returns false to stop the session.
pub type Step<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;

/// Session before the counted phase. The drive already has its data.
pub struct Session {
    drive: Drive,
    timed: bool,
}

impl Session {
    /// Creates the drive of a session.
    ///
    /// # Errors
    /// Returns an error if a technique has too little space on the drive.
    pub fn new(beginning: &Beginning) -> Result<Self, ConfigError> {
        let Beginning { config, techniques, timed, oracle, seed } = *beginning;
        let mut drive = Drive::new(config.clone(), techniques, timed)?;
        if let Some(level) = oracle {
            let mut oracle = Oracle::new(drive.geometry(), drive.config()).at(level);
            let Techniques { refresh, seed, .. } = *techniques;
            oracle.expect_refresh(drive.config(), refresh.name, seed, timed);
            if techniques.reclaim.protects == Protection::Sound {
                oracle.expect_budgets(drive.config());
            }
            drive.observe(Box::new(oracle));
        }
        drive.precondition_from(seed, &IMAGES);
        Ok(Self { drive, timed })
    }

    /// Starts to record the erases of the counted phase. If the drive has an oracle, the doses of
    /// this phase are recorded, too.
    pub fn record_doses(&mut self) {
        self.drive.keep_erasures(ERASURES);
        if let Some(oracle) = self.drive.observer::<Oracle>() {
            oracle.record_doses();
        }
    }

    /// Adds an observer. It receives all events from now until [`Measured::judge`] is called.
    pub fn watch(&mut self, observer: Box<dyn Observer>) {
        self.drive.observe(Box::new(Watched(observer)));
    }

    /// Returns the drive of the session.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// Returns the drive of the session. The fluid gear serves requests directly on this drive.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Serves requests in the untimed gear, even if the drive uses another gear. Returns the number
    /// of requests.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read, or if `step` stops the
    /// session.
    pub fn warm_up(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        warm_up(&mut self.drive, source, step)
    }

    /// Serves one part of a warm-up. After the last part, the caller must call
    /// [`Self::end_warm_up`].
    ///
    /// # Errors
    /// Returns an error if a request comes after the largest simulated time, or if `step` stops the
    /// session.
    pub fn warm_up_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// Sets the clock of the drive to 0.
    pub fn restart_clock(&mut self) {
        self.drive.restart_clock();
    }

    /// Ends a warm-up that was served in parts. The write buffer is written to flash.
    pub fn end_warm_up(&mut self) {
        end_warm_up(&mut self.drive);
    }

    /// Begins the counted phase.
    pub fn measure(mut self) -> Measured {
        self.drive.restart_clock();
        self.drive.begin_measurement();
        let engine = self.timed.then(|| Replay::new(&self.drive));
        Measured { drive: self.drive, engine }
    }
}

/// Drive in the counted phase.
pub struct Measured {
    /// Drive that the session measures.
    pub drive: Drive,
    /// Engine of the timed gear; `None` in other gears.
    pub engine: Option<Replay>,
}

impl Measured {
    /// Serves requests in the gear of the session. Returns the number of requests.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read, or if `step` stops the
    /// session.
    pub fn serve(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        match &mut self.engine {
            Some(engine) => engine.run(&mut self.drive, source, step),
            None => run_untimed(&mut self.drive, source, step),
        }
    }

    /// Serves a list of requests on a drive in the untimed gear.
    ///
    /// # Errors
    /// Returns an error if a request comes after the largest simulated time, or if `step` stops the
    /// session.
    pub fn serve_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// Ends the counted phase. Searches the drive for losses in data that was not read, and ends
    /// the checks of the oracle.
    pub fn judge(self) -> Judged {
        let Self { mut drive, engine } = self;
        drive.report_unread_losses();
        while drive.end_observation_of::<Watched>().is_some() {}
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
    /// Drive after the last request.
    pub drive: Drive,
    /// Engine of the timed gear; `None` in other gears.
    pub engine: Option<Replay>,
    /// Report of the oracle; `None` without an oracle.
    pub oracle: Option<OracleReport>,
    /// Largest dose of a wordline at the beginning of a reclaim job, as a share of the wordline's
    /// limit. All reclaim jobs of the session are considered. `None` without an oracle or without
    /// reclaim jobs.
    pub threshold_used: Option<f64>,
    /// Record of doses. `None` if no record was requested, if the drive has no oracle, or if reads
    /// disturb nothing.
    pub doses: Option<DoseRecord>,
}

/// Observer that the caller gave. It has a type of its own, so that the session finds it at its
/// end.
struct Watched(Box<dyn Observer>);

impl Observer for Watched {
    fn take(&mut self, event: Event<'_>) {
        self.0.take(event);
    }

    fn hears_alarms(&self) -> bool {
        self.0.hears_alarms()
    }

    fn wants_time(&self) -> bool {
        self.0.wants_time()
    }
}
