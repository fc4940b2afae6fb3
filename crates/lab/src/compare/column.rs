//! Columns of a comparison. For each column, this file defines the computation of the value, the
//! better direction, and an explanation.

use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::units::Cause;

use crate::batch::{BATCHES, reads_needed};
use crate::numbers::{bytes, count, digits, microseconds};
use crate::plan::RunPlan;
use crate::results::{Batch, LifeUnit, PAIRED, Summary};

const LOST_BY_AGE: &str = "lost_by_age_pages";

/// Number of requests between two samples of a drive's counts.
const LOOK: u64 = 1024;

/// Page size and capacity of a drive, for formatting numbers.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Capacity of the drive, in bytes.
    pub capacity_bytes: u64,
}

impl Sizes {
    /// Returns the page size and the capacity of a plan's drive.
    pub fn of(plan: &RunPlan) -> Self {
        Self {
            page_bytes: plan.drive.config.geometry.page_size.0,
            capacity_bytes: plan.whole_capacity().0,
        }
    }
}

/// Noise of a number, if a single run shows the noise.
pub enum Noise {
    /// The number has no noise.
    None,
    /// A single run does not show the noise. For example, one run cannot show the noise of a
    /// maximum.
    Unknown,
    /// The noise is known from batches. The stored function returns half the width of the 95 %
    /// interval of one run.
    Batches(fn(&Summary) -> Option<f64>, Each),
}

/// Share of a batch in the number of a run. The host's requests are the same in all rows.
#[derive(Clone, Copy)]
pub enum Each {
    /// The number grows with the sum of this count over the batches.
    Sum(fn(&Batch) -> f64),
    /// The number is this percentile of the read latencies.
    Percentile(f64),
}

/// Column of a comparison.
pub struct Column {
    /// Name of the column in files, with the unit.
    pub key: &'static str,
    /// Heading of the column in the table.
    pub heading: &'static str,
    /// Explanation of the column for the legend. Empty if the explanation of the next column covers
    /// both columns.
    pub meaning: &'static str,
    /// Whether the column needs the timed gear.
    pub needs_time: bool,
    /// Whether this column starts a group of columns. A table that is too wide is cut before the
    /// first column of a group.
    pub opens_group: bool,
    /// Whether a larger value is better.
    pub more_is_better: bool,
    /// Function that returns the value of this column for one run.
    pub value: fn(&Summary) -> Option<f64>,
    /// Noise of the value, if a single run shows the noise.
    pub noise: Noise,
    format: fn(f64, &Sizes) -> String,
}

impl Column {
    /// Formats a value of this column. `sizes` has the page size and the capacity of the drive.
    pub fn text(&self, value: f64, sizes: &Sizes) -> String {
        (self.format)(value, sizes)
    }

    /// Returns the unit of the life if this column shows the drive's life; otherwise `None`. The
    /// value in a column of lives may be a range.
    pub fn life_unit(&self) -> Option<LifeUnit> {
        [LifeUnit::Days, LifeUnit::HostBytes, LifeUnit::ReadBytes]
            .into_iter()
            .find(|unit| unit.key() == self.key)
    }

    /// Returns the number of requests or reads that one run needs before it can be compared with
    /// another run in this column. Read-latency percentiles count reads. Other columns count
    /// requests.
    pub fn needed(&self) -> (u64, &'static str) {
        let looks = (PAIRED + BATCHES) as u64 * LOOK;
        match self.noise {
            Noise::Batches(_, Each::Percentile(q)) => {
                (looks.max(BATCHES as u64 * reads_needed(q)), "reads")
            }
            _ => (looks, "requests"),
        }
    }

    /// Returns whether the column shows an effect of the age of data. A column of this kind appears
    /// in the table only if at least one row has a value in the column.
    pub fn is_of_aged_data(&self) -> bool {
        matches!(self.key, "retries_mean" | "uber" | "refresh_write_pages" | LOST_BY_AGE)
    }

    /// Returns whether the column is worth showing. `mean` is the mean of the column for one row. A
    /// column of losses by age is not worth showing if the mean is 0.
    pub fn says_something(&self, mean: f64) -> bool {
        self.key != LOST_BY_AGE || mean > 0.0
    }

