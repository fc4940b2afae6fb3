//! Plans of all runs of a recipe. Each technique of a group runs with each workload and each
//! variant. The group sets the number of requests and the load.
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use toml::Table;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{self, NO_PARITY, PARITY, ParityTechnique};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::{NO_REFRESH, RefreshTechnique};
use vpass_drive::base::phrase::Dialect;
use vpass_drive::config::{CellType, DriveConfig, ProgramUnit};
use vpass_drive::drive::start::reads::MostStartReads;
use vpass_drive::hints::HintRange;
use vpass_workload::synthetic::{Sample, WorkloadConfig, WorkloadFile};

use super::group::{Group, GroupWear, Variant};
use super::recipe::{NamedWorkload, Recipe};
use super::run::Run;
use super::traces::{Traces, replayed};
use crate::explain;
use crate::failure::Failure;
use crate::hints::HintFile;
use crate::load::{self, Generated, Loaded};
use crate::plan::{self, Cycles, RunPlan, SaidOfRefresh, Workload};
use crate::samples::Samples;
use crate::setup::Watch;

/// Plans every run of the recipe, in order. If a real trace was found for a generated workload, the
/// trace replaces the workload. Files with hints are read from the recipe's folder.
pub(super) fn runs(
    recipe: &Recipe,
    folder: &Path,
    traces: &Traces,
    (seed, dialect): (u64, &'static dyn Dialect),
) -> Result<Vec<Run>, Failure> {
    let gc = plan::gc_named(&recipe.gc)?;
    let mut runs = vec![];
    for group in &recipe.groups {
        for variant in &group.variants {
            let techniques = Techniques::of(group, variant)?;
            for workload in recipe.workloads_of(group, traces)? {
                plan::require_few(techniques.len(), group.seeds.map_or(1, NonZeroU32::get))?;
                let kind = Kind::of(recipe, folder, (group, variant, workload), traces)?;
                let seeds = seed..seed + u64::from(group.seeds.map_or(1, NonZeroU32::get));
                for (i, (seed, of_run)) in seeds
                    .flat_map(|seed| techniques.iter().map(move |of_run| (seed, of_run)))
                    .enumerate()
                {
                    let plan = kind.plan(group, of_run, gc, (seed, dialect))?;
                    // The source of requests is checked when vpass opens it. All techniques have
                    // the same source, so one check is enough. On a large drive, opening a source
                    // is slow, because the source has large tables.
                    if i == 0 && !plan.is_fluid() {
                        plan.source()?;
                    }
                    for plan in in_samples(plan, variant.sample.or(group.sample))? {
                        runs.push(Run {
                            group: group.name.clone(),
                            variant: variant.name.clone(),
                            workload: workload.name.clone(),
                            is_beside: workload.is_beside(),
                            technique: of_run.name,
                            plan,
                            summary: Value::Null,
                            blocks: vec![],
                            weeks: vec![],
                            fell_behind: false,
                        });
                    }
                }
            }
        }
    }
    Ok(runs)
}

/// Properties that are equal in all runs of one variant with one workload.
struct Kind {
    drive: Loaded<DriveConfig>,
    /// Drives with keys that are set for one technique only. The map is indexed by the name of this
    /// technique.
    own: BTreeMap<String, Loaded<DriveConfig>>,
    /// Hints of the host; `None` if the variant has no hints.
    said: Option<Vec<HintRange>>,
    asked: Asked,
    cycles: Option<Cycles>,
}

impl Kind {
    fn of(
        recipe: &Recipe,
        folder: &Path,
        (group, variant, workload): (&Group, &Variant, &NamedWorkload),
        traces: &Traces,
    ) -> Result<Self, Failure> {
        let sets: Vec<String> = recipe
            .set
            .iter()
            .chain(&group.set)
            .chain(&workload.set)
            .chain(&variant.set)
            .cloned()
            .collect();
        let with = |own: &[String]| {
            let mut drive = load::drive(
                variant.drive.as_ref().unwrap_or(&recipe.drive),
                &load::overrides(&[&sets, own].concat())?,
            )?;
            if group.wear == GroupWear::Frozen {
                freeze_wear(group, &mut drive.config)?;
            }
            Ok::<_, Failure>(drive)
        };
        let drive = with(&[])?;
        let own = variant
            .own
            .iter()
            .map(|(name, own)| Ok((name.clone(), with(own)?)))
            .collect::<Result<_, Failure>>()?;
        let file =
            variant.hints.as_ref().map(|name| HintFile::read(&folder.join(name))).transpose()?;
        let said =
            file.map(|file| file.ranges(None, &[], drive.config.drive.capacity)).transpose()?;
        let by_cycles = group.goes_by_cycles() && traces.of(workload).is_none();
        let cycles = by_cycles.then(|| Cycles {
            blocks: blocks_read(group, &drive.config),
            warm_up: group.warm_up_cycles,
            counted: group.cycles,
        });
        let asked = asked(group, variant, workload, &drive.config, traces);
        Ok(Self { drive, own, said, asked, cycles })
    }

    /// Plans a run with these techniques.
    fn plan(
        &self,
        group: &Group,
        of_run: &Techniques,
        gc: &'static GcTechnique,
        (seed, dialect): (u64, &'static dyn Dialect),
    ) -> Result<RunPlan, Failure> {
        let mut drive = self.own.get(of_run.name).unwrap_or(&self.drive).clone();
        if group.out_of_phase {
            drive.config.start.reads = end_of_cycle(&drive.config, of_run.reclaim, group.phases)?;
        }
        let said_of_refresh = SaidOfRefresh::of(&drive.config, &[], of_run.refresh);
        let (config, refresh) = parity::with_parts(drive.config, of_run.parity, of_run.refresh);
        drive.config = config;
        drive.config.hints.said.clone_from(&self.said);
        let Asked { requests, before, warm_up, repeat } = self.asked.clone();
        let plan = RunPlan {
            drive,
            resized: None,
            workload: requests,
            before,
            reclaim: of_run.reclaim,
            gc,
            refresh,
            said_of_refresh,
            parity: of_run.parity,
            gear: group.gear.into(),
            repeat,
            until_stable: group.until_stable,
            ages: vec![],
            warm_up,
            cycles: self.cycles,
            sample: Sample::WHOLE,
            whole: None,
            fail: vec![],
            dialect,
            seed,
            start_seed: None,
            oracle: if group.oracle { Watch::On } else { Watch::Off },
            stages: group.has_stages(),
            files: false,
            watchers: vec![],
        };
        if *refresh != *NO_REFRESH || *of_run.parity != *NO_PARITY || group.span.is_some() {
            plan.checked()
        } else {
            Ok(plan)
        }
    }
}

/// Returns one plan for each sample of the drive. Without samples, returns the plan unchanged.
fn in_samples(plan: RunPlan, samples: Option<Samples>) -> Result<Vec<RunPlan>, Failure> {
    let Some(samples) = samples else { return Ok(vec![plan]) };
    samples
        .residues()
        .map(|residue| plan.sampled(Sample { of: samples.of, residue })?.checked())
        .collect()
}

/// Techniques of a run, and the name under which figures show the run.
#[derive(Clone, Copy)]
struct Techniques {
    name: &'static str,
    reclaim: &'static Technique,
    /// Refresh technique. `None` if the recipe names no refresh technique. A parity technique can
    /// then bring a refresh technique of its own.
    refresh: Option<&'static RefreshTechnique>,
    parity: &'static ParityTechnique,
}

impl Techniques {
    /// Returns the techniques of all runs of a variant, in order.
    fn of(group: &Group, variant: &Variant) -> Result<Vec<Self>, Failure> {
        let either = |own: &Vec<String>, of_group: &Vec<String>| {
            if own.is_empty() { of_group.clone() } else { own.clone() }
        };
        let reclaims = either(&variant.reclaim, &group.reclaim);
        let reclaims =
            reclaims.iter().map(|name| plan::reclaim_named(name)).collect::<Result<Vec<_>, _>>()?;
        let refreshes = either(&variant.refresh, &group.refresh);
        let refreshes = refreshes
            .iter()
            .map(|name| plan::refresh_named(name))
            .collect::<Result<Vec<_>, _>>()?;
        let parities = either(&variant.parity, &group.parity);
        let parities =
            parities.iter().map(|name| plan::parity_named(name)).collect::<Result<Vec<_>, _>>()?;
        let first = Self {
            name: "",
            reclaim: reclaims[0],
            refresh: refreshes.first().copied(),
            parity: &PARITY[0],
        };
        Ok(match (parities.is_empty(), refreshes.is_empty()) {
            (false, _) => parities
                .into_iter()
                .map(|parity| Self { name: parity.name, parity, ..first })
                .collect(),
            (true, false) => refreshes
                .into_iter()
                .map(|refresh| Self { name: refresh.name, refresh: Some(refresh), ..first })
                .collect(),
            (true, true) => reclaims
                .into_iter()
                .map(|reclaim| Self { name: reclaim.name, reclaim, ..first })
                .collect(),
        })
    }
}

/// Removes all rows of the disturb table except the row for `start.pec`, so that the limits do not
/// depend on wear.
fn freeze_wear(group: &Group, drive: &mut DriveConfig) -> Result<(), Failure> {
    let (pec, rows) = (drive.start.pec, &mut drive.disturb.table);
    let known: Vec<String> = rows.iter().map(|row| row.pec.to_string()).collect();
    rows.retain(|row| row.pec == pec);
    if rows.is_empty() {
        return Err(Failure::usage(format!(
            "group {}: wear = \"frozen\" with start.pec = {pec}: disturb.table has no row for this \
             P/E count; the table has rows at {} P/E cycles",
            group.name,
            known.join(", ")
        )));
    }
    Ok(())
}

/// Returns the number of blocks that a group reads. Without `blocks` in the group, returns the
/// number of blocks that the host's capacity fills.
fn blocks_read(group: &Group, drive: &DriveConfig) -> f64 {
    let host_pages = (drive.drive.capacity.map_or(0, |c| c.0) / drive.geometry.page_size.0) as f64;
    group.blocks.map_or(host_pages / f64::from(drive.geometry.pages_per_block()), f64::from)
}

/// Returns the number of reads at the first threshold of a technique, multiplied by `share`, or the
/// largest number of reads that a block may serve before the start.
fn end_of_cycle(drive: &DriveConfig, reclaim: &Technique, share: f64) -> Result<u32, Failure> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Failure::usage(format!(
            "group.phases = {share}: must be a share of a cycle, from 0 to 1"
        )));
    }
    let age = explain::age(drive, drive.start.pec, reclaim)?;
    let first = age.and_then(|age| age.thresholds.iter().map(|t| t.reads).min());
    let reads = (f64::from(first.unwrap_or(0)) * share) as u32;
    // Blocks that served more reads would lose data while their first job waits for its turn.
    Ok(MostStartReads::of(drive).map_or(reads, |most| reads.min(most.reads)))
}

