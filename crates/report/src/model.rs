//! Results as the page needs them: one row for each technique, each with the runs of its seeds.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;

use crate::columns::{Unit, number};
use crate::folder::Folder;

mod compared;
mod joined;
mod life;
mod lives;
mod paper;

pub use life::Life;
pub use lives::Wearing;
pub use paper::{Claim, Paper};

/// Largest number of techniques that charts show, because the palette has as many colours.
pub const DRAWN: usize = 6;

/// Command that made the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Runs: `vpass run`, `vpass compare`, or several folders of both.
    Runs,
    /// Lives: `vpass life`.
    Lives,
    /// Numbers of a paper beside ours: `vpass paper`.
    Paper,
}

/// Value of a column for a technique.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Mean over the seeds.
    pub mean: f64,
    /// Half the width of the 95 % interval over the seeds; absent for one seed.
    pub ci95: Option<f64>,
    /// Half the width of the 95 % interval by seeds or by batch means; absent if unknown.
    pub half: Option<f64>,
}

/// Run of a technique with one seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Random seed.
    pub seed: u64,
    /// Content of `summary.json`.
    pub summary: Value,
    /// Folder of the run; empty if `--out` kept only summaries.
    pub folder: Folder,
}

/// Results of a technique.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label that the page shows.
    pub label: String,
    /// Read-reclaim technique.
    pub reclaim: String,
    /// Whether no real drive can use the technique.
    pub counterfactual: bool,
    /// Whether the row has no read reclaim, beside rows that have. It never wins.
    pub baseline: bool,
    /// Number of host pages that all runs lost.
    pub lost_pages: f64,
    /// Values by column.
    pub cells: BTreeMap<String, Cell>,
    /// Life of the drive; absent if nothing is known of it.
    pub life: Option<Life>,
    /// Life over wear, for simulated lives.
    pub wearing: Option<Wearing>,
    /// Warnings about these results, one sentence each.
    pub warnings: Vec<String>,
    /// Assumptions of the technique's model, one sentence each.
    pub assumptions: Vec<String>,
    /// Runs by rising seed.
    pub runs: Vec<Run>,
}

impl Row {
    /// Returns the mean of a column; `None` without a value.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.cells.get(key).map(|cell| cell.mean)
    }

    /// Returns whether the row kept all data.
    pub fn kept_data(&self) -> bool {
        self.lost_pages == 0.0
    }

    /// Returns whether the row may win: it protects data, it lost none, and a real drive can use
    /// it.
    pub fn may_win(&self) -> bool {
        self.kept_data() && !self.counterfactual && !self.baseline
    }

    /// Returns the number of flash pages programmed for a cause per page that the host wrote, as a
    /// mean over the runs. Without host writes, per 1,000 pages that the host read.
    pub fn programs(&self, cause: &str) -> Option<f64> {
        let of = |run: &Run| {
            let programs = number(&run.summary, &format!("/flash/programs/{cause}"))?;
            let writes = number(&run.summary, "/host/write_pages")?;
            let reads = number(&run.summary, "/host/read_pages")? / 1e3;
            Some(programs / if writes > 0.0 { writes } else { reads.max(1e-3) })
        };
        let values: Option<Vec<f64>> = self.runs.iter().map(of).collect();
        mean(&values?)
    }
}

/// Returns the mean of some values; `None` without a value.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// All that the page shows.
#[derive(Clone, Debug)]
pub struct Model {
    /// Command that made the results.
    pub kind: Kind,
    /// Drive as the user named it.
    pub drive: String,
    /// Workload as the user named it.
    pub workload: String,
    /// Facts of the run: version, gear, seeds and others of `compare.json` or `summary.json`.
    pub facts: Value,
    /// Techniques that charts show, in the order of the command; at most [`DRAWN`].
    pub rows: Vec<Row>,
    /// Techniques that only the table of all numbers shows.
    pub others: Vec<Row>,
    /// Labels of the best techniques of each column; empty if none is told apart from the others.
    pub winners: BTreeMap<String, Vec<String>>,
    /// Labels of the techniques that may be the best of each column and are not told apart. Empty
    /// if one is clearly the best, or if nothing is known of them.
    pub tied: BTreeMap<String, Vec<String>>,
    /// Sentences that the command printed about the results.
    pub verdict: Vec<String>,
    /// Sentences about techniques without results, and about folders whose settings differ.
    pub notes: Vec<String>,
    /// Content of `manifest.json` of the first run; null if there is none.
    pub manifest: Value,
    /// Numbers of a paper; absent for other results.
    pub paper: Option<Paper>,
}

