//! The columns of a comparison: what each shows, which end of it is better, and what it means in a sentence.

use vpass_core::base::units::Cause;
use vpass_core::slots::refresh::NO_REFRESH;

use crate::numbers::{bytes, count, days, digits, microseconds};
use crate::results::Summary;

const LOST_BY_AGE: &str = "lost_by_age_pages";

/// A column.
pub struct Column {
    /// Its name in files, with the unit.
    pub key: &'static str,
    /// Its heading in the table.
    pub heading: &'static str,
    /// What it means, for the legend; empty where the next column's meaning covers it.
    pub meaning: &'static str,
    /// Whether it means nothing without a clock.
    pub needs_time: bool,
    /// Whether a table too wide is best cut before it.
    pub opens_group: bool,
    /// Whether more is better.
    pub more_is_better: bool,
    /// What a run shows in it.
    pub value: fn(&Summary) -> Option<f64>,
    format: fn(f64, u64) -> String,
}

impl Column {
    /// A value for reading, on a drive with pages of so many bytes.
    pub fn text(&self, value: f64, page_bytes: u64) -> String {
        (self.format)(value, page_bytes)
    }

    /// Whether it is the drive's life, which can also be known as a range only.
    pub fn is_life(&self) -> bool {
        self.key == "projected_life_days"
    }

    /// Whether it is of data that ages, and stands nowhere unless some row shows something in it.
    pub fn is_of_aged_data(&self) -> bool {
        matches!(self.key, "retries_mean" | "uber" | "refresh_write_pages" | LOST_BY_AGE)
    }

    /// Whether a number of a row is worth a column of aged data: nobody needs to be told of losses by age that there are none.
    pub fn says_something(&self, mean: f64) -> bool {
        self.key != LOST_BY_AGE || mean > 0.0
    }

    /// Whether it is a latency, in microseconds.
    pub fn is_latency(&self) -> bool {
        self.key.ends_with("_us")
    }

    /// Whether one value is better than another.
    pub fn is_better(&self, value: f64, than: f64) -> bool {
        if self.more_is_better { value > than } else { value < than }
    }
}

const fn fewer(key: &'static str, heading: &'static str, meaning: &'static str, value: fn(&Summary) -> Option<f64>) -> Column {
    Column { key, heading, meaning, needs_time: false, opens_group: false, more_is_better: false, value, format: |n, _| whole(n) }
}

const fn latency(key: &'static str, heading: &'static str, meaning: &'static str, value: fn(&Summary) -> Option<f64>) -> Column {
    Column { needs_time: true, format: |us, _| microseconds(us), ..fewer(key, heading, meaning, value) }
}

/// A count, or the mean of counts.
fn whole(n: f64) -> String {
    if n.fract() == 0.0 { count(n as u64) } else { digits(n) }
}

/// A count of pages, and the bytes of them.
fn pages(n: f64, page: u64) -> String {
    format!("{} ({})", whole(n), bytes((n * page as f64) as u64))
}

/// Time that a host page read waited for reclaim on its die, in microseconds, on average over all of them.
pub fn reclaim_wait_us(s: &Summary) -> Option<f64> {
    (s.gear == "timed" && s.host.read_pages > 0).then(|| s.reclaim.stall_us / s.host.read_pages as f64)
}

/// That wait as a share of the mean latency of a host read, in percent.
pub fn reclaim_wait_percent(s: &Summary) -> Option<f64> {
    let latency = s.latency_us.read.mean.filter(|us| *us > 0.0)?;
    Some(100.0 * reclaim_wait_us(s)? / latency)
}

/// All of them, from left to right.
pub const COLUMNS: [Column; 17] = [
    Column {
        more_is_better: true,
        format: |d, _| days(d),
        ..fewer(
            "projected_life_days",
            "life",
            "until the rated P/E cycles, as limits fall, carried on from the run: on small drives within 15 % of what `vpass life` simulates; a range where fewer than 30 block cycles were seen; -: no time passes",
            |s| s.wear.projected_life_days,
        )
    },
    Column { format: pages, ..fewer("reclaim_write_pages", "reclaim writes", "", |s| Some(s.flash.programs.of(Cause::Reclaim) as f64)) },
    fewer("reclaim_erases", "reclaim erases", "pages rewritten and blocks erased because of reads", |s| {
        Some(s.flash.erases.of(Cause::Reclaim) as f64)
    }),
    Column {
        format: pages,
        ..fewer("refresh_write_pages", "refresh writes", "pages rewritten because they were old", |s| {
            let refreshes = s.refresh_technique.as_deref()? != NO_REFRESH;
            refreshes.then(|| s.flash.programs.of(Cause::Refresh) as f64)
        })
    },
    fewer("gc_erases", "GC erases", "blocks erased to regain space", |s| Some(s.flash.erases.of(Cause::Gc) as f64)),
    Column {
        format: |n, _| format!("{n:.3}"),
        ..fewer("write_amplification", "write ampl.", "bytes programmed per byte that the host wrote", |s| s.write_amplification)
    },
    Column { opens_group: true, ..latency("read_p50_us", "read p50", "", |s| s.latency_us.read.p50) },
    latency("read_p99_us", "p99", "", |s| s.latency_us.read.p99),
    latency("read_p99_9_us", "p99.9", "", |s| s.latency_us.read.p99_9),
    latency("read_max_us", "max", "latency within which 50, 99, 99.9 and 100 % of host reads end", |s| s.latency_us.read.max),
    latency("reclaim_wait_us", "reclaim wait", "", reclaim_wait_us),
    Column {
        needs_time: true,
        format: |percent, _| format!("{} %", digits(percent)),
        ..fewer(
            "reclaim_wait_percent",
            "wait share",
            "mean wait of a host page read for reclaim; its share of a read's latency",
            reclaim_wait_percent,
        )
    },
    Column {
        opens_group: true,
        format: |n, _| bytes(n as u64),
        ..fewer("controller_ram_bytes", "RAM", "what the technique keeps in the controller", |s| Some(s.controller_ram_bytes as f64))
    },
    fewer("data_lost_pages", "data lost", "pages of host data that the drive lost", |s| Some(s.data_lost_pages as f64)),
    fewer(LOST_BY_AGE, "by age", "those of them that age alone had ruined", |s| Some(s.losses?.by_age as f64)),
    Column {
        format: |n, _| digits(n),
        ..fewer("retries_mean", "retries", "how often a host page read senses its page again, on average", |s| s.retries.as_ref()?.mean)
    },
    Column {
        format: |rate, _| format!("{rate:.1e}"),
        ..fewer("uber", "UBER", "codewords that are likely lost by each data bit that the host reads", |s| s.uber?.rate)
    },
];
