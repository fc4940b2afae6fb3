//! Search for the value of a key that gives the longest life. The search first tries nine values in
//! equal logarithmic steps, all with the same seeds. A golden-section search then refines the best
//! value.
//!
//! A value ranks last if a life with the value loses data, or if the drive is invalid with the
//! value. The search assumes that the curve of years over values has a single peak. If the first
//! nine values show several peaks, a sentence lists them, and the search refines only the highest
//! peak.

pub mod lasting;

use serde::Serialize;
use serde_json::{Value, json};

use super::summary::Life;
use super::verdict::surpass;
use crate::as_json;
use crate::failure::Failure;
use crate::mean_ci95::MeanCi95;

/// Number of values that the search tries first.
pub const FIRST: usize = 9;
/// Number of values that the search tries after the first nine. The later values lie between the
/// two neighbours of the best first value. The search finds the peak to within 1/40 of the step
/// between first values.
pub const CLOSER: usize = 8;
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Value that the search tried, with the result.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Value as a text for `--set`.
    pub text: String,
    /// Value as a number in the unit of the key. For a span of time, the unit is seconds.
    pub value: f64,
    /// Lives with this value of the key; absent if the drive is invalid with the value.
    pub life: Option<Life>,
    /// Reason why the drive is invalid with the value, as a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Returns values in equal logarithmic steps between two given values.
pub fn first_values(from: f64, to: f64) -> Vec<f64> {
    let step = (to / from).ln() / (FIRST - 1) as f64;
    (0..FIRST).map(|n| from * (step * n as f64).exp()).collect()
}

/// Golden-section search over the logarithm of the value. The search chooses the next value to try.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    low: f64,
    high: f64,
    /// Logarithm of the lower inner value, and years of the life with this value. The search
    /// compares two inner values. The years are `None` until a life was simulated.
    lower: (f64, Option<f64>),
    upper: (f64, Option<f64>),
}

impl Section {
    /// Starts a search between a low and a high value.
    pub fn new(low: f64, high: f64) -> Self {
        let (low, high) = (low.ln(), high.ln());
        Self {
            low,
            high,
            lower: (high - GOLDEN * (high - low), None),
            upper: (low + GOLDEN * (high - low), None),
        }
    }

    /// Returns the value to try next.
    pub fn next(&self) -> f64 {
        if self.lower.1.is_none() { self.lower.0.exp() } else { self.upper.0.exp() }
    }

    /// Records the years of the life for the value from [`Self::next`].
    pub fn found(&mut self, years: f64) {
        if self.lower.1.is_none() {
            self.lower.1 = Some(years);
        } else {
            self.upper.1 = Some(years);
        }
        let (Some(lower), Some(upper)) = (self.lower.1, self.upper.1) else { return };
        if lower >= upper {
            self.high = self.upper.0;
            self.upper = self.lower;
            self.lower = (self.high - GOLDEN * (self.high - self.low), None);
        } else {
            self.low = self.lower.0;
            self.lower = self.upper;
            self.upper = (self.low + GOLDEN * (self.high - self.low), None);
        }
    }
}

impl Point {
    /// Returns the rank of the value: the years of the life. The rank is 0 if a life lost data, or
    /// if the drive is invalid with the value.
    pub fn rank(&self) -> f64 {
        self.answer().map_or(0.0, |life| life.years.mean)
    }

    /// Returns the lives with this value. Returns `None` if a life lost data, or if the drive is
    /// invalid with the value.
    fn answer(&self) -> Option<&Life> {
        self.life.as_ref().filter(|life| !life.lost_data())
    }

    /// Returns whether the drive outlives the simulation with this value of the key.
    pub fn lives_on(&self) -> bool {
        self.answer().is_some_and(|life| !life.ended)
    }

    fn mean_rank(&self) -> MeanCi95 {
        MeanCi95 { mean: self.rank(), ci95: self.life.as_ref().and_then(|life| life.years.ci95) }
    }
}

