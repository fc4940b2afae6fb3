//! Effects of reprogramming a block and of writing a block in low density: moves, costs and
//! changes.

use crate::common;

use common::{Cycle, config};
use vpass_drive::api::reclaim::{
    Action, FIRST_OWN, GUARDED, Policy, Promise, Rewrite, StreamSpec, Threshold, View,
};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Cause, Lpn, PageInBlock, Reads};
use vpass_drive::drive::Drive;
use vpass_drive::drive::audit::BlockRow;
use vpass_drive::flash::block::BlockState;
use vpass_drive::time::{Replay, run_untimed};
use vpass_techniques::usual;

/// Policy that acts once on each block of full density, at this number of reads, and never on a
/// block of low density.
struct Once {
    at: u32,
    act: fn(BlockId, u32) -> Rewrite,
}

impl Policy for Once {
    fn arm(&mut self, view: &View, block: BlockId) -> Reads {
        if view.mode(block) == 0 { Reads(self.at) } else { Reads::NEVER }
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if view.mode(block) == 0 {
            out.push((self.act)(block, view.geometry.pages_per_block).into());
            return Reads(view.reads(block).0 + 2_000);
        }
        Reads::NEVER
    }

    fn streams(&self) -> Vec<StreamSpec> {
        let spec = |purpose, mode| StreamSpec {
            purpose,
            mode,
            pool: false,
            most_pages: None,
            counts_pages: false,
        };
        vec![spec("backup", 0), spec("low density", 1)]
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("it acts once")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}

fn reprogram(block: BlockId, _pages: u32) -> Rewrite {
    Rewrite::recode(block, GUARDED, FIRST_OWN)
}

/// Creates the drive of ipr-2018, Table I, reduced to four dies. A block has 64 wordlines of 3
/// pages, and a limit of 10,000 reads.
fn drive(act: fn(BlockId, u32) -> Rewrite, more: &str, timed: bool) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 4, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 40, wordlines_per_block = 64, cell = "tlc", page_size = "32KiB" }}
        timing = {{ sense_us = 100, program_us = 1600, erase_us = 5000, channel_mb_s = 0 }}
        drive = {{ spare = 0.2 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [10000] }}] }}
        {more}
        "#
    );
    let mut drive =
        Drive::with_policy(config(&text), Box::new(Once { at: 9_000, act }), &usual(), timed)
            .unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

fn read(drive: &mut Drive, lpn: u32, times: u32) {
    (0..times).for_each(|_| drive.read_pages(&[Lpn::new(lpn)]));
}

/// MSB pages of block 0. The host's stream writes two blocks in turn, so block 0 holds pages 0, 2,
/// 4, .., 382. Of these, 4, 10, 16, .. are MSB pages.
const MSB: [u32; 3] = [4, 10, 16];

fn row(drive: &Drive, block: usize) -> BlockRow {
    drive.block_states().nth(block).unwrap()
}

#[test]
fn reprogramming_moves_a_third_and_reads_it_twice() {
    let mut drive = drive(reprogram, "", false);
    read(&mut drive, 0, 9_000);
    let (flash, reclaim) = (drive.flash_counts(), drive.reclaim_counts());
    let by = |counts: [u64; Cause::COUNT]| counts[Cause::Reclaim as usize];
    assert_eq!(
        (by(flash.reads), by(flash.programs), by(flash.reprograms), by(flash.erases)),
        (64 + 192, 64, 64, 0)
    );
    assert_eq!((reclaim.reprograms, reclaim.pages_copied, reclaim.low_density_refused), (1, 64, 0));
    let block = row(&drive, 0);
    assert_eq!((block.mode, block.valid, block.state), (1, 128, BlockState::Closed));
    assert!(
        (block.reads - (9_000.0 + 256.0)).abs() < 1e-9,
        "what it has endured stays: {} reads",
        block.reads
    );
    let out = MSB.map(|lpn| drive.read_page(Lpn::new(lpn)));
    assert!(
        out.iter().all(|ppn| drive.geometry().block_of(*ppn) != BlockId::new(0)),
        "backed up elsewhere"
    );
    assert_eq!([0, 2].map(|lpn| drive.read_page(Lpn::new(lpn)).number()), [0, 1]);
}

