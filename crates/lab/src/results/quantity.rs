//! Quantities: the numbers of a run that tables, files and pages show and that comparisons rank.
//! The table [`QUANTITIES`] declares each of them once.

use vpass_drive::api::refresh::NO_REFRESH;
use vpass_drive::base::units::Cause;

use super::{Batch, LifeUnit, PAIRED, Summary};
use crate::batch::{BATCHES, reads_needed};
use crate::numbers::{bytes, count, digits, microseconds};

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

/// Unit of a quantity. The unit determines how numbers are formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Life of the drive. The life may be known only as a range.
    Life(LifeUnit),
    /// Flash pages.
    Pages,
    /// Flash blocks.
    Blocks,
    /// Ratio of two numbers with the same unit.
    Ratio,
    /// Read retries per page read.
    Retries,
    /// Microseconds.
    Us,
    /// Percent.
    Percent,
    /// Bytes of memory.
    Bytes,
    /// Lost codewords per data bit.
    Rate,
}

impl Unit {
    /// Returns the name of the unit in result files. The name is empty for a ratio.
    pub fn name(self) -> &'static str {
        match self {
            Self::Life(LifeUnit::Days) => "days",
            Self::Life(_) | Self::Bytes => "bytes",
            Self::Pages => "pages",
            Self::Blocks => "blocks",
            Self::Ratio => "",
            Self::Retries => "retries per page read",
            Self::Us => "us",
            Self::Percent => "%",
            Self::Rate => "codewords per bit",
        }
    }

    /// Formats a value of this unit.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Life(unit) => unit.text(value),
            Self::Pages | Self::Blocks if value.fract() == 0.0 => count(value as u64),
            Self::Pages | Self::Blocks | Self::Retries => digits(value),
            Self::Ratio => format!("{value:.3}"),
            Self::Us => microseconds(value),
            Self::Percent => format!("{} %", digits(value)),
            Self::Bytes => bytes(value as u64),
            Self::Rate => format!("{value:.1e}"),
        }
    }

    /// Formats a value of this unit for a drive of these sizes. The text of pages includes their
    /// bytes, and the text of a life in bytes written includes drive writes per day.
    pub fn text_on(self, value: f64, sizes: &Sizes) -> String {
        match self {
            Self::Life(unit) => unit.text_on(value, sizes.capacity_bytes),
            Self::Pages => {
                let all = bytes((value * sizes.page_bytes as f64) as u64);
                format!("{} ({all})", self.text(value))
            }
            _ => self.text(value),
        }
    }
}

/// Noise of a number, if a single run shows the noise.
#[derive(Clone, Copy)]
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

/// Condition under which a table shows a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Always.
    Always,
    /// In the timed gear.
    Timed,
    /// If a row has a value. Only data that ages has one.
    IfKnown,
    /// If a row has a value above 0.
    IfPositive,
}

/// Words with which a verdict names the winner of a quantity.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Verb that follows the label: "is" or "are".
    pub verb: &'static str,
    /// Adjective for the best value, such as "fewest".
    pub best: &'static str,
    /// Whether the verdict has a sentence if all rows have equal values.
    pub says_alike: bool,
}

/// Number of a run.
#[derive(Clone, Copy)]
pub struct Quantity {
    /// Name in files, with the unit.
    pub key: &'static str,
    /// Heading in a table, next to the headings of related quantities.
    pub heading: &'static str,
    /// Name for a reader who does not see other headings.
    pub label: &'static str,
    /// Explanation for a legend. Empty if the explanation of the next quantity covers both.
    pub meaning: &'static str,
    /// Unit of the value.
    pub unit: Unit,
    /// Condition under which a table shows the quantity.
    pub shown: Shown,
    /// Whether a table that is too wide may be cut before this quantity.
    pub opens_group: bool,
    /// Function that returns the value of one run.
    pub value: fn(&Summary) -> Option<f64>,
    /// Noise of the value.
    pub noise: Noise,
    /// Words for the verdict; `None` if the verdict does not name the quantity.
    pub verdict: Option<Words>,
}

