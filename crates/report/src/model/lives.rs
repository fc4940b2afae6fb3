//! Model of the results that `vpass life --out` wrote into a folder.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;
use vpass_lab::results::LifeUnit;

use super::compared::without;
use super::{Cell, Kind, Life, Model, Row, manifest_of, sentences, text};
use crate::columns::number;
use crate::folder::Folder;

/// Number of days per year that results assume.
const DAYS: f64 = 365.0;

/// Causes of wear. Each cause has three names: in `life.json`, in the series of a life, and on the
/// page. Colours are assigned in this order.
const CAUSES: [(&str, &str, &str); 6] = [
    ("host", "host", "host's own writes"),
    ("gc", "gc", "garbage collection"),
    ("reads", "reclaim", "read reclaim"),
    ("age", "refresh", "data refresh"),
    ("wear_levelling", "levelling", "wear levelling"),
    ("parity", "parity", "parity"),
];

/// Shares of the causes of wear, at several points of a drive's life.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wearing {
    /// Share of each cause in all programmed pages, in the order of `CAUSES`.
    pub shares: [f64; 6],
    /// Years from the start of the life to each point, in ascending order.
    pub years: Vec<f64>,
    /// Mean number of P/E cycles of a block at each point.
    pub pec: Vec<f64>,
    /// Share of each cause in the wear between two points, for each point and the point before it.
    pub consumed: Vec<[f64; 6]>,
    /// Share of each cause in the wear of the first and of the last quarter of the years.
    pub quarters: [[f64; 6]; 2],
}

/// Reads the results of `vpass life` from its folder.
pub(super) fn read(folder: &Folder) -> Result<Model, Failure> {
    let json = folder.json("life.json")?.unwrap_or(Value::Null);
    let techniques = json.get("techniques").and_then(Value::as_array);
    let techniques = techniques
        .filter(|all| !all.is_empty())
        .ok_or_else(|| folder.wrong("life.json", "`techniques` is missing or empty"))?;
    techniques.iter().try_for_each(|t| folder.needed_text("life.json", t, "label").map(drop))?;
    let rows: Vec<Row> = techniques.iter().map(row).collect();
    let longest = text(&json, "longest");
    let winners = rows.iter().filter(|row| row.label == longest).map(|row| row.label.clone());
    let winners = BTreeMap::from([("life".to_owned(), winners.collect())]);
    let tied = sentences(json.get("not_told_apart"));
    let tied = BTreeMap::from([("life".to_owned(), tied)]);
    let note = |row: &Value| format!("{} was refused: {}", text(row, "label"), text(row, "why"));
    let refused = json.get("refused").and_then(Value::as_array);
    // The file `life.json` also holds the configuration of the drive.
    let (call, _) = manifest_of(folder)?;
    let mut manifest = json.clone();
    for key in ["command_line", "git_commit"] {
        manifest[key] = call[key].clone();
    }
    Ok(Model {
        kind: Kind::Lives,
        drive: folder.needed_text("life.json", &json, "drive")?,
        workload: folder.needed_text("life.json", &json, "workload")?,
        verdict: sentences(json.get("verdict")),
        notes: refused
            .into_iter()
            .flatten()
            .map(note)
            .chain(techniques.iter().filter_map(unsure))
            .collect(),
        rows,
        others: vec![],
        winners,
        tied,
        manifest,
        sweep: None,
        facts: without(json, "techniques"),
    })
}

/// Returns a sentence about a life of which the years are not sure; `None` for other lives.
fn unsure(technique: &Value) -> Option<String> {
    let why = match (is_out_of_work(technique), &technique["has_settled"]) {
        (true, _) => "only bounds of the life are known, so it is not compared",
        (_, Value::Bool(false)) => "wear had not settled, so the years have no interval",
        _ => return None,
    };
    Some(format!("{}: {why}.", text(technique, "label")))
}

fn is_out_of_work(technique: &Value) -> bool {
    technique["out_of_work"] == true
}

fn row(technique: &Value) -> Row {
    let mut cells = BTreeMap::new();
    for key in [
        "write_amplification",
        "read_wear",
        "read_wear_net",
        "uber",
        "pec_mean",
        "years",
        "host_bytes_written",
    ] {
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
        baseline: false,
        // Pages count as lost even if only the acceleration of wear may have caused the loss. The
        // years of such a life are not reliable.
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
    let (low, high) = if is_out_of_work(technique) {
        (Some(years), number(technique, "/years_at_most"))
    } else {
        (end("low", -1.0), end("high", 1.0))
    };
    Some(Life {
        unit: LifeUnit::Days,
        middle: (!is_out_of_work(technique)).then_some(years * DAYS),
        low: low.map(|years| years * DAYS),
        high: high.map(|years| years * DAYS),
        is_settled: true,
        lives_on: lives_on && !is_out_of_work(technique),
    })
}

fn wearing(technique: &Value) -> Option<Wearing> {
    let consumed = technique.get("consumed")?.as_object()?;
    let share = |name: &str| consumed.get(name).and_then(|s| number(s, "/mean")).unwrap_or(0.0);
    let shares = CAUSES.map(|(name, ..)| share(name));
    let rows = technique.get("series").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let numbers = |key: &str| -> Vec<f64> {
        rows.iter().map(|row| row.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)).collect()
    };
    let (years, pec) = (numbers("years"), numbers("pec_mean"));
    let so_far = CAUSES.map(|(_, name, _)| numbers(&format!("consumed_{name}")));
    let steps = (1..years.len()).filter(|n| pec[*n] > pec[*n - 1]);
    let consumed = steps.clone().map(|n| between(&pec, &so_far, n - 1, n)).collect();
    let of = |values: &[f64]| steps.clone().map(|n| values[n]).collect();
    let last = years.len().saturating_sub(1);
    let quarters =
        [(0, last / 4), (last - last / 4, last)].map(|(from, to)| between(&pec, &so_far, from, to));
    Some(Wearing { shares, years: of(&years), pec: of(&pec), consumed, quarters })
}

