//! Answer of `vpass llm`: whether the reads of a language model wear a drive, in numbers that can
//! be compared with measurements of real drives.
//!
//! `--json` prints an [`Llm`].

mod sentences;

use serde::Serialize;
use vpass_core::base::geometry::Geometry;
use vpass_workload::model::ModelLaw;

use crate::estimate::{self, Estimate};
use crate::failure::Failure;
use crate::life::summary::Life;
use crate::plan::RunPlan;

/// Years of 365 days, in days.
const DAYS: f64 = 365.0;
/// Part of a life that counts as its beginning and as its end.
const EIGHTH: usize = 8;
/// Smallest and largest number of rounds between two rewrites of a page that real drives took
/// ("Read Latency Relaxation", ASPLOS 2021, measurements of the authors). The largest number is
/// where the robust drive began to rewrite.
pub const REAL_ROUNDS: [f64; 2] = [39.0, 1194.0];
/// Number of bytes in the gigabyte of "another GB of cache".
const GB: u64 = 1_000_000_000;

/// Reads of a model on a drive, and the wear that they cause.
#[derive(Clone, Debug, Serialize)]
pub struct Llm {
    /// Preset or path of the drive.
    pub drive: String,
    /// Preset or path of the workload.
    pub workload: String,
    /// Bytes of the model on the drive.
    pub model_bytes: u64,
    /// Bytes of the host's cache.
    pub cache_bytes: u64,
    /// Tokens per second, in the hours of use.
    pub tokens_per_second: f64,
    /// Hours of use a day.
    pub hours_per_day: f64,
    /// Bytes that the host reads from the drive for a token.
    pub bytes_per_token: f64,
    /// Bytes that the host reads per second, in the hours of use.
    pub read_bytes_per_second: f64,
    /// Mean number of reads of each page of the model a day.
    pub reads_of_a_page_per_day: f64,
    /// Results of each technique.
    pub techniques: Vec<Technique>,
    /// Life under `block` at other thresholds, from equations; empty without an equation.
    pub thresholds: Vec<AtThreshold>,
    /// Life at the rounds that real drives took, from an equation. It holds for reads alone.
    pub real_drives: Vec<AtRounds>,
    /// Effect of another GB of cache.
    pub another_gb_of_cache: MoreCache,
}

/// Results of a technique. Ratios are means over the whole life, unless their name says otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Technique {
    /// Name of the technique.
    pub label: String,
    /// Years until the drive is worn out.
    pub years: f64,
    /// Lower and upper end of the years; null without an interval.
    pub years_interval: Option<(f64, f64)>,
    /// Whether the drive is worn out. If not, it lives longer than `years`.
    pub worn_out: bool,
    /// Largest measured error of the equations as a share, if the numbers are an estimate; null if
    /// they were simulated.
    pub estimated_within: Option<f64>,
    /// Pages of host data that a life reported lost; null for an estimate, which cannot know.
    pub data_lost_pages: Option<f64>,
    /// Reads of a page for each page that the drive writes by itself; null without rewrites.
    pub rounds_per_rewrite: Option<f64>,
    /// Reads of a page for each rewrite of the page, in the first eighth of the life.
    pub rounds_per_rewrite_fresh: Option<f64>,
    /// Reads of a page for each rewrite of the page, in the last eighth of the life.
    pub rounds_per_rewrite_worn: Option<f64>,
    /// Bytes written to the flash for each 100 bytes that the host reads, without the bytes that
    /// the host itself writes. GC that the rewrites need counts.
    pub written_per_100_read: Option<f64>,
    /// Bytes written per 100 bytes read in the first eighth of the life.
    pub written_per_100_read_fresh: Option<f64>,
    /// Bytes written per 100 bytes read in the last eighth of the life.
    pub written_per_100_read_worn: Option<f64>,
    /// Bytes programmed by reclaim and because of retries, in percent of the bytes that the host
    /// reads, as in `life.json`; null for an estimate.
    pub read_wear: Option<f64>,
    /// Bytes written to the flash a day.
    pub flash_bytes_per_day: f64,
    /// Percent of the rated P/E cycles that a year takes.
    pub endurance_percent_per_year: f64,
    /// Largest share of the reads that meet a die that programs or erases, if each program occupies
    /// its die alone.
    pub slow_reads_at_most: f64,
}

