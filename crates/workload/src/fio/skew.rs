//! Draws block numbers according to fio's option `random_distribution`, which is zipf, pareto,
//! normal or zoned.
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

use super::values::{self, Amount, KbBase};
use crate::synthetic::random::{Random, Rng, below};

/// Value of fio's option `random_distribution`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Distribution {
    Random,
    Zipf {
        theta: f64,
        center: Option<f64>,
    },
    Pareto {
        h: f64,
        center: Option<f64>,
    },
    /// Normal distribution of block numbers. Its deviation is a percentage of the number of blocks.
    Normal {
        deviation: f64,
        center: Option<f64>,
    },
    /// List of zones, in the order of their positions. Each zone has a percentage of the accesses,
    /// and a size in bytes or in percent of the blocks.
    Zoned(Vec<(u32, Amount)>),
}

/// Default parameters of fio's distributions.
const THETA: f64 = 1.1;
const H: f64 = 0.2;
const DEVIATION: f64 = 0.0;
/// Largest exponent of zipf. With a larger exponent, almost all accesses would go to the first
/// rank.
const MAX_THETA: f64 = 100.0;

impl Distribution {
    /// Returns whether popular blocks are scattered over the file. If so, reads, writes and trims
    /// must share the positions of popular blocks.
    pub(super) fn is_scattered(&self) -> bool {
        matches!(self, Self::Zipf { .. } | Self::Pareto { .. } | Self::Normal { .. })
    }

