//! Results of `vpass llm`, which shows how much reading a language model wears a drive. The results
//! can be compared with measurements of real drives.
//!
//! `--json` prints an [`Llm`].

mod link;

pub use link::decimal;

use serde::Serialize;
use vpass_drive::base::geometry::Geometry;
use vpass_workload::model::ModelLaw;

use crate::estimate::{self, Paces};
use crate::failure::Failure;
use crate::life::series::Row;
use crate::life::summary::Life;
use crate::plan::RunPlan;

/// Number of days in a year.
const DAYS: f64 = 365.0;
/// Part of a life. Some results are only for the first or for the last part of the hours of use.
const EIGHTH: f64 = 1.0 / 8.0;
/// Smallest and largest number of rounds of reads after which real drives rewrite data. In a round,
/// each page is read once. The paper "Read Latency Relaxation" (ASPLOS 2021) measured these
/// numbers. The most robust drive had the largest number.
pub const REAL_ROUNDS: [f64; 2] = [39.0, 1194.0];
/// Bytes in a gigabyte, for the effect of one more gigabyte of cache.
const GB: u64 = 1_000_000_000;

/// Reads that a language model causes on a drive, and the resulting wear.
#[derive(Clone, Debug, Serialize)]
pub struct Llm {
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Size of the language model that the drive holds, in bytes.
    pub model_bytes: u64,
    /// Number of bytes of the model that the host's cache holds.
    pub cache_bytes: u64,
    /// Number of tokens per second during the hours of use.
    pub tokens_per_second: f64,
    /// Number of hours of use per day.
    pub hours_per_day: f64,
    /// Number of bytes that the host reads from the drive for each token.
    pub bytes_per_token: f64,
    /// Number of bytes that the host reads per second during the hours of use.
    pub read_bytes_per_second: f64,
    /// Number of bytes that the host writes per second, as a mean over all hours of the day.
    pub write_bytes_per_second: f64,
    /// Mean number of reads per day of a page of the model.
    pub reads_of_a_page_per_day: f64,
    /// Warnings about the results. A warning says that the drive cannot serve these reads.
    pub warnings: Vec<String>,
    /// Results of each technique.
    pub techniques: Vec<Technique>,
    /// Estimated lives under the technique `block` with other read thresholds. Empty if no known
    /// equation fits the drive.
    pub thresholds: Vec<AtThreshold>,
    /// Life under the technique `block` with the read thresholds of the drive, computed by the same
    /// equations as `thresholds`. Null if no known equation fits the drive.
    pub threshold_unchanged: Option<AtThreshold>,
    /// Largest measured error of the lives in `thresholds`, as a share of the simulated life. Null
    /// if no known equation fits the drive.
    pub thresholds_within: Option<f64>,
    /// Lives of drives that rewrite data after as many rounds of reads as real drives do. An
    /// equation gives the lives. The wear includes one program of each page that the host writes,
    /// without GC.
    pub real_drives: Vec<AtRounds>,
    /// Effect of one more gigabyte of the host's cache.
    pub another_gb_of_cache: MoreCache,
}

