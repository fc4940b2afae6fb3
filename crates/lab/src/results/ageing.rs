//! Measured wear of a run, from which the life of the drive is projected.

use std::collections::HashMap;

use vpass_drive::base::units::Cause;
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::Drive;

use super::life::{CONFIDENT_CYCLES, Life, Shares, Worn, life};
use super::life_unit::LifeUnit;
use super::settled::Turned;

/// Facts about the workload and the whole drive that are needed to project a life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Whether the workload sets the times of its requests.
    pub(crate) has_times: bool,
    /// Size of the whole drive, as a multiple of the simulated drive.
    pub(crate) drives: f64,
    /// Capacity of the whole drive, in bytes.
    pub(crate) capacity_bytes: u64,
}

/// State of a drive's blocks at the beginning of the counted part of a run.
pub(crate) struct Before {
    effective_mean: f64,
    pec: Vec<u32>,
    underway: f64,
}

impl Before {
    pub(crate) fn of(drive: &mut Drive) -> Self {
        let pec = drive.block_states().map(|block| block.pec).collect();
        Self {
            effective_mean: effective_mean(drive),
            pec,
            underway: ReadsPerRewrite::new(drive).underway(drive),
        }
    }

    /// Counts the blocks that hold data at the end of the run, and the blocks that hold data and
    /// were not erased during the run.
    pub(crate) fn turned(&self, drive: &Drive) -> Turned {
        let with_data = drive.block_states().zip(&self.pec).filter(|(block, _)| block.valid > 0);
        with_data.fold(Turned::default(), |turned, (block, before)| Turned {
            with_data: turned.with_data + 1,
            untouched: turned.untouched + u32::from(block.pec == *before),
        })
    }
}

/// Returns the mean number of P/E cycles per block. Wear by reprogramming in place is included.
pub(super) fn effective_mean(drive: &Drive) -> f64 {
    let milli: u64 = drive.block_states().map(|block| block.effective_milli).sum();
    milli as f64 / 1e3 / f64::from(drive.geometry().blocks)
}

/// Number of reads that a block receives between two rewrites, for each P/E count.
pub(crate) struct ReadsPerRewrite {
    /// Limits of the error model; absent if the model has no disturb table.
    limits: Option<LimitTable>,
    by_class: HashMap<u64, Option<f64>>,
}

impl ReadsPerRewrite {
    pub(crate) fn new(drive: &Drive) -> Self {
        Self { limits: LimitTable::of(drive.config()), by_class: HashMap::new() }
    }

    /// Returns the number of reads between two rewrites at a P/E count. Returns `None` if reads
    /// cause no rewrites.
    pub(crate) fn at(&mut self, drive: &mut Drive, pec: u32) -> Option<f64> {
        // The number of reads between rewrites depends only on the limits. P/E counts with equal
        // limits therefore share one result.
        let class = self.limits.as_ref()?.lookup_class(pec);
        *self.by_class.entry(class).or_insert_with(|| drive.reads_per_rewrite(pec))
    }

    /// Returns the number of reads that have not yet led to a rewrite. The reads of each block are
    /// multiplied by the number of valid pages in the block.
    fn underway(&mut self, drive: &mut Drive) -> f64 {
        self.read_blocks(drive)
            .into_iter()
            .map(|(valid, reads, per_rewrite)| valid * reads.min(per_rewrite))
            .sum()
    }

    /// Returns the blocks that have reads and valid data, except blocks that are never rewritten
    /// because of reads. For each block, returns the number of valid pages, the number of reads so
    /// far, and the number of reads between two rewrites.
    fn read_blocks(&mut self, drive: &mut Drive) -> Vec<(f64, f64, f64)> {
        let read =
            drive.block_states().filter(|b| b.reads > 0.0 && b.valid > 0 && !b.left_to_parity);
        let blocks: Vec<_> = read.map(|b| (b.pec, b.reads, f64::from(b.valid))).collect();
        blocks
            .into_iter()
            .filter_map(|(pec, reads, valid)| Some((valid, reads, self.at(drive, pec)?)))
            .collect()
    }

    /// Returns the number of reads between two rewrites, as a mean over the block cycles since
    /// `before`. Without block cycles, returns the number at the present P/E count.
    fn mean_since(&mut self, drive: &mut Drive, before: &[u32]) -> f64 {
        let blocks: Vec<_> =
            before.iter().copied().zip(drive.block_states().map(|b| b.pec)).collect();
        let (mut cycles, mut sum) = (0.0, 0.0);
        for pec in blocks.iter().flat_map(|(from, to)| *from..*to) {
            cycles += 1.0;
            sum += self.at(drive, pec).unwrap_or(1.0);
        }
        if cycles > 0.0 { sum / cycles } else { self.at(drive, blocks[0].1).unwrap_or(1.0) }
    }
}

