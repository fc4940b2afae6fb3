//! A policy that does everything that a policy may ask for, at random times. It relocates, divides,
//! recycles and reprograms blocks and wordlines in any state, hot or not, but in time. It acts more
//! often than a technique, which needs a reason.

use vpass_drive::api::reclaim::{
    Action, FIRST_OWN, GUARDED, Policy, Promise, Rewrite, StreamSpec, Threshold, View,
};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::SetInBlock;
use vpass_drive::base::units::{Address, BlockId, Bytes, PageInBlock, Reads};
use vpass_drive::disturb::table::dose_per_kind;

use crate::dice::Dice;

/// Streams of the policy.
const HOT: u8 = FIRST_OWN;
const LOW_DENSITY: u8 = FIRST_OWN + 1;
/// Dose units by which a read may exceed an alarm.
const OVERSHOOT: f64 = 4.0;

pub(super) struct Restless {
    dice: Dice,
    /// Whether the policy acts too late.
    is_reckless: bool,
}

impl Restless {
    pub(super) fn new(seed: u64, is_reckless: bool) -> Self {
        Self { dice: Dice::new(seed), is_reckless }
    }

    /// Returns the number of reads of a block at which the policy acts at the latest.
    fn end(&self, view: &View, block: BlockId) -> u32 {
        let latest = Self::latest(view, block, view.mode(block));
        if !self.is_reckless {
            return latest;
        }
        // A reckless policy acts so late that the reads of its own job may bring pages past their
        // limits.
        let by_job = Self::units_per_wordline(view) * f64::from(view.geometry.wordlines_per_block);
        latest.saturating_add(by_job as u32 / 2 + 2)
    }

    /// Returns the reads of a block in a mode at which the policy must act, for any pattern of
    /// reads. This is like `block`, but its job may read the most significant pages twice.
    fn latest(view: &View, block: BlockId, mode: u8) -> u32 {
        let Some(limits) = view.limits else { return u32::MAX };
        let (units, wordlines) =
            (Self::units_per_wordline(view), f64::from(view.geometry.wordlines_per_block));
        let of_group = |group: usize| {
            let endurance = limits.lookup(group, view.pec(block));
            let alpha = endurance.alpha.weight();
            let limit = limits.in_mode(endurance.limit, mode).units();
            let moving = wordlines * units + 2.0 * (alpha - 1.0) * units;
            ((limit - moving) / alpha - OVERSHOOT).floor() - f64::from(view.late_reads)
        };
        (0..limits.groups()).map(of_group).fold(f64::INFINITY, f64::min).max(1.0) as u32
    }

    /// Returns the dose units that a reprogramming reads from a wordline. A read of the most
    /// significant page may weigh more than one.
    fn units_per_wordline(view: &View) -> f64 {
        let bits = view.geometry.cell.bits();
        let weights = dose_per_kind(view.disturb.dose, view.geometry.cell);
        f64::from(bits) + weights[bits as usize - 1].units() + view.density.reprogram_dose.ceil()
    }

    /// Returns whether a block may be reprogrammed now. It must be in time, and its new limits must
    /// allow another job.
    fn may_reprogram(view: &View, block: BlockId) -> bool {
        let in_time = view.reads(block).0 <= Self::latest(view, block, 0);
        view.mode(block) == 0
            && in_time
            && Self::after_a_job(view, block) < f64::from(Self::latest(view, block, 1))
    }

    /// Returns whether a block with a deadline of its own may be reprogrammed. It may serve all
    /// reads until its alarm, before its job has a deadline.
    fn may_reprogram_in_the_end(view: &View, block: BlockId) -> bool {
        let to_come = Self::latest(view, block, 0).saturating_sub(view.reads(block).0);
        let after = Self::after_a_job(view, block) + f64::from(to_come);
        Self::may_reprogram(view, block) && after < f64::from(Self::latest(view, block, 1))
    }

    /// Returns whether a block may be rewritten within itself now, or some of its wordlines
    /// reprogrammed. Its limits must allow another job, however disturbed its pages are.
    fn may_stay(view: &View, block: BlockId) -> bool {
        view.mode(block) == 0
            && Self::after_a_job(view, block) < f64::from(Self::latest(view, block, 0))
    }

    /// Returns the dose units that a block has served at its first question after a job. The host's
    /// reads until the end of the job count, and so do the reads of the job.
    fn after_a_job(view: &View, block: BlockId) -> f64 {
        let by_job = Self::units_per_wordline(view) * f64::from(view.geometry.wordlines_per_block);
        f64::from(view.reads(block).0 + view.late_reads + 1) + by_job
    }

    /// Returns a random read count above `now`, up to `latest`.
    fn some_time(&mut self, now: u32, latest: u32) -> Reads {
        Reads(self.dice.between(u64::from(now) + 1, u64::from(latest.max(now + 1))) as u32)
    }

    fn some_of<T: Address>(&mut self, count: u32, share: f64) -> SetInBlock<T> {
        let mut some = SetInBlock::none(count);
        (0..count)
            .filter(|_| self.dice.chance(share))
            .for_each(|number| some.insert(T::new(number), 1));
        some
    }

    fn rewrite(&mut self, view: &View, block: BlockId) -> Rewrite {
        match self.dice.between(0, 11) {
            0 => Rewrite::all(block),
            1..=3 => {
                let marked = self.some_of(view.geometry.pages_per_block, 0.5);
                Rewrite::divide(block, marked, LOW_DENSITY, HOT)
            }
            4 | 5 if Self::may_stay(view, block) => Rewrite::within(block),
            10 | 11 if Self::may_stay(view, block) => {
                let wordlines = self.some_of(view.geometry.wordlines_per_block, 0.3);
                Rewrite::recode_wordlines(
                    block,
                    GUARDED,
                    wordlines,
                    self.some_of(view.geometry.pages_per_block, 0.1),
                )
            }
            _ if !Self::may_reprogram(view, block) => Rewrite::all(block),
            n => Rewrite::recode(block, GUARDED, if n < 8 { HOT } else { LOW_DENSITY }),
        }
    }
}

impl Policy for Restless {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let latest = self.end(view, block);
        self.some_time(0, latest)
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        let (now, latest) = (view.reads(block).0, self.end(view, block));
        if now < latest && self.dice.chance(0.6) {
            return self.some_time(now, latest);
        }
        // A block that begins with reads may be past the latest count. Only a plain relocation is
        // safe then.
        let rewrite = if now > latest { Rewrite::all(block) } else { self.rewrite(view, block) };
        out.push(rewrite.into());
        if self.dice.chance(0.2) {
            // The other block may be free or busy.
            let other =
                BlockId::new(self.dice.between(0, u64::from(view.geometry.blocks) - 1) as u32);
            if other != block && Self::may_reprogram_in_the_end(view, other) {
                out.push(Rewrite::recode(other, GUARDED, HOT).into());
            }
        }
        Reads(now.saturating_add(view.late_reads.max(1)))
    }

    fn follows_retries(&self) -> bool {
        self.is_reckless
    }

    fn retried(
        &mut self,
        view: &View,
        block: BlockId,
        page: PageInBlock,
        _retries: u8,
    ) -> Option<Rewrite> {
        assert!(
            view.is_valid_page(block, page),
            "the policy is informed of a read of page {page}, which block {block} does not hold"
        );
        self.dice.chance(0.05).then(|| Rewrite::all(block))
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let spec = |purpose, mode| StreamSpec {
            purpose,
            mode,
            pool: mode == 0,
            most_pages: None,
            counts_pages: false,
        };
        vec![spec("hot", 0), spec("low density", 1)]
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("the swarm draws it drives with room enough")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}
