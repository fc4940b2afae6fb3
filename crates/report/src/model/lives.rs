//! Folder of `vpass life --out`.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;
use vpass_lab::results::LifeUnit;

use super::compared::without;
use super::{Cell, Kind, Life, Model, Row, sentences, text};
use crate::columns::number;
use crate::folder::Folder;

/// Days of a year in results.
const DAYS: f64 = 365.0;

/// Causes of wear: name in `life.json`, name in the series, and name for readers. Colours follow
/// this order.
pub const CAUSES: [(&str, &str, &str); 6] = [
    ("host", "host", "host's own writes"),
    ("gc", "gc", "garbage collection"),
    ("reads", "reclaim", "read reclaim"),
    ("age", "refresh", "data refresh"),
    ("wear_levelling", "levelling", "wear levelling"),
    ("parity", "parity", "parity"),
];

/// Life over wear: what programmed the flash so far, at points of the life.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wearing {
    /// Shares of all programmed pages by cause, in the order of [`CAUSES`].
    pub shares: [f64; 6],
    /// Years from the start, rising.
    pub years: Vec<f64>,
    /// Mean number of P/E cycles of a block at each of these times.
    pub pec: Vec<f64>,
    /// Share of the pages programmed since the point before, by cause, at each of these times.
    pub consumed: [Vec<f64>; 6],
}

/// Reads lives.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    let json = folder.json("life.json")?.unwrap_or(Value::Null);
    let techniques = json.get("techniques").and_then(Value::as_array);
    let techniques = techniques
        .filter(|all| !all.is_empty())
        .ok_or_else(|| folder.wrong("life.json", "`techniques` is missing or empty"))?;
    let rows: Vec<Row> = techniques.iter().map(row).collect();
    let longest = text(&json, "longest");
    let winners = rows.iter().filter(|row| row.label == longest).map(|row| row.label.clone());
    let winners = BTreeMap::from([("life".to_owned(), winners.collect())]);
    let note = |row: &Value| format!("{} was refused: {}", text(row, "label"), text(row, "why"));
    let refused = json.get("refused").and_then(Value::as_array);
    Ok(Model {
        kind: Kind::Lives,
        drive: text(&json, "drive"),
        workload: text(&json, "workload"),
        verdict: sentences(json.get("verdict")),
        notes: refused.into_iter().flatten().map(note).collect(),
        rows,
        others: vec![],
        winners,
        // A life stores the configuration in its own file.
        manifest: json.clone(),
        paper: None,
        facts: without(json, "techniques"),
    })
}

fn row(technique: &Value) -> Row {
    let mut cells = BTreeMap::new();
    for key in ["write_amplification", "uber", "pec_mean", "years", "host_bytes_written"] {
        if let Some(mean) = number(technique, &format!("/{key}/mean")) {
            let ci95 = number(technique, &format!("/{key}/ci95"));
            cells.insert(key.to_owned(), Cell { mean, ci95, half: ci95 });
        }
    }
    let lost = number(technique, "/data_lost_pages").unwrap_or(0.0);
    for (key, value) in [
        ("data_lost_pages", Some(lost)),
        ("worst_dose_ratio", number(technique, "/worst_dose_ratio")),
    ] {
        if let Some(mean) = value {
            cells.insert(key.to_owned(), Cell { mean, ci95: None, half: None });
        }
    }
    Row {
        label: text(technique, "label"),
        reclaim: text(technique, "reclaim"),
        counterfactual: technique.get("counterfactual").and_then(Value::as_bool).unwrap_or(false),
        // A loss that acceleration may have caused makes the years no answer either.
        lost_pages: lost,
        life: life(technique),
        wearing: wearing(technique),
        warnings: sentences(technique.get("warnings")),
        assumptions: sentences(technique.get("assumptions")),
        runs: vec![],
        cells,
    }
}

fn life(technique: &Value) -> Option<Life> {
    let years = number(technique, "/years/mean")?;
    let lives_on = !technique.get("ended").and_then(Value::as_bool).unwrap_or(true);
    let half = number(technique, "/years/ci95");
    let end = |name: &str, sign: f64| {
        let by_lives = half.map(|half| (years + sign * half).max(0.0));
        number(technique, &format!("/interval/{name}")).or(by_lives).filter(|_| !lives_on)
    };
    Some(Life {
        unit: LifeUnit::Days,
        middle: Some(years * DAYS),
        low: end("low", -1.0).map(|years| years * DAYS),
        high: end("high", 1.0).map(|years| years * DAYS),
        is_settled: true,
        lives_on,
    })
}

fn wearing(technique: &Value) -> Option<Wearing> {
    let consumed = technique.get("consumed")?.as_object()?;
    let share = |name: &str| consumed.get(name).and_then(|s| number(s, "/mean")).unwrap_or(0.0);
    let shares = CAUSES.map(|(name, ..)| share(name));
    let series = technique.get("series").unwrap_or(&Value::Null);
    let numbers = |key: &str| -> Vec<f64> {
        let all = series.get(key).and_then(Value::as_array);
        all.map_or_else(Vec::new, |all| all.iter().map(|n| n.as_f64().unwrap_or(f64::NAN)).collect())
    };
    let (years, pec) = (numbers("years"), numbers("pec_mean"));
    let consumed = CAUSES.map(|(_, name, _)| numbers(&format!("consumed_{name}")));
    let is_whole = pec.len() == years.len()
        && consumed.iter().all(|c| c.is_empty() || c.len() == years.len());
    Some(if is_whole {
        Wearing { shares, years, pec, consumed }
    } else {
        Wearing { shares, ..Wearing::default() }
    })
}