/// Each of 64 wordlines adds 5.5 units to the 9,000 reads and the 256 of the job. Both sums delay
/// the alarm of the block that stays.
#[test]
fn a_reprogramming_may_disturb_its_neighbours() {
    let mut drive = drive(reprogram, "density = { reprogram_dose = 5.5 }", false);
    read(&mut drive, 0, 9_000);
    let block = row(&drive, 0);
    assert!((block.reads - (9_256.0 + 64.0 * 5.5)).abs() < 1e-9, "{} reads", block.reads);
}

/// There is space for one block. While it is being made, the stream that takes its lost pages needs
/// a block, too.
#[test]
fn what_a_job_is_about_to_take_is_not_given_away() {
    let to_low_density = |block, _| Rewrite::recode(block, GUARDED, FIRST_OWN + 1);
    let mut drive = drive(to_low_density, "density = { spare_share = 0.015 }", false);
    read(&mut drive, 0, 9_000);
    let low = drive.block_states().filter(|row| row.mode > 0).count();
    assert_eq!(
        (low, drive.reclaim_counts().low_density_refused),
        (1, 2),
        "that stream writes two blocks in turn"
    );
}

#[test]
fn a_page_that_was_rewritten_needs_no_backup() {
    let mut drive = drive(reprogram, "", false);
    for lpn in MSB {
        drive.write_page(Lpn::new(lpn), u64::MAX);
    }
    // The write buffer holds 64 pages, so the rewritten pages leave it for flash.
    Lpn::range(1000..1064).for_each(|lpn| drive.write_page(lpn, u64::MAX));
    read(&mut drive, 0, 9_000);
    assert_eq!(drive.reclaim_counts().pages_copied, 61);
    assert_eq!(row(&drive, 0).valid, 128);
}

#[test]
fn a_block_of_low_density_endures_ten_times_as_much_from_its_programming_on() {
    let mut drive = drive(reprogram, "", false);
    read(&mut drive, 0, 99_744);
    assert_eq!((drive.lost_pages(), row(&drive, 0).reads), (0, 100_000.0));
    // The next read is the first above the limit. In this model, it also disturbs its own page.
    read(&mut drive, 0, 2);
    assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (1, 1));
}

#[test]
fn full_low_density_blocks_do_not_look_like_victims() {
    let mut drive = drive(reprogram, "", false);
    read(&mut drive, 0, 9_000);
    let erases_before: u32 = drive.block_states().map(|b| b.pec).sum();
    // Every page except those of block 0 is written again, which needs GC.
    let others = |lpn: &u32| !lpn.is_multiple_of(2) || *lpn >= 2 * 192;
    (0..drive.geometry().host_pages)
        .filter(others)
        .for_each(|lpn| drive.write_page(Lpn::new(lpn), u64::MAX));
    assert!(drive.block_states().map(|b| b.pec).sum::<u32>() > erases_before + 50);
    assert_eq!((row(&drive, 0).mode, row(&drive, 0).pec), (1, 0), "GC left it alone");
    // Once the block is empty, it is cleaned. Then it is a normal block again.
    (0..192).for_each(|n| drive.write_page(Lpn::new(2 * n), u64::MAX));
    (0..drive.geometry().host_pages)
        .filter(others)
        .for_each(|lpn| drive.write_page(Lpn::new(lpn), u64::MAX));
    assert_eq!((row(&drive, 0).mode, row(&drive, 0).pec), (0, 1));
    assert_eq!(row(&drive, 0).effective_milli, 1_200, "its only cycle was a reprogrammed one");
    assert_eq!((row(&drive, 0).cycles, row(&drive, 0).reprogrammed_cycles), (1, 1));
    let reclaim = drive.reclaim_counts();
    assert_eq!(reclaim.low_density_erases_by_gc, 1);
    let mut used = [0; 20];
    used[1] = 1;
    assert_eq!(reclaim.low_density_used.0, used, "9,256 of 100,000 reads");
}

#[test]
fn a_drive_that_cannot_spare_the_pages_relocates() {
    for more in ["density = { spare_share = 0 }", "density = { spare_share = 0.001 }"] {
        let mut drive = drive(reprogram, more, false);
        read(&mut drive, 0, 9_000);
        let reclaim = drive.reclaim_counts();
        assert_eq!(
            (reclaim.reprograms, reclaim.low_density_refused, reclaim.pages_copied),
            (0, 1, 192),
            "{more}"
        );
        assert_eq!(
            (row(&drive, 0).state, drive.flash_counts().erases[Cause::Reclaim as usize]),
            (BlockState::Free, 1)
        );
    }
    // There are 160 blocks, 128 of them for the host. Half of 32 spare blocks is 3,072 pages, and
    // each block of low density takes 64.
    let mut drive = drive(reprogram, "density = { spare_share = 0.5 }", false);
    (0..60 * 192).step_by(2).for_each(|lpn| read(&mut drive, lpn, 200));
    let low = drive.block_states().filter(|b| b.mode == 1).count();
    assert_eq!(low, drive.reclaim_counts().reprograms as usize);
    assert!(low > 10, "{low}");
}

