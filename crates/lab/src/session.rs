//! A drive from being made to being judged, the same way for whoever runs one: made, watched and
//! filled; warmed up; measured; judged.
//!
//! ```text
//! Session::new   a drive with its content, the oracle beside it    warm_up    serves requests that nothing counts
//! measure        counting begins                                   serve      serves requests in the drive's gear
//! judge          losses that nobody read are found, and the oracle concludes
//! ```

use std::any::Any;

use vpass_core::base::request::{Request, RequestSource};
use vpass_core::base::steady::Images;
use vpass_core::config::{ConfigError, DriveConfig};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::slots::card::Protection;
use vpass_core::slots::reclaim::technique;
use vpass_core::time::{Replay, RunError, end_warm_up, run_untimed, serve_untimed, warm_up};
use vpass_oracle::{Level, Oracle, OracleReport};

/// What the drive made last began with: rows and ages of a comparison begin alike.
static IMAGES: Images = Images::new();

/// What a session is to begin with.
#[derive(Clone, Debug)]
pub struct Beginning<'a> {
    /// The drive, resolved.
    pub config: &'a DriveConfig,
    /// Its techniques and the seed of their chance.
    pub techniques: &'a Techniques,
    /// Whether time is simulated.
    pub timed: bool,
    /// How closely the oracle watches, where it does.
    pub oracle: Option<Level>,
    /// Of the drive's content.
    pub seed: u64,
}

/// What is done now and then: it hears the requests served so far, and says whether to go on.
pub type Step<'a> = &'a mut dyn FnMut(u64, &Drive) -> bool;

/// A drive with its content, before anything is counted.
pub struct Session {
    drive: Drive,
    timed: bool,
}

impl Session {
    /// Makes the drive.
    ///
    /// # Errors
    /// A technique that the drive leaves no room for.
    pub fn new(beginning: &Beginning) -> Result<Self, ConfigError> {
        let Beginning { config, techniques, timed, oracle, seed } = *beginning;
        let mut drive = Drive::new(config.clone(), techniques, timed)?;
        if let Some(level) = oracle {
            let mut oracle = Oracle::new(drive.geometry(), drive.config()).at(level);
            oracle.expect_refresh(drive.config(), &techniques.refresh, techniques.seed, timed);
            if technique(&techniques.reclaim)
                .is_some_and(|technique| technique.protects == Protection::Sound)
            {
                oracle.expect_budgets(drive.config());
            }
            drive.observe(Box::new(oracle));
        }
        drive.precondition_from(seed, &IMAGES);
        Ok(Self { drive, timed })
    }

    /// The drive as it is.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The drive, for a gear that drives it by itself.
    pub fn drive_mut(&mut self) -> &mut Drive {
        &mut self.drive
    }

    /// Serves requests at once, whatever the gear, and gives how many there were.
    ///
    /// # Errors
    /// The workload's, or that `step` wants an end.
    pub fn warm_up(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        warm_up(&mut self.drive, source, step)
    }

    /// Serves a part of a warm-up that is at hand; [`Self::end_warm_up`] comes behind the last.
    ///
    /// # Errors
    /// A request after the end of time, or that `step` wants an end.
    pub fn warm_up_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// The clock shows 0 from here on.
    pub fn restart_clock(&mut self) {
        self.drive.restart_clock();
    }

    /// Ends a warm-up in parts: nothing stays in the write buffer.
    pub fn end_warm_up(&mut self) {
        end_warm_up(&mut self.drive);
    }

    /// Counts from here on.
    pub fn measure(mut self) -> Measured {
        self.drive.restart_clock();
        self.drive.begin_measurement();
        let engine = self.timed.then(|| Replay::new(&self.drive));
        Measured { drive: self.drive, engine }
    }
}

/// A drive in the phase that counts.
pub struct Measured {
    /// The drive as it is.
    pub drive: Drive,
    /// What it runs in; none in the untimed gear.
    pub engine: Option<Replay>,
}

impl Measured {
    /// Serves requests in the drive's gear, and gives how many there were.
    ///
    /// # Errors
    /// The workload's, or that `step` wants an end.
    pub fn serve(&mut self, source: &mut dyn RequestSource, step: Step) -> Result<u64, RunError> {
        match &mut self.engine {
            Some(engine) => engine.run(&mut self.drive, source, step),
            None => run_untimed(&mut self.drive, source, step),
        }
    }

    /// Serves requests at hand in no time, of a drive in the untimed gear.
    ///
    /// # Errors
    /// A request after the end of time, or that `step` wants an end.
    pub fn serve_part(&mut self, requests: &[Request], step: Step) -> Result<(), RunError> {
        serve_untimed(&mut self.drive, requests, step)
    }

    /// Ends what is measured.
    pub fn judge(self) -> Judged {
        let Self { mut drive, engine } = self;
        drive.report_unread_losses();
        let watcher: Option<Box<dyn Any>> = drive.end_observation().map(|watcher| watcher as _);
        let oracle = watcher
            .and_then(|watcher| watcher.downcast::<Oracle>().ok())
            .map(|oracle| oracle.conclude(&drive));
        Judged { drive, engine, oracle }
    }
}

/// A drive at the end.
pub struct Judged {
    /// The drive as it was left.
    pub drive: Drive,
    /// What it ran in; none in the untimed gear.
    pub engine: Option<Replay>,
    /// What the oracle found, where it watched.
    pub oracle: Option<OracleReport>,
}
