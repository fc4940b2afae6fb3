//! What is run for a paper and what the paper says: the two TOML files of a folder in `papers/`.

use std::num::NonZeroU32;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use vpass_lab::failure::Failure;
use vpass_lab::load::{complaint, read_file};
use vpass_lab::setup::Gear;
use vpass_workload::synthetic::WorkloadConfig;

use super::gain::Gain;
use super::periods::Periods;

/// `run.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    pub(super) title: String,
    /// Preset or file.
    pub(super) drive: String,
    /// Other values for keys of the drive, in every run.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// Where the paper's numbers are, beside this file.
    #[serde(default)]
    pub(super) expected: Option<String>,
    /// Garbage collection policy of every run.
    #[serde(default = "greedy")]
    pub(super) gc: String,
    #[serde(rename = "workload")]
    pub(super) workloads: Vec<NamedWorkload>,
    #[serde(rename = "group")]
    pub(super) groups: Vec<Group>,
    #[serde(rename = "figure")]
    pub(super) figures: Vec<Figure>,
    #[serde(default, rename = "gain")]
    pub(super) gains: Vec<Gain>,
    #[serde(default, rename = "plot")]
    pub(super) plots: Vec<Plot>,
    /// What the drive's error model says by itself, without a run.
    #[serde(default)]
    pub(super) model: Model,
}

/// Share of a cycle.
fn most_of_the_way() -> f64 {
    0.95
}

fn greedy() -> String {
    "greedy".into()
}

/// A generated workload. On a set of blocks, amounts and addresses come from the group that uses it; on a whole drive from here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedWorkload {
    pub(super) name: String,
    pub(super) config: WorkloadConfig,
    /// Other values for keys of the drive, under this workload.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// File names, without endings, of the traces that it stands in for.
    #[serde(default)]
    pub(super) traces: Vec<String>,
    /// On a whole drive: passes that are counted, and before that.
    #[serde(default)]
    pub(super) passes: Option<f64>,
    #[serde(default)]
    pub(super) warm_up_passes: Option<f64>,
}

/// Runs that differ in technique, workload and variant only: each with each.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) gear: GroupGear,
    pub(super) reclaim: Vec<String>,
    /// Refresh techniques. Where there are any, figures go by them and `reclaim` names one technique.
    #[serde(default)]
    pub(super) refresh: Vec<String>,
    /// Names; all where empty.
    #[serde(default)]
    pub(super) workloads: Vec<String>,
    /// Other values for keys of the drive, in this group.
    #[serde(default)]
    pub(super) set: Vec<String>,
    #[serde(rename = "variant")]
    pub(super) variants: Vec<Variant>,
    /// The part that counts ends when the drive's own erases, those of reclaim and GC, have gone so many times round the blocks that are
    /// read: the set of `blocks`, or as many as the host's capacity fills. `reads_per_block` is then the most that a run may take, and
    /// figures divide counts by what the host asked for (`share_of`), because runs differ in length.
    #[serde(default)]
    pub(super) cycles: Option<f64>,
    /// The same of what is not counted, with `warm_up_reads_per_block`.
    #[serde(default)]
    pub(super) warm_up_cycles: Option<f64>,
    #[serde(default)]
    pub(super) wear: GroupWear,
    /// The read-active set: so many blocks from the start of the host's capacity; the whole drive where absent.
    #[serde(default)]
    pub(super) blocks: Option<u32>,
    /// Host reads of each of these blocks, in the mean, that are counted.
    #[serde(default)]
    pub(super) reads_per_block: f64,
    /// The same before anything is counted.
    #[serde(default)]
    pub(super) warm_up_reads_per_block: f64,
    /// Whether blocks begin at random in the cycle of a run's technique: up to the first of its thresholds.
    #[serde(default)]
    pub(super) out_of_phase: bool,
    /// How far towards that threshold they begin at most: what is left keeps a block from its last reads before anything runs, and
    /// keeps blocks that are hardly read from ever reaching it.
    #[serde(default = "most_of_the_way")]
    pub(super) phases: f64,
    /// Share of the dies' time that the host's reads and writes take, at an even load; a closed loop where absent.
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
    /// Runs of each kind, with seeds one after the other; figures take their mean.
    #[serde(default)]
    pub(super) seeds: Option<NonZeroU32>,
    /// Repeats what is counted until programs and erases per host page, by cause, no longer change.
    #[serde(default)]
    pub(super) until_stable: bool,
    #[serde(default)]
    pub(super) oracle: bool,
}

