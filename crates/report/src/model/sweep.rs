//! Model of the results that `vpass sweep --out` wrote into a folder. Each point of the sweep has a
//! comparison.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;

use super::compared;
use super::{Kind, Model, Row, sentences, text};
use crate::folder::Folder;

/// Results of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Keys that the sweep varies, such as `start.pec`.
    pub keys: Vec<String>,
    /// Points in the order in which the sweep ran them.
    pub points: Vec<Point>,
}

/// Point of a sweep.
#[derive(Clone, Debug)]
pub struct Point {
    /// Value of each swept key at this point, as the user wrote it.
    pub values: Vec<String>,
    /// Comparison of techniques at this point; absent if the point was refused.
    pub model: Option<Model>,
}

impl Point {
    /// Returns the results of the technique with this label; `None` if it has no results.
    pub fn row(&self, label: &str) -> Option<&Row> {
        self.model.as_ref()?.all().find(|row| row.label == label)
    }

    /// Returns the techniques that win in a column at this point.
    pub fn winners_of(&self, key: &str) -> Vec<&Row> {
        self.model.as_ref().map_or_else(Vec::new, |model| model.winners_of(key))
    }
}

/// Reads the results of a sweep from its folder.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    let json = folder.json("sweep.json")?.unwrap_or(Value::Null);
    let keys = sentences(json.get("swept"));
    let all = json.get("points").and_then(Value::as_array).filter(|all| !all.is_empty());
    let all = all.ok_or_else(|| folder.wrong("sweep.json", "`points` is missing or empty"))?;
    if keys.is_empty() {
        return Err(folder.wrong("sweep.json", "`swept` is missing or empty"));
    }
    let (mut points, mut notes) = (vec![], vec![]);
    for point in all {
        let value = |key: &String| {
            let value = point.get("swept").and_then(|swept| swept.get(key));
            value.map_or_else(String::new, |v| v.as_str().map_or(v.to_string(), str::to_owned))
        };
        let values: Vec<String> = keys.iter().map(value).collect();
        let at = name(&keys, &values);
        let comparison = point.get("comparison").filter(|json| json.is_object());
        notes.extend(without_results(point, &at, comparison.is_some()));
        let model = comparison.map(|json| of_point(folder, json)).transpose()?;
        let of_model = model.iter().flat_map(|model| &model.notes);
        notes.extend(of_model.map(|note| format!("{at}: {note}")));
        points.push(Point { values, model });
    }
    let first = points.iter().find_map(|point| point.model.clone());
    let first = first.ok_or_else(|| folder.wrong("sweep.json", "no point has results"))?;
    let rows = rows(&points);
    Ok(Model {
        kind: Kind::Sweep,
        drive: first.drive,
        workload: first.workload,
        winners: winners(&points),
        tied: BTreeMap::new(),
        verdict: vec![],
        notes,
        rows,
        others: vec![],
        manifest: folder.json("manifest.json")?.unwrap_or(Value::Null),
        facts: compared::without(json, "points"),
        sweep: Some(Sweep { keys, points }),
    })
}

/// Returns sentences about the techniques that have no results at a point. If the point has a
/// comparison, that comparison lists the stopped techniques itself.
fn without_results(point: &Value, at: &str, has_comparison: bool) -> Vec<String> {
    let all = |key: &str| point.get(key).and_then(Value::as_array).into_iter().flatten();
    let sentence = |row: &Value, what: &str| {
        let label = text(row, "label");
        let who = if label.is_empty() { "the point".to_owned() } else { label };
        format!("{at}: {who} {what}: {}", text(row, "why"))
    };
    let refused = all("refused").map(|row| sentence(row, "was refused"));
    let stopped = all("stopped").filter(|_| !has_comparison);
    refused.chain(stopped.map(|row| sentence(row, "stopped without results"))).collect()
}

/// Returns the values of a point as text, such as `start.pec = 1500, workload.read_share = 0.9`.
pub(crate) fn name(keys: &[String], values: &[String]) -> String {
    let pairs = keys.iter().zip(values).map(|(key, value)| format!("{key} = {value}"));
    pairs.collect::<Vec<_>>().join(", ")
}

fn of_point(folder: &Folder, json: &Value) -> Result<Model, Failure> {
    let mut model = compared::of_json(folder, "sweep.json", json.clone())?;
    model.mark_baselines();
    Ok(model)
}

/// Returns a row for each technique that any point has. The rows have no numbers. Lost pages and
/// warnings are collected from all points.
fn rows(points: &[Point]) -> Vec<Row> {
    let mut rows: Vec<Row> = vec![];
    for row in points.iter().filter_map(|point| point.model.as_ref()).flat_map(Model::all) {
        if let Some(known) = rows.iter_mut().find(|known| known.label == row.label) {
            known.lost_pages += row.lost_pages;
            let new = row.warnings.iter().filter(|w| !known.warnings.contains(w));
            let new: Vec<String> = new.cloned().collect();
            known.warnings.extend(new);
        } else {
            let (cells, runs) = (BTreeMap::new(), vec![]);
            rows.push(Row { cells, runs, life: None, ..row.clone() });
        }
    }
    rows
}

/// Returns, for each column, the techniques that win at any point.
fn winners(points: &[Point]) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for model in points.iter().filter_map(|point| point.model.as_ref()) {
        for key in model.winners.keys() {
            let known = all.entry(key.clone()).or_default();
            for row in model.winners_of(key) {
                if !known.contains(&row.label) {
                    known.push(row.label.clone());
                }
            }
        }
    }
    all
}
