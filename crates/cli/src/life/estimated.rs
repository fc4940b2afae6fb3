//! Estimates of lives. vpass prints each estimate before the simulation. After the simulation,
//! vpass prints the estimate again, beside the simulated life.

use std::fmt::Write;

use serde_json::Value;
use vpass_lab::as_json;
use vpass_lab::estimate::{self, Answer};
use vpass_lab::failure::Failure;
use vpass_lab::life::summary::Life;
use vpass_lab::plain;
use vpass_lab::plan::RunPlan;

use crate::out;
use crate::table::wrapped;

/// Estimated life of each technique, in the order of the techniques.
pub(super) struct Estimated(Vec<(String, Answer)>);

impl Estimated {
    /// Estimates the life of each of these techniques. Each estimate is printed as soon as it is
    /// known.
    pub(super) fn at_once<'a>(
        techniques: impl IntoIterator<Item = (&'a str, &'a RunPlan)>,
    ) -> Result<Self, Failure> {
        let mut all = vec![];
        for (label, plan) in techniques {
            let answer = estimate::of(plan)?;
            out::say(&estimate::early(label, &answer));
            all.push((label.to_owned(), answer));
        }
        Ok(Self(all))
    }

    /// Returns one sentence for each life. The sentence has the estimate, and the error of the
    /// estimate against the simulated life.
    pub(super) fn text(&self, lives: &[Life]) -> String {
        let mut text = "\n".to_owned();
        for life in lives {
            let Some((label, answer)) = self.0.iter().find(|(label, _)| *label == life.label)
            else {
                continue;
            };
            let sentence = estimate::final_words(label, answer, simulated(life));
            let _ = writeln!(text, "{}", wrapped(&plain::line(&sentence), 0));
        }
        text
    }

    /// Adds the estimate of each technique to the JSON of the simulated lives.
    pub(super) fn add_to(&self, json: &mut Value, lives: &[Life]) -> Result<(), Failure> {
        for (n, life) in lives.iter().enumerate() {
            let Some((_, answer)) = self.0.iter().find(|(label, _)| *label == life.label) else {
                continue;
            };
            if let Some(technique) = json
                .get_mut("techniques")
                .and_then(|all| all.get_mut(n))
                .and_then(Value::as_object_mut)
            {
                technique.insert(
                    "estimate".into(),
                    as_json::value(&estimate::Record::of(answer, simulated(life)))?,
                );
            }
        }
        Ok(())
    }
}

/// Returns the years of a simulated life; `None` if the drive was not worn out when the simulation
/// ended.
fn simulated(life: &Life) -> Option<f64> {
    Some(life.years.mean).filter(|_| life.worn_out)
}
