//! Projected life of a drive under a workload. It is projected from the wear in one run, or in
//! several runs at different P/E counts.
//!
//! Read limits fall with wear, so reads cause more rewrites on an old drive than on a young drive.
//! The projection therefore increases the number of rewrites as the number of reads between two
//! rewrites falls ([`vpass_drive::drive::Drive::reads_per_rewrite`]). Host writes are assumed to
//! stay constant. Host writes and reclaim fill flash pages, so the same number of pages must be
//! freed. Reclaim frees some of these pages with its own erases, and GC frees the others.
//!
//! ```text
//! in one day, reads cause 20 block cycles on 10 blocks, at 100 reads between rewrites
//! up to 50 P/E cycles, there are 100 reads between rewrites; from 50 to 100 P/E cycles, only 50
//! a day wears a block by 2 P/E cycles at first, and by 4 later
//! the life is 50 / 2 + 50 / 4 = 37.5 days, and not 100 / 2 = 50 days
//! the host wrote 3 GB on that day, so it can write 37.5 x 3 GB until the drive is worn out
//! ```

use super::life_unit::LifeUnit;

/// Counts of one kind of flash operation, such as programs, by cause.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) host: f64,
    pub(crate) reclaim: f64,
    pub(crate) gc: f64,
    /// Count for all causes except the host, reclaim and GC.
    pub(crate) rest: f64,
}

impl Shares {
    pub(crate) fn sum(&self) -> f64 {
        self.host + self.reclaim + self.gc + self.rest
    }
}

/// Wear of all blocks of a drive during one run.
#[derive(Clone, Debug)]
pub(crate) struct Worn {
    /// Mean effective P/E count of the blocks, halfway through the run.
    pub(crate) age: f64,
    pub(crate) seconds: f64,
    /// Bytes that the host wrote. For a sample, the number is scaled to the whole drive.
    pub(crate) write_bytes: f64,
    /// Bytes that the host read. For a sample, the number is scaled to the whole drive.
    pub(crate) read_bytes: f64,
    /// Number of pages that the host wrote.
    pub(crate) write_pages: f64,
    pub(crate) blocks: f64,
    pub(crate) pages_per_block: f64,
    pub(crate) programs: Shares,
    pub(crate) erases: Shares,
    /// Wear by reprogramming in place, in P/E cycles summed over all blocks. The wear by erases is
    /// not included.
    pub(crate) extra: f64,
    /// Number of reads between two rewrites, as a mean over the block cycles of the run.
    pub(crate) reads_per_rewrite: f64,
    /// Number of reads that have not yet led to a rewrite. The reads of each block are multiplied
    /// by the number of valid pages in the block.
    pub(crate) underway: f64,
}

/// Number of block cycles that a run needs for a life as one number. With fewer block cycles, the
/// life is given as a range.
pub const CONFIDENT_CYCLES: f64 = 30.0;
/// Number of block cycles that a run needs. With fewer block cycles, no life is given.
pub(crate) const FEWEST_CYCLES: f64 = 3.0;

impl Worn {
    /// Returns the number of block cycles of the run. It is the larger of two numbers: the number
    /// of erased blocks, and the number of blocks that the programmed pages fill.
    pub(crate) fn observed(&self) -> f64 {
        self.erases.sum().max(self.programs.sum() / self.pages_per_block)
    }

    /// Returns the number of pending block cycles. The run has caused these cycles, but they happen
    /// later. Two things cause them: pages that the host wrote, and reads that have not yet led to
    /// a rewrite.
    pub(crate) fn pending(&self) -> f64 {
        (self.write_pages + self.underway / self.reads_per_rewrite) / self.pages_per_block
    }

    /// Returns the length of the run in the unit in which the life is given.
    pub(crate) fn amount(&self, unit: LifeUnit) -> f64 {
        match unit {
            LifeUnit::Days => self.seconds / 86_400.0,
            LifeUnit::HostBytes => self.write_bytes,
            LifeUnit::ReadBytes => self.read_bytes,
        }
    }

    /// Returns the factor by which the number of rewrites because of reads grows, if there are
    /// `reads_per_rewrite` reads between two rewrites. If `underway` is true, reads that have not
    /// yet led to a rewrite also count. Such reads are multiplied by reclaim's share of all
    /// programs, because the host may overwrite the read data before reclaim moves it.
    fn growth(&self, reads_per_rewrite: f64, underway: bool) -> f64 {
        if self.programs.reclaim == 0.0 {
            return 1.0;
        }
        let begun = if underway {
            self.underway * self.programs.reclaim / self.programs.sum()
        } else {
            0.0
        };
        (self.programs.reclaim * self.reads_per_rewrite + begun)
            / (self.programs.reclaim * reads_per_rewrite)
    }

