//! Checks the answers of a reclaim technique that was made at run time. Alarms must lie ahead.
//! Blocks, wordlines, pages and streams must exist. Numbers must not be NaN.

use super::promise::{Budget, Promise};
use super::{Action, Destination, FIRST_OWN, Policy, Probed, Rewrite, StreamSpec, Threshold, View};
use crate::api::fault::{Fault, guarded};
use crate::api::rewrite::Recode;
use crate::base::geometry::Geometry;
use crate::base::page_set::PageSet;
use crate::base::units::{BlockId, Bytes, Cause, PageInBlock, Reads, WordlineInBlock};

/// Technique whose answers are checked.
pub(super) struct Checked {
    pub(super) technique: Box<dyn Policy>,
    pub(super) name: &'static str,
}

const SLOT: &str = "reclaim";

impl Checked {
    /// Calls a method of the technique. If the method panics, the error names the technique.
    fn call<T>(&mut self, method: &'static str, call: impl FnOnce(&mut dyn Policy) -> T) -> T {
        let Self { technique, name } = self;
        guarded(SLOT, name, method, || call(&mut **technique))
    }

    /// Calls a method that does not change the technique. If the method panics, the error names the
    /// technique.
    fn ask<T>(&self, method: &'static str, call: impl FnOnce(&dyn Policy) -> T) -> T {
        guarded(SLOT, self.name, method, || call(&*self.technique))
    }

    /// Ends the run because the technique gave a wrong answer.
    fn refuse(&self, method: &'static str, what: String) -> ! {
        Fault { slot: SLOT, technique: self.name, method, what }.end_run()
    }

    /// Returns the alarm if it lies ahead of the block's present reads. Otherwise, the run ends.
    fn ahead(&self, method: &'static str, view: &View, block: BlockId, alarm: Reads) -> Reads {
        let reads = view.reads(block);
        if alarm <= reads {
            self.refuse(
                method,
                format!(
                    "block {} has {} reads, and its next alarm is at {}: the next alarm must be at \
                     a larger read count, or must never come",
                    block.number(),
                    reads.0,
                    alarm.0
                ),
            );
        }
        alarm
    }

    /// Checks that all blocks, wordlines, pages and streams in these actions exist.
    fn check_actions(&self, method: &'static str, geometry: &Geometry, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Rewrite(rewrite) => self.check_rewrite(method, geometry, rewrite),
                Action::Probe { block, wordlines } => {
                    self.check_block(method, geometry, *block);
                    let last = wordlines.iter().map(|wordline| wordline.number()).max();
                    self.check_wordline(method, geometry, last.unwrap_or(0));
                }
            }
        }
    }

    fn check_rewrite(&self, method: &'static str, geometry: &Geometry, rewrite: &Rewrite) {
        self.check_block(method, geometry, rewrite.block);
        for part in &rewrite.parts {
            if let Destination::Stream(stream) = part.to {
                self.check_stream(method, stream);
            }
            let most = (geometry.pages_per_block as usize).div_ceil(64);
            let words = part.pages.as_ref().map_or(most, |pages| pages.words().len());
            let beyond = part.pages.as_ref().and_then(PageSet::last).map(PageInBlock::number);
            if words != most || beyond.is_some_and(|page| page >= geometry.pages_per_block) {
                let pages = geometry.pages_per_block;
                self.refuse(
                    method,
                    format!(
                        "the technique names a page that does not exist: a block has {pages} pages"
                    ),
                );
            }
        }
        self.check_stream(method, rewrite.otherwise);
        if let Recode::Wordlines(merges) = &rewrite.recode {
            for (_, wordlines) in merges.by_coding() {
                self.check_wordline(
                    method,
                    geometry,
                    wordlines.last().map_or(0, WordlineInBlock::number),
                );
            }
        }
    }

    fn check_block(&self, method: &'static str, geometry: &Geometry, block: BlockId) {
        if block.number() >= geometry.blocks {
            let (block, blocks) = (block.number(), geometry.blocks);
            self.refuse(
                method,
                format!(
                    "the technique names block {block}, which does not exist: the drive has \
                     {blocks} blocks"
                ),
            );
        }
    }

    fn check_wordline(&self, method: &'static str, geometry: &Geometry, wordline: u32) {
        if wordline >= geometry.wordlines_per_block {
            let wordlines = geometry.wordlines_per_block;
            self.refuse(
                method,
                format!(
                    "the technique names wordline {wordline}, which does not exist: a block has \
                     {wordlines} wordlines"
                ),
            );
        }
    }

    fn check_stream(&self, method: &'static str, stream: u8) {
        let streams = usize::from(FIRST_OWN) + self.streams().len();
        if usize::from(stream) >= streams {
            self.refuse(
                method,
                format!(
                    "the technique names stream {stream}, which does not exist: the drive has \
                     {streams} streams"
                ),
            );
        }
    }

    /// Checks that no number of a budget is NaN.
    fn check_budget(&self, budget: &Budget) {
        let numbers = [budget.endures, budget.alpha, budget.own];
        if numbers.iter().any(|number| number.is_nan()) {
            self.refuse(
                "promise",
                "a value of the technique's error budget is not a number (NaN)".into(),
            );
        }
    }
}

