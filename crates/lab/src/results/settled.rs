//! Decides whether a run is long enough to project a life. Its rates and its state must have
//! settled.
//!
//! Steady rates are not enough. Data that is never written starts in the same blocks as data that
//! is written. Over tens of block cycles, GC moves never-written data into blocks of its own. Rates
//! hardly change meanwhile, but they belong to another state. A run has settled if both conditions
//! hold:
//!
//! - The middle third and the last third of the run's batches wear the drive alike, within 10 %.
//! - At most 1 % of the blocks with data still hold data from the start. The shares of full blocks
//!   and the spread of P/E counts follow from the blocks' contents.
//!
//! ```text
//! batches of 10, 11, 12 | 11, 12, 11 | 12, 11, 11 block cycles: the last thirds have 34 and 34
//! 3 of 408 blocks with data were not erased: the run has settled
//! ```

use crate::series::Part;
use crate::settled::{are_alike, last_thirds};

/// Largest relative difference between two thirds of a settled run.
const WITHIN: f64 = 0.10;
/// Smallest number of block cycles that each third needs.
const FEWEST: f64 = 30.0;
/// Largest share of the blocks with data that may still hold data from the start.
const UNTOUCHED: f64 = 0.01;

/// Blocks at the end of a run, counted to see whether data has moved.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turned {
    /// Number of blocks that hold data.
    pub(crate) with_data: u32,
    /// Number of blocks with data that were not erased in the run.
    pub(crate) untouched: u32,
}

/// Returns whether the state and the rates of a run have settled.
/// `batches` is `None` for a run that is too short.
pub(crate) fn has_settled(turned: Turned, batches: Option<&[Part]>, pages_per_block: f64) -> bool {
    let state = f64::from(turned.untouched) <= UNTOUCHED * f64::from(turned.with_data);
    let cycles = |batch: &Part| {
        (batch.erases.iter().sum::<f64>()).max(batch.programs.iter().sum::<f64>() / pages_per_block)
    };
    state && batches.is_some_and(|batches| alike(&batches.iter().map(cycles).collect::<Vec<_>>()))
}

/// Returns whether the middle third of the numbers has nearly the same sum as the last third.
fn alike(cycles: &[f64]) -> bool {
    let Some([from, middle, to]) = last_thirds(cycles.len()) else { return false };
    let sum = |from: usize, to: usize| cycles[from..to].iter().rev().sum::<f64>();
    let (before, last) = (sum(from, middle), sum(middle, to));
    last.min(before) >= FEWEST && are_alike(&[last], &[before], WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_core::base::units::Cause;

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
