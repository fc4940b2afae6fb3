//! Plan of a run. vpass checks the whole plan before it starts the run or creates files.

mod about;
mod assumptions;
mod choose;
mod cycles;
mod fail;
mod few;
mod fluid;
mod later_seed;
mod notes;
mod room;
mod said;
mod sample;
mod stream;
mod watching;
mod workload;

use std::num::NonZeroU32;

use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{self, NO_PARITY, ParityTechnique};
use vpass_drive::api::reclaim::{self, Technique, promise};
use vpass_drive::api::refresh::{self, NO_REFRESH, RefreshTechnique};
use vpass_drive::base::phrase::{Dialect, Opt, Phrase, set};
use vpass_drive::base::request::{Arrival, RequestSource};
use vpass_drive::config::{ConfigError, DriveConfig};
use vpass_drive::hints;
use vpass_drive::phrase;
use vpass_techniques::card;
use vpass_workload::synthetic::{Sample, WorkloadConfig};

use crate::failure::Failure;
use crate::fault::caught;
use crate::hints::HintFile;
use crate::load::{self, Loaded};
use crate::progress::Begin;
use crate::setup::{Base, Gear, Setup, Watch};

pub use crate::setup::Cycles;
pub use choose::{Cards, Choose, Chosen, gc_named, parity_named, reclaim_named, refresh_named};
pub use few::{MOST_RUNS, require_few};
pub use fluid::{Fluid, Tables};
use notes::unit_notes;
pub use room::{require_room, room_of_each};
pub use said::SaidOfRefresh;
pub use sample::{FEWEST_PAGES, Whole};
pub use stream::Stream;
pub use watching::Watching;
pub use workload::{ADAPTIVE, FROM_JOBS, Workload};

/// Drive, workload and options of a run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// Drive in which every key has a value.
    pub drive: Loaded<DriveConfig>,
    /// Note about a capacity that settings changed without naming it.
    pub resized: Option<String>,
    /// Source of the requests of the run.
    pub workload: Workload,
    /// Read-reclaim technique.
    pub reclaim: &'static Technique,
    /// Garbage collection policy.
    pub gc: &'static GcTechnique,
    /// Refresh technique.
    pub refresh: &'static RefreshTechnique,
    /// Refresh settings that the user gave. The settings in `drive` may differ, because a parity
    /// technique can change the settings of refresh.
    pub said_of_refresh: SaidOfRefresh,
    /// Parity technique.
    pub parity: &'static ParityTechnique,
    /// Gear of the run.
    pub gear: Gear,
    /// Number of passes over the workload.
    pub repeat: NonZeroU32,
    /// Whether to repeat the workload until the wear per host page has settled. If true, `repeat`
    /// is not used.
    pub until_stable: bool,
    /// Workload that is served completely before `workload`. The earlier workload has a clock of
    /// its own. The clock of `workload` starts when the earlier workload has ended.
    pub before: Option<WorkloadConfig>,
    /// Number of requests in the warm-up. Results do not count these requests.
    pub warm_up: u64,
    /// Number of block cycles after which the run ends. If `Some`, the number of requests is only
    /// an upper limit. If `None`, the run ends after the last request.
    pub cycles: Option<Cycles>,
    /// P/E counts of additional drives, in rising order. These drives are simulated only to project
    /// the life.
    pub ages: Vec<u32>,
    /// Sample: the simulated pages of the whole drive. `drive` describes a drive that has only
    /// these pages.
    pub sample: Sample,
    /// Facts about the whole drive from which a sample was taken; `None` without a sample.
    pub whole: Option<Whole>,
    /// Failures that are injected during the counted phase. Each failure comes with its time.
    pub fail: Vec<vpass_drive::base::failure::Failure>,
    /// Dialect in which messages name options. For example, the command line and the Python module
    /// write options differently.
    pub dialect: &'static dyn Dialect,
    /// Random seed.
    pub seed: u64,
    /// Random seed of the drive's start alone, for tests; `None` uses `seed`.
    pub start_seed: Option<u64>,
    /// Level at which the oracle checks the drive.
    pub oracle: Watch,
    /// Whether the time of the host's page reads is split into stages (`Summary::page_reads`).
    /// Stages require the timed gear without an oracle.
    pub stages: bool,
    /// Whether the run records data for its results folder: latencies by window of time (in the
    /// timed gear), doses and erases. The additional drives of `ages` never record such data.
    pub files: bool,
    /// Observers of the drive from its start-up state until the end of the run. The additional
    /// drives of `ages` have none.
    pub watchers: Vec<Watching>,
}

