//! Model of comparisons and single runs. The rows of several folders stand side by side.

use std::collections::BTreeSet;

use serde_json::Value;
use vpass_lab::compare::Comparison;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::failure::Failure;
use vpass_lab::results::{About, Summary};

use super::{Kind, Model, Row, without_results};
use crate::folder::Folder;

/// Largest number of differing settings that a sentence lists.
const NAMED: usize = 5;

/// Row of a comparison, with the folder of each of its runs.
type Placed = (ComparisonRow, Vec<Folder>);

/// Reads folders that `vpass run --out` or `vpass compare --out` wrote.
pub(super) fn read(folders: &[Folder]) -> Result<Model, Failure> {
    require_different(folders)?;
    let parts: Vec<(Comparison, Vec<Vec<Folder>>)> =
        folders.iter().map(one).collect::<Result<_, _>>()?;
    require_same(folders, &parts, "drive", |about| &about.drive)?;
    require_same(folders, &parts, "workload", |about| &about.workload)?;
    let mut notes: Vec<String> = parts.iter().flat_map(|(part, _)| notes(part)).collect();
    let of_runs = parts.iter().map(|(_, places)| places.first().and_then(|runs| runs.first()));
    let manifests: Vec<Value> = of_runs
        .map(|run| run.map_or(Ok(None), |run| run.json("manifest.json")))
        .map(|manifest| Ok(manifest?.unwrap_or(Value::Null)))
        .collect::<Result<_, Failure>>()?;
    notes.extend(differences(folders, &manifests));
    let manifest = manifests.into_iter().next().unwrap_or_default();
    let mut parts = parts.into_iter();
    let first = parts.next().expect("at least one folder");
    if folders.len() == 1 {
        return of(first.0, first.1, notes, manifest);
    }
    let about = first.0.about.clone();
    let named =
        std::iter::once(first).chain(parts).zip(folders).flat_map(|((part, at), folder)| {
            part.techniques.into_iter().zip(at).map(move |placed| (placed, folder))
        });
    let (rows, places) = distinct(named.collect()).into_iter().unzip();
    of(Comparison::new(about, rows), places, notes, manifest)
}

/// Makes the model of a comparison. `places` has the folder of each run, by row.
fn of(
    compared: Comparison,
    places: Vec<Vec<Folder>>,
    notes: Vec<String>,
    manifest: Value,
) -> Result<Model, Failure> {
    let Comparison { about, verdict, findings, winners, techniques, .. } = compared;
    let is_alone = techniques.len() == 1;
    let rows = techniques.into_iter().zip(places).map(|(row, runs)| Row::of(row, runs));
    Ok(Model {
        kind: Kind::Runs,
        about,
        rows: rows.collect::<Result<_, _>>()?,
        others: vec![],
        winners,
        findings,
        verdict: if is_alone { vec![] } else { verdict },
        notes,
        manifest,
        sweep: None,
    })
}

/// Makes the model of a comparison at a point of a sweep, which has no folders.
pub(super) fn of_point(compared: Comparison) -> Result<Model, Failure> {
    let (notes, places) = (notes(&compared), vec![vec![]; compared.techniques.len()]);
    of(compared, places, notes, Value::Null)
}

/// Reads the comparison of a folder, and finds the folders of its runs. A single run is a
/// comparison with one row.
fn one(folder: &Folder) -> Result<(Comparison, Vec<Vec<Folder>>), Failure> {
    let Some(compared) = folder.read_as::<Comparison>("compare.json")? else {
        let summary: Option<Summary> = folder.read_as("summary.json")?;
        let summary = summary.ok_or_else(|| without_results(folder))?;
        let about = About::of_run(&summary);
        let row = ComparisonRow::new(summary.reclaim_technique.clone(), vec![summary]);
        return Ok((Comparison::new(about, vec![row]), vec![vec![folder.clone()]]));
    };
    if compared.techniques.is_empty() {
        return Err(folder.wrong("compare.json", "`techniques` is empty"));
    }
    let places = compared.techniques.iter().map(|row| {
        let name = row.label.replace(' ', "");
        let of_run = |run: &Summary| {
            let of_seed = format!("{name}-seed{}", run.seed);
            folder.folder(&name).or_else(|| folder.folder(&of_seed)).cloned().unwrap_or_default()
        };
        row.runs.iter().map(of_run).collect()
    });
    let places = places.collect();
    Ok((compared, places))
}