    pub(super) fn read(text: &str, base: KbBase) -> Result<Self, String> {
        let (word, numbers) =
            text.split_once(':').map_or((text, None), |(word, numbers)| (word, Some(numbers)));
        match word {
            "random" => Ok(Self::Random),
            "zipf" => {
                let (theta, center) = number_and_center(numbers, THETA)?;
                let possible = (0.0..=MAX_THETA).contains(&theta) && (theta - 1.0).abs() > 1e-9;
                let zipf = Self::Zipf { theta, center };
                possible.then_some(zipf).ok_or_else(|| {
                    "a theta from 0 to 100 other than 1 is expected, as in zipf:1.2".into()
                })
            }
            "pareto" => {
                let (h, center) = number_and_center(numbers, H)?;
                let pareto = Self::Pareto { h, center };
                (h > 0.0 && h < 1.0)
                    .then_some(pareto)
                    .ok_or_else(|| "a number between 0 and 1 is expected, as in pareto:0.2".into())
            }
            "zoned" => zones(numbers, |text| percent(text).map(Amount::Percent)),
            "zoned_abs" => zones(numbers, |text| values::bytes(text, base).map(Amount::Bytes)),
            "normal" => {
                let (deviation, center) = number_and_center(numbers, DEVIATION)?;
                let normal = Self::Normal { deviation, center };
                (0.0..=100.0)
                    .contains(&deviation)
                    .then_some(normal)
                    .ok_or_else(|| "a percentage is expected, as in normal:20".into())
            }
            _ => Err("random, zipf:THETA, pareto:H, normal:DEVIATION, zoned:ACCESSES/SIZE:... or \
                zoned_abs is expected"
                .into()),
        }
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

fn percent(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|p| *p <= 100)
        .ok_or_else(|| format!("{text} is not a whole percentage"))
}

/// Parses zones such as `60/10:30/20:10/70`. Each zone has a percentage of the accesses, then a
/// size. Zones without a size share the remaining blocks evenly.
fn zones(
    text: Option<&str>,
    size: impl Fn(&str) -> Result<Amount, String>,
) -> Result<Distribution, String> {
    const EXPECTED: &str = "zones are expected, each with its percentage of the accesses and its \
         size, as in zoned:60/10:30/20:10/70";
    let text = text.ok_or(EXPECTED)?;
    if text.contains(',') {
        return Err(
            "a single list of zones for all directions is expected; fio 3.33 does not read more \
             lists"
                .into(),
        );
    }
    let zones: Vec<_> = text
        .split(':')
        .map(|zone| zone.split_once('/').map(|(access, size)| (access.trim(), size.trim())))
        .collect();
    let zones: Vec<_> = zones.into_iter().collect::<Option<_>>().ok_or(EXPECTED)?;
    let accesses: Vec<u32> =
        zones.iter().map(|(access, _)| percent(access)).collect::<Result<_, _>>()?;
    let sum: u32 = accesses.iter().sum();
    if sum != 100 {
        return Err(format!("the percentages of the accesses add up to {sum}; 100 is expected"));
    }
    let blanks = zones.iter().filter(|(_, size)| size.is_empty()).count() as u32;
    let mut sizes = Vec::new();
    for (_, text) in &zones {
        sizes.push(if text.is_empty() { None } else { Some(size(text)?) });
    }
    let percents = sizes
        .iter()
        .flatten()
        .map(|s| if let Amount::Percent(p) = s { *p } else { 0 })
        .sum::<u32>();
    if percents > 100
        || (blanks > 0 && sizes.iter().flatten().any(|s| matches!(s, Amount::Bytes(_))))
    {
        return Err(format!(
            "the sizes of the zones add up to {percents} %; every zone needs a size, and at most \
             100 % in total are expected"
        ));
    }
    let blank = Amount::Percent((100 - percents) / blanks.max(1));
    Ok(Distribution::Zoned(
        accesses.into_iter().zip(sizes.into_iter().map(|s| s.unwrap_or(blank))).collect(),
    ))
}

/// Distribution from which block numbers of a file are drawn.
#[derive(Clone, Debug)]
pub(super) enum Skew {
    Zipf {
        zeta_n: f64,
        second: f64,
        eta: f64,
        alpha: f64,
        blocks: u64,
        shift: u64,
    },
    Pareto {
        power: f64,
        blocks: u64,
        shift: u64,
    },
    Normal {
        /// Width of the range, in blocks, from which a uniform random number is drawn and added to
        /// the mean.
        spread: f64,
        blocks: u64,
        shift: u64,
    },
    /// Zones. Each zone has the sum of the access percentages of all zones up to this one, the
    /// number of its first block, and its number of blocks.
    Zones(Vec<(u32, u64, u64)>),
}

/// Multiplier of Knuth's multiplicative hash in fio and Linux: -2^64 / golden ratio, as an odd
/// number.
const GOLDEN: u64 = 0x61c8_8646_80b5_83eb;
/// Number of uniform random numbers whose mean approximates a normal random number.
const UNIFORMS: u64 = 12;
/// Largest number of terms of the harmonic number that fio adds up.
const ZETA_TERMS: u64 = 10_000_000;

impl Skew {
    /// Makes the distribution over `blocks` blocks of `block_bytes` bytes. `blocks` is at least 1.
    /// Returns `None` for the uniform distribution.
    pub(super) fn new(
        distribution: &Distribution,
        blocks: u64,
        block_bytes: u64,
        random: &mut Random,
    ) -> Result<Option<Self>, String> {
        let mut shift = |center: Option<f64>| {
            center.map_or_else(|| below(random, blocks), |c| (blocks as f64 * c) as u64)
        };
        Ok(Some(match distribution {
            Distribution::Random => return Ok(None),
            Distribution::Zipf { theta, center } => {
                let (n, second) = (blocks as f64, 1.0 + 0.5f64.powf(*theta));
                let zeta_n = zeta(blocks.min(ZETA_TERMS), *theta);
                let eta = (1.0 - (2.0 / n).powf(1.0 - theta)) / (1.0 - second / zeta_n);
                Self::Zipf {
                    zeta_n,
                    second,
                    eta,
                    alpha: 1.0 / (1.0 - theta),
                    blocks,
                    shift: shift(*center),
                }
            }
            Distribution::Pareto { h, center } => {
                Self::Pareto { power: h.ln() / (1.0 - h).ln(), blocks, shift: shift(*center) }
            }
            Distribution::Normal { deviation, center } => {
                let spread = (blocks as f64 * deviation / 100.0).ceil().min((blocks / 2) as f64);
                // Normal draws are centred on the middle of the file. The first half of the shift
                // moves their centre to the start of the file, because block numbers wrap around at
                // the end of the file. Adding the requested centre then moves the draws to the
                // requested place, which is the middle of the file by default.
                let shift = (blocks as f64 * (center.unwrap_or(0.5) + 0.5)) as u64;
                Self::Normal { spread, blocks, shift }
            }
            Distribution::Zoned(zones) => Self::Zones(spans(zones, blocks, block_bytes)?),
        }))
    }

