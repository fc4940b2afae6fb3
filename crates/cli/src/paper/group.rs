//! Groups of a recipe: what is run, as often, and with which values of the drive's keys.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;
use vpass_lab::failure::Failure;
use vpass_lab::setup::Gear;

use super::periods::Periods;
use super::span::Span;
use crate::args::Samples;

/// Runs that differ in technique, workload and variant only: each with each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) gear: GroupGear,
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques. Where there are any, figures go by them and `reclaim` names one
    /// technique.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques. Where there are any, figures go by them, and `reclaim` and `refresh` name
    /// one technique each at the most.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Names; all where empty.
    #[serde(default)]
    pub(super) workloads: Vec<String>,
    /// Other values for keys of the drive, in this group.
    #[serde(default)]
    pub(super) set: Vec<String>,
    #[serde(rename = "variant")]
    pub(super) variants: Vec<Variant>,
    /// The part that counts ends when the drive's own erases, those of reclaim and GC, have gone so
    /// many times round the blocks that are read: the set of `blocks`, or as many as the host's
    /// capacity fills. `reads_per_block` is then the most that a run may take, and figures divide
    /// counts by what the host asked for (`share_of`), because runs differ in length.
    #[serde(default)]
    pub(super) cycles: Option<f64>,
    /// The same of what is not counted, with `warm_up_reads_per_block`.
    #[serde(default)]
    pub(super) warm_up_cycles: Option<f64>,
    #[serde(default)]
    pub(super) wear: GroupWear,
    /// The read-active set: so many blocks from the start of the host's capacity; the whole drive
    /// where absent.
    #[serde(default)]
    pub(super) blocks: Option<u32>,
    /// Host reads of each of these blocks, in the mean, that are counted.
    #[serde(default)]
    pub(super) reads_per_block: f64,
    /// The same before anything is counted.
    #[serde(default)]
    pub(super) warm_up_reads_per_block: f64,
    /// Whether blocks begin at random in the cycle of a run's technique: up to the first of its
    /// thresholds.
    #[serde(default)]
    pub(super) out_of_phase: bool,
    /// How far towards that threshold they begin at most: what is left keeps a block from its last
    /// reads before anything runs, and keeps blocks that are hardly read from ever reaching it.
    #[serde(default = "most_of_the_way")]
    pub(super) phases: f64,
    /// Share of the dies' time that the host's reads and writes take, at an even load; a closed
    /// loop where absent.
    #[serde(default)]
    pub(super) load: Option<f64>,
    /// Requests a second, instead of `load`.
    #[serde(default)]
    pub(super) rate: Option<f64>,
    /// On a whole drive: passes instead of each workload's own.
    #[serde(default)]
    pub(super) passes: Option<f64>,
    #[serde(default)]
    pub(super) warm_up_passes: Option<f64>,
    /// In the place of passes and amounts: data that ages before anything counts.
    #[serde(default)]
    pub(super) periods: Option<Periods>,
    /// In the place of passes and amounts: so many reads of each page in so many days.
    #[serde(default)]
    pub(super) span: Option<Span>,
    /// Fluid gear: so many disjoint samples of one page in N, such as "4/104"; a variant may have
    /// its own.
    #[serde(default)]
    pub(super) sample: Option<Samples>,
    /// Runs of each kind, with seeds one after the other; figures take their mean.
    #[serde(default)]
    pub(super) seeds: Option<NonZeroU32>,
    /// Repeats what is counted until programs and erases per host page, by cause, no longer change.
    #[serde(default)]
    pub(super) until_stable: bool,
    #[serde(default)]
    pub(super) oracle: bool,
}

/// Share of a cycle.
fn most_of_the_way() -> f64 {
    0.95
}

impl Group {
    /// Whether its runs end by cycles of their blocks, or warm up so.
    pub(super) fn goes_by_cycles(&self) -> bool {
        self.cycles.is_some() || self.warm_up_cycles.is_some()
    }

