//! Warnings about results. The text report and the JSON file show the same warnings.

use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::span::Span;
use vpass_drive::base::units::Cause;
use vpass_drive::drive::Drive;
use vpass_drive::drive::start::reads::StartReads;

use crate::numbers::{count, digits, plural, seconds};

use super::warning::{Number, Warning};
use super::{Ageing, ByWear, Confidence, Parity, Summary};

/// Smallest lag that causes a warning, as a share of the time in which requests arrive. The lag is
/// the time from the arrival of the last request until all requests are served. A lag of at most
/// `LAG_S` seconds never causes this warning.
const LAG_SHARE: f64 = 0.01;
const LAG_S: f64 = 0.02;
/// Lag, in seconds, that causes a warning even in a long run. No single request takes so long.
const LONG_LAG_S: f64 = 1.0;

/// Progress of a block towards its rewrite, as a share of the reads that trigger the rewrite. At
/// this share, a warning says that a rewrite is near.
const NEARLY: f64 = 0.1;

/// If `start.reads` had no effect on more than this share of the written blocks, a warning says so.
const MANY: f64 = 0.01;

/// Number of programmed blocks per erased block. A drive above this number is still filling its
/// spare blocks.
const UNPAID: f64 = 1.25;

/// Number of blocks that GC must clean for each open block until data of the start-up state has
/// little effect on the copies. `modern-tlc` under a database trace has a write amplification of
/// 7.5 after 6 blocks, 4.4 after 14 blocks, and 2.7 after 126 blocks.
const CLEANED: f64 = 50.0;

