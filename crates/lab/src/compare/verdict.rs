//! Who wins: the star of each column, and the sentences under the table. Only techniques that kept the data compete, and a difference
//! within what is uncertain is none.

use std::fmt::Write;

use crate::numbers::{digits, plural};

use super::column::{COLUMNS, Column};
use super::row::{ComparisonRow, RowLife};
use super::unequal_reliability;

/// Latencies closer than this are one: the resolution of their histogram, twice.
const SAME_LATENCY: f64 = 0.002;

/// Which rows have the best mean of a column; none where all are alike, or where parity repairs what the column counts.
pub fn winners(rows: &[ComparisonRow], column: usize) -> Vec<bool> {
    let shown = &COLUMNS[column];
    let values: Vec<_> = rows.iter().map(|row| value(row, column)).collect();
    let real = || rows.iter().zip(&values).filter(|(row, _)| !row.counterfactual);
    let known = || real().filter_map(|(_, value)| *value);
    if shown.key == "uber" && unequal_reliability(rows).is_some() {
        return vec![false; rows.len()];
    }
    if known().all(|value| Some(value) == known().next()) && known().count() != 1 {
        return vec![false; rows.len()];
    }
    let competing = rows.iter().zip(&values).filter(|(row, _)| row.may_win(shown)).filter_map(|(_, value)| *value);
    let best = competing.reduce(|a, b| if shown.is_better(b, a) { b } else { a });
    rows.iter().zip(&values).map(|(row, value)| row.may_win(shown) && value.is_some() && *value == best).collect()
}

/// What ranks a row in a column.
fn value(row: &ComparisonRow, column: usize) -> Option<f64> {
    if COLUMNS[column].is_life() { row.life().rank() } else { row.means[column].map(|e| e.mean) }
}

/// Who kept the data, and which of those wins for life, tail and RAM, by how much.
pub fn verdict(rows: &[ComparisonRow], page_bytes: u64) -> String {
    let mut text = format!("\n{}", losses(rows));
    let safe: Vec<&ComparisonRow> = rows.iter().filter(|row| !row.lost_data() && !row.counterfactual).collect();
    if let ([only], true) = (&safe[..], rows.len() > 1) {
        let _ = write!(text, " Only `{}` kept them all, so there is nothing to compare it with.", only.label);
    }
    if safe.len() > 1 {
        let parts: Vec<String> = MEASURES.iter().filter_map(|measure| measure.of(&safe, page_bytes)).collect();
        if !parts.is_empty() {
            let _ = write!(text, " Of those that kept all data: {}.", parts.join("; "));
        }
    }
    text.push('\n');
    text
}

/// "`none` lost data: 456 pages."
fn losses(rows: &[ComparisonRow]) -> String {
    let lossy: Vec<&ComparisonRow> = rows.iter().filter(|row| row.lost_data()).collect();
    let of = |row: &&ComparisonRow| {
        let pages: u64 = row.runs.iter().map(|run| run.data_lost_pages).sum();
        let reads: u64 = row.runs.iter().map(|run| run.uncorrectable_reads).sum();
        let what = if pages > 0 { plural(pages, "page") } else { plural(reads, "failed read") };
        let runs = if row.runs.len() > 1 { format!(" in {} runs", row.runs.len()) } else { String::new() };
        format!("`{}` lost data: {what}{runs}", row.label)
    };
    let sentences: Vec<String> = lossy.iter().map(of).collect();
    match sentences.len() {
        0 => "No technique lost data.".into(),
        n if n == rows.len() => format!("Every technique lost data. {}.", sentences.join("; ")),
        _ => format!("{}.", sentences.join("; ")),
    }
}

/// Something that techniques are compared in.
struct Measure {
    key: &'static str,
    name: &'static str,
    best: &'static str,
}

const MEASURES: [Measure; 3] = [
    Measure { key: "projected_life_days", name: "life", best: "longest" },
    Measure { key: "read_p99_9_us", name: "read p99.9", best: "shortest" },
    Measure { key: "controller_ram_bytes", name: "RAM", best: "smallest" },
];

/// A row's place in a measure: what ranks it, and between what it may lie.
struct Standing<'a> {
    label: &'a str,
    rank: f64,
    low: f64,
    high: f64,
    /// Whether no number is known between the two.
    is_range: bool,
    text: String,
}

impl Standing<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

impl Measure {
    /// "life is longest under `a` (12.9 h, against 4.40 h under `b`: 2.93 times)"; none where fewer than two can be compared.
    fn of(&self, rows: &[&ComparisonRow], page_bytes: u64) -> Option<String> {
        let column = COLUMNS.iter().position(|c| c.key == self.key).expect("a column has this key");
        let shown = &COLUMNS[column];
        let mut standings: Vec<_> =
            rows.iter().filter(|row| row.may_win(shown)).filter_map(|row| standing(row, column, page_bytes)).collect();
        if standings.len() < 2 {
            return None;
        }
        standings.sort_by(|a, b| if shown.more_is_better { b.rank.total_cmp(&a.rank) } else { a.rank.total_cmp(&b.rank) });
        let tied = standings.iter().take_while(|s| s.overlaps(&standings[0])).count();
        let (front, behind) = standings.split_at(tied);
        let texts = |all: &[Standing]| all.iter().map(|s| format!("`{}` {}", s.label, s.text)).collect::<Vec<_>>().join(", ");
        Some(match (front, behind) {
            ([first, others @ ..], []) if others.iter().all(|s| s.text == first.text) => {
                format!("{} is the same under all ({})", self.name, first.text)
            }
            (all, []) => format!("{} is not told apart ({})", self.name, texts(all)),
            (front, [next, ..]) if front.iter().all(|s| s.text == front[0].text) => format!(
                "{} is {} under {} ({}, against {} under `{}`{})",
                self.name,
                self.best,
                front.iter().map(|s| format!("`{}`", s.label)).collect::<Vec<_>>().join(" and "),
                front[0].text,
                next.text,
                next.label,
                times(&front[0], next)
            ),
            (front, [next, ..]) => {
                format!("{} is {} under these, not told apart: {}; then `{}` {}", self.name, self.best, texts(front), next.label, next.text)
            }
        })
    }
}

/// The ratio of two ranks, where it says something; of lives that are known as ranges only, what it is at least.
fn times(best: &Standing, next: &Standing) -> String {
    let (more, less) = if best.rank > next.rank { (best, next) } else { (next, best) };
    let at_least = best.is_range || next.is_range;
    let ratio = if at_least { more.low / less.high } else { more.rank / less.rank };
    let word = if at_least { "at least " } else { "" };
    if ratio.is_finite() && ratio > 1.0 { format!(": {word}{} times", digits(ratio)) } else { String::new() }
}

fn standing(row: &ComparisonRow, column: usize, page_bytes: u64) -> Option<Standing<'_>> {
    let shown: &Column = &COLUMNS[column];
    let rank = value(row, column)?;
    let (low, high, is_range, text) = if shown.is_life() {
        let life = row.life();
        let (low, high) = if let RowLife::Days { low, high, .. } = life { (low, high) } else { (rank, rank) };
        (low, high, matches!(life, RowLife::Days { middle: None, .. }), life.text())
    } else {
        let half = row.means[column].and_then(|e| e.ci95).unwrap_or(0.0);
        let half = if shown.is_latency() { half.max(SAME_LATENCY / 2.0 * rank) } else { half };
        (rank - half, rank + half, false, shown.text(rank, page_bytes))
    };
    Some(Standing { label: &row.label, rank, low, high, is_range, text })
}
