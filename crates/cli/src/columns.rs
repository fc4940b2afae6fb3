//! The columns of a comparison: what each shows, which end of it is better, and what it means in a sentence.

use vpass_core::units::Cause;

use crate::numbers::{bytes, count, days, digits, microseconds};
use crate::results::Summary;

/// A column.
pub(crate) struct Column {
    /// Its name in files, with the unit.
    pub(crate) key: &'static str,
    /// Its heading in the table.
    pub(crate) heading: &'static str,
    /// What it means, for the legend.
    pub(crate) meaning: &'static str,
    /// Whether more is better.
    pub(crate) more_is_better: bool,
    pub(crate) value: fn(&Summary) -> Option<f64>,
    format: fn(f64, u64) -> String,
}

impl Column {
    /// A value for reading, on a drive with pages of so many bytes.
    pub(crate) fn text(&self, value: f64, page_bytes: u64) -> String {
        (self.format)(value, page_bytes)
    }

    /// Whether it is the drive's life, which can also be known as a range only.
    pub(crate) fn is_life(&self) -> bool {
        self.key == "projected_life_days"
    }

    pub(crate) fn is_latency(&self) -> bool {
        self.key.ends_with("_us")
    }

    /// Whether one value is better than another.
    pub(crate) fn is_better(&self, value: f64, than: f64) -> bool {
        if self.more_is_better { value > than } else { value < than }
    }
}

const fn fewer(key: &'static str, heading: &'static str, meaning: &'static str, value: fn(&Summary) -> Option<f64>) -> Column {
    Column { key, heading, meaning, more_is_better: false, value, format: |n, _| whole(n) }
}

const fn latency(key: &'static str, heading: &'static str, meaning: &'static str, value: fn(&Summary) -> Option<f64>) -> Column {
    Column { format: |us, _| microseconds(us), ..fewer(key, heading, meaning, value) }
}

/// A count, or the mean of counts.
fn whole(n: f64) -> String {
    if n.fract() == 0.0 { count(n as u64) } else { digits(n) }
}

/// All of them, from left to right.
pub(crate) const COLUMNS: [Column; 11] = [
    Column {
        more_is_better: true,
        format: |d, _| days(d),
        ..fewer(
            "projected_life_days",
            "life",
            "time of this workload until the rated P/E cycles are reached, as limits fall; a range where fewer than 30 block cycles were seen (- where no time passes)",
            |s| s.wear.projected_life_days,
        )
    },
    Column {
        format: |n, page| format!("{} ({})", whole(n), bytes((n * page as f64) as u64)),
        ..fewer("reclaim_write_pages", "reclaim writes", "pages rewritten because of reads", |s| {
            Some(s.flash.programs.of(Cause::Reclaim) as f64)
        })
    },
    fewer("reclaim_erases", "reclaim erases", "blocks erased because of reads", |s| Some(s.flash.erases.of(Cause::Reclaim) as f64)),
    fewer("gc_erases", "GC erases", "blocks erased to regain space", |s| Some(s.flash.erases.of(Cause::Gc) as f64)),
    Column {
        format: |n, _| format!("{n:.3}"),
        ..fewer("write_amplification", "write ampl.", "pages programmed per page written by the host (- where it wrote none)", |s| {
            s.write_amplification
        })
    },
    latency("read_p50_us", "read p50", "half of all host reads were at least this fast", |s| s.latency_us.read.p50),
    latency("read_p99_us", "p99", "all but 1 in 100 were", |s| s.latency_us.read.p99),
    latency("read_p99_9_us", "p99.9", "all but 1 in 1,000 were", |s| s.latency_us.read.p99_9),
    latency("read_max_us", "max", "the slowest host read", |s| s.latency_us.read.max),
    Column {
        format: |n, _| bytes(n as u64),
        ..fewer("controller_ram_bytes", "RAM", "what the technique keeps in the controller's memory", |s| {
            Some(s.controller_ram_bytes as f64)
        })
    },
    fewer("data_lost_pages", "data lost", "pages of host data that the drive lost", |s| Some(s.data_lost_pages as f64)),
];