    /// Returns the name of the column for a reader who does not see the headings of other columns.
    pub fn label(&self) -> &'static str {
        match self.key {
            "host_bytes_until_worn" => "life in bytes written",
            "read_bytes_until_worn" => "life in bytes read",
            "write_amplification" => "write amplification",
            "read_wear_net" => "net read wear",
            "read_p99_us" => "read p99",
            "read_p99_9_us" => "read p99.9",
            "read_max_us" => "read max",
            "reclaim_wait_percent" => "reclaim wait share",
            LOST_BY_AGE => "data lost by age",
            _ => self.heading,
        }
    }

    /// Returns the unit of the column's values in result files. The unit of a ratio is empty.
    pub fn unit(&self) -> &'static str {
        match self.key {
            "projected_life_days" => "days",
            "reclaim_erases" | "gc_erases" => "blocks",
            "reclaim_wait_percent" | "read_wear" | "read_wear_net" => "%",
            "controller_ram_bytes" | "host_bytes_until_worn" | "read_bytes_until_worn" => "bytes",
            "write_amplification" => "",
            "retries_mean" => "retries per page read",
            "uber" => "codewords per bit",
            _ if self.is_latency() => "us",
            _ => "pages",
        }
    }

    /// Returns whether the values of the column are latencies in microseconds.
    pub fn is_latency(&self) -> bool {
        self.key.ends_with("_us")
    }

    /// Returns whether `value` is better than the value `than`.
    pub fn is_better(&self, value: f64, than: f64) -> bool {
        if self.more_is_better { value > than } else { value < than }
    }
}

const fn fewer(
    key: &'static str,
    heading: &'static str,
    meaning: &'static str,
    value: fn(&Summary) -> Option<f64>,
) -> Column {
    Column {
        key,
        heading,
        meaning,
        needs_time: false,
        opens_group: false,
        more_is_better: false,
        value,
        noise: Noise::None,
        format: |n, _| whole(n),
    }
}

const fn latency(
    key: &'static str,
    heading: &'static str,
    meaning: &'static str,
    value: fn(&Summary) -> Option<f64>,
) -> Column {
    Column {
        needs_time: true,
        noise: Noise::Unknown,
        format: |us, _| microseconds(us),
        ..fewer(key, heading, meaning, value)
    }
}

const fn life(
    key: &'static str,
    meaning: &'static str,
    value: fn(&Summary) -> Option<f64>,
) -> Column {
    Column { more_is_better: true, noise: Noise::Unknown, ..fewer(key, "life", meaning, value) }
}

/// Formats a count or a mean of counts.
fn whole(n: f64) -> String {
    if n.fract() == 0.0 { count(n as u64) } else { digits(n) }
}

/// Formats how many pages there are, and how many bytes these pages have.
fn pages(n: f64, sizes: &Sizes) -> String {
    format!("{} ({})", whole(n), bytes((n * sizes.page_bytes as f64) as u64))
}

/// Returns the mean time, in microseconds, for which a host page read waited for reclaim on the
/// same die.
pub fn reclaim_wait_us(s: &Summary) -> Option<f64> {
    (s.gear == "timed" && s.host.read_pages > 0)
        .then(|| s.reclaim.stall_us / s.host.read_pages as f64)
}

/// Returns half the width of the 95 % interval of the read wear. In percent, this interval is as
/// wide as the interval of reclaim writes, which are counted in pages. The number of pages
/// rewritten because of retries is assumed to vary by the same percentage. The number of bytes that
/// the host reads is assumed to be fixed.
fn read_wear_noise(s: &Summary) -> Option<f64> {
    let (half, pages) = (s.batch_means.reclaim_write_pages?, s.flash.programs.of(Cause::Reclaim));
    Some(if pages == 0 { 0.0 } else { s.read_wear? * half / pages as f64 })
}

/// Pages rewritten because of reads.
const REWRITES: Each = Each::Sum(|b| b.counts.programs[Cause::Reclaim as usize]);

/// Largest relative difference between two equal numbers that were calculated in different ways.
const SAME_NUMBER: f64 = 1e-9;