#[test]
fn a_stream_of_low_density_writes_two_pages_and_pays_three_programs() {
    let divide = |block, pages| {
        let mut marked = vpass_drive::base::page_set::PageSet::none(pages);
        marked.insert(PageInBlock::FIRST, 10);
        Rewrite::divide(block, marked, FIRST_OWN + 1, FIRST_OWN)
    };
    let mut drive = drive(divide, "", false);
    read(&mut drive, 0, 9_000);
    let flash = drive.flash_counts();
    let by = |counts: [u64; Cause::COUNT]| counts[Cause::Reclaim as usize];
    // Two blocks are open in turn and get 5 pages each. Two of these pages fill a wordline.
    let low: Vec<BlockRow> = drive.block_states().filter(|b| b.mode == 1).collect();
    let pages: Vec<u16> = low.iter().map(|b| b.valid).collect();
    assert_eq!(pages.iter().sum::<u16>(), 10);
    let whole: u16 = pages.iter().map(|pages| pages / 2).sum();
    assert_eq!(
        (by(flash.programs), by(flash.reprograms), by(flash.erases)),
        (192, u64::from(whole), 1)
    );
    assert!(
        low.iter().all(|b| b.written == b.valid / 2 * 3 + b.valid % 2),
        "the third page of a wordline is passed over"
    );
}

/// Returns the longest read of a workload that causes one job, in microseconds.
fn longest_us(schedule: &str) -> (Drive, f64) {
    let mut drive = drive(reprogram, &format!("reclaim = {{ schedule = \"{schedule}\" }}"), true);
    let mut engine = Replay::new(&drive);
    let mut source = Cycle { offsets: vec![0], bytes: 32_768, left: 14_000, at: 0, depth: 1 };
    engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
    let longest = engine.metrics().read.max_ns() as f64 / 1e3;
    (drive, longest)
}

#[test]
fn in_the_foreground_reprogramming_takes_its_reads_and_programs() {
    let (drive, longest) = longest_us("foreground");
    assert_eq!(drive.reclaim_counts().reprograms, 1);
    // The job has 64 copies of (100 + 1600) us, then 64 wordlines of (3 x 100 + 1600) us. A rewrite
    // of the block takes 331 ms.
    let job_us = 64.0 * 1_700.0 + 64.0 * 1_900.0;
    assert!(
        longest > job_us && longest < job_us * 1.002 + 300.0,
        "the longest read took {longest} us, the job {job_us} us"
    );
}

#[test]
fn in_batches_and_by_deadline_reprogramming_is_done_step_by_step() {
    for (schedule, most_us) in [("batch:4", 4.0 * 1_900.0 + 2_000.0), ("deadline", 40_000.0)] {
        let (drive, longest) = longest_us(schedule);
        assert_eq!(
            (drive.reclaim_counts().reprograms, drive.lost_pages(), row(&drive, 0).mode),
            (1, 0, 1),
            "{schedule}"
        );
        assert!(longest < most_us, "{schedule}: the longest read took {longest} us");
    }
}

#[test]
fn cells_of_one_bit_have_nothing_to_give_up() {
    let text = r#"
        geometry = { channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 16, cell = "slc", page_size = "4KiB" }
        timing = { sense_us = 100, program_us = 1600, erase_us = 5000, channel_mb_s = 0 }
        drive = { spare = 0.4 }
        disturb = { model = "count", table = [{ pec = 0, limit = [10000] }] }
        "#;
    let policy = Box::new(Once { at: 100, act: reprogram });
    let mut drive = Drive::with_policy(config(text), policy, &usual(), false).unwrap();
    drive.precondition(1);
    let mut source = Cycle { offsets: vec![0], bytes: 4096, left: 150, at: 0, depth: 1 };
    run_untimed(&mut drive, &mut source, &mut |_, _| true).unwrap();
    assert_eq!(
        (drive.reclaim_counts().reprograms, drive.reclaim_counts().low_density_refused),
        (0, 1)
    );
    assert!(drive.block_states().all(|b| b.mode == 0));
}
