//! Model of the results that the page shows. The model has one row per technique. Each row has one
//! run per seed.

use std::collections::BTreeMap;

use serde_json::Value;
use vpass_drive::base::units::Cause;
pub use vpass_lab::compare::row::Cell;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::failure::Failure;
use vpass_lab::phrase;
use vpass_lab::phrase::Opt;
use vpass_lab::results::{About, Summary};

use crate::folder::Folder;

mod life;
mod lives;
mod runs;
pub(crate) mod sweep;

pub use life::{DAYS, Life};
pub use lives::{CAUSES, Wearing};
pub use sweep::{Point, Sweep};

/// Largest number of techniques that charts show. The palette has one colour for each of them.
pub const DRAWN: usize = 6;

/// Largest ratio of the longest bar to the longest bar of a technique that kept its data.
const CAP: f64 = 1.6;

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

/// Run of a technique with one seed.
#[derive(Clone, Debug)]
pub struct Run {
    /// Results of the run.
    pub summary: Summary,
    /// Folder with the files of the run. The folder is empty if `--out` stored only summaries.
    pub folder: Folder,
}

impl Run {
    /// Returns whether the host wrote.
    pub fn writes(&self) -> bool {
        self.summary.host.write_pages > 0
    }
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
    /// Makes the row of a comparison. `places` has the folder of each run.
    fn of(row: ComparisonRow, places: Vec<Folder>) -> Result<Self, Failure> {
        let manifest = places.first().map(|folder| folder.json("manifest.json")).transpose()?;
        let life = Life::projected(&row);
        let lost =
            row.runs.iter().map(|run| run.data_lost_pages.max(run.uncorrectable_reads.min(1)));
        Ok(Self {
            lost_pages: lost.sum::<u64>() as f64,
            label: row.label,
            reclaim: row.reclaim,
            counterfactual: row.counterfactual,
            baseline: row.baseline,
            cells: row.columns.into_iter().filter_map(|(key, cell)| Some((key, cell?))).collect(),
            life,
            wearing: None,
            warnings: row.warnings,
            assumptions: sentences(manifest.flatten().unwrap_or_default().get("assumptions")),
            runs: row
                .runs
                .into_iter()
                .zip(places)
                .map(|(summary, folder)| Run { summary, folder })
                .collect(),
        })
    }

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
    pub fn programs(&self, cause: Cause) -> Option<f64> {
        let of = |run: &Run| {
            let host = &run.summary.host;
            let (writes, reads) = (host.write_pages as f64, host.read_pages as f64 / 1e3);
            let programs = run.summary.flash.programs.of(cause) as f64;
            programs / if run.writes() { writes } else { reads.max(1e-3) }
        };
        mean(&self.runs.iter().map(of).collect::<Vec<_>>())
    }
}

/// Returns the number that a JSON pointer points to; `None` if there is no number.
pub fn number(value: &Value, pointer: &str) -> Option<f64> {
    value.pointer(pointer)?.as_f64()
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
    /// Drive, workload, gear and seeds.
    pub about: About,
    /// Techniques that charts show, in the order in which the command ran them. There are at most
    /// [`DRAWN`].
    pub rows: Vec<Row>,
    /// Techniques that only the table of all numbers shows, and no chart.
    pub others: Vec<Row>,
    /// Labels of the best techniques in each column. The list is empty if the intervals of the best
    /// techniques overlap those of others.
    pub winners: BTreeMap<String, Vec<String>>,
    /// Findings of the command about each measure, as the part of a sentence.
    pub findings: BTreeMap<String, String>,
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
            several => runs::read(several)?,
        };
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

    /// Returns the length of the longest bar of a chart, for these lengths of the techniques. A bar
    /// of a technique that lost data may be only somewhat longer than the longest other bar.
    pub fn longest_bar(&self, length: impl Fn(&Row) -> Option<f64>) -> f64 {
        let longest = |rows: &mut dyn Iterator<Item = &Row>| {
            rows.filter_map(&length).filter(|length| length.is_finite()).fold(0.0, f64::max)
        };
        let most = longest(&mut self.rows.iter());
        let of_kept = longest(&mut self.rows.iter().filter(|row| row.kept_data()));
        if of_kept > 0.0 { most.min(CAP * of_kept) } else { most }
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

    /// Moves rows to [`Self::others`] if charts cannot show all rows. The winners, `block` and
    /// `none` are moved last.
    fn choose_drawn(&mut self) {
        let is_winner = |row: &Row| {
            row.may_win() && self.winners.values().any(|names| names.contains(&row.label))
        };
        let rank = |row: &Row| match row.reclaim.as_str() {
            _ if is_winner(row) => 0,
            "block" => 1,
            "none" => 2,
            _ => 3,
        };
        let rows = std::mem::take(&mut self.rows);
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by_key(|place| rank(&rows[*place]));
        order.truncate(DRAWN);
        let places = rows.into_iter().enumerate();
        let (drawn, others): (Vec<_>, Vec<_>) = places.partition(|(i, _)| order.contains(i));
        self.rows = drawn.into_iter().map(|(_, row)| row).collect();
        self.others = others.into_iter().map(|(_, row)| row).collect();
    }
}

fn without_results(folder: &Folder) -> Failure {
    Failure::usage(format!("{} has no results", folder.name)).with_remedy(phrase![
        "a folder that `vpass run`, `compare`, `life` or `sweep` wrote with ",
        Opt::Out,
        " is expected (with summary.json, compare.json, life.json or sweep.json)",
    ])
}

/// Returns the sentences in a JSON list; empty if there is no list. An entry that is not a text is
/// returned as JSON.
fn sentences(value: Option<&Value>) -> Vec<String> {
    let sentence = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    value.and_then(Value::as_array).map_or_else(Vec::new, |all| all.iter().map(sentence).collect())
}
