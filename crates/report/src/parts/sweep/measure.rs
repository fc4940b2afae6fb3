//! Measures that the charts of a sweep show: the life, and some columns of the table of all
//! numbers.

use vpass_lab::results::LifeUnit;
use vpass_lab::results::quantity::{Quantity, Unit};

use crate::model::{Model, Row, Sweep};
use crate::numbers;
use crate::scale::{Format, ends};

/// Columns that have a chart on the page, in the order of the charts.
const CHARTS: [&str; 5] =
    ["read_wear", "write_amplification", "reclaim_write_pages", "read_p99_9_us", "uber"];
/// Key of the life as a measure. In each sweep, the life may have another unit.
const LIFE: &str = "life";

/// Measure that a chart shows.
pub(super) struct Measure {
    /// Key of the measure in the lists of winners.
    pub(super) key: String,
    /// Name of the measure on the page.
    pub(super) label: String,
    unit: Unit,
}

impl Measure {
    /// Returns the measures that have a value at any point.
    pub(super) fn all(sweep: &Sweep) -> Vec<Self> {
        let of_column = |key: &&str| {
            let quantity = Quantity::of(key);
            Self { key: (*key).into(), label: quantity.label.into(), unit: quantity.unit }
        };
        let known = |measure: &Self| rows(sweep).any(|row| measure.value(row).is_some());
        life(sweep).into_iter().chain(CHARTS.iter().map(of_column)).filter(known).collect()
    }

    /// Returns whether any two results of the measure differ.
    pub(super) fn changes(&self, sweep: &Sweep) -> bool {
        let ends = ends(rows(sweep).filter_map(|row| self.value(row)));
        ends.is_some_and(|(low, high)| high > low)
    }

    /// Returns the value of this measure for a technique; `None` if it has no value.
    pub(super) fn value(&self, row: &Row) -> Option<f64> {
        if self.key == LIFE { row.life?.point() } else { row.value(&self.key) }
    }

    /// Returns half the width of the 95 % interval; `None` if the interval is unknown.
    pub(super) fn half(&self, row: &Row) -> Option<f64> {
        self.range(row).map(|(low, high)| (high - low) / 2.0)
    }

    /// Returns the ends of the 95 % interval over seeds; `None` with one seed.
    pub(super) fn range(&self, row: &Row) -> Option<(f64, f64)> {
        if self.key == LIFE {
            return row.life?.range();
        }
        let cell = row.cells.get(&self.key)?;
        cell.ci95.map(|half| (cell.mean - half, cell.mean + half))
    }

    /// Returns the value of this measure with its unit, for a technique. Without a value, the text
    /// is a dash.
    pub(super) fn text(&self, row: &Row) -> String {
        if self.key == LIFE {
            return row.life.map_or_else(|| "–".into(), |life| life.text());
        }
        row.text(&self.key, self.unit)
    }

    /// Returns the function that formats the numbers of this measure's axis.
    pub(super) fn format(&self) -> Format {
        match self.unit {
            Unit::Life(LifeUnit::Days) => numbers::days,
            Unit::Life(_) | Unit::Bytes => numbers::bytes,
            Unit::Pages | Unit::Blocks => numbers::short,
            Unit::Ratio | Unit::Retries => numbers::trimmed,
            Unit::Us => numbers::us,
            Unit::Percent => {
                |share| numbers::kept_together(&format!("{} %", numbers::trimmed(share)))
            }
            Unit::Rate => |rate| format!("{rate:.0e}"),
        }
    }

    /// Returns the note that stands below the chart.
    pub(super) fn source(&self, axes: usize) -> &'static str {
        match (axes, self.key == LIFE) {
            (1, true) => "Bands: range of the life",
            (1, false) => "Bands: 95 % intervals",
            _ => "All maps of this measure have the same colours",
        }
    }
}

fn rows(sweep: &Sweep) -> impl Iterator<Item = &Row> {
    sweep.points.iter().filter_map(|point| point.model.as_ref()).flat_map(Model::all)
}

/// Returns the life as a measure. Returns `None` if there is no life, or if lives have different
/// units.
fn life(sweep: &Sweep) -> Option<Measure> {
    let mut units = rows(sweep).filter_map(|row| Some(row.life?.unit));
    let first = units.next()?;
    let same = units.all(|unit| unit == first);
    same.then(|| Measure { key: LIFE.into(), label: "life".into(), unit: Unit::Life(first) })
}
