//! Techniques without a row in the table. A comparison refuses techniques that do not suit the
//! drive or the workload, and a drive may stop under a technique. All other techniques run.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::plan::{Cards, Choose, Chosen, RunPlan};

/// Combination of techniques that was refused before the first run, or whose drive stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Garbage collection policy.
    pub gc: String,
    /// Refresh technique. Null if the parity technique has a refresh of its own.
    pub refresh: Option<String>,
    /// Parity technique.
    pub parity: String,
    /// Label of the combination.
    pub label: String,
    /// Reason for the refusal or the stop, in a sentence.
    pub why: String,
}

impl Refused {
    /// Looks up the techniques of a combination.
    ///
    /// # Errors
    /// Returns an error if the name of a technique is unknown.
    pub fn of(named: Chosen, label: String, why: String) -> Result<Self, Failure> {
        Ok(Self::new(named.cards()?, label, why))
    }

    fn new(cards: Cards, label: String, why: String) -> Self {
        let Cards { reclaim, gc, refresh, parity } = cards;
        Self {
            reclaim: reclaim.name.into(),
            gc: gc.name.into(),
            refresh: refresh.map(|refresh| refresh.name.into()),
            parity: parity.name.into(),
            label,
            why,
        }
    }

    /// Describes a technique that has no row because the drive stopped in at least one run.
    pub(super) fn stopped(plan: &RunPlan, label: String, why: String) -> Self {
        let RunPlan { reclaim, gc, refresh, parity, .. } = *plan;
        Self::new(Cards { reclaim, gc, refresh: Some(refresh), parity }, label, why)
    }
}

/// Returns each reason for a refusal once, together with the labels of all techniques that were
/// refused for this reason. The labels form one text, such as "`a`, `b`".
pub fn by_reason(refused: &[Refused]) -> Vec<(String, &str)> {
    grouped(refused.iter().map(|row| (row.why.as_str(), row.label.clone())))
}

/// Groups labels by their reasons, and returns the labels of each reason as a text.
pub(super) fn grouped<'a>(all: impl Iterator<Item = (&'a str, String)>) -> Vec<(String, &'a str)> {
    let mut reasons: Vec<(String, &str)> = vec![];
    for (why, label) in all {
        match reasons.iter_mut().find(|(_, known)| *known == why) {
            Some((labels, _)) => labels.extend([", ", &label]),
            None => reasons.push((label, why)),
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_the_same_reason_share_one_line() {
        let of = |label: &str, why: &str| {
            Refused::of(Chosen::default(), label.into(), why.into()).unwrap()
        };
        let refused = [of("a", "no time"), of("b", "no room"), of("c", "no time")];
        assert_eq!(
            by_reason(&refused),
            [("a, c".to_owned(), "no time"), ("b".to_owned(), "no room")]
        );
        assert!(
            Refused::of(
                Chosen { reclaim: "blok", ..Chosen::default() },
                String::new(),
                String::new()
            )
            .is_err()
        );
    }
}
