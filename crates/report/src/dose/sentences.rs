//! Sentences about doses, as markup for the page.

use super::rows::Snapshot;
use crate::numbers::{count, percent, times, two};
use crate::section::{bold, code};
use crate::sentences::list;

/// Smallest share of a limit at which technique `block` is about to rewrite a block. The technique
/// assumes that all reads of the block hit neighbours of its weakest wordline.
const ALMOST_DUE: f64 = 0.8;

/// Describes how much more a read disturbs the neighbours of its wordline than other wordlines.
/// `weights` has the smallest and the largest dose that a read adds to a neighbour. `stride` is the
/// distance between neighbours in wordlines.
pub(super) fn neighbours(weights: (f64, f64), stride: u32) -> String {
    let (low, high) = weights;
    let range = match (two(low), two(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    };
    let away = match stride {
        1 => String::new(),
        n => format!(" ({n} wordlines away)"),
    };
    if high <= 1.0 {
        return "A read adds the same dose to every wordline of its block.".into();
    }
    format!(
        "A read of a wordline adds {range} times as much dose to the two neighbours{away} as to \
         the rest of the block."
    )
}

/// Describes how far doses exceeded their limits under the technique with the largest ratio of dose
/// to limit. If no dose exceeded its limit, the text is empty.
pub(super) fn past_limit(worst: &[(&str, f64)]) -> String {
    let past = worst.iter().filter(|(_, ratio)| *ratio > 1.0);
    let Some((name, ratio)) = past.max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return String::new();
    };
    let under_technique = match *name {
        "none" => "Without reclaim".into(),
        name => format!("Under {}", code(name)),
    };
    format!(
        "{under_technique} the worst wordline gets {times} the dose that it endures.",
        times = bold(&times(*ratio))
    )
}

/// Describes which shares of their limits the doses of wordlines reached. `shares` has the
/// techniques that may win, each with its largest ratio of dose to limit. Shares count as equal if
/// the page shows them by the same text.
pub(super) fn reached(shares: &[(&str, f64)]) -> String {
    let text = |share: f64| bold(&percent(100.0 * share));
    let low = shares.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let high = shares.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
    let (Some((low, low_share)), Some((high, high_share))) = (low, high) else {
        return String::new();
    };
    if text(*low_share) == text(*high_share) {
        let names: Vec<String> = shares.iter().map(|(name, _)| code(name)).collect();
        return format!(
            "Under {} the worst wordline reaches {} of its limit.",
            list(&names),
            text(*high_share)
        );
    }
    format!(
        "The worst wordline reaches {} of its limit under {}, and {} under {}.",
        text(*low_share),
        code(low),
        text(*high_share),
        code(high)
    )
}

/// Explains why the worst wordline of a block has its dose. `stride` is the distance between
/// neighbours in wordlines. For a block without data, the text is empty.
pub(super) fn because(technique: &str, block: &Snapshot, stride: usize) -> String {
    let Some(worst) = block.worst() else { return String::new() };
    let wordline = &block.wordlines[worst];
    let beside = [worst.checked_sub(stride), Some(worst + stride)].into_iter().flatten();
    let beside: Vec<usize> = beside.filter(|w| *w < block.wordlines.len()).collect();
    let reads = |w: &usize| block.wordlines[*w].reads;
    let of_neighbours = wordline.alpha * beside.iter().map(reads).sum::<f64>();
    let times = |w: &usize| bold(&count(reads(w).round()));
    let why = match &beside[..] {
        [] => String::new(),
        _ if 2.0 * of_neighbours < wordline.dose => {
            let all = block.wordlines.iter().map(|w| w.reads).sum::<f64>();
            format!("its block was read {} times", bold(&count(all.round())))
        }
        [one] => format!("wordline {one} was read {} times", times(one)),
        [one, other, ..] => format!(
            "wordlines {one} and {other} were read {} and {} times",
            times(one),
            times(other)
        ),
    };
    let because = if why.is_empty() { why } else { format!(", because {why}") };
    format!(
        "Under {}, wordline {worst} of block {} is at {} of its limit{because}.",
        code(technique),
        block.block,
        bold(&percent(100.0 * wordline.ratio()))
    )
}