/// Requests of a run, and the number of passes over these requests.
#[derive(Clone)]
struct Asked {
    requests: Workload,
    /// Requests that are served without timing, before the run begins.
    before: Option<WorkloadConfig>,
    /// Number of warm-up requests, which come before the counted requests.
    warm_up: u64,
    /// Number of passes over the requests.
    repeat: NonZeroU32,
}

fn asked(
    group: &Group,
    variant: &Variant,
    workload: &NamedWorkload,
    drive: &DriveConfig,
    traces: &Traces,
) -> Asked {
    if let Some(periods) = &group.periods {
        let (before, counted) =
            periods.requests(variant.load.or(group.load), &workload.config, drive);
        return Asked {
            requests: generated(workload, counted),
            before: Some(before),
            warm_up: 0,
            repeat: NonZeroU32::MIN,
        };
    }
    if let Some(span) = &group.span {
        let all = span.requests(variant.reads_per_page, &workload.config, drive);
        let Some(window) = &span.window else {
            return Asked {
                requests: generated(workload, all),
                before: None,
                warm_up: 0,
                repeat: NonZeroU32::MIN,
            };
        };
        let requests = (window.reads as f64 / workload.config.read_share.max(0.01)).round() as u64;
        let timed = at_load(
            Some(window.load),
            None,
            WorkloadConfig { requests, ..workload.config.clone() },
            drive,
        );
        return Asked {
            requests: generated(workload, timed),
            before: Some(all),
            warm_up: 0,
            repeat: NonZeroU32::MIN,
        };
    }
    let passes = group.passes.or(workload.passes).unwrap_or(1.0);
    let warm_up_passes = group.warm_up_passes.or(workload.warm_up_passes).unwrap_or(0.0);
    if let Some(survey) = traces.of(workload) {
        // For a trace, a warm-up must end within the first pass. The warm-up of a group may be
        // longer, so a trace has no warm-up and all passes are counted.
        let repeat = if group.until_stable {
            None
        } else {
            NonZeroU32::new((passes + warm_up_passes).round() as u32)
        };
        let requests = replayed(Arc::clone(survey), drive);
        return Asked {
            requests,
            before: None,
            warm_up: 0,
            repeat: repeat.unwrap_or(NonZeroU32::MIN),
        };
    }
    let (config, warm_up) = if group.blocks.is_some() || group.goes_by_cycles() {
        on_blocks(group, &workload.config, drive)
    } else {
        on_drive(group, &workload.config, passes, warm_up_passes)
    };
    Asked {
        requests: generated(
            workload,
            at_load(variant.load.or(group.load), group.rate, config, drive),
        ),
        before: None,
        warm_up,
        repeat: NonZeroU32::MIN,
    }
}

