//! The only way in which the drive asks a technique. A wrong answer ends the run with an error that
//! names the technique and its method. So does a panic of a technique that was made at run time.
//!
//! Alarms and times must lie ahead. Blocks, wordlines, pages and streams must exist. A picked block
//! must be a candidate. Numbers must not be NaN.

use super::card::InSlot;
use super::fault::{Fault, guarded};
use super::gc::{Candidates, GcPolicy};
use super::reclaim::{
    Action, Destination, FIRST_OWN, Policy, Probed, Promise, Recode, Rewrite, View,
};
use super::refresh::{Aged, Refresh, Wanted};
use crate::base::geometry::Geometry;
use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, Moment, PageInBlock, Reads, WordlineInBlock};

/// Technique that the drive asks.
pub struct Asked<P: InSlot + ?Sized> {
    technique: Box<P>,
    name: &'static str,
    /// Whether the technique was made at run time. Its panics are then errors of its author, and
    /// not of vpass.
    is_given: bool,
}

impl<P: InSlot + ?Sized> Asked<P> {
    /// Makes a technique that belongs to vpass.
    pub(crate) fn listed(name: &'static str, technique: Box<P>) -> Self {
        Self { technique, name, is_given: false }
    }

    /// Makes a technique that was described at run time.
    pub(super) fn given(name: &'static str, make: impl FnOnce() -> Box<P>) -> Self {
        let technique = guarded(P::TABLE, name, "making it", make);
        Self { technique, name, is_given: true }
    }

    /// Puts something between the drive and the technique, such as an observer of the answers.
    pub(crate) fn interposed(self, between: impl FnOnce(Box<P>) -> Box<P>) -> Self {
        Self { technique: between(self.technique), ..self }
    }

    /// Calls a method of the technique that does not change it.
    pub fn ask<T>(&self, method: &'static str, question: impl FnOnce(&P) -> T) -> T {
        if self.is_given {
            guarded(P::TABLE, self.name, method, || question(&self.technique))
        } else {
            question(&self.technique)
        }
    }

    /// Calls a method of the technique.
    pub fn ask_mut<T>(&mut self, method: &'static str, question: impl FnOnce(&mut P) -> T) -> T {
        if self.is_given {
            guarded(P::TABLE, self.name, method, || question(&mut self.technique))
        } else {
            question(&mut self.technique)
        }
    }

    /// Ends the run if an answer is wrong. `what` says what is wrong, and what would be right.
    fn require(&self, method: &'static str, is_right: bool, what: impl FnOnce() -> String) {
        if !is_right {
            let fault = Fault { slot: P::TABLE, technique: self.name, method, what: what() };
            assert!(self.is_given, "{fault}");
            fault.end_run();
        }
    }

    /// Checks that the number of a block, wordline or stream is below the number of these that
    /// `whole` has.
    fn exists(
        &self,
        method: &'static str,
        (kind, number): (&str, u32),
        (whole, count): (&str, u32),
    ) {
        self.require(method, number < count, || {
            format!(
                "the technique names {kind} {number}, which does not exist: {whole} has {count} \
                 {kind}s"
            )
        });
    }

    fn block_exists(&self, method: &'static str, geometry: &Geometry, block: BlockId) {
        self.exists(method, ("block", block.number()), ("the drive", geometry.blocks));
    }

    fn wordline_exists(
        &self,
        method: &'static str,
        geometry: &Geometry,
        last: Option<WordlineInBlock>,
    ) {
        let last = last.map_or(0, WordlineInBlock::number);
        self.exists(method, ("wordline", last), ("a block", geometry.wordlines_per_block));
    }
}

