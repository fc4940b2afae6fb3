//! A drive put together from its configuration and techniques: every part made, nothing written yet.

use super::{BATCH, Drive, Techniques};
use crate::base::geometry::Geometry;
use crate::base::mem::huge_vec;
use crate::base::metrics::{FlashCounts, HostCounts, ReclaimCounts};
use crate::base::units::{Ns, transfer_ns, us};
use crate::bugs::Bugs;
use crate::config::{ConfigError, DriveConfig, MIN_SPARE_BLOCKS, ProgramUnit, Schedule};
use crate::disturb::error_model;
use crate::disturb::table::dose_per_kind;
use crate::drive::audit::blame::Blame;
use crate::flash::block::{BlockCold, BlockHot, Wordline};
use crate::flash::count::page_counters::PageCounters;
use crate::flash::count::space_saving::SpaceSaving;
use crate::flash::count::{BLOCKS, PAGES, TRACKED, WORDLINES};
use crate::flash::guards::Guards;
use crate::ftl::buffer::WriteBuffer;
use crate::ftl::free::FreeBlocks;
use crate::ftl::gather::Gathers;
use crate::ftl::map::PageMap;
use crate::ftl::place::Streams;
use crate::ftl::victims::VictimIndex;
use crate::slots::gc::gc_policy;
use crate::slots::reclaim::{COUNTERS, Policy, StreamSpec, Technique, promise, technique};

impl Drive {
    /// An empty drive of a resolved configuration; `timed` where a timed gear will drive it.
    ///
    /// # Errors
    /// An unknown technique, settings under which it would lose data, or more reads at the start than the drive can have served.
    pub fn new(config: DriveConfig, techniques: &Techniques, timed: bool) -> Result<Self, ConfigError> {
        let technique = technique(&techniques.reclaim).ok_or_else(|| unknown("reclaim", &techniques.reclaim))?;
        promise::check(&config, technique, timed)?;
        let config = technique.drive(config);
        let policy = technique.make(&config, techniques.seed);
        Self::assemble(config, policy, Some(technique), (&techniques.gc, techniques.seed), timed)
    }

    /// The same under a policy that is in no list. It may not track, and what it promises is not checked.
    ///
    /// # Errors
    /// As those of [`Self::new`].
    pub fn with_policy(config: DriveConfig, policy: Box<dyn Policy>, gc: &str, timed: bool) -> Result<Self, ConfigError> {
        Self::assemble(config, policy, None, (gc, 0), timed)
    }

    fn assemble(
        config: DriveConfig,
        policy: Box<dyn Policy>,
        technique: Option<&Technique>,
        (gc, seed): (&str, u64),
        timed: bool,
    ) -> Result<Self, ConfigError> {
        let geometry = Geometry::new(&config);
        crate::drive::start::reads::check(&config, timed)?;
        let gc = gc_policy(gc, &config, seed).ok_or_else(|| unknown("gc", gc))?;
        let model = error_model(&config);
        let blocks = geometry.blocks as usize;
        let counters = technique.filter(|technique| technique.needs.counters).map(|technique| technique.args(&config).whole(&COUNTERS));
        let own = policy.streams();
        require_room_for(&own, technique.map_or("unlisted", |technique| technique.name), &geometry)?;
        let counted = match &model {
            None => BLOCKS,
            Some(_) if counters.is_some() => TRACKED,
            Some(_) if own.iter().any(|s| s.counts_pages) => PAGES,
            Some(_) => WORDLINES,
        };
        let page_counters =
            if counted == PAGES { PageCounters::new(geometry.blocks, geometry.pages_per_block) } else { PageCounters::default() };
        let tracker = match counters.filter(|_| counted == TRACKED) {
            Some(counters) => SpaceSaving::new(geometry.blocks, geometry.wordlines_per_block, counters),
            None => SpaceSaving::default(),
        };
        // Half of the buffer gathers writes, the other half holds pages being programmed. Without a buffer, one page passes through.
        let buffer_slots = (config.drive.write_buffer.0 / u64::from(geometry.page_bytes) / 2) as u32;
        let blame = Blame::new(geometry.host_pages);
        let mut drive = Self {
            map: PageMap::new(geometry.host_pages, geometry.raw_pages(), geometry.pages_per_block),
            hot: huge_vec(blocks, BlockHot::ERASED),
            cold: vec![BlockCold::new(config.start.pec); blocks],
            wordlines: huge_vec(if counted == BLOCKS { 0 } else { geometry.wordlines() as usize }, Wordline::default()),
            guards: Guards::new(geometry.blocks, geometry.wordlines_per_block),
            tracker,
            page_counters,
            counted,
            dose: dose_per_kind(config.disturb.dose, geometry.cell),
            free: FreeBlocks::new(geometry.dies() * geometry.planes_per_die),
            victims: VictimIndex::new(geometry.blocks, geometry.pages_per_block),
            streams: Streams::new(&geometry, own, config.density.keep_pool),
            buffer: WriteBuffer::new(buffer_slots.max(1)),
            by_wordline: config.timing.program_unit == ProgramUnit::Wordline,
            gathers: Gathers::new(),
            policy,
            late_reads: late_reads(&config, &geometry, timed),
            copy_ns: copy_ns(&config, &geometry),
            merge_ns: merge_ns(&config, &geometry),
            buffer_slots,
            gc,
            model,
            geometry,
            config,
            jobs: vec![],
            lost: vec![],
            seq: 0,
            load_cursor: 0,
            now: 0,
            erases_total: 0,
            pages_away: 0,
            timed_from: 0,
            pages_to_spare: 0,
            leaving_now: 0,
            timed,
            ops: vec![],
            started_jobs: vec![],
            gc_jobs: 0,
            jobs_begun: 0,
            next_wear_check: 0,
            rung_by: 0,
            host: HostCounts::default(),
            host_pages_before: 0,
            own_counts_before: vec![],
            flash: FlashCounts::default(),
            reclaim: ReclaimCounts::default(),
            blame,
            uncorrectable_reads: 0,
            lost_pages: 0,
            bugs: Bugs::default(),
            announced: 0,
            observer: None,
            pending: Vec::with_capacity(BATCH),
        };
        for block in 0..drive.geometry.blocks {
            drive.add_free(block);
        }
        #[cfg(feature = "seeded-bugs")]
        crate::bugs::plant(None);
        drive.count_pages_to_spare();
        Ok(drive)
    }
}

