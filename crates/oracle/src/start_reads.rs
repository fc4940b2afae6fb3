//! Reads from before the run, against `start.reads`: a number for each block, drawn evenly up to that, and spread evenly over what is programmed
//! of the block.

use vpass_core::base::units::BlockId;
use vpass_core::config::DriveConfig;

use crate::endurance::COUNTED_UNIT;

/// Standard deviations by which the mean of many draws may lie off: chance does not go so far.
const FAR: f64 = 7.0;

/// What blocks have served, all together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartReads {
    most: u32,
    wordlines_per_block: u32,
    blocks: u32,
    /// Sum of what whole blocks would have served, in reads.
    sum: f64,
}

impl StartReads {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self { most: config.start.reads, wordlines_per_block: config.geometry.wordlines_per_block, blocks: 0, sum: 0.0 }
    }

    /// A block, of which the first wordlines are programmed, has served these doses, in quarters, from its first wordline on.
    pub(crate) fn serve(&mut self, block: BlockId, doses: &[u32]) -> Result<(), String> {
        let (Some(least), Some(most)) = (doses.iter().min(), doses.iter().max()) else { return Ok(()) };
        let all = f64::from(self.wordlines_per_block);
        let each = f64::from(doses.iter().sum::<u32>()) / COUNTED_UNIT as f64 / doses.len() as f64;
        (self.blocks, self.sum) = (self.blocks + 1, self.sum + each * all);
        // A read that does not divide goes to one wordline of several.
        let too_many = doses.len() as f64 * f64::from(self.most) / all + 1.0;
        if u64::from(most - least) > COUNTED_UNIT || each * doses.len() as f64 > too_many {
            let (units, programmed) = (COUNTED_UNIT as f64, doses.len());
            return Err(format!(
                "block {block} has served {} to {} reads of each of its {programmed} wordlines before the run; start.reads is {}",
                f64::from(*least) / units,
                f64::from(*most) / units,
                self.most
            ));
        }
        Ok(())
    }

    /// All blocks have been told of.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (n, most) = (f64::from(self.blocks), f64::from(self.most));
        if self.blocks == 0 {
            return Ok(());
        }
        // One that does not divide may be counted for a block written in part, or not.
        let (mean, off) = (self.sum / n, FAR * (most + 1.0) / (12.0 * n).sqrt() + f64::from(self.wordlines_per_block));
        if (mean - most / 2.0).abs() <= off {
            return Ok(());
        }
        Err(format!("blocks have served {mean:.1} reads in the mean before the run; start.reads = {most} means half of that"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(most: u32) -> StartReads {
        StartReads { most, wordlines_per_block: 4, blocks: 0, sum: 0.0 }
    }

    #[test]
    fn reads_are_spread_evenly_up_to_the_most() {
        assert_eq!(of(10).serve(BlockId::new(0), &[8, 12, 8, 12]), Ok(()), "10 reads of four wordlines");
        assert_eq!(of(10).serve(BlockId::new(0), &[8, 12]), Ok(()), "5 of the 10 that a whole block would have served");
        assert_eq!(
            of(10).serve(BlockId::new(7), &[4, 12, 8, 8]),
            Err("block 7 has served 1 to 3 reads of each of its 4 wordlines before the run; start.reads is 10".into())
        );
        assert!(of(10).serve(BlockId::new(0), &[12, 12, 12, 12]).is_err(), "12 reads");
        assert!(of(10).serve(BlockId::new(0), &[20]).is_err(), "5 reads of a quarter of it");
    }

    #[test]
    fn the_mean_of_many_is_half() {
        let mean = |each: u32| {
            let mut reads = of(1000);
            BlockId::range(0..400).for_each(|block| reads.serve(block, &[each * 4; 4]).unwrap());
            reads.check()
        };
        assert_eq!(mean(125), Ok(()));
        assert!(mean(60).is_err() && mean(200).is_err());
        assert_eq!(of(1000).check(), Ok(()), "nothing was told");
    }
}
