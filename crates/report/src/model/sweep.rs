//! Model of the results that `vpass sweep --out` wrote into a folder. Each point of the sweep has a
//! comparison.

use std::collections::BTreeMap;

use vpass_lab::compare::sweep;
use vpass_lab::failure::Failure;

use super::{Kind, Model, Row, runs};
use crate::folder::Folder;

/// Results of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Keys that the sweep varies, such as `start.pec`.
    pub keys: Vec<String>,
    /// Points in the order in which the sweep ran them.
    pub points: Vec<Point>,
}

impl Sweep {
    /// Returns the results of all techniques at all points.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.points.iter().filter_map(|point| point.model.as_ref()).flat_map(Model::all)
    }
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
    let sweep: Option<sweep::Sweep> = folder.read_as("sweep.json")?;
    let Some(sweep) = sweep.filter(|sweep| !sweep.swept.is_empty()) else {
        return Err(folder.wrong("sweep.json", "`swept` is empty"));
    };
    let (mut points, mut notes) = (vec![], vec![]);
    for point in &sweep.points {
        let values = sweep.values(point);
        let at = name(&sweep.swept, &values);
        notes.extend(without_results(point, &at));
        let model = point.comparison.clone().map(runs::of_point).transpose()?;
        let of_model = model.iter().flat_map(|model| &model.notes);
        notes.extend(of_model.map(|note| format!("{at}: {note}")));
        points.push(Point { values, model });
    }
    let first = points.iter().find_map(|point| point.model.as_ref());
    let first = first.ok_or_else(|| folder.wrong("sweep.json", "no point has results"))?;
    Ok(Model {
        kind: Kind::Sweep,
        about: first.about.clone(),
        winners: winners(&points),
        findings: BTreeMap::new(),
        verdict: vec![],
        notes,
        rows: rows(&points),
        others: vec![],
        manifest: folder.json("manifest.json")?.unwrap_or_default(),
        sweep: Some(Sweep { keys: sweep.swept, points }),
    })
}

/// Returns sentences about the techniques that have no results at a point. If the point has a
/// comparison, that comparison lists the stopped techniques itself.
fn without_results(point: &sweep::Point, at: &str) -> Vec<String> {
    let refused = point.refused.iter().map(|row| {
        let who = row.label.as_deref().unwrap_or("the point");
        format!("{at}: {who} was refused: {}", row.why)
    });
    let stopped = point.stopped.iter().filter(|_| point.comparison.is_none());
    let stopped =
        stopped.map(|row| format!("{at}: {} stopped without results: {}", row.label, row.why));
    refused.chain(stopped).collect()
}

/// Returns the values of a point as text, such as `start.pec = 1500, workload.read_share = 0.9`.
pub(crate) fn name(keys: &[String], values: &[String]) -> String {
    let pairs = keys.iter().zip(values).map(|(key, value)| format!("{key} = {value}"));
    pairs.collect::<Vec<_>>().join(", ")
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
