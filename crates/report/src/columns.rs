//! Columns of the table of all numbers. Each column has a name, a unit, and the path of its value
//! in `summary.json`.

use serde_json::Value;
use vpass_lab::compare::column::is_all_net;
use vpass_lab::results::LifeUnit;

use crate::numbers::{self, kept_together};

/// Unit of a column. The unit determines how the numbers of the column are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Life in days, or in bytes that the host writes or reads.
    Life(LifeUnit),
    /// Number of pages, blocks or losses.
    Count,
    /// Number without a unit.
    Ratio,
    /// Latency in microseconds.
    Us,
    /// Share in percent.
    Percent,
    /// Number of bytes of memory.
    Bytes,
    /// Error rate.
    Rate,
}

impl Unit {
    /// Returns a value of this unit as text. The text includes the unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Life(unit) => kept_together(&unit.text(value)),
            Self::Count => numbers::count(value),
            Self::Ratio => numbers::sig(value),
            Self::Us => numbers::us(value),
            Self::Percent => numbers::percent(value),
            Self::Bytes => numbers::bytes(value),
            Self::Rate => format!("{value:.1e}"),
        }
    }

    /// Returns the name of the unit, for the heading of a CSV column.
    pub fn name(self) -> &'static str {
        match self {
            Self::Life(LifeUnit::Days) => "days",
            Self::Life(_) | Self::Bytes => "bytes",
            Self::Count => "count",
            Self::Ratio | Self::Rate => "",
            Self::Us => "us",
            Self::Percent => "percent",
        }
    }
}

/// Column of the table of all numbers.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Key of the column in the file `compare.json`.
    pub key: &'static str,
    /// Heading of the column on the page.
    pub label: &'static str,
    /// Unit of the values.
    pub unit: Unit,
    /// Whether a larger value is better.
    pub more_is_better: bool,
    /// Whether the value is exact, as a size of memory is. Exact values have no random error.
    pub is_exact: bool,
    /// Function that reads the value of the column from the `summary.json` of a run.
    pub of: fn(&Value) -> Option<f64>,
}

/// Returns the number that a JSON pointer points to; `None` if there is no number.
pub fn number(summary: &Value, pointer: &str) -> Option<f64> {
    summary.pointer(pointer)?.as_f64()
}

const fn life(key: &'static str, unit: LifeUnit, of: fn(&Value) -> Option<f64>) -> Column {
    Column { key, label: "life", unit: Unit::Life(unit), more_is_better: true, is_exact: false, of }
}

const fn less(
    key: &'static str,
    label: &'static str,
    unit: Unit,
    of: fn(&Value) -> Option<f64>,
) -> Column {
    Column { key, label, unit, more_is_better: false, is_exact: false, of }
}

fn reclaim_wait_us(summary: &Value) -> Option<f64> {
    let pages = number(summary, "/host/read_pages").filter(|pages| *pages > 0.0)?;
    number(summary, "/latency_us/read/mean")?;
    Some(number(summary, "/reclaim/stall_us")? / pages)
}

fn reclaim_wait_percent(summary: &Value) -> Option<f64> {
    let mean = number(summary, "/latency_us/read/mean").filter(|us| *us > 0.0)?;
    Some(100.0 * reclaim_wait_us(summary)? / mean)
}

fn refresh_writes(summary: &Value) -> Option<f64> {
    let technique = summary.get("refresh_technique")?.as_str()?;
    (technique != "none").then(|| number(summary, "/flash/programs/refresh"))?
}

