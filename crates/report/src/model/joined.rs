//! Several result folders side by side, as far as their files allow: each run is a row.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vpass_lab::failure::Failure;

use super::compared::{self, lost_pages};
use super::{Cell, Kind, Life, Model, Row, Run, manifest_of, sentences, text, without_results};
use crate::columns::{COLUMNS, Column, Unit, half_by_batches};
use crate::folder::Folder;

/// Number of differing settings that a sentence names.
const NAMED: usize = 5;

/// Reads folders of `vpass run --out` and `vpass compare --out`.
pub(super) fn read(folders: &[Folder]) -> Result<Model, Failure> {
    let parts: Vec<Model> = folders.iter().map(one).collect::<Result<_, _>>()?;
    same(folders, &parts, "drive", |part| &part.drive)?;
    same(folders, &parts, "workload", |part| &part.workload)?;
    let mut notes: Vec<String> = parts.iter().flat_map(|part| part.notes.clone()).collect();
    notes.extend(differences(folders, &parts));
    let is_one = parts.len() == 1;
    let mut parts = parts.into_iter().zip(folders);
    let (mut model, first) = parts.next().expect("at least one folder");
    if is_one {
        return Ok(model);
    }
    let mut named: Vec<(Row, &Folder)> = model.rows.drain(..).map(|row| (row, first)).collect();
    for (part, folder) in parts {
        named.extend(part.rows.into_iter().map(|row| (row, folder)));
    }
    model.rows = distinct(named);
    model.winners = COLUMNS
        .iter()
        .map(|column| (column.key.to_owned(), winners(&model.rows, column)))
        .collect();
    let life = life_winners(&model.rows);
    model.winners.insert("life".into(), life);
    Ok(Model { verdict: vec![], notes, ..model })
}

fn one(folder: &Folder) -> Result<Model, Failure> {
    if folder.file("compare.json").is_some() {
        return compared::read(folder);
    }
    let summary = folder.json("summary.json")?.ok_or_else(|| without_results(folder))?;
    if !summary.is_object() {
        return Err(folder.wrong("summary.json", "an object is expected"));
    }
    let (manifest, assumptions) = manifest_of(folder)?;
    let mut facts = summary.clone();
    for key in ["warnings", "oracle", "jobs"] {
        facts = compared::without(facts, key);
    }
    let model = Model {
        kind: Kind::Runs,
        drive: text(&summary, "drive"),
        workload: text(&summary, "workload"),
        rows: vec![row(folder, &summary, assumptions)],
        others: vec![],
        winners: BTreeMap::new(),
        verdict: vec![],
        notes: vec![],
        manifest,
        paper: None,
        facts,
    };
    Ok(model)
}

fn row(folder: &Folder, summary: &Value, assumptions: Vec<String>) -> Row {
    let cell = |column: &Column| {
        let mean = (column.of)(summary)?;
        let half = half_by_batches(column.key, summary);
        Some((column.key.to_owned(), Cell { mean, ci95: None, half }))
    };
    let cells: BTreeMap<String, Cell> = COLUMNS.iter().filter_map(cell).collect();
    let (reclaim, seed) = (text(summary, "reclaim_technique"), summary.get("seed"));
    let seed = seed.and_then(Value::as_u64).unwrap_or(0);
    let wear = summary.get("wear").unwrap_or(&Value::Null);
    let runs = vec![Run { seed, folder: folder.clone(), summary: summary.clone() }];
    Row {
        life: life(wear),
        label: reclaim.clone(),
        counterfactual: summary.get("counterfactual").and_then(Value::as_bool).unwrap_or(false),
        baseline: false,
        lost_pages: lost_pages(&runs, &cells),
        wearing: None,
        warnings: sentences(summary.get("warnings")),
        reclaim,
        cells,
        assumptions,
        runs,
    }
}

/// Reads the life of a run. Its ends have a name for each unit.
fn life(wear: &Value) -> Option<Life> {
    let life = Life::of(wear, None)?;
    let (key, low, high) = match life.unit.key() {
        "projected_life_days" => ("projected_life_days", "life_low_days", "life_high_days"),
        "host_bytes_until_worn" => {
            ("host_bytes_until_worn", "host_bytes_until_worn_low", "host_bytes_until_worn_high")
        }
        _ => ("read_bytes_until_worn", "read_bytes_until_worn_low", "read_bytes_until_worn_high"),
    };
    let number = |key: &str| wear.get(key).and_then(Value::as_f64);
    Some(Life { middle: number(key), low: number(low), high: number(high), ..life })
}

/// Refuses folders that differ in a name.
fn same(
    folders: &[Folder],
    parts: &[Model],
    what: &str,
    of: fn(&Model) -> &str,
) -> Result<(), Failure> {
    let Some(other) = parts.iter().position(|part| of(part) != of(&parts[0])) else {
        return Ok(());
    };
    Err(Failure::usage(format!(
        "{} has {what} `{}`, and {} has {what} `{}`; folders of one {what} can be shown side by \
         side",
        folders[0].name,
        of(&parts[0]),
        folders[other].name,
        of(&parts[other])
    )))
}

