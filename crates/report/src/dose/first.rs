//! Choice of the technique whose worst block the page shows first. The worst wordline of this block
//! should have a far larger dose than its other wordlines.

use super::rows::Snapshot;

/// Smallest number of wordlines with data for which the median of their doses is meaningful.
const FEWEST: usize = 9;
/// Smallest ratio at which a block's worst wordline stands out: its dose divided by the median
/// dose.
const STANDS_OUT: f64 = 2.5;

/// Chooses a technique whose worst block the page shows, and returns its place in the list. `all`
/// has the blocks of each technique, with the preferred technique and the worst block first.
/// Returns `None` if no technique has a block.
///
/// The page always explains the worst block, so that its share of the limit is the one that the map
/// and the table show.
pub(super) fn choose(all: &[&[Snapshot]]) -> Option<usize> {
    let worst = || all.iter().enumerate().filter_map(|(i, blocks)| Some((i, blocks.first()?)));
    let stands_out = |block: &Snapshot| stands_out_by(block).is_some_and(|by| by >= STANDS_OUT);
    let standing_out = worst().find(|(_, block)| stands_out(block));
    standing_out.or_else(|| worst().next()).map(|(place, _)| place)
}

/// Returns the dose of a block's worst wordline, divided by the median dose of the block. Returns
/// `None` for a block with lost data or with little data.
fn stands_out_by(block: &Snapshot) -> Option<f64> {
    let worst = &block.wordlines[block.worst()?];
    let mut doses: Vec<f64> = block.with_data().map(|w| block.wordlines[w].dose).collect();
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
    fn the_technique_whose_worst_wordline_is_lonely_is_shown_first() {
        // All limits are 100. In this block, the dose of the worst wordline is 8 times the median
        // dose.
        let lonely = block(8, &[10.0, 10.0, 80.0, 10.0, 10.0, 10.0, 10.0, 10.0, 10.0], 100.0);
        let even = block(3, &[90.0; 9], 100.0);
        let (evens, lonelies) = ([even.clone()], [lonely.clone(), even.clone()]);
        assert_eq!(choose(&[&evens, &lonelies, &lonelies]), Some(1));
        // The worst block is even. A lonely wordline in another block does not count.
        let even_first = [even, lonely];
        assert_eq!(choose(&[&even_first, &lonelies]), Some(1));
        assert_eq!(choose(&[&[], &even_first]), Some(1));
        assert_eq!(choose(&[&[]]), None);
    }

    #[test]
    fn blocks_that_lost_data_do_not_stand_out() {
        let lost = block(1, &[1.0, 1.0, 400.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 100.0);
        assert_eq!(stands_out_by(&lost), None);
        assert_eq!(choose(&[&[lost]]), Some(0));
    }
}
