//! Measures that charts, cards and tables show: the life of the drive, the quantities of runs, and
//! numbers that only simulated lives have.

use vpass_lab::results::LifeUnit;
use vpass_lab::results::quantity::{QUANTITIES, Quantity, Unit};

use crate::model::{Kind, Model, Row};
use crate::numbers::{self, kept_together};
use crate::scale::Format;

/// Key of the life as a measure. The unit of the life depends on the workload.
pub const LIFE: &str = "life";
/// Key of the share of all programmed pages that reads caused.
pub const READS_SHARE: &str = "reads_share";

/// Numbers that only simulated lives have.
pub const OF_LIVES: [Measure; 2] = [
    Measure::new("pec_mean", "P/E cycles of the mean block at the end", Unit::Ratio),
    Measure::new("worst_dose_ratio", "largest dose over its limit", Unit::Ratio),
];

/// Measure of techniques.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Key in the results and in the lists of winners.
    pub key: &'static str,
    /// Name on the page.
    pub label: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Adjective for the best value, such as "fewest"; absent if a verdict does not name the
    /// measure.
    pub best: Option<&'static str>,
}

impl Measure {
    const fn new(key: &'static str, label: &'static str, unit: Unit) -> Self {
        Self { key, label, unit, best: None }
    }

    /// Returns the measure with this key.
    ///
    /// # Panics
    /// Panics if no measure has the key, which is a mistake of the caller.
    pub fn of(key: &str) -> Self {
        if key == READS_SHARE {
            return Self::new(READS_SHARE, "share of the wear by reads", Unit::Percent);
        }
        Self::from(Quantity::of(key))
    }

    /// Returns the life, in the unit of the first row that has a life.
    pub fn life<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let unit = rows.into_iter().find_map(|row| row.life).map_or(LifeUnit::Days, |of| of.unit);
        Self { best: Some("longest"), ..Self::new(LIFE, LIFE, Unit::Life(unit)) }
    }

    /// Returns the measures in the table of all numbers, except the life.
    pub fn all(kind: Kind) -> impl Iterator<Item = Self> {
        let of_runs = QUANTITIES.iter().filter(|quantity| quantity.life_unit().is_none());
        let of_lives = OF_LIVES.into_iter().filter(move |_| kind == Kind::Lives);
        of_runs.map(Self::from).chain(of_lives)
    }

    /// Returns the value for a technique; `None` if it has no value.
    pub fn value(&self, row: &Row) -> Option<f64> {
        if self.key == LIFE { row.life?.point() } else { row.value(self.key) }
    }

    /// Returns the ends of the 95 % interval; `None` if the interval is unknown.
    pub fn range(&self, row: &Row) -> Option<(f64, f64)> {
        if self.key == LIFE {
            return row.life?.range();
        }
        let cell = row.cells.get(self.key)?;
        cell.ci95.map(|half| (cell.mean - half, cell.mean + half))
    }

    /// Returns the value for a technique as text, without its interval. Without a value, the text
    /// is a dash.
    pub fn brief(&self, row: &Row) -> String {
        if self.key == LIFE {
            return row.life.map_or_else(|| "–".into(), |life| life.text());
        }
        row.value(self.key).map_or_else(|| "–".into(), |of| kept_together(&self.unit.text(of)))
    }

    /// Returns the value for a technique as text, with its interval over the seeds.
    pub fn text(&self, row: &Row) -> String {
        let cell = row.cells.get(self.key).filter(|_| self.key != LIFE);
        self.brief(row)
            + &kept_together(&cell.map_or_else(String::new, |cell| cell.interval(self.unit)))
    }

    /// Returns the techniques that win in this measure.
    pub fn winners<'a>(&self, model: &'a Model) -> Vec<&'a Row> {
        model.winners_of(self.key)
    }

    /// Returns the function that formats the numbers of this measure's axis.
    pub fn format(&self) -> Format {
        match self.unit {
            Unit::Life(LifeUnit::Days) => numbers::days,
            Unit::Life(LifeUnit::HostBytes) => |v| life_tick(LifeUnit::HostBytes, v),
            Unit::Life(LifeUnit::ReadBytes) => |v| life_tick(LifeUnit::ReadBytes, v),
            Unit::Bytes => numbers::bytes,
            Unit::Pages | Unit::Blocks => numbers::short,
            Unit::Ratio | Unit::Retries => numbers::trimmed,
            Unit::Us => numbers::us,
            Unit::Percent => |share| kept_together(&format!("{} %", numbers::trimmed(share))),
            Unit::Rate => |rate| format!("{rate:.0e}"),
        }
    }
}

impl From<&'static Quantity> for Measure {
    fn from(quantity: &'static Quantity) -> Self {
        let best = quantity.verdict.map(|words| words.best);
        Self { best, ..Self::new(quantity.key, quantity.label, quantity.unit) }
    }
}

fn life_tick(unit: LifeUnit, value: f64) -> String {
    if value == 0.0 { "0".into() } else { kept_together(&unit.text(value)) }
}
