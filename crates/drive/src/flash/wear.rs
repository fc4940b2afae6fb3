//! Wear of a block by reprogramming, in plain cycles that would wear it as much.
//!
//! A program-reprogram-erase cycle wears a block as much as `(X0 - Xr) / (Xr r) + 1` plain cycles.
//! X0 is the number of cycles that the block endures without reprogramming. Xr is the number with a
//! share r of its cycles reprogrammed (ipr-2018 III-D). In Fig. 7 of ipr-2018, the wear is 1.2 from
//! r = 0.2 on. It is larger below, but no value is printed there.
//!
//! **The curve below 0.2 is a fit.** It lies half-way (in logarithms) between the two possible
//! limits. The wear beyond a plain cycle is at least the wear at 0.2. It is at most this wear times
//! 0.2 / r, because a block that is reprogrammed less often does not fail earlier.
//!
//! ```text
//! r       0.95   0.2    0.05   0.002
//! wear    1.2    1.2    1.4    3.0
//! ```

/// Share of reprogrammed cycles from which the wear of one reprogrammed cycle stays constant.
const CONCENTRATED: f64 = 0.2;

/// Returns the wear of one reprogrammed cycle beyond a plain one, in thousandths of a cycle.
/// `concentrated` is the wear of such a cycle if many cycles are reprogrammed (`density.wear`).
/// `reprogrammed` and `cycles` give the share of the block's cycles, up to this one, that were
/// reprogrammed.
pub(crate) fn extra_milli(concentrated: f64, reprogrammed: u32, cycles: u32) -> u32 {
    let rate = f64::from(reprogrammed) / f64::from(cycles.max(1));
    let dispersed = (CONCENTRATED / rate.clamp(1e-6, CONCENTRATED)).sqrt();
    let milli = (concentrated - 1.0) * dispersed * 1000.0;
    milli.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        assert_eq!(
            [(19, 20), (1, 5), (1, 20), (1, 500)].map(|(n, of)| extra_milli(1.2, n, of)),
            [200, 200, 400, 2000]
        );
        assert_eq!(extra_milli(1.0, 1, 1000), 0);
    }

    #[test]
    fn the_formula_of_the_paper_gives_the_wear_back() {
        // The block endures 10,000 plain cycles. Every fifth of its cycles is reprogrammed. How
        // many cycles does it endure then?
        let (endured, every) = (10_000_000u64, 5);
        let (mut worn, mut cycles) = (0u64, 0u32);
        while worn < endured {
            cycles += 1;
            let extra = if cycles.is_multiple_of(every) {
                extra_milli(1.2, cycles / every, cycles)
            } else {
                0
            };
            worn += 1000 + u64::from(extra);
        }
        let (x0, xr, r) = (10_000.0, f64::from(cycles), 0.2);
        let normalised = (x0 - xr) / (xr * r) + 1.0;
        assert!((normalised - 1.2).abs() < 0.001, "{normalised}");
    }

    #[test]
    fn seldom_reprogrammed_blocks_pay_more_for_each_and_less_in_all() {
        let per_cycle: Vec<u32> = (1..=40).map(|cycles| extra_milli(1.2, 1, cycles)).collect();
        assert!(per_cycle.windows(2).all(|w| w[0] <= w[1]));
        let in_all = (1..=40)
            .map(|cycles| f64::from(extra_milli(1.2, 1, cycles)) / f64::from(cycles))
            .collect::<Vec<_>>();
        assert!(in_all.windows(2).all(|w| w[0] > w[1]));
    }
}
