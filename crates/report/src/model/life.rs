//! Life of a drive: one number, a range, or the reason why the life is unknown.

use serde_json::Value;
use vpass_lab::results::LifeUnit;

use crate::numbers::kept_together;

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
    /// Reads a life from the results of a technique, or from the wear of a run. Returns `None` if
    /// the results have no unit of life.
    pub fn of(facts: &Value, middle: Option<f64>) -> Option<Self> {
        let unit = match facts.get("life_unit")?.as_str()? {
            "days" => LifeUnit::Days,
            "host_bytes" => LifeUnit::HostBytes,
            "read_bytes" => LifeUnit::ReadBytes,
            _ => return None,
        };
        let number = |key: &str| facts.get(key).and_then(Value::as_f64);
        Some(Self {
            unit,
            middle,
            low: number("life_low"),
            high: number("life_high"),
            // Results of older versions lack this key.
            is_settled: facts.get("life_settled").and_then(Value::as_bool).unwrap_or(true),
            lives_on: false,
        })
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
    use serde_json::json;

    #[test]
    fn a_life_is_a_number_or_a_range_and_only_once_settled() {
        let mut facts =
            json!({"life_unit": "days", "life_low": 4.0, "life_high": 9.0, "life_settled": true});
        let range = Life::of(&facts, None).unwrap();
        assert_eq!(
            (range.point(), range.text()),
            (Some(6.0), "4.00\u{a0}to\u{a0}9.00\u{a0}days".into())
        );
        let number = Life::of(&facts, Some(5.0)).unwrap();
        assert_eq!((number.point(), number.text()), (Some(5.0), "5.00\u{a0}days".into()));
        facts["life_settled"] = false.into();
        let early = Life::of(&facts, Some(5.0)).unwrap();
        assert_eq!((early.point(), early.range()), (None, None));
        assert_eq!(early.text(), "run too short");
        assert_eq!(Life::of(&json!({"life_unit": null}), None), None);
    }
}
