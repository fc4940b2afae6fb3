//! Sentences about the causes of wear during a life.

use crate::model::{Model, Row};
use crate::numbers::percent;
use crate::section::{bold, code};
use crate::sentences::verdict::leader;

/// Returns the share of one cause in all programmed pages, from 0 to 1; `None` if no page was
/// programmed.
pub fn share(programs: &[f64; 6], cause: usize) -> Option<f64> {
    let all: f64 = programs.iter().sum();
    (all > 0.0).then(|| programs[cause] / all)
}

/// Index of read reclaim in the list of causes of wear.
const RECLAIM: usize = 2;

/// Describes which share of programmed pages rewrote data because of reads. The sentence compares
/// the technique with the largest share and the winner. Without a winner, the technique with the
/// smallest share is used instead.
pub fn consumed(model: &Model, programs: &[[f64; 6]]) -> String {
    let mut of: Vec<(&Row, f64)> = model
        .rows
        .iter()
        .zip(programs)
        .filter_map(|(row, programs)| Some((row, share(programs, RECLAIM)?)))
        .filter(|(row, _)| row.may_win())
        .collect();
    of.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((most, share)) = of.first() else {
        return "No technique that protects data programmed a page.".into();
    };
    let first = format!(
        "Under {}, {} of all programmed pages are rewrites because of reads",
        code(&most.label),
        bold(&percent(100.0 * share))
    );
    let best = leader(model).map(|row| row.label.as_str());
    let other = of[1..].iter().find(|(row, _)| Some(row.label.as_str()) == best).or(of[1..].last());
    let other = other.map(|(row, share)| {
        format!("; under {} {}", code(&row.label), bold(&percent(100.0 * share)))
    });
    format!("{first}{}. The chart shows the other causes.", other.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared;

    #[test]
    fn the_sentence_names_the_largest_share_and_the_winner() {
        let model = compared();
        let programs: Vec<[f64; 6]> = vec![
            [1.0, 1.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 1.0, 6.0, 0.0, 0.0, 0.0],
            [1.0, 0.8, 0.2, 0.0, 0.0, 0.0],
        ];
        assert_eq!(
            consumed(&model, &programs),
            "Under <code>block</code>, <b>75\u{a0}%</b> of all programmed pages are rewrites \
             because of reads; under <code>straw-wl</code> <b>10\u{a0}%</b>. The chart shows the \
             other causes."
        );
    }
}
