//! Model of the results that the page shows. The model has one row per technique. Each row has one
//! run per seed.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_lab::failure::Failure;
use vpass_lab::phrase;
use vpass_lab::phrase::Opt;

use crate::columns::{Unit, number};
use crate::folder::Folder;

mod compared;
mod joined;
mod life;
mod lives;
pub(crate) mod sweep;

pub use life::Life;
pub use lives::Wearing;
pub use sweep::{Point, Sweep};

/// Largest number of techniques that charts show. The palette has one colour for each of them.
pub const DRAWN: usize = 6;

/// Kind of results, according to the command that made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Results of `vpass run`, of `vpass compare`, or of several folders from these commands.
    Runs,
    /// Lives of drives, simulated by `vpass life`.
    Lives,
    /// Comparisons that `vpass sweep` made at several values of some keys.
    Sweep,
}

/// Value of one technique in one column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Mean of the value over the seeds.
    pub mean: f64,
    /// Half the width of the 95 % interval over the seeds; absent if there is only one seed.
    pub ci95: Option<f64>,
    /// Half the width of the 95 % interval, computed over the seeds or from batch means. The field
    /// is absent if the interval is unknown.
    pub half: Option<f64>,
}

/// Run of a technique with one seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Random seed of the run.
    pub seed: u64,
    /// Content of the run's file `summary.json`.
    pub summary: Value,
    /// Folder with the files of the run. The folder is empty if `--out` stored only summaries.
    pub folder: Folder,
}

/// Results of one technique.
#[derive(Clone, Debug)]
pub struct Row {
    /// Label of the technique on the page.
    pub label: String,
    /// Name of the read-reclaim technique.
    pub reclaim: String,
    /// Whether the technique is counterfactual, which means that no real drive can use it.
    pub counterfactual: bool,
    /// Whether this row has no read reclaim while other rows have. A row without read reclaim never
    /// wins against such rows.
    pub baseline: bool,
    /// Number of host pages that were lost, over all runs of the row.
    pub lost_pages: f64,
    /// Values of the row. Each value is stored under the key of its column.
    pub cells: BTreeMap<String, Cell>,
    /// Life of the drive; absent if the results have no life.
    pub life: Option<Life>,
    /// Causes of wear over a simulated life; absent if no life was simulated.
    pub wearing: Option<Wearing>,
    /// Warnings about the results of this row, one sentence each.
    pub warnings: Vec<String>,
    /// Assumptions that the model of the technique makes, one sentence each.
    pub assumptions: Vec<String>,
    /// Runs of the technique, in ascending order of their seeds.
    pub runs: Vec<Run>,
}

impl Row {
    /// Returns the mean in the column with this key; `None` if the row has no value there.
    pub fn value(&self, key: &str) -> Option<f64> {
        self.cells.get(key).map(|cell| cell.mean)
    }

    /// Returns whether no run of the row lost data.
    pub fn kept_data(&self) -> bool {
        self.lost_pages == 0.0
    }

    /// Returns whether the row may win a comparison. To win, a row must protect data, lose no data,
    /// and have a technique that real drives can use.
    pub fn may_win(&self) -> bool {
        self.kept_data() && !self.counterfactual && !self.baseline
    }

    /// Returns the number of flash pages programmed for this cause per page that the host wrote. If
    /// the host wrote nothing, returns the number per 1,000 pages that the host read. The number is
    /// a mean over the runs.
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

/// Returns the mean of these values; `None` if there are no values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Results that the page shows.
#[derive(Clone, Debug)]
pub struct Model {
    /// Kind of results, according to the command that made them.
    pub kind: Kind,
    /// Name of the drive, as the user wrote it.
    pub drive: String,
    /// Name of the workload, as the user wrote it.
    pub workload: String,
    /// Facts from `compare.json` or `summary.json`, such as the version, the gear and the seeds.
    pub facts: Value,
    /// Techniques that charts show, in the order in which the command ran them. There are at most
    /// [`DRAWN`].
    pub rows: Vec<Row>,
    /// Techniques that only the table of all numbers shows, and no chart.
    pub others: Vec<Row>,
    /// Labels of the best techniques in each column. The list is empty if the intervals of the best
    /// techniques overlap those of others.
    pub winners: BTreeMap<String, Vec<String>>,
    /// Labels of the techniques that may be the best in each column, if their intervals overlap.
    /// The list is empty if one technique is clearly the best, or if intervals are unknown.
    pub tied: BTreeMap<String, Vec<String>>,
    /// Sentences that the command printed about the results.
    pub verdict: Vec<String>,
    /// Sentences about techniques that have no results, and about folders whose settings differ.
    pub notes: Vec<String>,
    /// Content of the file `manifest.json` of the first run; null if the file is absent.
    pub manifest: Value,
    /// Points of a sweep; absent for other kinds of results.
    pub sweep: Option<Sweep>,
}

impl Model {
    /// Makes a model from result folders.
    ///
    /// # Errors
    /// Returns an error for a folder without results of vpass, or for a file that cannot be used.
    /// Also returns an error if the folders cannot be shown side by side.
    pub fn read(folders: &[Folder]) -> Result<Self, Failure> {
        folders.iter().try_for_each(Folder::require_whole)?;
        let mut model = match folders {
            [one] if one.file("life.json").is_some() => lives::read(one)?,
            [one] if one.file("sweep.json").is_some() => sweep::read(one)?,
            [one] if one.file("compare.json").is_some() => compared::read(one)?,
            [one] if one.file("summary.json").is_some() => joined::read(folders)?,
            [one] => return Err(without_results(one)),
            several => joined::read(several)?,
        };
        model.mark_baselines();
        model.choose_drawn();
        Ok(model)
    }