fn generated(workload: &NamedWorkload, config: WorkloadConfig) -> Workload {
    let file =
        WorkloadFile { description: workload.name.clone(), workload: config, hints: Table::new() };
    Workload::Generated(Loaded {
        name: workload.name.clone(),
        text: String::new(),
        config: Generated::Workload(file),
    })
}

/// Returns the workload with enough requests for all passes over the whole drive, and the number of
/// warm-up requests.
fn on_drive(
    group: &Group,
    workload: &WorkloadConfig,
    passes: f64,
    warm_up_passes: f64,
) -> (WorkloadConfig, u64) {
    let requests = |passes: f64| (passes * workload.requests as f64).round() as u64;
    let warm_up = requests(warm_up_passes);
    // If the counted part is repeated until the rates settle, the warm-up needs no additional
    // requests.
    let counted = requests(passes).max(1);
    (
        WorkloadConfig {
            requests: if group.until_stable { counted } else { counted + warm_up },
            ..workload.clone()
        },
        warm_up,
    )
}

/// Returns the workload for the blocks that a group reads, and the number of warm-up requests.
fn on_blocks(
    group: &Group,
    workload: &WorkloadConfig,
    drive: &DriveConfig,
) -> (WorkloadConfig, u64) {
    let blocks = blocks_read(group, drive);
    let set_pages = blocks * f64::from(drive.geometry.pages_per_block());
    let host_pages = (drive.drive.capacity.map_or(0, |c| c.0) / drive.geometry.page_size.0) as f64;
    let requests = |reads_per_block: f64| {
        (reads_per_block * blocks
            / pages_of_request(workload, drive)
            / workload.read_share.max(0.01))
        .round() as u64
    };
    let warm_up = requests(group.warm_up_reads_per_block);
    let requests = (requests(group.reads_per_block) + warm_up).max(1);
    (
        WorkloadConfig {
            requests,
            footprint: (set_pages / host_pages).min(1.0),
            ..workload.clone()
        },
        warm_up,
    )
}

