//! Computation of a run's summary, from the drive, the engine of the timed gear, and the results of
//! the workload.

use vpass_drive::api::parity::NO_PARITY;
use vpass_drive::base::units::Ns;
use vpass_drive::drive::Drive;
use vpass_drive::time::Replay;
use vpass_oracle::OracleReport;
use vpass_workload::traces::shown;
use vpass_workload::traces::{Device, TraceReport};

use crate::as_json::SCHEMA;
use crate::plan::{RunPlan, Workload};
use crate::results::jobs::JobResult;
use crate::results::mapping_unit::MappingUnit;
use crate::results::smart::Smart;
use crate::results::{
    Ageing, BatchMeans, Failures, Flash, Hints, Latencies, Losses, Parity, Reclaim, Refresh,
    Retries, Simulation, Summary, Throughput, Trace, TraceDevice, Uber, Wear,
};

/// Results of the workload of a run.
pub(super) struct Served {
    pub(super) requests: u64,
    pub(super) passes: u64,
    pub(super) stable: Option<bool>,
    pub(super) last_arrival: Option<Ns>,
    /// Whether the workload sets the times of all requests.
    pub(super) has_times: bool,
    pub(super) trace: Option<TraceReport>,
    pub(super) jobs: Option<Vec<JobResult>>,
}

pub(super) fn summary(
    plan: &RunPlan,
    drive: &Drive,
    engine: Option<&Replay>,
    served: &Served,
    wall_s: f64,
    ageing: &Ageing,
    oracle: Option<OracleReport>,
) -> Summary {
    let host = drive.host_counts();
    let flash = Flash::of(drive);
    let simulated_s = simulated_s(engine, served);
    let (requests, bytes) =
        ((host.read_requests, host.write_requests), (host.read_bytes, host.write_bytes));
    let throughput = Throughput::of(requests, bytes, simulated_s.filter(|_| engine.is_some()));
    let throughput = match (engine, served.last_arrival, simulated_s) {
        (Some(_), Some(last), Some(done)) => {
            throughput.against(served.requests, last as f64 / 1e9, done)
        }
        _ => throughput,
    };
    let (programs, page_bytes) =
        (flash.programs.sum() as f64, u64::from(drive.geometry().page_bytes));
    let wear = Wear::of(drive, ageing);
    let mut summary = Summary {
        schema: SCHEMA,
        vpass: env!("CARGO_PKG_VERSION"),
        drive: plan.drive.name.clone(),
        workload: plan.workload.name(),
        workload_generated: plan.workload.is_generated(),
        workload_source: plan.workload.source(),
        reclaim_technique: plan.reclaim.name.into(),
        counterfactual: plan.is_counterfactual(),
        gc_technique: plan.gc.name.into(),
        refresh_technique: plan.needs_time().then(|| plan.refresh.name.into()),
        parity_technique: Some(plan.parity.name.into()).filter(|parity| parity != NO_PARITY),
        gear: plan.gear.name(),
        sample: (!plan.sample.is_whole()).then(|| plan.sample.to_string()),
        seed: plan.seed,
        passes: served.passes,
        stable: served.stable,
        write_amplification: (host.write_bytes > 0)
            .then(|| programs * page_bytes as f64 / host.write_bytes as f64),
        read_wear: flash.programs.read_wear(page_bytes as f64, host.read_bytes),
        read_wear_net: None,
        programs_per_page_write: (host.write_pages > 0).then(|| programs / host.write_pages as f64),
        mapping_unit: MappingUnit::of(page_bytes, [host]),
        host: *host,
        latency_us: Latencies::of(engine),
        throughput,
        flash,
        reclaim: Reclaim::of(drive),
        refresh: Refresh::of(drive),
        parity: Parity::of(drive, engine),
        failures: Failures::of(drive, simulated_s.is_some()),
        retries: Retries::of(drive),
        page_reads: None,
        hints: Hints::of(drive),
        batch_means: BatchMeans::default(),
        batches: Some(vec![]),
        smart: Smart::of(drive, host, &wear),
        wear,
        uncorrectable_reads: drive.uncorrectable_reads(),
        data_lost_pages: drive.lost_pages(),
        losses: Losses::of(drive),
        uber: Uber::of(drive),
        threshold_used: None,
        oracle,
        controller_ram_bytes: drive.controller_ram().0,
        trace: trace(plan, served),
        jobs: served.jobs.clone(),
        simulation: Simulation::new(simulated_s, wall_s, served.requests),
        warnings: vec![],
    };
    plan.harmless_reads().into_iter().for_each(|sentence| summary.warn(sentence));
    summary.warn_of_itself(ageing, drive.config().refresh.period);
    summary.warn_of_start_up(drive);
    summary.warn_of_start_reads(drive.start_reads());
    plan.gear_warnings().into_iter().for_each(|sentence| summary.warn(sentence));
    let most_worn =
        drive.block_states().map(|block| block.effective_milli.div_ceil(1000)).max().unwrap_or(0)
            as u32;
    let before_the_run =
        plan.worded(&plan.trace_warnings()).into_iter().chain(plan.promise_warnings(most_worn));
    before_the_run.for_each(|sentence| summary.warn(sentence));
    summary
}

/// Returns the simulated time until the last request ends. Outside the timed gear, returns the time
/// until the last request arrives.
pub(super) fn simulated_s(engine: Option<&Replay>, served: &Served) -> Option<f64> {
    engine.map(Replay::last_completion).or(served.last_arrival).map(|ns| ns as f64 / 1e9)
}

fn trace(plan: &RunPlan, served: &Served) -> Option<Trace> {
    let (Workload::Trace { survey, .. }, Some(report)) = (&plan.workload, &served.trace) else {
        return None;
    };
    let files: Vec<_> = survey.files().iter().map(|f| shown(&f.path).into_owned()).collect();
    let device = |d: &Device| TraceDevice {
        name: d.name.clone(),
        file: files[d.file].clone(),
        base_bytes: d.base,
        extent_bytes: d.extent,
        rows: d.rows,
    };
    Some(Trace {
        devices: survey.devices().iter().map(device).collect(),
        files,
        formats: report.formats.clone(),
        rows: report.rows,
        clamped: report.clamped,
        refitted: report.refitted,
        bad_lines: report.skipped.count,
        first_bad_line: report.skipped.first.as_ref().map(|first| first.in_dialect(plan.dialect)),
        several_devices: report.several_devices,
        span_s: report.span_ns as f64 / 1e9,
    })
}

impl Summary {
    /// Returns whether any host data was lost, or could not be read.
    pub fn lost_data(&self) -> bool {
        self.data_lost_pages > 0 || self.uncorrectable_reads > 0
    }
}