/// Returns the index of the value with the longest life. Lives that lost data do not count. If
/// several values are equally good, returns the first of them.
pub fn best(points: &[Point]) -> usize {
    (0..points.len())
        .rev()
        .max_by(|a, b| points[*a].rank().total_cmp(&points[*b].rank()))
        .unwrap_or(0)
}

/// Returns the indexes of the peaks of the curve. Two peaks count as separate if both rise above
/// the valley between them by more than the intervals.
pub fn peaks(points: &[Point]) -> Vec<usize> {
    let of = |i: usize| points[i].mean_rank();
    let mut peaks: Vec<usize> = vec![];
    for i in 0..points.len() {
        let rises = i == 0 || of(i - 1).mean < of(i).mean;
        let falls = i + 1 == points.len() || of(i + 1).mean <= of(i).mean;
        if !(rises && falls) {
            continue;
        }
        // The valley lies between this peak and the previous peak.
        if let Some(before) = peaks.last().copied() {
            let valley =
                (before..=i).map(of).min_by(|a, b| a.mean.total_cmp(&b.mean)).unwrap_or(of(i));
            let stands_out = |peak: MeanCi95| {
                peak.mean - valley.mean > peak.ci95.unwrap_or(0.0) + valley.ci95.unwrap_or(0.0)
            };
            if !(stands_out(of(before)) && stands_out(of(i))) {
                // The valley is too shallow, so the two peaks count as one peak.
                if of(i).mean > of(before).mean {
                    *peaks.last_mut().expect("there is one before") = i;
                }
                continue;
            }
        }
        peaks.push(i);
    }
    peaks
}

/// Returns the points ordered by rising value.
fn in_order(points: &[Point]) -> Vec<&Point> {
    let mut order: Vec<&Point> = points.iter().collect();
    order.sort_by(|a, b| a.value.total_cmp(&b.value));
    order
}

/// Formats the curve as CSV, ordered by rising value. Values with which the drive is invalid have
/// no row.
pub fn csv(key: &str, points: &[Point]) -> String {
    let mut text = format!(
        "{key},value,years,years_ci95,worn_out,host_bytes_written,flash_bytes_written,\
         data_lost_pages,reads_with_retries\n"
    );
    for Point { text: set, value, life, .. } in in_order(points) {
        let Some(life) = life else { continue };
        let ci95 = life.years.ci95.map_or_else(String::new, |half| half.to_string());
        let retried = life
            .reads_by_retries
            .as_ref()
            .and_then(|shares| shares.first())
            .map_or_else(String::new, |none| (1.0 - none.mean).to_string());
        let row = format!(
            "{set},{value},{},{ci95},{},{},{},{},{retried}\n",
            life.years.mean,
            life.worn_out,
            life.host_bytes_written.mean,
            life.flash_bytes_written.mean,
            life.data_lost_pages
        );
        text.push_str(&row);
    }
    text
}

/// Returns the JSON of `vpass life --find KEY --json`. `others` has the peaks that were not
/// refined, as texts.
///
/// # Errors
/// Returns an error if JSON cannot represent a value.
pub fn json_of(key: &str, points: &[Point], others: &[String]) -> Result<Value, Failure> {
    let best =
        Some(&points[best(points)]).filter(|best| best.answer().is_some() && !best.lives_on());
    Ok(json!({
        "key": key,
        "best": best.map(|best| &best.text),
        "other_peaks": others,
        "points": as_json::value(&in_order(points))?,
    }))
}

