//! Draws block numbers according to fio's option `random_distribution`, which is zipf, pareto or
//! normal.
//!
//! The zipf distribution of fio differs from the exact law of `synthetic::zipf`:
//! - fio uses the approximation of Gray et al., "Quickly generating billion-record synthetic
//!   databases", SIGMOD 1994, section 3.2. With this approximation, the third most popular block
//!   gets 20 % too many accesses.
//! - fio adds up at most 10^7 terms of the harmonic number.
//! - fio scatters ranks by a multiplication modulo the number of blocks. If the number of blocks is
//!   not a power of two, several ranks may get the same block. For example, 400,000 reads of 25,600
//!   blocks under zipf:1.1 touch 8,200 blocks in fio. Without such collisions, the reads would
//!   touch 20,900 blocks.
//!
//! Reads disturb a drive more if they go to fewer blocks. For this reason, this file follows fio
//! and also reproduces the collisions. A pareto draw is the number `(n - 1) u^(ln h / ln (1 - h))`,
//! scattered in the same way. Here n is the number of blocks, u is a random number from 0 to 1, and
//! h is the parameter. A normal draw is the mean of twelve uniform random numbers, plus a uniform
//! random number from a range as wide as the deviation. Normal draws are scattered too.

use crate::synthetic::random::{Random, Rng, below};

/// Value of fio's option `random_distribution`, unless it is `random`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Distribution {
    law: Law,
    /// Exponent of zipf, parameter of pareto, or deviation of normal as a percentage of the number
    /// of blocks.
    number: f64,
    center: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Zipf,
    Pareto,
    Normal,
}

/// Laws with their names, fio's default parameters, and the expected parameters.
const LAWS: [(&str, Law, f64, &str); 3] = [
    ("zipf", Law::Zipf, 1.1, "a theta from 0 to 100 other than 1 is expected, as in zipf:1.2"),
    ("pareto", Law::Pareto, 0.2, "a number between 0 and 1 is expected, as in pareto:0.2"),
    ("normal", Law::Normal, 0.0, "a percentage is expected, as in normal:20"),
];
/// Largest exponent of zipf. With a larger exponent, almost all accesses would go to the first
/// rank.
const MAX_THETA: f64 = 100.0;

impl Distribution {
    /// Parses the value of the option. `None` is the uniform distribution.
    pub(super) fn read(text: &str) -> Result<Option<Self>, String> {
        let (word, numbers) =
            text.split_once(':').map_or((text, None), |(word, numbers)| (word, Some(numbers)));
        let Some((_, law, default, expected)) = LAWS.into_iter().find(|(name, ..)| *name == word)
        else {
            return match word {
                "random" => Ok(None),
                "zoned" | "zoned_abs" => Err(format!(
                    "{word} is not supported; write a job for each zone, with its offset and size"
                )),
                _ => Err("random, zipf:THETA, pareto:H or normal:DEVIATION is expected".into()),
            };
        };
        let (number, center) = number_and_center(numbers, default)?;
        let is_possible = match law {
            Law::Zipf => (0.0..=MAX_THETA).contains(&number) && (number - 1.0).abs() > 1e-9,
            Law::Pareto => number > 0.0 && number < 1.0,
            Law::Normal => (0.0..=100.0).contains(&number),
        };
        if is_possible { Ok(Some(Self { law, number, center })) } else { Err(expected.into()) }
    }

    /// Returns the value in fio's notation.
    pub(super) fn text(self) -> String {
        let center = self.center.map_or_else(String::new, |center| format!(":{center}"));
        format!("{}:{}{center}", LAWS[self.law as usize].0, self.number)
    }
}

fn number_and_center(numbers: Option<&str>, default: f64) -> Result<(f64, Option<f64>), String> {
    let Some(numbers) = numbers else { return Ok((default, None)) };
    let (number, center) = numbers.split_once(':').map_or((numbers, None), |(a, b)| (a, Some(b)));
    let read =
        |text: &str| text.trim().parse::<f64>().map_err(|_| format!("{text} is not a number"));
    let center = center.map(read).transpose()?;
    if center.is_some_and(|c| !(0.0..=1.0).contains(&c)) {
        return Err("a center from 0 to 1 is expected".into());
    }
    Ok((read(number)?, center))
}

