//! Reads that blocks served before the run (`start.reads`). They represent a drive in the middle of
//! its life, with blocks at different read counts.
//!
//! Each block served a number of reads that is drawn evenly from 0 to `start.reads`. They are
//! spread evenly over its wordlines. A partly written block served its part of them. These reads
//! come after everything was programmed, and no policy was asked meanwhile. A policy with an alarm
//! at or below the count is asked at the block's next read. So that this is early enough,
//! `start.reads` has a limit. It leaves the reads that any technique needs between its question and
//! the end of its job.
//!
//! Preparation itself reads pages to compute parity. These reads are part of the drawn number. Each
//! counts as often as a read may disturb its neighbours, because their distribution is not known.
//! So no wordline has more dose than the drawn number would add.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::api::reclaim::late::late_reads;
use crate::base::dose::Quarters;
use crate::base::geometry::Geometry;
use crate::base::units::{BlockId, Reads};
use crate::config::{ConfigError, DriveConfig, require};
use crate::disturb::table::LimitTable;
use crate::drive::Drive;
use crate::drive::start::precondition::{below, erases_at_most};
use crate::watch::observer::Event;

/// Dose units by which a question may come late, because of the read that asks, and because heavy
/// reads overshoot alarms.
const OVERSHOOT: f64 = 8.0;

/// Largest start-up reads of a drive.
#[derive(Clone, Debug)]
pub struct MostStartReads {
    /// Largest value of `start.reads`.
    pub reads: u32,
    /// Group of wordlines that sets this value.
    pub group: usize,
}

impl MostStartReads {
    /// Returns the largest start-up reads of a resolved drive as its technique changes it; `None`
    /// if the drive has no table of limits.
    pub fn of(config: &DriveConfig) -> Option<Self> {
        let table = LimitTable::of(config)?;
        let geometry = Geometry::new(config);
        let late = late_reads(config, &geometry).max(1);
        let first = config.start.pec;
        let last = config.start.pec_most().saturating_add(erases_at_most(config, &geometry));
        // Limits and alpha are linear between the rows.
        let rows = config
            .disturb
            .table
            .iter()
            .map(|row| row.pec)
            .filter(|pec| (first..last).contains(pec));
        let ages: Vec<u32> = rows.chain([first, last]).collect();
        let of_group = |group: usize| {
            let most = ages
                .iter()
                .map(|pec| most_of_group(&table, &geometry, group, *pec, late))
                .fold(f64::INFINITY, f64::min);
            Self { reads: most.max(0.0) as u32, group }
        };
        (0..table.groups()).map(of_group).min_by_key(|most| most.reads)
    }
}

/// Returns the largest number of reads, spread evenly over a block, that leaves the worst wordline
/// of a group enough dose for its reclaim.
fn most_of_group(
    table: &LimitTable,
    geometry: &Geometry,
    group: usize,
    pec: u32,
    late: u32,
) -> f64 {
    let endurance = table.endured(group, pec);
    let (limit, alpha) = (endurance.limit.units(), endurance.alpha.weight());
    // `R_late` counts twice. A technique that checks at intervals may leave a wordline that must
    // endure another job before its own.
    let movers =
        f64::from(geometry.pages_per_block) + 2.0 * (alpha - 1.0) * f64::from(geometry.cell.bits());
    // Each wordline may also be probed.
    let probes = f64::from(geometry.wordlines_per_block) + 2.0 * (alpha - 1.0);
    let room = alpha * (2.0 * f64::from(late) + OVERSHOOT) + movers + probes;
    // Each of two neighbours served its even share, rounded up.
    let neighbours = 2.0 * (alpha - 1.0);
    (limit - room - neighbours) / (1.0 + neighbours / f64::from(geometry.wordlines_per_block))
}

/// Refuses a drive whose data would be lost, or nearly lost, at the start.
pub(crate) fn check(config: &DriveConfig) -> Result<(), ConfigError> {
    let reads = config.start.reads;
    if reads == 0 {
        return Ok(());
    }
    let model = config.disturb.model;
    require(!model.disturbs() || model.has_table(), || {
        format!(
            "start.reads = {reads} needs limits from disturb.table, but disturb.model = \"{}\" has \
             none; set start.reads = 0",
            model.name()
        )
    })?;
    let Some(most) = MostStartReads::of(config) else { return Ok(()) };
    require(reads <= most.reads, || {
        format!(
            "start.reads = {reads}: blocks that served this many reads would lose data before \
             reclaim finishes; for wordline group {} at {} P/E cycles, start.reads must be at most \
             {}",
            config.disturb.groups[most.group], config.start.pec, most.reads
        )
    })
}

/// Written blocks that should have served reads before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartReads {
    /// Number of written blocks that should have served reads.
    pub written: u32,
    /// Number of written blocks that preparation had already read so often that no read was added.
    pub passed_over: u32,
}

impl Drive {
    /// Returns the effect of `start.reads`; zeros if it is 0.
    pub fn start_reads(&self) -> StartReads {
        self.start_reads
    }