impl Summary {
    /// Adds a warning if the summary does not have the warning yet.
    pub(crate) fn warn(&mut self, warning: impl Into<Warning>) {
        let warning = warning.into();
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns whether requests arrived faster than the drive could serve them. If so, latencies
    /// depend mainly on the length of the run.
    pub fn is_saturated(&self) -> bool {
        self.throughput.backlog_s.is_some_and(|lag| lag > LONG_LAG_S) || self.backlog_grows()
    }

    /// Returns whether the backlog grows with the length of the run. A short backlog, which one
    /// long job can cause at the end of the run, does not count.
    pub fn backlog_grows(&self) -> bool {
        let (Some(lag), Some(simulated)) = (self.throughput.backlog_s, self.simulation.simulated_s)
        else {
            return false;
        };
        lag > LAG_S && lag > LAG_SHARE * (simulated - lag)
    }

    /// Adds the warnings that need only this summary and no other run.
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

    /// Adds a warning if `start.reads` had no effect on many blocks. Such blocks already had at
    /// least `start.reads` reads when the preparation of the drive ended.
    pub(crate) fn warn_of_start_reads(&mut self, StartReads { written, passed_over }: StartReads) {
        if f64::from(passed_over) > MANY * f64::from(written) {
            self.warn(Warning::new(
                "start.reads had no effect in {} of {} written blocks. Before the run, these \
                 blocks had at least start.reads reads already, caused by writes of parity or by \
                 merges in place.",
                [whole(passed_over.into()), whole(written.into())],
            ));
        }
    }

    /// Adds a warning if GC has cleaned so few blocks that it mostly copied data of the start-up
    /// state.
    pub(crate) fn warn_of_start_up(&mut self, drive: &Drive) {
        let open = drive.stream_widths().into_iter().map(|(_, width)| width).max().unwrap_or(0);
        let few = (CLEANED * f64::from(open)).min(0.5 * f64::from(drive.geometry().blocks));
        let cleaned = self.flash.erases.of(Cause::Gc);
        let [by_gc, by_host] = [Cause::Gc, Cause::Host].map(|cause| self.flash.programs.of(cause));
        if by_host > 0 && by_gc > by_host && (cleaned as f64) < few {
            let share = by_gc as f64 / self.flash.programs.sum() as f64;
            self.warn(Warning::new(
                "The drive still fills blocks that it opened at the start: GC has cleaned only {}, \
                 and copied mostly data of the start-up state. These copies are {} % of all \
                 programs, so write amplification will differ in a longer run.",
                [(cleaned as f64, plural(cleaned, "block")), percent(share)],
            ));
        }
    }

    fn of_saturation(&self) -> Option<Warning> {
        let (offered, lag) = (self.throughput.offered_iops?, self.throughput.backlog_s?);
        // Number of requests that the drive served per second of simulated time.
        let served = offered * (1.0 - lag / self.simulation.simulated_s?);
        self.is_saturated().then(|| {
            Warning::new(
                "The drive could not keep up: {} requests/s were offered, but only {} were served, \
                 and the drive was {} behind at the end. Latencies therefore grow with the length \
                 of the run. Wear and life hold for the served rate.",
                [(offered, digits(offered)), (served, digits(served)), (lag, seconds(lag))],
            )
        })
    }

    fn of_instability(&self) -> Option<Warning> {
        (self.stable == Some(false)).then(|| {
            Warning::new(
                "Wear per host page had not settled after {} passes; the numbers still depend on \
                 the length of the run.",
                [whole(self.passes)],
            )
        })
    }

    /// Returns the warning about writes that are smaller than the mapping unit.
    fn of_small_writes(&self) -> Option<Warning> {
        let programs = self.flash.programs;
        let of_host = programs.of(Cause::Host) as f64 / programs.sum().max(1) as f64;
        self.mapping_unit.warning(self.write_amplification.map(|all| all * of_host))
    }

    fn of_spare_blocks(&self) -> Option<Warning> {
        let erases = self.flash.erases.sum() as f64;
        let unpaid = self.host.write_pages > 0
            && self.wear.cycles_observed > UNPAID * erases
            && self.wear.confidence() != Confidence::NoWear;
        unpaid.then(|| {
            let cycles = self.wear.cycles_observed;
            Warning::new(
                "The drive programmed enough pages for {} blocks but erased only {} blocks: the \
                 drive still fills its spare blocks. When the spare blocks are full, garbage \
                 collection will wear the drive more.",
                [(cycles, digits(cycles)), whole(erases as u64)],
            )
        })
    }

    fn of_reads_underway(&self, progress: f64) -> Option<Warning> {
        (self.reclaim.counts.invocations == 0 && progress >= NEARLY).then(|| {
            let words = format!(
                "No block was rewritten because of reads yet. The block with the most reads has \
                 about {{}} % of the reads at which `{}` rewrites this block; a longer run may \
                 wear the drive more.",
                self.reclaim_technique
            );
            Warning::new(words, [percent(progress.min(1.0))])
        })
    }

    /// Returns whether parity repairs some of the losses that UBER counts. Returns false if parity
    /// raises the read limits, because the UBER then already includes the repair.
    pub(crate) fn is_repaired_beyond_uber(&self) -> bool {
        let kept_some = |by_wear: &ByWear| by_wear.protected_stripes + by_wear.formed > 0;
        let repairs = |parity: &Parity| {
            parity.reads_first.is_none() && parity.by_wear.as_ref().is_none_or(kept_some)
        };
        self.uber.is_some() && self.parity.as_ref().is_some_and(repairs)
    }

    /// Returns whether the expected UBER is above 0: random errors could have lost data that the
    /// host read.
    pub(crate) fn has_uber(&self) -> bool {
        self.uber.is_some_and(|uber| uber.rate.is_some_and(|rate| rate > 0.0))
    }

    fn of_repair(&self) -> Option<Warning> {
        let technique = self
            .parity_technique
            .as_ref()
            .filter(|_| self.has_uber() && self.is_repaired_beyond_uber())?;
        let words = format!(
            "UBER counts single pages before repair. In a stripe with parity, {technique} rebuilds \
             a page that cannot be read, so the host loses less data than UBER says; vpass does \
             not compute the loss after repair."
        );
        Some(words.into())
    }

    fn of_rebuild_underway(&self) -> Option<Warning> {
        let to_go = self.failures.as_ref()?.unmended_pages;
        (to_go > 0).then(|| {
            Warning::new(
                "The run ended before all pages on failed flash were rebuilt ({} left), so \
                 latencies, wear and life describe a drive under rebuild.",
                [(to_go as f64, plural(to_go, "page"))],
            )
        })
    }

    fn of_no_last_stage(&self) -> Option<Warning> {
        let parity = self.parity.as_ref()?;
        let l = parity.by_wear.as_ref()?.life.as_ref()?.l;
        (l >= parity.parity_pages).then(|| {
            Warning::new(
                "The last stage never begins: the drive has only {} stripes, and the last stage \
                 needs more than {} stripes (parity.l) in worn blocks.",
                [whole(parity.parity_pages.into()), whole(l.into())],
            )
        })
    }

    fn of_wear_to_come(&self) -> Option<Warning> {
        let (technique, by_wear) =
            (self.parity_technique.as_ref()?, self.parity.as_ref()?.by_wear.as_ref()?);
        (by_wear.worn_share == 0.0).then(|| {
            let words = format!(
                "No block exceeded {{}} P/E cycles (parity.t_p; the most worn has {{}}): \
                 {technique} kept no parity in this run. A longer run or a larger start.pec shows \
                 the cost of parity."
            );
            Warning::new(words, [whole(by_wear.t_p.into()), whole(self.wear.pec_max.into())])
        })
    }

    /// Returns a warning if the run was too short to show refresh jobs. Returns `None` if refresh
    /// has no data to rewrite.
    fn of_refresh_to_come(&self, oldest_s: Option<f64>, period: Span) -> Option<Warning> {
        let (technique, refresh) = (
            self.refresh_technique.as_ref().filter(|name| *name != NO_REFRESH)?,
            self.refresh.as_ref()?,
        );
        let oldest_s = oldest_s?;
        (refresh.invocations == 0).then(|| {
            let period = period.0 as f64 / 1e9;
            let words = format!(
                "No block was rewritten because of its age yet. The oldest data is {{}} old, and \
                 {technique} allows data to be at most {{}} old; a longer run, or old data at the \
                 start (start.age), may wear the drive more."
            );
            Warning::new(words, [oldest_s, period].map(|s| (s, seconds(s))))
        })
    }
}

/// Returns a count as a number of a warning.
fn whole(n: u64) -> Number {
    (n as f64, count(n))
}

/// Returns a share from 0 to 1 in percent, as a number of a warning.
fn percent(share: f64) -> Number {
    (share, format!("{:.0}", 100.0 * share))
}