fn unknown(what: &str, name: &str) -> ConfigError {
    ConfigError(format!("unknown {what} technique `{name}`"))
}

/// Each stream of a technique's own needs an open block, and one for its next.
fn require_room_for(own: &[StreamSpec], name: &str, geometry: &Geometry) -> Result<(), ConfigError> {
    let needed = MIN_SPARE_BLOCKS + 2 * own.len() as u32;
    let spare = geometry.spare_blocks();
    if own.is_empty() || spare >= needed {
        return Ok(());
    }
    Err(ConfigError(format!(
        "the drive has {spare} spare blocks; reclaim technique `{name}` keeps {} kinds of data apart and needs {needed}: raise drive.spare or drive.capacity",
        own.len()
    )))
}

/// Reading a page and programming it on an idle drive; where a program takes a wordline, the page's share of it.
fn copy_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    let transfer = transfer_ns(u64::from(geometry.page_bytes), config.timing.channel_mb_s);
    read_ns(config, geometry) + transfer + us(config.program_us_per_page())
}

/// Reading a wordline and programming one page of it on an idle drive.
fn merge_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    let transfer = transfer_ns(u64::from(geometry.page_bytes), config.timing.channel_mb_s);
    u64::from(geometry.cell.bits()) * read_ns(config, geometry) + transfer + us(config.timing.program_us)
}

/// Reading a page of the mean kind on an idle drive.
fn read_ns(config: &DriveConfig, geometry: &Geometry) -> Ns {
    let sense = config.timing.sense_per_kind_us(geometry.cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    us(read_us + config.timing.ecc_us) + transfer_ns(u64::from(geometry.page_bytes), config.timing.channel_mb_s)
}

/// `R_late`: none where the job runs in the foreground. Else the reads that a die serves in the time of the job when the
/// two share it, but at most an eighth of the smallest worst-case limit: more would rewrite blocks far too early, and a
/// block that uses its reads up before its job is done is finished in the foreground anyway.
pub(crate) fn late_reads(config: &DriveConfig, geometry: &Geometry, timed: bool) -> u32 {
    if let Some(given) = config.reclaim.late_reads {
        return given;
    }
    if !timed || config.reclaim.schedule == Schedule::Foreground {
        return 0;
    }
    let sense = config.timing.sense_per_kind_us(geometry.cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    let job_us = f64::from(geometry.pages_per_block) * (read_us + config.program_us_per_page());
    let smallest = config
        .disturb
        .table
        .iter()
        .flat_map(|row| row.limit.iter().enumerate().map(|(g, limit)| limit / row.alpha.get(g).copied().unwrap_or(1.0)));
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    (job_us / read_us).min(smallest / 8.0).floor() as u32
}
