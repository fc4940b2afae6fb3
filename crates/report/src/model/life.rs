//! Life of a drive: one number, a range, or the reason why the life is unknown.

use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::life::summary;
use vpass_lab::results::LifeUnit;
use vpass_lab::results::quantity::Quantity;

use crate::numbers::kept_together;

/// Number of days per year that results assume.
pub const DAYS: f64 = 365.0;

/// Life of a drive. All its numbers have the same unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Life {
    /// Unit of all numbers in this struct.
    pub unit: LifeUnit,
    /// Life as one number; absent if only a range is known.
    pub middle: Option<f64>,
    /// Lower end of the 95 % range; absent if unknown.
    pub low: Option<f64>,
    /// Upper end of the 95 % range; absent if the range has no upper end.
    pub high: Option<f64>,
    /// Whether the rates and the state of the drive had settled, so that the life is reliable.
    pub is_settled: bool,
    /// Whether the drive was not worn out when the run ended. The drive then lives longer than
    /// these numbers say.
    pub lives_on: bool,
}

impl Life {
    /// Returns the life that the runs of a row project; `None` if they have no unit of life.
    pub fn projected(row: &ComparisonRow) -> Option<Self> {
        let unit = row.life_unit?;
        Some(Self {
            unit,
            middle: row.mean(Quantity::of(unit.key())),
            low: row.life_low,
            high: row.life_high,
            is_settled: row.life_settled,
            lives_on: false,
        })
    }

    /// Returns a simulated life. A life that ran out of work has only bounds.
    pub fn simulated(life: &summary::Life) -> Self {
        let years = life.years.mean;
        let lives_on = !life.ended;
        let by_lives = life.years.ci95.map(|half| ((years - half).max(0.0), years + half));
        let ends = life.interval.map(|interval| (interval.low, interval.high)).or(by_lives);
        let (low, high) = if life.out_of_work {
            (Some(years), life.years_at_most)
        } else {
            ends.filter(|_| !lives_on).unzip()
        };
        Self {
            unit: LifeUnit::Days,
            middle: (!life.out_of_work).then_some(years * DAYS),
            low: low.map(|years| years * DAYS),
            high: high.map(|years| years * DAYS),
            is_settled: true,
            lives_on: lives_on && !life.out_of_work,
        }
    }

    /// Returns the life as one number for a chart. If only a range is known, the number is the
    /// geometric mean of its ends. If the range has no upper end, the number is its lower end.
    /// Returns `None` if the life is unknown.
    pub fn point(&self) -> Option<f64> {
        let range = || Some((self.low? * self.high?).sqrt()).filter(|life| *life > 0.0);
        self.middle.or_else(range).or(self.low).filter(|_| self.is_settled)
    }

    /// Returns both ends of the range; `None` if the life is unknown or an end is absent.
    pub fn range(&self) -> Option<(f64, f64)> {
        Some((self.low?, self.high?)).filter(|_| self.is_settled)
    }

    /// Returns the life as text.
    pub fn text(&self) -> String {
        if !self.is_settled {
            return "run too short".into();
        }
        let text = match (self.middle, self.low) {
            (Some(middle), _) => self.unit.text(middle),
            (None, Some(low)) => self.unit.range(low, self.high.unwrap_or(f64::INFINITY)),
            (None, None) => return "–".into(),
        };
        let more = if self.lives_on { "> " } else { "" };
        kept_together(&format!("{more}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_a_number_or_a_range_and_only_once_settled() {
        let range = Life {
            unit: LifeUnit::Days,
            middle: None,
            low: Some(4.0),
            high: Some(9.0),
            is_settled: true,
            lives_on: false,
        };
        assert_eq!(
            (range.point(), range.text()),
            (Some(6.0), "4.00\u{a0}to\u{a0}9.00\u{a0}days".into())
        );
        let number = Life { middle: Some(5.0), ..range };
        assert_eq!((number.point(), number.text()), (Some(5.0), "5.00\u{a0}days".into()));
        let early = Life { is_settled: false, ..number };
        assert_eq!((early.point(), early.range()), (None, None));
        assert_eq!(early.text(), "run too short");
        let goes_on = Life { low: None, high: None, lives_on: true, ..number };
        assert_eq!(goes_on.text(), ">\u{a0}5.00\u{a0}days");
    }
}