/// Returns half the width of the 95 % interval of the net read wear. It is known only if the net
/// read wear equals the read wear, as under a workload without writes. Otherwise, the net read wear
/// also has the noise of GC in the run and in its twin, and these two are not independent.
fn read_wear_net_noise(s: &Summary) -> Option<f64> {
    let (wear, net) = (s.read_wear?, s.read_wear_net?);
    is_all_net(wear, net).then(|| read_wear_noise(s))?
}

/// Returns whether the net read wear equals the read wear. Only then is its interval known.
pub fn is_all_net(wear: f64, net: f64) -> bool {
    (net - wear).abs() <= SAME_NUMBER * wear
}

/// Returns the mean wait for reclaim, in percent of the mean latency of a host read.
pub fn reclaim_wait_percent(s: &Summary) -> Option<f64> {
    let latency = s.latency_us.read.mean.filter(|us| *us > 0.0)?;
    Some(100.0 * reclaim_wait_us(s)? / latency)
}

/// Returns half the width of the interval of [`reclaim_wait_percent`]. The wait and the latency are
/// treated as independent numbers.
fn reclaim_wait_percent_noise(s: &Summary) -> Option<f64> {
    let (wait, latency) = (reclaim_wait_us(s)?, s.latency_us.read.mean?);
    let share = |half: Option<f64>, of: f64| Some(if of > 0.0 { half? / of } else { 0.0 });
    let share = share(s.batch_means.reclaim_wait_us, wait)?
        .hypot(share(s.batch_means.read_mean_us, latency)?);
    Some(reclaim_wait_percent(s)? * share)
}

