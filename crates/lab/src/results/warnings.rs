//! What to know before results are believed: a sentence each, in the JSON and in the text.

use vpass_core::base::span::Span;
use vpass_core::drive::start::reads::StartReads;
use vpass_core::slots::refresh::NO_REFRESH;

use crate::numbers::{count, digits, plural, seconds};

use super::{Ageing, ByWear, Confidence, Parity, Summary, mapping_unit};

/// A drive that is done so much later than its last request came has more to do than it can: more
/// than this share of the time in which requests came, and long enough to be no single slow
/// request.
const LAG_SHARE: f64 = 0.01;
const LAG_S: f64 = 0.02;
/// So many seconds are too much for any run.
const LONG_LAG_S: f64 = 1.0;

/// Share of a rewrite's reads from which on the next rewrite is worth a warning.
const NEARLY: f64 = 0.1;

/// Share of the written blocks.
const MANY: f64 = 0.01;

/// Programmed blocks over erased ones from which on a drive lives on its spare blocks.
const UNPAID: f64 = 1.25;

impl Summary {
    /// Adds a sentence to what the user should know before these results are believed; once.
    pub(crate) fn warn(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.warnings.contains(&sentence) {
            self.warnings.push(sentence);
        }
    }

    /// Whether requests came faster than the drive could serve them, so that latencies only say how
    /// long the run was.
    pub fn is_saturated(&self) -> bool {
        self.throughput.backlog_s.is_some_and(|lag| lag > LONG_LAG_S) || self.backlog_grows()
    }

    /// Whether the drive was done so late that it lags more the longer it runs, and not for one
    /// long job at the end.
    pub fn backlog_grows(&self) -> bool {
        let (Some(lag), Some(simulated)) = (self.throughput.backlog_s, self.simulation.simulated_s)
        else {
            return false;
        };
        lag > LAG_S && lag > LAG_SHARE * (simulated - lag)
    }

    /// Adds what a summary can tell of itself.
    pub(crate) fn warn_of_itself(&mut self, ageing: &Ageing, refresh_period: Span) {
        let sentences = [
            self.of_saturation(),
            self.of_instability(),
            self.of_spare_blocks(),
            self.of_reads_underway(ageing.progress),
            self.of_refresh_to_come(ageing.oldest_recycled_s, refresh_period),
            self.of_wear_to_come(),
            self.of_no_last_stage(),
            self.of_repair(),
            self.of_rebuild_underway(),
            self.of_small_writes(),
        ];
        sentences.into_iter().flatten().for_each(|sentence| self.warn(sentence));
    }

    /// Adds that `start.reads` means nothing for some blocks, where preparation had read many as
    /// often already.
    pub(crate) fn warn_of_start_reads(&mut self, StartReads { written, passed_over }: StartReads) {
        if f64::from(passed_over) > MANY * f64::from(written) {
            self.warn(format!(
                "start.reads: preparation had read {} of {} written blocks so often already, as it wrote parity or merged in place, that nothing was \
                 added.",
                count(passed_over.into()),
                count(written.into())
            ));
        }
    }

    fn of_saturation(&self) -> Option<String> {
        let (offered, lag) = (self.throughput.offered_iops?, self.throughput.backlog_s?);
        // As many requests as came until the last arrival, in all the time.
        let served = offered * (1.0 - lag / self.simulation.simulated_s?);
        self.is_saturated().then(|| {
            format!(
                "The drive could not keep up: {} requests/s were offered and {} served, and at the end it was {} behind; latencies grow with \
                 the length of the run, and wear and life are those at the rate served.",
                digits(offered),
                digits(served),
                seconds(lag)
            )
        })
    }

    fn of_instability(&self) -> Option<String> {
        (self.stable == Some(false)).then(|| {
            format!(
                "Wear per host page had not settled after {} passes; the numbers still depend on how long the run is.",
                count(self.passes)
            )
        })
    }

    /// What writes smaller than the mapping unit cost.
    fn of_small_writes(&self) -> Option<String> {
        mapping_unit::warning([(self.mapping_unit, self.write_amplification)])
    }