/// All columns, in the order in which the table shows them.
pub const COLUMNS: [Column; 21] = [
    life("projected_life_days", LifeUnit::Days, |s| number(s, "/wear/projected_life_days")),
    life("host_bytes_until_worn", LifeUnit::HostBytes, |s| {
        number(s, "/wear/host_bytes_until_worn")
    }),
    life("read_bytes_until_worn", LifeUnit::ReadBytes, |s| {
        number(s, "/wear/read_bytes_until_worn")
    }),
    less("reclaim_write_pages", "pages rewritten because of reads", Unit::Count, |s| {
        number(s, "/flash/programs/reclaim")
    }),
    less("reclaim_erases", "erases because of reads", Unit::Count, |s| {
        number(s, "/flash/erases/reclaim")
    }),
    less("refresh_write_pages", "pages rewritten because of age", Unit::Count, refresh_writes),
    less("gc_erases", "erases by GC", Unit::Count, |s| number(s, "/flash/erases/gc")),
    less("write_amplification", "write amplification", Unit::Ratio, |s| {
        number(s, "/write_amplification")
    }),
    less("read_wear", "read wear", Unit::Percent, |s| number(s, "/read_wear")),
    less("read_wear_net", "net read wear", Unit::Percent, |s| number(s, "/read_wear_net")),
    less("read_p50_us", "read p50", Unit::Us, |s| number(s, "/latency_us/read/p50")),
    less("read_p99_us", "read p99", Unit::Us, |s| number(s, "/latency_us/read/p99")),
    less("read_p99_9_us", "read p99.9", Unit::Us, |s| number(s, "/latency_us/read/p99_9")),
    less("read_max_us", "slowest read", Unit::Us, |s| number(s, "/latency_us/read/max")),
    less("reclaim_wait_us", "wait for reclaim per read", Unit::Us, reclaim_wait_us),
    less("reclaim_wait_percent", "share of this wait", Unit::Percent, reclaim_wait_percent),
    Column {
        is_exact: true,
        ..less("controller_ram_bytes", "controller memory", Unit::Bytes, |s| {
            number(s, "/controller_ram_bytes")
        })
    },
    less("retries_mean", "retries per read", Unit::Ratio, |s| number(s, "/retries/mean")),
    less("uber", "uncorrectable bit error rate", Unit::Rate, |s| number(s, "/uber/rate")),
    less("data_lost_pages", "lost pages", Unit::Count, |s| number(s, "/data_lost_pages")),
    less("lost_by_age_pages", "lost pages, by age", Unit::Count, |s| number(s, "/losses/by_age")),
];

/// Returns the column with this key.
///
/// # Panics
/// Panics if [`COLUMNS`] lacks the key, which is a mistake in this crate.
pub fn column(key: &str) -> &'static Column {
    COLUMNS.iter().find(|column| column.key == key).expect("a key of COLUMNS")
}

/// Returns half the width of a run's 95 % interval, computed from batch means. Returns `None` if
/// the interval is unknown.
pub fn half_by_batches(key: &str, summary: &Value) -> Option<f64> {
    let of = |name: &str| number(summary, &format!("/batch_means/{name}"));
    let share = |half: Option<f64>, of: f64| Some(if of > 0.0 { half? / of } else { 0.0 });
    match key {
        "write_amplification" => {
            Some(number(summary, "/write_amplification")? * of("write_amplification_share")?)
        }
        "read_wear" => {
            let pages = number(summary, "/flash/programs/reclaim")?;
            Some(number(summary, "/read_wear")? * share(of("reclaim_write_pages"), pages)?)
        }
        // With other GC in the run and in its twin, the noise of the net read wear is unknown.
        "read_wear_net" => {
            let (wear, net) = (number(summary, "/read_wear")?, number(summary, "/read_wear_net")?);
            is_all_net(wear, net).then(|| half_by_batches("read_wear", summary))?
        }
        "uber" => Some(number(summary, "/uber/rate")? * of("uber_share").unwrap_or(0.0)),
        // The random errors of the wait and of the latency are treated as independent.
        "reclaim_wait_percent" => {
            let wait = share(of("reclaim_wait_us"), reclaim_wait_us(summary)?)?;
            let mean = share(of("read_mean_us"), number(summary, "/latency_us/read/mean")?)?;
            Some(reclaim_wait_percent(summary)? * wait.hypot(mean))
        }
        key if column(key).is_exact || key.starts_with("data_lost") => Some(0.0),
        key => of(key),
    }
}
