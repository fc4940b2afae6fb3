//! Groups of a recipe: the runs, their lengths, and values for keys of the drive.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;
use vpass_lab::failure::Failure;
use vpass_lab::setup::Gear;

use super::periods::Periods;
use super::span::Span;
use crate::args::Samples;

/// Runs of each technique with each workload and variant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) gear: GroupGear,
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques. If there are any, figures compare them, and `reclaim` names one
    /// technique.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques. If there are any, figures compare them; `reclaim` names one technique,
    /// and `refresh` at most one.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Names of workloads; all if empty.
    #[serde(default)]
    pub(super) workloads: Vec<String>,
    /// Other values for keys of the drive, in this group.
    #[serde(default)]
    pub(super) set: Vec<String>,
    #[serde(rename = "variant")]
    pub(super) variants: Vec<Variant>,
    /// Counted cycles. The counted part ends when the erases of reclaim and GC reach this number
    /// per block that is read. These are the `blocks`, or the blocks that the host's capacity
    /// fills. `reads_per_block` is then the limit of a run. Runs differ in length, so figures
    /// divide counts by the host's requests (`share_of`).
    #[serde(default)]
    pub(super) cycles: Option<f64>,
    /// Cycles of the warm-up, with the limit `warm_up_reads_per_block`.
    #[serde(default)]
    pub(super) warm_up_cycles: Option<f64>,
    #[serde(default)]
    pub(super) wear: GroupWear,
    /// Size of the read-active set, in blocks from the start of the host's capacity. Default: the
    /// whole drive.
    #[serde(default)]
    pub(super) blocks: Option<u32>,
    /// Counted host reads per block of the set, on average.
    #[serde(default)]
    pub(super) reads_per_block: f64,
    /// Host reads per block in the warm-up, on average.
    #[serde(default)]
    pub(super) warm_up_reads_per_block: f64,
    /// Whether blocks start with random read counts, up to the first threshold of the run's
    /// technique.
    #[serde(default)]
    pub(super) out_of_phase: bool,
    /// Largest start count, as a share of that threshold. Below 1, no block starts at its last
    /// reads, and blocks with few reads never reach the threshold.
    #[serde(default = "most_of_the_way")]
    pub(super) phases: f64,
    /// Share of the dies' time that the host's requests take, at a constant rate. Default: a closed
    /// loop.
    #[serde(default)]
    pub(super) load: Option<f64>,
    /// Requests per second, instead of `load`.
    #[serde(default)]
    pub(super) rate: Option<f64>,
    /// Passes on a whole drive, instead of each workload's own. `warm_up_passes` run before them.
    #[serde(default)]
    pub(super) passes: Option<f64>,
    #[serde(default)]
    pub(super) warm_up_passes: Option<f64>,
    /// Periods in which data ages before the count, instead of passes and amounts.
    #[serde(default)]
    pub(super) periods: Option<Periods>,
    /// Span with its days and reads per page, instead of passes and amounts.
    #[serde(default)]
    pub(super) span: Option<Span>,
    /// Disjoint samples of one page in N, such as "4/104"; for the fluid gear. A variant may have
    /// its own.
    #[serde(default)]
    pub(super) sample: Option<Samples>,
    /// Number of consecutive seeds for each run; figures use their mean.
    #[serde(default)]
    pub(super) seeds: Option<NonZeroU32>,
    /// Whether to repeat the counted part until programs and erases per host page, by cause,
    /// settle.
    #[serde(default)]
    pub(super) until_stable: bool,
    #[serde(default)]
    pub(super) oracle: bool,
}

/// Default of `phases`.
fn most_of_the_way() -> f64 {
    0.95
}

impl Group {
    /// Returns whether its runs or warm-ups end by cycles.
    pub(super) fn goes_by_cycles(&self) -> bool {
        self.cycles.is_some() || self.warm_up_cycles.is_some()
    }

