//! Results of one run as text. The text ends with a verdict of one or two sentences.

mod verdict;

use vpass_lab::numbers::{digits, microseconds, plural};
use vpass_lab::plain;
use vpass_lab::plan::RunPlan;
use vpass_lab::results::quantity::{reclaim_wait_percent, reclaim_wait_us};
use vpass_lab::results::warning::Warning;
use vpass_lab::results::{Summary, Trace};
use vpass_oracle::OracleReport;
use vpass_report::facts;

use crate::table::{Look, wrapped};

pub(crate) use verdict::{failures_in_short, verdict};

/// Note for techniques that change the physics of the flash. No real drive can use such a
/// technique.
pub(crate) const COUNTERFACTUAL: &str =
    "COUNTERFACTUAL: no real flash behaves like this; the result is only a bound for comparison";

/// Keys of the summary that the text leaves out: the title has the first of them, and the JSON
/// output has all.
const LEFT_OUT: [&str; 24] = [
    "schema",
    "vpass",
    "drive",
    "workload",
    "workload_generated",
    "workload_source",
    "counterfactual",
    "batch_means",
    "smart",
    "warnings",
    // The warnings have the cost of small writes, and the verdict has the life if it is known.
    "mapping_unit",
    "life_unit",
    "life_method",
    "projected_life_days",
    "life_low_days",
    "life_high_days",
    "host_bytes_until_worn",
    "host_bytes_until_worn_low",
    "host_bytes_until_worn_high",
    "read_bytes_until_worn",
    "read_bytes_until_worn_low",
    "read_bytes_until_worn_high",
    "drive_writes_per_day",
    "requests_for_life",
];

/// Returns the text that reports the results of a run.
pub(crate) fn render(s: &Summary, colour: bool) -> String {
    let title = title(s.vpass, &s.drive, &s.workload, s.workload_generated, &s.workload_source);
    let mut text = facts::heading(&title, colour);
    if s.counterfactual {
        text.extend(["  ", COUNTERFACTUAL, "\n"]);
    }
    let mut left_out = LEFT_OUT.to_vec();
    if s.jobs.as_ref().is_some_and(|jobs| jobs.len() < 2) {
        left_out.push("jobs");
    }
    text += &facts::text(s, &left_out, colour);
    for note in notes(s) {
        text += &(wrapped(&format!("  {note}"), 4) + "\n");
    }
    if !s.warnings.is_empty() {
        let sentences: Vec<_> = s.warnings.iter().map(Warning::sentence).collect();
        text.extend(["\n", &warnings(&sentences, colour)]);
    }
    let look = if s.lost_data() || s.oracle.as_ref().is_some_and(OracleReport::is_bug) {
        Look::Bad
    } else {
        Look::Good
    };
    text + &format!("\n{}\n", look.paint(&wrapped(&verdict(s), 0), colour))
}

/// Returns what no number of the summary shows.
fn notes(s: &Summary) -> Vec<String> {
    let mut notes = vec![];
    if let (Some(mean), Some(percent)) = (reclaim_wait_us(s), reclaim_wait_percent(s))
        && mean > 0.0
    {
        notes.push(format!(
            "A host page read waited {} for reclaim on average: {} % of the mean read latency.",
            microseconds(mean),
            digits(percent)
        ));
    }
    if s.refresh.is_none() {
        let why = "neither --refresh nor start.age is given";
        notes.push(format!("Data does not age in this run, because {why}."));
    }
    if let Some(oracle) = s.oracle.as_ref().filter(|oracle| !oracle.is_bug()) {
        let checked = plural(oracle.reads_checked, "page read");
        notes.push(format!("The oracle checked {checked} and found no error of the drive model."));
    }
    notes
}

/// Formats the warnings that stand before the numbers of a report. Without warnings, the returned
/// text is empty.
pub(crate) fn warnings<S: AsRef<str>>(sentences: &[S], colour: bool) -> String {
    let heading = Look::Bad.paint("Warnings", colour);
    let lines: Vec<_> = sentences
        .iter()
        .map(|sentence| {
            format!("\n{}", wrapped(&format!("  {}", plain::line(sentence.as_ref())), 4))
        })
        .collect();
    if lines.is_empty() { String::new() } else { heading + &lines.concat() + "\n" }
}

/// Returns the first line of a report: version, drive and workload. If the workload was generated,
/// the line also names the source of the workload.
pub(crate) fn title(
    vpass: &str,
    drive: &str,
    workload: &str,
    generated: bool,
    source: &str,
) -> String {
    let label = if generated { format!(" ({source})") } else { String::new() };
    plain::line(&format!("vpass {vpass}: drive {drive}, workload {workload}{label}")).into_owned()
}

/// Returns the heading of a table of techniques. The heading has the drive, the workload, the gear
/// and the number of repetitions.
pub(crate) fn heading(plan: &RunPlan, repeated: &str, colour: bool) -> String {
    let workload = &plan.workload;
    let title = title(
        env!("CARGO_PKG_VERSION"),
        &plan.drive.name,
        &workload.name(),
        workload.is_generated(),
        &workload.source(),
    );
    format!("{}\n  {} gear, {repeated}\n\n", Look::Heading.paint(&title, colour), plan.gear.name())
}

/// Describes the trace lines that `--skip-bad-lines` skipped. If no line was skipped, the text is
/// empty.
pub(crate) fn bad_lines(trace: &Trace) -> String {
    let first = trace.first_bad_line.as_ref();
    first.map_or_else(String::new, |first| {
        format!(
            "  trace: skipped {} that cannot be read; the first: {}\n",
            plural(trace.bad_lines, "line"),
            plain::line(first)
        )
    })
}
