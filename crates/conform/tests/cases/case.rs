//! Stored case: a random drive with its techniques, failures and requests, as text. A case needs
//! nothing of the code that drew it.

use serde::Deserialize;
use vpass_drive::base::failure::Failure;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;
use vpass_drive::hints::HintRange;

use crate::requests::Requests;

/// File of all cases: a JSON object a line, compressed with zstd.
const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/cases.jsonl.zst");

/// Gear of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Gear {
    Timed,
    Untimed,
    Fluid,
}

/// Range of a hint: first byte, length, access latency and rank.
type Range = (u64, u64, String, u32);

/// Stored case.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Drive file, with the keys that are not at their defaults.
    pub(crate) drive: String,
    pub(crate) reclaim: String,
    pub(crate) gc: String,
    pub(crate) refresh: String,
    pub(crate) parity: String,
    /// Seed of the techniques and of the start-up state.
    pub(crate) seed: u64,
    pub(crate) gear: Gear,
    /// Whether the start-up state is computed, as for large drives.
    pub(crate) computed: bool,
    /// Hints of the host; `None` without hints.
    pub(crate) hints: Option<Vec<Range>>,
    /// Failures, such as `die:1@r900`.
    pub(crate) failures: Vec<String>,
    pub(crate) requests: Requests,
}

impl Case {
    /// Reads all cases.
    pub(crate) fn all() -> Vec<Self> {
        let file = std::fs::File::open(CASES).expect("the cases are in the repository");
        let text = zstd::decode_all(file).expect("zstd");
        let lines = std::str::from_utf8(&text).expect("UTF-8").lines();
        lines.map(|line| serde_json::from_str(line).expect("a case")).collect()
    }

    /// Returns the resolved drive.
    pub(crate) fn config(&self) -> Result<DriveConfig, String> {
        let config: DriveConfig = toml::from_str(&self.drive).map_err(|e| e.to_string())?;
        let mut config = config.resolve().map_err(|e| e.to_string())?;
        let range = |(offset, bytes, latency, rank): &Range| {
            Ok(HintRange {
                offset: Bytes(*offset),
                bytes: Bytes(*bytes),
                access_latency: AccessLatency::parse(latency)?,
                rank: *rank,
            })
        };
        let ranges = |ranges: &Vec<Range>| ranges.iter().map(range).collect::<Result<_, String>>();
        config.hints.said = self.hints.as_ref().map(ranges).transpose()?;
        Ok(config)
    }

    pub(crate) fn techniques(&self) -> Techniques {
        Techniques {
            reclaim: self.reclaim.as_str().into(),
            gc: self.gc.as_str().into(),
            refresh: self.refresh.as_str().into(),
            parity: self.parity.as_str().into(),
            seed: self.seed,
        }
    }

    pub(crate) fn failures(&self) -> Result<Vec<Failure>, String> {
        self.failures.iter().map(|text| text.parse()).collect()
    }

    /// Returns what the case is, in a line.
    pub(crate) fn what(&self) -> String {
        let Self { reclaim, gc, refresh, parity, gear, .. } = self;
        let hints = if self.hints.is_some() { ", hints" } else { "" };
        let failures = self.failures.join(" ");
        format!("{gear:?}, {reclaim}, {gc}, refresh {refresh}, parity {parity}{hints} {failures}")
    }
}
