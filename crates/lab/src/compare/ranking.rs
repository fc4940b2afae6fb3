//! Ranking of the rows by their values in a column. The first part of the ranking has the rows that
//! may be the best, and the second part has all other rows. Rows whose 95 % intervals overlap are
//! too close to rank.

use super::column::{COLUMNS, Column, Sizes};
use super::row::ComparisonRow;
use super::unequal_reliability;
use crate::numbers::digits;

/// Relative difference below which two latencies count as equal. This constant is twice the
/// resolution of the latency histograms.
const SAME_LATENCY: f64 = 0.002;

/// Value of a row in a column, with the range of the value.
pub(super) struct Standing<'a> {
    pub(super) row: &'a ComparisonRow,
    rank: f64,
    low: f64,
    high: f64,
    /// Whether the value of the row is a range instead of a single number.
    is_range: bool,
    /// Whether both ends of the range are known.
    is_known: bool,
    pub(super) text: String,
    /// Number and interval as one text.
    pub(super) with_range: String,
}

impl Standing<'_> {
    fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Ranking of the rows that compete in a column. There are at least two rows.
pub(super) struct Ranking<'a> {
    /// Best row, followed by the rows whose intervals overlap the interval of the best row.
    pub(super) front: Vec<Standing<'a>>,
    /// All other rows, best first.
    pub(super) behind: Vec<Standing<'a>>,
}

impl<'a> Ranking<'a> {
    /// Ranks rows by their values in a column. Returns `None` if fewer than two rows can be
    /// compared.
    pub(super) fn of(rows: &[&'a ComparisonRow], column: usize, sizes: &Sizes) -> Option<Self> {
        let shown = &COLUMNS[column];
        let competing = rows.iter().filter(|row| row.may_win(shown));
        let mut all: Vec<Standing> =
            competing.filter_map(|row| standing(row, column, sizes)).collect();
        if all.len() < 2 {
            return None;
        }
        all.sort_by(|a, b| {
            if shown.more_is_better { b.rank.total_cmp(&a.rank) } else { a.rank.total_cmp(&b.rank) }
        });
        let mut all = all.into_iter();
        let best = all.next()?;
        let (tied, behind): (Vec<_>, Vec<_>) = all.partition(|standing| standing.overlaps(&best));
        Some(Self { front: std::iter::once(best).chain(tied).collect(), behind })
    }

    /// Returns whether the noise of every number in this ranking is known.
    pub(super) fn is_known(&self) -> bool {
        self.front.iter().chain(&self.behind).all(|standing| standing.is_known)
    }

    /// Returns whether all ranked rows have the same value.
    pub(super) fn is_alike(&self) -> bool {
        self.behind.is_empty() && self.front_is_alike()
    }

    /// Returns whether all rows that may be the best have equal values.
    pub(super) fn front_is_alike(&self) -> bool {
        self.front.iter().all(|standing| standing.text == self.front[0].text)
    }

    /// Returns whether the column has one or more winners. All winners have equal values. The
    /// interval of every other row is separate from the interval of the winners.
    pub(super) fn has_winners(&self) -> bool {
        self.is_known() && !self.behind.is_empty() && self.front_is_alike()
    }

    /// Formats the labels and the values of the rows that may be the best, such as "`a` 1.2 ± 0.1,
    /// `b` 1.3 ± 0.1".
    pub(super) fn front_texts(&self) -> String {
        self.front
            .iter()
            .map(|standing| format!("`{}` {}", standing.row.label, standing.with_range))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Formats the ratio between the values of the best row and the next row, such as ": 2.93
    /// times". The text is empty if the ratio is infinite or at most 1. If a value is a range, the
    /// text gives the smallest possible ratio.
    pub(super) fn times(&self) -> String {
        let (best, next) = (&self.front[0], &self.behind[0]);
        let (more, less) = if best.rank > next.rank { (best, next) } else { (next, best) };
        let at_least = best.is_range || next.is_range;
        let ratio = if at_least { more.low / less.high } else { more.rank / less.rank };
        let word = if at_least { "at least " } else { "" };
        if ratio.is_finite() && ratio > 1.0 {
            format!(": {word}{} times", digits(ratio))
        } else {
            String::new()
        }
    }
}

/// Returns, for each row, whether the row wins the column.
///
/// - No row wins if the table has only one row, or if all rows are equal or too close to rank.
/// - No row wins if parity repairs some of the losses that the column counts.
/// - If all rows except one lost data, the row that kept the data wins.
/// - A baseline never wins. If a baseline and only one other row kept the data, no row wins.
/// - No row wins a column of lives if the life of a competing row has not settled.
pub fn winners(rows: &[ComparisonRow], column: usize, sizes: &Sizes) -> Vec<bool> {
    let shown = &COLUMNS[column];
    let none = vec![false; rows.len()];
    let all: Vec<&ComparisonRow> = rows.iter().collect();
    let real = || {
        rows.iter()
            .filter(|row| !row.counterfactual)
            .filter_map(|row| standing(row, column, sizes))
            .map(|standing| standing.rank)
    };
    let are_alike = real().count() != 1 && real().all(|rank| Some(rank) == real().next());
    if rows.len() == 1 || are_alike || !may_be_compared(rows, shown) {
        return none;
    }
    let wins = |label: &str| rows.iter().map(|row| row.label == label).collect();
    match Ranking::of(&all, column, sizes) {
        Some(ranking) if ranking.has_winners() => rows
            .iter()
            .map(|row| ranking.front.iter().any(|standing| std::ptr::eq(standing.row, row)))
            .collect(),
        Some(_) => none,
        None if rows.iter().any(|row| row.baseline && !row.lost_data()) => none,
        None => {
            let alone = rows
                .iter()
                .find(|row| row.may_win(shown) && standing(row, column, sizes).is_some());
            alone.map_or(none, |row| wins(&row.label))
        }
    }
}

/// Returns whether the numbers of a column can be compared. The numbers cannot be compared if
/// parity repairs some of the losses that the column counts, or if a life has not settled.
fn may_be_compared(rows: &[ComparisonRow], column: &Column) -> bool {
    let competing: Vec<_> = rows.iter().filter(|row| row.may_win(column)).collect();
    let is_early = column.life_unit().is_some()
        && competing.len() > 1
        && competing.iter().any(|row| !row.tells_life());
    !(is_early || column.key == "uber" && unequal_reliability(rows).is_some())
}

/// Returns the labels of the rows that may all be the best of the column, because their 95 %
/// intervals overlap. Rows with equal values are included.
///
/// If the noise of a number is unknown, or if the numbers cannot be compared, the list has all
/// competing rows. If one row is clearly the best, or if fewer than two rows compete, the list is
/// empty.
pub fn not_told_apart<'a>(rows: &'a [ComparisonRow], column: usize, sizes: &Sizes) -> Vec<&'a str> {
    let all: Vec<&ComparisonRow> = rows.iter().collect();
    let Some(ranking) = Ranking::of(&all, column, sizes) else { return vec![] };
    let is_compared = ranking.is_known() && may_be_compared(rows, &COLUMNS[column]);
    let behind = if is_compared { &[][..] } else { &ranking.behind };
    let tied: Vec<&str> =
        ranking.front.iter().chain(behind).map(|standing| standing.row.label.as_str()).collect();
    if tied.len() > 1 { tied } else { vec![] }
}