impl Group {
    /// Whether its runs end by cycles of their blocks, or warm up so.
    pub(super) fn goes_by_cycles(&self) -> bool {
        self.cycles.is_some() || self.warm_up_cycles.is_some()
    }

    /// What its runs are told apart by.
    pub(super) fn slot(&self) -> &'static str {
        if self.refresh.is_empty() { "reclaim" } else { "refresh" }
    }

    /// Whether the page reads of its runs are taken apart.
    pub(super) fn has_stages(&self) -> bool {
        self.periods.as_ref().is_some_and(|periods| periods.stages)
    }

    /// Whether a variant has this name.
    pub(super) fn has_variant(&self, name: &str) -> bool {
        self.variants.iter().any(|variant| variant.name == name)
    }

    /// Checks what does not go together.
    ///
    /// # Errors
    /// That it does not.
    fn check_parts(&self) -> Result<(), Failure> {
        let wrong = if !self.refresh.is_empty() && self.reclaim.len() != 1 {
            "`refresh` is given: one technique of `reclaim` is expected"
        } else if self.has_stages() && (self.oracle || matches!(self.gear, GroupGear::Untimed)) {
            "`stages` is for the timed gear, without `oracle`"
        } else if self.periods.is_some() && (self.goes_by_cycles() || self.blocks.is_some() || self.until_stable || self.refresh.is_empty())
        {
            "`periods` is expected beside `refresh`, and without `blocks`, `cycles` and `until_stable`"
        } else {
            return self.periods.as_ref().map_or(Ok(()), |periods| periods.check(self));
        };
        Err(Failure::usage(format!("group {}: {wrong}", self.name)))
    }

    /// Checks that what ends by cycles ends in any case.
    ///
    /// # Errors
    /// A missing cap.
    fn check_cycles(&self) -> Result<(), Failure> {
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
}

impl From<GroupGear> for Gear {
    fn from(gear: GroupGear) -> Self {
        match gear {
            GroupGear::Timed => Self::Timed,
            GroupGear::Untimed => Self::Untimed,
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
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// In the place of the group's.
    #[serde(default)]
    pub(super) load: Option<f64>,
}

/// A table of one number of every run of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    /// The file, without its ending.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) group: String,
    /// Techniques that it shows; all where empty.
    #[serde(default, alias = "refresh")]
    pub(super) reclaim: Vec<String>,
    /// Workloads that it shows, and whose mean it takes; all where empty.
    #[serde(default)]
    pub(super) workloads: Vec<String>,
    /// Numbers of the summary, by JSON pointer; added up, those with a minus before them taken off.
    pub(super) metric: Vec<String>,
    /// Numbers of the same summary whose sum that is divided by.
    #[serde(default)]
    pub(super) share_of: Vec<String>,
    pub(super) unit: String,
    /// The technique that the others are divided by.
    #[serde(default)]
    pub(super) over: Option<String>,
    /// Numbers of that technique's summary, added up; the figure's own where empty.
    #[serde(default)]
    pub(super) over_metric: Vec<String>,
    /// Whether each workload is printed, not only their mean.
    #[serde(default)]
    pub(super) by_workload: bool,
}

/// Numbers of a summary that grow with the length of a run.
const GROWING: [&str; 3] = ["/flash/", "/host/", "/reclaim/"];

impl Figure {
    /// Whether it shows a run of this group, workload and technique.
    pub(super) fn shows(&self, group: &str, workload: &str, technique: &str) -> bool {
        let among = |list: &[String], name: &str| list.is_empty() || list.iter().any(|known| known == name);
        self.group == group && among(&self.workloads, workload) && among(&self.reclaim, technique)
    }

    /// Checks that counts of runs of different lengths are rates.
    ///
    /// # Errors
    /// They are not.
    fn check_rates(&self, group: &Group) -> Result<(), Failure> {
        let grows = |pointer: &String| GROWING.iter().any(|part| pointer.trim_start_matches('-').starts_with(part));
        if group.cycles.is_none() || !self.share_of.is_empty() || !self.metric.iter().any(grows) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "figure {}: the runs of group {} end by cycles and differ in length; `share_of` is expected, for instance [\"/host/read_pages\"]",
            self.name, group.name
        )))
    }
}

