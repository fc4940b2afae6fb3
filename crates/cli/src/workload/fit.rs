//! `vpass workload fit`: makes a workload file from statistics, and measures how well one pass of
//! the workload meets the statistics.

use std::sync::Arc;

use serde::Serialize;
use vpass_drive::base::phrase::Phrase;
use vpass_drive::base::request::{Request, RequestSource};
use vpass_lab::as_json;
use vpass_lab::failure::Failure;
use vpass_lab::load::{self, Generated};
use vpass_lab::numbers::{bytes, plural, seconds};
use vpass_lab::plan::{generated_from, survey, unit_notes};
use vpass_lab::progress::Progress;
use vpass_workload::statistics::{
    Imported, Meter, Statistic, StatisticsConfig, StatisticsSource, import,
};
use vpass_workload::traces::{TraceOptions, TraceSource};

use super::args::FitArgs;
use super::render::{self, render};
use super::search::{Found, GeneratedPass, larger_scale};
use crate::dialect;
use crate::out;
use crate::out_file::OutFile;
use crate::progress::{Bar, bar};
use crate::table::wants_colour;
use crate::trace::{read_options, said_how_to_read};

/// Limit for the addresses of a trace, in bytes. Every simulated drive has a smaller capacity.
pub(super) const CAPACITY: u64 = 1 << 63;
/// Largest error of a statistic, in percent, that the workload file does not mention.
const GOOD_PERCENT: f64 = 2.0;

/// Report on how well the generated workload meets its statistics.
#[derive(Serialize)]
pub(super) struct FitReport {
    pub(super) vpass: &'static str,
    pub(super) disk: String,
    /// Origin of the statistics, as text.
    pub(super) source: String,
    /// Flag that is always true, because the workload was generated and not recorded from a host.
    pub(super) workload_generated: bool,
    pub(super) workload_source: String,
    pub(super) scale: f64,
    pub(super) seed: u64,
    /// Number of requests in one pass of the workload.
    pub(super) requests: u64,
    pub(super) span_s: f64,
    pub(super) footprint_bytes: u64,
    /// Notes on what was changed or left out, one sentence each.
    pub(super) notes: Vec<String>,
    pub(super) tolerance_percent: f64,
    /// Number of statistics with a larger error than the tolerance.
    pub(super) missed: usize,
    pub(super) worst_error_percent: f64,
    /// Larger scales that were tried because a statistic was missed. The field `smallest_scale` has
    /// the first scale that meets all statistics.
    pub(super) scales_tried: Vec<f64>,
    pub(super) smallest_scale: Option<f64>,
    pub(super) statistics: Vec<Statistic>,
}

/// Makes the workload, measures how well it fits, writes the workload file and prints the report.
pub(super) fn fit(args: &FitArgs) -> Result<(), Failure> {
    if args.trace.is_empty() && said_how_to_read(&args.read) {
        return Err(Failure::usage(
            "--format, --assume-op, --assume-rate, --time-unit, --blk-action and --skip-bad-lines \
             need --trace",
        ));
    }
    let file = args.out.as_deref().map(|path| OutFile::begin(path, args.force)).transpose()?;
    let (Imported { mut config, notes }, description) = statistics(args)?;
    if let Some(scale) = args.scale {
        config.scale = scale;
    }
    let tolerance = args.tolerance;
    let source = match StatisticsSource::new(&config, CAPACITY, args.seed) {
        Ok(source) => source,
        Err(e) => return Err(impossible(&config, args, e.into())),
    };
    let pass = GeneratedPass::of(source, config.scale)?;
    let (missed, worst) = (pass.missed(tolerance), pass.worst_percent());
    let found = if missed > 0 {
        larger_scale(&config, args.seed, tolerance)?
    } else {
        Found { scale: None, tried: vec![] }
    };
    let GeneratedPass { target, requests, statistics } = pass;
    let fit = FitReport {
        vpass: env!("CARGO_PKG_VERSION"),
        disk: config.disk.clone(),
        source: config.source.clone(),
        workload_generated: true,
        workload_source: generated_from(&config),
        scale: config.scale,
        seed: args.seed,
        requests,
        span_s: target.window_ends_ns.last().map_or(0.0, |ns| *ns as f64 / 1e9),
        footprint_bytes: target.footprint_pages * target.page_bytes,
        notes,
        tolerance_percent: tolerance,
        missed,
        worst_error_percent: worst,
        scales_tried: found.tried,
        smallest_scale: found.scale,
        statistics,
    };
    // If a statistic is not met, the workload file is not written. An existing file would look like
    // a success.
    let file = file.filter(|_| missed == 0);
    let written = args.out.as_deref().filter(|_| file.is_some());
    if let Some(file) = file {
        file.finish_with(&config.to_file_text(&(description + &admission(&fit))))?;
    }
    out::print(&if args.json {
        as_json::text(&fit)?
    } else {
        render(&fit, written, wants_colour())
    })?;
    if missed == 0 { Ok(()) } else { Err(Failure::failed(render::advice(&fit))) }
}

