//! Text of the report on how well a generated workload meets its statistics.

use std::fmt::Write;
use std::path::Path;

use vpass_lab::numbers::{bytes, count, digits, plural, seconds};
use vpass_workload::statistics::Statistic;

use super::fit::FitReport;
use crate::table::{Look, Table};
use vpass_lab::plain;

/// Returns the report on the fit of a workload.
pub(super) fn render(fit: &FitReport, written: Option<&Path>, colour: bool) -> String {
    let mut text = String::new();
    let title = format!("vpass {}: workload {}", fit.vpass, fit.workload_source);
    let _ = writeln!(text, "{}", Look::Heading.paint(&plain::line(&title), colour));
    let (footprint, span) = (bytes(fit.footprint_bytes), seconds(fit.span_s));
    let _ = writeln!(
        text,
        "  {}; {} requests on {footprint} in {span}, seed {}\n",
        plain::line(&fit.source),
        count(fit.requests),
        fit.seed
    );
    text.push_str(&table(&fit.statistics, fit.tolerance_percent).render(colour));
    text.push('\n');
    for note in &fit.notes {
        let _ = writeln!(text, "  {}", plain::line(note));
    }
    let look = if fit.missed == 0 { Look::Good } else { Look::Bad };
    let _ = writeln!(text, "{}", look.paint(&verdict(fit), colour));
    let _ = writeln!(text, "{NOT_KEPT}");
    match written {
        Some(path) => {
            let _ = writeln!(
                text,
                "{} is written; run it with: vpass run --drive DRIVE --workload {0}",
                plain::path(path)
            );
        }
        None if fit.missed > 0 => {}
        None => text.push_str("No file was written; --out FILE writes the workload into a file.\n"),
    }
    text
}

/// Sentence that says what a table of statistics cannot preserve from a trace.
const NOT_KEPT: &str = "The generated requests do not preserve five things: which pages are near \
    each other or are read together; the order of requests; changes of the request mix over time; \
    request times within a window; the relation between request size and page popularity.";

fn table(statistics: &[Statistic], tolerance: f64) -> Table {
    let mut table = Table::new(["statistic", "target", "generated", "unit", "error"]);
    let cells = |s: &Statistic| {
        [
            number(s.target),
            number(s.generated),
            s.unit.to_owned(),
            format!("{:.2} %", s.error_percent),
        ]
    };
    let mut left = statistics;
    while let Some(first) = left.first() {
        // Neighbouring percentiles of a statistic share one line if all their numbers are equal.
        let alike = left
            .iter()
            .take_while(|s| {
                s.name == first.name && s.percentile.is_some() && cells(s) == cells(first)
            })
            .count()
            .max(1);
        let (these, rest) = left.split_at(alike);
        let percent = |s: &Statistic| s.percentile.map_or_else(String::new, |p| format!(" p{p}"));
        let mut name = format!("{}{}", first.name, percent(first));
        if let [_, .., last] = these {
            let _ = write!(name, " to{}", percent(last));
        }
        let cells = cells(first).map(|cell| (cell, Look::Plain));
        let mut row = vec![(name, Look::Plain)];
        row.extend(cells);
        if first.error_percent > tolerance
            && let Some(error) = row.last_mut()
        {
            error.1 = Look::Bad;
        }
        table.painted_row(row);
        left = rest;
    }
    table
}

fn number(n: f64) -> String {
    if (n - n.round()).abs() < 0.005 { count(n.round() as u64) } else { digits(n) }
}

fn verdict(fit: &FitReport) -> String {
    let all = plural(fit.statistics.len() as u64, "statistic");
    let (worst, tolerance) = (fit.worst_error_percent, fit.tolerance_percent);
    match fit.missed {
        0 => format!("All {all} are met within {tolerance} %. The largest error is {worst:.2} %."),
        n => {
            let all = count(fit.statistics.len() as u64);
            let have_errors = if n == 1 { "has an error" } else { "have errors" };
            format!(
                "{some} of {all} {have_errors} above {tolerance} %; the largest error is {}.",
                percent(worst),
                some = plural(n as u64, "statistic")
            )
        }
    }
}

/// Explains why a workload does not fit its statistics, and what the user can do.
pub(super) fn advice(fit: &FitReport) -> String {
    let mut text = verdict(fit);
    text.pop();
    let tried = fit.scales_tried.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let tolerance = fit.tolerance_percent;
    let _ = match (fit.smallest_scale, fit.scales_tried.as_slice()) {
        (Some(scale), [_]) => {
            write!(text, "; --scale {scale}, which was tried next, meets all statistics")
        }
        (Some(scale), _) => {
            write!(
                text,
                "; --scale {scale} is the smallest of the tried scales ({tried}) that meets all \
                 statistics"
            )
        }
        (None, []) => write!(text, " at full scale"),
        (None, _) => write!(text, "; no larger scale meets all statistics (tried: {tried})"),
    };
    if fit.worst_error_percent.is_finite() {
        let _ = write!(
            text,
            "; --tolerance {} accepts this fit",
            (fit.worst_error_percent.max(tolerance) * 10.0).ceil() / 10.0
        );
    }
    text.push_str("; nothing was written");
    text
}

fn percent(p: f64) -> String {
    if p < 10.0 {
        format!("{p:.4} %")
    } else if p.is_finite() {
        format!("{} %", digits(p))
    } else {
        "too large for a percentage".into()
    }
}
