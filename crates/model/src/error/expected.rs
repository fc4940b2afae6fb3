//! Expected numbers for all reads of a drive whose limits parity raises. They follow from the doses
//! that the blocks reached.
//!
//! No random number is drawn, and no single read is examined. A read at the share x of its block's
//! limit loses u(x). A block that has served `limit x` reads has lost the integral U(x) of u up to
//! x, times its limit. U is linear between points that are 1/512 of an octave apart. There, u
//! hardly changes, although it rises with about the 18th power of x. So a block adds to the weights
//! of two points when it is erased, and the sums are computed on request.
//!
//! ```text
//! u(x) = what `stripe` says at the rate p* x, asked 32 times an octave and a power law between      U(x_j) = integral of u from 0; nothing below a quarter
//! ```
//!
//! If age uses a share a of the limit (`bch.combine = "sum"`), reads count from a on, as if all
//! data had the longest allowed age. Reads beyond the limit count like reads at the limit. Data
//! beyond the limit is certainly lost or rebuilt, and is counted.

use libm::{log, log2, pow};

use super::bch::Bch;
use super::stripe::Others;

/// First point.
const FIRST: f64 = 0.25;
/// Number of points per octave at which losses are computed, and number of these points up to the
/// limit.
const ASKED_OF_OCTAVE: usize = 32;
const ASKED: usize = 2 * ASKED_OF_OCTAVE;
/// Number of points from one computed loss to the next.
const BETWEEN: usize = 16;
/// Number of all points, and number of points per octave.
const POINTS: usize = ASKED * BETWEEN + 1;
const OF_OCTAVE: usize = ASKED_OF_OCTAVE * BETWEEN;

/// Reads that a block served between two erases.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// Number of reads, in dose units.
    pub reads: f64,
    /// Number of reads that fresh data endures.
    pub limit: f64,
    /// Share of `limit` that the longest age uses up.
    pub aged: f64,
}

/// Reads that all blocks served.
#[derive(Clone, Debug)]
pub struct Served {
    weights: [f64; POINTS],
    reads: f64,
    beyond: f64,
}

/// Expected numbers for the reads that all blocks served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Number of reads served for any cause, in dose units.
    pub reads: f64,
    /// Number of served reads that the code does not decode.
    pub failed_reads: f64,
    /// Number of lost codewords per data bit read, without parity.
    pub uber_alone: f64,
    /// Number of lost codewords per data bit read after repair, if the other members of each stripe
    /// have served as many reads as the page.
    pub uber: f64,
    /// Number of lost codewords per data bit read after repair, if the other members are always at
    /// their limits.
    pub uber_at_most: f64,
}

impl Default for Served {
    fn default() -> Self {
        Self { weights: [0.0; POINTS], reads: 0.0, beyond: 0.0 }
    }
}

impl Served {
    /// Adds the reads of a block.
    pub fn add(&mut self, of: Service) {
        self.count(of, 1.0);
    }

    /// Subtracts reads of a block that do not count.
    pub fn leave_out(&mut self, of: Service) {
        self.count(of, -1.0);
    }

    fn count(&mut self, of: Service, sign: f64) {
        let to = of.aged + of.reads / of.limit;
        self.weigh(to, sign * of.limit);
        self.weigh(of.aged, -sign * of.limit);
        self.reads += sign * of.reads;
        self.beyond += sign * of.limit * ((to - 1.0).max(0.0) - (of.aged - 1.0).max(0.0));
    }

    fn weigh(&mut self, share: f64, weight: f64) {
        if share <= FIRST {
            return;
        }
        let below = ((log2(share / FIRST) * OF_OCTAVE as f64) as usize).min(POINTS - 2);
        let (from, to) = (point(below), point(below + 1));
        let part = ((share - from) / (to - from)).clamp(0.0, 1.0);
        self.weights[below] += weight * (1.0 - part);
        self.weights[below + 1] += weight * part;
    }

    /// Returns the expected numbers for a code whose limits parity raises; `None` if parity raises
    /// no limits.
    pub fn expected(&self, bch: &Bch) -> Option<Expected> {
        let (pages, limit, members) = (bch.pages(), bch.tolerable(), bch.members()?);
        let sum = |lost: &dyn Fn(f64) -> f64| {
            let (integrals, at_limit) = integrals(&|share| lost(limit * share));
            self.weights.iter().zip(integrals.iter()).map(|(weight, of)| weight * of).sum::<f64>()
                + self.beyond * at_limit
        };
        let data_bits = self.reads * f64::from(bch.code().1);
        let by_bit = |lost: f64| if data_bits > 0.0 { lost / data_bits } else { 0.0 };
        Some(Expected {
            reads: self.reads,
            failed_reads: sum(&|rate| pages.pages_fail(rate)),
            uber_alone: by_bit(sum(&|rate| pages.codewords_fail(rate))),
            uber: by_bit(sum(&|rate| pages.codewords_lost(rate, Others { members, rate }))),
            uber_at_most: by_bit(sum(&|rate| {
                pages.codewords_lost(rate, Others { members, rate: limit })
            })),
        })
    }
}

/// Returns the mean of a loss over all reads up to a limit. `lost` gives the loss at a share of the
/// limit.
pub fn mean_to_limit(lost: &dyn Fn(f64) -> f64) -> f64 {
    integrals(lost).0[POINTS - 1]
}

/// Returns the share of the limit at a point.
fn point(number: usize) -> f64 {
    FIRST * pow(2.0, number as f64 / OF_OCTAVE as f64)
}

