//! Model of several result folders that the page shows side by side. Each run becomes a row.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vpass_lab::failure::Failure;

use super::compared::{self, lost_pages};
use super::{Cell, Kind, Life, Model, Row, Run, manifest_of, sentences, text, without_results};
use crate::columns::{COLUMNS, Column, Unit, half_by_batches};
use crate::folder::Folder;

/// Largest number of differing settings that a sentence lists.
const NAMED: usize = 5;

/// Reads folders that `vpass run --out` or `vpass compare --out` wrote.
pub(super) fn read(folders: &[Folder]) -> Result<Model, Failure> {
    require_different(folders)?;
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
    let columns = COLUMNS.iter().map(|column| (column.key, best_of(&model.rows, column)));
    for (key, (wins, tied)) in columns.chain([("life", longest(&model.rows))]) {
        model.winners.insert(key.into(), wins);
        model.tied.insert(key.into(), tied);
    }
    Ok(Model { verdict: vec![], notes, ..model })
}

/// Returns an error if two folders have the same results. A page would rank such copies although
/// only one run exists.
fn require_different(folders: &[Folder]) -> Result<(), Failure> {
    for (n, folder) in folders.iter().enumerate() {
        if let Some(first) = folders[..n].iter().find(|first| first.has_content_of(folder)) {
            let what = if first.name == folder.name {
                format!("the folder {} is given twice", folder.name)
            } else {
                format!("the folders {} and {} have the same files", first.name, folder.name)
            };
            return Err(Failure::usage(format!("{what}; each folder must have other results")));
        }
    }
    Ok(())
}

fn one(folder: &Folder) -> Result<Model, Failure> {
    if folder.file("compare.json").is_some() {
        return compared::read(folder);
    }
    let summary = folder.json("summary.json")?.ok_or_else(|| without_results(folder))?;
    if !summary.is_object() {
        return Err(folder.wrong("summary.json", "an object is expected"));
    }
    let needed = |key: &str| folder.needed_text("summary.json", &summary, key);
    needed("reclaim_technique")?;
    let (manifest, assumptions) = manifest_of(folder)?;
    let mut facts = summary.clone();
    for key in ["warnings", "oracle", "jobs"] {
        facts = compared::without(facts, key);
    }
    let model = Model {
        kind: Kind::Runs,
        drive: needed("drive")?,
        workload: needed("workload")?,
        rows: vec![row(folder, &summary, assumptions)],
        others: vec![],
        winners: BTreeMap::new(),
        tied: BTreeMap::new(),
        verdict: vec![],
        notes: vec![],
        manifest,
        sweep: None,
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

/// Reads the life that a run projects. The keys for the ends of its range depend on the unit of
/// life.
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

/// Returns an error if a name, such as the name of the drive, differs between the folders.
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
        "{} has {what} `{}`, and {} has {what} `{}`; only folders with the same {what} can be \
         shown side by side",
        folders[0].name,
        of(&parts[0]),
        folders[other].name,
        of(&parts[other])
    )))
}

/// Returns a sentence for each folder whose settings differ from those of the first folder.
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
                "The settings of {} differ from those of {}: {differences}{more}.",
                folder.name,
                folders[0].name,
                differences = named.join(", ")
            )
        })
    };
    parts.iter().zip(folders).skip(1).filter_map(sentence).collect()
}

/// Returns all settings of a manifest. Each setting has its full key.
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

/// Returns the rows with unique labels. If several rows have the same label, the name of the folder
/// is added to each of their labels.
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

/// Value of a row with the ends of its range, and the label of the row.
struct Standing {
    label: String,
    value: f64,
    low: f64,
    high: f64,
}

/// Returns two lists of labels for a column. The first list has the winners. If the ranges of other
/// rows overlap theirs, the second list instead has the rows that may be the best. If an interval
/// is unknown, both lists are empty.
fn best_of(rows: &[Row], column: &Column) -> (Vec<String>, Vec<String>) {
    if matches!(column.unit, Unit::Life(_)) {
        return (vec![], vec![]);
    }
    let standing = |row: &Row| {
        let cell = row.cells.get(column.key)?;
        let half = if column.is_exact { Some(0.0) } else { cell.half };
        Some(half.map(|half| Standing {
            label: row.label.clone(),
            value: cell.mean,
            low: cell.mean - half,
            high: cell.mean + half,
        }))
    };
    let known: Option<Vec<Standing>> =
        rows.iter().filter(|row| row.may_win()).filter_map(standing).collect();
    ranked(&known.unwrap_or_default(), column.more_is_better)
}

/// Returns two lists of labels. The first list has the rows with the longest life. If the ranges of
/// other rows overlap theirs, the second list instead has the rows that may live longest. If a life
/// is unknown or has another unit, both lists are empty.
fn longest(rows: &[Row]) -> (Vec<String>, Vec<String>) {
    let safe: Vec<&Row> = rows.iter().filter(|row| row.may_win()).collect();
    let unit = safe.first().and_then(|row| row.life).map(|life| life.unit);
    let standing = |row: &&Row| {
        let life = row.life.filter(|life| Some(life.unit) == unit)?;
        Some(Standing {
            label: row.label.clone(),
            value: life.point()?,
            low: life.low?,
            high: life.high.unwrap_or(f64::INFINITY),
        })
    };
    let known: Option<Vec<Standing>> = safe.iter().map(standing).collect();
    ranked(&known.unwrap_or_default(), true)
}

/// Returns two lists of labels. The first list has the rows with the best value, if no range of
/// another row overlaps theirs. Otherwise, the first list is empty. The second list then has the
/// rows whose ranges overlap the best range.
fn ranked(rows: &[Standing], more_is_better: bool) -> (Vec<String>, Vec<String>) {
    let better = |a: f64, b: f64| if more_is_better { a.max(b) } else { a.min(b) };
    let Some(top) = rows.iter().map(|row| row.value).reduce(better) else {
        return (vec![], vec![]);
    };
    let is_top = |row: &&Standing| row.value.to_bits() == top.to_bits();
    let best: Vec<&Standing> = rows.iter().filter(is_top).collect();
    let near = |row: &&Standing| best.iter().any(|b| row.low <= b.high && b.low <= row.high);
    let front: Vec<&Standing> = rows.iter().filter(near).collect();
    let labels = |rows: &[&Standing]| rows.iter().map(|row| row.label.clone()).collect();
    if front.len() == best.len() && front.len() < rows.len() {
        (labels(&best), vec![])
    } else if front.len() > 1 {
        (vec![], labels(&front))
    } else {
        (vec![], vec![])
    }
}

#[cfg(test)]
mod tests;
