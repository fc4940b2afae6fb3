//! Batches of a run, for comparisons. Rows of a comparison serve the same requests, so batch number
//! k of one run is compared with batch number k of another run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::base::units::Ns;
use vpass_drive::time::Replay;

use super::batch_means::latencies_of;
use crate::series::{Part, Series};

/// Number of batches of a run. Schmeiser recommends 10 to 30 batches (Operations Research 30(3),
/// 1982). The number is even, so that pairs of neighbouring batches can be joined.
pub const PAIRED: usize = 20;

/// Counts and latencies of one batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Counts of the batch.
    pub counts: Part,
    /// Number of host reads with each latency, in nanoseconds to 0.1 %. Empty in the untimed gear.
    pub reads: BTreeMap<Ns, u64>,
}

impl Batch {
    /// Returns the batches of a run. The list is empty if the run is too short for [`PAIRED`]
    /// batches.
    pub(crate) fn all(series: &Series, engine: Option<&Replay>) -> Vec<Self> {
        let latencies = engine.and_then(|engine| latencies_of::<PAIRED>(engine.metrics()));
        let reads = |batch: usize| {
            let latencies = latencies.as_ref().map(|all| all[batch].histogram());
            latencies.map_or_else(BTreeMap::new, |latencies| {
                let steps = latencies.iter_recorded();
                steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
            })
        };
        let counts = series.batches::<PAIRED>().unwrap_or_default();
        counts.into_iter().enumerate().map(|(n, counts)| Self { counts, reads: reads(n) }).collect()
    }

    /// Returns the share of host reads that take longer than `ns`, from 0 to 1. Without reads, the
    /// share is 0.
    pub fn share_slower_than(&self, ns: Ns) -> f64 {
        let slower: u64 = self.reads.range(ns + 1..).map(|(_, reads)| reads).sum();
        let all: u64 = self.reads.values().sum();
        if all > 0 { slower as f64 / all as f64 } else { 0.0 }
    }
}