    /// Adds the reads of `start.reads` to the counters of every written block. The same seed gives
    /// the same reads.
    pub(crate) fn serve_before_start(&mut self, seed: u64) {
        let most = self.config.start.reads;
        self.facts.timed_from = self.view(BlockId::new(0)).clock() + 1;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5EAD_5EAD);
        for block in self.geometry.block_ids() {
            let drawn = below(&mut rng, most + 1);
            let written = u32::from(self.flash.hot(block).write_ptr);
            if written == 0 {
                continue;
            }
            let left = drawn.saturating_sub(self.read_in_preparation(block));
            self.start_reads.written += 1;
            self.start_reads.passed_over += u32::from(left == 0 && drawn > 0);
            self.served_before(block, left, written.div_ceil(self.geometry.cell.bits()));
        }
    }

    /// Returns the number of reads of a block so far. Each counts as often as it may disturb a
    /// neighbour.
    fn read_in_preparation(&self, block: BlockId) -> u32 {
        let pec = self.flash.cold(block).pec;
        let alphas = self.flash.limits().map(|table| {
            (0..table.groups()).map(|group| table.truth(group, pec).alpha.in_256ths()).max()
        });
        let (alpha, reads) =
            (alphas.flatten().unwrap_or(256), self.flash.hot(block).reads.whole_up());
        (u64::from(reads.0) * u64::from(alpha)).div_ceil(256).min(u64::from(u32::MAX)) as u32
    }

    /// Adds the reads of a block whose first wordlines are programmed: its part of the reads of a
    /// full block.
    fn served_before(&mut self, block: BlockId, of_a_whole_block: u32, programmed: u32) {
        let all = self.geometry.wordlines_per_block;
        let (each, left) = (of_a_whole_block / all, of_a_whole_block % all);
        // The remainder goes to wordlines far from each other: number w gets floor((w + 1) left /
        // all) - floor(w left / all).
        let mut carried = 0;
        let dose = |_| {
            carried += left;
            let one_more = carried >= all;
            carried -= if one_more { all } else { 0 };
            Reads(each + u32::from(one_more)).quarters()
        };
        let doses: Vec<Quarters> = (0..programmed).map(dose).collect();
        self.flash.serve_before_start(block, &doses);
        self.flash.ask_model_at_next_read(block);
        self.flash.tell(Event::ServedBefore { block, doses: &doses });
    }
}

#[cfg(test)]
mod tests {
    use crate::api::parity::{ParityTechnique, STRIPE};
    use crate::base::dose::Quarters;
    use crate::base::units::Lpn;
    use crate::drive::Drive;
    use crate::drive::tests::tiny_config;
    use crate::testing::{NO_STRIPES, STRIPED, fakes, with_parity};

    /// No policy and no model needs reads before the run, so no alarm is left that every read would
    /// reach.
    #[test]
    fn where_nothing_disturbs_reads_before_the_run_ring_no_alarm() {
        let mut config = tiny_config();
        (config.start.fill, config.start.reads) = (1.0, 1000);
        let mut drive = Drive::new(config.resolve().unwrap(), &fakes(), false).unwrap();
        drive.precondition(1);
        drive.read_page(Lpn::new(0));
        assert!(
            drive.flash.blocks().0.iter().any(|block| block.reads > Quarters::UNIT),
            "they are counted"
        );
        assert!(
            drive.flash.blocks().0.iter().all(|block| block.alarm == crate::flash::block::CARRY)
        );
    }

    /// Writing parity while a drive is filled reads pages. Those reads are part of the reads with
    /// which a block starts.
    #[test]
    fn what_preparation_reads_counts_among_reads_before_the_run() {
        let begun =
            |parity: &'static ParityTechnique, reads: u32| {
                let mut config = tiny_config();
                (config.geometry.blocks_per_plane, config.drive.spare) = (Some(20), Some(0.5));
                (config.start.fill, config.start.overwrite, config.start.reads) = (1.0, 0.2, reads);
                config.parity.params.set(None, STRIPE.key, STRIPE.number(3.0));
                let techniques = with_parity(parity);
                let mut drive = Drive::new(config.resolve().unwrap(), &techniques, false).unwrap();
                drive.precondition(1);
                let whole =
                    drive.flash.blocks().0.iter().filter(|block| {
                        u32::from(block.write_ptr) == drive.geometry.pages_per_block
                    });
                let served: Vec<u32> = whole.map(|block| block.reads.whole_down().0).collect();
                (drive.start_reads(), served)
            };
        let (_, by_preparation) = begun(&STRIPED, 0);
        let most_by_preparation = *by_preparation.iter().max().unwrap();
        assert!(most_by_preparation > 0);
        for parity in [&NO_STRIPES, &STRIPED] {
            let (start_reads, served) = begun(parity, 1000);
            let (mean, n) =
                (f64::from(served.iter().sum::<u32>()) / served.len() as f64, served.len() as f64);
            assert!((mean - 500.0).abs() < 4.0 * 1000.0 / (12.0 * n).sqrt(), "{parity}: {mean}");
            assert!(served.iter().all(|reads| *reads <= 1000), "{parity}");
            assert!(start_reads.written as usize >= served.len());
        }
        let (start_reads, served) = begun(&STRIPED, most_by_preparation);
        assert!(
            start_reads.passed_over > 0,
            "some blocks have as much behind them as they were drawn"
        );
        assert!(served.iter().all(|reads| *reads <= most_by_preparation));
    }
}
