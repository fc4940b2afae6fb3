//! Groups of a recipe: what is run, as often, and with which values of the drive's keys.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;
use vpass_lab::failure::Failure;
use vpass_lab::setup::Gear;

use crate::args::Samples;
use crate::paper::periods::Periods;
use crate::paper::span::Span;

/// Runs that differ in technique, workload and variant only: each with each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct Group {
    pub(in crate::paper) name: String,
    pub(in crate::paper) gear: GroupGear,
    pub(in crate::paper) reclaim: Vec<String>,
    /// Refresh techniques. Where there are any, figures go by them and `reclaim` names one technique.
    #[serde(default)]
    pub(in crate::paper) refresh: Vec<String>,
    /// Parity techniques. Where there are any, figures go by them, and `reclaim` and `refresh` name one technique each at the most.
    #[serde(default)]
    pub(in crate::paper) parity: Vec<String>,
    /// Names; all where empty.
    #[serde(default)]
    pub(in crate::paper) workloads: Vec<String>,
    /// Other values for keys of the drive, in this group.
    #[serde(default)]
    pub(in crate::paper) set: Vec<String>,
    #[serde(rename = "variant")]
    pub(in crate::paper) variants: Vec<Variant>,
    /// The part that counts ends when the drive's own erases, those of reclaim and GC, have gone so many times round the blocks that are
    /// read: the set of `blocks`, or as many as the host's capacity fills. `reads_per_block` is then the most that a run may take, and
    /// figures divide counts by what the host asked for (`share_of`), because runs differ in length.
    #[serde(default)]
    pub(in crate::paper) cycles: Option<f64>,
    /// The same of what is not counted, with `warm_up_reads_per_block`.
    #[serde(default)]
    pub(in crate::paper) warm_up_cycles: Option<f64>,
    #[serde(default)]
    pub(in crate::paper) wear: GroupWear,
    /// The read-active set: so many blocks from the start of the host's capacity; the whole drive where absent.
    #[serde(default)]
    pub(in crate::paper) blocks: Option<u32>,
    /// Host reads of each of these blocks, in the mean, that are counted.
    #[serde(default)]
    pub(in crate::paper) reads_per_block: f64,
    /// The same before anything is counted.
    #[serde(default)]
    pub(in crate::paper) warm_up_reads_per_block: f64,
    /// Whether blocks begin at random in the cycle of a run's technique: up to the first of its thresholds.
    #[serde(default)]
    pub(in crate::paper) out_of_phase: bool,
    /// How far towards that threshold they begin at most: what is left keeps a block from its last reads before anything runs, and
    /// keeps blocks that are hardly read from ever reaching it.
    #[serde(default = "most_of_the_way")]
    pub(in crate::paper) phases: f64,
    /// Share of the dies' time that the host's reads and writes take, at an even load; a closed loop where absent.
    #[serde(default)]
    pub(in crate::paper) load: Option<f64>,
    /// Requests a second, instead of `load`.
    #[serde(default)]
    pub(in crate::paper) rate: Option<f64>,
    /// On a whole drive: passes instead of each workload's own.
    #[serde(default)]
    pub(in crate::paper) passes: Option<f64>,
    #[serde(default)]
    pub(in crate::paper) warm_up_passes: Option<f64>,
    /// In the place of passes and amounts: data that ages before anything counts.
    #[serde(default)]
    pub(in crate::paper) periods: Option<Periods>,
    /// In the place of passes and amounts: so many reads of each page in so many days.
    #[serde(default)]
    pub(in crate::paper) span: Option<Span>,
    /// Fluid gear: so many disjoint samples of one page in N, such as "4/104"; a variant may have its own.
    #[serde(default)]
    pub(in crate::paper) sample: Option<Samples>,
    /// Runs of each kind, with seeds one after the other; figures take their mean.
    #[serde(default)]
    pub(in crate::paper) seeds: Option<NonZeroU32>,
    /// Repeats what is counted until programs and erases per host page, by cause, no longer change.
    #[serde(default)]
    pub(in crate::paper) until_stable: bool,
    #[serde(default)]
    pub(in crate::paper) oracle: bool,
}

/// Share of a cycle.
fn most_of_the_way() -> f64 {
    0.95
}

impl Group {
    /// Whether its runs end by cycles of their blocks, or warm up so.
    pub(in crate::paper) fn goes_by_cycles(&self) -> bool {
        self.cycles.is_some() || self.warm_up_cycles.is_some()
    }

