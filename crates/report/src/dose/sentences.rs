//! Sentences about doses, as markup for the page.

use super::rows::Snapshot;
use crate::numbers::{count, percent, two};
use crate::section::{bold, code};

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

/// Explains why the worst wordline of a block has its dose. `stride` is the distance between
/// neighbours in wordlines. For a block without data, the text is empty.
pub(super) fn because(technique: &str, block: &Snapshot, stride: usize) -> String {
    let Some(worst) = block.worst() else { return String::new() };
    let wordline = &block.wordlines[worst];
    let beside: Vec<usize> = block.beside(worst, stride).collect();
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
