//! # Staggered
//! Technique that rewrites blocks as `block` does, but somewhat earlier. For each block, a random
//! share is drawn after every erase. Blocks that are read evenly are then not all rewritten at
//! once.
//!
//! - **Acts at:** one alarm per block, after T (1 - s u) reads. T is the number of reads after
//!   which `block` acts, s is the parameter `spread`, and u is drawn from [0, 1).
//! - **Costs:** more rewrites. On the drive `tiny` under `zipf-read`, it copies 25 % more pages
//!   than `block`.
//! - **Safety:** as safe as `block`, which would act later.
//!
//! ```text
//! T 9,808, spread 0.25, u 0.5   ->   rewritten after 9,808 - 1,226 = 8,582 reads
//! ```

use vpass_drive::api::card::{Kind, Needs, Param, Protection};
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{Action, Policy, Promise, Rewrite, Technique, Threshold, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads};
use vpass_techniques::card;

/// Largest share of a block's alarm by which the block is rewritten earlier.
pub const SPREAD: Param = Param {
    key: "spread",
    kind: Kind::Real,
    unit: "",
    default: 0.25,
    range: (0.0, 0.9),
    draw: &[],
    meaning: "largest share of a block's alarm by which it is rewritten earlier",
    source: "assumption: a quarter separates the rewrites of blocks that are read evenly",
    alias: None,
};

struct Staggered {
    block: Box<dyn Policy>,
    spread: f64,
    state: u64,
}

impl Staggered {
    /// Returns a random number from [0, 1), made by the xorshift64* generator.
    fn draw(&mut self) -> f64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let bits = self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 / (1u64 << 53) as f64
    }
}

impl Policy for Staggered {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let latest = self.block.arm(view, block);
        if latest == Reads::NEVER {
            return latest;
        }
        let alarm = staggered_alarm(latest.0, self.spread, self.draw());
        Reads(alarm.max(view.reads(block).0 + 1))
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        out.push(Rewrite::all(block).into());
        Reads(view.reads(block).0 + view.late_in_a_job())
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        self.block.controller_ram(geometry)
    }

    fn promise(&self, view: &View, pec: u32) -> Promise {
        self.block.promise(view, pec)
    }

    fn explain(&self, view: &View, pec: u32) -> Vec<Threshold> {
        self.block.explain(view, pec)
    }

    fn reads_per_rewrite(&self, view: &View, pec: u32) -> Option<f64> {
        Some(self.block.reads_per_rewrite(view, pec)? * (1.0 - self.spread / 2.0))
    }
}

/// Returns the alarm of a block that `block` would rewrite after `latest` reads. `u` is a random
/// number from [0, 1).
fn staggered_alarm(latest: u32, spread: f64, u: f64) -> u32 {
    latest - (f64::from(latest) * spread * u) as u32
}

/// Makes the card of the technique. A process should call this function only once.
pub fn staggered() -> &'static Technique {
    let given = Given {
        summary: "rewrites blocks as `block` does, but not all at once".into(),
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: vec![SPREAD],
        ..Given::new("staggered")
    };
    given.card::<dyn Policy>(|args, config, seed| {
        let block = card::<dyn Policy>("block");
        Box::new(Staggered {
            block: block.make(config, seed.of_run()),
            spread: args.real(&SPREAD),
            state: seed.own() | 1,
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::OnceLock;

    use vpass_lab::plan::{Cards, RunPlan};
    use vpass_lab::progress::{Unwatched, unwatched};
    use vpass_lab::results::Summary;
    use vpass_lab::run::execute;
    use vpass_lab::setup::{Base, Named, Setup};

    use super::*;

    fn run(card: &'static Technique, sets: &[&str]) -> Summary {
        let sets = [&["workload.requests=2000000"], sets].concat();
        let base =
            Base { set: sets.iter().map(|set| (*set).into()).collect(), ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("zipf-read".into()));
        let plan = RunPlan::new(&setup, Cards::of(card), &unwatched).expect("it can run");
        execute(&plan, &Unwatched).expect("it runs").summary
    }

    fn own_card() -> &'static Technique {
        static CARD: OnceLock<&Technique> = OnceLock::new();
        CARD.get_or_init(staggered)
    }

    #[test]
    fn the_oracle_finds_nothing_and_rewrites_grow_with_the_spread() {
        let block = run(card("block"), &[]);
        let own = run(own_card(), &[]);
        assert_eq!((own.data_lost_pages, own.reclaim_technique.as_str()), (0, "staggered"));
        let oracle = own.oracle.expect("it watched");
        assert_eq!((oracle.stamp_errors, oracle.limit_violations), (0, 0));
        let more =
            own.reclaim.counts.pages_copied as f64 / block.reclaim.counts.pages_copied as f64;
        // On average, an alarm is an eighth earlier than that of `block`, and at most a quarter. A
        // block that `block` would rewrite just after the end of the run adds further pages.
        assert!((8.0 / 7.0..4.0 / 3.0).contains(&more), "{more}");
    }

    #[test]
    fn the_worked_example() {
        assert_eq!(staggered_alarm(9_808, 0.25, 0.5), 8_582);
        assert_eq!(staggered_alarm(9_808, 0.25, 0.0), 9_808);
    }

    #[test]
    fn a_run_with_the_same_seed_is_the_same() {
        let [one, other] = [run(own_card(), &[]), run(own_card(), &[])];
        assert_eq!(one.reclaim.counts.pages_copied, other.reclaim.counts.pages_copied);
    }
}
