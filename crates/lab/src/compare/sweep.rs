//! Sweep: comparisons at several values of some keys, as `sweep.json` contains them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Comparison;
use super::refused::Refused;
use crate::as_json::SCHEMA;

/// Swept keys with their values at one point, as `--set` would take them.
pub type Swept = Vec<(String, String)>;

/// Results of a sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sweep {
    /// Version of the format of these results: 1. A new key does not change the version.
    pub schema: u32,
    /// Version of vpass.
    pub vpass: String,
    /// Names of the swept keys.
    pub swept: Vec<String>,
    /// Number of seeds at each point.
    pub seeds: u32,
    /// Points in the order of the sweep.
    pub points: Vec<Point>,
}

/// Results at one point of a sweep.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Point {
    /// Value of each swept key.
    pub swept: BTreeMap<String, String>,
    /// Comparison of the techniques; null without any result.
    pub comparison: Option<Comparison>,
    /// Refused techniques. An entry without a label means that the whole point was refused.
    pub refused: Vec<Refusal>,
    /// Techniques whose drive stopped.
    pub stopped: Vec<Refused>,
}

/// Technique without results, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Label of the technique; null for the whole point.
    pub label: Option<String>,
    /// Reason, as a sentence.
    pub why: String,
}

impl From<&Refused> for Refusal {
    fn from(row: &Refused) -> Self {
        Self { label: Some(row.label.clone()), why: row.why.clone() }
    }
}

impl Sweep {
    /// Collects the results of all points. `keys` has the swept keys.
    pub fn new(keys: Vec<String>, points: Vec<Point>, seeds: u32) -> Self {
        let vpass = env!("CARGO_PKG_VERSION").into();
        Self { schema: SCHEMA, vpass, swept: keys, seeds, points }
    }

    /// Returns the values of the swept keys at a point, in the order of the keys.
    pub fn values(&self, point: &Point) -> Vec<String> {
        self.swept.iter().map(|key| point.swept.get(key).cloned().unwrap_or_default()).collect()
    }

    /// Returns the name of a point, such as "start.pec=1000 workload.rate=50k".
    pub fn name(&self, point: &Point) -> String {
        let pairs = self.swept.iter().zip(self.values(point));
        pairs.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    }
}

impl Point {
    /// Returns the results at a point. The error is the reason why the point was refused.
    pub fn of(swept: &Swept, compared: Result<Comparison, String>) -> Self {
        let swept = swept.iter().cloned().collect();
        match compared {
            Ok(mut compared) => {
                let refused = std::mem::take(&mut compared.refused);
                Self {
                    swept,
                    refused: refused.iter().map(Refusal::from).collect(),
                    stopped: compared.stopped.clone(),
                    comparison: Some(compared).filter(|one| !one.techniques.is_empty()),
                }
            }
            Err(why) => Self {
                swept,
                comparison: None,
                refused: vec![Refusal { label: None, why }],
                stopped: vec![],
            },
        }
    }

    /// Returns all techniques without results: refused techniques, then stopped ones.
    pub fn without_results(&self) -> impl Iterator<Item = Refusal> {
        self.refused.iter().cloned().chain(self.stopped.iter().map(Refusal::from))
    }
}
