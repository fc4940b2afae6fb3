//! A computed start. The content of each page follows from an order and from the blocks' parts of
//! it.

use vpass_drive::api::parity::{self, STRIPE};
use vpass_drive::base::steady::Order;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{Event, Observer, Origin, ReadResult, XorSource};

use crate::common::{Scene, config, protocol, stamp, wordline_model};

const ORDER: Order = Order { pages: 24, keys: [0x1234_5678, 0x9ABC_DEF0, 7, 0xFFFF_FFFF] };
/// Blocks, each with the first position, the number of pages that hold data, and the keys of the
/// order of its 12 pages.
const BLOCKS: [(u32, u32, u32, [u32; 4]); 3] = [
    (1, 0, 10, [0x89AB_CDEF, 3, 0x7654_3210, 0xF00D_F00D]),
    (2, 10, 9, [1, 0x8000_0000, 0xCAFE_CAFE, 0x1357_9BDF]),
    (3, 19, 5, [0x2468_ACE0, 0xFFFF_FFFF, 0, 0x0BAD_CAFE]),
];

/// Returns the number at a place, by the definition of the order, with this number of bits in the
/// low half.
fn number_at(order: &Order, low_bits: u32, place: u32) -> u32 {
    let sizes = [order.pages.div_ceil(1 << low_bits), 1 << low_bits];
    let mut halves = [place >> low_bits, place & (sizes[1] - 1)];
    loop {
        for (round, key) in order.keys.into_iter().enumerate() {
            let (changes, other) = (round % 2, halves[1 - round % 2]);
            let mixed = (other ^ (key >> 16)).wrapping_mul(key | 1);
            let change = ((u64::from(mixed) * u64::from(sizes[changes])) >> 32) as u32;
            halves[changes] =
                if changes == 0 { (halves[0] + change) % sizes[0] } else { halves[1] ^ change };
        }
        let number = (halves[0] << low_bits) + halves[1];
        if number < order.pages {
            return number;
        }
    }
}

fn of_block(keys: [u32; 4]) -> Order {
    Order { pages: 12, keys }
}

fn begin(blocks: &[(u32, u32, u32, [u32; 4])]) -> Scene {
    let mut s = Scene::tiny();
    s.oracle.take(Event::BeginsInOrder { orders: &[ORDER], filled: 24 });
    for (block, first, holds, keys) in blocks {
        s.oracle.take(Event::PreloadedInOrder {
            block: BlockId::new(*block),
            first: *first,
            pages: of_block(*keys),
            holds: *holds,
        });
    }
    s
}

/// Returns the host pages with their places on flash. 24 numbers have 5 bits, and 12 have 4.
fn places() -> Vec<(u32, u32)> {
    let all = BLOCKS.into_iter().flat_map(|(block, _, holds, keys)| {
        (0..holds).map(move |rank| block * 12 + number_at(&of_block(keys), 2, rank))
    });
    (0..).map(|place| number_at(&ORDER, 2, place)).zip(all).collect()
}

/// Returns a page of block 1 without data.
fn unheld() -> u32 {
    number_at(&of_block(BLOCKS[0].3), 2, 10)
}

#[test]
fn every_page_is_where_the_order_puts_it() {
    let mut held: Vec<u32> = places().into_iter().map(|(lpn, _)| lpn).collect();
    held.sort_unstable();
    assert!(held.into_iter().eq(0..24));
    let mut s = begin(&BLOCKS);
    s.oracle.take(Event::MeasuredPhase);
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
    s.read_by(Cause::Gc, places()[3].0, 12 + unheld(), ReadResult::Good);
    s.caught(stamp, &["data without an owner"]);
}

#[test]
fn a_block_forgets_the_start_with_its_erase() {
    let mut s = begin(&BLOCKS);
    let moved: Vec<(u32, u32)> = places().into_iter().filter(|(_, ppn)| ppn / 12 == 3).collect();
    for (n, (lpn, ppn)) in (0..).zip(&moved) {
        s.copy(*ppn, n, *lpn);
    }
    s.erase(3);
    s.write(36, [moved[0].0]);
    s.read(moved[0].0, 36);
    s.read(moved[1].0, 1);
    s.clean();
    s.read(moved[2].0, moved[2].1);
    s.caught(stamp, &["nothing (erased)"]);
}

#[test]
fn blocks_that_do_not_take_each_place_once_are_caught() {
    let s = begin(&[BLOCKS[0], (2, 9, 9, BLOCKS[1].3), (3, 18, 5, BLOCKS[2].3)]);
    s.caught(stamp, &["block 2 starts at position 9 of the start order; the next position is 10"]);
    let mut s = begin(&BLOCKS[..2]);
    s.oracle.take(Event::MeasuredPhase);
    s.caught(stamp, &["the start order has 24 positions; blocks use 19"]);
    let s = begin(&[BLOCKS[0], BLOCKS[0]]);
    s.caught(protocol, &["preload of block 1, which holds 12 pages; it must be erased"]);
    let s = begin(&[(1, 0, 13, BLOCKS[0].3)]);
    s.caught(stamp, &["loads 13 of 12 pages into the 12 pages of the block"]);
}

