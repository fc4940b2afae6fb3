//! Ranking of competitors: rows of a comparison by a quantity, or lives by their years. The first
//! part of a ranking has the competitors that may be the best, the second part all others.

use std::cmp::Ordering;

use super::pairs::Pair;
use super::row::{ComparisonRow, RowLife};
use super::unequal_reliability;
use crate::numbers::digits;
use crate::results::quantity::Quantity;

/// Ranking of at least two competitors.
pub struct Ranking<S> {
    /// Best competitor, followed by those that are not clearly worse.
    pub front: Vec<S>,
    /// All other competitors, best first.
    pub behind: Vec<S>,
    /// Whether the noise of every difference to the best competitor is known.
    pub is_known: bool,
}

impl<S> Ranking<S> {
    /// Ranks competitors. `order` puts the better one first, and `pair` compares one with the best.
    /// Returns `None` if there are fewer than two.
    pub fn of(
        mut all: Vec<S>,
        order: impl FnMut(&S, &S) -> Ordering,
        pair: impl Fn(&S, &S) -> Pair,
    ) -> Option<Self> {
        if all.len() < 2 {
            return None;
        }
        all.sort_by(order);
        let others = all[1..].iter().map(|other| pair(other, &all[0]));
        let pairs: Vec<Pair> = std::iter::once(Pair::Close).chain(others).collect();
        let is_known = pairs.iter().all(|pair| *pair != Pair::Unknown);
        let (mut front, mut behind) = (vec![], vec![]);
        for (one, pair) in all.into_iter().zip(pairs) {
            if pair == Pair::Apart { behind.push(one) } else { front.push(one) }
        }
        Some(Self { front, behind, is_known })
    }
}

/// Value of a row in a column.
pub(super) struct Standing<'a> {
    pub(super) row: &'a ComparisonRow,
    rank: f64,
    /// Life of the row, if the column shows lives.
    life: Option<RowLife>,
    pub(super) text: String,
    /// Number as the table shows it, with its interval.
    pub(super) with_range: String,
}

impl<'a> Standing<'a> {
    /// Returns the value of a row; `None` if the row has no value.
    fn of(row: &'a ComparisonRow, quantity: &Quantity) -> Option<Self> {
        if let Some(unit) = quantity.life_unit() {
            let life = row.life(unit)?;
            let (text, with_range) = (life.text(), life.with_range());
            return Some(Self { row, rank: life.rank(), life: Some(life), text, with_range });
        }
        let cell = row.cell(quantity)?;
        let text = quantity.unit.text(cell.mean);
        let with_range = format!("{text}{}", cell.interval(quantity.unit));
        Some(Self { row, rank: cell.mean, life: None, text, with_range })
    }

    /// Returns the number as the table shows it. Lives have no interval in the table.
    pub(super) fn in_sentence(&self) -> &str {
        if self.life.is_some() { &self.text } else { &self.with_range }
    }

    /// Compares this row with another row.
    fn pair_with(&self, best: &Self, quantity: &Quantity) -> Pair {
        match (self.life, best.life) {
            (Some(a), Some(b)) if a.low <= b.high && b.low <= a.high => Pair::Close,
            (Some(_), Some(_)) => Pair::Apart,
            _ => Pair::of([self.row, best.row], [self.rank, best.rank], quantity),
        }
    }
}

impl<'a> Ranking<Standing<'a>> {
    /// Ranks rows by a quantity. Returns `None` if fewer than two rows can be compared.
    pub(super) fn of_rows(
        rows: impl IntoIterator<Item = &'a ComparisonRow>,
        quantity: &Quantity,
    ) -> Option<Self> {
        let competing = rows.into_iter().filter(|row| row.may_win(quantity));
        Self::of(
            competing.filter_map(|row| Standing::of(row, quantity)).collect(),
            |a, b| quantity.order(a.rank, b.rank),
            |other, best| other.pair_with(best, quantity),
        )
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
        self.is_known && !self.behind.is_empty() && self.front_is_alike()
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
pub fn winners(rows: &[ComparisonRow], quantity: &Quantity) -> Vec<bool> {
    let none = vec![false; rows.len()];
    let real: Vec<f64> = rows
        .iter()
        .filter(|row| !row.counterfactual)
        .filter_map(|row| Some(Standing::of(row, quantity)?.rank))
        .collect();
    let are_alike = real.len() != 1 && real.iter().all(|rank| rank.to_bits() == real[0].to_bits());
    if rows.len() == 1 || are_alike || !may_be_compared(rows, quantity) {
        return none;
    }
    match Ranking::of_rows(rows, quantity) {
        Some(ranking) if ranking.has_winners() => rows
            .iter()
            .map(|row| ranking.front.iter().any(|standing| std::ptr::eq(standing.row, row)))
            .collect(),
        Some(_) => none,
        None if rows.iter().any(|row| row.stands_aside() && !row.lost_data()) => none,
        None => {
            let wins = |row: &ComparisonRow| {
                row.may_win(quantity) && Standing::of(row, quantity).is_some()
            };
            rows.iter().map(wins).collect()
        }
    }
}

/// Returns whether the numbers of a column can be compared. The numbers cannot be compared if
/// parity repairs some of the losses that the column counts, or if a life has not settled.
fn may_be_compared(rows: &[ComparisonRow], quantity: &Quantity) -> bool {
    let competing: Vec<_> = rows.iter().filter(|row| row.may_win(quantity)).collect();
    let is_early = quantity.life_unit().is_some()
        && competing.len() > 1
        && competing.iter().any(|row| !row.life_settled);
    !(is_early || quantity.key == "uber" && unequal_reliability(rows).is_some())
}

/// Returns the labels of the rows that may all be the best of the column, because no row is clearly
/// better. Rows with equal values are included.
///
/// If the noise of a number is unknown, or if the numbers cannot be compared, the list has all
/// competing rows. If one row is clearly the best, or if fewer than two rows compete, the list is
/// empty.
pub fn not_told_apart(rows: &[ComparisonRow], quantity: &Quantity) -> Vec<String> {
    let Some(ranking) = Ranking::of_rows(rows, quantity) else { return vec![] };
    let is_compared = ranking.is_known && may_be_compared(rows, quantity);
    let behind = if is_compared { &[][..] } else { &ranking.behind };
    let tied: Vec<String> =
        ranking.front.iter().chain(behind).map(|standing| standing.row.label.clone()).collect();
    if tied.len() > 1 { tied } else { vec![] }
}