impl RunPlan {
    /// Builds a plan from the settings that the user gave.
    ///
    /// # Errors
    /// Returns the first error in the settings.
    pub fn new(setup: &Setup, named: impl Choose, begin: Begin) -> Result<Self, Failure> {
        caught(|| Self::prepared(setup, named, begin, true)?.checked())
    }

    /// Builds a plan from the settings that the user gave. Does not check whether the techniques
    /// suit the drive and the workload; [`Self::with_room_or_not`] makes this check.
    ///
    /// # Errors
    /// Returns an error if the name of a technique is unknown. Also returns an error if the drive,
    /// the workload or an option is invalid.
    pub fn unchecked(setup: &Setup, named: impl Choose, begin: Begin) -> Result<Self, Failure> {
        caught(|| Self::prepared(setup, named, begin, false))
    }

    fn prepared(
        setup: &Setup,
        named: impl Choose,
        begin: Begin,
        refuses: bool,
    ) -> Result<Self, Failure> {
        let Cards { reclaim, gc, refresh, parity } = named.cards()?;
        let sets = load::overrides(&setup.base.set)?;
        let mut drive = load::drive(&setup.base.drive, &sets)?;
        let resized = load::resize_note(&drive, &sets);
        let said_of_refresh = SaidOfRefresh::of(&drive.config, &sets, refresh);
        let refresh = said_of_refresh.put_under(&mut drive, parity, refresh)?;
        if setup.out_of_phase != 0.0 {
            drive.config.start.reads =
                cycles::start_reads(&drive.config, reclaim, setup.out_of_phase)?;
        }
        if refuses {
            // The refresh settings are checked before the survey of a trace, because the survey may
            // take long. If data on the drive is too old at the start, this check names the age as
            // the cause. A later check would only say that the read limits are too low.
            refresh::check(&drive.config, refresh)
                .map_err(|e| Failure::usage(e).at(format!("drive {}", drive.name)))?;
            refusal(&drive, reclaim).map_or(Ok(()), Err)?;
        }
        let given = HintFile::given(&setup.hints)?;
        let workload = Workload::new(setup, &sets, &drive.config, begin)?;
        let hints = workload.hints(&setup.hints, given)?;
        if let Some(hints) = &hints {
            let (kind, extents) = workload.extents(&drive.config)?;
            drive.config.hints.said =
                Some(hints.ranges(kind, &extents, drive.config.drive.capacity)?);
        }
        let plan = Self {
            resized,
            refresh,
            said_of_refresh,
            parity,
            ..Self::once(&setup.base, drive, workload, reclaim, gc)
        };
        let plan = Self {
            repeat: setup.repeat,
            until_stable: setup.until_stable,
            warm_up: setup.warm_up,
            fail: plan.workload.failures(&setup.fail)?,
            before: setup.before.clone(),
            cycles: setup.cycles,
            stages: setup.stages,
            ages: ages(setup, &plan)?,
            ..plan
        };
        plan.sampled(setup.sample)
    }

    /// Returns a plan for one pass over a given workload, with given techniques.
    pub fn once(
        base: &Base,
        drive: Loaded<DriveConfig>,
        workload: Workload,
        reclaim: &'static Technique,
        gc: &'static GcTechnique,
    ) -> Self {
        let said_of_refresh = SaidOfRefresh::of(&drive.config, &[], None);
        Self {
            drive,
            workload,
            resized: None,
            reclaim,
            gc,
            refresh: card(NO_REFRESH),
            said_of_refresh,
            parity: card(NO_PARITY),
            gear: base.gear,
            repeat: NonZeroU32::MIN,
            until_stable: false,
            before: None,
            warm_up: 0,
            cycles: None,
            ages: vec![],
            sample: Sample::WHOLE,
            whole: None,
            fail: vec![],
            dialect: base.dialect,
            seed: base.seed,
            start_seed: None,
            oracle: base.oracle,
            stages: false,
            files: false,
            watchers: vec![],
        }
    }

    /// Returns this plan with other techniques.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, or if a technique needs more space than the drive
    /// has. Also returns an error if the refresh technique cannot keep its guarantee on the drive,
    /// or if requests have no times although the run needs them.
    pub fn with(&self, named: impl Choose) -> Result<Self, Failure> {
        let plan = self.with_room_or_not(named)?;
        require_room(&[&plan])?;
        Ok(plan)
    }

