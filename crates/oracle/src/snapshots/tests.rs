//! Places of the worst blocks, and wordlines of bins.

use super::*;

#[test]
fn the_worst_blocks_keep_their_places() {
    let mut worst = Worst::<u32>::new(3, 8);
    let ratios = [0.5, 0.3, 0.4, 0.3, 0.6, 0.35, 0.2, 0.45];
    for (n, ratio) in (0..).zip(ratios) {
        let block = BlockId::new(n);
        let takes = worst.takes(block, ratio);
        let place = worst.place(block, ratio).map(|of| *of = n);
        assert_eq!(takes, place.is_some());
    }
    // A block that has a place keeps its worst moment.
    assert!(worst.place(BlockId::new(4), 0.55).is_none());
    *worst.place(BlockId::new(7), 0.7).unwrap() = 70;
    // A block that lost its place may return.
    *worst.place(BlockId::new(1), 0.55).unwrap() = 10;
    let sorted: Vec<_> =
        worst.sorted().into_iter().map(|(block, ratio, of)| (block.number(), ratio, of)).collect();
    assert_eq!(sorted, [(7, 0.7, 70), (4, 0.6, 4), (1, 0.55, 10)]);
}

#[test]
fn bins_cover_all_wordlines_none_of_them_twice() {
    // 1,000 wordlines in 128 bins: bin 1 has wordlines 7 to 14.
    assert_eq!(wordlines_of(1, 128, 1000), 7..15);
    for (count, wordlines) in [(128, 1000), (128, 128), (5, 5), (1, 1)] {
        assert_eq!(bin_count(wordlines), count);
        let covered = (0..count).flat_map(|bin| wordlines_of(bin, count, wordlines));
        assert!(covered.eq(0..wordlines));
    }
}
