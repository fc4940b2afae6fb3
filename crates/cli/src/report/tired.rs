//! Report lines about aged data: read retries, UBER (uncorrectable bit error rate), lost pages, and
//! the latencies that the host accepts (hints).

use std::fmt::Write;

use vpass_lab::numbers::{count, digits, microseconds, plural};
use vpass_lab::results::{Hints, OverSeeds, Summary};

/// Returns the report lines about aged data, each with a line break in front. If there is nothing
/// to report, the text is empty.
pub(super) fn tired(s: &Summary) -> String {
    let mut text = String::new();
    if let Some(retries) = &s.retries {
        let reads: u64 = retries.histogram.iter().sum();
        let share =
            if reads > 0 { 100.0 * retries.reads_with_retry as f64 / reads as f64 } else { 0.0 };
        let _ = write!(
            text,
            "\n  retries: {} host page reads ({} %) needed a retry; the mean over all host page \
             reads is {} retries",
            count(retries.reads_with_retry),
            digits(share),
            digits(retries.mean.unwrap_or(0.0))
        );
        if retries.budget_raised > 0 {
            let groups = plural(retries.budget_raised.into(), "wordline group");
            let _ = write!(
                text,
                "\n    {groups} may hold data so old that reclaim allows more retries than \
                 reclaim.retries"
            );
        }
    }
    text.push_str(&uber(s));
    for (word, of) in s.hints.iter().flat_map(Hints::words).filter(|(_, of)| of.pages > 0) {
        let _ = write!(
            text,
            "\n  \
             hint {word}: {} pages, with at most {} retries ({latency}) per read; of {reads} page \
             reads, {late} took longer than {latency}",
            count(of.pages),
            of.retries,
            latency = microseconds(of.latency_us),
            reads = count(of.reads),
            late = count(of.missed_budgets)
        );
    }
    if let Some(losses) = s
        .losses
        .filter(|losses| losses.by_reads + losses.by_age + losses.by_failures.unwrap_or(0) > 0)
    {
        let (by_reads, by_age) = (plural(losses.by_reads, "page"), plural(losses.by_age, "page"));
        let _ = write!(text, "\n  lost by reads: {by_reads}; by age: {by_age}");
        losses
            .by_failures
            .into_iter()
            .for_each(|pages| _ = write!(text, "; by failures: {}", plural(pages, "page")));
    }
    text
}

/// Returns the UBER (uncorrectable bit error rate) of this run. With several seeds, the text also
/// has the UBER over all seeds.
fn uber(s: &Summary) -> String {
    let mut text = String::new();
    if let Some(uber) = s.uber
        && let (Some(rate), Some(low), Some(high)) =
            (uber.rate, uber.counted_low, uber.counted_high)
    {
        let lost = plural(s.data_lost_pages, "page");
        let _ = write!(
            text,
            "\n  \
             UBER: {rate:.1e} expected; {low:.1e} to {high:.1e} counted ({lost} lost in {:.1e} \
             bits read)",
            uber.bits_read as f64
        );
        if let Some(OverSeeds {
            seeds,
            rate: Some(rate),
            data_lost_pages,
            bits_read,
            counted_low: Some(low),
            counted_high: Some(high),
            ..
        }) = uber.over_seeds
        {
            let (lost, bits_read, ci95) =
                (plural(data_lost_pages, "page"), bits_read as f64, rate.ci95.unwrap_or(0.0));
            let _ = write!(
                text,
                "\n    \
                 over {seeds} seeds: {:.1e} +- {ci95:.1e} expected; {low:.1e} to {high:.1e} \
                 counted ({lost} lost in {bits_read:.1e} bits read)",
                rate.mean
            );
        }
    }
    text
}
