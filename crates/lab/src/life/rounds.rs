//! Lives that end in step: reads bring all blocks to their limits in rounds, and a short life ends
//! within one of them.
//!
//! All blocks begin unread. Blocks of similar rates are then rewritten at similar times, round
//! after round, in every sample. So a life that reads wear out is only known to a round, and
//! samples that end within the same round say nothing of that.
//!
//! ```text
//! 2,990 to 3,000 cycles, nearly all by reads: 10 rounds, and years are uncertain by a tenth
//! ```

use super::summary::Life;

/// Cycles from which on a round is too small a part of a life to matter: one in a hundred.
const MANY: f64 = 100.0;
/// Part of the programs that is for reads, from which on rounds show.
const MOSTLY: f64 = 0.5;

/// Rounds of rewriting that a life takes, where years are uncertain by one of them; none in longer
/// lives, lives that reads hardly wear, and where blocks begin out of phase.
///
/// `for_reads`: share of the programs that is for reads. `cycles`: P/E cycles from start to end.
/// `start_reads`: those of `start.reads`.
pub(super) fn in_step(for_reads: f64, cycles: f64, start_reads: u32) -> Option<f64> {
    (for_reads >= MOSTLY && cycles < MANY && start_reads == 0).then_some(cycles)
}

/// What a reader has to know of these lives: a sentence, where any is that short.
pub fn said(lives: &[Life]) -> Option<String> {
    let rounds = lives
        .iter()
        .filter(|life| life.ended)
        .filter_map(|life| life.rounds_in_step)
        .reduce(f64::min)?;
    Some(format!(
        "These lives are short: all blocks begin unread, so that reads have them rewritten in step, in about {rounds:.0} rounds. Years are uncertain by \
         a round, {:.0} %, whatever the interval says, and an interval of 0 means that all lives ended in the same one. A smaller start.pec \
         gives more rounds; start.reads begins out of phase.",
        100.0 / rounds.max(1.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::summary::tests::life;
    use super::*;
    use crate::compare::mean_ci95::MeanCi95;

    #[test]
    fn short_lives_of_reads_end_in_step() {
        assert_eq!(in_step(0.9, 10.0, 0), Some(10.0));
        assert_eq!(
            [in_step(0.4, 10.0, 0), in_step(0.9, 100.0, 0), in_step(0.9, 10.0, 5000)],
            [None; 3]
        );
    }

    #[test]
    fn an_interval_of_nothing_is_explained() {
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
