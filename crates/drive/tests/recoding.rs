//! Recoding that gives up the least significant page: the pages that move and those that stay
//! readable, the times of their reads, and their limits.

use crate::common;

use common::{Cycle, config};
use vpass_drive::api::reclaim::{
    Action, FASTER, FIRST_OWN, Policy, Promise, Rewrite, StreamSpec, Threshold, View,
};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::page_set::{PageSet, WordlineSet};
use vpass_drive::base::units::{BlockId, Bytes, Cause, Lpn, Reads, WordlineInBlock};
use vpass_drive::drive::Drive;
use vpass_drive::time::Replay;
use vpass_techniques::usual;

/// Policy that requests this rewrite of the first block that reaches this number of reads, and
/// nothing else.
struct Once {
    at: u32,
    rewrite: fn(BlockId) -> Rewrite,
    is_done: bool,
}

impl Policy for Once {
    fn arm(&mut self, _view: &View, _block: BlockId) -> Reads {
        if self.is_done { Reads::NEVER } else { Reads(self.at) }
    }

    fn on_alarm(&mut self, view: &View, block: BlockId, out: &mut Vec<Action>) -> Reads {
        if std::mem::replace(&mut self.is_done, true) || view.reads(block).0 < self.at {
            return Reads::NEVER;
        }
        out.push((self.rewrite)(block).into());
        Reads(view.reads(block).0 + 1)
    }

    fn streams(&self) -> Vec<StreamSpec> {
        vec![StreamSpec {
            purpose: "fast",
            mode: FASTER,
            pool: false,
            most_pages: None,
            counts_pages: false,
        }]
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

/// Creates a drive with four wordlines of three pages per block and one block written at a time.
/// Block 0 holds pages 0 to 11. The limit is 1,000 reads of any pages.
fn drive(rewrite: fn(BlockId) -> Rewrite, more: &str, timed: bool) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 4, cell = "tlc", page_size = "4KiB" }}
        drive = {{ spare = 0.5, write_buffer = 0 }}
        density = {{ limit_factor = 10 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
        [timing]
        sense_us = [50, 75, 125]
        program_us = 600
        erase_us = 3000
        channel_mb_s = 0
        {more}
        "#
    );
    let mut drive = Drive::with_policy(
        config(&text),
        Box::new(Once { at: 100, rewrite, is_done: false }),
        &usual(),
        timed,
    )
    .unwrap();
    drive.precondition(1);
    drive.begin_measurement();
    drive
}

/// Recodes wordlines 1 and 2.
fn two_wordlines(block: BlockId) -> Rewrite {
    let mut wordlines = WordlineSet::none(4);
    wordlines.insert(WordlineInBlock::new(1), 2);
    Rewrite::recode_wordlines(block, FASTER, wordlines, PageSet::none(12))
}

fn whole(block: BlockId) -> Rewrite {
    Rewrite::recode(block, FASTER, FIRST_OWN)
}

fn read(drive: &mut Drive, lpn: u32, times: u32) {
    (0..times).for_each(|_| drive.read_pages(&[Lpn::new(lpn)]));
}

/// Returns the pages of page 1's block that are still in it.
fn stayed(drive: &Drive) -> Vec<u32> {
    let places: Vec<_> =
        drive.map_rows().take(12).map(|row| drive.geometry().block_of(row.ppn)).collect();
    (0..12).filter(|lpn| places[*lpn as usize] == places[1]).collect()
}

/// The whole block's LSB pages go to a block with this coding, whose two wordlines are also merged.
#[test]
fn csb_and_msb_pages_stay_where_the_lsb_page_is_given_up() {
    for (rewrite, left, merged) in [
        (two_wordlines as fn(BlockId) -> Rewrite, vec![0, 1, 2, 4, 5, 7, 8, 9, 10, 11], 2),
        (whole, vec![1, 2, 4, 5, 7, 8, 10, 11], 4 + 2),
    ] {
        let mut drive = drive(rewrite, "", false);
        read(&mut drive, 1, 100);
        assert_eq!(stayed(&drive), left);
        let reprograms = drive.flash_counts().reprograms[Cause::Reclaim as usize];
        assert_eq!(
            (reprograms, drive.reclaim_counts().pages_copied),
            (merged, 12 - left.len() as u64)
        );
        (0..12).for_each(|lpn| read(&mut drive, lpn, 1));
        assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (0, 0));
    }
}

/// The pages that are given up go to blocks with this coding. CSB and MSB pages of two wordlines
/// are programmed, and each wordline is merged.
#[test]
fn a_stream_may_write_csb_and_msb_pages_only() {
    for unit in ["page", "wordline"] {
        let mut drive = drive(whole, &format!("program_unit = \"{unit}\""), false);
        read(&mut drive, 1, 100);
        drive.report_unread_losses();
        let pages_of_fast: Vec<u32> =
            drive.map_rows().take(12).map(|row| row.ppn.number() % 12).collect();
        assert_eq!([0, 3, 6, 9].map(|lpn| pages_of_fast[lpn]), [1, 2, 4, 5], "{unit}");
        assert_eq!(drive.flash_counts().reprograms[Cause::Reclaim as usize], 4 + 2, "{unit}");
        (0..12).for_each(|lpn| read(&mut drive, lpn, 1));
        assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (0, 0));
    }
}

/// The job reads 2 pages that move and 6 pages of two wordlines, or 4 and 12. The dose stays, and
/// there are no guard levels.
#[test]
fn limits_are_those_of_its_row() {
    for (rewrite, by_job) in [(two_wordlines as fn(BlockId) -> Rewrite, 8), (whole, 16)] {
        let mut drive = drive(rewrite, "", false);
        read(&mut drive, 4, 1000 - by_job);
        assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (0, 0));
        read(&mut drive, 4, 2);
        assert_eq!((drive.uncorrectable_reads(), drive.lost_pages()), (1, 1));
    }
}

/// Returns the time of a read of this page after the job, if no other work delays it.
fn read_ns(rewrite: fn(BlockId) -> Rewrite, lpn: u64) -> u128 {
    let mut drive = drive(rewrite, "", true);
    let mut serve = |offset, left| {
        let mut engine = Replay::new(&drive);
        let mut source = Cycle { offsets: vec![offset], bytes: 4096, left, at: 0, depth: 1 };
        engine.run(&mut drive, &mut source, &mut |_, _| true).unwrap();
        engine.metrics().read.total_ns()
    };
    serve(4096, 300);
    (0..8).map(|_| serve(lpn * 4096, 1)).min().unwrap()
}

#[test]
fn a_merged_wordline_reads_with_fewer_sensings() {
    // In wordlines 0 and 1, an MSB page takes 125 us and a CSB page 75 us. After the merge, they
    // take as long as a CSB and an LSB page.
    assert_eq!([2, 1].map(|lpn| read_ns(two_wordlines, lpn)), [125_000, 75_000]);
    assert_eq!([5, 4].map(|lpn| read_ns(two_wordlines, lpn)), [75_000, 50_000]);
    assert_eq!([2, 1].map(|lpn| read_ns(whole, lpn)), [75_000, 50_000]);
}