/// Wear of the blocks in a run, and the number of reads between two rewrites. Both are needed to
/// project the life.
pub(crate) struct Ageing {
    pub(crate) worn: Worn,
    pub(super) terms: Terms,
    requests: u64,
    /// Largest progress of a block towards its next rewrite because of reads. The progress is the
    /// number of reads so far, divided by the number of reads at which the block is rewritten.
    /// Blocks without data, and blocks that are never rewritten because of reads, are excluded.
    pub(super) progress: f64,
    /// Age in seconds of the oldest page in the blocks that refresh may rewrite. `None` if no such
    /// block has data.
    pub(super) oldest_recycled_s: Option<f64>,
    reads_per_rewrite: Vec<f64>,
}

impl Ageing {
    /// Collects the wear at the end of a run. `seconds` is the duration of the run; `None` without
    /// a clock.
    pub(crate) fn of(
        drive: &mut Drive,
        seconds: Option<f64>,
        before: &Before,
        terms: Terms,
    ) -> Self {
        let host = *drive.host_counts();
        let mut intervals = ReadsPerRewrite::new(drive);
        let flash = *drive.flash_counts();
        let shares = |counts: [u64; Cause::COUNT]| {
            let of = |cause: Cause| counts[cause as usize] as f64;
            let named = of(Cause::Host) + of(Cause::Reclaim) + of(Cause::Gc);
            let all: u64 = counts.iter().sum();
            Shares {
                host: of(Cause::Host),
                reclaim: of(Cause::Reclaim),
                gc: of(Cause::Gc),
                rest: all as f64 - named,
            }
        };
        let (erases, effective) = (shares(flash.erases), effective_mean(drive));
        let blocks = f64::from(drive.geometry().blocks);
        let worn = Worn {
            age: before.effective_mean.midpoint(effective),
            seconds: seconds.unwrap_or(0.0),
            write_bytes: host.write_bytes as f64 * terms.drives,
            read_bytes: host.read_bytes as f64 * terms.drives,
            write_pages: host.write_pages as f64,
            blocks,
            pages_per_block: f64::from(drive.geometry().pages_per_block),
            programs: shares(flash.programs),
            erases,
            extra: ((effective - before.effective_mean) * blocks - erases.sum()).max(0.0),
            reads_per_rewrite: intervals.mean_since(drive, &before.pec),
            underway: (intervals.underway(drive) - before.underway).max(0.0),
        };
        let progress = intervals
            .read_blocks(drive)
            .into_iter()
            .map(|(_, reads, per_rewrite)| reads / per_rewrite)
            .fold(0.0, f64::max);
        let rated = drive.config().drive.rated_pec;
        let oldest_recycled_s = drive.oldest_recycled_age().map(|age| age as f64 / 1e9);
        Self {
            worn,
            terms,
            requests: host.read_requests + host.write_requests + host.trim_requests,
            progress,
            oldest_recycled_s,
            reads_per_rewrite: (0..rated)
                .map(|pec| intervals.at(drive, pec).unwrap_or(1.0))
                .collect(),
        }
    }

    /// Returns the number of requests after which a longer run would have [`CONFIDENT_CYCLES`]
    /// block cycles, at the rate of this run. Returns `None` if this run has enough block cycles,
    /// or if nothing wears the drive.
    pub(super) fn requests_for_life(&self) -> Option<u64> {
        let observed = self.worn.observed();
        let so_far = if observed > 0.0 { observed } else { self.worn.pending() };
        (observed < CONFIDENT_CYCLES && so_far > 0.0)
            .then(|| two_digits_up(self.requests as f64 * CONFIDENT_CYCLES / so_far))
    }

    /// Projects the life of a drive, from this run and from runs at other P/E counts. `age` is the
    /// mean effective P/E count of the drive's blocks.
    pub(crate) fn life(&self, others: &[Worn], age: f64, unit: LifeUnit) -> Life {
        let mut runs: Vec<Worn> = std::iter::once(&self.worn).chain(others).cloned().collect();
        runs.sort_by(|a, b| a.age.total_cmp(&b.age));
        life(
            &runs,
            age,
            self.reads_per_rewrite.len() as u32,
            &|pec| self.reads_per_rewrite[pec as usize],
            unit,
        )
    }
}

/// Rounds up a request count, so that only two digits are significant.
fn two_digits_up(n: f64) -> u64 {
    let unit = 10f64.powi((n.max(1.0).log10().floor() as i32 - 1).max(0));
    ((n / unit).ceil() * unit) as u64
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::life::tests::by_reads;
    use super::*;

    /// Returns wear by reads only. Each block cycle rewrites the four valid pages of a ten-page
    /// block.
    pub(in crate::results) fn ageing() -> Ageing {
        let worn = Worn {
            programs: Shares { reclaim: 400.0, ..Shares::default() },
            erases: Shares { reclaim: 100.0, ..Shares::default() },
            ..by_reads()
        };
        Ageing {
            worn,
            terms: Terms { has_times: true, drives: 1.0, capacity_bytes: 1 << 30 },
            requests: 1000,
            progress: 0.0,
            oldest_recycled_s: None,
            reads_per_rewrite: vec![100.0; 3000],
        }
    }

    #[test]
    fn requested_numbers_are_rounded_up() {
        assert_eq!(
            [0.0, 1.0, 98.2, 100.0, 101.0, 123_456.0, 130_000.0].map(two_digits_up),
            [0, 1, 99, 100, 110, 130_000, 130_000]
        );
    }
}
