//! Text of an estimate, printed before the simulation and together with the simulated life.

use serde::Serialize;

use super::{Answer, Estimate};
use crate::life::MOST_YEARS;
use crate::numbers::{bytes, years};

/// Formats the line that is printed before the simulation. An example is "Estimate for `block`
/// (closed form, within 6 % where measured): 4.10 years".
pub fn early(label: &str, answer: &Answer) -> String {
    match answer {
        Ok(estimate) => {
            format!("Estimate for `{label}` ({}): {}", estimate.bound(), estimate.length_text())
        }
        Err(why) => format!("No estimate for `{label}`: {why}."),
    }
}

/// Formats the sentence that compares the estimate with the simulated life. `simulated` is the
/// simulated life in years, if the drive wore out.
pub fn final_words(label: &str, answer: &Answer, simulated: Option<f64>) -> String {
    match answer {
        Ok(estimate) => {
            let off = match estimate.off_by(simulated) {
                Some(off) => format!(
                    "{:.1} % {} the simulated life",
                    100.0 * off.abs(),
                    if off < 0.0 { "below" } else { "above" }
                ),
                None => "no simulated life to compare with".into(),
            };
            format!("{}: {off}.", early(label, answer))
        }
        Err(_) => early(label, answer),
    }
}

/// Estimate as a record in JSON files. If no known equation fits the drive, the record has the
/// reason why there is no estimate.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// Numbers of the estimate; absent if no known equation fits.
    #[serde(flatten)]
    estimate: Option<Estimate>,
    /// Estimated life minus simulated life, as a share of the simulated life. Null if wear did not
    /// end the simulated life.
    off_by: Option<f64>,
    /// Reason why there is no estimate. Null if there is an estimate.
    none_because: Option<String>,
}

impl Record {
    /// Builds the record of an estimate. `simulated` is the simulated life in years, if the drive
    /// wore out.
    pub fn of(answer: &Answer, simulated: Option<f64>) -> Self {
        let estimate = answer.as_ref().ok().copied();
        Self {
            estimate,
            off_by: estimate.and_then(|e| e.off_by(simulated)),
            none_because: answer.as_ref().err().cloned(),
        }
    }
}

impl Estimate {
    /// Formats the largest measured error of the equations, such as "closed form, within 6 % where
    /// measured".
    pub fn bound(&self) -> String {
        format!("closed form, within {:.0} % where measured", 100.0 * self.within)
    }

    /// Formats the length of the estimated life in a suitable unit.
    pub fn length_text(&self) -> String {
        match (self.life_years, self.host_bytes) {
            (Some(life), _) if life > MOST_YEARS => format!("> {MOST_YEARS:.0} years"),
            (Some(life), _) => years(life, None),
            (None, Some(written)) => format!("{} written by the host", bytes(written as u64)),
            (None, None) => format!("> {MOST_YEARS:.0} years: nothing wears the drive"),
        }
    }

    /// Returns the estimated life minus the simulated life, as a share of the simulated life.
    /// Returns `None` if wear did not end the simulated life.
    pub fn off_by(&self, simulated: Option<f64>) -> Option<f64> {
        Some(self.life_years? / simulated.filter(|years| *years > 0.0)? - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Case;
    use super::*;

    #[test]
    fn a_length_has_the_unit_that_fits() {
        let text = |life_years: Option<f64>, host_bytes: Option<f64>| {
            let estimate = Estimate {
                life_years,
                host_bytes,
                read_bytes: None,
                cycles_by_host: 0.0,
                cycles_by_reads: 0.0,
                cycles_by_age: 0.0,
                case: Case::EvenWrites,
                within: 0.06,
            };
            estimate.length_text()
        };
        assert_eq!(
            [8.4e-5, 4.1, 100.0, 101.0].map(|years| text(Some(years), None)),
            ["44.2 min", "4.10 years", "100 years", "> 100 years"]
        );
        assert_eq!(text(None, Some(3.0 * 1024.0)), "3.00 KiB written by the host");
        assert_eq!(text(None, None), "> 100 years: nothing wears the drive");
    }
}