/// Results of a technique. Ratios are means over the whole life, except for keys that end in
/// `_fresh` (first eighth) or `_worn` (last eighth).
#[derive(Clone, Debug, Serialize)]
pub struct Technique {
    /// Name of the technique.
    pub label: String,
    /// Number of years until the drive is worn out.
    pub years: f64,
    /// Lower end and upper end of the interval of the years. Null without an interval.
    pub years_interval: Option<(f64, f64)>,
    /// Whether the life ends with a worn-out drive. If not, the drive may live longer than `years`.
    pub worn_out: bool,
    /// Rung of `vpass life` on which the lives were simulated.
    pub rung: u32,
    /// Number of years according to the equations. Null for a life that has an interval or outlives
    /// the simulation, and if no known equation fits the drive.
    pub years_by_estimate: Option<f64>,
    /// Largest measured error of `years_by_estimate`, as a share of the simulated life. Null
    /// without `years_by_estimate`.
    pub estimated_within: Option<f64>,
    /// Number of host data pages that were reported lost in a life.
    pub data_lost_pages: f64,
    /// Number of page reads by the host per page that the drive rewrites. Null without rewrites.
    pub rounds_per_rewrite: Option<f64>,
    /// Number of page reads by the host per rewritten page, in the first eighth of the life. Null
    /// if the drive does not wear out.
    pub rounds_per_rewrite_fresh: Option<f64>,
    /// Number of page reads by the host per rewritten page, in the last eighth of the life. Null if
    /// the drive does not wear out.
    pub rounds_per_rewrite_worn: Option<f64>,
    /// Number of bytes that the drive rewrites for each 100 bytes that the host reads. Bytes that
    /// GC rewrites are included. Bytes that the host writes are excluded.
    pub written_per_100_read: Option<f64>,
    /// Number of bytes that the drive rewrites for each 100 bytes that the host reads, in the first
    /// eighth of the life.
    pub written_per_100_read_fresh: Option<f64>,
    /// Number of bytes that the drive rewrites for each 100 bytes that the host reads, in the last
    /// eighth of the life.
    pub written_per_100_read_worn: Option<f64>,
    /// Bytes programmed by reclaim or because of retries, in percent of the bytes that the host
    /// reads. Null if the host reads nothing.
    pub read_wear: Option<f64>,
    /// Number of bytes that the drive programs into flash per day.
    pub flash_bytes_per_day: f64,
    /// P/E cycles of the mean block in a year, in percent of the rated P/E cycles.
    pub endurance_percent_per_year: f64,
    /// Upper bound of the share of reads that wait because the die is busy with a program or an
    /// erase. For the bound, each die is assumed to program only one page at a time.
    pub slow_reads_at_most: f64,
}

/// Life under the technique `block` if all read thresholds are multiplied by a factor.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AtThreshold {
    /// Factor for the read thresholds of the technique.
    pub factor: f64,
    /// Number of years until the drive is worn out.
    pub years: f64,
}

/// Life of a drive that rewrites each page after a given number of rounds of reads. In a round,
/// each page is read once.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AtRounds {
    /// Number of rounds of reads after which a page is rewritten.
    pub rounds: f64,
    /// Number of years until the drive is worn out.
    pub years: f64,
}

/// Effect of one more gigabyte of the host's cache.
#[derive(Clone, Debug, Serialize)]
pub struct MoreCache {
    /// Bytes that the host no longer reads from the drive, in percent of the bytes that the host
    /// read with the smaller cache.
    pub reads_saved_percent: f64,
    /// Number of years that the additional cache adds to the life under each technique, in the
    /// order of `techniques`. All wear except the host's writes is assumed to be caused by reads.
    /// Null if the larger cache holds the whole model. An element is null if the drive outlives the
    /// simulation.
    pub years_added: Option<Vec<Option<f64>>>,
}

impl Llm {
    /// Builds the results. `plan` may be the plan of any technique. `of_block` is the plan of the
    /// technique `block`; `thresholds` is empty without this plan.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    ///
    /// # Panics
    /// Panics if the workload is not a model.
    pub fn of(
        plan: &RunPlan,
        of_block: Option<&RunPlan>,
        techniques: Vec<Technique>,
    ) -> Result<Self, Failure> {
        let law = plan.model_law()?;
        let workload = plan.model().expect("the workload is a model");
        let (config, hours) = (&workload.model, workload.hours_per_day.unwrap_or(24.0));
        let rate = law.bytes_per_token() * config.tokens_per_second;
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let reads = law.page_reads_per_s();
        let model_bytes = law.model_bytes();
        let thresholds = of_block.map(at_thresholds).transpose()?.unwrap_or_default();
        Ok(Self {
            warnings: link::too_slow(plan, &law).into_iter().collect(),
            drive: plan.drive.name.clone(),
            workload: plan.workload.name(),
            model_bytes,
            cache_bytes: config.cache.0,
            tokens_per_second: config.tokens_per_second,
            hours_per_day: hours,
            bytes_per_token: law.bytes_per_token(),
            read_bytes_per_second: rate,
            write_bytes_per_second: law.write_bytes_per_s(),
            reads_of_a_page_per_day: law.page_reads_of_model_per_s() * 86_400.0
                / (model_bytes as f64 / page),
            thresholds: thresholds.changed,
            threshold_unchanged: thresholds.unchanged,
            thresholds_within: thresholds.within,
            real_drives: at_real_rounds(plan, reads, law.write_bytes_per_s() / page),
            another_gb_of_cache: more_cache(plan, &law, &techniques)?,
            techniques,
        })
    }
}

