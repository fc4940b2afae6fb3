//! Compares the reads from before the run with `start.reads`. Each block has a random number of
//! reads up to that, spread evenly over its programmed wordlines. First, the reads of preparation
//! are subtracted, each multiplied by its largest weight for a neighbour.

use vpass_drive::base::units::BlockId;
use vpass_drive::config::DriveConfig;

use crate::endurance::COUNTED_UNIT;

/// Largest distance of the mean of many draws from its expectation, in standard deviations. A
/// larger distance is an error.
const FAR: f64 = 7.0;

/// Reads of all blocks together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartReads {
    most: u32,
    wordlines_per_block: u32,
    blocks: u32,
    /// Sum of the reads that whole blocks would have served.
    sum: f64,
    /// Expectation of that sum.
    expected: f64,
}

impl StartReads {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        Self {
            most: config.start.reads,
            wordlines_per_block: config.geometry.wordlines_per_block,
            blocks: 0,
            sum: 0.0,
            expected: 0.0,
        }
    }

    /// Notes the doses, in quarters, that a block has served on its programmed wordlines before the
    /// run. Preparation has read `before` quarters of it, and each of them disturbs a neighbour by
    /// `alpha` in 1/256.
    pub(crate) fn serve(
        &mut self,
        block: BlockId,
        doses: &[u32],
        (before, alpha): (u64, u64),
    ) -> Result<(), String> {
        let (Some(least), Some(most)) = (doses.iter().min(), doses.iter().max()) else {
            return Ok(());
        };
        let (all, of_before) = (
            f64::from(self.wordlines_per_block),
            before as f64 / COUNTED_UNIT as f64 * alpha as f64 / 256.0,
        );
        let each = f64::from(doses.iter().sum::<u32>()) / COUNTED_UNIT as f64 / doses.len() as f64;
        // The draws go evenly from 0 to m, and c is subtracted. In c of m draws nothing is left,
        // and in the others (m - c) / 2 on average.
        let left = (f64::from(self.most) - of_before).max(0.0);
        let mean = if self.most == 0 { 0.0 } else { left * left / (2.0 * f64::from(self.most)) };
        (self.blocks, self.sum, self.expected) =
            (self.blocks + 1, self.sum + each * all, self.expected + mean);
        // Reads left over by the division go to one wordline each.
        let too_many = doses.len() as f64 * left / all + 1.0;
        if u64::from(most - least) > COUNTED_UNIT || each * doses.len() as f64 > too_many {
            let (units, programmed) = (COUNTED_UNIT as f64, doses.len());
            return Err(format!(
                "block {block} served {} to {} reads of each of its {programmed} wordlines before \
                 the run, and preparation read {} of it; start.reads is {}",
                f64::from(*least) / units,
                f64::from(*most) / units,
                before as f64 / units,
                self.most
            ));
        }
        Ok(())
    }

    /// Checks the mean over all blocks.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (n, most) = (f64::from(self.blocks), f64::from(self.most));
        if self.blocks == 0 {
            return Ok(());
        }
        // In a partly written block, the reads left over by the division may count or not.
        let (mean, off) = (
            self.sum / n,
            FAR * (most + 1.0) / (12.0 * n).sqrt() + f64::from(self.wordlines_per_block),
        );
        let expected = self.expected / n;
        if (mean - expected).abs() <= off {
            return Ok(());
        }
        Err(format!(
            "blocks served {mean:.1} reads on average before the run; start.reads = {most} means \
             {expected:.1}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Record of a block without reads from before the run.
    const UNREAD: (u64, u64) = (0, 256);

    fn of(most: u32) -> StartReads {
        StartReads { most, wordlines_per_block: 4, blocks: 0, sum: 0.0, expected: 0.0 }
    }

    #[test]
    fn reads_are_spread_evenly_up_to_the_most() {
        assert_eq!(
            of(10).serve(BlockId::new(0), &[8, 12, 8, 12], UNREAD),
            Ok(()),
            "10 reads of four wordlines"
        );
        assert_eq!(
            of(10).serve(BlockId::new(0), &[8, 12], UNREAD),
            Ok(()),
            "5 of the 10 that a whole block would have served"
        );
        assert_eq!(
            of(10).serve(BlockId::new(7), &[4, 12, 8, 8], UNREAD),
            Err("block 7 served 1 to 3 reads of each of its 4 wordlines before the run, and \
                preparation read 0 of it; start.reads is 10"
                .into())
        );
        assert!(of(10).serve(BlockId::new(0), &[12, 12, 12, 12], UNREAD).is_err(), "12 reads");
        assert!(
            of(10).serve(BlockId::new(0), &[20], UNREAD).is_err(),
            "5 reads of a quarter of it"
        );
    }

    #[test]
    fn what_preparation_read_is_taken_off() {
        let twice_a_neighbour = (3 * COUNTED_UNIT, 512);
        assert_eq!(
            of(10).serve(BlockId::new(0), &[4, 4, 4, 4], twice_a_neighbour),
            Ok(()),
            "4 of the 10, as 3 reads count for 6"
        );
        assert!(
            of(10).serve(BlockId::new(0), &[8, 4, 4, 8], twice_a_neighbour).is_err(),
            "6 reads"
        );
        assert_eq!(of(10).serve(BlockId::new(0), &[0; 4], (9 * COUNTED_UNIT, 512)), Ok(()));
        // The draws go from 0 to 1000, and 400 is subtracted: the mean is (1000 - 400)^2 / 2000.
        let mean = |each: u32| {
            let mut reads = of(1000);
            BlockId::range(0..400).for_each(|block| {
                reads.serve(block, &[each * 4; 4], (100 * COUNTED_UNIT, 1024)).unwrap()
            });
            reads.check()
        };
        assert_eq!(mean(180 / 4), Ok(()));
        assert!(mean(300 / 4).is_err() && mean(60 / 4).is_err());
    }

    #[test]
    fn the_mean_of_many_is_half() {
        let mean = |each: u32| {
            let mut reads = of(1000);
            BlockId::range(0..400)
                .for_each(|block| reads.serve(block, &[each * 4; 4], UNREAD).unwrap());
            reads.check()
        };
        assert_eq!(mean(125), Ok(()));
        assert!(mean(60).is_err() && mean(200).is_err());
        assert_eq!(of(1000).check(), Ok(()), "nothing was told");
    }
}
