//! Whether a run is long enough to project a life from: rates and state have settled.
//!
//! Rates alone deceive. Data that is never written lies at the start among data that is, and GC
//! brings it into blocks of its own over tens of cycles. Rates hardly change meanwhile, and are
//! then those of another state. So a run has settled only where two things hold:
//!
//! - The middle third of its batches wears the drive as the last third does, within 10 %.
//! - At most 1 % of the blocks with data still hold what the drive began with. Shares of full
//!   blocks and the spread of P/E counts follow from what blocks hold.
//!
//! ```text
//! batches of 10, 11, 12 | 11, 12, 11 | 12, 11, 11 block cycles: 34 and 34; 3 of 408 blocks never erased: settled
//! ```

use crate::series::Part;
use crate::settled::{are_alike, last_thirds};

/// Difference between two thirds of a run that is taken for none.
const WITHIN: f64 = 0.10;
/// Block cycles that each third has at least.
const FEWEST: f64 = 30.0;
/// Share of the blocks with data that may still hold what the drive began with.
const UNTOUCHED: f64 = 0.01;

/// Blocks at the end of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Turned {
    /// Blocks that hold data.
    pub(crate) with_data: u32,
    /// Those of them that were not erased in the run.
    pub(crate) untouched: u32,
}

/// Whether the state and the rates of a run have settled. `batches`: of the run, where it is long
/// enough for any.
pub(crate) fn has_settled(turned: Turned, batches: Option<&[Part]>, pages_per_block: f64) -> bool {
    let state = f64::from(turned.untouched) <= UNTOUCHED * f64::from(turned.with_data);
    let cycles = |batch: &Part| {
        (batch.erases.iter().sum::<f64>()).max(batch.programs.iter().sum::<f64>() / pages_per_block)
    };
    state && batches.is_some_and(|batches| alike(&batches.iter().map(cycles).collect::<Vec<_>>()))
}

/// Whether the middle third of some numbers adds up to what the last third does.
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
            "even rates deceive while the drive holds what it began with"
        );
        assert!(!has_settled(turned(3), None, 192.0), "a run without batches is too short");
        let rising = batches(&[10.0, 11.0, 12.0, 11.0, 12.0, 11.0, 13.0, 13.0, 12.0]);
        assert!(!has_settled(turned(0), Some(&rising), 192.0));
        let few = batches(&[1.0; 9]);
        assert!(!has_settled(turned(0), Some(&few), 192.0));
    }
}