/// Returns the share of each cause in the wear between two points. Results store shares in all wear
/// up to a point. At each point, the wear by a cause is its share times the P/E cycles up to there.
fn between(pec: &[f64], so_far: &[Vec<f64>; 6], from: usize, to: usize) -> [f64; 6] {
    let worn = |cause: usize, n: usize| {
        let share = so_far[cause].get(n).filter(|share| share.is_finite());
        share.map_or(0.0, |share| share * (pec[n] - pec[0]))
    };
    let grown: [f64; 6] =
        std::array::from_fn(|cause| (worn(cause, to) - worn(cause, from)).max(0.0));
    let all: f64 = grown.iter().sum();
    grown.map(|of| if all > 0.0 { of / all } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shares_of_a_step_follow_from_the_shares_so_far() {
        // Of the first 100 cycles, 20 are caused by reads. Of the next 100 cycles, 80 are caused by
        // reads. Together, reads cause half of all 200 cycles.
        let row = |years: f64, pec: f64, reads: Option<f64>| {
            json!({"years": years, "pec_mean": pec, "consumed_reclaim": reads,
                   "consumed_host": reads.map(|share| 1.0 - share)})
        };
        let series =
            [row(0.0, 500.0, None), row(1.0, 600.0, Some(0.2)), row(2.0, 700.0, Some(0.5))];
        let technique = json!({"consumed": {"reads": {"mean": 0.5}}, "series": series});
        let wearing = wearing(&technique).unwrap();
        assert_eq!((wearing.years, wearing.pec), (vec![1.0, 2.0], vec![600.0, 700.0]));
        let reads: Vec<f64> = wearing.consumed.iter().map(|shares| shares[2]).collect();
        assert!((reads[0] - 0.2).abs() < 1e-12 && (reads[1] - 0.8).abs() < 1e-12, "{reads:?}");
        assert!((wearing.shares[2] - 0.5).abs() < 1e-12);
        assert_eq!(super::wearing(&json!({})), None);
    }

    #[test]
    fn quarters_are_means_over_many_points() {
        // Of each 100 cycles, reads cause 90 in the first point, and 10 in the seven others.
        let share = |n: f64| if n > 0.0 { (90.0 + 10.0 * (n - 1.0)) / (100.0 * n) } else { 0.0 };
        let row = |n: u32| {
            json!({"years": n, "pec_mean": 100 * n, "consumed_reclaim": share(n.into()),
                   "consumed_host": 1.0 - share(n.into())})
        };
        let series: Vec<_> = (0..=8).map(row).collect();
        let technique = json!({"consumed": {"reads": {"mean": 0.2}}, "series": series});
        let [first, last] = wearing(&technique).unwrap().quarters.map(|shares| shares[2]);
        assert!((first - 0.5).abs() < 1e-12 && (last - 0.1).abs() < 1e-12, "{first} {last}");
    }

    #[test]
    fn a_life_out_of_work_has_bounds_and_is_not_compared() {
        let technique = |label: &str, years: f64, out: bool, settled: bool| {
            json!({"label": label, "reclaim": label, "years": {"mean": years, "ci95": null},
                   "ended": !out, "out_of_work": out, "has_settled": settled,
                   "years_at_most": out.then_some(9.0)})
        };
        let techniques = json!([
            technique("block", 0.5, true, true),
            technique("straw-wl", 4.0, false, true),
            technique("ipr-wl", 3.9, false, false),
        ]);
        let json = json!({"drive": "tiny", "workload": "zipf-read", "longest": null,
                          "not_told_apart": ["straw-wl", "ipr-wl"], "techniques": techniques});
        let of = |files: &[(&str, String)]| {
            let files =
                files.iter().map(|(name, text)| ((*name).into(), text.clone().into_bytes()));
            Model::read(&[Folder::of_files("out", files)]).unwrap()
        };
        let call = json!({"command_line": ["vpass", "life", "--out", "out"]}).to_string();
        let model = of(&[("life.json", json.to_string()), ("manifest.json", call)]);
        let block = &model.rows[0];
        assert_eq!(block.life.unwrap().text(), "183\u{a0}days\u{a0}to\u{a0}9.00\u{a0}years");
        assert!(!model.is_ranked(block) && model.is_ranked(&model.rows[1]));
        assert!(model.front_of("life").is_none(), "block is not known to live shorter");
        let cards = crate::parts::cards::section(&model).html;
        assert!(cards.contains("Only bounds of some lives are known."), "{cards}");
        assert!(model.notes[0].starts_with("block: only bounds of the life"));
        assert!(model.notes[1].starts_with("ipr-wl: wear had not settled"));
        assert_eq!((model.notes.len(), model.manifest["drive"].as_str()), (2, Some("tiny")));
        assert_eq!(model.manifest["command_line"][1], "life");
        let older = of(&[("life.json", json.to_string())]);
        assert!(older.manifest["command_line"].is_null());
    }

    #[test]
    fn a_life_that_goes_on_has_no_upper_end() {
        let technique = |ended: bool| json!({"years": {"mean": 2.0, "ci95": 0.5}, "ended": ended});
        let ended = life(&technique(true)).unwrap();
        assert_eq!((ended.low, ended.high), (Some(1.5 * DAYS), Some(2.5 * DAYS)));
        assert_eq!(ended.text(), "2.00\u{a0}years");
        let goes_on = life(&technique(false)).unwrap();
        assert_eq!((goes_on.low, goes_on.text()), (None, ">\u{a0}2.00\u{a0}years".into()));
    }
}