/// Returns the integrals of a function from 0 to each point, and its value at the last point.
fn integrals(of: &dyn Fn(f64) -> f64) -> (Box<[f64; POINTS]>, f64) {
    let (mut sums, mut from, mut lost) = (Box::new([0.0; POINTS]), FIRST, of(FIRST));
    for asked in 1..=ASKED {
        let end = asked * BETWEEN;
        let (until, then) = (point(end), of(point(end)));
        let exponent = if lost > 0.0 { log(then / lost) / log(until / from) } else { 0.0 };
        let to = |share: f64| {
            (share * lost * pow(share / from, exponent) - from * lost) / (exponent + 1.0)
        };
        let before = sums[end - BETWEEN];
        (end + 1 - BETWEEN..=end).for_each(|number| sums[number] = before + to(point(number)));
        (from, lost) = (until, then);
    }
    (sums, lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::DriveConfig;
    use crate::error::bch::follow_parity;

    fn bch(keys: &str) -> Bch {
        let text = format!(
            r#"
            geometry = {{ channels = 9, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "mlc", page_size = "8KiB" }}
            timing = {{ sense_us = 400, program_us = 1600, erase_us = 1500, channel_mb_s = 0 }}
            drive = {{ spare = 0.4 }}
            disturb = {{ model = "count" }}
            error = {{ model = "bch" }}
            ecc = {{ codeword = "512B", code_rate = 0.9752380952380952, corrects = [8] }}
            bch = {{ target = "stripe", {keys} }}
            "#
        );
        let mut config = toml::from_str::<DriveConfig>(&text).unwrap().resolve().unwrap();
        (config.parity.stripe, config.parity.is_always_there) = (Some(8), true);
        follow_parity(&mut config);
        Bch::of(&config).unwrap()
    }

    fn close(is: f64, should_be: f64, within: f64) {
        assert!((is / should_be - 1.0).abs() < within, "{is:e} for {should_be:e}");
    }

    /// The expected values consider each read: its share of the limit, the code's tail, and eight
    /// other members.
    #[test]
    fn sums_are_those_of_each_read() {
        let bch = bch("");
        let (limit, mut all) = (3000.0, Served::default());
        for reads in [3000.0, 1500.0, 2222.0, 10.0] {
            all.add(Service { reads, limit, aged: 0.0 });
        }
        // Reads that were served before do not count.
        all.leave_out(Service { reads: 1500.0, limit, aged: 0.0 });
        let each = |of: &dyn Fn(f64) -> f64| -> f64 {
            let block = |reads: u32| {
                (1..=reads)
                    .map(|read| of(bch.tolerable() * (f64::from(read) - 0.5) / limit))
                    .sum::<f64>()
            };
            block(3000) + block(2222) + block(10)
        };
        let fails = |rate: f64| crate::error::tail::beyond(4200, 8, rate);
        let any = |fails: f64, of: i32| 1.0 - (1.0 - fails).powi(of);
        let expected = all.expected(&bch).unwrap();
        let bits = 5232.0 * 4096.0;
        close(expected.reads, 5232.0, 1e-12);
        close(expected.failed_reads, each(&|rate| any(fails(rate), 16)), 0.01);
        close(expected.uber_alone * bits, each(&fails), 0.01);
        close(expected.uber * bits, each(&|rate| fails(rate) * any(fails(rate), 128)), 0.01);
        close(
            expected.uber_at_most * bits,
            each(&|rate| fails(rate) * any(fails(bch.tolerable()), 128)),
            0.01,
        );
    }

    /// A few reads after many reads that do not count must lose the amount of reads at that dose.
    #[test]
    fn a_few_reads_lose_what_reads_lose_there() {
        let (bch, limit) = (bch(""), 3000.0);
        for before in [1300.0, 1311.0, 1322.0, 1333.0, 2900.0] {
            let mut all = Served::default();
            all.add(Service { reads: before + 3.0, limit, aged: 0.0 });
            all.leave_out(Service { reads: before, limit, aged: 0.0 });
            let rate = bch.tolerable() * (before + 1.5) / limit;
            let fails = crate::error::tail::beyond(4200, 8, rate);
            close(
                all.expected(&bch).unwrap().uber * 4096.0,
                fails * (1.0 - (1.0 - fails).powi(128)),
                0.03,
            );
        }
    }

    /// A read at the limit loses the amount of `bch.uber`, and so does each read beyond it.
    #[test]
    fn the_last_read_loses_what_the_target_allows() {
        for keys in ["", "spread_common = 0.1, spread_own = 0.2", "uber = 1e-12"] {
            let bch = bch(keys);
            let (mut before, mut after) = (Served::default(), Served::default());
            before.add(Service { reads: 5000.0, limit: 5000.0, aged: 0.0 });
            after.add(Service { reads: 6000.0, limit: 5000.0, aged: 0.0 });
            let bits = |served: &Served| {
                served.expected(&bch).map(|is| is.uber * is.reads * 4096.0).unwrap()
            };
            close((bits(&after) - bits(&before)) / 1000.0, bch.lost(), 1e-6);
            assert!(
                after.expected(&bch).unwrap().uber_at_most <= bch.lost() / 4096.0 * (1.0 + 1e-9),
                "no read loses more"
            );
        }
    }

    /// If age has used up half of a limit, the remaining reads lose as much as the second half of
    /// the reads of other data.
    #[test]
    fn age_takes_the_first_reads() {
        let bch = bch("combine = \"sum\"");
        let lost = |parts: &[(f64, f64)]| {
            let mut served = Served::default();
            for (reads, aged) in parts {
                served.add(Service { reads: *reads, limit: 1000.0, aged: *aged });
            }
            served.expected(&bch).map(|is| is.uber_alone * is.reads).unwrap()
        };
        close(lost(&[(500.0, 0.5)]) + lost(&[(500.0, 0.0)]), lost(&[(1000.0, 0.0)]), 1e-9);
    }
}