/// Sets the request rate of a workload if the group has a load or a rate.
fn at_load(
    load: Option<f64>,
    rate: Option<f64>,
    workload: WorkloadConfig,
    drive: &DriveConfig,
) -> WorkloadConfig {
    let dies = f64::from(drive.geometry.channels * drive.geometry.dies_per_channel);
    let at_load = load
        .map(|load| load * dies / (die_s(&workload, drive) * pages_of_request(&workload, drive)));
    match rate.or(at_load) {
        Some(rate) => WorkloadConfig { queue_depth: None, rate: Some(rate), ..workload },
        None => workload,
    }
}

fn pages_of_request(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    workload.block_size.map_or(1, |size| size.0.div_ceil(drive.geometry.page_size.0)) as f64
}

/// Returns the mean time, in seconds, for which a request for one page keeps a die busy.
fn die_s(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    let cell: CellType = drive.geometry.cell;
    let sense = drive.timing.sense_per_kind_us(cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    let pages_at_once = match drive.timing.program_unit {
        ProgramUnit::Page => 1,
        ProgramUnit::Wordline => cell.bits(),
    };
    let program_us = drive.timing.program_us.mean() / f64::from(pages_at_once);
    (workload.read_share * read_us + (1.0 - workload.read_share) * program_us) / 1e6
}
