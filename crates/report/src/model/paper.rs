//! Model of the results that `vpass paper --out` wrote into a folder: the paper's numbers beside
//! our numbers, and the data of the figures.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;

use super::{Kind, Model, text};
use crate::csv::Csv;
use crate::folder::Folder;

/// Number in a paper, beside the number that we simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Place in the paper at which the number is printed.
    pub source: String,
    /// Meaning of the number, as text.
    pub what: String,
    /// Number in the paper; absent if the paper only says that a value rises or falls.
    pub paper: Option<f64>,
    /// Number that we simulated; absent if no number was simulated.
    pub here: Option<f64>,
    /// Largest difference between both numbers that counts as agreement, as a share of the paper's
    /// number.
    pub tolerance: Option<f64>,
    /// Verdict on the number, as `vpass paper` gave it.
    pub verdict: String,
}

/// Results of running the recipe of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// Numbers of the paper, in the order of the recipe.
    pub claims: Vec<Claim>,
    /// Data of the figures. Each figure has the name of its CSV file without `.csv`, and the
    /// content of this file.
    pub figures: Vec<(String, Csv)>,
}

/// Reads the results of a paper's recipe from their folder.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    let comparison = folder.csv("comparison.csv")?.unwrap_or_default();
    let mut figures = vec![];
    for file in folder.files().filter(|name| *name != "comparison.csv") {
        let Some(name) = file.strip_suffix(".csv") else { continue };
        figures.extend(folder.csv(file)?.map(|csv| (name.to_owned(), csv)));
    }
    let runs = folder.json("runs.json")?.unwrap_or(Value::Null);
    let summary = runs.pointer("/0/summary").cloned().unwrap_or(Value::Null);
    let manifest = folder.json("manifest.json")?.unwrap_or(Value::Null);
    let title = text(&manifest, "title");
    let name = folder.name.trim_end_matches('/');
    Ok(Model {
        kind: Kind::Paper,
        drive: text(&summary, "drive"),
        workload: if title.is_empty() { name.to_owned() } else { title },
        facts: summary,
        rows: vec![],
        others: vec![],
        winners: BTreeMap::new(),
        tied: BTreeMap::new(),
        verdict: vec![],
        notes: vec![],
        manifest,
        paper: Some(Paper { claims: claims(folder, &comparison)?, figures }),
        sweep: None,
    })
}

fn claims(folder: &Folder, csv: &Csv) -> Result<Vec<Claim>, Failure> {
    let missing =
        |name: &str| folder.wrong("comparison.csv", &format!("the column `{name}` is missing"));
    let texts = |name: &str| csv.texts(name).ok_or_else(|| missing(name));
    let numbers = |name: &str| csv.numbers(name).ok_or_else(|| missing(name));
    let (sources, whats, verdicts) = (texts("source")?, texts("what")?, texts("verdict")?);
    let (papers, heres, tolerances) = (numbers("paper")?, numbers("here")?, numbers("tolerance")?);
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    let claim = |i: usize| Claim {
        source: sources[i].to_owned(),
        what: whats[i].to_owned(),
        paper: known(papers[i]),
        here: known(heres[i]),
        tolerance: known(tolerances[i]),
        verdict: verdicts[i].to_owned(),
    };
    Ok((0..csv.len()).map(claim).collect())
}
