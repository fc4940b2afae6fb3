//! Verdict on a run: whether data was lost, and how long the drive would live.

use vpass_lab::numbers::{count, digits, plural};
use vpass_lab::plan::FROM_JOBS;
use vpass_lab::results::{Confidence, Failures, LifeUnit, Summary};

/// Returns the verdict on a run in one or two sentences.
pub(crate) fn verdict(s: &Summary) -> String {
    if let Some(oracle) = &s.oracle
        && oracle.is_bug()
    {
        return "The oracle found a bug of the drive model, so no result of this run can be \
            trusted. Please report the bug, with the command that you ran."
            .into();
    }
    let loss = match (s.data_lost_pages, s.uncorrectable_reads) {
        (0, 0) => still_to_rebuild(s).unwrap_or_else(|| "No data was lost.".into()),
        (lost, 0) => {
            format!(
                "{} of data were lost; the host has not read these pages yet.",
                plural(lost, "page")
            )
        }
        (lost, reads) => format!(
            "{} of data were lost; {} failed.",
            plural(lost, "page"),
            plural(reads, "host page read")
        ),
    };
    let lag = if s.is_saturated() { " The drive could not keep up with the requests." } else { "" };
    format!("{loss}{lag} {}", life(s))
}

/// Explains why a run is too short for a projection of the drive's life, and what the user can do
/// instead.
fn too_short(s: &Summary) -> String {
    let w = &s.wear;
    let why = match w.confidence() {
        Confidence::Number => {
            "the rates of the run have not settled, or the drive's start-up state still has an \
             effect"
                .into()
        }
        _ => format!("only {} block cycles were seen", digits(w.cycles_observed)),
    };
    let has_times = w.life_unit == Some(LifeUnit::Days);
    let advice = match s.workload_source.as_str() {
        _ if has_times => " `vpass life` simulates the whole life.",
        FROM_JOBS => " `vpass life` simulates a life if each job has a rate_iops.",
        source if source.contains("adversary") => "",
        _ => " `vpass life` simulates a life if workload.rate is set.",
    };
    format!("This run is too short to project the drive's life: {why}.{advice}")
}

/// Describes how long the drive would live, as far as a single run can show.
fn life(s: &Summary) -> String {
    let w = &s.wear;
    let rated = count(w.rated_pec.into());
    let more = |words: &str| {
        w.requests_for_life.map_or_else(String::new, |requests| {
            format!("{words} at least {} requests, perhaps more", count(requests))
        })
    };
    let rate = if s.is_saturated() { " at the rate served" } else { "" };
    let life = w.life();
    match (w.confidence(), w.life_unit, life.and_then(|life| life.low)) {
        (Confidence::NoWear, ..) => {
            let more = more(" The run is too short to project the drive's life: run");
            format!(
                "No wear was seen: nothing was programmed or erased.{more}{}",
                if more.is_empty() { "" } else { "." }
            )
        }
        _ if w.effective_pec_mean >= f64::from(w.rated_pec) => {
            format!("The drive is past its rated {rated} P/E cycles.")
        }
        (_, None, _) | (_, _, None) => {
            "The host neither wrote nor read, so there is no projection of the drive's life.".into()
        }
        (Confidence::TooFew, ..) => {
            format!(
                "There were too few erases to project the drive's life ({} block cycles){}.",
                digits(w.cycles_observed),
                more(": run")
            )
        }
        _ if !w.life_settled => too_short(s),
        (_, Some(unit), Some(low)) => {
            let range = unit.range(low, life.and_then(|life| life.high).unwrap_or(f64::INFINITY));
            let after = format!(
                "Estimate, projected from the run: the drive would reach its rated {rated} P/E \
                 cycles after"
            );
            match life.and_then(|life| life.middle) {
                Some(life) => format!(
                    "{after} {} of this workload{rate} ({range}). On small drives, estimates from \
                     a run were within 15 % of the life that `vpass life` simulates; with \
                     background GC, the estimates were up to 37 % too low.",
                    unit.text_with(life, w.drive_writes_per_day)
                ),
                None => format!(
                    "{after} {range} of this workload{rate}; only {} block cycles were seen{}.",
                    digits(w.cycles_observed),
                    more("; for a single number, run")
                ),
            }
        }
    }
}

/// Returns the verdict for a run that lost no data but has pages left to rebuild.
fn still_to_rebuild(s: &Summary) -> Option<String> {
    let to_go = s.failures.as_ref()?.unmended_pages;
    (to_go > 0).then(|| {
        format!(
            "No data was lost so far, but the rebuild is not done: {pages_lie} still on failed \
             flash.",
            pages_lie = lie(to_go)
        )
    })
}

fn lie(pages: u64) -> String {
    format!("{} {}", plural(pages, "page"), if pages == 1 { "lies" } else { "lie" })
}

/// Sums up the failures in all runs of one technique; `None` if no failure was injected.
pub(crate) fn failures_in_short(runs: &[Summary]) -> Option<String> {
    let all: Vec<&Failures> = runs.iter().filter_map(|run| run.failures.as_ref()).collect();
    let sum = |of: fn(&Failures) -> u64| all.iter().map(|failures| of(failures)).sum::<u64>();
    let rebuilt = sum(|f| {
        f.rebuilt_in_background_pages + f.rebuilt_for_reads_pages + f.rebuilt_for_writes_pages
    });
    let runs = if all.len() > 1 { format!(" in {} runs", all.len()) } else { String::new() };
    (!all.is_empty()).then(|| {
        format!(
            "failures lost {pages}{runs}; {} rebuilt, {} still to rebuild; {stripes} unprotected \
             at the end",
            count(rebuilt),
            count(sum(|f| f.unmended_pages)),
            pages = plural(sum(|f| f.lost_pages), "page"),
            stripes = plural(sum(|f| f.unprotected_stripes), "stripe")
        )
    })
}
