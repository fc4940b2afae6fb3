//! Block that the page shows first. Its worst wordline should have a far larger dose than the other
//! wordlines.

use super::rows::Snapshot;

/// Smallest share of the largest dose over limit that makes a block a candidate.
const NEAR_WORST: f64 = 0.8;
/// Smallest number of wordlines with data for which their median dose is meaningful.
const FEWEST: usize = 9;
/// Smallest ratio of the worst wordline's dose to the median dose at which this wordline stands
/// out.
const STANDS_OUT: f64 = 2.5;

/// Chooses a technique and one of its blocks; `None` if no technique has a block. `candidates` has
/// the number of each technique and its blocks. The preferred technique comes first, and so does
/// the worst block of a technique.
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

/// Returns the block whose worst wordline stands out most, and the ratio of its dose to the median
/// dose.
fn furthest_out(blocks: &[Snapshot]) -> Option<(usize, f64)> {
    let worst = blocks.first()?.worst_ratio();
    let near = blocks.iter().enumerate().filter(|(_, b)| b.worst_ratio() >= NEAR_WORST * worst);
    let by = near.filter_map(|(place, block)| Some((place, stands_out_by(block)?)));
    // Of blocks with equal ratios, the first block wins.
    by.reduce(|best, next| if next.1 > best.1 { next } else { best })
}

/// Returns the ratio of the worst wordline's dose to the median dose of its block. `None` for a
/// block with lost data or with little data.
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
        // Limits are 100. The second block's worst wordline has 8 times the median dose.
        let even = block(3, &[90.0; 9], 100.0);
        let lonely = block(8, &[10.0, 10.0, 80.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0], 100.0);
        let too_far = block(9, &[1.0, 1.0, 70.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        let blocks = [even.clone(), lonely, too_far];
        assert_eq!(choose(&[(1, &blocks), (0, &[])]), Some((1, 1)));
        // If all blocks of a technique are even, the next technique has the choice.
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
