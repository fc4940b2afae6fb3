//! Decision whether the drive's life can be projected from a run. The run must be so long that the
//! rate of wear and the state of the drive have settled.
//!
//! A constant rate of wear is not enough. At the start, a block contains both data that the host
//! overwrites and data that it never overwrites. Over tens of block cycles, GC moves the
//! never-overwritten data into separate blocks. During this time, the state of the drive changes,
//! but the rate of wear hardly changes. A run has settled if two conditions hold:
//!
//! - The run's batches are divided into thirds. The middle and the last third differ in block
//!   cycles by at most 10 %.
//! - At least 99 % of the blocks with data were erased during the run. Valid pages and P/E counts
//!   then have a settled distribution over the blocks.
//!
//! ```text
//! nine batches have 10, 11, 12 | 11, 12, 11 | 12, 11, 11 block cycles
//! the middle third and the last third have 34 block cycles each
//! 3 of 408 blocks with data were not erased (0.7 %), so the run has settled
//! ```

use crate::series::Part;
use crate::settled::{are_alike, last_thirds};

/// Largest relative difference in block cycles between the middle third and the last third of a
/// settled run.
const WITHIN: f64 = 0.10;
/// Smallest number of block cycles in the middle third of a settled run, and in the last third.
const FEWEST: f64 = 30.0;
/// Largest share of data blocks that may stay without an erase in a settled run.
const UNTOUCHED: f64 = 0.01;

/// Counts of blocks at the end of a run. They show whether data has moved since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turned {
    /// Number of blocks that hold data.
    pub(crate) with_data: u32,
    /// Number of blocks with data that were not erased during the run.
    pub(crate) untouched: u32,
}

/// Returns whether the state of the drive and its rate of wear have settled in a run. `batches` is
/// `None` if the run is too short for batches.
pub(crate) fn has_settled(turned: Turned, batches: Option<&[Part]>, pages_per_block: f64) -> bool {
    let state = f64::from(turned.untouched) <= UNTOUCHED * f64::from(turned.with_data);
    let cycles = |batch: &Part| {
        (batch.erases.iter().sum::<f64>()).max(batch.programs.iter().sum::<f64>() / pages_per_block)
    };
    state && batches.is_some_and(|batches| alike(&batches.iter().map(cycles).collect::<Vec<_>>()))
}

/// Returns whether the middle third and the last third of a list have nearly equal sums. Small sums
/// are never accepted.
fn alike(cycles: &[f64]) -> bool {
    let Some([from, middle, to]) = last_thirds(cycles.len()) else { return false };
    let sum = |from: usize, to: usize| cycles[from..to].iter().rev().sum::<f64>();
    let (before, last) = (sum(from, middle), sum(middle, to));
    last.min(before) >= FEWEST && are_alike(&[last], &[before], WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_drive::base::units::Cause;

    fn batches(cycles: &[f64]) -> Vec<Part> {
        let batch = |cycles: &f64| {
            let mut erases = [0.0; Cause::COUNT];
            erases[Cause::Reclaim as usize] = *cycles;
            Part { erases, ..Part::default() }
        };
        cycles.iter().map(batch).collect()
    }

    #[test]
    fn rates_and_state_must_both_have_settled() {
        let even = batches(&[10.0, 11.0, 12.0, 11.0, 12.0, 11.0, 12.0, 11.0, 11.0]);
        let turned = |untouched| Turned { with_data: 408, untouched };
        assert!(has_settled(turned(3), Some(&even), 192.0));
        assert!(
            !has_settled(turned(5), Some(&even), 192.0),
            "steady rates do not suffice while data from the start remains"
        );
        assert!(!has_settled(turned(3), None, 192.0), "a run without batches is too short");
        let rising = batches(&[10.0, 11.0, 12.0, 11.0, 12.0, 11.0, 13.0, 13.0, 12.0]);
        assert!(!has_settled(turned(0), Some(&rising), 192.0));
        let few = batches(&[1.0; 9]);
        assert!(!has_settled(turned(0), Some(&few), 192.0));
    }
}
