//! Compares the drive's record of each block with the truth at the end of a run: dose, cycles and
//! wear. If the drive forgets to count a dose, this rarely costs a page before the run ends, but
//! always shows here.

use vpass_drive::base::units::BlockId;
use vpass_drive::drive::Drive;
use vpass_drive::drive::audit::BlockRow;

use crate::limits::COUNTED_UNIT;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

impl Oracle {
    /// Compares the drive's blocks, in the order of their numbers.
    pub(crate) fn check_blocks(&mut self, rows: impl Iterator<Item = BlockRow>) {
        for (block, row) in self.truth.geometry.block_ids().zip(rows) {
            let what =
                self.dose_difference(block, &row).or_else(|| self.wear_difference(block, &row));
            if let Some(what) = what {
                self.findings.add(Kind::Books, || format!("block {block}: {what}"));
            }
        }
    }

    /// Compares the drive's dose and limit of each page with data. A small error rarely costs a
    /// page before a run ends.
    pub(crate) fn check_doses(&mut self, drive: &Drive) {
        self.truth.know_ages(drive.now());
        for ppn in drive.valid_pages() {
            let (Some(stress), Some(taken)) = (self.truth(ppn), drive.dose_and_limit(ppn)) else {
                continue;
            };
            let taken =
                (taken.0.in_1024ths().cast_unsigned(), taken.1.in_1024ths().cast_unsigned());
            let slack =
                self.truth.doses.slack(&self.truth.medium, At::new(&self.truth.geometry, ppn));
            if stress.1.abs_diff(taken.1) > self.truth.doses.rounded()
                || taken.0 < stress.0
                || taken.0 > stress.0 + slack
            {
                let place = self.truth.place(ppn);
                self.findings.add(Kind::Books, || {
                    format!(
                        "the drive has a dose of {} and a limit of {} for {place}; they are {} and \
                         {}, in 1/1024",
                        taken.0, taken.1, stress.0, stress.1
                    )
                });
            }
        }
    }

    /// Compares a technique's counters of wordlines with the reads of these wordlines.
    pub(crate) fn check_counters(&mut self, drive: &Drive) {
        for block in self.truth.geometry.block_ids() {
            for (wordline, least, most) in drive.counted_wordlines(block) {
                let (least, most) = (least.count(), most.count());
                let read =
                    self.truth.medium.read(self.truth.geometry.first_wordline(block) + wordline);
                if !(u64::from(least)..=u64::from(most)).contains(&read) {
                    self.findings.add(Kind::Books, || {
                        format!(
                            "the technique counts {least} to {most} quarter reads of wordline \
                             {wordline} of block {block}; {read} were seen"
                        )
                    });
                }
            }
        }
    }

    fn dose_difference(&self, block: BlockId, row: &BlockRow) -> Option<String> {
        let read = self.truth.doses.read_of(block)?;
        // Quarters of a unit are exact.
        let counted = (row.reads * COUNTED_UNIT as f64) as u64;
        let units = |quarters: u64| quarters as f64 / COUNTED_UNIT as f64;
        (read != counted).then(|| {
            format!(
                "the drive counts a dose of {} since the erase; {} was seen",
                units(counted),
                units(read)
            )
        })
    }

    fn wear_difference(&self, block: BlockId, row: &BlockRow) -> Option<String> {
        let worn = self.truth.doses.worn(block);
        if row.cycles != worn.cycles {
            return Some(format!(
                "the drive counts {} P/E cycles; {} were seen",
                row.cycles, worn.cycles
            ));
        }
        let milli = worn.effective_milli;
        // Drive and oracle both round each reprogrammed cycle to a thousandth. They rarely differ,
        // if a value is very close to a half.
        let off = row.effective_milli.abs_diff(milli);
        (off > u64::from(worn.reprogrammed / 64)).then(|| {
            format!(
                "the drive counts {} thousandths of an effective P/E cycle; {milli} were seen",
                row.effective_milli
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use vpass_drive::base::units::Lpn;
    use vpass_drive::config::DriveConfig;
    use vpass_techniques::{resolve, usual};

    use super::*;

    const DRIVE: &str = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 24, wordlines_per_block = 4, cell = "slc", page_size = "4KiB" }
        timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
        drive = { spare = 0.5 }
        disturb = { model = "wordline", table = [{ pec = 0, limit = [9000], alpha = [9.0] }] }
    "#;

    #[test]
    fn a_read_too_many_and_a_cycle_too_few_are_found() {
        let config = resolve(toml::from_str::<DriveConfig>(DRIVE).unwrap()).unwrap();
        let mut drive = Drive::new(config, &usual(), false).unwrap();
        drive.observe(Box::new(Oracle::new(drive.geometry(), drive.config())));
        drive.precondition(1);
        drive.read_pages(&[0, 1, 2].map(Lpn::new));
        let rows: Vec<BlockRow> = drive.block_states().collect();
        let oracle: Box<dyn std::any::Any> = drive.end_observation().unwrap();
        let mut oracle = oracle.downcast::<Oracle>().unwrap();
        oracle.check_blocks(rows.iter().copied());
        assert_eq!(oracle.report().books_errors, 0);
        let other = |row: &BlockRow| BlockRow { reads: row.reads + 0.25, ..*row };
        oracle.check_blocks(rows.iter().take(1).map(other));
        oracle.check_blocks(rows.iter().take(1).map(|row| BlockRow { cycles: 1, ..*row }));
        oracle.check_blocks(rows.iter().take(1).map(|row| BlockRow { effective_milli: 1, ..*row }));
        assert_eq!(
            oracle.report().findings,
            [
                "block 0: the drive counts a dose of 3.25 since the erase; 3 was seen",
                "block 0: the drive counts 1 P/E cycles; 0 were seen",
                "block 0: the drive counts 1 thousandths of an effective P/E cycle; 0 were seen",
            ]
        );
    }
}