impl Quantity {
    /// Returns the quantity with this key.
    ///
    /// # Panics
    /// Panics if no quantity has the key, which is a mistake of the caller.
    pub fn of(key: &str) -> &'static Self {
        QUANTITIES.iter().find(|quantity| quantity.key == key).expect("the key of a quantity")
    }

    /// Returns the unit of the life if this quantity is the drive's life; otherwise `None`.
    pub fn life_unit(&self) -> Option<LifeUnit> {
        if let Unit::Life(unit) = self.unit { Some(unit) } else { None }
    }

    /// Returns the number of requests or reads that one run needs before it can be compared with
    /// another run. Read-latency percentiles count reads. Other quantities count requests.
    pub fn needed(&self) -> (u64, &'static str) {
        let looks = (PAIRED + BATCHES) as u64 * LOOK;
        match self.noise {
            Noise::Batches(_, Each::Percentile(q)) => {
                (looks.max(BATCHES as u64 * reads_needed(q)), "reads")
            }
            _ => (looks, "requests"),
        }
    }

    /// Returns whether the values are counts of lost pages.
    pub fn is_loss(&self) -> bool {
        ["data_lost_pages", "lost_by_age_pages"].contains(&self.key)
    }

    /// Returns whether a table shows the quantity. `means` has the values of all rows.
    pub fn stands(&self, mut means: impl Iterator<Item = Option<f64>>) -> bool {
        match self.shown {
            Shown::Always | Shown::Timed => true,
            Shown::IfKnown => means.any(|mean| mean.is_some()),
            Shown::IfPositive => means.flatten().any(|mean| mean > 0.0),
        }
    }

    /// Compares two values. The better value is the lesser one.
    pub fn order(&self, a: f64, b: f64) -> std::cmp::Ordering {
        if self.life_unit().is_some() { b.total_cmp(&a) } else { a.total_cmp(&b) }
    }

    const fn new(
        key: &'static str,
        heading: &'static str,
        unit: Unit,
        value: fn(&Summary) -> Option<f64>,
    ) -> Self {
        Self {
            key,
            heading,
            label: heading,
            meaning: "",
            unit,
            shown: Shown::Always,
            opens_group: false,
            value,
            noise: Noise::None,
            verdict: None,
        }
    }

    /// Makes a latency of the timed gear, with batches that show its noise.
    const fn timed(mut self, half: fn(&Summary) -> Option<f64>, each: Each) -> Self {
        self.shown = Shown::Timed;
        self.batches(half, each)
    }

    const fn life(
        key: &'static str,
        label: &'static str,
        unit: LifeUnit,
        value: fn(&Summary) -> Option<f64>,
    ) -> Self {
        let life = Self::new(key, "life", Unit::Life(unit), value).label(label);
        Self { noise: Noise::Unknown, ..life }.verdict("is", "longest", true)
    }

    const fn batches(mut self, half: fn(&Summary) -> Option<f64>, each: Each) -> Self {
        self.noise = Noise::Batches(half, each);
        self
    }

    const fn label(mut self, label: &'static str) -> Self {
        self.label = label;
        self
    }

    const fn means(mut self, meaning: &'static str) -> Self {
        self.meaning = meaning;
        self
    }

    const fn shown(mut self, shown: Shown) -> Self {
        self.shown = shown;
        self
    }

    const fn opens(mut self) -> Self {
        self.opens_group = true;
        self
    }

    const fn verdict(mut self, verb: &'static str, best: &'static str, says_alike: bool) -> Self {
        self.verdict = Some(Words { verb, best, says_alike });
        self
    }
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
    ((net - wear).abs() <= SAME_NUMBER * wear).then(|| read_wear_noise(s))?
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

/// Returns the pages rewritten because of their age; `None` without a refresh technique.
fn refresh_writes(s: &Summary) -> Option<f64> {
    let refreshes = s.refresh_technique.as_deref()? != NO_REFRESH;
    refreshes.then(|| s.flash.programs.of(Cause::Refresh) as f64)
}

