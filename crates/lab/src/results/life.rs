//! How long a drive would live under a workload: the wear of a run, or of runs at several ages, carried through the ages to come.
//!
//! Limits fall with wear, so reads cause more rewrites on an old drive than on a young one. What reads cause in a run is therefore
//! carried along the technique's reads per rewrite ([`vpass_core::drive::Drive::reads_per_rewrite`]); what the host writes stays as it is. GC follows both:
//! it makes up for the pages that host and reclaim take beyond those that reclaim's own erases give back.
//!
//! ```text
//! 10 blocks; 20 block cycles by reads in a day, at 100 reads per rewrite; they are 100 up to 50 cycles and 50 from there to 100
//! a day wears a block by 2 cycles, then by 4:  50 / 2 + 50 / 4 = 37.5 days, and not 100 / 2 = 50
//! ```

/// Counts of one kind by what they are for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shares {
    pub(crate) host: f64,
    pub(crate) reclaim: f64,
    pub(crate) gc: f64,
    /// Wear levelling and the like.
    pub(crate) rest: f64,
}

impl Shares {
    pub(crate) fn sum(&self) -> f64 {
        self.host + self.reclaim + self.gc + self.rest
    }
}

/// What a run did to all blocks of its drive.
#[derive(Clone, Debug)]
pub(crate) struct Worn {
    /// Mean effective P/E cycles half-way through the run.
    pub(crate) age: f64,
    pub(crate) seconds: f64,
    pub(crate) blocks: f64,
    pub(crate) pages_per_block: f64,
    pub(crate) programs: Shares,
    pub(crate) erases: Shares,
    /// Cycles of wear beyond the erases, by reprogramming in place.
    pub(crate) extra: f64,
    /// Reads between two rewrites, in the mean over the cycles of the run.
    pub(crate) reads_per_rewrite: f64,
    /// Reads that data has taken towards a rewrite still to come, over pages; in the unit of copied pages times reads per rewrite.
    pub(crate) underway: f64,
}

/// Block cycles below which a life is a range only, and below which nothing is said at all.
pub const CONFIDENT_CYCLES: f64 = 30.0;
pub(crate) const FEWEST_CYCLES: f64 = 3.0;

impl Worn {
    /// Block cycles seen, over all blocks: as many as blocks were erased, or as the programmed pages fill.
    pub(crate) fn observed(&self) -> f64 {
        self.erases.sum().max(self.programs.sum() / self.pages_per_block)
    }

    /// How many times as much reads cause where so many reads cause a rewrite. With `underway`, reads count that have not led to a rewrite yet, as
    /// far as data of this run leaves its place because of reads and not because the host overwrites it first.
    fn growth(&self, reads_per_rewrite: f64, underway: bool) -> f64 {
        if self.programs.reclaim == 0.0 {
            return 1.0;
        }
        let begun = if underway { self.underway * self.programs.reclaim / self.programs.sum() } else { 0.0 };
        (self.programs.reclaim * self.reads_per_rewrite + begun) / (self.programs.reclaim * reads_per_rewrite)
    }

    /// Block cycles of all blocks in the time of the run, had reads caused `growth` times as much.
    fn cycles(&self, growth: f64) -> f64 {
        // Pages that reclaim takes beyond those that its own erases give back; whole-block jobs give back more than they take.
        let taken = |growth: f64| self.programs.host + growth * (self.programs.reclaim - self.pages_per_block * self.erases.reclaim);
        let of_gc = if self.programs.host == 0.0 {
            growth
        } else if taken(1.0) > 0.0 {
            (taken(growth).max(0.0) / taken(1.0)).min(growth.max(1.0 / growth))
        } else {
            1.0
        };
        let sum = |s: &Shares| s.host + growth * s.reclaim + of_gc * s.gc;
        // Wear levelling follows all other wear.
        let with_rest = |s: &Shares| {
            let others = s.sum() - s.rest;
            if others > 0.0 { sum(s) * s.sum() / others } else { s.rest }
        };
        with_rest(&self.erases).max(with_rest(&self.programs) / self.pages_per_block) + growth * self.extra
    }

    /// P/E cycles of the mean block in a day as it was.
    pub(crate) fn per_day(&self) -> f64 {
        self.cycles(1.0) / self.blocks / self.seconds * 86_400.0
    }

    /// P/E cycles of the mean block in a second.
    fn rate(&self, reads_per_rewrite: f64, underway: bool) -> f64 {
        self.cycles(self.growth(reads_per_rewrite, underway)) / self.blocks / self.seconds
    }
}

