//! Lives with rounds. In a round, reads bring all blocks of the drive to their limits at about the
//! same time, and all blocks are rewritten. A short life has only a few rounds.
//!
//! All blocks start without reads. Blocks with similar rates are therefore rewritten at similar
//! times in every round. If reads wear out the drive, the length of the life is uncertain by one
//! round. If the lives of all samples end within the same round, the lives do not show this
//! uncertainty.
//!
//! ```text
//! a life from 2,990 to 3,000 P/E cycles, worn nearly only by reads, has 10 rounds
//! its years are uncertain by one round, so by a tenth
//! ```

use super::summary::Life;

/// Number of P/E cycles of a life above which a round is less than 1 % of the life and does not
/// matter.
const MANY: f64 = 100.0;
/// Smallest share of pages programmed because of reads, among all programmed pages, for which
/// rounds matter.
const MOSTLY: f64 = 0.5;

/// Returns the number of rounds in a short life that reads wear out. The years of the life are
/// uncertain by one round. Returns `None` for all other lives, or if blocks start with random read
/// counts.
///
/// `for_reads` is the share of the programmed pages that were programmed because of reads. `cycles`
/// is the number of P/E cycles from start to end. `start_reads` is the value of the key
/// `start.reads`.
pub(super) fn in_step(for_reads: f64, cycles: f64, start_reads: u32) -> Option<f64> {
    (for_reads >= MOSTLY && cycles < MANY && start_reads == 0).then_some(cycles)
}

/// Returns a sentence if the years of any of these lives are uncertain by one round.
pub fn said(lives: &[Life]) -> Option<String> {
    let rounds = lives
        .iter()
        .filter(|life| life.ended)
        .filter_map(|life| life.rounds_in_step)
        .reduce(f64::min)?;
    Some(format!(
        "The simulated lives are short. All blocks start with a read count of 0, so the drive \
         rewrites all blocks at about the same time, in about {rounds:.0} rounds. The years are \
         uncertain by at least one round ({:.0} % of the life), even if the interval is smaller; \
         with an interval of 0, all lives ended in the same round. A smaller start.pec gives more \
         rounds. With start.reads, blocks are rewritten at different times.",
        100.0 / rounds.max(1.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::life;
    use super::*;
    use crate::mean_ci95::MeanCi95;

    #[test]
    fn short_lives_of_reads_end_in_step() {
        assert_eq!(in_step(0.9, 10.0, 0), Some(10.0));
        assert_eq!(
            [in_step(0.4, 10.0, 0), in_step(0.9, 100.0, 0), in_step(0.9, 10.0, 5000)],
            [None; 3]
        );
    }

    #[test]
    fn an_interval_of_0_is_explained() {
        let of = |rounds| Life {
            rounds_in_step: rounds,
            ..life(MeanCi95 { mean: 0.001, ci95: Some(0.0) })
        };
        let said_of = said(&[of(None), of(Some(9.8))]).unwrap();
        assert!(
            said_of.contains("about 10 rounds")
                && said_of.contains("10 %")
                && said_of.contains("interval of 0"),
            "{said_of}"
        );
        assert!(said(&[of(None)]).is_none());
        assert!(said(&[Life { ended: false, ..of(Some(3.0)) }]).is_none(), "it lives on");
    }
}