/// All columns, in the same order as in files. A table shows only one of the columns for lives, as
/// the first column.
pub const COLUMNS: [Column; 21] = [
    Column {
        format: |life, sizes| LifeUnit::Days.text_on(life, sizes.capacity_bytes),
        ..life(
            "projected_life_days",
            "estimated time until the drive reaches its rated P/E cycles; projected from runs \
             whose rates and state have settled; in the projection, limits fall with wear; on \
             small drives, estimates are within 15 % of the life that `vpass life` simulates, and \
             up to 37 % below that life in runs with background GC",
            |s| s.wear.projected_life_days,
        )
    },
    Column {
        format: pages,
        noise: Noise::Batches(|s| s.batch_means.reclaim_write_pages, REWRITES),
        ..fewer("reclaim_write_pages", "reclaim writes", "", |s| {
            Some(s.flash.programs.of(Cause::Reclaim) as f64)
        })
    },
    Column {
        noise: Noise::Batches(
            |s| s.batch_means.reclaim_erases,
            Each::Sum(|b| b.counts.erases[Cause::Reclaim as usize]),
        ),
        ..fewer(
            "reclaim_erases",
            "reclaim erases",
            "pages rewritten and blocks erased because of reads",
            |s| Some(s.flash.erases.of(Cause::Reclaim) as f64),
        )
    },
    Column {
        format: pages,
        noise: Noise::Batches(
            |s| s.batch_means.refresh_write_pages,
            Each::Sum(|b| b.counts.programs[Cause::Refresh as usize]),
        ),
        ..fewer(
            "refresh_write_pages",
            "refresh writes",
            "pages rewritten because of their age",
            |s| {
                let refreshes = s.refresh_technique.as_deref()? != NO_REFRESH;
                refreshes.then(|| s.flash.programs.of(Cause::Refresh) as f64)
            },
        )
    },
    Column {
        noise: Noise::Batches(
            |s| s.batch_means.gc_erases,
            Each::Sum(|b| b.counts.erases[Cause::Gc as usize]),
        ),
        ..fewer("gc_erases", "GC erases", "blocks erased to regain space", |s| {
            Some(s.flash.erases.of(Cause::Gc) as f64)
        })
    },
    Column {
        format: |n, _| format!("{n:.3}"),
        noise: Noise::Batches(
            |s| Some(s.write_amplification? * s.batch_means.write_amplification_share?),
            Each::Sum(|b| b.counts.programs.iter().sum()),
        ),
        ..fewer(
            "write_amplification",
            "write ampl.",
            "bytes programmed per byte that the host wrote",
            |s| s.write_amplification,
        )
    },
    Column {
        format: |percent, _| format!("{} %", digits(percent)),
        noise: Noise::Batches(read_wear_noise, REWRITES),
        ..fewer(
            "read_wear",
            "read wear",
            "bytes programmed because of reads, per byte that the host read",
            |s| s.read_wear,
        )
    },
    Column {
        format: |percent, _| format!("{} %", digits(percent)),
        noise: Noise::Batches(read_wear_net_noise, REWRITES),
        ..fewer(
            "read_wear_net",
            "net",
            "bytes programmed beyond those of the same run on flash without read disturbance; \
             this number is divided by the bytes that the host read",
            |s| s.read_wear_net,
        )
    },
    Column {
        opens_group: true,
        noise: Noise::Batches(|s| s.batch_means.read_p50_us, Each::Percentile(0.5)),
        ..latency("read_p50_us", "read p50", "", |s| s.latency_us.read.p50)
    },
    Column {
        noise: Noise::Batches(|s| s.batch_means.read_p99_us, Each::Percentile(0.99)),
        ..latency("read_p99_us", "p99", "", |s| s.latency_us.read.p99)
    },
    Column {
        noise: Noise::Batches(|s| s.batch_means.read_p99_9_us, Each::Percentile(0.999)),
        ..latency("read_p99_9_us", "p99.9", "", |s| s.latency_us.read.p99_9)
    },
    latency(
        "read_max_us",
        "max",
        "latencies within which 50, 99, 99.9 and 100 % of host reads end",
        |s| s.latency_us.read.max,
    ),
    Column {
        noise: Noise::Batches(
            |s| s.batch_means.reclaim_wait_us,
            Each::Sum(|b| b.counts.reclaim_wait_us),
        ),
        ..latency("reclaim_wait_us", "reclaim wait", "", reclaim_wait_us)
    },
    Column {
        needs_time: true,
        noise: Noise::Batches(reclaim_wait_percent_noise, Each::Sum(|b| b.counts.reclaim_wait_us)),
        format: |percent, _| format!("{} %", digits(percent)),
        ..fewer(
            "reclaim_wait_percent",
            "wait share",
            "mean wait of a host page read for reclaim, and this wait as a share of the mean read \
             latency",
            reclaim_wait_percent,
        )
    },
    Column {
        opens_group: true,
        format: |n, _| bytes(n as u64),
        ..fewer("controller_ram_bytes", "RAM", "controller memory of the technique", |s| {
            Some(s.controller_ram_bytes as f64)
        })
    },
    fewer("data_lost_pages", "data lost", "pages of host data that the drive lost", |s| {
        Some(s.data_lost_pages as f64)
    }),
    fewer(LOST_BY_AGE, "by age", "those lost by age alone", |s| Some(s.losses?.by_age as f64)),
    Column {
        format: |n, _| digits(n),
        noise: Noise::Batches(|s| s.batch_means.retries_mean, Each::Sum(|b| b.counts.retries())),
        ..fewer("retries_mean", "retries", "mean read retries per host page read", |s| {
            s.retries.as_ref()?.mean
        })
    },
    Column {
        format: |rate, _| format!("{rate:.1e}"),
        noise: Noise::Batches(
            |s| Some(s.uber?.rate? * s.batch_means.uber_share.unwrap_or(0.0)),
            Each::Sum(|b| b.counts.lost_codewords),
        ),
        ..fewer("uber", "UBER", "expected lost codewords per data bit that the host reads", |s| {
            s.uber?.rate
        })
    },
    Column {
        format: |life, sizes| LifeUnit::HostBytes.text_on(life, sizes.capacity_bytes),
        ..life(
            "host_bytes_until_worn",
            "estimated TB that the host can write until the drive reaches its rated P/E cycles \
             (TBW), and drive writes per day over five years (DWPD); projected from runs whose \
             rates and state have settled; in the projection, limits fall with wear; no days are \
             given, because requests have no times",
            |s| s.wear.host_bytes_until_worn,
        )
    },
    Column {
        format: |life, sizes| LifeUnit::ReadBytes.text_on(life, sizes.capacity_bytes),
        ..life(
            "read_bytes_until_worn",
            "estimated TB that the host can read until the drive reaches its rated P/E cycles; \
             projected from runs whose rates and state have settled; in the projection, limits \
             fall with wear; no days are given, because requests have no times",
            |s| s.wear.read_bytes_until_worn,
        )
    },
];