    fn of_spare_blocks(&self) -> Option<String> {
        let erases = self.flash.erases.sum() as f64;
        let unpaid = self.host.write_pages > 0
            && self.wear.cycles_observed > UNPAID * erases
            && self.wear.confidence() != Confidence::NoWear;
        unpaid.then(|| {
            format!(
                "{} blocks' worth of pages were programmed and {} blocks erased: the drive still fills its spare blocks, and garbage collection \
                 will wear it more once they are full.",
                digits(self.wear.cycles_observed),
                count(erases as u64)
            )
        })
    }

    fn of_reads_underway(&self, progress: f64) -> Option<String> {
        (self.reclaim.invocations == 0 && progress >= NEARLY).then(|| {
            format!(
                "No block was rewritten because of reads yet, but the most read one is at about {:.0} % of the reads at which {} rewrites it; a \
                 longer run may wear the drive more.",
                100.0 * progress.min(1.0),
                self.reclaim_technique
            )
        })
    }

    /// Whether parity repairs some of what UBER counts as lost. It does not where limits are those
    /// of whole stripes, and what is expected is worked out.
    pub(crate) fn is_repaired_beyond_uber(&self) -> bool {
        let kept_some = |by_wear: &ByWear| by_wear.protected_stripes + by_wear.formed > 0;
        let repairs = |parity: &Parity| {
            parity.reads_first.is_none() && parity.by_wear.as_ref().is_none_or(kept_some)
        };
        self.uber.is_some() && self.parity.as_ref().is_some_and(repairs)
    }

    /// Whether data was read that may be lost by chance.
    pub(crate) fn has_uber(&self) -> bool {
        self.uber.is_some_and(|uber| uber.rate.is_some_and(|rate| rate > 0.0))
    }

    fn of_repair(&self) -> Option<String> {
        let technique = self
            .parity_technique
            .as_ref()
            .filter(|_| self.has_uber() && self.is_repaired_beyond_uber())?;
        Some(format!(
            "UBER is that of pages by themselves, before repair: where a stripe has parity, {technique} rebuilds a page that cannot be read. What the \
             host loses then is less, and how much less is not worked out."
        ))
    }

    fn of_rebuild_underway(&self) -> Option<String> {
        let to_go = self.failures.as_ref()?.unmended_pages;
        (to_go > 0).then(|| {
            format!(
                "The run ended before all was rebuilt that lay on failed flash ({} to go): latencies, wear and life are those of a drive that rebuilds.",
                plural(to_go, "page")
            )
        })
    }

    fn of_no_last_stage(&self) -> Option<String> {
        let parity = self.parity.as_ref()?;
        let l = parity.by_wear.as_ref()?.life.as_ref()?.l;
        (l >= parity.parity_pages).then(|| {
            format!(
                "The drive has {} stripes, and its last stage begins with more than {} (parity.l) in worn blocks: it never does.",
                count(parity.parity_pages.into()),
                count(l.into())
            )
        })
    }

    fn of_wear_to_come(&self) -> Option<String> {
        let (technique, by_wear) =
            (self.parity_technique.as_ref()?, self.parity.as_ref()?.by_wear.as_ref()?);
        (by_wear.worn_share == 0.0).then(|| {
            format!(
                "No block came to more than {} P/E cycles (parity.t_p; the most worn has {}): {technique} kept no parity in this run. A longer run or \
                 a larger start.pec shows what it costs.",
                count(by_wear.t_p.into()),
                count(self.wear.pec_max.into())
            )
        })
    }

    /// Of the oldest data in blocks that are recycled; nothing where no block is.
    fn of_refresh_to_come(&self, oldest_s: Option<f64>, period: Span) -> Option<String> {
        let (technique, refresh) = (
            self.refresh_technique.as_ref().filter(|name| *name != NO_REFRESH)?,
            self.refresh.as_ref()?,
        );
        let oldest_s = oldest_s?;
        (refresh.invocations == 0).then(|| {
            format!(
                "No block was rewritten because of its age yet: the oldest data is {} old, and {technique} rewrites it by {}; a longer run, or data \
                 that is old at the start (start.age), may wear the drive more.",
                seconds(oldest_s),
                seconds(period.0 as f64 / 1e9)
            )
        })
    }
}