    /// Draws a block number.
    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Self::Zipf { zeta_n, second, eta, alpha, blocks, shift } => {
                let u = unit(random);
                let z = u * zeta_n;
                let rank = match z {
                    z if z < 1.0 => 0,
                    z if z < *second => 1,
                    _ => (*blocks as f64 * (eta * u - eta + 1.0).powf(*alpha)) as u64,
                };
                scattered(rank, *shift, *blocks)
            }
            Self::Pareto { power, blocks, shift } => {
                scattered(((blocks - 1) as f64 * unit(random).powf(*power)) as u64, *shift, *blocks)
            }
            Self::Normal { spread, blocks, shift } => {
                let sum: u64 = (0..UNIFORMS).map(|_| below(random, blocks + 1)).sum();
                let mean = sum.div_ceil(UNIFORMS) as f64;
                let mut by = ((unit(random) - 0.5) * spread).trunc();
                while mean + by < 0.0 || mean + by >= *blocks as f64 {
                    by = (by / 2.0).trunc();
                    if by == 0.0 {
                        break;
                    }
                }
                (scattered((mean + by) as u64, 0, *blocks) + shift) % blocks
            }
            Self::Zones(zones) => {
                let percent = below(random, 100) as u32;
                let (_, first, count) =
                    zones.iter().find(|z| percent < z.0).unwrap_or(&zones[zones.len() - 1]);
                first + below(random, *count)
            }
        }
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

fn spans(
    zones: &[(u32, Amount)],
    blocks: u64,
    block_bytes: u64,
) -> Result<Vec<(u32, u64, u64)>, String> {
    let (mut accesses, mut percent, mut bytes) = (0, 0u64, 0u64);
    let mut spans = Vec::new();
    for (access, size) in zones {
        accesses += access;
        let (first, end) = match size {
            Amount::Percent(p) => {
                let first = blocks * percent / 100;
                percent += u64::from(*p);
                (first, first + blocks * u64::from(*p) / 100)
            }
            Amount::Bytes(b) => {
                let first = bytes / block_bytes;
                bytes = bytes.saturating_add(*b);
                (first, bytes / block_bytes)
            }
        };
        if end > blocks {
            return Err(format!(
                "random_distribution: the zones end at {bytes} bytes, but the file has only {}",
                blocks * block_bytes
            ));
        }
        if first == end && *access > 0 {
            return Err(format!(
                "random_distribution: a zone of {access} % of the accesses is smaller than a block"
            ));
        }
        spans.push((accesses, first, (end - first).max(1)));
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    fn read(text: &str) -> Result<Distribution, String> {
        Distribution::read(text, KbBase::Binary)
    }

    fn counts(text: &str, blocks: u64) -> Vec<u32> {
        let mut random = Random::seed_from_u64(1);
        let skew = Skew::new(&read(text).unwrap(), blocks, 4096, &mut random).unwrap().unwrap();
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
    fn zones_get_their_shares() {
        let counts = counts("zoned:60/10:30/20:10/", 1000);
        let sum = |range: std::ops::Range<usize>| {
            (f64::from(counts[range].iter().sum::<u32>()) / 4000.0).round() as u32
        };
        assert_eq!([sum(0..100), sum(100..300), sum(300..1000)], [60, 30, 10]);
        let absolute = read("zoned_abs:60/400k:40/100k").unwrap();
        let mut random = Random::seed_from_u64(1);
        let new = |blocks: u64, random: &mut Random| Skew::new(&absolute, blocks, 4096, random);
        let Ok(Some(Skew::Zones(spans))) = new(125, &mut random) else { panic!("zones") };
        assert_eq!(spans, [(60, 0, 100), (100, 100, 25)]);
        assert!(new(124, &mut random).unwrap_err().contains("but the file has only 507904"));
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
            "zoned:60/10",
            "zoned:50/60:50/60",
            "normal:101",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert_eq!(read("zipf"), Ok(Distribution::Zipf { theta: 1.1, center: None }));
        assert_eq!(read("normal:20"), Ok(Distribution::Normal { deviation: 20.0, center: None }));
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