    /// Returns this plan with other techniques. Does not check whether the drive has enough space
    /// for parity; [`require_room`] makes this check.
    ///
    /// # Errors
    /// Returns the errors of [`Self::with`], without the error about too little space for parity.
    pub fn with_room_or_not(&self, named: impl Choose) -> Result<Self, Failure> {
        let Cards { reclaim, gc, refresh, parity } = named.cards()?;
        let mut plan = Self { reclaim, gc, parity, ..self.clone() };
        plan.refresh = self.said_of_refresh.put_under(&mut plan.drive, parity, refresh)?;
        plan.said_of_refresh.is_named = refresh.is_some();
        caught(|| plan.check_all_but_room())?;
        Ok(plan)
    }

    /// Checks whether this plan can run, and returns the plan.
    ///
    /// # Errors
    /// Returns an error if a technique needs more space than the drive has, or if the refresh
    /// technique cannot keep its guarantee on the drive. Also returns an error if requests have no
    /// times although the run needs them.
    pub fn checked(self) -> Result<Self, Failure> {
        self.check_all_but_room()?;
        require_room(&[&self])?;
        Ok(self)
    }

    fn check_all_but_room(&self) -> Result<(), Failure> {
        let period = refresh::check(&self.drive.config, self.refresh);
        period.map_err(|e| self.refused_drive(e))?;
        hints::check(&self.drive.config).map_err(|e| self.refused_drive(e))?;
        self.check_parity()?;
        self.check_failures()?;
        self.check_schedule()?;
        if self.is_fluid() {
            self.check_fluid()?;
        } else {
            self.require_time()?;
        }
        self.refusal().map_or(Ok(()), Err)
    }