/// A life, as far as it can be told.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Life {
    pub(crate) days: Option<f64>,
    pub(crate) low_days: Option<f64>,
    /// Absent where there is no upper end.
    pub(crate) high_days: Option<f64>,
}

/// From `age` effective cycles of the mean block to `rated`. `runs`: one or several, by rising age, on drives alike; `reads_per_rewrite` of P/E counts.
pub(crate) fn life(runs: &[Worn], age: f64, rated: u32, reads_per_rewrite: &dyn Fn(u32) -> f64) -> Life {
    if runs.iter().any(|run| run.observed() <= 0.0 || run.seconds <= 0.0) {
        return Life::default();
    }
    let days = |bound: Bound| {
        let seconds = seconds(age, rated, &|pec| rate(runs, pec, reads_per_rewrite(pec), bound));
        Some(seconds / 86_400.0).filter(|days| days.is_finite())
    };
    let confident = runs.iter().all(|run| run.observed() >= CONFIDENT_CYCLES);
    Life { days: days(Bound::Middle).filter(|_| confident), low_days: days(Bound::MostWear), high_days: days(Bound::LeastWear) }
}

#[derive(Clone, Copy, PartialEq)]
enum Bound {
    LeastWear,
    Middle,
    MostWear,
}

/// P/E cycles of the mean block in a second at this age: of the two runs around it, each carried to it, in proportion to their distance.
fn rate(runs: &[Worn], pec: u32, reads_per_rewrite: f64, bound: Bound) -> f64 {
    let of = |run: &Worn| {
        let (low, high) = poisson_range(run.observed());
        match bound {
            Bound::LeastWear => run.rate(reads_per_rewrite, false) * low / run.observed(),
            Bound::Middle => run.rate(reads_per_rewrite, true),
            Bound::MostWear => run.rate(reads_per_rewrite, true) * high / run.observed(),
        }
    };
    let next = runs.partition_point(|run| run.age <= f64::from(pec));
    match (next.checked_sub(1).map(|before| &runs[before]), runs.get(next)) {
        (Some(before), Some(after)) => {
            let t = (f64::from(pec) - before.age) / (after.age - before.age);
            (1.0 - t) * of(before) + t * of(after)
        }
        (one, other) => of(one.or(other).expect("there is a run")),
    }
}

/// Seconds until `rated`, cycle by cycle, at these rates.
fn seconds(age: f64, rated: u32, rate: &dyn Fn(u32) -> f64) -> f64 {
    let mut at = age;
    let mut seconds = 0.0;
    while at < f64::from(rated) {
        let pec = at as u32;
        let end = f64::from(pec + 1).min(f64::from(rated));
        seconds += (end - at) / rate(pec);
        at = end;
    }
    seconds
}