fn standing<'a>(row: &'a ComparisonRow, column: usize, sizes: &Sizes) -> Option<Standing<'a>> {
    let shown: &Column = &COLUMNS[column];
    if let Some(unit) = shown.life_unit() {
        let life = row.life(unit)?;
        let is_range = life.middle.is_none() || life.no_wear;
        // Drive writes per day, in parentheses at the end of the text, are cut off. The table
        // already shows this number.
        let text = life.text(sizes).split(" (").next().map_or_else(String::new, str::to_owned);
        let with_range =
            if is_range { life.with_range() } else { format!("({})", life.with_range()) };
        return Some(Standing {
            row,
            rank: life.rank(),
            low: life.low,
            high: life.high,
            is_range,
            is_known: true,
            text,
            with_range,
        });
    }
    let rank = row.means[column]?.mean;
    let known = row.halves[column];
    let half = known.unwrap_or(0.0);
    let half = if shown.is_latency() { half.max(SAME_LATENCY / 2.0 * rank) } else { half };
    // The number of bytes, in parentheses at the end of the text, is cut off. The table already
    // shows this number.
    let short = |value: f64| {
        shown.text(value, sizes).split(" (").next().map_or_else(String::new, str::to_owned)
    };
    let with_range =
        if half > 0.0 { format!("{} ± {}", short(rank), short(half)) } else { short(rank) };
    Some(Standing {
        row,
        rank,
        low: rank - half,
        high: rank + half,
        is_range: false,
        is_known: known.is_some(),
        text: short(rank),
        with_range,
    })
}