    /// Refuses a drive with accelerated wear, because the counts of a run must be those of a real
    /// drive.
    ///
    /// # Errors
    /// Returns an error if wear is accelerated. The error names the key `wear.acceleration` and its
    /// only valid value.
    pub fn require_no_acceleration(&self) -> Result<(), Failure> {
        let acceleration = self.drive.config.wear.acceleration;
        if acceleration == 1 {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "drive {}: wear.acceleration = {acceleration} is only for `vpass life`, which scales \
             simulated time with this factor; here, wear.acceleration must be 1",
            self.drive.name
        )))
    }

    /// Converts phrases into sentences. The sentences name options in the dialect of the plan.
    pub fn worded(&self, phrases: &[Phrase]) -> Vec<String> {
        phrases.iter().map(|phrase| phrase.in_dialect(self.dialect)).collect()
    }

    /// Returns the error message about a warm-up that is longer than a pass. `requests` is the
    /// number of requests in a pass.
    pub(crate) fn short_pass(&self, requests: u64) -> Failure {
        Failure::usage(format!("one pass of the workload has only {requests} requests"))
            .at(Opt::WarmUp.to(self.warm_up))
    }

    /// Returns the error message about a drive that was refused.
    pub(crate) fn refused_drive(&self, e: ConfigError) -> Failure {
        Failure::usage(e).at(format!("drive {}", self.drive.name))
    }

    /// Refuses a parity technique that does not work with this drive.
    fn check_parity(&self) -> Result<(), Failure> {
        if parity::has_stripes(self.parity) && !self.sample.is_whole() {
            let what =
                format!("stripes of `{}` use all dies, but a sample has fewer dies", self.parity);
            return Err(Failure::usage(what).at(Opt::Sample));
        }
        let checked = parity::goes_with(&self.drive.config, self.parity);
        checked.map_err(|e| self.refused_drive(e))
    }

    /// Returns whether every request of the run must have a time.
    pub fn needs_time(&self) -> bool {
        self.drive.config.keeps_time()
    }

    /// Opens the source of requests once, to check that it can be opened. If the run needs times,
    /// also checks that requests have times. Each run later opens the source again.
    fn require_time(&self) -> Result<(), Failure> {
        let arrival = match self.workload {
            Workload::Adversary { rate: Some(_), .. } => Arrival::Open,
            Workload::Adversary { depth, .. } => Arrival::Closed { depth },
            _ => self.source()?.arrival(),
        };
        let before = self.source_before()?.is_none_or(|before| before.arrival() == Arrival::Open);
        // If requests have no times, the timed gear gives them times, except during a warm-up.
        if !self.needs_time()
            || before && (arrival == Arrival::Open || self.gear == Gear::Timed && self.warm_up == 0)
        {
            return Ok(());
        }
        let option = if *self.refresh == *NO_REFRESH {
            "start.age".into()
        } else {
            format!("refresh {}", self.refresh)
        };
        let warm_up_or_gear =
            if self.gear == Gear::Timed || !before { "a warm-up" } else { "the untimed gear" };
        Err(Failure::usage(format!(
            "{option} needs a clock. In {warm_up_or_gear}, the clock follows the times of the \
             requests, but requests in closed loop have no times."
        ))
        .with_remedy(phrase![
            "Set workload.rate, which replaces workload.queue_depth (",
            set("workload.rate", 1000),
            "), or replay a trace with its recorded times, without ",
            Opt::QueueDepth,
        ]))
    }

    /// Returns the reason why the technique does not have enough space with these settings. Returns
    /// `None` if there is enough space.
    pub fn refusal(&self) -> Option<Failure> {
        refusal(&self.drive, self.reclaim)
    }

    /// Returns the names of the plan's techniques.
    pub fn chosen(&self) -> Chosen<'static> {
        Chosen {
            reclaim: self.reclaim.name,
            gc: self.gc.name,
            refresh: Some(self.refresh.name),
            parity: self.parity.name,
        }
    }

    /// Returns whether the technique is counterfactual. No real drive can reach the results of a
    /// counterfactual technique.
    pub fn is_counterfactual(&self) -> bool {
        self.reclaim.is_counterfactual()
    }

    /// Returns the number of requests in all passes. Returns `None` if the number is not known
    /// before the run.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn requests(&self) -> Result<Option<u64>, Failure> {
        if let Workload::Adversary { requests, .. } = self.workload {
            return Ok(Some(requests));
        }
        if self.is_fluid() {
            return self.fluid_requests();
        }
        let of_a_pass = self.source()?.len_hint().filter(|_| !self.until_stable);
        let of_a_run = of_a_pass.and_then(|n| n.checked_mul(u64::from(self.repeat.get())));
        let before = self.source_before()?.map_or(Some(0), |before| before.len_hint());
        Ok(of_a_run
            .and_then(|n| n.checked_add(before?))
            .and_then(|n| n.checked_mul(1 + self.ages.len() as u64)))
    }

    /// Returns a copy of this plan for a drive with this P/E count. The copy has no additional
    /// drives and no watchers, and does not record data for a results folder.
    #[must_use]
    pub fn at_age(&self, pec: u32) -> Self {
        let mut plan = Self { ages: vec![], files: false, watchers: vec![], ..self.clone() };
        plan.drive.config.start.pec = pec;
        plan
    }
}

/// Returns the P/E counts of the additional drives, in rising order.
fn ages(setup: &Setup, plan: &RunPlan) -> Result<Vec<u32>, Failure> {
    let (start, rated) = (plan.drive.config.start.pec, plan.drive.config.drive.rated_pec);
    let mut ages = setup.ages.clone();
    ages.sort_unstable();
    ages.dedup();
    // No additional drive needs the P/E count `start`, because the main drive of the plan starts at
    // this P/E count.
    ages.retain(|pec| *pec != start);
    if !ages.is_empty() && plan.drive.config.start.pec_most() > start {
        let why = "a drive whose blocks begin with different wear (start.pec_spread, \
             start.worn_share) has no single age";
        return Err(Failure::usage(why).at(Opt::Ages).with_remedy(
            "leave out the ages, or leave out start.pec_spread and start.worn_share",
        ));
    }
    match ages.iter().find(|pec| **pec < start || **pec >= rated) {
        None => Ok(ages),
        Some(pec) => Err(Failure::usage(format!(
            "ages are P/E counts; each age must be at least start.pec = {start} and less than \
             drive.rated_pec = {rated}"
        ))
        .at(Opt::Ages.to(pec))),
    }
}

/// Returns the reason why a technique is refused on this drive. Returns `None` if the technique is
/// accepted.
fn refusal(drive: &Loaded<DriveConfig>, technique: &Technique) -> Option<Failure> {
    let checked = reclaim::check(&drive.config, technique)
        .and_then(|()| promise::check(&drive.config, technique));
    checked.err().map(|e| Failure::usage(e).at(format!("drive {}", drive.name)))
}
