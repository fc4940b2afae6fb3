//! Groups of runs in a recipe: the techniques, workloads and variants, the lengths of the runs, and
//! values for keys of the drive.
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;

use super::periods::Periods;
use super::span::Span;
use crate::failure::Failure;
use crate::samples::Samples;
use crate::setup::Gear;

/// Group of runs: each technique runs with each workload and each variant.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) gear: GroupGear,
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques that figures compare. If this list is not empty, `reclaim` must name
    /// exactly one technique.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques that figures compare. If this list is not empty, `reclaim` must name
    /// exactly one technique, and `refresh` at most one.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Names of the workloads. An empty list means all workloads.
    #[serde(default)]
    pub(super) workloads: Vec<String>,
    /// Values for keys of the drive. The values apply only in this group.
    #[serde(default)]
    pub(super) set: Vec<String>,
    #[serde(rename = "variant")]
    pub(super) variants: Vec<Variant>,
    /// Number of P/E cycles, per block of the read-active set, after which the counted part of a
    /// run ends. The number includes erases by reclaim and erases by GC.
    ///
    /// A run that does not reach this number ends after `reads_per_block` reads per block. Runs
    /// with `cycles` differ in length, so figures must divide counts by the number of host requests
    /// (`share_of`).
    pub(super) cycles: Option<f64>,
    /// Number of P/E cycles after which the warm-up ends. A warm-up that does not reach this number
    /// ends after `warm_up_reads_per_block` reads per block.
    pub(super) warm_up_cycles: Option<f64>,
    #[serde(default)]
    pub(super) wear: GroupWear,
    /// Number of blocks in the read-active set. The set begins at the first address, and the host
    /// reads only addresses in this set. Default: all blocks that the host's capacity fills.
    pub(super) blocks: Option<u32>,
    /// Mean number of host reads per block of the read-active set, after the warm-up.
    #[serde(default)]
    pub(super) reads_per_block: f64,
    /// Mean number of host reads per block of the read-active set, in the warm-up.
    #[serde(default)]
    pub(super) warm_up_reads_per_block: f64,
    /// Whether each block starts with a random read count. The counts lie below the first threshold
    /// of the run's technique.
    #[serde(default)]
    pub(super) out_of_phase: bool,
    /// Largest random read count at the start, as a share of the technique's first threshold. With
    /// a share below 1, no block starts at the threshold. A block that gets only few reads during a
    /// run therefore stays below the threshold.
    #[serde(default = "most_of_the_way")]
    pub(super) phases: f64,
    /// Share of time for which the host's requests keep the dies busy. The request rate is
    /// constant. Default: a closed loop with a constant queue depth.
    pub(super) load: Option<f64>,
    /// Number of requests per second. A group can have `rate` instead of `load`.
    pub(super) rate: Option<f64>,
    /// Number of counted passes over each workload, for runs on a whole drive. The counted passes
    /// come after the `warm_up_passes`. By default, each workload has its own number.
    pub(super) passes: Option<f64>,
    pub(super) warm_up_passes: Option<f64>,
    /// Settings of a group in which some refresh periods pass before the counted requests, so that
    /// the data is old. A group with `periods` cannot have passes or `reads_per_block`.
    pub(super) periods: Option<Periods>,
    /// Settings of a group whose drives are read for many days at a low rate. A group with a span
    /// cannot have passes or `reads_per_block`.
    pub(super) span: Option<Span>,
    /// Disjoint samples of the drive. Runs in the fluid gear simulate only these samples. Each
    /// sample has one page in N; "4/104" means four samples with N = 104. A variant can have its
    /// own samples.
    pub(super) sample: Option<Samples>,
    /// Number of consecutive seeds for each run. Figures use the mean over these seeds.
    pub(super) seeds: Option<NonZeroU32>,
    /// Whether to repeat the counted part until the rates settle. There are two rates for each
    /// cause: programs per host page, and erases per host page.
    #[serde(default)]
    pub(super) until_stable: bool,
    #[serde(default)]
    pub(super) oracle: bool,
}

/// Returns the default of `phases`.
fn most_of_the_way() -> f64 {
    0.95
}

impl Group {
    /// Returns whether a run or a warm-up of this group ends after a number of P/E cycles.
    pub(super) fn goes_by_cycles(&self) -> bool {
        self.cycles.is_some() || self.warm_up_cycles.is_some()
    }

