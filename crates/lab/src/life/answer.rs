//! Sentence that `vpass life` prints for a technique.
//!
//! ```text
//! `modern-tlc` lives 4.10 years (3.90 to 4.40) under `block`, from 0 to 3,000 P/E cycles:
//! reads take 71 % of the wear, GC 20 %, the host 9 %.
//! ```

use vpass_drive::base::in_words::count;

use super::MOST_YEARS;
use super::summary::{Consumed, Life};
use crate::numbers::{years, years_between};

/// Smallest share of the wear that a cause must have to be named in the sentence.
const NAMED: f64 = 0.005;
/// Largest number of causes that are named in the sentence.
const MOST_NAMED: usize = 3;

/// Returns the sentence about a technique. If the life lost data, the years do not count, and the
/// function returns `None`.
pub fn sentence(drive: &str, life: &Life) -> Option<String> {
    if life.lost_data() {
        return None;
    }
    let pec = |cycles: f64| count(cycles.round() as u64);
    let (first, last) = (pec(life.pec_first), pec(life.pec_mean.mean));
    let wear = life
        .consumed
        .as_ref()
        .map_or_else(String::new, |consumed| format!(": {}", shares(consumed)));
    Some(format!(
        "`{drive}` lives {} under `{}`, from {first} to {last} P/E cycles{wear}.",
        length(life),
        life.label
    ))
}

/// Formats the years of a life, such as "4.10 years (3.90 to 4.40)", "about 4.10 years" or "> 100
/// years".
fn length(life: &Life) -> String {
    if !life.ended {
        return format!("> {}", years(life.years.mean, None));
    }
    if life.years.mean > MOST_YEARS {
        return format!("> {}", years(MOST_YEARS, None));
    }
    match life.ends() {
        Some(ends) => years_between(life.years.mean, ends),
        None => format!("about {}", years(life.years.mean, None)),
    }
}

/// Formats the causes of wear and the share of each cause. An example is "reads take 71 % of the
/// wear, GC 20 %".
fn shares(consumed: &Consumed) -> String {
    let mut rows: Vec<_> =
        consumed.rows().into_iter().filter(|(_, share)| share.mean >= NAMED).collect();
    rows.sort_by(|(_, a), (_, b)| b.mean.total_cmp(&a.mean));
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut named =
        rows.iter().take(MOST_NAMED).map(|(cause, share)| (sayable(cause), percent(share.mean)));
    let Some((cause, share)) = named.next() else { return "nothing wears it".into() };
    let takes = if cause == "reads" { "take" } else { "takes" };
    let mut said = vec![format!("{cause} {takes} {share} of the wear")];
    said.extend(named.map(|(cause, share)| format!("{cause} {share}")));
    said.join(", ")
}

fn sayable(cause: &'static str) -> &'static str {
    match cause {
        "host" => "the host",
        "levelling" => "wear levelling",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::life::interval::Interval;
    use crate::life::summary::tests::life;
    use crate::mean_ci95::MeanCi95;

    fn of(years: f64, interval: Option<(f64, f64)>) -> Life {
        let share = |mean| MeanCi95 { mean, ci95: None };
        let none = share(0.0);
        let consumed = Consumed {
            host: share(0.09),
            gc: share(0.2),
            reads: share(0.71),
            age: none,
            wear_levelling: none,
            parity: none,
            hints: none,
        };
        let interval = interval.map(|(low, high)| Interval {
            low,
            high,
            by_acceleration: None,
            by_lives: None,
            by_batches: None,
            is_range: false,
        });
        let pec_mean = MeanCi95 { mean: 3000.2, ci95: None };
        Life {
            label: "block".into(),
            interval,
            consumed: Some(consumed),
            pec_mean,
            ..life(share(years))
        }
    }

    #[test]
    fn an_answer_is_one_sentence() {
        let said = |life: &Life| sentence("modern-tlc", life).unwrap();
        assert_eq!(
            said(&of(4.1, Some((3.9, 4.4)))),
            "`modern-tlc` lives 4.10 years (3.90 to 4.40) under `block`, from 0 to 3,000 P/E \
             cycles: reads take 71 % of the wear, GC 20 %, the host 9 %."
        );
        assert!(
            said(&of(4.1, None)).starts_with("`modern-tlc` lives about 4.10 years under `block`")
        );
        assert!(
            said(&Life { ended: false, ..of(100.0, None) })
                .starts_with("`modern-tlc` lives > 100 years under")
        );
        assert!(
            said(&of(101.0, Some((90.0, 120.0))))
                .starts_with("`modern-tlc` lives > 100 years under")
        );
        assert_eq!(sentence("modern-tlc", &Life { data_lost_pages: 1.0, ..of(4.1, None) }), None);
    }
}
