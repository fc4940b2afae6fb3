//! Whether the wear of a life and the state of its drive have settled: only then may wear be
//! accelerated.
//!
//! A note is taken each time that the mean block has endured one more P/E cycle. The last third of
//! the cycles so far is compared with the third before it. Rates alone deceive: under a trace they
//! can stand still for ten cycles while GC gathers cold data into blocks of its own. So the state
//! of the blocks must stand still, too.
//!
//! ```text
//! 18 cycles: programs in cycles 7 to 12 and 13 to 18 within 3 %, full blocks 61 % after 12 and 62 % after 18: settled
//! ```

use vpass_core::base::units::{Cause, Ns};
use vpass_core::drive::Drive;

/// Cycles that a warm-up takes at least.
const FEWEST: usize = 18;
/// Change of a rate that is taken for none, as a share of all programs.
const RATES_WITHIN: f64 = 0.03;
/// Change of a share of the blocks that is taken for none.
const STATE_WITHIN: f64 = 0.03;

/// A drive after so many cycles.
#[derive(Clone, Copy, Debug, Default)]
struct Note {
    at: f64,
    programs: [f64; Cause::COUNT],
    /// Shares of the blocks: never erased, full of current data, low density.
    shares: [f64; 3],
}

impl Note {
    fn of(at: Ns, drive: &Drive) -> Self {
        let mut counts = [0u32; 3];
        for block in drive.block_states() {
            let is_so = [
                block.cycles == 0,
                u32::from(block.valid) == drive.geometry().pages_per_block,
                block.mode > 0,
            ];
            counts.iter_mut().zip(is_so).for_each(|(count, is_so)| *count += u32::from(is_so));
        }
        let shares = counts.map(|count| f64::from(count) / f64::from(drive.geometry().blocks));
        Self { at: at as f64, programs: drive.flash_counts().programs.map(|n| n as f64), shares }
    }
}

/// The notes of a warm-up.
pub(super) struct Settling {
    first_milli: u64,
    notes: Vec<Note>,
}

impl Settling {
    /// Begins with a drive at time 0.
    pub(super) fn begin(drive: &Drive) -> Self {
        Self { first_milli: worn_milli(drive), notes: vec![Note::of(0, drive)] }
    }

    /// Takes a look at the drive; true from when it has settled on.
    pub(super) fn has_settled(&mut self, now: Ns, drive: &Drive) -> bool {
        let blocks = u64::from(drive.geometry().blocks);
        let cycles = (worn_milli(drive) - self.first_milli) / (1000 * blocks);
        if (cycles as usize) < self.notes.len() {
            return false;
        }
        self.notes.push(Note::of(now, drive));
        settled(&self.notes)
    }
}

fn worn_milli(drive: &Drive) -> u64 {
    drive.block_states().map(|block| block.effective_milli).sum()
}

fn settled(notes: &[Note]) -> bool {
    let cycles = notes.len() - 1;
    if cycles < FEWEST {
        return false;
    }
    let third = cycles / 3;
    let [from, middle, to] = [cycles - 2 * third, cycles - third, cycles].map(|n| notes[n]);
    let rates = |from: Note, to: Note| -> [f64; Cause::COUNT] {
        std::array::from_fn(|cause| {
            (to.programs[cause] - from.programs[cause]) / (to.at - from.at).max(1.0)
        })
    };
    let (before, now) = (rates(from, middle), rates(middle, to));
    let all: f64 = now.iter().sum();
    let alike = |(before, now): (&f64, &f64)| (before - now).abs() <= RATES_WITHIN * all;
    let stands = |(before, now): (&f64, &f64)| (before - now).abs() <= STATE_WITHIN;
    before.iter().zip(&now).all(alike) && middle.shares.iter().zip(&to.shares).all(stands)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes at every second, of 100 programs each and with so many blocks full.
    fn notes(full: impl Fn(usize) -> f64, cycles: usize) -> Vec<Note> {
        let note = |n: usize| {
            let mut note =
                Note { at: n as f64 * 1e9, shares: [0.0, full(n), 0.0], ..Note::default() };
            note.programs[Cause::Gc as usize] = 100.0 * n as f64;
            note
        };
        (0..=cycles).map(note).collect()
    }

    #[test]
    fn a_state_that_creeps_has_not_settled_although_rates_stand_still() {
        assert!(settled(&notes(|_| 0.6, 18)) && !settled(&notes(|_| 0.6, 17)));
        assert!(!settled(&notes(|n| 0.01 * n as f64, 30)));
        assert!(settled(&notes(|n| 0.6 - 0.6 / (1.0 + n as f64).powi(2), 18)));
    }

    #[test]
    fn a_rate_that_grows_has_not_settled() {
        let mut growing = notes(|_| 0.6, 18);
        growing[18].programs[Cause::Gc as usize] += 24.0;
        assert!(!settled(&growing), "{:?}", growing[18]);
        growing[18].programs[Cause::Gc as usize] -= 12.0;
        assert!(settled(&growing));
    }
}
