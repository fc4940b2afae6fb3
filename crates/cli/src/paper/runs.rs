//! The runs of a recipe: each technique under each workload and variant of a group, at the group's amount and load.

use vpass_core::config::{Cell, DriveConfig};
use vpass_workload::synthetic::{WorkloadConfig, WorkloadFile};

use super::Run;
use super::recipe::{Group, Recipe};
use crate::exit::Failure;
use crate::explain;
use crate::load::{self, Generated, Loaded};
use crate::plan::{self, Load, Plan};
use serde_json::Value;

/// Every run of the recipe, in order.
pub(super) fn runs(recipe: &Recipe, seed: u64) -> Result<Vec<Run>, Failure> {
    let mut runs = vec![];
    for group in &recipe.groups {
        for variant in &group.variants {
            let sets: Vec<String> = recipe.set.iter().chain(&variant.set).cloned().collect();
            let drive = load::drive(&recipe.drive, &load::overrides(&sets)?)?;
            for workload in recipe.workloads_of(group)? {
                let (config, warm_up) = sized(group, &workload.config, &drive.config);
                let file = WorkloadFile { description: workload.name.clone(), workload: config };
                let load = Load::Generated(Loaded { name: workload.name.clone(), text: String::new(), config: Generated::Workload(file) });
                for reclaim in &group.reclaim {
                    let mut drive = drive.clone();
                    if group.out_of_phase {
                        drive.config.start.reads = end_of_cycle(&drive.config, reclaim)?;
                    }
                    let plan = Plan {
                        drive,
                        load: load.clone(),
                        reclaim: plan::reclaim_named(reclaim)?,
                        gc: "greedy",
                        gear: group.gear.into(),
                        repeat: std::num::NonZeroU32::MIN,
                        until_stable: false,
                        warm_up,
                        seed,
                        oracle: group.oracle,
                    };
                    plan.source()?;
                    runs.push(Run {
                        group: group.name.clone(),
                        variant: variant.name.clone(),
                        workload: workload.name.clone(),
                        plan,
                        summary: Value::Null,
                    });
                }
            }
        }
    }
    Ok(runs)
}

/// Share of the way to the first threshold of a technique that blocks begin with at most: what is left keeps a block from its last
/// reads before anything runs.
const PHASES: f64 = 0.95;

/// Reads of a block near the first threshold of a technique.
fn end_of_cycle(drive: &DriveConfig, reclaim: &str) -> Result<u32, Failure> {
    let age = explain::age(drive, drive.start.pec, reclaim)?;
    let first = age.and_then(|age| age.thresholds.iter().map(|t| t.reads).min());
    Ok((f64::from(first.unwrap_or(0)) * PHASES) as u32)
}

/// A workload on a group's set of blocks, at its amount and load; and the requests of its warm-up.
fn sized(group: &Group, workload: &WorkloadConfig, drive: &DriveConfig) -> (WorkloadConfig, u64) {
    let page_bytes = drive.geometry.page_size.0;
    let pages_of_request = workload.block_size.map_or(1, |size| size.0.div_ceil(page_bytes)) as f64;
    let set_pages = f64::from(group.blocks) * f64::from(drive.geometry.pages_per_block());
    let host_pages = (drive.drive.capacity.map_or(0, |c| c.0) / page_bytes) as f64;
    let requests = |reads_per_block: f64| {
        (reads_per_block * f64::from(group.blocks) / pages_of_request / workload.read_share.max(0.01)).round() as u64
    };
    let warm_up = requests(group.warm_up_reads_per_block);
    let mut sized = workload.clone();
    sized.requests = (requests(group.reads_per_block) + warm_up).max(1);
    sized.footprint = (set_pages / host_pages).min(1.0);
    if let Some(load) = group.load {
        sized.queue_depth = None;
        sized.rate =
            Some(load * f64::from(drive.geometry.channels * drive.geometry.dies_per_channel) / (die_s(workload, drive) * pages_of_request));
    }
    (sized, warm_up)
}

/// Seconds that a page of this workload keeps a die busy.
fn die_s(workload: &WorkloadConfig, drive: &DriveConfig) -> f64 {
    let cell: Cell = drive.geometry.cell;
    let sense = drive.timing.sense_per_kind_us(cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    (workload.read_share * read_us + (1.0 - workload.read_share) * drive.timing.program_us) / 1e6
}
