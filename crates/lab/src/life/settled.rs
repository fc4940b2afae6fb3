//! Decision whether wear has settled: the programming rates of pages and the state of the drive no
//! longer change. Windows of a life may then stand for longer parts of it.
//!
//! The state of the drive is noted after each P/E cycle of the mean block. The last third of the
//! cycles so far is compared with the middle third. In both thirds, the programming rates and the
//! state of the blocks must be about the same.
//!
//! Constant programming rates are not enough. Under a trace, rates can be constant for ten cycles
//! while GC is still moving cold data into separate blocks. The state of the blocks is described by
//! five numbers:
//!
//! - share of blocks that have never been erased
//! - share of blocks that are full of current data
//! - share of low-density blocks
//! - share of read-hot blocks
//! - spread of the number of P/E cycles over the blocks
//!
//! If GC copies almost nothing, only low-density and read-hot blocks matter. One process can end
//! this: host writes and reclaim of single wordlines leave invalid pages in cold blocks, so less
//! space is left for other data. Levelling moves each cold block once in a gap and drops these
//! pages. So the invalid pages that a gap adds must be a small share of all pages.
//!
//! Two processes are slower than all of this. Refresh begins when data reaches the age
//! `refresh.period`. Wear levelling begins when a block lags behind by `wear.static_gap`. Blocks
//! lag by chance, and because they hold cold data. Only cold blocks lag in both thirds. If a share
//! f of the blocks is never erased, the erases of a block in the two thirds have a covariance of
//! f / (1 - f) squared means. So this covariance must be small, or one of two conditions holds:
//!
//! - GC copies almost nothing. Each cold block is moved once in a gap, so levelling will take a
//!   share f / gap of the wear. This share must be small, or levelling must run in both thirds.
//! - Levelling runs in both thirds, and the cycles so far are several gaps. Moving a cold block
//!   drops its invalid pages. So GC's work changes until each cold block was moved a few times.
//!
//! ```text
//! after 18 cycles, cycles 7 to 12 are compared with cycles 13 to 18
//! their numbers of programs differ by less than 3 %
//! on average, 61 % and 62 % of all blocks are full, so the wear has settled
//! ```

use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::units::{Cause, Ns};
use vpass_drive::drive::Drive;

use crate::plan::RunPlan;
use crate::settled::{are_alike, last_thirds};

/// Smallest number of P/E cycles of the mean block in a warm-up.
const FEWEST: usize = 18;
/// Largest change of a programming rate that counts as settled, as a share of the sum of all
/// programming rates.
const RATES_WITHIN: f64 = 0.03;
/// Largest change of a share of blocks that counts as settled.
const STATE_WITHIN: f64 = 0.03;
/// Largest change of the spread of P/E cycles that counts as settled, as a share of the mean number
/// of P/E cycles.
const SPREAD_WITHIN: f64 = 0.1;
/// Ratio that makes a block read-hot: its reads, divided by the mean reads of blocks with data.
const READ_HOT: f64 = 2.0;
/// Number of shares that describe the state of the blocks. The first ones matter to writes alone.
const SHARES: usize = 4;
const FOR_WRITES: usize = 2;

/// Largest covariance of the erases of a block in two thirds, as a share of the squared mean, for
/// which wear levelling does not matter. It is that of two cold blocks in a hundred.
const COLD: f64 = 0.02;
/// Largest share of the programs by GC for which the state of blocks does not matter to writes.
const LITTLE_GC: f64 = 0.02;
/// Largest share of all pages that may become invalid in cold blocks until levelling moves these.
/// Under the first third of a database trace, cold blocks of `tiny` lose 0.12 % of all pages in a
/// cycle under `straw-wl`. GC took 0.8 % of the programs after 104 cycles, and 34 % after 146.
const LITTLE_INVALID: f64 = 0.02;
/// Largest share of the wear by levelling that need not have begun. The interval of lives with
/// windows is wider than this.
const LITTLE_LEVELLING: f64 = 0.02;
/// Smallest number of P/E cycles in a warm-up if GC and wear levelling both run, in units of
/// `wear.static_gap`. `tiny` under a database trace has a gap of 100 cycles. GC took 52, 57 and
/// 60 % of the programs in windows after 60, 150 and 400 cycles.
const GAPS: f64 = 5.0;

