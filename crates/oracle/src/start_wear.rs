//! Compares the wear of blocks at the start with `start.pec_spread`, `start.worn_share` and
//! `start.worn_pec`. A share of the blocks has `worn_pec` cycles, and the others have a random
//! number.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::{DriveConfig, StartConfig};

/// Largest distance of the mean of many draws from its expectation, in standard deviations. A
/// larger distance is an error.
const FAR: f64 = 7.0;

/// Wear of all reported blocks together.
#[derive(Clone, Debug)]
pub(crate) struct StartWear {
    start: StartConfig,
    blocks: u32,
    /// Number of reported blocks, number of those with `worn_pec` cycles, and sum of the others'
    /// cycles beyond the smallest number.
    told: u32,
    worn: u32,
    sum: f64,
}

impl StartWear {
    pub(crate) fn new(config: &DriveConfig, blocks: u32) -> Self {
        Self { start: config.start.clone(), blocks, told: 0, worn: 0, sum: 0.0 }
    }

    /// Notes that a block begins with this number of P/E cycles.
    pub(crate) fn begin(&mut self, block: BlockId, pec: u32) -> Result<(), String> {
        let StartConfig { pec: least, pec_spread: spread, worn_share, worn_pec, .. } = self.start;
        self.told += 1;
        if worn_share > 0.0 && pec == worn_pec {
            self.worn += 1;
        } else if (least..=least + spread).contains(&pec) {
            self.sum += f64::from(pec - least);
        } else {
            return Err(format!(
                "block {block} starts with {pec} P/E cycles; start.pec is {least}, \
                 start.pec_spread {spread}, start.worn_pec {worn_pec}"
            ));
        }
        Ok(())
    }

    /// Checks that all blocks have been reported, unless they begin equally worn.
    pub(crate) fn check(&self) -> Result<(), String> {
        let StartConfig { pec, pec_spread, worn_share, worn_pec, .. } = self.start;
        let of_share = (f64::from(self.blocks) * worn_share).round() as u32;
        let others = f64::from(self.told) - f64::from(self.worn);
        let spread = f64::from(pec_spread);
        // A block outside the share may have `worn_pec` cycles by chance.
        let is_apart = worn_share == 0.0 || worn_pec > pec + pec_spread;
        if self.told != if pec_spread == 0 && of_share == 0 { 0 } else { self.blocks } {
            return Err(format!(
                "the drive reports the wear of {} blocks before the run; it has {}",
                self.told, self.blocks
            ));
        }
        if is_apart && self.worn != if self.told == 0 { 0 } else { of_share }
            || self.worn < of_share
        {
            return Err(format!(
                "{} of {} blocks start with {worn_pec} P/E cycles; it must be {of_share}",
                self.worn, self.blocks
            ));
        }
        if others > 0.0
            && is_apart
            && (self.sum / others - spread / 2.0).abs()
                > FAR * (spread + 1.0) / (12.0 * others).sqrt()
        {
            return Err(format!(
                "blocks start with {pec} P/E cycles and {} more on average; half of {spread} is \
                 expected",
                self.sum / others
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports 400 blocks of 10 to 20 cycles, of which `share` have 50 cycles.
    fn of(share: f64) -> StartWear {
        let start = StartConfig {
            pec: 10,
            pec_spread: 10,
            worn_share: share,
            worn_pec: 50,
            ..StartConfig::default()
        };
        StartWear { start, blocks: 400, told: 0, worn: 0, sum: 0.0 }
    }

    fn told(share: f64, pecs: impl Fn(u32) -> u32) -> Result<(), String> {
        let mut wear = of(share);
        (0..400).for_each(|n| wear.begin(BlockId::new(n), pecs(n)).unwrap());
        wear.check()
    }

    #[test]
    fn blocks_begin_with_what_is_said() {
        assert_eq!(told(0.0, |n| 10 + n % 11), Ok(()));
        assert_eq!(told(0.1, |n| if n < 40 { 50 } else { 10 + n % 11 }), Ok(()));
        assert!(
            told(0.1, |n| if n < 80 { 50 } else { 10 + n % 11 })
                .unwrap_err()
                .starts_with("80 of 400 blocks start with 50")
        );
        assert!(told(0.1, |n| 10 + n % 11).is_err(), "none");
        assert!(told(0.0, |_| 10).unwrap_err().contains("0 more on average"));
        assert!(
            of(0.0)
                .begin(BlockId::new(3), 21)
                .unwrap_err()
                .starts_with("block 3 starts with 21 P/E cycles")
        );
        assert!(
            of(0.0).begin(BlockId::new(3), 50).is_err() && of(0.0).check().is_err(),
            "nothing was told"
        );
    }
}