impl Model {
    /// Reads result folders.
    ///
    /// # Errors
    /// Reports a folder without results of vpass, a file that cannot be used, and folders that
    /// cannot be shown side by side.
    pub fn read(folders: &[Folder]) -> Result<Self, Failure> {
        let mut model = match folders {
            [one] if one.file("life.json").is_some() => lives::read(one)?,
            [one] if one.file("comparison.csv").is_some() => paper::read(one)?,
            [one] if one.file("compare.json").is_some() => compared::read(one)?,
            [one] if one.file("summary.json").is_some() => joined::read(folders)?,
            [one] => return Err(without_results(one)),
            several => joined::read(several)?,
        };
        model.mark_baselines();
        model.choose_drawn();
        Ok(model)
    }

    /// Returns all techniques, in the order of the command if all are drawn.
    pub fn all(&self) -> impl Iterator<Item = &Row> + Clone {
        self.rows.iter().chain(&self.others)
    }

    /// Returns the names of the drawn techniques.
    pub fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.label.as_str()).collect()
    }

    /// Returns the place of a drawn technique.
    pub fn place(&self, label: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.label == label)
    }

    /// Returns the techniques that win a column. `none` and rows that lost data never win.
    pub fn winners_of(&self, key: &str) -> Vec<&Row> {
        let names = self.winners.get(key).map_or(&[][..], Vec::as_slice);
        self.all().filter(|row| row.may_win() && names.contains(&row.label)).collect()
    }

    /// Returns the techniques that may be the best of a column and that are not told apart, and all
    /// other competing techniques. Returns `None` unless both exist.
    pub fn front_of(&self, key: &str) -> Option<(Vec<&Row>, Vec<&Row>)> {
        let names = self.tied.get(key)?;
        let competing = self.all().filter(|row| row.may_win());
        let (front, behind): (Vec<_>, Vec<_>) =
            competing.partition(|row| names.contains(&row.label));
        (front.len() > 1 && !behind.is_empty()).then_some((front, behind))
    }

    /// Returns the row against which winners are measured: `block` if it kept all data, else the
    /// first other row that did. `None` without another row that kept all data.
    pub fn base(&self, than: &Row) -> Option<&Row> {
        let mut others = self.all().filter(|row| row.may_win() && row.label != than.label);
        let block = others.clone().find(|row| row.reclaim == "block");
        block.or_else(|| others.next())
    }

    /// Returns whether every run has latencies.
    pub fn is_timed(&self) -> bool {
        self.rows.iter().all(|row| row.value("read_p50_us").is_some())
    }

    /// Returns the effective configuration of the drive; null without a manifest.
    pub fn drive_configuration(&self) -> &Value {
        self.manifest.get("drive_configuration").unwrap_or(&Value::Null)
    }

    /// Marks the rows without read reclaim, if other rows have a technique.
    fn mark_baselines(&mut self) {
        let has_technique = self.rows.iter().any(|row| row.reclaim != "none");
        for row in &mut self.rows {
            row.baseline = has_technique && row.reclaim == "none";
        }
    }

    /// Moves rows that charts do not show to [`Self::others`]. Winners, `none` and `block` stay
    /// before other rows.
    fn choose_drawn(&mut self) {
        if self.rows.len() <= DRAWN {
            return;
        }
        let is_winner = |row: &Row| {
            row.may_win() && self.winners.values().any(|names| names.contains(&row.label))
        };
        let rank = |row: &Row| match (is_winner(row), row.reclaim.as_str()) {
            (true, _) => 0,
            (false, "block") => 1,
            (false, "none") => 2,
            (false, _) => 3,
        };
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|i| (rank(&self.rows[*i]), *i));
        order.truncate(DRAWN);
        let (mut drawn, mut others) = (vec![], vec![]);
        for (i, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if order.contains(&i) { drawn.push(row) } else { others.push(row) }
        }
        (self.rows, self.others) = (drawn, others);
    }
}

fn without_results(folder: &Folder) -> Failure {
    Failure::usage(format!(
        "{} has no results; a folder that `vpass run`, `compare`, `life` or `paper` wrote with \
         --out is expected (with summary.json, compare.json, life.json or comparison.csv)",
        folder.name
    ))
}

/// Returns the text of a key; empty without one.
fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the sentences of a list; empty without one. Other values appear as JSON.
fn sentences(value: Option<&Value>) -> Vec<String> {
    let sentence = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    value.and_then(Value::as_array).map_or_else(Vec::new, |all| all.iter().map(sentence).collect())
}

/// Returns the assumptions of a run's manifest and the manifest itself.
fn manifest_of(folder: &Folder) -> Result<(Value, Vec<String>), Failure> {
    let manifest = folder.json("manifest.json")?.unwrap_or(Value::Null);
    let assumptions = sentences(manifest.get("assumptions"));
    Ok((manifest, assumptions))
}

impl Cell {
    /// Returns the value with half the width of its interval over the seeds, if there is one.
    pub fn text(&self, unit: Unit) -> String {
        let half = self.ci95.map_or_else(String::new, |half| format!(" ± {}", unit.text(half)));
        unit.text(self.mean) + &half
    }
}
