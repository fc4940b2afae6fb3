//! Data of the wordlines in the worst blocks, packed into the page for its script.
//!
//! For a block with n wordlines, these columns follow one after the other, in little endian:
//! - reads, dose and limit: 4 n bytes for each of the three,
//! - dose that a read adds to a neighbour, in 1/256: 2 n bytes,
//! - valid pages, lost pages, group and guard levels: n bytes for each of the four.
//!
//! All blocks of a technique are compressed together (zlib).

use super::png::deflated;
use super::rows::{Snapshot, Wordline};

/// Largest number of compressed bytes for all blocks of a technique.
const BUDGET: usize = 60 * 1024;

/// Packed blocks of one technique.
#[derive(Debug, PartialEq)]
pub(super) struct Packed {
    /// Number of packed blocks. The worst block is the first.
    pub blocks: usize,
    /// Compressed columns of the packed blocks.
    pub bytes: Vec<u8>,
}

/// Packs as many of the first blocks as fit into the budget, but at most `most` blocks. Each block
/// has `wordlines` wordlines. `groups` has the names of all wordline groups.
pub(super) fn pack(
    snapshots: &[Snapshot],
    wordlines: usize,
    groups: &[String],
    most: usize,
) -> Packed {
    let columns: Vec<Vec<u8>> =
        snapshots.iter().take(most).map(|block| columns(block, wordlines, groups)).collect();
    let packed = |blocks: usize| Packed { blocks, bytes: deflated(&columns[..blocks].concat()) };
    let all = packed(columns.len());
    if all.bytes.len() <= BUDGET {
        return all;
    }
    // More blocks take more bytes. Therefore a binary search finds the largest number of blocks
    // that fits.
    let (mut fits, mut exceeds) = (packed(1), columns.len());
    while fits.blocks + 1 < exceeds {
        let middle = packed(usize::midpoint(fits.blocks, exceeds));
        if middle.bytes.len() <= BUDGET { fits = middle } else { exceeds = middle.blocks }
    }
    fits
}

fn columns(block: &Snapshot, wordlines: usize, groups: &[String]) -> Vec<u8> {
    let none = Wordline::default();
    let each = || (0..wordlines).map(|w| block.wordlines.get(w).unwrap_or(&none));
    let long = |of: fn(&Wordline) -> f64| {
        each().flat_map(move |w| (of(w).round() as u32).to_le_bytes()).collect::<Vec<u8>>()
    };
    let group = |w: &Wordline| groups.iter().position(|g| *g == w.group).unwrap_or(0) as u8;
    let weights = each().flat_map(|w| ((w.alpha * 256.0).round() as u16).to_le_bytes());
    let mut bytes = [long(|w| w.reads), long(|w| w.dose), long(|w| w.limit)].concat();
    bytes.extend(weights);
    bytes.extend(each().map(|w| w.valid_pages));
    bytes.extend(each().map(|w| w.lost_pages));
    bytes.extend(each().map(group));
    bytes.extend(each().map(|w| u8::from(w.guard_levels > 0)));
    bytes
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::ZlibDecoder;

    use super::*;

    fn inflated(bytes: &[u8]) -> Vec<u8> {
        let mut all = vec![];
        ZlibDecoder::new(bytes).read_to_end(&mut all).unwrap();
        all
    }

    #[test]
    fn a_block_lies_column_by_column() {
        let wordline = Wordline {
            group: "bad".into(),
            alpha: 9.25,
            guard_levels: 1,
            reads: 0x0102_0304.into(),
            dose: 258.4,
            limit: 70_000.0,
            valid_pages: 2,
            lost_pages: 1,
            ..Wordline::default()
        };
        let block = Snapshot { wordlines: vec![wordline], ..Snapshot::default() };
        let groups = ["good".to_owned(), "bad".to_owned()];
        let packed = pack(&[block], 2, &groups, 5);
        assert_eq!(packed.blocks, 1);
        // Wordline 1 is not programmed, so all its bytes are 0.
        #[rustfmt::skip]
        let expected = [
            4, 3, 2, 1, 0, 0, 0, 0,
            2, 1, 0, 0, 0, 0, 0, 0,
            0x70, 0x11, 1, 0, 0, 0, 0, 0,
            0x40, 9, 0, 0,
            2, 0, 1, 0, 1, 0, 1, 0,
        ];
        assert_eq!(inflated(&packed.bytes), expected);
    }

    #[test]
    fn blocks_that_do_not_fit_are_left_out_from_the_end() {
        // Random doses cannot be compressed. A dose takes 4 of the 18 bytes of its wordline.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from((state >> 32) as u32)
        };
        let block = |random: &mut dyn FnMut() -> f64| Snapshot {
            wordlines: (0..1000)
                .map(|_| Wordline { dose: random(), limit: 1.0, ..Wordline::default() })
                .collect(),
            ..Snapshot::default()
        };
        let blocks: Vec<Snapshot> = (0..40).map(|_| block(&mut random)).collect();
        let packed = pack(&blocks, 1000, &[], 40);
        // The budget of 60 KiB has space for the doses of 15 blocks, at 4,000 bytes per block.
        // Headers take the rest.
        assert!((13..=15).contains(&packed.blocks), "{} blocks", packed.blocks);
        assert!(packed.bytes.len() <= BUDGET);
        let (kept, dose) = (inflated(&packed.bytes), blocks[0].wordlines[0].dose as u32);
        assert_eq!(kept.len(), packed.blocks * 18 * 1000);
        assert_eq!(kept[4000..4004], dose.to_le_bytes());
        assert_eq!(pack(&blocks, 1000, &[], 3).blocks, 3);
    }
}
