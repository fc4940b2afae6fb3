//! Results of a sweep as text, as CSV, and as JSON.

use serde_json::{Map, Value, json};
use vpass_lab::as_json;
use vpass_lab::compare::column::COLUMNS;
use vpass_lab::compare::json_of;
use vpass_lab::compare::refused::Refused;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::stands;
use vpass_lab::failure::Failure;
use vpass_lab::plan::RunPlan;
use vpass_report::csv::cell;

use super::axis::Swept;

/// Finished comparison at one point of a sweep, or the reason why there is no comparison.
pub(super) struct Done {
    pub(super) swept: Swept,
    pub(super) rows: Vec<ComparisonRow>,
    pub(super) stopped: Vec<Refused>,
    /// Refused techniques, each with its label and the reason. An entry without a label means that
    /// the whole point was refused.
    pub(super) refused: Vec<(Option<String>, String)>,
}

impl Done {
    /// Returns the values of the swept keys as text, as `--set` would take them.
    pub(super) fn name(&self) -> String {
        let pairs = self.swept.iter().map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(" ")
    }

    /// Returns a sentence for each technique whose drive stopped before the end of the run.
    pub(super) fn stops(&self) -> impl Iterator<Item = String> {
        let at = self.name();
        let sentence = move |row: &Refused| format!("{at}, under {}: {}", row.label, row.why);
        self.stopped.iter().map(sentence)
    }
}

/// Returns the names of the swept keys.
pub(super) fn keys(all: &[Done]) -> Vec<String> {
    all.first()
        .map_or_else(Vec::new, |done| done.swept.iter().map(|(key, _)| key.clone()).collect())
}

/// Returns the results of all points as CSV, with a row for each technique. The swept keys are
/// columns. The last column, `life_settled`, says whether a projected life can be ranked.
pub(super) fn csv(all: &[Done]) -> String {
    let shown: Vec<usize> = (0..COLUMNS.len())
        .filter(|c| all.iter().any(|done| !done.rows.is_empty() && stands(&done.rows, *c)))
        .collect();
    let mut header = keys(all);
    header.extend(["reclaim", "gc", "refresh", "parity", "runs", "refused"].map(String::from));
    for column in &shown {
        header.extend([COLUMNS[*column].key.into(), format!("{}_ci95", COLUMNS[*column].key)]);
    }
    header.push("life_settled".into());
    let mut text = line(&header);
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
    for done in all {
        let swept: Vec<String> = done.swept.iter().map(|(_, value)| value.clone()).collect();
        for row in &done.rows {
            let mut cells = swept.clone();
            cells.extend([row.reclaim, row.gc, row.refresh, row.parity].map(String::from));
            cells.extend([row.runs.len().to_string(), String::new()]);
            for e in shown.iter().map(|c| row.means[*c]) {
                cells.extend([number(e.map(|e| e.mean)), number(e.and_then(|e| e.ci95))]);
            }
            cells.push(row.life_settled().to_string());
            text += &line(&cells);
        }
        let stopped = done.stopped.iter().map(|row| (Some(row.label.clone()), row.why.clone()));
        for (label, why) in done.refused.iter().cloned().chain(stopped) {
            let mut cells = swept.clone();
            cells.extend([label.unwrap_or_default(), String::new(), String::new()]);
            cells.extend([String::new(), "0".into(), why]);
            cells.resize(header.len(), String::new());
            text += &line(&cells);
        }
    }
    text
}

fn line(cells: &[String]) -> String {
    cells.iter().map(|text| cell(text)).collect::<Vec<_>>().join(",") + "\n"
}

/// Returns the manifest of the sweep. The manifest says how to repeat the sweep.
///
/// # Errors
/// Returns an error for a value that JSON cannot hold.
pub(super) fn manifest() -> Result<String, Failure> {
    as_json::text(&crate::call::manifest("sweep"))
}

/// Returns the results of all points as JSON. `plans` has the first plan of each point, if the
/// point has plans.
///
/// # Errors
/// Returns an error for a value that JSON cannot hold.
pub(super) fn json(all: &[Done], plans: &[Option<&RunPlan>], seeds: u32) -> Result<Value, Failure> {
    let mut points = vec![];
    for (done, plan) in all.iter().zip(plans) {
        let swept: Map<String, Value> =
            done.swept.iter().map(|(key, value)| (key.clone(), value.clone().into())).collect();
        let comparison = match plan {
            Some(plan) if !done.rows.is_empty() => json_of(&done.rows, &done.stopped, plan, seeds)?,
            _ => Value::Null,
        };
        let refused: Vec<Value> =
            done.refused.iter().map(|(label, why)| json!({ "label": label, "why": why })).collect();
        let stopped = as_json::value(&done.stopped)?;
        points.push(json!({
            "swept": swept,
            "comparison": comparison,
            "refused": refused,
            "stopped": stopped,
        }));
    }
    Ok(json!({
        "schema": 1,
        "vpass": env!("CARGO_PKG_VERSION"),
        "swept": keys(all),
        "seeds": seeds,
        "points": points,
    }))
}
