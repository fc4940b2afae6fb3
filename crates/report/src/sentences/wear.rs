//! Sentences about the wear of single blocks of the drive.

use crate::numbers::{count, sig};
use crate::section::{bold, code};

/// P/E cycles that the runs of one technique added to its blocks.
#[derive(Clone, Debug)]
pub struct Added<'a> {
    /// Label of the technique on the page.
    pub label: &'a str,
    /// Mean number of P/E cycles that were added to a block.
    pub mean: f64,
    /// Largest number of P/E cycles that were added to one block.
    pub most: f64,
}

/// Describes the block to which most P/E cycles were added. `start` is the number of P/E cycles of
/// a block before the run.
pub fn most_worn(start: f64, added: &[Added]) -> String {
    let Some(worst) = added.iter().max_by(|a, b| a.most.total_cmp(&b.most)) else {
        return String::new();
    };
    format!(
        "P/E cycles that the run added to a block; before the run, a block had {}. Under {}, the \
         run added {} cycles to the most worn block, and {} to the mean block.",
        count(start),
        code(worst.label),
        bold(&sig(worst.most)),
        sig(worst.mean)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_worn_block_is_named_with_the_mean() {
        let of = |label, mean, most| Added { label, mean, most };
        assert_eq!(
            most_worn(1500.0, &[of("none", 0.6, 1.0), of("block", 3.42, 66.0)]),
            "P/E cycles that the run added to a block; before the run, a block had 1,500. Under \
             <code>block</code>, the run added <b>66.0</b> cycles to the most worn block, and 3.42 \
             to the mean block."
        );
    }
}