    /// What its runs are told apart by.
    pub(in crate::paper) fn slot(&self) -> &'static str {
        match (self.parity.is_empty(), self.refresh.is_empty()) {
            (false, _) => "parity",
            (true, false) => "refresh",
            (true, true) => "reclaim",
        }
    }

    /// Whether the page reads of its runs are taken apart.
    pub(in crate::paper) fn has_stages(&self) -> bool {
        self.periods.as_ref().is_some_and(|periods| periods.stages)
    }

    fn is_fluid(&self) -> bool {
        matches!(self.gear, GroupGear::Fluid)
    }

    fn is_sampled(&self) -> bool {
        self.sample.is_some() || self.variants.iter().any(|variant| variant.sample.is_some())
    }

    /// Whether a variant has this name.
    pub(in crate::paper) fn has_variant(&self, name: &str) -> bool {
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
            "`parity` is given: one technique of `reclaim`, and one of `refresh` at the most, is expected"
        } else if !self.parity.is_empty() && (self.is_fluid() || self.is_sampled()) {
            "`parity` is expected without `gear = \"fluid\"` and `sample`: its stripes lie on all dies"
        } else if self.has_stages() && (self.oracle || matches!(self.gear, GroupGear::Untimed)) {
            "`stages` is for the timed gear, without `oracle`"
        } else if self.periods.is_some() && (self.goes_by_cycles() || self.blocks.is_some() || self.until_stable || self.refresh.is_empty())
        {
            "`periods` is expected beside `refresh`, and without `blocks`, `cycles` and `until_stable`"
        } else if self.span.is_some() && (self.goes_by_cycles() || self.blocks.is_some() || self.until_stable || self.periods.is_some()) {
            "`span` is expected without `blocks`, `cycles`, `until_stable` and `periods`"
        } else if self.is_fluid() != self.is_sampled() || self.is_fluid() && self.span.is_none() {
            "`gear = \"fluid\"` is expected beside `span` and `sample`, and `sample` nowhere else"
        } else {
            self.span.as_ref().map_or(Ok(()), |span| span.check(self))?;
            return self.periods.as_ref().map_or(Ok(()), |periods| periods.check(self));
        };
        Err(Failure::usage(format!("group {}: {wrong}", self.name)))
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
                let unknown = vpass_lab::suggest::unknown(&format!("{slot} technique"), name, names.iter().map(String::as_str));
                return Err(Failure::usage(format!("group {}, variant {}: `own`: {unknown}", self.name, variant.name)));
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
            ("warm_up_cycles", self.warm_up_cycles, "warm_up_reads_per_block", self.warm_up_reads_per_block),
        ];
        let missing = caps.into_iter().find(|(_, cycles, _, most)| cycles.is_some() && *most <= 0.0);
        missing.map_or(Ok(()), |(key, _, cap, _)| {
            Err(Failure::usage(format!(
                "group {}: `{key}` may never be reached; `{cap}` is expected, the most that a run may take",
                self.name
            )))
        })
    }
}

/// Whether limits fall while a group's runs wear their drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::paper) enum GroupWear {
    /// As the disturb table has it.
    #[default]
    Counts,
    /// Limits stay those of `start.pec`: of the disturb table only the row there is kept.
    Frozen,
}

/// The gear of a group.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::paper) enum GroupGear {
    Timed,
    Untimed,
    Fluid,
}

impl GroupGear {
    pub(in crate::paper) fn is_timed(self) -> bool {
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
pub(in crate::paper) struct Variant {
    pub(in crate::paper) name: String,
    /// Techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(in crate::paper) reclaim: Vec<String>,
    /// Refresh techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(in crate::paper) refresh: Vec<String>,
    /// Parity techniques in the place of the group's; the group's where empty.
    #[serde(default)]
    pub(in crate::paper) parity: Vec<String>,
    /// Preset or file in the place of the recipe's drive.
    #[serde(default)]
    pub(in crate::paper) drive: Option<String>,
    #[serde(default)]
    pub(in crate::paper) set: Vec<String>,
    /// More of them for the runs of one technique, by its name.
    #[serde(default)]
    pub(in crate::paper) own: BTreeMap<String, Vec<String>>,
    /// What the host says of how slow reads of its data may be: a file as `--hints` takes it, beside the recipe.
    #[serde(default)]
    pub(in crate::paper) hints: Option<String>,
    /// In the place of the span's.
    #[serde(default)]
    pub(in crate::paper) reads_per_page: Option<f64>,
    /// In the place of the group's.
    #[serde(default)]
    pub(in crate::paper) sample: Option<Samples>,
    /// In the place of the group's.
    #[serde(default)]
    pub(in crate::paper) load: Option<f64>,
}