    /// What its runs are told apart by.
    pub(super) fn slot(&self) -> &'static str {
        match (self.parity.is_empty(), self.refresh.is_empty()) {
            (false, _) => "parity",
            (true, false) => "refresh",
            (true, true) => "reclaim",
        }
    }

    /// Whether the page reads of its runs are taken apart.
    pub(super) fn has_stages(&self) -> bool {
        self.periods.as_ref().is_some_and(|periods| periods.stages)
    }

    fn is_fluid(&self) -> bool {
        matches!(self.gear, GroupGear::Fluid)
    }

    fn is_sampled(&self) -> bool {
        self.sample.is_some() || self.variants.iter().any(|variant| variant.sample.is_some())
    }

    /// Whether a variant has this name.
    pub(super) fn has_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| variant.name == name)
    }

    /// Checks what does not go together.
    ///
    /// # Errors
    /// That it does not.
    pub(super) fn check_parts(&self) -> Result<(), Failure> {
        let wrong = if !self.refresh.is_empty() && self.reclaim.len() != 1 {
            "`refresh` is given: one technique of `reclaim` is expected"
        } else if !self.parity.is_empty() && (self.reclaim.len() != 1 || self.refresh.len() > 1) {
            "`parity` is given: one technique of `reclaim`, and one of `refresh` at the most, is \
             expected"
        } else if !self.parity.is_empty() && (self.is_fluid() || self.is_sampled()) {
            "`parity` is expected without `gear = \"fluid\"` and `sample`: its stripes lie on all \
             dies"
        } else if self.has_stages() && (self.oracle || matches!(self.gear, GroupGear::Untimed)) {
            "`stages` is for the timed gear, without `oracle`"
        } else if self.periods.is_some()
            && (self.goes_by_cycles()
                || self.blocks.is_some()
                || self.until_stable
                || self.refresh.is_empty())
        {
            "`periods` is expected beside `refresh`, and without `blocks`, `cycles` and \
             `until_stable`"
        } else if self.span.is_some()
            && (self.goes_by_cycles()
                || self.blocks.is_some()
                || self.until_stable
                || self.periods.is_some())
        {
            "`span` is expected without `blocks`, `cycles`, `until_stable` and `periods`"
        } else if self.is_fluid() != self.is_sampled() || self.is_fluid() && self.span.is_none() {
            "`gear = \"fluid\"` is expected beside `span` and `sample`, and `sample` nowhere else"
        } else {
            self.span.as_ref().map_or(Ok(()), |span| self.check_span(span))?;
            return self.periods.as_ref().map_or(Ok(()), |periods| self.check_periods(periods));
        };
        Err(Failure::usage(format!("group {}: {wrong}", self.name)))
    }

    /// Checks what it says of its span.
    ///
    /// # Errors
    /// What cannot be, or does not go together.
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
            "a window of 1 read or more is expected"
        } else if span.window.is_some() != self.gear.is_timed() {
            "a `window` is expected in the timed gear, and nowhere else"
        } else if has_load || self.rate.is_some() || self.passes.is_some() {
            "its days and reads a page are its rate; `load`, `rate` and `passes` are not expected \
             beside them"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: span: {wrong}", self.name)))
    }

    /// Checks what it says of its periods.
    ///
    /// # Errors
    /// What cannot be, or does not go together.
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
            "`read_share` is expected to be above 0 and at most 1"
        } else if periods.reads.is_some() && has_load == periods.queue_depth.is_some() {
            "with `reads`, either a `load`, of the group or of each variant, or `queue_depth` is \
             expected"
        } else if periods.queue_depth.is_some() && periods.read_share.is_none() {
            "with `queue_depth`, `read_share` is expected: updates that go on by a clock have no \
             share of what has none"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("group {}: periods: {wrong}", self.name)))
    }

    /// Checks that keys of a technique's own are of one that runs.
    ///
    /// # Errors
    /// None of this name does.
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

    /// Checks that what ends by cycles ends in any case.
    ///
    /// # Errors
    /// A missing cap.
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
                "group {}: `{key}` may never be reached; `{cap}` is expected, the most that a run \
                 may take",
                self.name
            )))
        })
    }
}

/// Whether limits fall while a group's runs wear their drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GroupWear {
    /// As the disturb table has it.
    #[default]
    Counts,
    /// Limits stay those of `start.pec`: of the disturb table only the row there is kept.
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
    /// Techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Parity techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(super) parity: Vec<String>,
    /// Preset or file in the place of the recipe's drive.
    #[serde(default)]
    pub(super) drive: Option<String>,
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// More of them for the runs of one technique, by its name.
    #[serde(default)]
    pub(super) own: BTreeMap<String, Vec<String>>,
    /// What the host says of how slow reads of its data may be: a file as `--hints` takes it,
    /// beside the recipe.
    #[serde(default)]
    pub(super) hints: Option<String>,
    /// In the place of the span's.
    #[serde(default)]
    pub(super) reads_per_page: Option<f64>,
    /// In the place of the group's.
    #[serde(default)]
    pub(super) sample: Option<Samples>,
    /// In the place of the group's.
    #[serde(default)]
    pub(super) load: Option<f64>,
}
