//! Model of the results that `vpass compare --out` wrote into a folder.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;

use super::{Cell, Kind, Life, Model, Row, Run, manifest_of, sentences, text};
use crate::columns::number;
use crate::folder::Folder;

/// Reads the results of a comparison from its folder.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    of_json(folder, "compare.json", folder.json("compare.json")?.unwrap_or(Value::Null))
}

/// Reads a comparison from the JSON content of a file.
pub(super) fn of_json(folder: &Folder, file: &str, json: Value) -> Result<Model, Failure> {
    let techniques = json.get("techniques").and_then(Value::as_array);
    let techniques = techniques
        .filter(|all| !all.is_empty())
        .ok_or_else(|| folder.wrong(file, "`techniques` is missing or empty"))?;
    techniques.iter().try_for_each(|t| folder.needed_text(file, t, "reclaim").map(drop))?;
    let labels = labels(techniques);
    let rows: Vec<Row> = techniques
        .iter()
        .zip(labels)
        .map(|(technique, label)| row(folder, technique, label))
        .collect::<Result<_, _>>()?;
    let manifest = rows[0].runs.first().map(|run| manifest_of(&run.folder)).transpose()?;
    Ok(Model {
        kind: Kind::Runs,
        drive: folder.needed_text(file, &json, "drive")?,
        workload: folder.needed_text(file, &json, "workload")?,
        winners: labels_of(&json, "winners", &rows),
        tied: labels_of(&json, "not_told_apart", &rows),
        verdict: sentences(json.get("verdict")),
        notes: notes(&json),
        rows,
        others: vec![],
        manifest: manifest.map_or(Value::Null, |(manifest, _)| manifest),
        sweep: None,
        facts: without(json, "techniques"),
    })
}

/// Returns a JSON object without this key.
pub(super) fn without(mut object: Value, key: &str) -> Value {
    if let Some(map) = object.as_object_mut() {
        map.remove(key);
    }
    object
}

/// Returns a label for each technique. `compare` usually stored the label. If the label is missing,
/// it is made from the parts in which the techniques differ.
fn labels(techniques: &[Value]) -> Vec<String> {
    let differs = |key: &str| techniques.iter().any(|t| t.get(key) != techniques[0].get(key));
    let parts: Vec<&str> = ["gc", "refresh", "parity"].into_iter().filter(|k| differs(k)).collect();
    let label = |technique: &Value| {
        let known = text(technique, "label");
        if !known.is_empty() {
            return known;
        }
        let others = parts.iter().map(|part| text(technique, part)).filter(|name| !name.is_empty());
        others.fold(text(technique, "reclaim"), |label, name| format!("{label} + {name}"))
    };
    techniques.iter().map(label).collect()
}

fn row(folder: &Folder, technique: &Value, label: String) -> Result<Row, Failure> {
    let mut cells = BTreeMap::new();
    for (key, cell) in technique.get("columns").and_then(Value::as_object).into_iter().flatten() {
        if let Some(mean) = number(cell, "/mean") {
            let half = number(cell, "/half95");
            cells.insert(key.clone(), Cell { mean, ci95: number(cell, "/ci95"), half });
        }
    }
    let summaries = technique.get("runs").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let runs: Vec<Run> = summaries
        .iter()
        .map(|summary| {
            let seed = summary.get("seed").and_then(Value::as_u64).unwrap_or(0);
            let name = label.replace(' ', "");
            let of_seed = format!("{name}-seed{seed}");
            let own = folder.folder(&name).or_else(|| folder.folder(&of_seed));
            Run { seed, summary: summary.clone(), folder: own.cloned().unwrap_or_default() }
        })
        .collect();
    let (_, assumptions) =
        runs.first().map(|run| manifest_of(&run.folder)).transpose()?.unwrap_or_default();
    let life = Life::of(technique, None)
        .map(|life| Life { middle: cells.get(life.unit.key()).map(|cell| cell.mean), ..life });
    Ok(Row {
        reclaim: text(technique, "reclaim"),
        counterfactual: technique.get("counterfactual").and_then(Value::as_bool).unwrap_or(false),
        baseline: false,
        lost_pages: lost_pages(&runs, &cells),
        warnings: sentences(technique.get("warnings")),
        wearing: None,
        label,
        cells,
        life,
        assumptions,
        runs,
    })
}

/// Returns the number of host pages that all runs lost. If a run lost no page but a read failed,
/// the run counts as one lost page.
pub(super) fn lost_pages(runs: &[Run], cells: &BTreeMap<String, Cell>) -> f64 {
    let of = |run: &Run, key: &str| number(&run.summary, key).unwrap_or(0.0);
    let lost: f64 = runs
        .iter()
        .map(|run| of(run, "/data_lost_pages").max(of(run, "/uncorrectable_reads").min(1.0)))
        .sum();
    if runs.is_empty() { cells.get("data_lost_pages").map_or(0.0, |cell| cell.mean) } else { lost }
}

/// Returns the labels that a list in `json`, such as `winners`, has for each column. Labels that no
/// row has are left out.
fn labels_of(json: &Value, list: &str, rows: &[Row]) -> BTreeMap<String, Vec<String>> {
    let mut labels = BTreeMap::new();
    for (key, names) in json.get(list).and_then(Value::as_object).into_iter().flatten() {
        let names = sentences(Some(names));
        let known = rows.iter().filter(|row| names.contains(&row.label));
        labels.insert(key.clone(), known.map(|row| row.label.clone()).collect());
    }
    labels
}

/// Returns sentences about the techniques that have no results.
fn notes(json: &Value) -> Vec<String> {
    let mut notes = vec![];
    for (key, what) in [("stopped", "stopped without results"), ("refused", "was refused")] {
        for row in json.get(key).and_then(Value::as_array).into_iter().flatten() {
            notes.push(format!("{} {what}: {}", text(row, "label"), text(row, "why")));
        }
    }
    notes
}