/// Distribution from which block numbers of a file are drawn.
#[derive(Clone, Debug)]
pub(super) struct Skew {
    blocks: u64,
    shift: u64,
    law: Draws,
}

/// Numbers from which a law calculates its draws.
#[derive(Clone, Debug)]
enum Draws {
    Zipf {
        zeta_n: f64,
        second: f64,
        eta: f64,
        alpha: f64,
    },
    Pareto {
        power: f64,
    },
    Normal {
        /// Width of the range, in blocks, from which a uniform random number is drawn and added to
        /// the mean.
        spread: f64,
    },
}

/// Multiplier of Knuth's multiplicative hash in fio and Linux: -2^64 / golden ratio, as an odd
/// number.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
/// Number of uniform random numbers whose mean approximates a normal random number.
const UNIFORMS: u64 = 12;
/// Largest number of terms of the harmonic number that fio adds up.
const ZETA_TERMS: u64 = 10_000_000;

impl Skew {
    /// Makes the distribution over `blocks` blocks, which is at least 1.
    pub(super) fn new(distribution: Distribution, blocks: u64, random: &mut Random) -> Self {
        let Distribution { law, number, center } = distribution;
        let shift = match (law, center) {
            // Normal draws are centred on the middle of the file. The first half of the shift moves
            // their centre to the start of the file, because block numbers wrap around at the end
            // of the file. Adding the requested centre then moves the draws to the requested place,
            // which is the middle of the file by default.
            (Law::Normal, center) => (blocks as f64 * (center.unwrap_or(0.5) + 0.5)) as u64,
            (_, Some(center)) => (blocks as f64 * center) as u64,
            (_, None) => below(random, blocks),
        };
        let law = match law {
            Law::Zipf => {
                let (n, second) = (blocks as f64, 1.0 + 0.5f64.powf(number));
                let zeta_n = zeta(blocks.min(ZETA_TERMS), number);
                let eta = (1.0 - (2.0 / n).powf(1.0 - number)) / (1.0 - second / zeta_n);
                Draws::Zipf { zeta_n, second, eta, alpha: 1.0 / (1.0 - number) }
            }
            Law::Pareto => Draws::Pareto { power: number.ln() / (1.0 - number).ln() },
            Law::Normal => {
                let spread = (blocks as f64 * number / 100.0).ceil().min((blocks / 2) as f64);
                Draws::Normal { spread }
            }
        };
        Self { blocks, shift, law }
    }

    /// Draws a block number.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let Self { blocks, shift, .. } = *self;
        let rank = match self.law {
            Draws::Zipf { zeta_n, second, eta, alpha } => {
                let u = unit(random);
                match u * zeta_n {
                    z if z < 1.0 => 0,
                    z if z < second => 1,
                    _ => (blocks as f64 * (eta * u - eta + 1.0).powf(alpha)) as u64,
                }
            }
            Draws::Pareto { power } => ((blocks - 1) as f64 * unit(random).powf(power)) as u64,
            Draws::Normal { spread } => {
                let sum: u64 = (0..UNIFORMS).map(|_| below(random, blocks + 1)).sum();
                let mean = sum.div_ceil(UNIFORMS) as f64;
                let mut by = ((unit(random) - 0.5) * spread).trunc();
                while mean + by < 0.0 || mean + by >= blocks as f64 {
                    by = (by / 2.0).trunc();
                    if by == 0.0 {
                        break;
                    }
                }
                return (scattered((mean + by) as u64, 0, blocks) + shift) % blocks;
            }
        };
        scattered(rank, shift, blocks)
    }
}

fn scattered(rank: u64, shift: u64, blocks: u64) -> u64 {
    rank.wrapping_mul(GOLDEN).wrapping_add(shift) % blocks
}