/// A figure of many points per run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Plot {
    /// The file, without its ending.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) group: String,
    pub(super) kind: PlotKind,
    /// Only of the runs of this workload; of all where absent.
    #[serde(default)]
    pub(super) workload: Option<String>,
    /// Techniques that it shows; all where empty.
    #[serde(default)]
    pub(super) reclaim: Vec<String>,
    /// A list of numbers of the summary, by JSON pointer; for `cumulative`.
    #[serde(default)]
    pub(super) metric: String,
}

impl Plot {
    /// Whether it shows a run of this group under this workload.
    pub(super) fn shows(&self, group: &str, workload: &str) -> bool {
        self.group == group && self.workload.as_ref().is_none_or(|w| w == workload)
    }
}

/// What is plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PlotKind {
    /// Reads that met a reclaim job, by response time.
    Responses,
    /// A histogram of the summary, bin by bin and added up.
    Cumulative,
    /// Real and effective P/E counts of every block at the end.
    Blocks,
    /// The host's page reads taken apart, by page kind and by which pages below were valid.
    Stages,
}

/// Files that need no run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Model {
    /// Limit and alpha by group and P/E count.
    pub(super) parameters: Option<String>,
    /// The limit of every layer of a block.
    pub(super) layers: Option<String>,
    /// Reads that the worst wordline of a group endures, by the share of them that hits its neighbours.
    pub(super) mixes: Option<String>,
    /// What the drive is set to.
    pub(super) settings: Option<String>,
    /// What the generated workloads ask for in a pass.
    pub(super) workloads: Option<String>,
    /// Reads and ages that a code bears, by P/E count and target.
    pub(super) code: Option<String>,
    /// What workloads over stripes come to.
    pub(super) stripes: Option<String>,
}

/// `expected.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectations {
    #[serde(default)]
    pub(super) expected: Vec<Expected>,
    #[serde(default)]
    pub(super) not_reproduced: Vec<NotReproduced>,
}

/// One number of the paper: the mean over the workloads of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    /// Where the paper has it.
    pub(super) source: String,
    pub(super) what: String,
    pub(super) figure: String,
    pub(super) variant: String,
    /// The mean of the workloads where absent.
    #[serde(default)]
    pub(super) workload: Option<String>,
    /// The technique: of reclaim, or of refresh where the figure's group goes by that.
    #[serde(alias = "refresh")]
    pub(super) reclaim: String,
    /// Absent where the paper's text has lost it, and `below` or `above` has what is left of it.
    #[serde(default)]
    pub(super) value: Option<f64>,
    /// Largest difference that counts as agreement, as a share of the value; absent where only the direction is compared.
    #[serde(default)]
    pub(super) tolerance: Option<f64>,
    /// Follows from a number that was chosen to give it: no success of its own.
    #[serde(default)]
    pub(super) calibrated: bool,
    /// Its size is no independent success, or cannot be compared. It agrees where both numbers lie on the same side of 1, that is of the
    /// technique that the figure divides by; or as `below` or `above` has it.
    #[serde(default)]
    pub(super) direction_only: bool,
    /// For `direction_only`, in the place of that technique: one that the paper has it below, or above.
    #[serde(default)]
    pub(super) below: Option<String>,
    #[serde(default)]
    pub(super) above: Option<String>,
    /// The variant of the number that `below` or `above` compares with; the same where absent.
    #[serde(default)]
    pub(super) than: Option<String>,
}

impl Expected {
    /// Checks that it says how it is to be compared.
    ///
    /// # Errors
    /// What is missing, or too much.
    pub(super) fn check(&self, figure: &Figure) -> Result<(), Failure> {
        let named = usize::from(self.below.is_some()) + usize::from(self.above.is_some());
        let wrong = match self.direction_only {
            false if self.tolerance.is_none() => "a `tolerance`, or `direction_only = true`, is expected",
            false if named > 0 => "`below` and `above` are for `direction_only = true`",
            true if self.tolerance.is_some() || self.calibrated => "with `direction_only`, no `tolerance` and no `calibrated` are expected",
            false if self.value.is_none() => "a `value` is expected",
            true if named == 0 && self.value.is_none() => "a `value`, `below` or `above` is expected",
            _ if self.than.is_some() && named == 0 => "`than` is for `below` and `above`",
            true if named > 1 => "one of `below` and `above` is expected",
            true if named == 0 && figure.over.is_none() => "its figure divides by no technique: `below` or `above` is expected",
            true if named == 0 && self.value.is_some_and(|value| (value - 1.0).abs() < f64::EPSILON) => "a value of 1 has no direction",
            _ => return Ok(()),
        };
        Err(Failure::usage(format!("expected \"{}\" of figure {}: {wrong}", self.what, self.figure)))
    }
}

