//! Results of one run as text. The text ends with a verdict of one or two sentences.

mod jobs;
pub(crate) mod parity;
mod tired;
mod verdict;

use std::fmt::Write;

use vpass_drive::base::units::Cause;
use vpass_lab::numbers::{bytes, count, digits, microseconds, plural, seconds};
use vpass_lab::plan::RunPlan;
use vpass_lab::results::quantity::{reclaim_wait_percent, reclaim_wait_us};
use vpass_lab::results::warning::Warning;
use vpass_lab::results::{LifeUnit, Merged, Quantiles, Summary, Trace};
use vpass_oracle::OracleReport;

use crate::table::{Look, Table, wrapped};
use vpass_lab::plain;

pub(crate) use verdict::verdict;

/// Note for techniques that change the physics of the flash. No real drive can use such a
/// technique.
pub(crate) const COUNTERFACTUAL: &str =
    "COUNTERFACTUAL: no real flash behaves like this; the result is only a bound for comparison";

/// Returns the text that reports the results of a run.
pub(crate) fn render(s: &Summary, page_bytes: u64, colour: bool) -> String {
    let mut text = String::new();
    let title = title(s.vpass, &s.drive, &s.workload, s.workload_generated, &s.workload_source);
    let _ = writeln!(text, "{}", Look::Heading.paint(&title, colour));
    let nature = if s.counterfactual { format!(" ({COUNTERFACTUAL})") } else { String::new() };
    let _ = writeln!(
        text,
        "  reclaim {technique}{nature}, gc {gc}, {gear} gear, seed {seed}{passes}\n",
        technique = s.reclaim_technique,
        gc = s.gc_technique,
        gear = s.gear,
        seed = s.seed,
        passes = passes(s)
    );
    let mut section = |name: &str, body: &str| {
        let _ = writeln!(text, "{}\n{body}", Look::Heading.paint(name, colour));
    };
    section("Host", &host(s));
    if s.gear == "timed" {
        let name = if s.is_saturated() {
            "Latency (saturated: the drive could not keep up)"
        } else {
            "Latency"
        };
        section(name, &latency(s, colour));
    }
    if let Some(jobs) =
        s.jobs.as_deref().and_then(|jobs| jobs::table(jobs, s.gear == "timed", colour))
    {
        section("Jobs", &jobs);
    }
    section("Flash", &flash(s, page_bytes, colour));
    section("Wear", &wear(s));
    if let Some(oracle) = &s.oracle {
        section("Oracle", &oracle_words(oracle, colour));
    }
    section("Simulation", &simulation(s));
    if !s.warnings.is_empty() {
        let _ = writeln!(
            text,
            "{}",
            warnings(&s.warnings.iter().map(Warning::sentence).collect::<Vec<_>>(), colour)
        );
    }
    let look = if s.lost_data() || s.oracle.as_ref().is_some_and(OracleReport::is_bug) {
        Look::Bad
    } else {
        Look::Good
    };
    let _ = writeln!(text, "{}", look.paint(&wrapped(&verdict(s), 0), colour));
    text
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

fn passes(s: &Summary) -> String {
    let n = s.passes;
    match s.stable {
        Some(true) => format!(", stable after {n} passes"),
        Some(false) => format!(", not stable after {n} passes"),
        None if n > 1 => format!(", {n} passes"),
        None => String::new(),
    }
}

fn host(s: &Summary) -> String {
    let h = &s.host;
    let mut text = format!(
        "  {} reads ({read_bytes}), {} writes ({write_bytes}), {} trims\n",
        count(h.read_requests),
        count(h.write_requests),
        count(h.trim_requests),
        read_bytes = bytes(h.read_bytes),
        write_bytes = bytes(h.write_bytes)
    );
    let _ = write!(
        text,
        "  {} pages read, {} pages written",
        count(h.read_pages),
        count(h.write_pages)
    );
    if h.unmapped_read_pages > 0 {
        let _ = write!(
            text,
            "; {} of the pages that were read hold no data",
            count(h.unmapped_read_pages)
        );
    }
    if h.partial_page_writes > 0 {
        let _ = write!(
            text,
            "; {} wrote only part of a page, so {} pages were read to complete these writes",
            plural(h.partial_page_writes, "page write"),
            count(h.fill_reads)
        );
    }
    text.push('\n');
    if let Some(t) = &s.trace {
        let _ = writeln!(text, "  trace: {} in {}", plural(t.rows, "request"), seconds(t.span_s));
        for (n, what) in [
            (t.clamped, "moved to the later time of a request before"),
            (t.refitted, "with an address that was changed to fit the drive"),
        ] {
            if n > 0 {
                let _ = writeln!(text, "  trace: {} {what}", plural(n, "request"));
            }
        }
        text.push_str(&bad_lines(t));
        if let [.., last] = &t.devices[..]
            && t.several_devices
        {
            let end = last.base_bytes + last.extent_bytes;
            let _ = writeln!(
                text,
                "  trace: {} devices lie side by side on {}",
                count(t.devices.len() as u64),
                bytes(end)
            );
        }
    }
    text
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

fn latency(s: &Summary, colour: bool) -> String {
    let mut table = Table::new(["", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"]);
    let l = &s.latency_us;
    for (name, q) in
        [("read", &l.read), ("write", &l.write), ("during reclaim", &l.read_during_reclaim)]
    {
        let cells = quantiles(q).map(|v| v.map_or_else(|| "-".into(), microseconds));
        table.row(std::iter::once(name.to_owned()).chain(cells));
    }
    let mut text = table.render(colour);
    let t = &s.throughput;
    if let (Some(r), Some(w), Some(rm), Some(wm)) =
        (t.read_iops, t.write_iops, t.read_mib_s, t.write_mib_s)
    {
        let _ = writeln!(
            text,
            "  {} reads/s ({} MiB/s), {} writes/s ({} MiB/s)",
            digits(r),
            digits(rm),
            digits(w),
            digits(wm)
        );
    }
    text
}

fn quantiles(q: &Quantiles) -> [Option<f64>; 7] {
    [q.mean, q.p50, q.p90, q.p99, q.p99_9, q.p99_99, q.max]
}

fn flash(s: &Summary, page_bytes: u64, colour: bool) -> String {
    let f = &s.flash;
    let seen: Vec<_> = Cause::ALL
        .into_iter()
        .filter(|c| f.reads.of(*c) + f.programs.of(*c) + f.erases.of(*c) > 0)
        .collect();
    let mut text = String::new();
    if !seen.is_empty() {
        let mut table =
            Table::new(std::iter::once("by").chain(seen.iter().map(|c| c.name())).chain(["all"]));
        for (name, by) in
            [("page reads", f.reads), ("page programs", f.programs), ("block erases", f.erases)]
        {
            let cells = seen.iter().map(|c| count(by.of(*c)));
            table.row(std::iter::once(name.to_owned()).chain(cells).chain([count(by.sum())]));
        }
        text = table.render(colour);
    }
    let r = &s.reclaim.counts;
    let _ = write!(
        text,
        "  reclaim: {alarms}, {jobs}, {pages} copied ({size})",
        alarms = plural(r.alarms, "alarm"),
        jobs = plural(r.invocations, "job"),
        pages = plural(r.pages_copied, "page"),
        size = bytes(r.pages_copied * page_bytes)
    );
    if s.gear == "timed" {
        let _ = write!(text, "; {} missed the deadline", plural(r.deadline_misses, "job"));
    }
    if let (Some(refresh), Some(technique)) = (&s.refresh, &s.refresh_technique) {
        let _ = write!(
            text,
            "\n  \
             refresh {technique}: {jobs}, of which {} refreshed open blocks; {late} missed the \
             deadline; the oldest page is {} old",
            count(refresh.open_blocks),
            seconds(refresh.oldest_s),
            jobs = plural(refresh.invocations, "job"),
            late = plural(refresh.deadline_misses, "job")
        );
        text.push_str(&refresh.merged.as_ref().map_or_else(String::new, merged));
    } else {
        text.push_str(
            "\n  data does not age in this run, because neither --refresh nor start.age is given",
        );
    }
    text.push_str(&parity::parity(s));
    text.push_str(&s.failures.as_ref().map_or_else(String::new, parity::failures));
    text.push_str(&tired::tired(s));
    if let (Some(mean), Some(percent)) = (reclaim_wait_us(s), reclaim_wait_percent(s)) {
        let (mean, percent) = (microseconds(mean), digits(percent));
        let _ = write!(
            text,
            "\n  \
             a host page read waited {mean} for reclaim on average; this wait is {percent} % of \
             the mean read latency"
        );
    }
    text.push('\n');
    text.push_str(&blame(s));
    let _ = writeln!(text, "  techniques take {} of controller RAM", bytes(s.controller_ram_bytes));
    text
}

/// Describes the merges of a run, and the capacity that they cost. In a merge, refresh reprograms a
/// wordline in place to fewer states.
fn merged(merged: &Merged) -> String {
    format!(
        "\n    \
         {wordlines} merged in place; these merges corrupted {pages}; at the end, {blocks} hold \
         merged wordlines; without merges, the data would fit into {fewer} fewer blocks",
        wordlines = plural(merged.merged_wordlines, "wordline"),
        pages = plural(merged.corrupted_pages, "page"),
        blocks = plural(merged.merged_blocks.into(), "block"),
        fewer = digits(merged.extra_blocks)
    )
}

/// Largest number of address ranges that the printed report lists. The JSON output lists all
/// ranges.
const BLAMED: usize = 3;

/// Lists the address ranges whose reads caused the most copies. If reads caused no copies, the text
/// is empty.
fn blame(s: &Summary) -> String {
    let all: f64 = s.reclaim.blame.iter().map(|b| b.copies).sum();
    let worst = s.reclaim.blame.iter().take(BLAMED);
    let words: Vec<_> = worst
        .map(|b| {
            format!(
                "{:.1} % by {size} from {offset}",
                100.0 * b.copies / all,
                size = bytes(b.bytes),
                offset = bytes(b.offset_bytes)
            )
        })
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!("  address ranges whose reads caused copies: {}\n", words.join(", "))
    }
}

fn wear(s: &Summary) -> String {
    let w = &s.wear;
    let mut text = format!(
        "  P/E cycles {least} to {most}, mean {mean}; rated {rated}",
        least = count(w.pec_min.into()),
        most = count(w.pec_max.into()),
        mean = digits(w.pec_mean),
        rated = count(w.rated_pec.into())
    );
    if w.effective_pec_mean > w.pec_mean {
        let _ =
            write!(text, "; effective mean with reprogramming {}", digits(w.effective_pec_mean));
    }
    if let Some(amplification) = s.write_amplification {
        let _ = write!(text, "; write amplification {amplification:.3}");
        // If every write fills whole flash pages, the write amplification equals the field
        // `programs_per_page_write`. Only one of these two equal numbers is then printed.
        if let Some(per_page) = s
            .programs_per_page_write
            .filter(|per_page| (per_page / amplification - 1.0).abs() > 5e-4)
        {
            let _ = write!(
                text,
                " (bytes programmed per byte written; {per_page:.3} page programs per page written)"
            );
        }
    }
    if let Some(wear) = s.read_wear {
        let _ = write!(text, "; read wear {} %", digits(wear));
    }
    text.push('\n');
    for age in &w.ages {
        let rate = match w.life_unit {
            Some(LifeUnit::HostBytes) => (age.pec_per_tb_written, "per TB written"),
            Some(LifeUnit::ReadBytes) => (age.pec_per_tb_read, "per TB read"),
            _ => (age.pec_per_day, "per day"),
        };
        let cycles = rate.0.map_or_else(|| "-".into(), digits);
        let _ = writeln!(
            text,
            "  a drive that begins with {} P/E cycles wears by {cycles} P/E cycles {per}",
            count(age.start_pec.into()),
            per = rate.1
        );
    }
    text
}

fn oracle_words(o: &OracleReport, colour: bool) -> String {
    let errors = [
        ("reads of wrong data", o.stamp_errors),
        ("uses of data past its limit", o.limit_violations),
        ("false losses", o.false_losses),
        ("violations of flash rules", o.protocol_errors),
        ("pages not served as requested", o.request_errors),
        ("wrong counts or map entries", o.books_errors),
    ];
    let found: Vec<_> = errors
        .iter()
        .filter(|(_, n)| *n > 0)
        .map(|(what, n)| format!("{} {what}", count(*n)))
        .collect();
    let verdict = if found.is_empty() {
        "no error of the drive model".into()
    } else {
        Look::Bad.paint(&found.join(", "), colour)
    };
    let lost = if o.lost_pages > 0 {
        format!("; {} lost", plural(o.lost_pages, "page"))
    } else {
        String::new()
    };
    let mut text = format!(
        "  {} page reads checked: {verdict}; the most disturbed readable page {}{lost}\n",
        count(o.reads_checked),
        if o.worst_dose_ratio.is_finite() {
            format!("reached {:.1} % of its limit", o.worst_dose_ratio * 100.0)
        } else {
            "was past its age limit, and was decoded by chance".into()
        }
    );
    for finding in &o.findings {
        let _ = writeln!(text, "  {}", plain::line(finding));
    }
    text
}

fn simulation(s: &Summary) -> String {
    let sim = &s.simulation;
    let mut text = String::from("  ");
    if let Some(simulated) = sim.simulated_s {
        let _ = write!(text, "{} simulated in ", seconds(simulated));
    }
    let (wall_s, requests_per_s) = (sim.wall_s.unwrap_or(0.0), sim.requests_per_s.unwrap_or(0.0));
    let _ = write!(text, "{}; {} requests/s", seconds(wall_s), digits(requests_per_s));
    if let Some(rss) = sim.peak_rss_bytes {
        let _ = write!(text, "; {} of memory", bytes(rss));
    }
    text.push('\n');
    text
}
