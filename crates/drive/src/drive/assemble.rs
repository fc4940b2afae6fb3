//! Assembly of a drive from its configuration and techniques. Every part is made, and nothing is
//! written yet.

use super::{Drive, Techniques};
use crate::api::Facts;
use crate::api::asked::Asked;
use crate::api::parity::{self, REBUILD};
use crate::api::reclaim::late::late_reads;
use crate::api::reclaim::{self, COUNTERS, FIRST_OWN, Policy, StreamSpec, Technique, promise};
use crate::api::refresh;
use crate::base::geometry::Geometry;
use crate::base::metrics::HostCounts;
use crate::base::units::Ppn;
use crate::config::{ConfigError, DriveConfig, MIN_SPARE_BLOCKS};
use crate::disturb::error_model;
use crate::drive::audit::blame::Blame;
use crate::drive::failing::Failing;
use crate::drive::regroup::Regroup;
use crate::drive::start::reads::StartReads;
use crate::flash::{Flash, ToCount};
use crate::ftl::Ftl;
use crate::hint_counts::HintBooks;
use crate::hints;

/// Name of a policy without a card.
const UNLISTED: &str = "unlisted";

impl Drive {
    /// Creates an empty drive from a resolved configuration. `timed` is true for the timed gear.
    ///
    /// # Errors
    /// Reports settings under which a technique would lose data, or more reads at the start than
    /// the drive can have served.
    pub fn new(
        config: DriveConfig,
        techniques: &Techniques,
        timed: bool,
    ) -> Result<Self, ConfigError> {
        let Techniques { reclaim: technique, refresh, parity, .. } = *techniques;
        let config = parity::drive(refresh::drive(config, refresh), parity);
        reclaim::check(&config, technique)?;
        promise::check(&config, technique)?;
        let config = technique.drive(config);
        refresh::check(&config, refresh)?;
        parity::check(&config, parity, technique)?;
        let policy = technique.asked(&config, techniques.seed);
        Self::assemble(config, policy, Some(technique), techniques, timed)
    }

    /// Creates an empty drive with a policy that has no card, instead of `techniques.reclaim`. The
    /// policy must not need counters, and its guarantee is not checked. `techniques.parity` must be
    /// a technique without stripes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`].
    pub fn with_policy(
        config: DriveConfig,
        policy: Box<dyn Policy>,
        techniques: &Techniques,
        timed: bool,
    ) -> Result<Self, ConfigError> {
        let config = refresh::drive(config, techniques.refresh);
        refresh::check(&config, techniques.refresh)?;
        let policy = Asked::listed(UNLISTED, policy);
        Self::assemble(config, policy, None, techniques, timed)
    }

    fn assemble(
        config: DriveConfig,
        policy: Asked<dyn Policy>,
        technique: Option<&Technique>,
        &Techniques { gc, refresh, parity, seed, .. }: &Techniques,
        timed: bool,
    ) -> Result<Self, ConfigError> {
        hints::check(&config)?;
        let geometry = Geometry::new(&config);
        crate::drive::start::reads::check(&config)?;
        gc.check(&config)?;
        let gc = gc.asked(&config, seed);
        let counters = technique
            .filter(|technique| technique.needs.counters)
            .map(|technique| technique.args(&config).whole(&COUNTERS));
        let keeps_time = config.keeps_time();
        let refresh = refresh.asked(&config, seed);
        let rebuild = if parity.params.contains(&REBUILD) {
            parity.args(&config).real(&REBUILD)
        } else {
            0.0
        };
        let parity = parity.asked(&config, seed);
        let own = policy.ask("streams", |policy| policy.streams());
        require_room_for(
            &own,
            hints::in_use(&config).len() as u32,
            technique.map_or(UNLISTED, |technique| technique.name),
            &geometry,
        )?;
        let hint_books = HintBooks::of(&config, geometry.page_shift())?;
        let regroup = config
            .hints
            .regroup
            .filter(|_| hint_books.is_some())
            .map(|least| Regroup::new(least, geometry.blocks));
        let hears_retries = hint_books.is_some()
            || policy.ask("follows_retries", |policy| policy.follows_retries());
        let counts = ToCount { counters, counts_pages: own.iter().any(|s| s.counts_pages) };
        let flash = Flash::new(&config, geometry.clone(), error_model(&config), counts, timed);
        let mut drive = Self {
            ftl: Ftl::new(&config, &geometry, own),
            flash,
            policy,
            facts: Facts {
                late_reads: late_reads(&config, &geometry),
                host_reads_before: 0,
                host_writes_before: 0,
                is_before_run: false,
                timed_from: 0,
                rung_by: Ppn::new(0),
            },
            gc,
            blame: Blame::new(geometry.host_pages, config.disturb.model),
            geometry,
            config,
            refresh,
            longest_cached: parity.ask("longest_cached", |parity| parity.longest_cached()),
            parity,
            host: HostCounts::default(),
            own_counts_before: vec![],
            uncorrectable_reads: 0,
            hints: hint_books,
            hears_retries,
            regroup,
            failing: Failing::rebuilding(rebuild),
            attention: false,
            announced: 0,
            writing: 0,
            start_reads: StartReads::default(),
        };
        drive.ftl.adjusting = drive.refresh.ask("adjusting", |refresh| refresh.adjusting());
        drive.ftl.adjust_ns += drive.ftl.adjusting.map_or(0, |adjusting| adjusting.takes);
        drive.ftl.partial.pages =
            drive.parity.ask("cache_pages", |parity| parity.cache_pages()) as usize;
        drive.ftl.turns.run = drive.refresh.ask("looks_at_gc", |refresh| refresh.looks_at_gc());
        if drive.adjusts() || technique.is_none() {
            drive.flash.expect_fewer_sensings();
        }
        drive.ftl.wheel.runs = keeps_time;
        if keeps_time {
            drive.flash.keep_time(drive.config.longest_age());
            drive.ftl.steps.runs = drive.policy.ask("follows_age", |policy| policy.follows_age())
                && drive.flash.ages().is_some();
        }
        if drive.config.error.noise {
            drive.flash.draw_retries(seed);
        }
        for block in drive.geometry.block_ids() {
            drive.ftl.add_free(&drive.flash, block);
        }
        Ok(drive)
    }
}

/// Checks the space for a technique's own streams. Each needs an open block, and a free block to
/// open next.
fn require_room_for(
    own: &[StreamSpec],
    budgets: u32,
    name: &str,
    geometry: &Geometry,
) -> Result<(), ConfigError> {
    let of_a_budget = u32::from(FIRST_OWN) + own.len() as u32;
    let needed = MIN_SPARE_BLOCKS + 2 * (own.len() as u32 + (budgets - 1) * of_a_budget);
    let spare = geometry.spare_blocks();
    if budgets > 1 && spare < needed {
        return Err(ConfigError::new(format!(
            "the drive has {spare} spare blocks; with {budgets} access latencies, the drive \
             separates {} kinds of data and needs {needed}: increase `drive.spare`, or name fewer \
             access latencies",
            budgets * of_a_budget
        )));
    }
    if own.is_empty() || spare >= needed {
        return Ok(());
    }
    Err(ConfigError::new(format!(
        "the drive has {spare} spare blocks; reclaim technique `{name}` separates {} kinds of data \
         and needs {needed}: increase `drive.spare` or `drive.capacity`",
        own.len()
    )))
}