    /// Returns all techniques. The techniques that charts show are returned first.
    pub fn all(&self) -> impl Iterator<Item = &Row> + Clone {
        self.rows.iter().chain(&self.others)
    }

    /// Returns the labels of the techniques that charts show.
    pub fn names(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.label.as_str()).collect()
    }

    /// Returns the index of a technique among the techniques that charts show. Returns `None` if
    /// charts do not show the technique.
    pub fn place(&self, label: &str) -> Option<usize> {
        self.rows.iter().position(|row| row.label == label)
    }

    /// Returns the techniques that win in a column. Techniques that may not win ([`Row::may_win`])
    /// are left out.
    pub fn winners_of(&self, key: &str) -> Vec<&Row> {
        let names = self.winners.get(key).map_or(&[][..], Vec::as_slice);
        self.all().filter(|row| row.may_win() && names.contains(&row.label)).collect()
    }

    /// Returns whether a row is compared with others. A row that may not win, or of whose simulated
    /// life only bounds are known, is not.
    pub fn is_ranked(&self, row: &Row) -> bool {
        let has_bounds = row.life.is_some_and(|life| life.middle.is_none());
        row.may_win() && !(self.kind == Kind::Lives && has_bounds)
    }

    /// Returns two lists of techniques for a column. The first list has the techniques that may be
    /// the best, because their intervals overlap. The second list has all other techniques that may
    /// win. Returns `None` if the first list has fewer than two techniques or the second list is
    /// empty.
    pub fn front_of(&self, key: &str) -> Option<(Vec<&Row>, Vec<&Row>)> {
        let names = self.tied.get(key)?;
        let competing = self.all().filter(|row| self.is_ranked(row));
        let (front, behind): (Vec<_>, Vec<_>) =
            competing.partition(|row| names.contains(&row.label));
        (front.len() > 1 && !behind.is_empty()).then_some((front, behind))
    }

    /// Returns the row with which the winner `than` is compared. If `block` kept all data, the row
    /// of `block` is returned. Otherwise, the first other row that may win is returned. Returns
    /// `None` if no other row may win.
    pub fn base(&self, than: &Row) -> Option<&Row> {
        let mut others = self.all().filter(|row| self.is_ranked(row) && row.label != than.label);
        let block = others.clone().find(|row| row.reclaim == "block");
        block.or_else(|| others.next())
    }

    /// Returns whether the page shows lives: if they were simulated, or if they have settled under
    /// all techniques.
    pub fn shows_life(&self) -> bool {
        let has_settled = |row: &Row| row.life.is_none_or(|life| life.is_settled);
        self.kind == Kind::Lives || self.all().all(has_settled)
    }

    /// Returns whether every technique has latencies.
    pub fn is_timed(&self) -> bool {
        self.rows.iter().all(|row| row.value("read_p50_us").is_some())
    }

    /// Returns the configuration of the drive that the runs used; null without a manifest.
    pub fn drive_configuration(&self) -> &Value {
        self.manifest.get("drive_configuration").unwrap_or(&Value::Null)
    }

    /// Marks the rows without read reclaim as baselines, if other rows have read reclaim.
    fn mark_baselines(&mut self) {
        let has_technique = self.rows.iter().any(|row| row.reclaim != "none");
        for row in &mut self.rows {
            row.baseline = has_technique && row.reclaim == "none";
        }
    }

    /// Moves rows to [`Self::others`] if charts cannot show all rows. The winners, `block` and
    /// `none` are moved last.
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
    Failure::usage(format!("{} has no results", folder.name)).with_remedy(phrase![
        "a folder that `vpass run`, `compare`, `life` or `sweep` wrote with ",
        Opt::Out,
        " is expected (with summary.json, compare.json, life.json or sweep.json)",
    ])
}

/// Returns the text of a key in an object; empty if the key has no text.
fn text(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the sentences in a JSON list; empty if there is no list. An entry that is not a text is
/// returned as JSON.
fn sentences(value: Option<&Value>) -> Vec<String> {
    let sentence = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    value.and_then(Value::as_array).map_or_else(Vec::new, |all| all.iter().map(sentence).collect())
}

/// Returns the manifest of a run, and the assumptions that the manifest lists.
fn manifest_of(folder: &Folder) -> Result<(Value, Vec<String>), Failure> {
    let manifest = folder.json("manifest.json")?.unwrap_or(Value::Null);
    let assumptions = sentences(manifest.get("assumptions"));
    Ok((manifest, assumptions))
}

impl Cell {
    /// Returns the value as text. The text includes half the width of the interval over the seeds,
    /// if known.
    pub fn text(&self, unit: Unit) -> String {
        let half = self
            .ci95
            .filter(|half| *half > 0.0)
            .map_or_else(String::new, |half| format!(" ± {}", unit.text(half)));
        unit.text(self.mean) + &half
    }
}
