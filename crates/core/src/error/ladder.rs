//! The ladder of retries: which error rates each level decodes, how many wrong bits that is, and
//! how long it takes.
//!
//! Level k corrects `t_k` bits of a codeword, and `cap_k` is the RBER at which more than that are
//! wrong with probability `ecc.target` (`ecc.last_target` at the last level). A cap of `t_k / n`
//! would fail half of the codewords at the limit. Either list may be given:
//!
//! ```text
//! given   ecc.corrects   cap_k follows, exactly
//!         ecc.cap        the caps are taken as they are; with ecc.codeword, t_k is the fewest bits with which level k keeps its target there
//! ```

use crate::base::units::{Ns, us};
use crate::config::{ConfigError, EccConfig, require};

use super::tail::{beyond, bits_for, rate_at};

/// What a read of a page, or one of its retries, takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadTime {
    /// Sensing, on the die.
    pub sense: Ns,
    /// The way to the controller, on the channel.
    pub transfer: Ns,
    /// Decoding.
    pub decode: Ns,
}

/// A retry; what is none is as in the page's first read.
#[derive(Clone, Copy, Debug)]
struct Retry {
    sense: Option<Ns>,
    transfer: Option<Ns>,
    decode: Ns,
}

/// A codeword, and how many wrong bits of it each level corrects.
#[derive(Clone, Debug)]
struct Code {
    bits: u32,
    data_bits: u32,
    corrects: Vec<u32>,
}

/// The levels, 0 to K.
#[derive(Clone, Debug)]
pub struct Ladder {
    cap: Vec<f64>,
    code: Option<Code>,
    retries: Vec<Retry>,
}

impl Ladder {
    /// The ladder of a checked table; none where it has no levels.
    ///
    /// # Errors
    /// Caps that follow and do not rise.
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

    /// How many retries there are (K).
    pub fn retries(&self) -> usize {
        self.cap.len() - 1
    }

    /// The RBER up to which a level decodes.
    pub fn cap(&self, level: usize) -> f64 {
        self.cap[level]
    }

    /// The retries that a page of this RBER needs; none beyond the last cap, where it is
    /// uncorrectable.
    pub fn retries_for(&self, rber: f64) -> Option<usize> {
        self.cap.iter().position(|cap| rber <= *cap)
    }

    /// Wrong bits of a codeword that a level corrects; none where no codeword is known.
    pub fn corrects(&self, level: usize) -> Option<u32> {
        self.code.as_ref().map(|code| code.corrects[level])
    }

    /// Bits of a codeword, all of them and those of data; none where no codeword is known.
    pub fn codeword(&self) -> Option<(u32, u32)> {
        self.code.as_ref().map(|code| (code.bits, code.data_bits))
    }

    /// The share of codewords of this RBER that a level fails to decode; none where no codeword is
    /// known.
    pub fn fails(&self, level: usize, rber: f64) -> Option<f64> {
        self.code.as_ref().map(|code| beyond(code.bits, code.corrects[level], rber))
    }

    /// Codewords lost by each data bit that is read (UBER) of pages of this RBER, all retries made;
    /// none where no codeword is known.
    pub fn uber(&self, rber: f64) -> Option<f64> {
        let code = self.code.as_ref()?;
        Some(beyond(code.bits, code.corrects[self.retries()], rber) / f64::from(code.data_bits))
    }

    /// What a level of reading a page takes, from what its first read takes.
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

/// The last level has a target of its own, which may bring its cap below the one before it.
fn check_rise(config: &EccConfig, cap: &[f64]) -> Result<(), ConfigError> {
    require(cap.windows(2).all(|w| w[0] < w[1]), || {
        let list = cap.iter().map(|cap| format!("{cap:.3e}")).collect::<Vec<_>>().join(", ");
        format!(
            "ecc.corrects = {:?}: with ecc.target = {:e} and, for the last level, ecc.last_target \
             = {:e}, the error rates of the levels do not rise: {list}; the last level must \
             correct more",
            config.corrects, config.target, config.last_target
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Bytes;

    /// Four retries, each for a quarter more errors than the level before.
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
    fn a_rate_needs_as_many_retries_as_its_caps_say() {
        let l = ladder(&config());
        let retries = [0.0, 0.0085, 0.00851, 0.0106, 0.0107, 0.0166, 0.0207, 0.0208]
            .map(|rber| l.retries_for(rber));
        assert_eq!(retries, [Some(0), Some(0), Some(1), Some(1), Some(2), Some(3), Some(4), None]);
        assert_eq!(l.retries(), 4);
        assert!(Ladder::of(&EccConfig::default()).unwrap().is_none());
    }

    #[test]
    fn bits_follow_from_caps_and_caps_from_bits() {
        let l = ladder(&config());
        let bits: Vec<u32> = (0..5).map(|level| l.corrects(level).unwrap()).collect();
        // 36,864 bits at 0.0085 have 313.3 wrong ones, with a deviation of 17.6: a thousandth is
        // 3.1 of them above. 1e-16 is 8.5 above.
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

    /// BCH(4200, 4096) of da-raid5-2013: 8 bits, and a yield of 99.9 % up to 5.84e-4.
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
        assert_eq!((l.retries(), l.retries_for(5.8e-4), l.retries_for(5.9e-4)), (0, Some(0), None));
    }

    #[test]
    fn a_last_level_that_is_held_to_more_must_correct_more() {
        let error = Ladder::of(&EccConfig { corrects: vec![369, 400], cap: vec![], ..config() })
            .unwrap_err()
            .0;
        assert!(
            error.starts_with("ecc.corrects = [369, 400]") && error.contains("must correct more"),
            "{error}"
        );
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
