//! Witness between a drive and its policy. It passes everything on, and reports what the policy
//! knows and wants.

use std::sync::PoisonError;

use vpass_drive::api::reclaim::{
    Action, Policy, Probed, Promise, Recode, Rewrite, StreamSpec, Threshold, View,
};
use vpass_drive::base::dose::Dose;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::{PageSet, WordlineSet};
use vpass_drive::base::units::{
    BlockId, Bytes, Cause, PageInBlock, Reads, StreamId, WordlineInBlock,
};

use super::policy_numbers::{Ear, Told, Within};
use super::promises::{Answer, Answers, Wanted};
use crate::limits::Endurance;

/// The witness reports the wordlines and pages of a block at one question in this many.
const SELDOM: u64 = 8;

pub(super) struct Witness {
    policy: Box<dyn Policy>,
    ear: Ear,
    answers: Option<Answers>,
    asked: u64,
}

impl Witness {
    /// Returns a witness that reports to `ear`, and to `answers` if they are given.
    pub(super) fn of(policy: Box<dyn Policy>, ear: &Ear, answers: Option<&Answers>) -> Self {
        Self { policy, ear: ear.clone(), answers: answers.cloned(), asked: 0 }
    }

    fn hear(
        &mut self,
        view: &View,
        block: BlockId,
        wanted: &[Action],
        opens: Option<StreamId>,
        found: &[Probed],
    ) {
        if let Some(answers) = &self.answers {
            let answer = Answer { block, wanted: wanted_of(view, block, wanted) };
            *answers.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
        }
        let Some(limits) = view.limits else { return };
        let ear = self.ear.clone();
        self.asked += 1;
        let pec = view.pec(block);
        let told = Told {
            block,
            dose: view.dose(block).count(),
            pec,
            endures: (0..limits.groups())
                .map(|group| Endurance::told(limits.lookup(group, pec)))
                .collect(),
            mode: view.mode(block),
            valid: view.valid_pages(block),
            to_come: view.pages_to_come(block),
            budget: limits.budget(),
            opens,
            reprograms: wanted.iter().filter_map(reprogrammed).collect(),
            guarded: guarded(view, block),
            within: self.asked.is_multiple_of(SELDOM).then(|| within(view, block)),
            probed: found.iter().map(|found| (found.wordline.number(), used(found))).collect(),
        };
        *ear.lock().unwrap_or_else(PoisonError::into_inner) = Some(told);
    }
}

/// Returns the share of a wordline's limit that a probe found to be used.
fn used(found: &Probed) -> f64 {
    const WHOLE: i64 = 1 << 40;
    let left = found.left_of(Dose::of_1024ths(WHOLE));
    1.0 - left.in_1024ths() as f64 / WHOLE as f64
}

fn reprogrammed(action: &Action) -> Option<BlockId> {
    match action {
        Action::Rewrite(Rewrite { block, recode: Recode::Block(_), .. }) => Some(*block),
        _ => None,
    }
}

/// Returns the effect of actions on a block.
fn wanted_of(view: &View, block: BlockId, actions: &[Action]) -> Wanted {
    let rewrite = |action: &Action| match action {
        Action::Rewrite(rewrite) if rewrite.block == block => Some(rewrite.clone()),
        _ => None,
    };
    let Some(Rewrite { parts, recode, .. }) = actions.iter().find_map(rewrite) else {
        return Wanted::Nothing;
    };
    let all = parts.iter().any(|part| part.pages.is_none());
    let pages = || {
        let mut pages = PageSet::none(view.geometry.pages_per_block);
        parts.iter().flat_map(|part| &part.pages).for_each(|part| pages.add(part));
        pages
    };
    match recode {
        Recode::Block(_) => Wanted::Reprogrammed,
        Recode::Wordlines(merges) => Wanted::Some {
            pages: pages(),
            merged: merges.wordlines(view.geometry.wordlines_per_block),
        },
        Recode::Nothing if all => Wanted::All,
        Recode::Nothing => Wanted::Some {
            pages: pages(),
            merged: WordlineSet::none(view.geometry.wordlines_per_block),
        },
    }
}

fn guarded(view: &View, block: BlockId) -> Vec<bool> {
    let any = !view.recoded(block).is_empty();
    view.geometry
        .wordlines_in_block()
        .filter(|_| any)
        .map(|wordline| view.is_recoded(block, wordline))
        .collect()
}

fn within(view: &View, block: BlockId) -> Within {
    let wordlines = WordlineInBlock::all().zip(view.wordlines(block));
    Within {
        wordlines: wordlines
            .map(|(index, wordline)| (wordline.reads.count(), view.is_valid(block, index)))
            .collect(),
        pages: PageInBlock::range(0..view.geometry.pages_per_block)
            .map(|page| view.is_valid_page(block, page))
            .collect(),
    }
}

/// Passes methods on to the policy.
macro_rules! passes_on {
    ($(fn $method:ident($($given:ident: $of:ty),*) -> $answer:ty;)*) => {
        $(fn $method(&self, $($given: $of),*) -> $answer {
            self.policy.$method($($given),*)
        })*
    };
}

impl Policy for Witness {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        // A block that is there from the start has not been opened by the policy.
        self.hear(
            view,
            block,
            &[],
            (view.written(block) == PageInBlock::FIRST).then(|| view.stream(block)),
            &[],
        );
        self.policy.arm(view, block)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let next = self.policy.on_alarm(view, block, out);
        self.hear(view, block, out, None, &[]);
        next
    }

    fn probed(
        &mut self,
        view: &View,
        block: BlockId,
        found: &[Probed],
        out: &mut Vec<Action>,
    ) -> Reads {
        let next = self.policy.probed(view, block, found, out);
        self.hear(view, block, out, None, found);
        next
    }

    passes_on! {
        fn follows_age() -> bool;
        fn follows_retries() -> bool;
        fn moves_without_alarm() -> bool;
        fn streams() -> Vec<StreamSpec>;
        fn counts() -> Vec<(&'static str, u64)>;
        fn controller_ram(geometry: &Geometry) -> Bytes;
        fn memory() -> Bytes;
        fn promise(view: &View, pec: u32) -> Promise;
        fn explain(view: &View, pec: u32) -> Vec<Threshold>;
        fn reads_per_rewrite(view: &View, pec: u32) -> Option<f64>;
    }

    fn retried(
        &mut self,
        view: &View,
        block: BlockId,
        page: PageInBlock,
        retries: u8,
    ) -> Option<Rewrite> {
        self.policy.retried(view, block, page, retries)
    }

    fn erased(&mut self, view: &View, block: BlockId, cause: Cause) {
        self.policy.erased(view, block, cause);
    }
}
