//! `[sheet]`: what the drive's data sheet says. It changes nothing in a simulation; `vpass show
//! FILE` prints it beside what the drive does.

use serde::{Deserialize, Serialize};

use super::keys::{Keys, Range};

/// `[sheet]`. Rates are those of a vendor: 10^6 bytes per second, and requests of 4 KiB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "sheet")]
pub struct SheetConfig {
    /// Rate of sequential reads on the data sheet. Keys of this table change no simulation: `vpass
    /// show FILE` prints them beside the drive's own numbers.
    #[key(unit = "MB/s", range = RATE)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_read_mb_s: Option<f64>,
    /// Rate of sequential writes on the data sheet.
    #[key(unit = "MB/s", range = RATE)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequential_write_mb_s: Option<f64>,
    /// Random 4-KiB reads per second on the data sheet.
    #[key(unit = "requests/s", range = IOPS)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_read_iops: Option<f64>,
    /// Random 4-KiB writes per second on the data sheet.
    #[key(unit = "requests/s", range = IOPS)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_write_iops: Option<f64>,
    /// Data that the host may write during the drive's life, on the data sheet (TBW).
    #[key(unit = "TB", range = Range::Real(1e-6, 1e9))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tbw: Option<f64>,
}

/// Range of rates.
const RATE: Range = Range::Real(0.001, 1e6);
/// Range of requests per second.
const IOPS: Range = Range::Real(1.0, 1e9);