/// What is left out, and why.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotReproduced {
    pub(super) what: String,
    pub(super) why: String,
}

/// Reads one of them.
///
/// # Errors
/// A file that cannot be read, or what is wrong in it, with its line.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = read_file("recipe", path)?;
    toml::from_str(&text).map_err(|e| complaint(&path.display().to_string(), &text, &e))
}

impl Recipe {
    /// The workloads of a group.
    ///
    /// # Errors
    /// A name that nobody knows.
    pub(super) fn workloads_of(&self, group: &Group) -> Result<Vec<&NamedWorkload>, Failure> {
        if group.workloads.is_empty() {
            return Ok(self.workloads.iter().collect());
        }
        let find = |name: &String| {
            let names = self.workloads.iter().map(|w| w.name.as_str());
            let found = self.workloads.iter().find(|w| w.name == *name);
            found.ok_or_else(|| Failure::usage(vpass_lab::suggest::unknown("workload", name, names)))
        };
        group.workloads.iter().map(find).collect()
    }

    /// The group of this name.
    ///
    /// # Errors
    /// A name that nobody knows.
    pub(super) fn group(&self, name: &str) -> Result<&Group, Failure> {
        let names = self.groups.iter().map(|g| g.name.as_str());
        let found = self.groups.iter().find(|g| g.name == name);
        found.ok_or_else(|| Failure::usage(vpass_lab::suggest::unknown("group", name, names)))
    }

    /// Whether a plot needs every block of these runs.
    pub(super) fn plots_blocks_of(&self, group: &str, workload: &str) -> bool {
        self.plots.iter().any(|p| p.kind == PlotKind::Blocks && p.shows(group, workload))
    }

    /// Whether a name is one of a workload.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check_workload(&self, name: &str) -> Result<(), Failure> {
        let names = self.workloads.iter().map(|w| w.name.as_str());
        let known = names.clone().any(|known| known == name);
        if known { Ok(()) } else { Err(Failure::usage(vpass_lab::suggest::unknown("workload", name, names))) }
    }

    /// Checks that there is something to run, and what figures and plots name.
    ///
    /// # Errors
    /// An empty list, or a name that nobody knows.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let lists = [("workload", self.workloads.is_empty()), ("group", self.groups.is_empty())];
        if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
            return Err(Failure::usage(format!("the recipe's list `{list}` is empty: there is nothing to run; at least one is expected")));
        }
        for group in &self.groups {
            let lists = [("reclaim", group.reclaim.is_empty()), ("variant", group.variants.is_empty())];
            if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
                let name = &group.name;
                return Err(Failure::usage(format!("group {name}: `{list}` is empty: it has nothing to run; at least one is expected")));
            }
        }
        if let Some(figure) = self.figures.iter().find(|f| f.metric.is_empty()) {
            return Err(Failure::usage(format!(
                "figure {}: `metric` is empty; at least one number of the summary is expected",
                figure.name
            )));
        }
        self.groups.iter().try_for_each(Group::check_cycles)?;
        self.groups.iter().try_for_each(Group::check_parts)?;
        self.gains.iter().try_for_each(|gain| gain.check(self.group(&gain.group)?))?;
        for figure in &self.figures {
            figure.check_rates(self.group(&figure.group)?)?;
        }
        for name in self.figures.iter().map(|f| &f.group).chain(self.plots.iter().map(|p| &p.group)) {
            self.group(name)?;
        }
        self.figures.iter().flat_map(|f| &f.workloads).try_for_each(|name| self.check_workload(name))?;
        self.plots.iter().filter_map(|p| p.workload.as_ref()).try_for_each(|name| self.check_workload(name))
    }
}