/// State of a drive, noted each time the mean block has completed a P/E cycle.
#[derive(Clone, Debug, Default)]
struct Note {
    at: f64,
    programs: [f64; Cause::COUNT],
    /// Shares of all blocks: never erased, full of current data, low-density, and read-hot.
    shares: [f64; SHARES],
    /// Number of P/E cycles of each block since the start.
    cycles: Vec<u32>,
    /// Share of each block's pages that hold current data.
    valid: Vec<f64>,
}

impl Note {
    fn of(at: Ns, drive: &Drive) -> Self {
        let blocks: Vec<_> = drive.block_states().collect();
        let reads: Vec<f64> =
            blocks.iter().filter(|block| block.valid > 0).map(|block| block.reads).collect();
        let pages = drive.geometry().pages_per_block;
        let mean_reads = reads.iter().sum::<f64>() / reads.len().max(1) as f64;
        let mut counts = [0u32; SHARES];
        for block in &blocks {
            let is_so = [
                block.cycles == 0,
                u32::from(block.valid) == pages,
                block.mode > 0,
                block.valid > 0 && block.reads > READ_HOT * mean_reads,
            ];
            counts.iter_mut().zip(is_so).for_each(|(count, is_so)| *count += u32::from(is_so));
        }
        Self {
            at: at as f64,
            programs: drive.flash_counts().programs.map(|n| n as f64),
            shares: counts.map(|count| f64::from(count) / blocks.len() as f64),
            cycles: blocks.iter().map(|block| block.cycles).collect(),
            valid: blocks.iter().map(|b| f64::from(b.valid) / f64::from(pages)).collect(),
        }
    }
}

/// States of a drive, noted during the warm-up.
pub(super) struct Settling {
    first: f64,
    notes: Vec<Note>,
    /// Gap of wear levelling, in P/E cycles (`wear.static_gap`); 0 without levelling.
    gap: f64,
    /// Number of P/E cycles until wear levelling moves a cold block.
    stays: f64,
    /// Age at which data is refreshed; 0 without refresh.
    refreshes_at: Ns,
}

impl Settling {
    /// Starts the notes with the state of a drive at time 0.
    pub(super) fn begin(plan: &RunPlan, drive: &Drive) -> Self {
        let config = &plan.drive.config;
        let gap = config.wear.static_gap;
        Self {
            first: drive.mean_cycles(),
            notes: vec![Note::of(0, drive)],
            gap: gap.into(),
            stays: if gap == 0 { config.drive.rated_pec } else { gap }.into(),
            refreshes_at: if plan.refresh.name == NO_REFRESH { 0 } else { config.refresh.period.0 },
        }
    }

    /// Checks the drive. Returns true once the wear and the state of the drive have settled.
    pub(super) fn has_settled(&mut self, now: Ns, drive: &Drive) -> bool {
        if drive.mean_cycles() - self.first < self.notes.len() as f64 {
            return false;
        }
        self.notes.push(Note::of(now, drive));
        now >= self.refreshes_at && settled(&self.notes, self.gap, self.stays)
    }
}

/// Programming rates and state of the blocks in one third of the cycles.
struct Third {
    /// Number of pages programmed per nanosecond, by cause.
    rates: [f64; Cause::COUNT],
    /// Mean of each share in [`Note`].
    shares: [f64; SHARES],
    /// Standard deviation of the P/E cycles over the blocks, divided by the mean number of P/E
    /// cycles.
    spread: f64,
    /// P/E cycles of each block, divided by the mean.
    grown: Vec<f64>,
}

impl Third {
    /// Computes the programming rates and the state of the blocks from the notes of one third of
    /// the cycles. The last note of a third is also the first note of the next third.
    fn of(notes: &[Note]) -> Self {
        let [from, .., to] = notes else { unreachable!("a third has two ends") };
        let took = (to.at - from.at).max(1.0);
        let of_all = (notes.len() - 1) as f64;
        let share = |at: usize| notes[1..].iter().map(|note| note.shares[at]).sum::<f64>() / of_all;
        let grown = from.cycles.iter().zip(&to.cycles);
        let grown: Vec<f64> = grown.map(|(from, to)| f64::from(to - from)).collect();
        let mean = (grown.iter().sum::<f64>() / grown.len().max(1) as f64).max(f64::MIN_POSITIVE);
        let grown: Vec<f64> = grown.into_iter().map(|n| n / mean).collect();
        Self {
            rates: std::array::from_fn(|cause| (to.programs[cause] - from.programs[cause]) / took),
            shares: std::array::from_fn(share),
            spread: covariance(&grown, &grown).max(0.0).sqrt(),
            grown,
        }
    }

    fn has_gc(&self) -> bool {
        self.rates[Cause::Gc as usize] > LITTLE_GC * self.rates.iter().sum::<f64>()
    }
}