/// Draws a number of at least 0 and below 1.
fn unit(random: &mut Random) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the sum of k^-theta for k from 1 to `terms`. The first thousand terms are added up, and
/// the Euler-Maclaurin formula gives the sum of the other terms. The relative error is below 10^-9.
fn zeta(terms: u64, theta: f64) -> f64 {
    let f = |k: f64| k.powf(-theta);
    let head = terms.min(1000);
    let sum: f64 = (1..=head).map(|k| f(k as f64)).sum();
    if terms == head {
        return sum;
    }
    let (a, b) = (head as f64, terms as f64);
    let integral = (b.powf(1.0 - theta) - a.powf(1.0 - theta)) / (1.0 - theta);
    sum + integral + (f(b) - f(a)) / 2.0 + theta / 12.0 * (f(a) / a - f(b) / b)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn counts(text: &str, blocks: u64) -> Vec<u32> {
        let mut random = Random::seed_from_u64(1);
        let distribution = Distribution::read(text).unwrap().unwrap();
        let skew = Skew::new(distribution, blocks, &mut random);
        let mut counts = vec![0; blocks as usize];
        (0..400_000).for_each(|_| counts[skew.draw(&mut random) as usize] += 1);
        counts
    }

    #[test]
    fn the_hottest_blocks_are_those_of_fio() {
        // Reads of the six hottest blocks, measured with fio 3.33: 400,000 reads of 65,536 blocks
        // under zipf:1.2:0.
        let counts = counts("zipf:1.2:0", 65_536);
        for (block, n) in [
            (0, 79_318),
            (33_771, 34_513),
            (2_006, 25_747),
            (35_777, 16_787),
            (4_012, 12_365),
            (37_783, 9_704),
        ] {
            let (got, n) = (f64::from(counts[block]), f64::from(n));
            assert!((got - n).abs() < 5.0 * (2.0 * n).sqrt(), "block {block}: {got}, fio {n}");
        }
    }

    #[test]
    fn the_scatter_collides_as_in_fio() {
        // Measured with fio 3.33: 400,000 reads under zipf:1.1:0 over 25,600 blocks touch 8,167
        // blocks.
        let touched = counts("zipf:1.1:0", 25_600).iter().filter(|n| **n > 0).count();
        assert!((8_000..8_350).contains(&touched), "{touched}");
        // Measured with fio 3.33: reads under pareto over 65,536 blocks touch 52,050 blocks. The
        // first block is read 85,953 times.
        let counts = counts("pareto:0.2:0", 65_536);
        let touched = counts.iter().filter(|n| **n > 0).count();
        assert!(
            (51_800..52_300).contains(&touched) && (85_000..87_000).contains(&counts[0]),
            "{touched} {}",
            counts[0]
        );
    }

    #[test]
    fn invalid_distributions_are_refused() {
        for text in [
            "zipf:1",
            "zipf:x",
            "zipf:-1",
            "zipf:nan",
            "zipf:1.2:2",
            "pareto:1",
            "pareto:0",
            "zoned",
            "normal:101",
        ] {
            assert!(Distribution::read(text).is_err(), "{text}");
        }
        let text = |value: &str| Distribution::read(value).unwrap().map(Distribution::text);
        let values = ["random", "zipf", "normal:20", "pareto:0.2:0.5"].map(text);
        assert_eq!(
            values,
            [None, Some("zipf:1.1"), Some("normal:20"), Some("pareto:0.2:0.5")]
                .map(|text| text.map(str::to_owned))
        );
    }

    #[test]
    fn the_harmonic_number_is_exact() {
        let slow: f64 = (1..=200_000).map(|k| f64::from(k).powf(-0.9)).sum();
        assert!((zeta(200_000, 0.9) / slow - 1.0).abs() < 1e-9);
        assert!((zeta(3, 2.0) - (1.0 + 0.25 + 1.0 / 9.0)).abs() < 1e-12);
    }

    #[test]
    fn few_blocks_are_drawn_too() {
        for blocks in 1..5 {
            for text in [
                "zipf:0",
                "zipf:0.5",
                "zipf:3",
                "pareto:0.01",
                "pareto:0.99",
                "normal:0",
                "normal:100",
            ] {
                counts(text, blocks);
            }
        }
    }
}
