//! # my-policy
//! Policy that rewrites a block after a share of the reads that the block can serve safely.
//!
//! - **Acts at:** one alarm per block, after s T reads. T is the number of reads after which the
//!   technique `block` acts, and s is the parameter `share`.
//! - **Safety:** acts earlier than the technique `block`, so it is as safe as `block`.
//!
//! ```text
//! T 10,000, share 0.9   ->   rewritten after 9,000 reads
//! ```

use vpass_drive::api::card::{Kind, Needs, Param, Protection};
use vpass_drive::api::given::Given;
use vpass_drive::api::reclaim::{Action, Policy, Promise, Rewrite, Technique, Threshold, View};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads};
use vpass_techniques::card;

/// Share of the reads that a block can serve safely. After this share, the block is rewritten.
pub const SHARE: Param = Param {
    key: "share",
    kind: Kind::Real,
    unit: "",
    default: 0.9,
    range: (0.1, 1.0),
    draw: &[],
    meaning: "share of the reads that a block can serve safely, after which it is rewritten",
    source: "assumption",
    alias: None,
};

/// State of the policy on one drive.
struct MyPolicy {
    block: Box<dyn Policy>,
    share: f64,
}

impl Policy for MyPolicy {
    /// Returns the first alarm of a block after its erase, in reads of the block.
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        let latest = self.block.arm(view, block);
        if latest == Reads::NEVER {
            return latest;
        }
        Reads(alarm(latest.0, self.share).max(view.reads(block).0 + 1))
    }

    /// Rewrites the whole block, and returns its next alarm. Until the rewrite is done, the block
    /// may serve some more reads.
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
        Some(self.block.reads_per_rewrite(view, pec)? * self.share)
    }
}

/// Returns the alarm of a block that the technique `block` would rewrite after `latest` reads.
fn alarm(latest: u32, share: f64) -> u32 {
    (f64::from(latest) * share) as u32
}

/// Makes the card of the policy. A process should call this function only once.
pub fn my_policy() -> &'static Technique {
    let given = Given {
        summary: "rewrites a block after a share of the reads that it can serve safely".into(),
        protects: Protection::Sound,
        needs: Needs { limits: true, counters: false, retries: false },
        params: vec![SHARE],
        ..Given::new("my-policy")
    };
    given.card::<dyn Policy>(|args, config, seed| {
        let block = card::<dyn Policy>("block");
        Box::new(MyPolicy { block: block.make(config, seed.of_run()), share: args.real(&SHARE) })
    })
}

#[cfg(test)]
mod tests {
    use vpass_lab::plan::{Cards, RunPlan};
    use vpass_lab::progress::{Unwatched, unwatched};
    use vpass_lab::results::Summary;
    use vpass_lab::run::execute;
    use vpass_lab::setup::{Base, Named, Setup};

    use super::*;

    fn run(card: &'static Technique) -> Summary {
        let base = Base { set: vec!["workload.requests=1000000".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("zipf-read".into()));
        let plan = RunPlan::new(&setup, Cards::of(card), &unwatched).expect("it can run");
        execute(&plan, &Unwatched).expect("it runs").summary
    }

    #[test]
    fn the_oracle_finds_nothing_and_the_policy_acts() {
        let summary = run(my_policy());
        let oracle = summary.oracle.expect("it watched");
        assert_eq!(summary.data_lost_pages, 0);
        assert_eq!((oracle.stamp_errors, oracle.limit_violations), (0, 0));
        assert!(summary.reclaim.counts.pages_copied > 0, "no block reached its alarm");
    }

    #[test]
    fn the_worked_example() {
        assert_eq!(alarm(10_000, 0.9), 9_000);
    }
}