/// Describes the curve in sentences. `others` has the peaks that were not refined, as texts.
pub fn verdict(key: &str, points: &[Point], others: &[String]) -> String {
    let best = &points[best(points)];
    let order = in_order(points);
    let named = |which: &dyn Fn(&Point) -> bool| {
        order.iter().filter(|point| which(point)).map(|point| &*point.text).collect::<Vec<_>>()
    };
    let (lossy, refused) = (
        named(&|point| point.life.as_ref().is_some_and(Life::lost_data)),
        named(&|point| point.life.is_none()),
    );
    let Some(life) = best.answer() else {
        let each = if let [only] = lossy[..] {
            format!("{key} = {only}")
        } else {
            format!("each of {} values of {key}", lossy.len())
        };
        return format!("Data was lost with {each}: no value keeps all data.")
            + &left_out(&[], &refused, points);
    };
    let length = life.length_text();
    let answers: Vec<&Life> = order.iter().filter_map(|point| point.answer()).collect();
    let alike = answers.iter().filter(|other| !surpass(life, other)).count() - 1;
    let same = answers.iter().all(|other| (other.years.mean - life.years.mean).abs() < 1e-9);
    let found = if best.lives_on() {
        let living = named(&|point| point.lives_on());
        let which = if let [only] = living[..] {
            format!("{key} = {only}")
        } else {
            format!(
                "{} values of {key}, from {least} to {most}",
                living.len(),
                least = living[0],
                most = living[living.len() - 1]
            )
        };
        format!("With {which}, the drive outlives the simulation: {length}.")
    } else if same && answers.len() > 1 {
        let counted = named(&|point| point.answer().is_some());
        format!(
            "{key} makes no difference: the life is {length} for all values between {} and {}.",
            counted[0],
            counted[counted.len() - 1]
        )
    } else {
        let unsure = match alike {
            0 => String::new(),
            n => format!(
                " With {n} of the other values, the life is about as long as with the best value."
            ),
        };
        format!(
            "{key} = {}: the drive lives {length}, the longest life among the {} tried \
             values.{unsure}",
            best.text,
            points.len()
        )
    };
    let several = match others {
        [] => String::new(),
        _ => format!(
            " The life has other peaks, at {}; the search refined only the highest peak.",
            others.join(", ")
        ),
    };
    found + &left_out(&lossy, &refused, points) + &several
}

