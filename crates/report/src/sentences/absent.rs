//! Sentences that explain why a part of the page is missing.

use serde_json::Value;
use vpass_lab::phrase;
use vpass_lab::phrase::{Opt, Phrase};

/// Explains why the page shows no doses: the oracle was off, or an older version of vpass wrote the
/// results.
pub fn doses(manifest: &Value) -> Phrase {
    if manifest.get("oracle").and_then(Value::as_bool) == Some(false) {
        phrase![
            "This chart is absent: only the oracle counts doses, and the oracle was off in these \
             runs (",
            Opt::Oracle.to("off"),
            ").",
        ]
    } else {
        "This chart is absent: the folder has no dose.csv. This version of vpass writes dose.csv \
         if the oracle is on and the drive has read disturbance."
            .into()
    }
}

/// Explains why the page shows no latencies.
pub fn latencies(gear: &str) -> String {
    match gear {
        "timed" => {
            "This chart is absent: the folder has no read.hlog, so the host read nothing.".into()
        }
        gear => format!(
            "This chart is absent: only the timed gear has latencies, and these runs are {gear}."
        ),
    }
}

/// Explains why the page has no charts over time.
pub fn time(gear: &str) -> String {
    match gear {
        "timed" => {
            "This chart is absent: the folder has no series.csv with simulated seconds.".into()
        }
        gear => format!(
            "This chart is absent: only the timed gear has a clock, and these runs are {gear}."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_reason_follows_from_the_run() {
        assert!(doses(&json!({"oracle": false})).to_string().contains("`oracle=off`"));
        assert!(doses(&json!({"oracle": true})).to_string().contains("dose.csv"));
        assert!(latencies("untimed").contains("these runs are untimed"));
        assert!(latencies("timed").contains("read.hlog"));
        assert!(time("fluid").contains("clock") && time("timed").contains("series.csv"));
    }
}
