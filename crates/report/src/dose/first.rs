//! Choice of the block that the page shows first. The worst wordline of this block should have a
//! far larger dose than its other wordlines.

use super::rows::Snapshot;

/// Smallest ratio of dose to limit that makes a block a candidate, as a share of the largest such
/// ratio.
const NEAR_WORST: f64 = 0.8;
/// Smallest number of wordlines with data for which the median of their doses is meaningful.
const FEWEST: usize = 9;
/// Smallest ratio at which a block's worst wordline stands out: its dose divided by the median
/// dose.
const STANDS_OUT: f64 = 2.5;

/// Chooses a technique and one of its blocks; `None` if no technique has a block. `candidates` has
/// pairs of a technique's number and its blocks. The preferred technique comes first. In each list
/// of blocks, the worst block comes first.
pub(super) fn choose(candidates: &[(usize, &[Snapshot])]) -> Option<(usize, usize)> {
    let with_blocks = || candidates.iter().filter(|(_, blocks)| !blocks.is_empty());
    let standing_out = with_blocks().find_map(|(technique, blocks)| {
        let (block, by) = furthest_out(blocks)?;
        (by >= STANDS_OUT).then_some((*technique, block))
    });
    standing_out.or_else(|| {
        let (technique, blocks) = with_blocks().next()?;
        Some((*technique, furthest_out(blocks).map_or(0, |(block, _)| block)))
    })
}

/// Returns the block whose worst wordline stands out most. Also returns the ratio of this
/// wordline's dose to the median dose of the block.
fn furthest_out(blocks: &[Snapshot]) -> Option<(usize, f64)> {
    let worst = blocks.first()?.worst_ratio();
    let near = blocks.iter().enumerate().filter(|(_, b)| b.worst_ratio() >= NEAR_WORST * worst);
    let by = near.filter_map(|(place, block)| Some((place, stands_out_by(block)?)));
    // If blocks have equal ratios, the first of them is chosen.
    by.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Returns the dose of a block's worst wordline, divided by the median dose of the block. Returns
/// `None` for a block with lost data or with little data.
fn stands_out_by(block: &Snapshot) -> Option<f64> {
    let worst = &block.wordlines[block.worst()?];
    let with_data = block.wordlines.iter().filter(|w| w.holds_data());
    let mut doses: Vec<f64> = with_data.map(|w| w.dose).collect();
    if doses.len() < FEWEST || worst.ratio() > 1.0 {
        return None;
    }
    doses.sort_by(f64::total_cmp);
    Some(worst.dose / doses[doses.len() / 2].max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dose::testing::block;

    #[test]
    fn the_block_with_the_lonely_wordline_is_shown_first() {
        // All limits are 100. In the second block, the dose of the worst wordline is 8 times the
        // median dose.
        let even = block(3, &[90.0; 9], 100.0);
        let lonely = block(8, &[10.0, 10.0, 80.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0], 100.0);
        let too_far = block(9, &[1.0, 1.0, 70.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        let blocks = [even.clone(), lonely, too_far];
        assert_eq!(choose(&[(1, &blocks), (0, &[])]), Some((1, 1)));
        // In each block of this technique, all doses are equal. Therefore the block is chosen from
        // the next technique.
        let evens = [even];
        assert_eq!(choose(&[(2, &evens), (1, &blocks)]), Some((1, 1)));
        assert_eq!(choose(&[(0, &[]), (2, &evens)]), Some((2, 0)));
        assert_eq!(choose(&[(0, &[])]), None);
    }

    #[test]
    fn blocks_that_lost_data_do_not_stand_out() {
        let lost = block(1, &[1.0, 1.0, 400.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        assert_eq!(stands_out_by(&lost), None);
        assert_eq!(choose(&[(0, &[lost])]), Some((0, 0)));
    }
}