/// All quantities, in the same order as in files. A table shows only one of the lives, as the first
/// column.
pub static QUANTITIES: [Quantity; 21] = [
    Quantity::life("projected_life_days", "life", LifeUnit::Days, |s| s.wear.projected_life_days)
        .means(
            "estimated time until the drive reaches its rated P/E cycles; projected from runs \
             whose rates and state have settled; in the projection, limits fall with wear; on \
             small drives, estimates are within 15 % of the life that `vpass life` simulates, and \
             up to 37 % below that life in runs with background GC",
        ),
    Quantity::new("reclaim_write_pages", "reclaim writes", Unit::Pages, |s| {
        Some(s.flash.programs.of(Cause::Reclaim) as f64)
    })
    .batches(|s| s.batch_means.reclaim_write_pages, REWRITES)
    .verdict("are", "fewest", false),
    Quantity::new("reclaim_erases", "reclaim erases", Unit::Blocks, |s| {
        Some(s.flash.erases.of(Cause::Reclaim) as f64)
    })
    .batches(
        |s| s.batch_means.reclaim_erases,
        Each::Sum(|b| b.counts.erases[Cause::Reclaim as usize]),
    )
    .means("pages rewritten and blocks erased because of reads"),
    Quantity::new("refresh_write_pages", "refresh writes", Unit::Pages, refresh_writes)
        .batches(
            |s| s.batch_means.refresh_write_pages,
            Each::Sum(|b| b.counts.programs[Cause::Refresh as usize]),
        )
        .means("pages rewritten because of their age")
        .shown(Shown::IfKnown),
    Quantity::new("gc_erases", "GC erases", Unit::Blocks, |s| {
        Some(s.flash.erases.of(Cause::Gc) as f64)
    })
    .batches(|s| s.batch_means.gc_erases, Each::Sum(|b| b.counts.erases[Cause::Gc as usize]))
    .means("blocks erased to regain space"),
    Quantity::new("write_amplification", "write ampl.", Unit::Ratio, |s| s.write_amplification)
        .label("write amplification")
        .batches(
            |s| Some(s.write_amplification? * s.batch_means.write_amplification_share?),
            Each::Sum(|b| b.counts.programs.iter().sum()),
        )
        .means("bytes programmed per byte that the host wrote")
        .verdict("is", "smallest", false),
    Quantity::new("read_wear", "read wear", Unit::Percent, |s| s.read_wear)
        .batches(read_wear_noise, REWRITES)
        .means("bytes programmed because of reads, per byte that the host read"),
    Quantity::new("read_wear_net", "net", Unit::Percent, |s| s.read_wear_net)
        .label("net read wear")
        .batches(read_wear_net_noise, REWRITES)
        .means(
            "bytes programmed beyond those of the same run on flash without read disturbance; \
             this number is divided by the bytes that the host read",
        ),
    Quantity::new("read_p50_us", "read p50", Unit::Us, |s| s.latency_us.read.p50)
        .timed(|s| s.batch_means.read_p50_us, Each::Percentile(0.5))
        .opens(),
    Quantity::new("read_p99_us", "p99", Unit::Us, |s| s.latency_us.read.p99)
        .label("read p99")
        .timed(|s| s.batch_means.read_p99_us, Each::Percentile(0.99)),
    Quantity::new("read_p99_9_us", "p99.9", Unit::Us, |s| s.latency_us.read.p99_9)
        .label("read p99.9")
        .timed(|s| s.batch_means.read_p99_9_us, Each::Percentile(0.999))
        .verdict("is", "shortest", true),
    Quantity {
        noise: Noise::Unknown,
        ..Quantity::new("read_max_us", "max", Unit::Us, |s| s.latency_us.read.max)
            .label("read max")
            .means("latencies within which 50, 99, 99.9 and 100 % of host reads end")
            .shown(Shown::Timed)
    },
    Quantity::new("reclaim_wait_us", "reclaim wait", Unit::Us, reclaim_wait_us)
        .timed(|s| s.batch_means.reclaim_wait_us, Each::Sum(|b| b.counts.reclaim_wait_us)),
    Quantity::new("reclaim_wait_percent", "wait share", Unit::Percent, reclaim_wait_percent)
        .label("reclaim wait share")
        .timed(reclaim_wait_percent_noise, Each::Sum(|b| b.counts.reclaim_wait_us))
        .means(
            "mean wait of a host page read for reclaim, and this wait as a share of the mean read \
             latency",
        ),
    Quantity::new("controller_ram_bytes", "RAM", Unit::Bytes, |s| {
        Some(s.controller_ram_bytes as f64)
    })
    .opens()
    .means("controller memory of the technique")
    .verdict("is", "smallest", true),
    Quantity::new("data_lost_pages", "data lost", Unit::Pages, |s| Some(s.data_lost_pages as f64))
        .means("pages of host data that the drive lost"),
    Quantity::new("lost_by_age_pages", "by age", Unit::Pages, |s| Some(s.losses?.by_age as f64))
        .label("data lost by age")
        .means("those lost by age alone")
        .shown(Shown::IfPositive),
    Quantity::new("retries_mean", "retries", Unit::Retries, |s| s.retries.as_ref()?.mean)
        .batches(|s| s.batch_means.retries_mean, Each::Sum(|b| b.counts.retries()))
        .means("mean read retries per host page read")
        .shown(Shown::IfKnown),
    Quantity::new("uber", "UBER", Unit::Rate, |s| s.uber?.rate)
        .batches(
            |s| Some(s.uber?.rate? * s.batch_means.uber_share.unwrap_or(0.0)),
            Each::Sum(|b| b.counts.lost_codewords),
        )
        .means("expected lost codewords per data bit that the host reads")
        .shown(Shown::IfKnown),
    Quantity::life("host_bytes_until_worn", "life in bytes written", LifeUnit::HostBytes, |s| {
        s.wear.host_bytes_until_worn
    })
    .means(
        "estimated TB that the host can write until the drive reaches its rated P/E cycles (TBW), \
         and drive writes per day over five years (DWPD); projected from runs whose rates and \
         state have settled; in the projection, limits fall with wear; no days are given, because \
         requests have no times",
    ),
    Quantity::life("read_bytes_until_worn", "life in bytes read", LifeUnit::ReadBytes, |s| {
        s.wear.read_bytes_until_worn
    })
    .means(
        "estimated TB that the host can read until the drive reaches its rated P/E cycles; \
         projected from runs whose rates and state have settled; in the projection, limits fall \
         with wear; no days are given, because requests have no times",
    ),
];
