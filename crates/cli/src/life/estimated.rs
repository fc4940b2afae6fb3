//! Estimates of lives. vpass prints each estimate before the simulation. After the simulation,
//! vpass prints the estimate again, beside the simulated life.

use std::fmt::Write;

use serde_json::Value;
use vpass_lab::as_json;
use vpass_lab::compare::refused::{Refused, by_reason};
use vpass_lab::estimate::{self, Alone, Answer, bound};
use vpass_lab::failure::Failure;
use vpass_lab::life::climb::Contender;
use vpass_lab::life::summary::Life;
use vpass_lab::plain;
use vpass_lab::plan::{RunPlan, Tables};

use crate::exit::Exit;
use crate::out;
use crate::table::wrapped;

/// Prints estimates and bounds without a simulation.
pub(super) fn alone(
    contenders: &[Contender],
    refused: &[Refused],
    tables: &Tables,
    as_data: bool,
) -> Result<Exit, Failure> {
    let techniques: Vec<(&str, &RunPlan)> =
        contenders.iter().map(|contender| (&*contender.label, &contender.plan)).collect();
    let known = Alone::of(&techniques, tables)?;
    if as_data {
        out::print(&as_json::text(&known.json(refused)?)?)?;
        return Ok(Exit::Done);
    }
    for (labels, why) in by_reason(refused) {
        out::say(&format!("{labels}: refused: {why}"));
    }
    for sentence in known.sentences() {
        out::print(&format!("{}\n", wrapped(&plain::line(&sentence), 0)))?;
    }
    Ok(Exit::Done)
}

/// Estimated life of each technique, in the order of the techniques, and the life by the data
/// sheet.
pub(super) struct Estimated {
    answers: Vec<(String, Answer)>,
    years_by_tbw: Option<f64>,
    by_tbw: Option<String>,
}

impl Estimated {
    /// Estimates the life of each of these techniques. Each estimate is printed as soon as it is
    /// known.
    pub(super) fn at_once(contenders: &[Contender], tables: &Tables) -> Result<Self, Failure> {
        let mut answers = vec![];
        for Contender { label, plan } in contenders {
            let answer = estimate::of(plan)?;
            out::say(&estimate::early(label, &answer));
            answers.push((label.clone(), answer));
        }
        let plan = &contenders[0].plan;
        let years_by_tbw = bound::years_by_tbw(plan, tables)?;
        Ok(Self { answers, years_by_tbw, by_tbw: estimate::by_tbw(plan, years_by_tbw) })
    }

    /// Returns one sentence for each life. The sentence has the estimate, and the error of the
    /// estimate against the simulated life.
    pub(super) fn text(&self, lives: &[Life]) -> String {
        let mut text = "\n".to_owned();
        for life in lives {
            let Some((label, answer)) = self.answers.iter().find(|(label, _)| *label == life.label)
            else {
                continue;
            };
            let sentence = estimate::final_words(label, answer, simulated(life));
            let _ = writeln!(text, "{}", wrapped(&plain::line(&sentence), 0));
        }
        if let Some(sentence) = &self.by_tbw {
            let _ = writeln!(text, "{}", wrapped(sentence, 0));
        }
        text
    }

    /// Adds the estimate of each technique and the life by the data sheet to the JSON of the
    /// simulated lives.
    pub(super) fn add_to(&self, json: &mut Value, lives: &[Life]) -> Result<(), Failure> {
        json["years_by_tbw"] = as_json::value(&self.years_by_tbw)?;
        for (n, life) in lives.iter().enumerate() {
            let Some((_, answer)) = self.answers.iter().find(|(label, _)| *label == life.label)
            else {
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