    /// Returns the slot whose techniques distinguish its runs.
    pub(super) fn slot(&self) -> &'static str {
        match (self.parity.is_empty(), self.refresh.is_empty()) {
            (false, _) => "parity",
            (true, false) => "refresh",
            (true, true) => "reclaim",
        }
    }

    /// Returns whether its runs measure the stages of page reads.
    pub(super) fn has_stages(&self) -> bool {
        self.periods.as_ref().is_some_and(|periods| periods.stages)
    }

    fn is_fluid(&self) -> bool {
        matches!(self.gear, GroupGear::Fluid)
    }

    fn is_sampled(&self) -> bool {
        self.sample.is_some() || self.variants.iter().any(|variant| variant.sample.is_some())
    }

    /// Returns whether a variant has this name.
    pub(super) fn has_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| variant.name == name)
    }

    /// Checks that its settings fit together.
    ///
    /// # Errors
    /// Reports settings that exclude each other.
    pub(super) fn check_parts(&self) -> Result<(), Failure> {
        let wrong = if !self.refresh.is_empty() && self.reclaim.len() != 1 {
            "with `refresh`, `reclaim` must name one technique"
        } else if !self.parity.is_empty() && (self.reclaim.len() != 1 || self.refresh.len() > 1) {
            "with `parity`, `reclaim` must name one technique, and `refresh` at most one"
        } else if !self.parity.is_empty() && (self.is_fluid() || self.is_sampled()) {
            "with `parity`, `gear = \"fluid\"` and `sample` are not possible, because stripes lie \
             on all dies"
        } else if self.has_stages() && (self.oracle || matches!(self.gear, GroupGear::Untimed)) {
            "`stages` needs the timed gear, without `oracle`"
        } else if self.periods.is_some()
            && (self.goes_by_cycles()
                || self.blocks.is_some()
                || self.until_stable
                || self.refresh.is_empty())
        {
            "`periods` needs `refresh`, and excludes `blocks`, `cycles` and `until_stable`"
        } else if self.span.is_some()
            && (self.goes_by_cycles()
                || self.blocks.is_some()
                || self.until_stable
                || self.periods.is_some())
        {
            "`span` excludes `blocks`, `cycles`, `until_stable` and `periods`"
        } else if self.is_fluid() != self.is_sampled() || self.is_fluid() && self.span.is_none() {
            "`gear = \"fluid\"` needs `span` and `sample`, and `sample` needs `gear = \"fluid\"`"
        } else {
            self.span.as_ref().map_or(Ok(()), |span| self.check_span(span))?;
            return self.periods.as_ref().map_or(Ok(()), |periods| self.check_periods(periods));
        };
        Err(Failure::usage(format!("group {}: {wrong}", self.name)))
    }

    /// Checks its span.
    ///
    /// # Errors
    /// Reports values out of range, and settings that exclude each other.
    fn check_span(&self, span: &Span) -> Result<(), Failure> {
        let of_variants = self.variants.iter().filter_map(|variant| variant.reads_per_page);
        let amounts = of_variants
            .chain([span.days, span.reads_per_page])
            .chain(span.window.iter().map(|w| w.load));
        let has_load =
            self.load.is_some() || self.variants.iter().any(|variant| variant.load.is_some());
        let wrong = if amounts.into_iter().any(|amount| !(amount > 0.0 && amount.is_finite())) {
            "amounts above 0 are expected"
        } else if span.window.as_ref().is_some_and(|window| window.reads == 0) {
            "a window of at least 1 read is expected"
        } else if span.window.is_some() != self.gear.is_timed() {
            "the timed gear needs a `window`, and other gears have none"
        } else if has_load || self.rate.is_some() || self.passes.is_some() {
            "its days and reads per page set the rate, so leave out `load`, `rate` and `passes`"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: span: {wrong}", self.name)))
    }

    /// Checks its periods.
    ///
    /// # Errors
    /// Reports values out of range, and settings that exclude each other.
    fn check_periods(&self, periods: &Periods) -> Result<(), Failure> {
        let has_load =
            self.load.is_some() || self.variants.iter().all(|variant| variant.load.is_some());
        let amounts = [
            Some(periods.before),
            Some(periods.updates),
            periods.reads.map(|n| n as f64),
            periods.counted,
        ];
        let wrong = if amounts.into_iter().flatten().any(|amount| amount.is_nan() || amount <= 0.0)
        {
            "amounts above 0 are expected"
        } else if periods.reads.is_some() == periods.counted.is_some() {
            "either `reads` or `counted` is expected"
        } else if periods.read_share.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            "`read_share` must be above 0 and at most 1"
        } else if periods.reads.is_some() && has_load == periods.queue_depth.is_some() {
            "with `reads`, either `queue_depth` or a `load` of the group or of each variant is \
             expected"
        } else if periods.queue_depth.is_some() && periods.read_share.is_none() {
            "with `queue_depth`, `read_share` is expected, because updates at a fixed rate are not \
             a fixed share of a closed loop"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: periods: {wrong}", self.name)))
    }

    /// Checks that keys for one technique name a technique that runs.
    ///
    /// # Errors
    /// Reports an unknown technique.
    pub(super) fn check_own(&self) -> Result<(), Failure> {
        for variant in &self.variants {
            let (slot, group, own) = match self.slot() {
                "parity" => ("parity", &self.parity, &variant.parity),
                "refresh" => ("refresh", &self.refresh, &variant.refresh),
                _ => ("reclaim", &self.reclaim, &variant.reclaim),
            };
            let names = if own.is_empty() { group } else { own };
            if let Some(name) = variant.own.keys().find(|name| !names.contains(name)) {
                let unknown = vpass_lab::suggest::unknown(
                    &format!("{slot} technique"),
                    name,
                    names.iter().map(String::as_str),
                );
                return Err(Failure::usage(format!(
                    "group {}, variant {}: `own`: {unknown}",
                    self.name, variant.name
                )));
            }
        }
        Ok(())
    }

    /// Checks that a run that ends by cycles also has a limit.
    ///
    /// # Errors
    /// Reports a missing limit.
    pub(super) fn check_cycles(&self) -> Result<(), Failure> {
        let caps = [
            ("cycles", self.cycles, "reads_per_block", self.reads_per_block),
            (
                "warm_up_cycles",
                self.warm_up_cycles,
                "warm_up_reads_per_block",
                self.warm_up_reads_per_block,
            ),
        ];
        let missing =
            caps.into_iter().find(|(_, cycles, _, most)| cycles.is_some() && *most <= 0.0);
        missing.map_or(Ok(()), |(key, _, cap, _)| {
            Err(Failure::usage(format!(
                "group {}: `{key}` may never be reached, so a limit is needed; give `{cap}`",
                self.name
            )))
        })
    }
}

