//! Answer without a simulation: estimates, a bound of the life, and the life by the data sheet.

use serde::Serialize;
use serde_json::Value;

use super::bound::{self, Bound};
use super::{Answer, Record, early, of};
use crate::as_json;
use crate::compare::refused::Refused;
use crate::failure::Failure;
use crate::numbers::{digits, years};
use crate::plan::{RunPlan, Tables};
use crate::results::About;

/// Estimated life of each technique, and what is known of the life without a simulation.
pub struct Alone<'a> {
    plan: &'a RunPlan,
    answers: Vec<(&'a str, Answer)>,
    /// Upper bound of the life, if a technique has no estimate.
    at_most: Option<Bound>,
    years_by_tbw: Option<f64>,
}

impl<'a> Alone<'a> {
    /// Estimates the life of each technique. Each technique has a label and a plan, and all plans
    /// have the same drive and workload.
    ///
    /// # Errors
    /// Returns an error if the workload cannot be read.
    ///
    /// # Panics
    /// Panics without a technique.
    pub fn of(techniques: &[(&'a str, &'a RunPlan)], tables: &Tables) -> Result<Self, Failure> {
        let (_, plan) = techniques[0];
        let answers = techniques
            .iter()
            .map(|(label, plan)| Ok((*label, of(plan)?)))
            .collect::<Result<Vec<_>, Failure>>()?;
        let is_open = answers.iter().any(|(_, answer)| answer.is_err());
        let at_most = if is_open { bound::at_most(plan, tables)? } else { None };
        Ok(Self { plan, answers, at_most, years_by_tbw: bound::years_by_tbw(plan, tables)? })
    }

    /// Returns the answer as sentences.
    pub fn sentences(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.answers.iter().map(|(label, answer)| early(label, answer)).collect();
        if self.answers.iter().any(|(_, answer)| answer.is_err()) {
            all.push(self.at_most.as_ref().map_or_else(
                || {
                    "No bound: the host writes nothing, or the times of its writes are unknown."
                        .into()
                },
                |bound| bound.sentence.clone(),
            ));
        }
        all.extend(by_tbw(self.plan, self.years_by_tbw));
        all
    }

    /// Returns the answer as JSON. `refused` has the refused techniques.
    ///
    /// # Errors
    /// Returns an error if JSON cannot represent a value.
    pub fn json(&self, refused: &[Refused]) -> Result<Value, Failure> {
        #[derive(Serialize)]
        struct Row<'a> {
            label: &'a str,
            estimate: Record,
        }
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            about: About,
            techniques: Vec<Row<'a>>,
            at_most: &'a Option<Bound>,
            years_by_tbw: Option<f64>,
            #[serde(skip_serializing_if = "<[Refused]>::is_empty")]
            refused: &'a [Refused],
        }
        let row =
            |(label, answer): &(&'a str, Answer)| Row { label, estimate: Record::of(answer, None) };
        as_json::value(&All {
            about: self.plan.about(1),
            techniques: self.answers.iter().map(row).collect(),
            at_most: &self.at_most,
            years_by_tbw: self.years_by_tbw,
            refused,
        })
    }
}

/// Returns the sentence about the life by the data sheet. Returns `None` without such a life.
pub fn by_tbw(plan: &RunPlan, years_by_tbw: Option<f64>) -> Option<String> {
    let (life, terabytes) = years_by_tbw.zip(plan.drive.config.sheet.tbw)?;
    Some(format!(
        "By its data sheet ({} TB written), a new drive lasts {} under these writes.",
        digits(terabytes),
        years(life, None)
    ))
}
