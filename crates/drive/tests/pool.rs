//! The pool of low-density blocks under `ipr`, which may be kept free of other data.

use crate::common;

use common::config;
use vpass_drive::base::streams::HOST;
use vpass_drive::base::units::{BlockId, Lpn};
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::flash::block::BlockState;
use vpass_techniques::{card, usual};

/// Creates a drive of 60 blocks of 24 pages, of which the last 12 blocks are the pool. Each block
/// endures 1,000 reads. All data was overwritten once in the order of its addresses, so the
/// contents of the pool are regular and valid.
fn drive_with_a_full_pool(keep_pool: bool) -> Drive {
    let text = format!(
        r#"
        geometry = {{ channels = 1, dies_per_channel = 1, planes_per_die = 1, blocks_per_plane = 60, wordlines_per_block = 8, cell = "tlc", page_size = "4KiB" }}
        timing = {{ sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }}
        drive = {{ spare = 0.4 }}
        disturb = {{ model = "count", table = [{{ pec = 0, limit = [1000] }}] }}
        reclaim = {{ schedule = "foreground" }}
        wear = {{ static_gap = 0 }}
        density = {{ keep_pool = {keep_pool} }}
        "#
    );
    let techniques = Techniques { reclaim: card("ipr"), ..usual() };
    let mut drive = Drive::new(config(&text), &techniques, false).unwrap();
    drive.precondition(1);
    Lpn::range(0..drive.geometry().host_pages).for_each(|lpn| drive.write_page(lpn, u64::MAX));
    drive.begin_measurement();
    drive
}

/// Reads 5 of 24 pages so often that they take 7.5 blocks, less than the pool holds.
fn read_a_fifth(drive: &mut Drive, times: u32) {
    let hot: Vec<Lpn> =
        Lpn::range(0..drive.geometry().host_pages).filter(|lpn| lpn.number() % 24 < 5).collect();
    for _ in 0..times {
        for lpn in &hot {
            drive.read_pages(&[*lpn]);
        }
    }
}

#[test]
fn full_blocks_make_room_in_a_pool_that_is_kept() {
    let [kept, shared] = [true, false].map(|keep_pool| {
        let mut drive = drive_with_a_full_pool(keep_pool);
        read_a_fifth(&mut drive, 6_000);
        assert_eq!(drive.lost_pages(), 0);
        assert!(drive.reclaim_counts().reprograms > 0);
        drive.reclaim_counts().pool_misses
    });
    assert_eq!(kept, 0);
    assert!(shared > 0, "where they do not, the pool has none to give");
}

/// Returns the number of host writes to pool blocks that were opened although a block outside was
/// free.
fn intrusions(keep_pool: bool) -> u32 {
    let mut drive = drive_with_a_full_pool(keep_pool);
    let mut found = 0;
    for n in 0..20_000 {
        drive.write_page(Lpn::new(n * 7 % drive.geometry().host_pages), u64::MAX);
        let is_in_pool = |n: usize| drive.geometry().is_in_pool(BlockId::new(n as u32));
        let blocks: Vec<_> = drive.block_states().collect();
        let opened = blocks.iter().position(|b| b.state == BlockState::Open && b.stream == HOST);
        let intrudes = opened.is_some_and(|at| blocks[at].written == 1 && is_in_pool(at));
        let is_free = |n: usize| blocks[n].state == BlockState::Free && !is_in_pool(n);
        found += u32::from(intrudes && (0..blocks.len()).any(is_free));
    }
    found
}

#[test]
fn other_data_keeps_out_of_a_pool_that_is_kept() {
    assert_eq!(intrusions(true), 0);
    assert!(intrusions(false) > 0);
}