/// Effect of wear on the limits during a group's runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroupWear {
    /// Limits follow the disturb table.
    #[default]
    Counts,
    /// Limits stay those of `start.pec`; the disturb table keeps only that row.
    Frozen,
}

/// The gear of a group.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroupGear {
    Timed,
    Untimed,
    Fluid,
}

impl GroupGear {
    pub(super) fn is_timed(self) -> bool {
        matches!(self, Self::Timed)
    }
}

impl From<GroupGear> for Gear {
    fn from(gear: GroupGear) -> Self {
        match gear {
            GroupGear::Timed => Self::Timed,
            GroupGear::Untimed => Self::Untimed,
            GroupGear::Fluid => Self::Fluid,
        }
    }
}

/// Other values for keys of the drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) name: String,
    /// Reclaim techniques instead of the group's, if any are given.
    #[serde(default)]
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques instead of the group's, if any are given.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques instead of the group's, if any are given.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Preset or file instead of the recipe's drive.
    #[serde(default)]
    pub(super) drive: Option<String>,
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// Further values for the runs of one technique, by its name.
    #[serde(default)]
    pub(super) own: BTreeMap<String, Vec<String>>,
    /// Host hints: a file as for `--hints`, beside the recipe.
    #[serde(default)]
    pub(super) hints: Option<String>,
    /// Reads per page instead of the span's.
    #[serde(default)]
    pub(super) reads_per_page: Option<f64>,
    /// Samples instead of the group's.
    #[serde(default)]
    pub(super) sample: Option<Samples>,
    /// Load instead of the group's.
    #[serde(default)]
    pub(super) load: Option<f64>,
}