/// Life under `block`, if its thresholds are a multiple of the drive's.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AtThreshold {
    /// Multiple of the drive's own thresholds.
    pub factor: f64,
    /// Years until the drive is worn out.
    pub years: f64,
}

/// Life if each page is rewritten after this number of rounds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AtRounds {
    /// Reads of a page for each rewrite of the page.
    pub rounds: f64,
    /// Years until the drive is worn out.
    pub years: f64,
}

/// Effect of another GB of cache.
#[derive(Clone, Debug, Serialize)]
pub struct MoreCache {
    /// Reads that the additional cache saves, in percent of all reads.
    pub reads_saved_percent: f64,
    /// Years that the additional cache adds under each technique, in the order of the techniques,
    /// if reads alone wear the drive. Null if the cache then holds the whole model.
    pub years_added: Option<Vec<f64>>,
}

impl Llm {
    /// Gathers the answer. `plan` is the plan of one of the techniques, and `of_block` the plan of
    /// the technique `block`.
    ///
    /// # Errors
    /// Returns the errors of the workload.
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
        Ok(Self {
            drive: plan.drive.name.clone(),
            workload: plan.workload.name(),
            model_bytes,
            cache_bytes: config.cache.0,
            tokens_per_second: config.tokens_per_second,
            hours_per_day: hours,
            bytes_per_token: law.bytes_per_token(),
            read_bytes_per_second: rate,
            reads_of_a_page_per_day: reads * 86_400.0 / (model_bytes as f64 / page),
            thresholds: of_block.map(at_thresholds).transpose()?.unwrap_or_default(),
            real_drives: REAL_ROUNDS
                .map(|rounds| AtRounds {
                    rounds,
                    years: estimate::years_at_rounds(plan, reads, rounds),
                })
                .to_vec(),
            another_gb_of_cache: more_cache(plan, &law, &techniques)?,
            techniques,
        })
    }
}

impl Technique {
    /// Gathers the results of a technique's simulated lives.
    pub fn simulated(plan: &RunPlan, law: &ModelLaw, life: &Life) -> Self {
        let days = life.years.mean * DAYS;
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let rounds = |written: f64| rounds(plan, law, written);
        let read_bytes_per_day = law.read_bytes_per_s() * 86_400.0;
        let (fresh, worn) = ends(life, read_bytes_per_day);
        let cycles = life.pec_mean.mean - life.pec_first;
        let by_drive = life.flash_bytes_written.mean - life.host_bytes_written.mean;
        let read = read_bytes_per_day * days;
        let written = (read > 0.0).then(|| 100.0 * by_drive / read);
        let programs = life.flash_bytes_written.mean / page / (days * 86_400.0);
        Self {
            label: life.label.clone(),
            years: life.years.mean,
            years_interval: life.interval.map(|interval| (interval.low, interval.high)).or_else(
                || {
                    let half = life.years.ci95?;
                    Some(((life.years.mean - half).max(0.0), life.years.mean + half))
                },
            ),
            worn_out: life.worn_out,
            estimated_within: None,
            data_lost_pages: Some(life.data_lost_pages),
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
        }
    }
}