/// Means whose Poisson counts are this one, with 95 % confidence (Byar's approximation: Breslow and Day, Statistical Methods in Cancer
/// Research II, IARC 1987, p. 69). Erases under a threshold come more evenly than a Poisson process, so this is on the wide side.
pub(crate) fn poisson_range(count: f64) -> (f64, f64) {
    const Z: f64 = 1.959_964;
    let low = if count > 0.0 { count * (1.0 - 1.0 / (9.0 * count) - Z / (3.0 * count.sqrt())).max(0.0).powi(3) } else { 0.0 };
    let more = count + 1.0;
    (low, more * (1.0 - 1.0 / (9.0 * more) + Z / (3.0 * more.sqrt())).powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example: reads only, of a technique that rewrites whole blocks of four valid pages of ten.
    fn by_reads() -> Worn {
        Worn {
            age: 0.0,
            seconds: 86_400.0,
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
        seconds(age, rated, &|pec| rate(std::slice::from_ref(worn), pec, reads_per_rewrite(pec), Bound::Middle)) / 86_400.0
    }

    fn falling(pec: u32) -> f64 {
        if pec < 50 { 100.0 } else { 50.0 }
    }

    #[test]
    fn worked_example() {
        assert!((days(&by_reads(), 0.0, 100, &falling) - 37.5).abs() < 1e-9);
        assert!((days(&by_reads(), 49.5, 100, &falling) - 12.75).abs() < 1e-9, "half a cycle of the first, and 50 of the second");
        assert!(days(&by_reads(), 100.0, 100, &falling).abs() < 1e-9);
    }

    #[test]
    fn what_the_host_causes_stays() {
        let worn = Worn {
            programs: Shares { host: 120.0, gc: 80.0, ..Shares::default() },
            erases: Shares { gc: 20.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((days(&worn, 0.0, 100, &falling) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn gc_makes_up_for_what_reclaim_takes_and_does_not_give_back() {
        // Single pages move, and no block is erased: the 50 pages of the host and the 50 of reclaim cost 20 GC erases. At half the reads per rewrite
        // reclaim takes 100: 30 erases.
        let worn = Worn {
            programs: Shares { host: 50.0, reclaim: 50.0, gc: 100.0, ..Shares::default() },
            erases: Shares { gc: 20.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((worn.cycles(2.0) - 30.0).abs() < 1e-9);
        // Whole blocks of which half is valid: reclaim takes 50 pages and gives 100 back. At half the reads per rewrite GC need not erase at all.
        let worn = Worn {
            programs: Shares { host: 100.0, reclaim: 50.0, gc: 40.0, ..Shares::default() },
            erases: Shares { reclaim: 10.0, gc: 10.0, ..Shares::default() },
            ..by_reads()
        };
        assert!((worn.cycles(1.0) - 20.0).abs() < 1e-9 && (worn.cycles(2.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn what_reprogramming_wears_grows_with_what_reads_cause() {
        let worn = Worn { extra: 5.0, ..by_reads() };
        assert!((worn.cycles(1.0) - 25.0).abs() < 1e-9 && (worn.cycles(2.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn programmed_pages_wear_before_blocks_are_erased() {
        let worn =
            Worn { programs: Shares { host: 550.0, ..Shares::default() }, erases: Shares { gc: 8.0, ..Shares::default() }, ..by_reads() };
        assert!((worn.observed() - 55.0).abs() < 1e-9 && (worn.cycles(1.0) - 55.0).abs() < 1e-9);
    }

    #[test]
    fn reads_on_the_way_to_a_rewrite_count_as_far_as_the_host_leaves_them() {
        // 80 pages were copied at 100 reads per rewrite; another 40 are half-way.
        let worn = Worn { underway: 2000.0, ..by_reads() };
        assert!((worn.growth(100.0, true) - 1.25).abs() < 1e-9 && (worn.growth(50.0, false) - 2.0).abs() < 1e-9);
        let written = Worn { programs: Shares { host: 80.0, ..worn.programs }, ..worn };
        assert!((written.growth(100.0, true) - 1.125).abs() < 1e-9);
    }

    #[test]
    fn runs_at_several_ages_are_joined() {
        // 2 cycles a day at the first age and 6 at the second, at the same reads per rewrite: 2, 4 and 6, the mean between them.
        let old = Worn { age: 2.0, seconds: 28_800.0, ..by_reads() };
        let rate_at = |pec| rate(&[by_reads(), old.clone()], pec, 100.0, Bound::Middle) * 86_400.0;
        assert!([(0, 2.0), (1, 4.0), (2, 6.0), (9, 6.0)].iter().all(|(pec, cycles)| (rate_at(*pec) - cycles).abs() < 1e-9));
    }

    #[test]
    fn few_cycles_give_a_range_and_none_nothing() {
        let few = Worn { erases: Shares { reclaim: 10.0, ..Shares::default() }, ..by_reads() };
        let life = life(std::slice::from_ref(&few), 0.0, 100, &|_| 100.0);
        // A cycle a block and day; the exact bounds of a count of 10 are 4.80 and 18.39.
        let (low, high) = (life.low_days.unwrap(), life.high_days.unwrap());
        assert!(life.days.is_none() && (low - 1000.0 / 18.39).abs() < 0.2 && (high - 1000.0 / 4.80).abs() < 1.0, "{low} {high}");
        let none = Worn { programs: Shares::default(), erases: Shares::default(), ..by_reads() };
        assert_eq!(super::life(&[none], 0.0, 100, &|_| 100.0), Life::default());
    }

    #[test]
    fn bounds_of_a_count() {
        // The exact ones, by the chi-squared distribution.
        let near = |count, low: f64, high: f64| {
            let (l, h) = poisson_range(count);
            (l - low).abs() <= 0.01 * low && (h - high).abs() <= 0.01 * high
        };
        assert!(near(10.0, 4.795, 18.39) && near(100.0, 81.36, 121.6) && near(0.0, 0.0, 3.689));
    }
}