/// Returns the covariance of two lists of numbers with the mean 1. Without numbers, returns 0.
fn covariance(one: &[f64], other: &[f64]) -> f64 {
    let products: f64 = one.iter().zip(other).map(|(one, other)| one * other - 1.0).sum();
    products / one.len().max(1) as f64
}

/// Returns the pages that cold blocks lose in a P/E cycle, as a share of all pages. Cold blocks are
/// not erased between `from` and `to`. Their losses between `middle` and `to` count.
fn become_invalid(notes: &[Note], [from, middle, to]: [usize; 3]) -> f64 {
    let blocks = notes[to].cycles.len();
    let is_cold = |block: &usize| notes[from].cycles[*block] == notes[to].cycles[*block];
    let lost = |block: usize| (notes[middle].valid[block] - notes[to].valid[block]).max(0.0);
    let all: f64 = (0..blocks).filter(is_cold).map(lost).sum();
    all / blocks as f64 / (to - middle) as f64
}

fn settled(notes: &[Note], gap: f64, stays: f64) -> bool {
    let cycles = notes.len() - 1;
    let Some([from, middle, to]) = last_thirds(cycles).filter(|_| cycles >= FEWEST) else {
        return false;
    };
    let thirds = [Third::of(&notes[from..=middle]), Third::of(&notes[middle..=to])];
    let [before, now] = &thirds;
    let stands = |share: usize| (before.shares[share] - now.shares[share]).abs() <= STATE_WITHIN;
    // Without GC, data in cold blocks is not copied, so cold blocks cause no wear.
    let will_have_gc = || become_invalid(notes, [from, middle, to]) * stays > LITTLE_INVALID;
    let has_gc = thirds.iter().any(Third::has_gc) || will_have_gc();
    let is_steady =
        || (0..FOR_WRITES).all(stands) && (before.spread - now.spread).abs() <= SPREAD_WITHIN;
    are_alike(&before.rates, &now.rates, RATES_WITHIN)
        && (FOR_WRITES..SHARES).all(stands)
        && (!has_gc || is_steady())
        && (gap == 0.0 || is_levelled(&thirds, has_gc, (cycles as f64, gap)))
}