impl Technique {
    /// Gathers the results of a technique from an estimate of its life; `None` if the drive never
    /// wears out.
    pub fn estimated(plan: &RunPlan, law: &ModelLaw, estimate: &Estimate) -> Option<Self> {
        let years = estimate.life_years?;
        let days = years * DAYS;
        let cycles = estimate.cycles_by_host + estimate.cycles_by_reads + estimate.cycles_by_age;
        let page = plan.drive.config.geometry.page_size.0 as f64;
        let of_cycle = estimate::pages_of_drive(plan) * page;
        let read = law.read_bytes_per_s() * 86_400.0 * days;
        let by_drive = cycles * of_cycle - estimate.host_bytes.unwrap_or(0.0);
        let written = (read > 0.0).then(|| 100.0 * by_drive / read);
        let programs = cycles * of_cycle / page / (days * 86_400.0);
        Some(Self {
            label: plan.reclaim.name.into(),
            years,
            years_interval: Some((
                years * (1.0 - estimate.within),
                years * (1.0 + estimate.within),
            )),
            worn_out: true,
            estimated_within: Some(estimate.within),
            data_lost_pages: None,
            rounds_per_rewrite: written.and_then(|written| rounds(plan, law, written)),
            rounds_per_rewrite_fresh: None,
            rounds_per_rewrite_worn: None,
            written_per_100_read: written,
            written_per_100_read_fresh: None,
            written_per_100_read_worn: None,
            read_wear: None,
            flash_bytes_per_day: cycles * of_cycle / days,
            endurance_percent_per_year: 100.0 * cycles
                / f64::from(plan.drive.config.drive.rated_pec)
                / years,
            slow_reads_at_most: (programs * us_per_page(plan) / 1e6 / dies(plan)).min(1.0),
        })
    }
}

/// Returns the reads of a page for each page that the drive writes, if it writes this many bytes
/// for each 100 that the host reads. A read of a page may ask for only a part of it.
fn rounds(plan: &RunPlan, law: &ModelLaw, written: f64) -> Option<f64> {
    let page = plan.drive.config.geometry.page_size.0 as f64;
    let pages_per_byte = law.page_reads_per_s() / law.read_bytes_per_s();
    (written > 0.0).then(|| 100.0 * pages_per_byte * page / written)
}

/// Returns the bytes that the drive writes by itself for each 100 bytes read, in the first and in
/// the last eighth of a life. Programs of a part of the life are in proportion to its P/E cycles.
fn ends(life: &Life, read_bytes_per_day: f64) -> (Option<f64>, Option<f64>) {
    let rows = &life.series;
    let cycles = life.pec_mean.mean - life.pec_first;
    let step = rows.len().saturating_sub(1) / EIGHTH;
    if step == 0 || cycles <= 0.0 {
        return (None, None);
    }
    let by_drive = |row: usize| {
        let row = &rows[row];
        let bytes = life.flash_bytes_written.mean * (row.pec_mean - life.pec_first) / cycles;
        bytes * (1.0 - row.consumed_host.unwrap_or(0.0))
    };
    let between = |from: usize, to: usize| {
        let read = (rows[to].years - rows[from].years) * DAYS * read_bytes_per_day;
        (read > 0.0).then(|| 100.0 * (by_drive(to) - by_drive(from)) / read)
    };
    let last = rows.len() - 1;
    (between(0, step), between(last - step, last))
}

/// Returns the time of a page's program plus its share of an erase, in microseconds.
fn us_per_page(plan: &RunPlan) -> f64 {
    let config = &plan.drive.config;
    let pages = f64::from(Geometry::new(config).pages_per_block);
    config.program_us_per_page() + config.timing.longest_erase_us() / pages
}

/// Number of dies of the whole drive.
fn dies(plan: &RunPlan) -> f64 {
    let config = &plan.drive.config;
    f64::from(config.part_of.as_ref().map_or(Geometry::new(config).dies(), |whole| whole.dies))
}

/// Returns the life under `block` at half and at twice its thresholds.
fn at_thresholds(plan: &RunPlan) -> Result<Vec<AtThreshold>, Failure> {
    let mut all = vec![];
    for factor in [0.5, 2.0] {
        if let Ok(estimate) = estimate::with_thresholds(plan, factor)?
            && let Some(years) = estimate.life_years
        {
            all.push(AtThreshold { factor, years });
        }
    }
    Ok(all)
}

fn more_cache(
    plan: &RunPlan,
    law: &ModelLaw,
    techniques: &[Technique],
) -> Result<MoreCache, Failure> {
    let more = plan.model_law_with_cache(GB)?;
    let ratio = more.bytes_per_token() / law.bytes_per_token();
    let added = |technique: &Technique| technique.years * (1.0 / ratio - 1.0);
    let years_added = (ratio > 0.0).then(|| techniques.iter().map(added).collect());
    Ok(MoreCache { reads_saved_percent: 100.0 * (1.0 - ratio), years_added })
}
