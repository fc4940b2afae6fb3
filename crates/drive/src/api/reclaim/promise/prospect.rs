//! Computes the thresholds and the guarantee of a technique from the configuration alone, without
//! simulating a drive.

use super::{NO_SEED, Promise, check};
use crate::api::asked::Asked;
use crate::api::reclaim::late::late_reads;
use crate::api::reclaim::{Policy, Technique, Threshold, View, check_table};
use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::units::Ppn;
use crate::config::{ConfigError, DensityConfig, DisturbConfig, DriveConfig};
use crate::disturb::table::LimitTable;
use crate::disturb::told::Limits;
use crate::flash::contents::Contents;
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::SpaceSaving;
use crate::flash::recoded::Recoded;
use crate::hints;

/// Thresholds and guarantee of a technique, computed from the drive's configuration alone.
pub struct Prospect {
    blank: Blank,
    policy: Asked<dyn Policy>,
}

impl Prospect {
    /// Creates the prospect: the thresholds and the guarantee of a technique on a drive of this
    /// configuration.
    ///
    /// # Errors
    /// Returns the errors of [`check`].
    pub fn new(config: &DriveConfig, technique: &Technique) -> Result<Self, ConfigError> {
        check_table(
            technique,
            !config.disturb.model.disturbs() || config.disturb.model.has_table(),
        )?;
        check(config, technique)?;
        let config = &technique.drive(config.clone());
        Ok(Self { blank: Blank::new(config), policy: technique.asked(config, NO_SEED) })
    }

    /// Returns the thresholds for blocks at this P/E count, each with its derivation.
    pub fn thresholds(&self, pec: u32) -> Vec<Threshold> {
        self.explained(&self.blank.view(), pec)
    }

    /// Returns the thresholds for data with this hint, each with its derivation.
    pub fn thresholds_at(&self, budget: AccessLatency, pec: u32) -> Vec<Threshold> {
        let limits = self.blank.limits_at(budget);
        self.explained(&View { limits, ..self.blank.view() }, pec)
    }

    fn explained(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.policy.ask("explain", |policy| policy.explain(view, pec))
    }

    /// Returns the guarantee for blocks at this P/E count.
    pub fn promise(&self, pec: u32) -> Promise {
        self.policy.promise(&self.blank.view(), pec)
    }
}

/// Properties of a drive from which budgets are computed. Blocks and data are not among them.
pub(super) struct Blank {
    geometry: Geometry,
    pub(super) limits: Option<LimitTable>,
    /// Strictest hint that data may have. If a guarantee holds for this hint, it holds for every
    /// other hint.
    pub(super) budget: AccessLatency,
    disturb: DisturbConfig,
    density: DensityConfig,
    late_reads: u32,
    acceleration: u32,
    tracker: SpaceSaving,
    pages: PageCounters,
    contents: Contents,
    recoded: Recoded,
}

impl Blank {
    pub(super) fn new(config: &DriveConfig) -> Self {
        let geometry = Geometry::new(config);
        Self {
            limits: LimitTable::of(config),
            budget: hints::in_use(config)[0],
            disturb: config.disturb.clone(),
            density: config.density.clone(),
            late_reads: late_reads(config, &geometry),
            acceleration: config.wear.acceleration,
            tracker: SpaceSaving::default(),
            pages: PageCounters::default(),
            contents: Contents::new(0, geometry.pages_per_block),
            recoded: Recoded::new(0, geometry.wordlines_per_block),
            geometry,
        }
    }

    /// Returns the limits of data with this hint, as a technique sees them.
    pub(super) fn limits_at(&self, budget: AccessLatency) -> Option<Limits<'_>> {
        self.limits.as_ref().map(|table| Limits::new(table, budget).accelerated(self.acceleration))
    }

    pub(super) fn view(&self) -> View<'_> {
        View {
            geometry: &self.geometry,
            limits: self.limits_at(self.budget),
            disturb: &self.disturb,
            density: &self.density,
            late_reads: self.late_reads,
            wear_counts: true,
            hot: &[],
            cold: &[],
            wordlines: &[],
            tracker: &self.tracker,
            pages: &self.pages,
            contents: &self.contents,
            host_reads: 0,
            host_writes: 0,
            is_before_run: false,
            timed_from: 0,
            rung_by: Ppn::new(0),
            ages: None,
            now: 0,
            recoded: &self.recoded,
            pages_away: 0,
            pages_to_spare: 0,
        }
    }
}