/// Names the values that do not count, and says why.
fn left_out(lossy: &[&str], refused: &[&str], points: &[Point]) -> String {
    let lossy = match lossy {
        [] => String::new(),
        [only] => format!(" With {only} the drive lost data, so this value does not count."),
        several => {
            let several = several.join(", ");
            format!(" With {several} the drive lost data, so these values do not count.")
        }
    };
    let why = points.iter().find_map(|point| point.refused.as_ref());
    lossy
        + &why.map_or_else(String::new, |why| {
            format!(" The drive is invalid with {}: {why}.", refused.join(", "))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::summary::tests::life;

    #[test]
    fn values_are_spread_evenly_by_their_logarithm() {
        let values = first_values(1.0, 256.0);
        assert_eq!(values.len(), 9);
        assert!((0..).zip(&values).all(|(n, value)| (value / 2f64.powi(n) - 1.0).abs() < 1e-12));
    }

    #[test]
    fn the_section_approaches_the_peak() {
        for peak in [5.0f64, 7.0, 12.0] {
            let years = |value: f64| -(value.ln() - peak.ln()).powi(2);
            let mut section = Section::new(4.0, 16.0);
            let mut tried = vec![];
            for _ in 0..CLOSER {
                let value = section.next();
                tried.push(value);
                section.found(years(value));
            }
            let best =
                tried.iter().copied().max_by(|a, b| years(*a).total_cmp(&years(*b))).unwrap();
            assert!((best / peak).ln().abs() < (2f64.ln()) / 10.0, "{peak}: {best}");
        }
    }

    #[test]
    fn a_dent_is_not_a_second_peak() {
        let of = |years: &[f64], ci95: f64| -> Vec<Point> {
            years
                .iter()
                .map(|years| point(*years, MeanCi95 { mean: *years, ci95: Some(ci95) }))
                .collect()
        };
        let two = [1.0, 5.0, 3.0, 4.0, 2.0];
        assert_eq!(peaks(&of(&two, 0.1)), [1, 3]);
        assert_eq!(peaks(&of(&two, 0.6)), [1]);
        assert_eq!(peaks(&of(&[1.0, 2.0, 3.0], 0.1)), [2]);
        assert_eq!(best(&of(&two, 0.1)), 1);
        let mut lossy = of(&two, 0.1);
        lossy[1].life.as_mut().unwrap().data_lost_pages = 1.0;
        assert_eq!(
            (best(&lossy), peaks(&lossy)),
            (3, vec![0, 3]),
            "a value that loses data does not count"
        );
        let mut refused = of(&two, 0.1);
        (refused[1].life, refused[1].refused) = (None, Some("why".into()));
        assert_eq!(
            (best(&refused), peaks(&refused)),
            (3, vec![0, 3]),
            "a refused value does not count"
        );
    }

    fn point(value: f64, years: MeanCi95) -> Point {
        Point { text: value.to_string(), value, life: Some(life(years)), refused: None }
    }

    #[test]
    fn curves_are_described_in_sentences() {
        let sure = |value: f64, years: f64| point(value, MeanCi95 { mean: years, ci95: Some(0.1) });
        let says = |points: &[Point]| verdict("a.key", points, &[]);
        let mut points = vec![sure(4.0, 1.0), sure(1.0, 3.0), sure(2.0, 5.0)];
        assert_eq!(
            says(&points),
            "a.key = 2: the drive lives 5.00 ± 0.10 years, the longest life among the 3 tried \
             values."
        );
        points.push(sure(3.0, 4.9));
        assert_eq!(
            says(&points),
            "a.key = 2: the drive lives 5.00 ± 0.10 years, the longest life among the 4 tried \
             values. With 1 of the other values, the life is about as long as with the best value."
        );
        assert_eq!(
            csv("a.key", &points)
                .lines()
                .map(|line| line.split(',').next().unwrap())
                .collect::<Vec<_>>(),
            ["a.key", "1", "2", "3", "4"]
        );
        (points[3].life, points[3].refused) = (None, Some("too much".into()));
        points[1].life.as_mut().unwrap().data_lost_pages = 2.0;
        assert_eq!(
            says(&points),
            "a.key = 2: the drive lives 5.00 ± 0.10 years, the longest life among the 4 tried \
             values. With 1 the drive lost data, so this value does not count. The drive is \
             invalid with 3: too much."
        );
        assert_eq!(csv("a.key", &points).lines().count(), 4, "a refused value has no row");
        points[2].life.as_mut().unwrap().ended = false;
        assert!(
            says(&points)
                .starts_with("With a.key = 2, the drive outlives the simulation: > 5.00 years."),
            "{}",
            says(&points)
        );
        points[0] = Point { life: points[2].life.clone(), ..points[0].clone() };
        assert!(
            says(&points).starts_with("With 2 values of a.key, from 2 to 4, the drive outlives"),
            "{}",
            says(&points)
        );
        let json = json_of("a.key", &points, &[]).unwrap();
        assert!(
            json["best"].is_null()
                && json.pointer("/points/2/refused").is_some_and(|why| why == "too much"),
            "{json}"
        );
        points.retain(|point| point.life.as_ref().is_some_and(Life::lost_data));
        assert_eq!(says(&points), "Data was lost with a.key = 1: no value keeps all data.");
        let same = [sure(1.0, 3.0), sure(2.0, 3.0)];
        assert_eq!(
            says(&same),
            "a.key makes no difference: the life is 3.00 ± 0.10 years for all values between 1 and \
             2."
        );
        assert!(verdict("a.key", &[sure(1.0, 2.0), sure(2.0, 3.0)], &["1".into()]).ends_with(
            "The life has other peaks, at 1; the search refined only the highest peak."
        ));
    }
}