/// Orders of three dies, and the pages of each die in the order of their stripes. Stripes have two
/// pages and parity, and the host has filled pages 0 to 4 of 24.
///
/// ```text
///             die 0   die 1   die 2
/// stripe 0      0       1       P0 = 24
/// stripe 1    P1 = 25   2       3
/// stripe 2      -     P2 = 26   4
/// ```
const OF_DIES: [(Order, &[u32]); 3] = [
    (Order { pages: 2, keys: [1, 2, 3, 4] }, &[0, 25]),
    (Order { pages: 3, keys: [0x9ABC_DEF0, 5, 6, 7] }, &[1, 2, 26]),
    (Order { pages: 3, keys: [8, 9, 0xFFFF_FFFF, 10] }, &[24, 3, 4]),
];

/// Order of the flash pages of each die's first block.
const PAGES_OF_DIE: Order = Order { pages: 12, keys: [0xFEED_BEEF, 17, 0x1234_4321, 0xABCD_0123] };

/// Returns the flash page of a page of the host or of parity. The first block of each die holds the
/// die's pages. Two or three numbers have one bit in the low half.
fn place_of(lpn: u32) -> u32 {
    let of_die = |(die, (order, pages)): (u32, (Order, &[u32]))| {
        let at = |place: &u32| pages[number_at(&order, 1, *place) as usize] == lpn;
        let found = (0..order.pages).find(at);
        found.map(|place| die * 48 + number_at(&PAGES_OF_DIE, 2, place))
    };
    (0..).zip(OF_DIES).find_map(of_die).expect("the start has the page")
}

/// Returns a scene in which the first block of each die holds this number of pages.
fn striped(holds: [u32; 3]) -> Scene {
    let mut config = config(4, 4, wordline_model(100.0, 9.0));
    config.geometry.dies_per_channel = 3;
    config.parity.params.set(None, STRIPE.key, STRIPE.number(2.0));
    let mut s = Scene::new(&parity::drive(config, vpass_techniques::card("raid5")));
    s.oracle.take(Event::BeginsInOrder { orders: &OF_DIES.map(|(order, _)| order), filled: 5 });
    for (block, holds) in [0, 4, 8].into_iter().zip(holds) {
        s.oracle.take(Event::PreloadedInOrder {
            block: BlockId::new(block),
            first: 0,
            pages: PAGES_OF_DIE,
            holds,
        });
    }
    s
}

/// Lets the host write page 0 of a drive with a computed start. The drive reads these pages for the
/// new parity, and programs page 0 and the parity.
fn update(s: &mut Scene, read: &[u32]) {
    s.wrote(0);
    for lpn in read {
        s.read_by(Cause::Parity, *lpn, place_of(*lpn), ReadResult::Good);
        s.oracle
            .take(Event::Xored { number: 1, source: XorSource::Page(Ppn::new(place_of(*lpn))) });
    }
    s.oracle.take(Event::Xored { number: 1, source: XorSource::Memory(Lpn::new(0)) });
    s.program(12, 0, Origin::Host, Cause::Host);
    s.program(9 * 12, 24, Origin::Xor(1), Cause::Parity);
}

#[test]
fn pages_of_stripes_are_where_the_orders_of_their_dies_put_them() {
    let mut s = striped([2, 3, 3]);
    s.oracle.take(Event::MeasuredPhase);
    (0..5).for_each(|lpn| s.read(lpn, place_of(lpn)));
    update(&mut s, &[0, 24]);
    s.read(0, 12);
    s.read(1, place_of(1));
    s.clean();
}

#[test]
fn a_stripe_that_is_touched_first_is_checked_in_full() {
    let mut s = striped([2, 3, 3]);
    update(&mut s, &[24]);
    s.caught(stamp, &["the parity of stripe 0 is not the XOR of its pages"]);
    let mut s = striped([2, 3, 3]);
    s.erase(4);
    s.caught(stamp, &["is erased, but it carries version 1 of lpn", "which the parity of stripe"]);
    let mut s = striped([2, 3, 3]);
    s.read_by(Cause::Gc, 1, place_of(1), ReadResult::Good);
    s.program(24, 1, Origin::Copy(Ppn::new(place_of(1))), Cause::Gc);
    s.caught(protocol, &["lpn 1 of stripe 0 was written to die 0; it belongs to die 1"]);
}

#[test]
fn dies_that_do_not_hold_each_page_once_are_caught() {
    let mut s = striped([2, 3, 2]);
    s.oracle.take(Event::MeasuredPhase);
    s.caught(stamp, &["the start order has 3 positions; blocks use 2"]);
    let mut s = striped([2, 3, 0]);
    s.oracle.take(Event::Trimmed { lpn: Lpn::new(0) });
    s.caught(stamp, &["lpn 24 of stripe 0 does not lie where the start put it"]);
    let mut s = striped([2, 3, 3]);
    let orders = OF_DIES.map(|(order, _)| Order { pages: 3, ..order });
    s.oracle.take(Event::BeginsInOrder { orders: &orders, filled: 5 });
    s.caught(protocol, &["a computed start of 5 pages, but the drive already holds data"]);
    let mut s = Scene::tiny();
    s.oracle.take(Event::BeginsInOrder { orders: &[ORDER, ORDER], filled: 24 });
    s.caught(
        stamp,
        &["the start orders have [24, 24] positions; a start of 24 host pages needs [24]"],
    );
}