impl Policy for Checked {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let alarm = self.call("arm", |technique| technique.arm(view, block));
        self.ahead("arm", view, block, alarm)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let alarm = self.call("on_alarm", |technique| technique.on_alarm(view, block, out));
        self.check_actions("on_alarm", view.geometry, out);
        if out.iter().any(|action| matches!(action, Action::Probe { .. })) {
            // This alarm is not checked, because the answer to the probe will replace it.
            return alarm;
        }
        self.ahead("on_alarm", view, block, alarm)
    }

    fn compares_with(&self, view: &View, block: BlockId) -> Vec<BlockId> {
        let others = self.ask("compares_with", |technique| technique.compares_with(view, block));
        for other in &others {
            self.check_block("compares_with", view.geometry, *other);
        }
        others
    }

    fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let alarm = self.call("probed", |technique| technique.probed(view, block, found, out));
        self.check_actions("probed", view.geometry, out);
        self.ahead("probed", view, block, alarm)
    }

    fn follows_age(&self) -> bool {
        self.ask("follows_age", |technique| technique.follows_age())
    }

    fn follows_retries(&self) -> bool {
        self.ask("follows_retries", |technique| technique.follows_retries())
    }

    fn moves_without_alarm(&self) -> bool {
        self.ask("moves_without_alarm", |technique| technique.moves_without_alarm())
    }

    fn retried(
        &mut self,
        view: &View,
        block: BlockId,
        page: PageInBlock,
        retries: u8,
    ) -> Option<Rewrite> {
        let rewrite =
            self.call("retried", |technique| technique.retried(view, block, page, retries))?;
        self.check_rewrite("retried", view.geometry, &rewrite);
        Some(rewrite)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        self.ask("streams", |technique| technique.streams())
    }

    fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.call("erased", |technique| technique.erased(view, block, cause));
    }

    fn counts(&self) -> Vec<(&'static str, u64)> {
        self.ask("counts", |technique| technique.counts())
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.ask("controller_ram", |technique| technique.controller_ram(geometry))
    }

    fn memory(&self) -> Bytes {
        self.ask("memory", |technique| technique.memory())
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        let promise = self.ask("promise", |technique| technique.promise(view, pec));
        match &promise {
            Promise::Nothing(_) => {}
            Promise::Within(budget) | Promise::Deceivable(budget) | Promise::Unsafe(budget, _) => {
                self.check_budget(budget);
            }
        }
        promise
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.ask("explain", |technique| technique.explain(view, pec))
    }

    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        let reads = self.ask("reads_per_rewrite", |t| t.reads_per_rewrite(view, pec));
        if reads.is_some_and(|reads| reads.is_nan() || reads <= 0.0) {
            self.refuse(
                "reads_per_rewrite",
                "the reads per rewrite must be a positive number".into(),
            );
        }
        reads
    }
}