impl Asked<dyn Policy> {
    /// Asks [`Policy::arm`].
    pub(crate) fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let alarm = self.ask_mut("arm", |policy| policy.arm(view, block));
        self.lies_ahead("arm", view, block, alarm)
    }

    /// Asks [`Policy::on_alarm`].
    pub(crate) fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let alarm = self.ask_mut("on_alarm", |policy| policy.on_alarm(view, block, out));
        self.actions_exist("on_alarm", view.geometry, out);
        if out.iter().any(|action| matches!(action, Action::Probe { .. })) {
            // The answer to the probe will replace this alarm.
            return alarm;
        }
        self.lies_ahead("on_alarm", view, block, alarm)
    }

    /// Asks [`Policy::probed`].
    pub(crate) fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let alarm = self.ask_mut("probed", |policy| policy.probed(view, block, found, out));
        self.actions_exist("probed", view.geometry, out);
        self.lies_ahead("probed", view, block, alarm)
    }

    /// Asks [`Policy::retried`].
    pub(crate) fn retried(
        &mut self,
        view: &View,
        block: BlockId,
        page: PageInBlock,
        retries: u8,
    ) -> Option<Rewrite> {
        let rewrite =
            self.ask_mut("retried", |policy| policy.retried(view, block, page, retries))?;
        self.rewrite_exists("retried", view.geometry, &rewrite);
        Some(rewrite)
    }

    /// Asks [`Policy::compares_with`].
    pub(crate) fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        let others = self.ask("compares_with", |policy| policy.compares_with(view, block));
        for other in &others {
            self.block_exists("compares_with", view.geometry, *other);
        }
        others
    }

    /// Asks [`Policy::promise`].
    pub(crate) fn promise(&self, view: &View, pec: u32) -> Promise {
        let promise = self.ask("promise", |policy| policy.promise(view, pec));
        let numbers = promise.budget().map(|budget| [budget.endures, budget.alpha, budget.own]);
        self.require("promise", !numbers.into_iter().flatten().any(f64::is_nan), || {
            "a value of the technique's error budget is not a number (NaN)".into()
        });
        promise
    }

    /// Asks [`Policy::reads_per_rewrite`].
    pub(crate) fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        let reads = self.ask("reads_per_rewrite", |policy| policy.reads_per_rewrite(view, pec));
        self.require("reads_per_rewrite", reads.is_none_or(|reads| reads > 0.0), || {
            "the reads per rewrite must be a positive number".into()
        });
        reads
    }

    /// Checks that an alarm lies ahead of the block's present reads.
    fn lies_ahead(&self, method: &'static str, view: &View, block: BlockId, alarm: Reads) -> Reads {
        let reads = view.reads(block);
        self.require(method, alarm > reads, || {
            format!(
                "block {} has {} reads, and its next alarm is at {}: the next alarm must be at a \
                 larger read count, or must never come",
                block.number(),
                reads.0,
                alarm.0
            )
        });
        alarm
    }

    fn actions_exist(&self, method: &'static str, geometry: &Geometry, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Rewrite(rewrite) => self.rewrite_exists(method, geometry, rewrite),
                Action::Probe { block, wordlines } => {
                    self.block_exists(method, geometry, *block);
                    self.wordline_exists(method, geometry, wordlines.iter().max().copied());
                }
            }
        }
    }

    fn rewrite_exists(&self, method: &'static str, geometry: &Geometry, rewrite: &Rewrite) {
        self.block_exists(method, geometry, rewrite.block);
        self.stream_exists(method, rewrite.otherwise);
        let pages_per_block = geometry.pages_per_block;
        for part in &rewrite.parts {
            if let Destination::Stream(stream) = part.to {
                self.stream_exists(method, stream);
            }
            let fits = |pages: &PageSet| {
                pages.words().len() == (pages_per_block as usize).div_ceil(64)
                    && pages.last().is_none_or(|last| last.number() < pages_per_block)
            };
            self.require(method, part.pages.as_ref().is_none_or(fits), || {
                format!(
                    "the technique names a page that does not exist: a block has \
                     {pages_per_block} pages"
                )
            });
        }
        if let Recode::Wordlines(merges) = &rewrite.recode {
            for (_, wordlines) in merges.by_coding() {
                self.wordline_exists(method, geometry, wordlines.last());
            }
        }
    }

    fn stream_exists(&self, method: &'static str, stream: u8) {
        if stream >= FIRST_OWN {
            let own = self.ask("streams", |policy| policy.streams().len());
            let streams = u32::from(FIRST_OWN) + own as u32;
            self.exists(method, ("stream", stream.into()), ("the drive", streams));
        }
    }
}

impl Asked<dyn Refresh> {
    /// Asks [`Refresh::first_look`].
    pub(crate) fn first_look(&self, since: Moment) -> Option<Moment> {
        let time = self.ask("first_look", |refresh| refresh.first_look(since))?;
        Some(self.not_before("first_look", time, since))
    }

    /// Asks [`Refresh::done_by`].
    pub(crate) fn done_by(&self, since: Moment) -> Option<Moment> {
        let time = self.ask("done_by", |refresh| refresh.done_by(since))?;
        Some(self.not_before("done_by", time, since))
    }

    /// Asks [`Refresh::on_time`].
    pub(crate) fn on_time(&mut self, aged: &Aged) -> Wanted {
        let wanted = self.ask_mut("on_time", |refresh| refresh.on_time(aged));
        if let Wanted::Later(time) = wanted {
            self.not_before("on_time", time, aged.now + 1);
        }
        wanted
    }

    fn not_before(&self, method: &'static str, time: Moment, earliest: Moment) -> Moment {
        self.require(method, time >= earliest, || {
            format!(
                "the technique names {time} ns as the time of its next check, which must be \
                 {earliest} ns or later"
            )
        });
        time
    }
}

impl Asked<dyn GcPolicy> {
    /// Asks [`GcPolicy::pick`].
    pub(crate) fn pick(&mut self, among: &Candidates) -> Option<BlockId> {
        let picked = self.ask_mut("pick", |policy| policy.pick(among))?;
        self.require("pick", among.has(picked), || {
            format!(
                "the technique picked block {}, which may not be picked: a pick must be one of the \
                 allowed candidate blocks",
                picked.number()
            )
        });
        Some(picked)
    }
}