/// Returns a sentence for each folder whose settings differ from those of the first one.
fn differences(folders: &[Folder], parts: &[Model]) -> Vec<String> {
    let first = leaves(&parts[0].manifest);
    let sentence = |(part, folder): (&Model, &Folder)| {
        let own = leaves(&part.manifest);
        let keys: BTreeSet<&String> = first.keys().chain(own.keys()).collect();
        let differing: Vec<&String> =
            keys.into_iter().filter(|key| first.get(*key) != own.get(*key)).collect();
        let value = |of: &BTreeMap<String, String>, key: &String| {
            of.get(key).map_or("absent", String::as_str).to_owned()
        };
        let named: Vec<String> = differing
            .iter()
            .take(NAMED)
            .map(|key| format!("{key} is {} instead of {}", value(&own, key), value(&first, key)))
            .collect();
        let more = differing.len().saturating_sub(NAMED);
        let more = if more > 0 { format!("; {more} more settings differ") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "{} has other settings than {}: {}{more}.",
                folder.name,
                folders[0].name,
                named.join(", ")
            )
        })
    };
    parts.iter().zip(folders).skip(1).filter_map(sentence).collect()
}

/// Returns the settings of a manifest by their full keys.
fn leaves(manifest: &Value) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for table in ["drive_configuration", "workload_configuration"] {
        collect(manifest.get(table).unwrap_or(&Value::Null), "", &mut all);
    }
    if let Some(gear) = manifest.get("gear") {
        all.insert("gear".into(), gear.to_string());
    }
    all
}

fn collect(value: &Value, key: &str, all: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let dot = if key.is_empty() { "" } else { "." };
                collect(value, &format!("{key}{dot}{name}"), all);
            }
        }
        Value::Null => {}
        value => {
            all.insert(key.to_owned(), value.to_string());
        }
    }
}

/// Returns the rows with labels that differ: a label that occurs twice gets the folder's name.
fn distinct(named: Vec<(Row, &Folder)>) -> Vec<Row> {
    let count = |label: &str| named.iter().filter(|(row, _)| row.label == label).count();
    let labels: Vec<String> = named
        .iter()
        .enumerate()
        .map(|(i, (row, folder))| {
            let label = format!("{} ({})", row.label, folder.name);
            let is_again =
                named[..i].iter().any(|(o, f)| o.label == row.label && f.name == folder.name);
            match (count(&row.label), is_again) {
                (1, _) => row.label.clone(),
                (_, false) => label,
                (_, true) => format!("{label} {}", i + 1),
            }
        })
        .collect();
    let relabel = |((row, _), label): ((Row, &Folder), String)| Row { label, ..row };
    named.into_iter().zip(labels).map(relabel).collect()
}

/// Returns the rows that are the best of a column: those whose 95 % interval overlaps with no worse
/// row's. No row wins if an interval is unknown, or if the best rows differ.
fn winners(rows: &[Row], column: &Column) -> Vec<String> {
    if matches!(column.unit, Unit::Life(_)) {
        return vec![];
    }
    let of = |row: &'_ Row| row.cells.get(column.key).map(|cell| (cell.mean, cell.half));
    let half = |half: Option<f64>| if column.is_exact { Some(0.0) } else { half };
    let ranges: Option<Vec<(f64, f64, f64)>> = rows
        .iter()
        .filter(|row| row.may_win())
        .filter_map(of)
        .map(|(mean, h)| half(h).map(|h| (mean - h, mean, mean + h)))
        .collect();
    best(rows, &ranges.unwrap_or_default(), column.more_is_better, |row| of(row).map(|(m, _)| m))
}

/// Returns the rows with the best value, if its range overlaps no other value's range.
fn best(
    rows: &[Row],
    ranges: &[(f64, f64, f64)],
    more_is_better: bool,
    of: impl Fn(&Row) -> Option<f64>,
) -> Vec<String> {
    let better = |a: f64, b: f64| if more_is_better { a.max(b) } else { a.min(b) };
    let Some(top) = ranges.iter().map(|range| range.1).reduce(better) else { return vec![] };
    let is_top = |value: f64| value.to_bits() == top.to_bits();
    let front: Vec<_> = ranges.iter().filter(|range| is_top(range.1)).collect();
    let behind: Vec<_> = ranges.iter().filter(|range| !is_top(range.1)).collect();
    let overlap = front.iter().any(|a| behind.iter().any(|b| a.0 <= b.2 && b.0 <= a.2));
    if behind.is_empty() || overlap {
        return vec![];
    }
    let wins = |row: &&Row| row.may_win() && of(row).is_some_and(is_top);
    rows.iter().filter(wins).map(|row| row.label.clone()).collect()
}

/// Returns the row that lives longest, if all lives are known in one unit and told apart.
fn life_winners(rows: &[Row]) -> Vec<String> {
    let safe: Vec<&Row> = rows.iter().filter(|row| row.may_win()).collect();
    let lives: Option<Vec<Life>> = safe.iter().map(|row| row.life).collect();
    let Some(lives) = lives.filter(|lives| lives.iter().all(|l| l.unit == lives[0].unit)) else {
        return vec![];
    };
    let range = |life: &Life| Some((life.low?, life.point()?, life.high.unwrap_or(f64::INFINITY)));
    let ranges: Option<Vec<_>> = lives.iter().map(range).collect();
    best(rows, &ranges.unwrap_or_default(), true, |row| row.life?.point())
}

#[cfg(test)]
mod tests;