    /// Returns the number of P/E cycles that the run would have caused with `growth` times as many
    /// rewrites because of reads. The number is a sum over all blocks.
    fn cycles(&self, growth: f64) -> f64 {
        // Number of pages that GC must free: pages used by the host and by reclaim, minus pages
        // freed by erases of reclaim. Jobs that rewrite whole blocks may free more pages than they
        // use.
        let taken = |growth: f64| {
            self.programs.host
                + growth * (self.programs.reclaim - self.pages_per_block * self.erases.reclaim)
        };
        let of_gc = if self.programs.host == 0.0 {
            growth
        } else if taken(1.0) > 0.0 {
            (taken(growth).max(0.0) / taken(1.0)).min(growth.max(1.0 / growth))
        } else {
            1.0
        };
        let sum = |s: &Shares| s.host + growth * s.reclaim + of_gc * s.gc;
        // The wear by wear levelling is assumed to be proportional to all other wear.
        let with_rest = |s: &Shares| {
            let others = s.sum() - s.rest;
            if others > 0.0 { sum(s) * s.sum() / others } else { s.rest }
        };
        with_rest(&self.erases).max(with_rest(&self.programs) / self.pages_per_block)
            + growth * self.extra
    }

    /// Returns the mean number of P/E cycles of a block per day or per byte, as measured in the
    /// run. `unit` selects days or bytes. Returns `None` if the length of the run in this unit is
    /// 0.
    pub(crate) fn per(&self, unit: LifeUnit) -> Option<f64> {
        Some(self.amount(unit))
            .filter(|amount| *amount > 0.0)
            .map(|amount| self.cycles(1.0) / self.blocks / amount)
    }

    /// Returns the mean number of P/E cycles of a block per day or per byte, if there are
    /// `reads_per_rewrite` reads between two rewrites.
    fn rate(&self, reads_per_rewrite: f64, bound: Bound, unit: LifeUnit) -> f64 {
        let observed = self.observed();
        let (low, high) = poisson_range(observed);
        let as_seen = |underway| self.cycles(self.growth(reads_per_rewrite, underway));
        let cycles = match bound {
            // Without observed block cycles, the largest wear is the upper confidence bound of the
            // pending cycles. The bound is scaled to `reads_per_rewrite` reads between rewrites.
            Bound::MostWear if observed <= 0.0 => {
                poisson_range(self.pending()).1
                    * (self.reads_per_rewrite / reads_per_rewrite).max(1.0)
            }
            Bound::LeastWear | Bound::Middle if observed <= 0.0 => 0.0,
            Bound::LeastWear => as_seen(false) * low / observed,
            Bound::Middle => as_seen(true),
            Bound::MostWear => as_seen(true) * high / observed,
        };
        cycles / self.blocks / self.amount(unit)
    }
}

/// Projected life in one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Life {
    /// Life as one number. `None` if the run has fewer than [`CONFIDENT_CYCLES`] block cycles.
    pub middle: Option<f64>,
    /// Lower end of the range in which the life lies. `None` if the run's length, in the unit of
    /// the life, is 0.
    pub low: Option<f64>,
    /// Upper end of the range in which the life lies. `None` if the life may have no end.
    pub high: Option<f64>,
}

