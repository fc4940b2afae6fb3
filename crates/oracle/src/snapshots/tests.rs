//! Places of the worst blocks, and bins of wordlines.

use super::*;

fn row(dose: u64, valid: u8, lost: u8) -> Row {
    Row { dose, limit: 100, valid, lost, ..Row::default() }
}

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
fn bins_have_the_highest_share_of_their_wordlines_with_data() {
    let mut rows = vec![row(0, 3, 0); 1000];
    // 1,000 wordlines in 128 bins: bin 1 has wordlines 7 to 14.
    rows[7] = row(50, 1, 0);
    rows[14] = row(90, 0, 0);
    rows[8] = row(70, 0, 2);
    rows[15] = row(60, 3, 0);
    rows[992..].fill(row(200, 0, 0));
    let mut bins = vec![];
    bins_of(&rows, &mut bins);
    assert_eq!(bins.len(), 128);
    assert_eq!(record::wordlines_of(1, 128, 1000), 7..15);
    assert_eq!(bins[0], Bin { worst: Some(0.0), state: State::Data });
    assert_eq!(bins[1], Bin { worst: Some(0.7), state: State::Lost });
    assert_eq!(bins[2], Bin { worst: Some(0.6), state: State::Data });
    assert_eq!(bins[127], Bin { worst: None, state: State::None });
    // Bins cover all wordlines, none of them twice.
    let covered: Vec<u32> = (0..128).flat_map(|bin| record::wordlines_of(bin, 128, 1000)).collect();
    assert!(covered.into_iter().eq(0..1000));
    bins_of(&rows[..5], &mut bins);
    assert_eq!(bins.len(), 5);
}