impl Technique {
    /// Builds the results of a technique from lives that were simulated on a rung of `vpass life`.
    ///
    /// # Errors
    /// Returns an error if the workload is invalid or cannot be read.
    pub fn simulated(
        plan: &RunPlan,
        law: &ModelLaw,
        life: &Life,
        rung: u32,
    ) -> Result<Self, Failure> {
        let years_interval = life.ends();
        // Without an interval, the estimate shows the user how sure the years are.
        let estimate = if years_interval.is_none() && life.worn_out {
            estimate::of(plan)?.ok().filter(|estimate| estimate.life_years.is_some())
        } else {
            None
        };
        let days = life.years.mean * DAYS;
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let rounds = |written: f64| rounds(plan, law, written);
        let read_bytes_per_day = law.read_bytes_per_s() * 86_400.0;
        let (fresh, worn) =
            if life.worn_out { ends(life, read_bytes_per_day * days) } else { (None, None) };
        let cycles = life.pec_mean.mean - life.pec_first;
        let by_drive = life.flash_bytes_written.mean - life.host_bytes_written.mean;
        let read = read_bytes_per_day * days;
        let written = (read > 0.0).then(|| 100.0 * by_drive / read);
        let programs = life.flash_bytes_written.mean / page / (days * 86_400.0);
        Ok(Self {
            label: life.label.clone(),
            years: life.years.mean,
            years_interval,
            worn_out: life.worn_out,
            rung,
            years_by_estimate: estimate.and_then(|estimate| estimate.life_years),
            estimated_within: estimate.map(|estimate| estimate.within),
            data_lost_pages: life.data_lost_pages,
            rounds_per_rewrite: written.and_then(rounds),
            rounds_per_rewrite_fresh: fresh.and_then(rounds),
            rounds_per_rewrite_worn: worn.and_then(rounds),
            written_per_100_read: written,
            written_per_100_read_fresh: fresh,
            written_per_100_read_worn: worn,
            read_wear: life.read_wear.map(|wear| wear.mean),
            flash_bytes_per_day: life.flash_bytes_written.mean / days,
            endurance_percent_per_year: 100.0 * cycles
                / f64::from(plan.drive.config.drive.rated_pec)
                / life.years.mean,
            slow_reads_at_most: (programs * us_per_page(plan) / 1e6 / dies(plan)).min(1.0),
        })
    }
}

/// Returns the number of page reads by the host, divided by the number of pages that the drive
/// rewrites. `written` is the number of bytes that are rewritten for each 100 bytes that the host
/// reads. A page read may read only a part of the page.
fn rounds(plan: &RunPlan, law: &ModelLaw, written: f64) -> Option<f64> {
    let page = plan.drive.config.geometry.page_size.0 as f64;
    let pages_per_byte = law.page_reads_per_s() / law.read_bytes_per_s();
    (written > 0.0).then(|| 100.0 * pages_per_byte * page / written)
}

/// Returns the number of bytes that the drive rewrites for each 100 bytes read, in the first eighth
/// and in the last eighth of a life. The host reads `read` bytes in the life. The eighths are those
/// of the hours of use, because a simulated life may have only a few days. The number of programmed
/// pages in each part is assumed to be proportional to the number of P/E cycles in the part.
fn ends(life: &Life, read: f64) -> (Option<f64>, Option<f64>) {
    let rows = &life.series;
    let cycles = life.pec_mean.mean - life.pec_first;
    if rows.len() < 2 || cycles <= 0.0 || read <= 0.0 {
        return (None, None);
    }
    let by_drive = |row: &Row| {
        let bytes = life.flash_bytes_written.mean * (row.pec_mean - life.pec_first) / cycles;
        bytes * (1.0 - row.consumed_host.unwrap_or(0.0))
    };
    let at = |used: f64| {
        let after = rows.partition_point(|row| row.used < used).clamp(1, rows.len() - 1);
        let (from, to) = (&rows[after - 1], &rows[after]);
        let part = (used - from.used) / (to.used - from.used);
        by_drive(from) + part * (by_drive(to) - by_drive(from))
    };
    let between = |from: f64, to: f64| Some(100.0 * (at(to) - at(from)) / (read * EIGHTH));
    (between(0.0, EIGHTH), between(1.0 - EIGHTH, 1.0))
}

