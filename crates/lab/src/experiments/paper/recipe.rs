//! Recipe of a paper: two TOML files in a folder of `papers/`. `run.toml` names the runs and the
//! figures. `expected.toml` has the paper's numbers.

mod beside;
mod expected;
mod figure;

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use vpass_workload::synthetic::WorkloadConfig;

use super::gain::Gain;
use super::group::Group;
use super::span::Span;
use super::traces::Traces;
use crate::failure::Failure;
use crate::load::read_file;
use crate::typed;
use beside::RealTrace;
pub(super) use expected::{Expectations, Expected};
pub(super) use figure::{Figure, Mean, Plot, PlotKind};

/// Content of `run.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Recipe {
    pub(super) title: String,
    /// Drive of all runs, as a preset or a file.
    pub(super) drive: String,
    /// Values for keys of the drive. The values apply to every run.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// Name of the file with the paper's numbers. The file is in the recipe's folder.
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
    /// Files that vpass writes without a run. One of these files shows the drive's error model.
    #[serde(default)]
    pub(super) model: Model,
    /// Latency, in microseconds, above which a read is long. If this latency is given, summaries
    /// also have the latencies that reads would have on an idle drive.
    pub(super) long_us: Option<f64>,
}

fn greedy() -> String {
    "greedy".into()
}

/// Workload of a recipe. The workload sets the number of requests and the range of addresses. A
/// group with `blocks` or `cycles` replaces both settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NamedWorkload {
    pub(super) name: String,
    pub(super) config: WorkloadConfig,
    /// Values for keys of the drive. The values apply only to runs of this workload.
    #[serde(default)]
    pub(super) set: Vec<String>,
    /// File names, without endings, of the traces that can replace this workload.
    #[serde(default)]
    pub(super) traces: Vec<String>,
    /// Number of counted passes over the workload. The counted passes come after the
    /// `warm_up_passes`.
    pub(super) passes: Option<f64>,
    pub(super) warm_up_passes: Option<f64>,
    /// Names of generated workloads. If this workload is a real trace from `[[trace]]`, the trace
    /// runs beside these workloads. Otherwise, the list is empty.
    #[serde(skip)]
    beside: Vec<String>,
}

impl NamedWorkload {
    /// Returns whether this workload is a real trace that runs beside generated workloads. Such a
    /// trace is left out of averages.
    pub(super) fn is_beside(&self) -> bool {
        !self.beside.is_empty()
    }
}

/// Names of the files that vpass writes without a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Model {
    /// Name of the file with the read limit and alpha of each wordline group at each P/E count.
    /// Alpha is the weight of a read of a neighbouring wordline.
    pub(super) parameters: Option<String>,
    /// Name of the file with the read limit of every layer of a block.
    pub(super) layers: Option<String>,
    /// Name of the file with the number of reads that the weakest wordline of each wordline group
    /// endures. The file has a row for each of several shares of reads that go to neighbouring
    /// wordlines.
    pub(super) mixes: Option<String>,
    /// Name of the file with the drive's settings.
    pub(super) settings: Option<String>,
    /// Name of the file with the requests of one pass of each generated workload.
    pub(super) workloads: Option<String>,
    /// Name of the file with the largest number of reads and the largest age with which the
    /// error-correcting code corrects data. The file has a row for each target and P/E count.
    pub(super) code: Option<String>,
    /// Name of the file with the measured properties of workloads with a table
    /// `[workload.stripes]`.
    pub(super) stripes: Option<String>,
}

/// Reads one file of a recipe.
///
/// # Errors
/// Returns an error if the file cannot be read or is invalid. For an invalid file, the error names
/// the line.
pub(super) fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = read_file("recipe", path)?;
    typed::read(&path.display().to_string(), &text)
}

impl Recipe {
    /// Reads `run.toml`, and adds the real traces of the recipe to its workloads.
    ///
    /// # Errors
    /// Returns an error if [`read`] fails, or if the list of traces is invalid.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        read::<Self>(path)?.with_traces()
    }

    /// Returns the workloads of a group. Real traces that run beside a generated workload are
    /// listed directly after this workload, if their files were found.
    ///
    /// # Errors
    /// Returns an error if no workload has this name.
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

    /// Returns the generated workloads of a group, without the real traces that run beside them.
    fn generated_of(&self, group: &Group) -> Result<Vec<&NamedWorkload>, Failure> {
        if group.workloads.is_empty() {
            return Ok(self.workloads.iter().filter(|workload| !workload.is_beside()).collect());
        }
        let find = |name: &String| {
            let names = self.workloads.iter().map(|w| w.name.as_str());
            let found = self.workloads.iter().find(|w| w.name == *name);
            found.ok_or_else(|| Failure::usage(crate::suggest::unknown("workload", name, names)))
        };
        group.workloads.iter().map(find).collect()
    }

    /// Returns the group with this name.
    ///
    /// # Errors
    /// Returns an error if no group has this name.
    pub(super) fn group(&self, name: &str) -> Result<&Group, Failure> {
        let names = self.groups.iter().map(|g| g.name.as_str());
        let found = self.groups.iter().find(|g| g.name == name);
        found.ok_or_else(|| Failure::usage(crate::suggest::unknown("group", name, names)))
    }

    /// Returns whether any plot for this group and workload shows the P/E counts of every block.
    pub(super) fn plots_blocks_of(&self, group: &str, workload: &str) -> bool {
        self.plots.iter().any(|p| p.kind == PlotKind::Blocks && p.shows(group, workload))
    }

    /// Returns the counted span of a group. Returns `None` if the group has no span, or if only a
    /// window after the span is counted.
    pub(super) fn span_of(&self, group: &str) -> Option<&Span> {
        let span = self.groups.iter().find(|g| g.name == group).and_then(|g| g.span.as_ref());
        span.filter(|span| span.window.is_none())
    }

    /// Checks that a workload has this name.
    ///
    /// # Errors
    /// Returns an error if no workload has this name.
    pub(super) fn check_workload(&self, name: &str) -> Result<(), Failure> {
        let names = self.workloads.iter().map(|w| w.name.as_str());
        let known = names.clone().any(|known| known == name);
        if known {
            Ok(())
        } else {
            Err(Failure::usage(crate::suggest::unknown("workload", name, names)))
        }
    }

    /// Checks that the recipe has runs, and that all figures and plots use known names.
    ///
    /// # Errors
    /// Returns an error if a list is empty or a name is unknown.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let lists = [("workload", self.workloads.is_empty()), ("group", self.groups.is_empty())];
        if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
            return Err(Failure::usage(format!(
                "the recipe's list `{list}` is empty, so there is nothing to run; at least one \
                 entry is expected"
            )));
        }
        for group in &self.groups {
            let lists =
                [("reclaim", group.reclaim.is_empty()), ("variant", group.variants.is_empty())];
            if let Some((list, _)) = lists.into_iter().find(|(_, is_empty)| *is_empty) {
                let name = &group.name;
                return Err(Failure::usage(format!(
                    "group {name}: `{list}` is empty, so there is nothing to run; at least one \
                     entry is expected"
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
