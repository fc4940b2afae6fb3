//! Unit of a drive's life: days if the workload sets the times of requests, and bytes otherwise.
//!
//! In a closed loop, a new request waits until the drive has served an earlier one. A slow drive
//! therefore receives fewer requests per day and lives for more days, although it is not better. In
//! bytes, its life is not longer.
//!
//! ```text
//! workload                              unit of the life
//! requests with times                   days until the drive is worn out
//! closed loop with host writes          bytes written: TBW, and DWPD over five years
//! closed loop with reads only           bytes read
//! ```

use serde::{Deserialize, Serialize};

use crate::numbers::{days, digits};

/// Unit in which a life is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LifeUnit {
    /// Days of simulated time.
    Days,
    /// Bytes that the host writes until the drive is worn out.
    HostBytes,
    /// Bytes that the host reads until the drive is worn out.
    ReadBytes,
}

/// Number of days in five years. Data sheets often give drive writes per day for five years.
const DAYS_OF_DWPD: f64 = 5.0 * 365.0;
const TERABYTE: f64 = 1e12;

impl LifeUnit {
    /// Returns the unit of the life under a workload. Returns `None` if the host neither writes nor
    /// reads.
    pub fn of(has_times: bool, write_bytes: u64, read_bytes: u64) -> Option<Self> {
        match (has_times, write_bytes, read_bytes) {
            (true, ..) => Some(Self::Days),
            (false, 1.., _) => Some(Self::HostBytes),
            (false, 0, 1..) => Some(Self::ReadBytes),
            (false, 0, 0) => None,
        }
    }

    /// Returns the key under which results give a life in this unit.
    pub fn key(self) -> &'static str {
        match self {
            Self::Days => "projected_life_days",
            Self::HostBytes => "host_bytes_until_worn",
            Self::ReadBytes => "read_bytes_until_worn",
        }
    }

    /// Formats a life, such as "1.14 TBW" or "12.0 h".
    pub fn text(self, life: f64) -> String {
        match self {
            Self::Days => days(life),
            Self::HostBytes => terabytes(life, "TBW", "GB written"),
            Self::ReadBytes => terabytes(life, "TB read", "GB read"),
        }
    }

    /// Formats a life together with the drive writes per day, such as "1.14 TBW (0.58 DWPD)".
    /// `capacity_bytes` is the capacity of the drive.
    pub fn text_on(self, life: f64, capacity_bytes: u64) -> String {
        self.text_with(life, Some(drive_writes_a_day(life, capacity_bytes)))
    }

    /// Formats a life together with a given number of drive writes per day.
    pub fn text_with(self, life: f64, drive_writes_per_day: Option<f64>) -> String {
        match (self, drive_writes_per_day) {
            (Self::HostBytes, Some(writes)) => {
                format!("{} ({} DWPD)", self.text(life), digits(writes))
            }
            _ => self.text(life),
        }
    }

    /// Formats a range of lives. `high` is infinite if the range has no upper end.
    pub fn range(self, low: f64, high: f64) -> String {
        let (low, high_text) = (self.text(low), self.text(high));
        match (low.split_once(' '), high_text.split_once(' ')) {
            _ if high.is_infinite() => format!("over {low}"),
            (Some((low, unit)), Some((high, same))) if unit == same => {
                format!("{low} to {high} {unit}")
            }
            _ => format!("{low} to {high_text}"),
        }
    }
}

/// Returns the number of drive writes per day, if the host can write `bytes` in five years.
pub fn drive_writes_a_day(bytes: f64, capacity_bytes: u64) -> f64 {
    bytes / capacity_bytes as f64 / DAYS_OF_DWPD
}

/// Formats a byte count in terabytes, with three digits. Less than 0.001 TB is given in gigabytes.
fn terabytes(bytes: f64, tera: &str, giga: &str) -> String {
    match bytes / TERABYTE {
        tb if tb >= 1.0 => format!("{} {tera}", digits(tb)),
        tb if tb >= 0.0995 => format!("{tb:.3} {tera}"),
        tb if tb >= 0.001 => format!("{tb:.4} {tera}"),
        tb => format!("{} {giga}", digits(tb * 1e3)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_loop_counts_bytes() {
        assert_eq!(LifeUnit::of(true, 0, 5), Some(LifeUnit::Days));
        assert_eq!(LifeUnit::of(true, 5, 5), Some(LifeUnit::Days), "writes change nothing");
        assert_eq!(LifeUnit::of(false, 5, 500), Some(LifeUnit::HostBytes));
        assert_eq!(LifeUnit::of(false, 0, 5), Some(LifeUnit::ReadBytes));
        assert_eq!(LifeUnit::of(false, 0, 0), None);
    }

    #[test]
    fn lives_read_as_on_data_sheets() {
        // On a drive of 1 TB, 1,825 TB are one drive write per day for five years of 365 days.
        assert_eq!(
            LifeUnit::HostBytes.text_on(1.825e15, 1_000_000_000_000),
            "1,825 TBW (1.00 DWPD)"
        );
        assert_eq!(
            [1.14e12, 0.5e12, 1.5e9, 4.2e8].map(|bytes| LifeUnit::HostBytes.text(bytes)),
            ["1.14 TBW", "0.500 TBW", "0.0015 TBW", "0.42 GB written"]
        );
        assert_eq!(LifeUnit::ReadBytes.range(2e13, f64::INFINITY), "over 20.0 TB read");
        assert_eq!(LifeUnit::Days.range(0.5, 30.0), "12.0 h to 30.0 days");
        assert_eq!(LifeUnit::HostBytes.range(1.5e12, 2e12), "1.50 to 2.00 TBW");
    }
}