/// Explains why technique `block` rewrites this block early. The technique counts the reads of the
/// whole block, and does not know which wordlines these reads disturb.
///
/// For other techniques, the text is empty. For a block whose read count is far below the
/// threshold, the text is empty too.
pub(super) fn early(reclaim: &str, block: &Snapshot) -> String {
    let reads: f64 = block.wordlines.iter().map(|w| w.reads).sum();
    let with_data = block.wordlines.iter().filter(|w| w.valid_pages > 0 && w.limit > 0.0);
    let as_if = with_data.map(|w| reads * w.alpha / w.limit).fold(0.0, f64::max);
    if reclaim != "block" || as_if < ALMOST_DUE {
        return String::new();
    }
    format!(
        "{} knows only how often the block was read. If all {} reads had been beside the weakest \
         wordline, this wordline would be at {} of its limit; therefore the block is rewritten.",
        code(reclaim),
        count(reads.round()),
        bold(&percent(100.0 * as_if))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dose::testing::block;

    /// Removes the tags from markup, and replaces non-breaking spaces by plain spaces.
    fn plain(markup: &str) -> String {
        let marks = ["<b>", "</b>", "<code>", "</code>"];
        marks.iter().fold(markup.replace('\u{a0}', " "), |text, mark| text.replace(mark, ""))
    }

    #[test]
    fn the_weight_of_a_neighbour_is_a_number_or_a_range() {
        assert_eq!(
            neighbours((9.0, 9.0), 1),
            "A read of a wordline adds 9.0 times as much dose to the two neighbours as to the rest \
             of the block."
        );
        assert!(neighbours((8.7, 9.4), 4).contains(
            "8.7 to 9.4 times as much dose to the two \
             neighbours (4 wordlines away)"
        ));
        assert!(neighbours((1.0, 1.0), 1).starts_with("A read adds the same dose"));
    }

    #[test]
    fn the_furthest_past_its_limit_is_named() {
        let sentence = past_limit(&[("block", 0.15), ("none", 37.2), ("bare", 2.0)]);
        assert_eq!(
            plain(&sentence),
            "Without reclaim the worst wordline gets 37 times the dose that it endures."
        );
        let sentence = past_limit(&[("a<b", 1.5)]);
        assert!(sentence.starts_with("Under <code>a&lt;b</code> the"), "{sentence}");
        assert_eq!(past_limit(&[("block", 1.0)]), "");
    }

    #[test]
    fn the_smallest_and_the_largest_share_are_named() {
        let shares = [("straw", 0.9), ("block", 0.152), ("ipr-wl", 0.96)];
        assert_eq!(
            plain(&reached(&shares)),
            "The worst wordline reaches 15 % of its limit under block, and 96 % under ipr-wl."
        );
        // Both shares are shown as 90 %.
        assert_eq!(
            plain(&reached(&[("a", 0.896), ("b", 0.904)])),
            "Under a and b the worst wordline reaches 90 % of its limit."
        );
        assert!(
            plain(&reached(&[("a", 0.9), ("b", 0.909)])).ends_with("under a, and 91 % under b.")
        );
        assert_eq!(
            plain(&reached(&shares[1..2])),
            "Under block the worst wordline reaches 15 % of its limit."
        );
        assert_eq!(reached(&[]), "");
    }

    #[test]
    fn block_is_early_because_it_counts_whole_blocks() {
        // The neighbours have 1,100 reads, and each of these adds a dose of 9. The sum is 99 % of
        // the limit of 10,000.
        let mut near = block(69, &[0.0, 10.0, 1500.0, 10.0, 20.0], 10_000.0);
        (near.wordlines[0].reads, near.wordlines[4].reads) = (600.0, 500.0);
        assert_eq!(
            plain(&early("block", &near)),
            "block knows only how often the block was read. If all 1,100 reads had been beside the \
             weakest wordline, this wordline would be at 99 % of its limit; therefore the block is \
             rewritten."
        );
        assert_eq!(early("straw-wl", &near), "", "it counts wordlines");
        near.wordlines[0].reads = 0.0;
        assert_eq!(early("block", &near), "", "500 reads are 45 %");
    }

    #[test]
    fn the_reads_that_caused_a_dose_are_named() {
        let mut near = block(69, &[0.0, 10.0, 5000.0, 10.0, 20.0], 10_000.0);
        (near.wordlines[1].reads, near.wordlines[3].reads) = (300.0, 200.0);
        assert_eq!(
            plain(&because("ipr-wl", &near, 1)),
            "Under ipr-wl, wordline 2 of block 69 is at 50 % of its limit, because wordlines 1 and \
             3 were read 300 and 200 times."
        );
        // The wordlines at a distance of two were never read. Reads of neighbours thus explain less
        // than half of the whole dose.
        assert!(plain(&because("x", &near, 2)).ends_with("because its block was read 500 times."));
        // This wordline has only one neighbour in its block.
        (near.wordlines[3].reads, near.wordlines[4].dose) = (1000.0, 9000.0);
        assert!(plain(&because("x", &near, 1)).ends_with(
            "wordline 4 of block 69 is at 90 % of its limit, because wordline 3 was \
                     read 1,000 times."
        ));
        near.wordlines.iter_mut().for_each(|w| w.valid_pages = 0);
        assert_eq!(because("x", &near, 1), "");
    }
}
