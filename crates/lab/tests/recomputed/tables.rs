//! Tables of `--out`, read by their headers.

use serde_json::Value;

/// CSV file of numbers. A word or an empty cell is not a number, and becomes `None`.
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Option<f64>>>,
}

impl Table {
    pub(crate) fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let columns = lines.next().unwrap().split(',').map(str::to_owned).collect();
        let rows =
            lines.map(|line| line.split(',').map(|cell| cell.parse().ok()).collect()).collect();
        Self { columns, rows }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column == name)
    }

    /// Returns a column from top to bottom.
    pub(crate) fn column(&self, name: &str) -> Vec<f64> {
        let at = self
            .columns
            .iter()
            .position(|column| column == name)
            .unwrap_or_else(|| panic!("no column {name}"));
        self.rows
            .iter()
            .map(|row| row[at].unwrap_or_else(|| panic!("{name}: not a number")))
            .collect()
    }

    pub(crate) fn last(&self, name: &str) -> f64 {
        *self.column(name).last().unwrap()
    }
}

/// Columns of `series.csv`, and the places of these numbers in `summary.json`.
const SAME: [(&str, &str); 9] = [
    ("host_read_pages", "host.read_pages"),
    ("host_write_pages", "host.write_pages"),
    ("reclaim_alarms", "reclaim.alarms"),
    ("reclaim_jobs", "reclaim.invocations"),
    ("reclaim_copied_pages", "reclaim.pages_copied"),
    ("uncorrectable_reads", "uncorrectable_reads"),
    ("lost_pages", "data_lost_pages"),
    ("host_reads_with_retry", "retries.reads_with_retry"),
    ("lost_by_age_pages", "losses.by_age"),
];

const CAUSES: [&str; 7] = ["host", "gc", "reclaim", "refresh", "wear", "parity", "hint"];

/// Returns the number at a place of a summary such as `host.read_pages`; `None` if it is null or
/// absent.
pub(crate) fn number_at(summary: &Value, path: &str) -> Option<f64> {
    let mut at = summary;
    for key in path.split('.') {
        at = key.parse::<usize>().map_or(&at[key], |n| &at[n]);
    }
    at.as_f64()
}

/// Returns the columns with an error: a column that decreases, or whose last number differs from
/// the number in the summary.
pub(crate) fn differences(series: &Table, summary: &Value) -> Vec<String> {
    let by_cause = CAUSES.iter().flat_map(|cause| {
        [("programs", "pages"), ("erases", "blocks")]
            .map(|(what, unit)| (format!("{what}_{cause}_{unit}"), format!("flash.{what}.{cause}")))
    });
    let same = SAME.iter().map(|(column, path)| ((*column).to_owned(), (*path).to_owned()));
    let mut wrong = vec![];
    for (column, path) in same.chain(by_cause).filter(|(column, _)| series.has(column)) {
        let rows = series.column(&column);
        let (last, said) = (rows.last(), number_at(summary, &path));
        if said.is_some() && last != said.as_ref() {
            wrong.push(format!("{path}: {said:?} is reported, {column} ends with {last:?}"));
        }
        if rows.windows(2).any(|pair| pair[0] > pair[1]) {
            wrong.push(format!("{column} falls"));
        }
    }
    let requests: Option<f64> = ["read", "write", "trim"]
        .iter()
        .map(|op| number_at(summary, &format!("host.{op}_requests")))
        .sum();
    if requests.as_ref() != series.column("requests").last() {
        wrong.push(format!("requests: {requests:?} are reported"));
    }
    wrong
}
