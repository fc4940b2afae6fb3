//! Stages of the host's page reads, grouped by page kind, and by which pages of the wordline are
//! valid.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use vpass_drive::base::units::Ns;
use vpass_drive::config::CellType;

/// Mean times of host page reads in each stage.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageReads {
    /// Stages of all page reads.
    #[serde(flatten)]
    pub all: Stages,
    /// Stages by page kind.
    pub by_kind: BTreeMap<String, Stages>,
    /// Stages of page reads, grouped by page kind, and by which lower pages of the wordline are
    /// valid. For example, `L-M` means reads of MSB pages, when the LSB page is valid and the CSB
    /// page is invalid.
    pub by_validity: BTreeMap<String, Stages>,
}

/// Number of page reads in a group, and the mean time of such a read in each stage, in
/// microseconds. The times of decoding and of the host link are equal for all page reads, and are
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// Number of page reads.
    pub reads: u64,
    /// Number of page reads in the group, divided by the number of all page reads.
    pub share: f64,
    /// Number of page reads that were sensed faster than pages of the same kind in a wordline with
    /// only valid pages.
    pub faster: u64,
    /// Mean time that the read waits for the die. The wait ends when the die first begins to sense
    /// the page, which may be the start of a retry.
    pub wait_us: f64,
    /// Mean sensing time.
    pub sense_us: f64,
    /// Mean time that data waits in the page register until the channel is free.
    pub channel_wait_us: f64,
    /// Mean time of the transfer on the channel.
    pub transfer_us: f64,
    /// Mean time of retries: from the start of the first retry until the start of the sensing whose
    /// data can be decoded.
    pub retry_us: f64,
}

/// Number of page reads, and the sum of their times in each stage, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StagesSum {
    pub(crate) reads: u64,
    pub(crate) faster: u64,
    pub(crate) wait: Ns,
    pub(crate) sense: Ns,
    pub(crate) channel_wait: Ns,
    pub(crate) transfer: Ns,
    pub(crate) retry: Ns,
}

impl StagesSum {
    fn plus(self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            faster: self.faster + other.faster,
            wait: self.wait + other.wait,
            sense: self.sense + other.sense,
            channel_wait: self.channel_wait + other.channel_wait,
            transfer: self.transfer + other.transfer,
            retry: self.retry + other.retry,
        }
    }

    fn of<'a>(sums: impl IntoIterator<Item = &'a Self>) -> Self {
        sums.into_iter().fold(Self::default(), Self::plus)
    }

    fn stages(&self, all: u64) -> Stages {
        let reads = self.reads.max(1) as f64;
        let mean = |ns: Ns| ns as f64 / 1e3 / reads;
        Stages {
            reads: self.reads,
            share: self.reads as f64 / all.max(1) as f64,
            faster: self.faster,
            wait_us: mean(self.wait),
            sense_us: mean(self.sense),
            channel_wait_us: mean(self.channel_wait),
            transfer_us: mean(self.transfer),
            retry_us: mean(self.retry),
        }
    }
}

impl PageReads {
    /// Computes the stages from sums. The sums are indexed by page kind, and by a mask of valid
    /// pages with one bit for each page kind.
    pub(crate) fn of<const MASKS: usize>(cell: CellType, sums: &[[StagesSum; MASKS]]) -> Self {
        let kinds = cell.kinds();
        let all = StagesSum::of(sums.iter().flatten());
        let by_kind = kinds
            .iter()
            .zip(sums)
            .map(|(name, of_kind)| (name.to_lowercase(), StagesSum::of(of_kind).stages(all.reads)));
        let mut by_validity = BTreeMap::new();
        for (kind, of_kind) in sums.iter().enumerate().take(kinds.len()) {
            for below in 0..1usize << kind {
                // The time to read a page does not depend on whether the pages above it in the
                // wordline are valid.
                let alike = of_kind
                    .iter()
                    .enumerate()
                    .filter(|(valid, _)| valid & ((1 << kind) - 1) == below);
                let sum = StagesSum::of(alike.map(|(_, sum)| sum));
                by_validity.insert(case(kinds, kind, below), sum.stages(all.reads));
            }
        }
        Self { all: all.stages(all.reads), by_kind: by_kind.collect(), by_validity }
    }
}

/// Returns letters, such as `L-M`, for a page read. The last letter stands for the page that is
/// read. The letters before it stand for the lower pages of the wordline. An invalid lower page is
/// written as `-`.
fn case(kinds: &[&str], kind: usize, below: usize) -> String {
    let letter = |kind: usize| kinds[kind].chars().next().unwrap_or('?');
    (0..=kind).map(|k| if k == kind || below >> k & 1 == 1 { letter(k) } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_split_by_the_valid_pages_below_and_not_by_those_above() {
        let sum = |reads| StagesSum {
            reads,
            faster: 1,
            wait: 2_000 * reads,
            sense: 50_000 * reads,
            ..StagesSum::default()
        };
        let mut sums = [[StagesSum::default(); 8]; 3];
        (sums[0][0b001], sums[0][0b111], sums[1][0b010], sums[2][0b101], sums[2][0b111]) =
            (sum(1), sum(2), sum(3), sum(4), sum(10));
        let found = PageReads::of(CellType::Tlc, &sums);
        let names: Vec<&str> = found.by_validity.keys().map(String::as_str).collect();
        assert_eq!(names, ["--M", "-C", "-CM", "L", "L-M", "LC", "LCM"]);
        let reads = |name: &str| found.by_validity[name].reads;
        assert_eq!(
            [reads("L"), reads("-C"), reads("LC"), reads("L-M"), reads("LCM"), reads("--M")],
            [3, 3, 0, 4, 10, 0]
        );
        assert_eq!(
            (found.all.reads, found.by_kind["msb"].reads, found.by_kind["lsb"].faster),
            (20, 14, 2)
        );
        assert!(
            (found.by_kind["csb"].share - 0.15).abs() < 1e-12
                && (found.all.wait_us - 2.0).abs() < 1e-12
        );
        assert_eq!(
            found.by_validity["LC"].sense_us.to_bits(),
            0f64.to_bits(),
            "no reads give 0, not a division by zero"
        );
    }
}
