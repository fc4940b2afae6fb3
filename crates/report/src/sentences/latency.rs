//! Sentences about read latencies, and about the simulated time of the runs.

use crate::model::{Model, Row};
use crate::numbers::{seconds, us};
use crate::section::{bold, code};
use crate::sentences::verdict::leader;

/// Returns the two techniques that a sentence compares. The first technique is the winner in the
/// headline. Without a winner, the first technique is one that protects data. The second technique
/// is the one that [`Model::base`] returns for the first technique.
fn pair(model: &Model) -> Option<(&Row, Option<&Row>)> {
    let protecting = || model.all().find(|row| row.may_win());
    let first = leader(model).or_else(protecting).or_else(|| model.all().next())?;
    Some((first, model.base(first)))
}

/// Describes two latencies: the latency that one read in a thousand exceeds, and the latency of the
/// slowest read.
pub fn tail(model: &Model) -> String {
    let Some((first, base)) = pair(model) else { return String::new() };
    let both = |key: &str| {
        let of = |row: &Row| row.value(key).map(|v| (bold(&us(v)), code(&row.label)));
        (of(first), base.and_then(of))
    };
    let rare = match both("read_p99_9_us") {
        (Some((a, one)), Some((b, other))) if a == b => {
            format!("One read in a thousand takes longer than {a} under {one} and under {other}.")
        }
        (Some((a, one)), Some((b, other))) => {
            format!(
                "One read in a thousand takes longer than {a} under {one}, and longer than {b} \
                 under {other}."
            )
        }
        (Some((a, one)), None) => {
            format!("One read in a thousand takes longer than {a} under {one}.")
        }
        _ => String::new(),
    };
    let slowest = match both("read_max_us") {
        (Some((a, _)), Some((b, _))) if a == b => format!(" The slowest reads take {a} each."),
        (Some((a, one)), Some((b, other))) => {
            format!(" The slowest read takes {a} under {one} and {b} under {other}.")
        }
        (Some((a, _)), None) => format!(" The slowest read takes {a}."),
        _ => String::new(),
    };
    rare + &slowest
}

/// Describes how much simulated time the runs took. `lengths` has the simulated seconds of each
/// technique that charts show.
pub fn duration(model: &Model, lengths: &[f64]) -> String {
    let safe: Vec<(&Row, f64)> =
        model.rows.iter().zip(lengths.iter().copied()).filter(|(row, _)| row.kept_data()).collect();
    let longest = safe.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let shortest = safe.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    match (longest, shortest) {
        (Some((slow, long)), Some((fast, short))) if *long > 1.01 * short => format!(
            "The same requests take {long} under {slow} and {short} under {fast}. In the chart, \
             each line ends where its run ends.",
            long = bold(&seconds(*long)),
            slow = code(&slow.label),
            short = bold(&seconds(*short)),
            fast = code(&fast.label)
        ),
        (Some((_, long)), _) => format!("The requests take {}.", bold(&seconds(*long))),
        _ => "Every technique lost data.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{compared, folder, json};

    #[test]
    fn the_tail_is_that_of_the_winner_and_of_block() {
        assert_eq!(
            tail(&compared()),
            "One read in a thousand takes longer than <b>655\u{a0}µs</b> under \
             <code>straw-wl</code>, and longer than <b>2.51\u{a0}ms</b> under <code>block</code>. \
             The slowest read takes <b>170\u{a0}ms</b> under <code>straw-wl</code> and \
             <b>52.0\u{a0}ms</b> under <code>block</code>."
        );
    }

    #[test]
    fn equal_latencies_are_said_once() {
        let mut json = json();
        for key in ["read_p99_9_us", "read_max_us"] {
            json["techniques"][2]["columns"][key] = json["techniques"][1]["columns"][key].clone();
        }
        assert_eq!(
            tail(&Model::read(&[folder(&json)]).unwrap()),
            "One read in a thousand takes longer than <b>2.51\u{a0}ms</b> under \
             <code>straw-wl</code> and under <code>block</code>. The slowest reads take \
             <b>52.0\u{a0}ms</b> each."
        );
    }

    #[test]
    fn runs_of_one_length_are_said_once_and_lost_data_does_not_count() {
        let model = compared();
        assert_eq!(duration(&model, &[1.0, 30.0, 30.1]), "The requests take <b>30.1\u{a0}s</b>.");
        assert_eq!(
            duration(&model, &[1.0, 41.4, 30.3]),
            "The same requests take <b>41.4\u{a0}s</b> under <code>block</code> and \
             <b>30.3\u{a0}s</b> under <code>straw-wl</code>. In the chart, each line ends where \
             its run ends."
        );
    }
}
