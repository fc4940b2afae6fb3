//! Randomly drawn retries (`error.noise`). The oracle checks that a drive's retries are possible.
//!
//! A read takes more than k retries if some codeword of its page has more wrong bits than level k
//! corrects. The oracle rejects a result with a probability below 1e-30.

use vpass_drive::config::DriveConfig;
use vpass_drive::error::tail::{ln_beyond, ln_within};

use crate::limits::Limits;

const NEVER: f64 = 1e-30;
/// Error rates at which the reads of one drive's pages may end in each way.
#[derive(Clone, Debug)]
pub(crate) struct Noise {
    /// Error rate of each level above which a read may fail, and the rate above which it always
    /// fails.
    may_fail: Vec<f64>,
    fails: Vec<f64>,
}

/// A read of a page: its first level, its retries, and the lowest and highest possible error rate
/// of its data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drawn {
    pub(crate) first: u8,
    pub(crate) retries: u8,
    /// Whether the read was decoded. `None` if the result shows nothing, because the program of the
    /// wordline over itself corrupted the page.
    pub(crate) good: Option<bool>,
    pub(crate) rates: (f64, f64),
}

impl Noise {
    /// Returns the probabilities of a drive; `None` if retries follow from the error rate.
    pub(crate) fn new(config: &DriveConfig, limits: &Limits) -> Option<Self> {
        if !config.error.noise {
            return None;
        }
        let (ladder, page) = (limits.budget().ladder(), config.geometry.page_size.0);
        let (bits, data_bits) = ladder.codeword()?;
        let codewords = (page * 8 / u64::from(data_bits)) as f64;
        let rate_where = |is_below: &dyn Fn(f64) -> bool| {
            let (mut low, mut high) = (0.0, 0.5);
            for _ in 0..55 {
                let middle = 0.5 * (low + high);
                if is_below(middle) { low = middle } else { high = middle }
            }
            high
        };
        let corrects: Vec<u32> =
            (0..=ladder.retries()).filter_map(|level| ladder.corrects(level)).collect();
        let may_fail =
            |t: &u32| rate_where(&|rate| codewords * ln_beyond(bits, *t, rate).exp() < NEVER);
        let fails =
            |t: &u32| rate_where(&|rate| codewords * ln_within(bits, *t, rate) > NEVER.ln());
        Some(Self {
            may_fail: corrects.iter().map(may_fail).collect(),
            fails: corrects.iter().map(fails).collect(),
        })
    }

    /// Returns whether a read of data with this error rate may be uncorrectable.
    pub(crate) fn may_be_lost(&self, rate: f64) -> bool {
        rate >= self.may_fail[self.may_fail.len() - 1]
    }

    /// Returns whether a read of data with this error rate must be uncorrectable.
    pub(crate) fn is_lost(&self, rate: f64) -> bool {
        rate > self.fails[self.fails.len() - 1]
    }

    /// Returns whether a read may have ended as it did.
    pub(crate) fn is_possible(&self, read: Drawn) -> bool {
        let (last, (low, high)) = (self.fails.len() - 1, read.rates);
        let level = usize::from(read.first) + usize::from(read.retries);
        let may_fail = level == last && self.may_be_lost(high);
        let may_work = level <= last
            && low <= self.fails[level]
            && (read.retries == 0 || high >= self.may_fail[level - 1]);
        match read.good {
            Some(true) => may_work,
            Some(false) => may_fail,
            None => may_work || may_fail,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise() -> Noise {
        let config: DriveConfig = toml::from_str(
            r#"
            geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4 }
            disturb = { model = "count", table = [{ pec = 0, limit = [1000.0] }] }
            error = { model = "powerlaw", e = 0.001, noise = true }
            ecc = { codeword = "512B", cap = [0.0085, 0.010625, 0.0133], retry_decode_us = [20, 20] }
            "#,
        )
        .unwrap();
        Noise::new(&config, &Limits::new(&config)).unwrap()
    }

    #[test]
    fn what_is_impossible_is_refused() {
        let noise = noise();
        let judged = |first, retries, good, rate| {
            noise.is_possible(Drawn { first, retries, good, rates: (rate, rate) })
        };
        let read = |first, retries, good, rate| judged(first, retries, Some(good), rate);
        assert!(read(0, 0, true, 0.001) && !read(0, 1, true, 0.001), "calm");
        assert!(read(0, 0, true, 0.0085) && read(0, 1, true, 0.0085) && !read(0, 0, true, 0.05));
        assert!(!read(0, 3, true, 0.0085), "there are two");
        assert!(
            !read(0, 2, false, 0.001) && read(0, 2, false, 0.0133) && !read(0, 1, false, 0.0133),
            "given up too early"
        );
        assert!(read(1, 0, true, 0.001) && read(1, 1, false, 0.0133) && !read(1, 1, true, 0.001));
        // A page that was corrupted in place fails to decode or holds wrong data. This shows
        // nothing about the draw.
        assert!(
            judged(0, 0, None, 0.001)
                && judged(0, 2, None, 0.0133)
                && !judged(0, 1, None, 0.001)
                && !judged(0, 1, None, 0.05)
        );
        assert!(noise.is_lost(0.1) && !noise.is_lost(0.0133) && !noise.may_be_lost(0.001));
    }
}
