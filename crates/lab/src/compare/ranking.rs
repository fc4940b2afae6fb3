//! Ranking of the rows by their values in a column. The first part of the ranking has the rows that
//! may be the best, and the second part has all other rows.

use super::column::{COLUMNS, Column, Sizes};
use super::pairs::Pair;
use super::row::{ComparisonRow, RowLife};
use super::unequal_reliability;
use crate::numbers::{digits, short};

/// Value of a row in a column.
pub(super) struct Standing<'a> {
    pub(super) row: &'a ComparisonRow,
    rank: f64,
    /// Life of the row, if the column shows lives.
    life: Option<RowLife>,
    /// Result of the comparison with the best row.
    pair: Pair,
    pub(super) text: String,
    /// Number as the table shows it, with its interval.
    pub(super) with_range: String,
}

impl Standing<'_> {
    /// Returns the number as the table shows it. Lives have no interval in the table.
    pub(super) fn in_sentence(&self) -> &str {
        if self.life.is_some() { &self.text } else { &self.with_range }
    }

    /// Compares this row with another row.
    fn pair_with(&self, best: &Self, column: &Column) -> Pair {
        match (self.life, best.life) {
            (Some(a), Some(b)) if a.low <= b.high && b.low <= a.high => Pair::Close,
            (Some(_), Some(_)) => Pair::Apart,
            _ => Pair::of([self.row, best.row], [self.rank, best.rank], column),
        }
    }
}

/// Ranking of the rows that compete in a column. There are at least two rows.
pub(super) struct Ranking<'a> {
    /// Best row, followed by the rows that are not clearly worse.
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
        for i in 1..all.len() {
            all[i].pair = all[i].pair_with(&all[0], shown);
        }
        let (front, behind) = all.into_iter().partition(|standing| standing.pair != Pair::Apart);
        Some(Self { front, behind })
    }

    /// Returns whether the noise of every difference to the best row is known.
    pub(super) fn is_known(&self) -> bool {
        self.front.iter().all(|standing| standing.pair != Pair::Unknown)
    }

    /// Returns whether all ranked rows have the same value.
    pub(super) fn is_alike(&self) -> bool {
        self.behind.is_empty() && self.front_is_alike()
    }

    /// Returns whether all rows that may be the best have equal values.
    pub(super) fn front_is_alike(&self) -> bool {
        self.front.iter().all(|standing| standing.text == self.front[0].text)
    }

    /// Returns whether the column has one or more winners. All winners have equal values. Every
    /// other row is clearly worse than the winners.
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
    /// times". The text is empty if the ratio is infinite or at most 1. If a life is known only as
    /// a range, the text gives the smallest possible ratio.
    pub(super) fn times(&self) -> String {
        let (best, next) = (&self.front[0], &self.behind[0]);
        let (more, less) = if best.rank > next.rank { (best, next) } else { (next, best) };
        let (word, ratio) = match (more.life, less.life) {
            (Some(more), Some(less)) if more.middle.is_none() || less.middle.is_none() => {
                ("at least ", more.low / less.high)
            }
            _ => ("", more.rank / less.rank),
        };
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
/// - A baseline and a row that did nothing never win. If only one other row kept the data, no row
///   wins.
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
        None if rows.iter().any(|row| row.stands_aside() && !row.lost_data()) => none,
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
        && competing.iter().any(|row| !row.life_settled());
    !(is_early || column.key == "uber" && unequal_reliability(rows).is_some())
}

/// Returns the labels of the rows that may all be the best of the column, because no row is clearly
/// better. Rows with equal values are included.
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
    let life = COLUMNS[column].life_unit().map(|unit| row.life(unit));
    let (rank, text, with_range) = if let Some(life) = life {
        let life = life?;
        let range = if life.middle.is_none() {
            life.with_range()
        } else {
            format!("({})", life.with_range())
        };
        (life.rank(), short(&life.text(sizes)), range)
    } else {
        let mean = row.means[column]?.mean;
        let text = short(&COLUMNS[column].text(mean, sizes));
        let with_range = format!("{text}{}", row.interval(column, sizes));
        (mean, text, with_range)
    };
    Some(Standing { row, rank, life: life.flatten(), pair: Pair::Close, text, with_range })
}
