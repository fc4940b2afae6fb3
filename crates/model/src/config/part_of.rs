//! The whole drive from which a sample is taken, and numbers of the sample that follow from it.

use crate::base::streams::width;

/// Larger drive, of which the sample holds one page in N.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// N: pages of the larger drive per page of the sample.
    pub of: u32,
    /// Blocks of the larger drive.
    pub blocks: u32,
    /// Host pages of the larger drive.
    pub host_pages: u32,
    /// Dies of the larger drive.
    pub dies: u32,
}

impl PartOf {
    /// Returns the sample's share of the larger drive's blocks.
    pub fn share(&self) -> f64 {
        f64::from(self.blocks) / f64::from(self.of)
    }

    /// Returns the spare blocks of the larger drive.
    pub fn spare_blocks(&self, pages_per_block: u32) -> u32 {
        self.blocks.saturating_sub(self.host_pages.div_ceil(pages_per_block))
    }

    /// Returns the blocks that each stream of the larger drive keeps open, for a number of kinds of
    /// data and of budgets.
    pub fn width(&self, pages_per_block: u32, kinds: u32, budgets: u32) -> u32 {
        width(self.spare_blocks(pages_per_block), self.dies, kinds, budgets)
    }

    /// Returns the P/E cycles that erase number `erase` of a sample of `blocks` blocks counts as.
    /// The first erase has number 1.
    ///
    /// A sample has more blocks than its share, so each wears less. Some erases count as two cycles
    /// or more, so that the mean block wears like that of the larger drive.
    ///
    /// ```text
    /// 189 blocks for a share of 180: 1.05 cycles an erase, so that each twentieth counts as two
    /// ```
    pub fn cycles_of(&self, erase: u64, blocks: u32) -> u32 {
        let cycles = |erases: u64| {
            u128::from(erases) * u128::from(blocks) * u128::from(self.of) / u128::from(self.blocks)
        };
        (cycles(erase) - cycles(erase - 1)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erases_of_a_sample_add_up_to_those_of_its_share() {
        let part = PartOf { of: 4, blocks: 720, host_pages: 64_000, dies: 4 };
        assert!((part.share() - 180.0).abs() < 1e-9 && part.spare_blocks(100) == 80);
        let cycles: Vec<u32> = (1..=40).map(|erase| part.cycles_of(erase, 189)).collect();
        assert_eq!(cycles.iter().sum::<u32>(), 42);
        assert_eq!((1..=40).filter(|at| cycles[at - 1] == 2).collect::<Vec<_>>(), [20, 40]);
        assert!(
            (1..=40).all(|erase| part.cycles_of(erase, 180) == 1),
            "no block more, no cycle more"
        );
    }
}