    /// Returns the kind of the techniques that the figures of this group compare: reclaim, refresh
    /// or parity.
    pub(super) fn slot(&self) -> &'static str {
        match (self.parity.is_empty(), self.refresh.is_empty()) {
            (false, _) => "parity",
            (true, false) => "refresh",
            (true, true) => "reclaim",
        }
    }

    /// Returns whether the runs of this group measure the stages of page reads.
    pub(super) fn has_stages(&self) -> bool {
        self.periods.as_ref().is_some_and(|periods| periods.stages)
    }

    fn is_fluid(&self) -> bool {
        matches!(self.gear, GroupGear::Fluid)
    }

    fn is_sampled(&self) -> bool {
        self.sample.is_some() || self.variants.iter().any(|variant| variant.sample.is_some())
    }

    /// Returns whether a variant of this group has this name.
    pub(super) fn has_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| variant.name == name)
    }

    /// Checks that the settings of this group fit together.
    ///
    /// # Errors
    /// Returns an error if two settings exclude each other.
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
            "`periods` needs `refresh`, and cannot be used with `blocks`, `cycles` or \
             `until_stable`"
        } else if self.span.is_some()
            && (self.goes_by_cycles()
                || self.blocks.is_some()
                || self.until_stable
                || self.periods.is_some())
        {
            "`span` cannot be used with `blocks`, `cycles`, `until_stable` or `periods`"
        } else if self.is_fluid() != self.is_sampled() || self.is_fluid() && self.span.is_none() {
            "`gear = \"fluid\"` needs `span` and `sample`; `sample` is only for `gear = \"fluid\"`"
        } else {
            self.span.as_ref().map_or(Ok(()), |span| self.check_span(span))?;
            return self.periods.as_ref().map_or(Ok(()), |periods| self.check_periods(periods));
        };
        Err(Failure::usage(format!("group {}: {wrong}", self.name)))
    }

    /// Checks the span of this group.
    ///
    /// # Errors
    /// Returns an error if a value is out of range, or if two settings exclude each other.
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
            "a `window` is needed in the timed gear, and is not possible in other gears"
        } else if has_load || self.rate.is_some() || self.passes.is_some() {
            "the rate of a span follows from its days and its reads per page, so leave out `load`, \
             `rate` and `passes`"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: span: {wrong}", self.name)))
    }

    /// Checks the periods of this group.
    ///
    /// # Errors
    /// Returns an error if a value is out of range, or if two settings exclude each other.
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
            "`reads` needs exactly one of `queue_depth` and `load`; the `load` may be given in the \
             group or in each variant"
        } else if periods.queue_depth.is_some() && periods.read_share.is_none() {
            "`queue_depth` needs `read_share`: in a closed loop, updates at a fixed rate would \
             have no fixed share of the requests"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: periods: {wrong}", self.name)))
    }

    /// Checks the table `own` of each variant. Each key of the table must name a technique that
    /// runs in this variant.
    ///
    /// # Errors
    /// Returns an error if a technique is unknown.
    pub(super) fn check_own(&self) -> Result<(), Failure> {
        for variant in &self.variants {
            let (slot, group, own) = match self.slot() {
                "parity" => ("parity", &self.parity, &variant.parity),
                "refresh" => ("refresh", &self.refresh, &variant.refresh),
                _ => ("reclaim", &self.reclaim, &variant.reclaim),
            };
            let names = if own.is_empty() { group } else { own };
            if let Some(name) = variant.own.keys().find(|name| !names.contains(name)) {
                let unknown = crate::suggest::unknown(
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

    /// Checks the limits of reads. A group with a number of P/E cycles must also have a limit of
    /// reads.
    ///
    /// # Errors
    /// Returns an error if the limit of reads is missing.
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
                "group {}: a run might never reach `{key}`; set `{cap}` to limit the length of the \
                 run",
                self.name
            )))
        })
    }
}

/// Whether wear changes the read limits during the runs of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroupWear {
    /// The read limits change with wear, according to the disturb table.
    #[default]
    Counts,
    /// The read limits stay at the values for `start.pec`. No other row of the disturb table is
    /// used.
    Frozen,
}

/// Gear of a group.
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

/// Variant of a group, with other values for keys of the drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) name: String,
    /// Reclaim techniques of this variant. An empty list means the group's techniques.
    #[serde(default)]
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques of this variant. An empty list means the group's techniques.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques of this variant. An empty list means the group's techniques.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Drive of this variant, as a preset or a file. Default: the recipe's drive.
    pub(super) drive: Option<String>,
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// Values for keys of the drive. The values apply only to one technique, and are stored under
    /// the name of this technique.
    #[serde(default)]
    pub(super) own: BTreeMap<String, Vec<String>>,
    /// Name of a file in the folder of the recipe. The file has the host's hints, in the format of
    /// files for the option `--hints`.
    pub(super) hints: Option<String>,
    /// Number of reads per page in this variant. This number replaces the number in the group's
    /// span.
    pub(super) reads_per_page: Option<f64>,
    /// Samples of this variant. They replace the group's samples.
    pub(super) sample: Option<Samples>,
    /// Load of this variant. This load replaces the group's load.
    pub(super) load: Option<f64>,
}