/// Returns text for the workload file: how many statistics have large errors. If all errors are
/// small, the text is empty.
fn admission(fit: &FitReport) -> String {
    let far = fit.statistics.iter().filter(|s| s.error_percent > GOOD_PERCENT).count();
    let (all, worst) = (fit.statistics.len(), fit.worst_error_percent);
    if far == 0 {
        String::new()
    } else {
        format!(
            "; at scale {}, {far} of {all} statistics have errors of up to {worst:.3} %",
            fit.scale
        )
    }
}

/// Makes an error for a scale at which no workload can be generated. If a larger scale meets all
/// statistics, the error names the larger scale.
fn impossible(config: &StatisticsConfig, args: &FitArgs, why: Phrase) -> Failure {
    if !(config.scale > 0.0 && config.scale < 1.0) {
        return Failure::usage(why);
    }
    match larger_scale(config, args.seed, args.tolerance) {
        Ok(Found { scale: Some(scale), .. }) => Failure::usage(why).with_remedy(format!(
            "--scale {scale} is the smallest of the tried scales that meets all statistics"
        )),
        Ok(Found { scale: None, .. }) => Failure::usage(why),
        Err(interrupted) => interrupted,
    }
}

/// Returns the statistics that the options name, and a text that says where the statistics come
/// from.
fn statistics(args: &FitArgs) -> Result<(Imported, String), Failure> {
    if let (Some(totals), Some(windows), Some(disk)) = (&args.statistics, &args.windows, &args.disk)
    {
        let imported = import(totals, windows, disk)?;
        let description = description(&imported.config);
        return Ok((imported, description));
    }
    if let Some(name) = &args.workload {
        let loaded = load::workload(name, &[], None)?;
        let Generated::Statistics(file) = loaded.config else {
            return Err(Failure::usage(format!(
                "{name} has a table [workload]; a file with a table [statistics] is expected"
            )));
        };
        return Ok((Imported { config: file.statistics, notes: vec![] }, file.description));
    }
    let imported = of_trace(args)?;
    let description = description(&imported.config);
    Ok((imported, description))
}

fn description(config: &StatisticsConfig) -> String {
    let footprint = bytes(config.footprint_pages * config.page.0);
    let span = seconds(config.windows.ends_s.last().copied().unwrap_or(0.0));
    format!(
        "Generated from the statistics of {} ({}): {footprint} in {span}",
        config.disk, config.source
    )
}

/// Measures the statistics of trace files.
fn of_trace(args: &FitArgs) -> Result<Imported, Failure> {
    let options = TraceOptions {
        read: read_options(&args.read, true)?,
        only: args.only.clone(),
        ..TraceOptions::default()
    };
    let survey = Arc::new(survey(&args.trace, &options, &bar)?);
    let mut notes: Vec<Phrase> = unit_notes(&survey, &options).into_iter().collect();
    let unit = options.read.time_unit;
    notes.extend(survey.files().iter().flat_map(|file| file.doubts(unit, true, false)));
    let mut source = TraceSource::new(survey, CAPACITY, options)?;
    // Page size in bytes. Every common operating system uses pages of 4096 bytes.
    let mut meter = Meter::of_anything(4096);
    let progress = Bar::new(source.len_hint(), "requests of the trace measured");
    drain(&mut source, &progress, |request| meter.add(request))?;
    drop(progress);
    let name = |path: &std::path::PathBuf| {
        path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
    };
    let names: Vec<_> = args.trace.iter().map(name).collect();
    let disk = names[0].split('.').next().unwrap_or("trace").to_owned();
    let trims = meter.trims();
    let mut imported = Imported::measured(&meter.finish(), &disk, &names.join(" "));
    imported.notes.extend(dialect::all_words(&notes));
    if trims > 0 {
        imported.notes.push(format!("{} left out", plural(trims, "trim")));
    }
    Ok(imported)
}

/// Passes every request of a source to the function `each`, and returns the number of requests.
pub(super) fn drain(
    source: &mut impl RequestSource,
    progress: &dyn Progress,
    mut each: impl FnMut(&Request),
) -> Result<u64, Failure> {
    let (mut batch, mut requests) = (vec![], 0);
    loop {
        batch.clear();
        source.fill(&mut batch, 4096)?;
        if batch.is_empty() {
            return Ok(requests);
        }
        for request in &batch {
            each(request);
        }
        requests += batch.len() as u64;
        if !progress.advance(batch.len() as u64) {
            return Err(Failure::interrupted());
        }
    }
}