/// Returns sentences about the techniques that have no results.
fn notes(compared: &Comparison) -> Vec<String> {
    let stopped = compared.stopped.iter().map(|row| (row, "stopped without results"));
    let refused = compared.refused.iter().map(|row| (row, "was refused"));
    stopped.chain(refused).map(|(row, what)| format!("{} {what}: {}", row.label, row.why)).collect()
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

/// Returns an error if a name, such as the name of the drive, differs between the folders.
fn require_same(
    folders: &[Folder],
    parts: &[(Comparison, Vec<Vec<Folder>>)],
    what: &str,
    of: fn(&About) -> &String,
) -> Result<(), Failure> {
    let names: Vec<&String> = parts.iter().map(|(part, _)| of(&part.about)).collect();
    let Some(other) = names.iter().position(|name| *name != names[0]) else { return Ok(()) };
    Err(Failure::usage(format!(
        "{} has {what} `{}`, and {} has {what} `{}`; only folders with the same {what} can be \
         shown side by side",
        folders[0].name, names[0], folders[other].name, names[other]
    )))
}

/// Returns a sentence for each folder whose settings differ from those of the first folder.
fn differences(folders: &[Folder], manifests: &[Value]) -> Vec<String> {
    let sentence = |(manifest, folder): (&Value, &Folder)| {
        let mut all = vec![];
        for key in ["drive_configuration", "workload_configuration", "gear"] {
            let name = if key == "gear" { key } else { "" };
            compare(name, manifests[0].get(key), manifest.get(key), &mut all);
        }
        let more = all.len().saturating_sub(NAMED);
        all.truncate(NAMED);
        let more = if more > 0 { format!("; {more} more settings differ") } else { String::new() };
        (!all.is_empty()).then(|| {
            format!(
                "The settings of {} differ from those of {}: {}{more}.",
                folder.name,
                folders[0].name,
                all.join(", ")
            )
        })
    };
    manifests.iter().zip(folders).skip(1).filter_map(sentence).collect()
}

/// Adds a phrase for each setting below `key` whose two values differ.
fn compare(key: &str, first: Option<&Value>, own: Option<&Value>, all: &mut Vec<String>) {
    let table = |value: Option<&Value>| value.and_then(Value::as_object).cloned();
    let (of_first, of_own) = (table(first), table(own));
    if of_first.is_none() && of_own.is_none() {
        let text = |value: Option<&Value>| {
            value.filter(|value| !value.is_null()).map_or("absent".into(), Value::to_string)
        };
        if text(first) != text(own) {
            all.push(format!("{key} is {} instead of {}", text(own), text(first)));
        }
        return;
    }
    let (of_first, of_own) = (of_first.unwrap_or_default(), of_own.unwrap_or_default());
    let names: BTreeSet<&String> = of_first.keys().chain(of_own.keys()).collect();
    for name in names {
        let dot = if key.is_empty() { "" } else { "." };
        compare(&format!("{key}{dot}{name}"), of_first.get(name), of_own.get(name), all);
    }
}

/// Returns the rows with unique labels. If several rows have the same label, the name of the folder
/// is added to each of their labels.
fn distinct(named: Vec<(Placed, &Folder)>) -> Vec<Placed> {
    let known: Vec<(String, String)> =
        named.iter().map(|((row, _), at)| (row.label.clone(), at.name.clone())).collect();
    let label = |i: usize| {
        let (label, folder) = &known[i];
        match known.iter().filter(|(other, _)| other == label).count() {
            1 => label.clone(),
            _ if known[..i].contains(&known[i]) => format!("{label} ({folder}) {}", i + 1),
            _ => format!("{label} ({folder})"),
        }
    };
    let relabel = |(i, ((row, runs), _)): (usize, (Placed, &Folder))| {
        (ComparisonRow { label: label(i), ..row }, runs)
    };
    named.into_iter().enumerate().map(relabel).collect()
}

#[cfg(test)]
mod tests;