/// Returns the time of programming a page, in microseconds. The page's share of the erase time of
/// the block is included.
fn us_per_page(plan: &RunPlan) -> f64 {
    let config = &plan.drive.config;
    let pages = f64::from(Geometry::new(config).pages_per_block);
    config.program_us_per_page() + config.timing.longest_erase_us() / pages
}

/// Returns the number of dies of the whole drive.
fn dies(plan: &RunPlan) -> f64 {
    let config = &plan.drive.config;
    f64::from(config.part_of.as_ref().map_or(Geometry::new(config).dies(), |whole| whole.dies))
}

/// Estimated lives under the technique `block` with several read thresholds.
#[derive(Default)]
struct Thresholds {
    /// Lives with all read thresholds halved, and with all read thresholds doubled.
    changed: Vec<AtThreshold>,
    /// Life with the read thresholds of the drive.
    unchanged: Option<AtThreshold>,
    /// Largest measured error of these lives, as a share of the simulated life.
    within: Option<f64>,
}

/// Estimates lives under the technique `block` with halved, unchanged and doubled read thresholds.
fn at_thresholds(plan: &RunPlan) -> Result<Thresholds, Failure> {
    let mut within = None::<f64>;
    let mut at = |factor| -> Result<Option<AtThreshold>, Failure> {
        let Ok(estimate) = estimate::with_thresholds(plan, factor)? else { return Ok(None) };
        within = Some(within.map_or(estimate.within, |known| known.max(estimate.within)));
        Ok(estimate.life_years.map(|years| AtThreshold { factor, years }))
    };
    let (half, unchanged, twice) = (at(0.5)?, at(1.0)?, at(2.0)?);
    Ok(Thresholds { changed: half.into_iter().chain(twice).collect(), unchanged, within })
}

/// Returns the lives of drives that rewrite data after as many rounds of reads as real drives do.
/// The host reads `reads` pages per second, and writes `writes` pages per second.
fn at_real_rounds(plan: &RunPlan, reads: f64, writes: f64) -> Vec<AtRounds> {
    let at = |rounds| AtRounds {
        rounds,
        years: estimate::years_at_rounds(plan, Paces { reads, writes }, rounds),
    };
    REAL_ROUNDS.map(at).to_vec()
}

fn more_cache(
    plan: &RunPlan,
    law: &ModelLaw,
    techniques: &[Technique],
) -> Result<MoreCache, Failure> {
    let more = plan.model_law_with_cache(GB)?;
    let ratio = more.bytes_per_token() / law.bytes_per_token();
    // A drive that outlives the simulation lives for an unknown number of years.
    let added = |technique: &Technique| {
        let by_reads = share_by_reads(technique, law);
        let wear = 1.0 - by_reads + by_reads * ratio;
        technique.worn_out.then(|| technique.years * (1.0 / wear - 1.0))
    };
    let years_added = (ratio > 0.0).then(|| techniques.iter().map(added).collect());
    Ok(MoreCache { reads_saved_percent: 100.0 * (1.0 - ratio), years_added })
}

/// Returns the share of the programmed bytes that the host did not write.
fn share_by_reads(technique: &Technique, law: &ModelLaw) -> f64 {
    if law.write_bytes_per_s() <= 0.0 {
        return 1.0;
    }
    let read_a_day = law.read_bytes_per_s() * 86_400.0;
    let rewritten = technique.written_per_100_read.unwrap_or(0.0) / 100.0 * read_a_day;
    (rewritten / technique.flash_bytes_per_day).clamp(0.0, 1.0)
}
