//! What is run for a paper and what the paper says: the two TOML files of a folder in `papers/`.

mod beside;
mod expected;
mod figure;

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use vpass_lab::failure::Failure;
use vpass_lab::load::{complaint, read_file};
use vpass_workload::synthetic::WorkloadConfig;

use super::gain::Gain;
use super::group::Group;
use super::span::Span;
use super::traces::Traces;
use beside::RealTrace;
pub(super) use expected::{Expectations, Expected};
pub(super) use figure::{Figure, Mean, Plot, PlotKind};

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
    #[serde(default, rename = "trace")]
    beside: Vec<RealTrace>,
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
    /// Microseconds beyond which a read is long. Where it is given, summaries say what reads would
    /// take on an idle drive.
    #[serde(default)]
    pub(super) long_us: Option<f64>,
}

fn greedy() -> String {
    "greedy".into()
}

/// A generated workload. On a set of blocks, amounts and addresses come from the group that uses
/// it; on a whole drive from here.
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
    /// Of a real trace that takes no workload's place: the workloads that it stands beside.
    #[serde(skip)]
    beside: Vec<String>,
}

impl NamedWorkload {
    /// Whether it is a real trace beside a generated workload, and in no mean.
    pub(super) fn is_beside(&self) -> bool {
        !self.beside.is_empty()
    }
}

/// Files that need no run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Model {
    /// Limit and alpha by group and P/E count.
    pub(super) parameters: Option<String>,
    /// The limit of every layer of a block.
    pub(super) layers: Option<String>,
    /// Reads that the worst wordline of a group endures, by the share of them that hits its
    /// neighbours.
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

/// Reads one of them.
///
/// # Errors
/// A file that cannot be read, or what is wrong in it, with its line.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = read_file("recipe", path)?;
    toml::from_str(&text).map_err(|e| complaint(&path.display().to_string(), &text, &e))
}

impl Recipe {
    /// Reads `run.toml`.
    ///
    /// # Errors
    /// As for [`read`], and what is wrong with its traces.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        read::<Self>(path)?.with_traces()
    }

    /// The workloads of a group, each with the traces beside it that are there.
    ///
    /// # Errors
    /// A name that nobody knows.
    pub(super) fn workloads_of(
        &self,
        group: &Group,
        traces: &Traces,
    ) -> Result<Vec<&NamedWorkload>, Failure> {
        let mut all = vec![];
        for workload in self.generated_of(group)? {
            all.push(workload);
            all.extend(
                self.workloads
                    .iter()
                    .filter(|of| of.beside.contains(&workload.name) && traces.of(of).is_some()),
            );
        }
        Ok(all)
    }

    /// The workloads of a group without traces beside them.
    fn generated_of(&self, group: &Group) -> Result<Vec<&NamedWorkload>, Failure> {
        if group.workloads.is_empty() {
            return Ok(self.workloads.iter().filter(|workload| !workload.is_beside()).collect());
        }
        let find = |name: &String| {
            let names = self.workloads.iter().map(|w| w.name.as_str());
            let found = self.workloads.iter().find(|w| w.name == *name);
            found
                .ok_or_else(|| Failure::usage(vpass_lab::suggest::unknown("workload", name, names)))
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

    /// The span of a group all of which counts.
    pub(super) fn span_of(&self, group: &str) -> Option<&Span> {
        let span = self.groups.iter().find(|g| g.name == group).and_then(|g| g.span.as_ref());
        span.filter(|span| span.window.is_none())
    }

    /// Whether a name is one of a workload.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn check_workload(&self, name: &str) -> Result<(), Failure> {
        let names = self.workloads.iter().map(|w| w.name.as_str());
        let known = names.clone().any(|known| known == name);
        if known {
            Ok(())
        } else {
            Err(Failure::usage(vpass_lab::suggest::unknown("workload", name, names)))
        }
    }

    /// Checks that there is something to run, and what figures and plots name.
    ///
    /// # Errors
    /// An empty list, or a name that nobody knows.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let lists = [("workload", self.workloads.is_empty()), ("group", self.groups.is_empty())];
        if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
            return Err(Failure::usage(format!(
                "the recipe's list `{list}` is empty: there is nothing to run; at least one is \
                 expected"
            )));
        }
        for group in &self.groups {
            let lists =
                [("reclaim", group.reclaim.is_empty()), ("variant", group.variants.is_empty())];
            if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
                let name = &group.name;
                return Err(Failure::usage(format!(
                    "group {name}: `{list}` is empty: it has nothing to run; at least one is \
                     expected"
                )));
            }
        }
        self.figures.iter().try_for_each(Figure::check_numbers)?;
        self.groups.iter().try_for_each(Group::check_cycles)?;
        self.groups.iter().try_for_each(Group::check_parts)?;
        self.groups.iter().try_for_each(Group::check_own)?;
        self.gains.iter().try_for_each(|gain| gain.check(self.group(&gain.group)?))?;
        for figure in &self.figures {
            let group = self.group(&figure.group)?;
            figure.check_rates(group)?;
            figure.check_base(group)?;
        }
        for plot in self.plots.iter().filter(|plot| plot.kind == PlotKind::Weeks) {
            plot.check_weeks(self.group(&plot.group)?, self.long_us)?;
        }
        for name in self.figures.iter().map(|f| &f.group).chain(self.plots.iter().map(|p| &p.group))
        {
            self.group(name)?;
        }
        self.figures
            .iter()
            .flat_map(|f| f.workloads.iter().chain(&f.without))
            .try_for_each(|name| self.check_workload(name))?;
        self.plots
            .iter()
            .filter_map(|p| p.workload.as_ref())
            .try_for_each(|name| self.check_workload(name))
    }
}
