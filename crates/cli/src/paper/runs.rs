//! The runs of a recipe: each technique under each workload and variant of a group, at the group's amount and load.

use std::num::NonZeroU32;
use std::sync::Arc;

use vpass_core::config::{Cell, DriveConfig};
use vpass_workload::synthetic::{WorkloadConfig, WorkloadFile};

use super::Run;
use super::recipe::{Group, NamedWorkload, Recipe};
use super::traces::{Traces, replayed};
use crate::args::Watch;
use crate::exit::Failure;
use crate::explain;
use crate::load::{self, Generated, Loaded};
use crate::plan::{self, Load, Plan};
use serde_json::Value;

/// Every run of the recipe, in order; real traces where there are any.
pub(super) fn runs(recipe: &Recipe, traces: &Traces, seed: u64) -> Result<Vec<Run>, Failure> {
    let gc = plan::gc_named(&recipe.gc)?;
    let mut runs = vec![];
    for group in &recipe.groups {
        for variant in &group.variants {
            for workload in recipe.workloads_of(group)? {
                let sets: Vec<String> = recipe.set.iter().chain(&workload.set).chain(&variant.set).cloned().collect();
                let drive = load::drive(&recipe.drive, &load::overrides(&sets)?)?;
                let (load, warm_up, repeat) = load_of(group, workload, &drive.config, traces);
                for (i, reclaim) in group.reclaim.iter().enumerate() {
                    let mut drive = drive.clone();
                    if group.out_of_phase {
                        drive.config.start.reads = end_of_cycle(&drive.config, reclaim, group.phases)?;
                    }
                    let plan = Plan {
                        drive,
                        load: load.clone(),
                        reclaim: plan::reclaim_named(reclaim)?,
                        gc,
                        gear: group.gear.into(),
                        repeat,
                        until_stable: group.until_stable,
                        warm_up,
                        seed,
                        oracle: if group.oracle { Watch::On } else { Watch::Off },
                    };
                    // Opened once to see that it can be: the same for all techniques, and large tables on a large drive.
                    if i == 0 {
                        plan.source()?;
                    }
                    runs.push(Run {
                        group: group.name.clone(),
                        variant: variant.name.clone(),
                        workload: workload.name.clone(),
                        plan,
                        summary: Value::Null,
                        blocks: vec![],
                    });
                }
            }
        }
    }
    Ok(runs)
}

/// Reads of a block at a share of the way to the first threshold of a technique.
fn end_of_cycle(drive: &DriveConfig, reclaim: &str, share: f64) -> Result<u32, Failure> {
    if !(0.0..=1.0).contains(&share) {
        return Err(Failure::usage(format!("group.phases = {share}: must be a share of a cycle, from 0 to 1")));
    }
    let age = explain::age(drive, drive.start.pec, reclaim)?;
    let first = age.and_then(|age| age.thresholds.iter().map(|t| t.reads).min());
    Ok((f64::from(first.unwrap_or(0)) * share) as u32)
}

/// What a run is to serve, how many requests of it before anything is counted, and how often all of it.
fn load_of(group: &Group, workload: &NamedWorkload, drive: &DriveConfig, traces: &Traces) -> (Load, u64, NonZeroU32) {
    let passes = group.passes.or(workload.passes).unwrap_or(1.0);
    let warm_up_passes = group.warm_up_passes.or(workload.warm_up_passes).unwrap_or(0.0);
    if let Some(survey) = traces.of(workload) {
        // A warm-up ends within a pass of a trace, so every pass counts.
        let repeat = if group.until_stable { None } else { NonZeroU32::new((passes + warm_up_passes).round() as u32) };
        return (replayed(Arc::clone(survey), drive), 0, repeat.unwrap_or(NonZeroU32::MIN));
    }
    let (config, warm_up) = match group.blocks {
        Some(blocks) => on_blocks(group, blocks, &workload.config, drive),
        None => on_drive(group, &workload.config, passes, warm_up_passes),
    };
    let config = at_load(group, config, drive);
    let file = WorkloadFile { description: workload.name.clone(), workload: config };
    (
        Load::Generated(Loaded { name: workload.name.clone(), text: String::new(), config: Generated::Workload(file) }),
        warm_up,
        NonZeroU32::MIN,
    )
}

/// A workload on the whole drive, so many passes; and the requests of its warm-up.
fn on_drive(group: &Group, workload: &WorkloadConfig, passes: f64, warm_up_passes: f64) -> (WorkloadConfig, u64) {
    let requests = |passes: f64| (passes * workload.requests as f64).round() as u64;
    let warm_up = requests(warm_up_passes);
    // What repeats until it is stable goes on behind its warm-up by itself.
    let counted = requests(passes).max(1);
    (WorkloadConfig { requests: if group.until_stable { counted } else { counted + warm_up }, ..workload.clone() }, warm_up)
}

/// A workload on a group's set of blocks, at its amount; and the requests of its warm-up.
fn on_blocks(group: &Group, blocks: u32, workload: &WorkloadConfig, drive: &DriveConfig) -> (WorkloadConfig, u64) {
    let page_bytes = drive.geometry.page_size.0;
    let set_pages = f64::from(blocks) * f64::from(drive.geometry.pages_per_block());
    let host_pages = (drive.drive.capacity.map_or(0, |c| c.0) / page_bytes) as f64;
    let requests = |reads_per_block: f64| {
        (reads_per_block * f64::from(blocks) / pages_of_request(workload, drive) / workload.read_share.max(0.01)).round() as u64
    };
    let warm_up = requests(group.warm_up_reads_per_block);
    let requests = (requests(group.reads_per_block) + warm_up).max(1);
    (WorkloadConfig { requests, footprint: (set_pages / host_pages).min(1.0), ..workload.clone() }, warm_up)
}

/// The same at the group's load or rate, where it has one.
fn at_load(group: &Group, workload: WorkloadConfig, drive: &DriveConfig) -> WorkloadConfig {
    let dies = f64::from(drive.geometry.channels * drive.geometry.dies_per_channel);
    let at_load = group.load.map(|load| load * dies / (die_s(&workload, drive) * pages_of_request(&workload, drive)));
    match group.rate.or(at_load) {
        Some(rate) => WorkloadConfig { queue_depth: None, rate: Some(rate), ..workload },
        None => workload,
    }
}

fn pages_of_request(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    workload.block_size.map_or(1, |size| size.0.div_ceil(drive.geometry.page_size.0)) as f64
}

/// Seconds that a page of this workload keeps a die busy.
fn die_s(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    let cell: Cell = drive.geometry.cell;
    let sense = drive.timing.sense_per_kind_us(cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    (workload.read_share * read_us + (1.0 - workload.read_share) * drive.timing.program_us) / 1e6
}
