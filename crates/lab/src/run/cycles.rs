//! Runs whose length is given in cycles. In one cycle, reclaim and GC erase as many blocks as are
//! needed to hold all data that the run reads.
//!
//! With different techniques, blocks are rewritten after different numbers of reads. Runs with
//! equal numbers of cycles therefore have different numbers of reads. To compare such runs, divide
//! each count by the number of page reads in the same run.
//!
//! ```text
//! a run reads 100 blocks and should have 3 cycles
//! the run ends at the first sample with 300 more erases than at its beginning
//! with only 120 erases after all allowed requests, the run ends after 1.2 cycles
//! ```

use serde::Serialize;
use vpass_drive::base::units::Cause;
use vpass_drive::drive::Drive;

/// Length of a run in cycles.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct CyclesDone {
    /// Number of cycles of the warm-up.
    pub warm_up: f64,
    /// Whether the warm-up reached its largest number of requests before it had the wanted number
    /// of cycles.
    pub warm_up_capped: bool,
    /// Number of cycles of the counted part.
    pub counted: f64,
    /// Whether the counted part reached its largest number of requests before it had the wanted
    /// number of cycles.
    pub counted_capped: bool,
}

/// Phase of a run: the warm-up or the counted part. The length of the phase is given in cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Phase {
    began_at: u64,
    blocks: f64,
    wanted: Option<f64>,
}

impl Phase {
    /// Begins a phase that ends after `wanted` cycles.
    pub(super) fn begin(drive: &Drive, blocks: f64, wanted: Option<f64>) -> Self {
        Self { began_at: erases(drive), blocks, wanted }
    }

    fn cycles(&self, drive: &Drive) -> f64 {
        (erases(drive) - self.began_at) as f64 / self.blocks
    }

    /// Returns the number of cycles in the phase, and whether this number is below the wanted
    /// number.
    pub(super) fn done(&self, drive: &Drive) -> (f64, bool) {
        (self.cycles(drive), self.wanted.is_some() && !self.is_over(drive))
    }

    pub(super) fn is_over(&self, drive: &Drive) -> bool {
        self.wanted.is_some_and(|wanted| self.cycles(drive) >= wanted)
    }
}

fn erases(drive: &Drive) -> u64 {
    let erases = &drive.flash_counts().erases;
    erases[Cause::Reclaim as usize] + erases[Cause::Gc as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Cycles;
    use crate::plan::{Chosen, RunPlan};
    use crate::progress::{Unwatched, unwatched};
    use crate::run::{Outcome, execute};
    use crate::setup::{Base, Gear, Named, Setup};

    /// Runs at most 3 million even reads on the preset `tiny` at 3,000 P/E cycles. At most 1
    /// million of these reads belong to the warm-up.
    fn run(cycles: Option<Cycles>) -> Outcome {
        let set = vec!["workload.requests=3000000".into(), "start.pec=3000".into()];
        let base = Base { gear: Gear::Untimed, set, ..Base::new("tiny") };
        let setup = Setup {
            warm_up: 1_000_000,
            ..Setup::new(base, Named::Workload("uniform-read".into()))
        };
        let plan =
            RunPlan { cycles, ..RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap() };
        execute(&plan, &Unwatched).unwrap()
    }

    fn erases_and_reads(outcome: &Outcome) -> (u64, u64) {
        let flash = &outcome.summary.flash.erases;
        (flash.of(Cause::Reclaim) + flash.of(Cause::Gc), outcome.summary.host.read_requests)
    }

    #[test]
    fn a_run_ends_with_the_wanted_erase_and_not_before() {
        let (all, reads) = erases_and_reads(&run(None));
        assert!(all > 40 && reads == 2_000_000, "{all} erases");
        let cycles = |counted| Cycles { blocks: 10.0, warm_up: Some(0.5), counted };
        let outcome = run(Some(cycles(Some(2.0))));
        let done = outcome.cycles.unwrap();
        let (erases, reads) = erases_and_reads(&outcome);
        assert!(!done.warm_up_capped && done.warm_up >= 0.5 && !done.counted_capped, "{done:?}");
        assert!(
            (20..30).contains(&erases) && reads < 2_000_000 && reads % 1024 == 0,
            "{erases} erases in {reads} reads"
        );
        assert!((done.counted - erases as f64 / 10.0).abs() < 1e-9);
        // A run that needs one more erase serves more reads.
        assert!(erases_and_reads(&run(Some(cycles(Some(done.counted + 0.1))))).1 > reads);
        // A run that cannot reach its number of cycles serves all its requests. The result reports
        // this.
        let capped = run(Some(Cycles { blocks: 1e6, ..cycles(Some(2.0)) }));
        let done = capped.cycles.unwrap();
        assert!(done.warm_up_capped && done.counted_capped && done.counted < 2.0, "{done:?}");
        assert_eq!(erases_and_reads(&capped), (all, 2_000_000));
        // Without a number of cycles, the counted part serves all its requests.
        let outcome = run(Some(cycles(None)));
        assert_eq!(
            (erases_and_reads(&outcome).1, outcome.cycles.unwrap().counted_capped),
            (2_000_000, false)
        );
        let done = run(Some(Cycles { warm_up: None, ..cycles(None) })).cycles.unwrap();
        assert!(done.warm_up > 1.0 && !done.warm_up_capped, "{done:?}");
    }
}
