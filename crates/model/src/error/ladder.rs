//! Ladder of retries: for each level, the error rates that it decodes, the number of wrong bits
//! that it corrects, and its time.
//!
//! Level k corrects `t_k` bits of a codeword. `cap_k` is the RBER at which more than `t_k` bits are
//! wrong with probability `ecc.target` (`ecc.last_target` at the last level). With a cap of `t_k /
//! n`, half of the codewords would fail at the limit. Either list may be given:
//!
//! ```text
//! given   ecc.corrects   cap_k follows, exactly
//!         ecc.cap        the caps are taken as they are; with ecc.codeword, t_k is the fewest bits with which level k keeps its target there
//! ```

use crate::base::units::{Ns, us};
use crate::config::{ConfigError, EccConfig, require};

use super::tail::{beyond, bits_for, rate_at};

/// Times of a read of a page, or of one of its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadTime {
    /// Sensing time on the die.
    pub sense: Ns,
    /// Transfer time on the channel to the controller.
    pub transfer: Ns,
    /// Decoding time.
    pub decode: Ns,
}

/// Times of a retry. A time of `None` is the time of the page's first read.
#[derive(Clone, Copy, Debug)]
struct Retry {
    sense: Option<Ns>,
    transfer: Option<Ns>,
    decode: Ns,
}

/// Codeword, and number of wrong bits that each level corrects.
#[derive(Clone, Debug)]
struct Code {
    bits: u32,
    data_bits: u32,
    corrects: Vec<u32>,
}

/// Levels 0 to K.
#[derive(Clone, Debug)]
pub struct Ladder {
    cap: Vec<f64>,
    code: Option<Code>,
    retries: Vec<Retry>,
}

impl Ladder {
    /// Returns the ladder of a checked table; `None` without levels.
    ///
    /// # Errors
    /// Reports computed caps that do not rise.
    pub fn of(config: &EccConfig) -> Result<Option<Self>, ConfigError> {
        let levels = config.levels();
        if levels == 0 {
            return Ok(None);
        }
        let target =
            |level: usize| if level + 1 == levels { config.last_target } else { config.target };
        let code = |bits: u32| {
            let follows = config
                .cap
                .iter()
                .enumerate()
                .map(|(level, cap)| bits_for(bits, *cap, target(level)));
            let corrects = if config.corrects.is_empty() {
                follows.collect()
            } else {
                config.corrects.clone()
            };
            Code {
                bits,
                data_bits: config.codeword.map_or(bits, |data| data.0 as u32 * 8),
                corrects,
            }
        };
        let code = config.codeword_bits().map(code);
        let cap = match &code {
            Some(code) if config.cap.is_empty() => code
                .corrects
                .iter()
                .enumerate()
                .map(|(level, t)| rate_at(code.bits, *t, target(level)))
                .collect(),
            _ => config.cap.clone(),
        };
        check_rise(config, &cap)?;
        Ok(Some(Self { cap, code, retries: retries(config) }))
    }

    /// Returns the number of retries (K).
    pub fn retries(&self) -> usize {
        self.cap.len() - 1
    }

    /// Returns the RBER up to which a level decodes.
    pub fn cap(&self, level: usize) -> f64 {
        self.cap[level]
    }

    /// Returns the number of wrong bits of a codeword that a level corrects; `None` without a known
    /// codeword.
    pub fn corrects(&self, level: usize) -> Option<u32> {
        self.code.as_ref().map(|code| code.corrects[level])
    }

    /// Returns the number of bits and of data bits of a codeword; `None` without a known codeword.
    pub fn codeword(&self) -> Option<(u32, u32)> {
        self.code.as_ref().map(|code| (code.bits, code.data_bits))
    }

    /// Returns the share of codewords at this RBER that a level fails to decode; `None` without a
    /// known codeword.
    pub fn fails(&self, level: usize, rber: f64) -> Option<f64> {
        self.code.as_ref().map(|code| beyond(code.bits, code.corrects[level], rber))
    }

    /// Returns the number of lost codewords per data bit read (UBER) for pages at this RBER, after
    /// all retries; `None` without a known codeword.
    pub fn uber(&self, rber: f64) -> Option<f64> {
        let code = self.code.as_ref()?;
        Some(beyond(code.bits, code.corrects[self.retries()], rber) / f64::from(code.data_bits))
    }

    /// Returns the times of a level for a page, from the times of its first read.
    pub fn time(&self, level: usize, first: ReadTime) -> ReadTime {
        let Some(retry) = level.checked_sub(1).map(|k| self.retries[k]) else { return first };
        ReadTime {
            sense: retry.sense.unwrap_or(first.sense),
            transfer: retry.transfer.unwrap_or(first.transfer),
            decode: retry.decode,
        }
    }
}