/// Projects the life: the time or the bytes until the mean effective P/E count of all blocks has
/// risen from `age` to `rated`. `runs` has one or more runs in rising order of P/E count. The
/// drives of these runs differ only in the P/E count. `reads_per_rewrite` gives the number of reads
/// between rewrites at a P/E count.
pub(crate) fn life(
    runs: &[Worn],
    age: f64,
    rated: u32,
    reads_per_rewrite: &dyn Fn(u32) -> f64,
    unit: LifeUnit,
) -> Life {
    if runs.iter().any(|run| run.amount(unit) <= 0.0) {
        return Life::default();
    }
    let until = |bound: Bound| {
        Some(until_worn(age, rated, &|pec| rate(runs, pec, reads_per_rewrite(pec), bound, unit)))
            .filter(|life| life.is_finite())
    };
    let confident = runs.iter().all(|run| run.observed() >= CONFIDENT_CYCLES);
    Life {
        middle: until(Bound::Middle).filter(|_| confident),
        low: until(Bound::MostWear),
        high: until(Bound::LeastWear),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    LeastWear,
    Middle,
    MostWear,
}

/// Returns the mean number of P/E cycles of a block per day or per byte, at the P/E count `pec`.
/// The result is interpolated between the runs with the nearest lower and the nearest higher P/E
/// count. Each run is first scaled to `reads_per_rewrite`.
fn rate(runs: &[Worn], pec: u32, reads_per_rewrite: f64, bound: Bound, unit: LifeUnit) -> f64 {
    let of = |run: &Worn| run.rate(reads_per_rewrite, bound, unit);
    let next = runs.partition_point(|run| run.age <= f64::from(pec));
    match (next.checked_sub(1).map(|before| &runs[before]), runs.get(next)) {
        (Some(before), Some(after)) => {
            let t = (f64::from(pec) - before.age) / (after.age - before.age);
            (1.0 - t) * of(before) + t * of(after)
        }
        (one, other) => of(one.or(other).expect("there is a run")),
    }
}

/// Returns the length of the life from `age` to `rated` P/E cycles. For each P/E count, `rate`
/// gives the number of P/E cycles per day or per byte.
fn until_worn(age: f64, rated: u32, rate: &dyn Fn(u32) -> f64) -> f64 {
    let mut at = age;
    let mut passed = 0.0;
    while at < f64::from(rated) {
        let pec = at as u32;
        let end = f64::from(pec + 1).min(f64::from(rated));
        passed += (end - at) / rate(pec);
        at = end;
    }
    passed
}

/// Returns the 95 % confidence range for the mean of a Poisson count, by Byar's approximation
/// (Breslow and Day, Statistical Methods in Cancer Research II, IARC 1987, p. 69). Erases that
/// begin at a threshold are more regular than a Poisson process, so the range is wider than needed.
pub(crate) fn poisson_range(count: f64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let low = if count > 0.0 {
        count * (1.0 - 1.0 / (9.0 * count) - Z / (3.0 * count.sqrt())).max(0.0).powi(3)
    } else {
        0.0
    };
    let more = count + 1.0;
    (low, more * (1.0 - 1.0 / (9.0 * more) + Z / (3.0 * more.sqrt())).powi(3))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the wear of a worked example with reads only. The technique rewrites whole blocks.
    /// Four of ten pages of each block are valid.
    pub(in crate::results) fn by_reads() -> Worn {
        Worn {
            age: 0.0,
            seconds: 86_400.0,
            write_bytes: 0.0,
            read_bytes: 6e9,
            write_pages: 0.0,
            blocks: 10.0,
            pages_per_block: 10.0,
            programs: Shares { reclaim: 80.0, ..Shares::default() },
            erases: Shares { reclaim: 20.0, ..Shares::default() },
            extra: 0.0,
            reads_per_rewrite: 100.0,
            underway: 0.0,
        }
    }

    fn days(worn: &Worn, age: f64, rated: u32, reads_per_rewrite: &dyn Fn(u32) -> f64) -> f64 {
        until_worn(age, rated, &|pec| {
            rate(
                std::slice::from_ref(worn),
                pec,
                reads_per_rewrite(pec),
                Bound::Middle,
                LifeUnit::Days,
            )
        })
    }

    fn falling(pec: u32) -> f64 {
        if pec < 50 { 100.0 } else { 50.0 }
    }

    #[test]
    fn worked_example() {
        assert!((days(&by_reads(), 0.0, 100, &falling) - 37.5).abs() < 1e-9);
        assert!(
            (days(&by_reads(), 49.5, 100, &falling) - 12.75).abs() < 1e-9,
            "half a cycle of the first, and 50 of the second"
        );
        assert!(days(&by_reads(), 100.0, 100, &falling).abs() < 1e-9);
    }

    #[test]
    fn host_writes_stay_constant() {
        let worn = Worn {
            programs: Shares { host: 120.0, gc: 80.0, ..Shares::default() },
            erases: Shares { gc: 20.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((days(&worn, 0.0, 100, &falling) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn gc_frees_the_pages_that_reclaim_uses_and_does_not_free() {
        // Reclaim moves single pages and erases no block. 50 host pages and 50 reclaim pages cost
        // 20 GC erases. With half as many reads between rewrites, reclaim uses 100 pages, so 30
        // erases are needed.
        let worn = Worn {
            programs: Shares { host: 50.0, reclaim: 50.0, gc: 100.0, ..Shares::default() },
            erases: Shares { gc: 20.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((worn.cycles(2.0) - 30.0).abs() < 1e-9);
        // Reclaim rewrites whole blocks in which half of the pages are valid. Reclaim programs 50
        // pages and frees 100. With half as many reads between rewrites, reclaim frees enough
        // pages, so GC needs no erase.
        let worn = Worn {
            programs: Shares { host: 100.0, reclaim: 50.0, gc: 40.0, ..Shares::default() },
            erases: Shares { reclaim: 10.0, gc: 10.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((worn.cycles(1.0) - 20.0).abs() < 1e-9 && (worn.cycles(2.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn wear_by_reprogramming_grows_with_rewrites_for_reads() {
        let worn = Worn { extra: 5.0, ..by_reads() };
        assert!((worn.cycles(1.0) - 25.0).abs() < 1e-9 && (worn.cycles(2.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn programmed_pages_wear_before_blocks_are_erased() {
        let worn = Worn {
            programs: Shares { host: 550.0, ..Shares::default() },
            erases: Shares { gc: 8.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((worn.observed() - 55.0).abs() < 1e-9 && (worn.cycles(1.0) - 55.0).abs() < 1e-9);
    }

    #[test]
    fn reads_towards_a_rewrite_count_unless_the_host_overwrites_the_data() {
        // Reclaim copied 80 pages, at 100 reads between rewrites. Another 40 pages have had half of
        // these reads.
        let worn = Worn { underway: 2000.0, ..by_reads() };
        assert!(
            (worn.growth(100.0, true) - 1.25).abs() < 1e-9
                && (worn.growth(50.0, false) - 2.0).abs() < 1e-9
        );
        let written = Worn { programs: Shares { host: 80.0, ..worn.programs }, ..worn };
        assert!((written.growth(100.0, true) - 1.125).abs() < 1e-9);
    }

    #[test]
    fn runs_at_several_ages_are_joined() {
        // At the first age, the drive wears by 2 P/E cycles per day; at the second age, by 6. The
        // reads between rewrites are equal. Over the life, the rates are 2, 4 and 6, with a mean of
        // 4.
        let old = Worn { age: 2.0, seconds: 28_800.0, ..by_reads() };
        let rate_at =
            |pec| rate(&[by_reads(), old.clone()], pec, 100.0, Bound::Middle, LifeUnit::Days);
        assert!(
            [(0, 2.0), (1, 4.0), (2, 6.0), (9, 6.0)]
                .iter()
                .all(|(pec, cycles)| (rate_at(*pec) - cycles).abs() < 1e-9)
        );
    }

    #[test]
    fn few_cycles_give_a_range_and_no_cycles_a_lower_bound() {
        let few = Worn { erases: Shares { reclaim: 10.0, ..Shares::default() }, ..by_reads() };
        let of = |run: Worn, unit| super::life(&[run], 0.0, 100, &|_| 100.0, unit);
        let life = of(few.clone(), LifeUnit::Days);
        // Each of ten blocks wears by one cycle per day. The exact 95 % bounds of a count of 10 are
        // 4.80 and 18.39.
        let (low, high) = (life.low.unwrap(), life.high.unwrap());
        assert!(
            life.middle.is_none()
                && (low - 1000.0 / 18.39).abs() < 0.2
                && (high - 1000.0 / 4.80).abs() < 1.0,
            "{low} {high}"
        );
        assert_eq!(of(few, LifeUnit::HostBytes), Life::default(), "the host wrote nothing");
        // If no cycle was observed, the true mean can be up to 3.69 by chance. The reads that 20
        // pages have had so far add two blocks.
        let none = Worn { programs: Shares::default(), erases: Shares::default(), ..by_reads() };
        let low = |run: Worn| {
            let life = of(run, LifeUnit::Days);
            assert!(life.middle.is_none() && life.high.is_none());
            life.low.unwrap()
        };
        assert!((low(none.clone()) / (1000.0 / 3.689) - 1.0).abs() < 0.01);
        // The exact 95 % upper bound of a count of 2 is 7.22.
        assert!((low(Worn { underway: 2000.0, ..none }) / (1000.0 / 7.22) - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_slower_drive_lives_longer_in_days_but_not_in_bytes() {
        let fast = Worn { write_bytes: 3e9, ..by_reads() };
        let slow = Worn { seconds: 2.0 * fast.seconds, ..fast.clone() };
        let of = |run: &Worn, unit| {
            super::life(std::slice::from_ref(run), 0.0, 100, &falling, unit).middle
        };
        // 20 block cycles are too few to give the life as one number.
        assert_eq!(of(&fast, LifeUnit::HostBytes), None);
        let [fast, slow] = [fast, slow].map(|run| Worn {
            blocks: 20.0,
            erases: Shares { reclaim: 40.0, ..run.erases },
            ..run
        });
        let near = |life: Option<f64>, expected: f64| (life.unwrap() / expected - 1.0).abs() < 1e-9;
        assert!(near(of(&fast, LifeUnit::Days), 37.5) && near(of(&slow, LifeUnit::Days), 75.0));
        assert!([&fast, &slow].iter().all(|run| near(of(run, LifeUnit::HostBytes), 37.5 * 3e9)));
        assert!([&fast, &slow].iter().all(|run| near(of(run, LifeUnit::ReadBytes), 37.5 * 6e9)));
    }

    #[test]
    fn bounds_of_a_count() {
        // The expected values are exact bounds, computed from the chi-squared distribution.
        let near = |count, low: f64, high: f64| {
            let (l, h) = poisson_range(count);
            (l - low).abs() <= 0.01 * low && (h - high).abs() <= 0.01 * high
        };
        assert!(near(10.0, 4.795, 18.39) && near(100.0, 81.36, 121.6) && near(0.0, 0.0, 3.689));
    }
}
