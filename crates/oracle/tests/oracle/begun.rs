//! A computed start. The content of each page follows from an order and from the blocks' parts of
//! it.

use vpass_core::base::steady::Order;
use vpass_core::base::units::{BlockId, Cause, Lpn};
use vpass_core::watch::observer::{Observer, ReadResult};

use crate::common::{Scene, protocol, stamp};

const ORDER: Order = Order { pages: 24, keys: [0x1234_5678, 0x9ABC_DEF0, 7, 0xFFFF_FFFF] };
/// Blocks, each with the first position and the chosen pages.
const BLOCKS: [(u32, u32, u64); 3] =
    [(1, 0, 0b1011_1111_0111), (2, 10, 0b1111_1011_0110), (3, 19, 0b0000_0011_0111)];

/// Returns the number at a position, by the definition of the order. It has 24 numbers of 5 bits,
/// with 3 bits in the low half.
fn number_at(place: u32) -> u32 {
    let mut halves = [place & 7, place >> 3];
    loop {
        for (round, key) in ORDER.keys.into_iter().enumerate() {
            let (changes, other) = (round % 2, halves[1 - round % 2]);
            let mixed = (u64::from(other ^ key) * 0x9E37_79B1) as u32 >> 15;
            halves[changes] ^= mixed & [7, 3][changes];
        }
        let number = halves[1] * 8 + halves[0];
        if number < 24 {
            return number;
        }
    }
}

fn begin(blocks: &[(u32, u32, u64)]) -> Scene {
    let mut s = Scene::tiny();
    s.oracle.begins_in_order(&ORDER);
    for (block, first, chosen) in blocks {
        s.oracle.preloaded_in_order(BlockId::new(*block), *first, &[*chosen]);
    }
    s
}

/// Returns the host pages with their places on flash.
fn places() -> Vec<(u32, u32)> {
    let pages = |chosen: u64| (0..12).filter(move |page| chosen >> page & 1 == 1);
    let all = BLOCKS
        .into_iter()
        .flat_map(|(block, _, chosen)| pages(chosen).map(move |page| block * 12 + page));
    (0..).map(number_at).zip(all).collect()
}

#[test]
fn every_page_is_where_the_order_puts_it() {
    let mut held: Vec<u32> = places().into_iter().map(|(lpn, _)| lpn).collect();
    held.sort_unstable();
    assert!(held.into_iter().eq(0..24));
    let mut s = begin(&BLOCKS);
    s.oracle.measured_phase();
    for (lpn, ppn) in places() {
        s.read(lpn, ppn);
    }
    s.read(places()[0].0, places()[0].1);
    assert_eq!(s.oracle.newest(Lpn::new(5)), Some(1));
    assert_eq!(s.clean().reads_checked, 25);
}

#[test]
fn a_page_read_where_another_lies_is_caught() {
    let mut s = begin(&BLOCKS);
    let (lpn, ppn) = (places()[3].0, places()[4].1);
    s.read(lpn, ppn);
    s.caught(
        stamp,
        &[&format!("host read of lpn {lpn}"), &format!("version 1 of lpn {}", places()[4].0)],
    );
    let mut s = begin(&BLOCKS);
    s.read_by(Cause::Gc, places()[3].0, 12 + 3, ReadResult::Good);
    s.caught(stamp, &["data without an owner"]);
}

#[test]
fn a_block_forgets_the_start_with_its_erase() {
    let mut s = begin(&BLOCKS);
    let moved: Vec<(u32, u32)> = places().into_iter().filter(|(_, ppn)| ppn / 12 == 3).collect();
    for (n, (lpn, ppn)) in (0..).zip(&moved) {
        s.copy(*ppn, n, *lpn);
    }
    s.erase(BlockId::new(3));
    s.write(36, [moved[0].0]);
    s.read(moved[0].0, 36);
    s.read(moved[1].0, 1);
    s.clean();
    s.read(moved[2].0, moved[2].1);
    s.caught(stamp, &["nothing (erased)"]);
}

#[test]
fn blocks_that_do_not_take_each_place_once_are_caught() {
    let s = begin(&[BLOCKS[0], (2, 9, BLOCKS[1].2), (3, 18, BLOCKS[2].2)]);
    s.caught(stamp, &["block 2 starts at position 9 of the start order; the next position is 10"]);
    let mut s = begin(&BLOCKS[..2]);
    s.oracle.measured_phase();
    s.caught(stamp, &["the start order has 24 positions; blocks use 19"]);
    let s = begin(&[BLOCKS[0], BLOCKS[0]]);
    s.caught(protocol, &["preload of block 1, which holds 12 pages; it must be erased"]);
}