fn retries(config: &EccConfig) -> Vec<Retry> {
    let of = |list: &[f64], k: usize| list.get(k).map(|time| us(*time));
    let decode = config.retry_decode_us.iter().enumerate();
    decode
        .map(|(k, time)| Retry {
            sense: of(&config.retry_sense_us, k),
            transfer: of(&config.retry_transfer_us, k),
            decode: us(*time),
        })
        .collect()
}

/// Checks that caps rise. The last level has its own target, which may bring its cap below the
/// previous cap.
fn check_rise(config: &EccConfig, cap: &[f64]) -> Result<(), ConfigError> {
    require(cap.windows(2).all(|w| w[0] < w[1]), || {
        let list = cap.iter().map(|cap| format!("{cap:.3e}")).collect::<Vec<_>>().join(", ");
        format!(
            "ecc.corrects = {:?}: with ecc.target = {:e} and, for the last level, ecc.last_target \
             = {:e}, the error rates of the levels do not rise: {list}; the last level must \
             correct more bits",
            config.corrects, config.target, config.last_target
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Bytes;

    /// Returns four retries. Each handles a quarter more errors than the level before.
    fn config() -> EccConfig {
        let cap = (0..5).map(|k| 0.0085 * 1.25f64.powi(k)).collect();
        EccConfig {
            codeword: Some(Bytes(4096)),
            cap,
            retry_decode_us: vec![20.0; 4],
            ..EccConfig::default()
        }
    }

    fn ladder(config: &EccConfig) -> Ladder {
        Ladder::of(config).unwrap().unwrap()
    }

    #[test]
    fn a_ladder_has_the_caps_of_its_configuration() {
        let l = ladder(&config());
        let caps = [0, 1, 2, 3, 4].map(|level| (l.cap(level) * 1e4) as u32);
        assert_eq!(caps, [85, 106, 132, 166, 207]);
        assert_eq!(l.retries(), 4);
        assert!(Ladder::of(&EccConfig::default()).unwrap().is_none());
    }

    #[test]
    fn bits_follow_from_caps_and_caps_from_bits() {
        let l = ladder(&config());
        let bits: Vec<u32> = (0..5).map(|level| l.corrects(level).unwrap()).collect();
        // Of 36,864 bits at 0.0085, 313.3 are wrong, with a standard deviation of 17.6. A
        // probability of one thousandth is 3.1 deviations above the mean, and 1e-16 is 8.5
        // deviations above it.
        assert_eq!(bits[0], 369);
        assert!(bits[4] > 990 && bits[4] < 1010, "{bits:?}");
        let back = ladder(&EccConfig { corrects: bits, cap: vec![], ..config() });
        for level in 0..5 {
            let (given, follows) = (l.cap(level), back.cap(level));
            assert!(
                follows >= given && follows < given * 1.003,
                "level {level}: {given} {follows}"
            );
        }
        assert!((back.fails(0, back.cap(0)).unwrap() / 1e-3 - 1.0).abs() < 1e-8);
        assert!((back.fails(4, back.cap(4)).unwrap() / 1e-16 - 1.0).abs() < 1e-8);
        assert!((back.uber(back.cap(4)).unwrap() / (1e-16 / 32768.0) - 1.0).abs() < 1e-8);
    }

    /// BCH(4200, 4096) of da-raid5-2013 corrects 8 bits. Its yield is 99.9 % up to 5.84e-4.
    #[test]
    fn a_code_without_retries_has_one_cap() {
        let bch = EccConfig {
            codeword: Some(Bytes(512)),
            code_rate: 4096.0 / 4200.0,
            corrects: vec![8],
            last_target: 1e-3,
            ..EccConfig::default()
        };
        let l = ladder(&bch);
        assert!((l.cap(0) - 5.84e-4).abs() < 5e-7, "{}", l.cap(0));
        assert_eq!(l.retries(), 0);
    }

    #[test]
    fn a_retry_takes_what_the_first_read_takes_where_nothing_else_is_said() {
        let first = ReadTime { sense: 40_000, transfer: 6_827, decode: 4_000 };
        assert_eq!(ladder(&config()).time(0, first), first);
        assert_eq!(ladder(&config()).time(4, first), ReadTime { decode: 20_000, ..first });
        let slow = EccConfig {
            retry_sense_us: vec![60.0, 80.0, 120.0, 120.5],
            retry_transfer_us: vec![1.0; 4],
            ..config()
        };
        assert_eq!(
            ladder(&slow).time(4, first),
            ReadTime { sense: 120_500, transfer: 1000, decode: 20_000 }
        );
    }
}