/// Returns whether wear levelling changes little from now on.
fn is_levelled(thirds: &[Third; 2], has_gc: bool, (cycles, gap): (f64, f64)) -> bool {
    let cold = covariance(&thirds[0].grown, &thirds[1].grown);
    let runs = thirds.iter().all(|third| third.rates[Cause::Wear as usize] > 0.0);
    let in_time = cold / (1.0 + cold) / gap <= LITTLE_LEVELLING;
    cold <= COLD || if has_gc { runs && cycles >= GAPS * gap } else { runs || in_time }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cold blocks stay for 100 cycles.
    fn settled(notes: &[Note], gap: f64) -> bool {
        super::settled(notes, gap, 100.0)
    }

    /// Returns notes that are taken once a second. From note to note, the drive gets 100 more
    /// programs, and both of its blocks get one more cycle. `full` and `hot` return the shares of
    /// full and of read-hot blocks.
    fn notes(full: impl Fn(usize) -> f64, hot: impl Fn(usize) -> f64, cycles: usize) -> Vec<Note> {
        let note = |n: usize| {
            let mut note = Note {
                at: n as f64 * 1e9,
                shares: [0.0, full(n), 0.0, hot(n)],
                cycles: vec![n as u32; 2],
                valid: vec![0.6; 10],
                ..Note::default()
            };
            note.programs[Cause::Gc as usize] = 100.0 * n as f64;
            note
        };
        (0..=cycles).map(note).collect()
    }

    #[test]
    fn a_slowly_changing_state_has_not_settled_although_rates_are_constant() {
        let full = |full: fn(usize) -> f64, cycles| settled(&notes(full, |_| 0.1, cycles), 0.0);
        assert!(full(|_| 0.6, 18) && !full(|_| 0.6, 17));
        assert!(!full(|n| 0.01 * n as f64, 30));
        assert!(full(|n| 0.6 - 0.6 / (1.0 + n as f64).powi(2), 18));
        let hot = |hot: fn(usize) -> f64| settled(&notes(|_| 0.6, hot, 30), 0.0);
        assert!(!hot(|n| 0.3 - 0.01 * n as f64), "read-hot blocks still change");
        // There are few read-hot blocks, so their share varies by chance. The check therefore uses
        // the mean over a third.
        assert!(hot(|n| if n % 2 == 0 { 0.05 } else { 0.1 }));
    }

    #[test]
    fn cold_blocks_have_not_settled_until_they_are_levelled() {
        // One block of ten is never erased. `of` returns the programs of a cause.
        let with_cold = |cause: Cause, of: fn(usize) -> f64| {
            let mut notes = notes(|_| 0.6, |_| 0.1, 30);
            for (n, note) in notes.iter_mut().enumerate() {
                note.cycles = (0..10).map(|block| if block == 0 { 0 } else { n as u32 }).collect();
                note.programs[Cause::Gc as usize] = 0.0;
                note.programs[Cause::Host as usize] = 100.0 * n as f64;
                note.programs[cause as usize] += of(n);
            }
            notes
        };
        let levels = |of: fn(usize) -> f64| with_cold(Cause::Wear, of);
        assert!(!settled(&levels(|_| 0.0), 4.0), "levelling will take 2.5 % of the wear");
        assert!(settled(&levels(|_| 0.0), 6.0), "levelling will take 1.7 % of the wear");
        assert!(settled(&levels(|_| 0.0), 0.0), "the drive does not level wear");
        assert!(settled(&levels(|n| n as f64), 4.0), "levelling runs steadily");
        assert!(!settled(&levels(|n| n.max(20) as f64), 4.0), "levelling has just begun");
        let with_gc = |levels: fn(usize) -> f64, gap| {
            let mut notes = with_cold(Cause::Gc, |n| 10.0 * n as f64);
            for (n, note) in notes.iter_mut().enumerate() {
                note.programs[Cause::Wear as usize] = levels(n);
            }
            settled(&notes, gap)
        };
        assert!(!with_gc(|_| 0.0, 6.0), "levelling will change the work of GC");
        assert!(with_gc(|n| n as f64, 6.0), "30 cycles are five gaps");
        assert!(!with_gc(|n| n as f64, 7.0), "30 cycles are fewer than five gaps");
        let even = |n: usize| (n as u32) / 2 * 2;
        let mut by_chance = notes(|_| 0.6, |_| 0.1, 30);
        for (n, note) in by_chance.iter_mut().enumerate() {
            note.cycles = vec![even(n), even(n + 1)];
        }
        assert!(settled(&by_chance, 4.0), "blocks that are erased in turn");
    }

    #[test]
    fn cold_blocks_that_lose_data_will_give_work_to_gc() {
        // One block of ten is never erased. It loses a share of its pages in each cycle.
        let with_loss = |share: f64| {
            let mut notes = notes(|n| 0.6 - 0.02 * n as f64, |_| 0.1, 30);
            for (n, note) in notes.iter_mut().enumerate() {
                note.cycles = (0..10).map(|block| if block == 0 { 0 } else { n as u32 }).collect();
                note.valid = (0..10)
                    .map(|block| if block == 0 { 1.0 - share * n as f64 } else { 1.0 })
                    .collect();
                note.programs[Cause::Host as usize] = 100.0 * n as f64;
                note.programs[Cause::Gc as usize] = 0.0;
            }
            notes
        };
        assert!(settled(&with_loss(0.0019), 0.0), "1.9 % of all pages in 100 cycles");
        assert!(!settled(&with_loss(0.0021), 0.0), "2.1 % of all pages in 100 cycles");
    }

    #[test]
    fn a_rate_that_grows_has_not_settled() {
        let mut growing = notes(|_| 0.6, |_| 0.1, 18);
        growing[18].programs[Cause::Gc as usize] += 24.0;
        assert!(!settled(&growing, 0.0), "{:?}", growing[18]);
        growing[18].programs[Cause::Gc as usize] -= 12.0;
        assert!(settled(&growing, 0.0));
    }

    #[test]
    fn blocks_with_a_growing_spread_have_not_settled() {
        let mut apart = notes(|_| 0.6, |_| 0.1, 18);
        // After the 12th cycle, only one of the two blocks is erased.
        for (n, note) in apart.iter_mut().enumerate().skip(13) {
            note.cycles = vec![12, 12 + 2 * (n as u32 - 12)];
        }
        assert!(!settled(&apart, 0.0), "the spread of P/E grows from 0 to 1");
        // Only one block is erased from the start on, so the spread stays constant.
        let mut always = notes(|_| 0.6, |_| 0.1, 18);
        always.iter_mut().enumerate().for_each(|(n, note)| note.cycles = vec![0, 2 * n as u32]);
        assert!(settled(&always, 0.0));
    }
}
