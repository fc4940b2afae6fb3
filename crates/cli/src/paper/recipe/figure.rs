//! Figures and plots of a recipe: which numbers of which runs are shown.

use serde::Deserialize;
use vpass_lab::failure::Failure;

use crate::paper::group::Group;

/// A table of one number of every run of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct Figure {
    /// The file, without its ending.
    pub(in crate::paper) name: String,
    pub(in crate::paper) title: String,
    pub(in crate::paper) group: String,
    /// Techniques that it shows; all where empty.
    #[serde(default, alias = "refresh", alias = "parity")]
    pub(in crate::paper) reclaim: Vec<String>,
    /// Workloads that it shows, and whose mean it takes; all where empty.
    #[serde(default)]
    pub(in crate::paper) workloads: Vec<String>,
    /// Numbers of the summary, by JSON pointer; added up, those with a minus before them taken off.
    pub(in crate::paper) metric: Vec<String>,
    /// Factors, one for each of `metric`, such as the time of one page; each is 1 where there are
    /// none.
    #[serde(default)]
    pub(in crate::paper) times: Vec<f64>,
    /// Numbers of the same summary, one for each of `metric`: what is shown is then their mean by
    /// these weights.
    #[serde(default)]
    pub(in crate::paper) weights: Vec<String>,
    /// Numbers of the same summary whose sum that is divided by.
    #[serde(default)]
    pub(in crate::paper) share_of: Vec<String>,
    pub(in crate::paper) unit: String,
    /// The technique that the others are divided by.
    #[serde(default)]
    pub(in crate::paper) over: Option<String>,
    /// In its place: the variant that the others are divided by, each technique by its own.
    #[serde(default)]
    pub(in crate::paper) over_variant: Option<String>,
    /// Numbers of that technique's summary, added up; the figure's own where empty.
    #[serde(default)]
    pub(in crate::paper) over_metric: Vec<String>,
    /// Workloads that a second mean leaves out; there is none where empty.
    #[serde(default)]
    pub(in crate::paper) without: Vec<String>,
    /// Whether the ratio of the sums over all workloads stands beside the mean of their ratios.
    #[serde(default)]
    pub(in crate::paper) sums: bool,
    /// Whether each workload is printed, not only their mean.
    #[serde(default)]
    pub(in crate::paper) by_workload: bool,
    /// Whether each workload's number has its 95 % interval over seeds and samples.
    #[serde(default)]
    pub(in crate::paper) interval: bool,
}

/// What several workloads come to in one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::paper) enum Mean {
    /// The mean of all of them.
    #[default]
    All,
    /// The mean of those that [`Figure::without`] does not name.
    Without,
    /// The ratio of their sums.
    Sums,
}

/// Numbers of a summary that grow with the length of a run.
const GROWING: [&str; 3] = ["/flash/", "/host/", "/reclaim/"];

impl Figure {
    /// Whether it shows a run of this group, workload and technique.
    pub(in crate::paper) fn shows(&self, group: &str, workload: &str, technique: &str) -> bool {
        let among =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|known| known == name);
        self.group == group && among(&self.workloads, workload) && among(&self.reclaim, technique)
    }

    /// Checks that counts of runs of different lengths are rates.
    ///
    /// # Errors
    /// They are not.
    pub(super) fn check_rates(&self, group: &Group) -> Result<(), Failure> {
        let grows = |pointer: &String| {
            GROWING.iter().any(|part| pointer.trim_start_matches('-').starts_with(part))
        };
        if group.cycles.is_none() || !self.share_of.is_empty() || !self.metric.iter().any(grows) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "figure {}: the runs of group {} end by cycles and differ in length; `share_of` is \
             expected, for instance [\"/host/read_pages\"]",
            self.name, group.name
        )))
    }
}

impl Figure {
    /// What its numbers are divided by, if by anything.
    pub(in crate::paper) fn divisor(&self) -> Option<&str> {
        self.over.as_deref().or(self.over_variant.as_deref())
    }

    /// What its workloads come to, with the words for it.
    pub(in crate::paper) fn means(&self) -> Vec<(Mean, String)> {
        let mut means = vec![(Mean::All, "mean".to_owned())];
        if !self.without.is_empty() {
            means.push((Mean::Without, format!("mean without {}", self.without.join(" and "))));
        }
        if self.sums {
            means.push((Mean::Sums, "ratio of sums".into()));
        }
        means
    }

    /// Checks what its numbers are taken from and what its means are of.
    ///
    /// # Errors
    /// No number, weights that are not one for each, or a ratio of sums without anything to divide
    /// by.
    pub(super) fn check_numbers(&self) -> Result<(), Failure> {
        let wrong = if self.metric.is_empty() {
            "`metric` is empty; at least one number of the summary is expected"
        } else if !self.weights.is_empty() && self.weights.len() != self.metric.len() {
            "as many `weights` as numbers in `metric` are expected"
        } else if !self.times.is_empty()
            && (self.times.len() != self.metric.len()
                || !self.times.iter().all(|times| times.is_finite()))
        {
            "as many numbers in `times` as in `metric` are expected"
        } else if !self.times.is_empty() && !self.weights.is_empty() {
            "`times` are expected without `weights`"
        } else if !self.weights.is_empty()
            && (!self.share_of.is_empty() || !self.over_metric.is_empty())
        {
            "`weights` are expected without `share_of` and `over_metric`"
        } else if self.sums && self.divisor().is_none() {
            "`sums` is a ratio: `over` or `over_variant` is expected"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("figure {}: {wrong}", self.name)))
    }

    /// Checks what its numbers are divided by.
    ///
    /// # Errors
    /// Two of them, or a variant that the group does not have.
    pub(super) fn check_base(&self, group: &Group) -> Result<(), Failure> {
        let Some(variant) = &self.over_variant else { return Ok(()) };
        if self.over.is_some() {
            return Err(Failure::usage(format!(
                "figure {}: one of `over` and `over_variant` is expected",
                self.name
            )));
        }
        if group.has_variant(variant) {
            return Ok(());
        }
        let names = group.variants.iter().map(|v| v.name.as_str());
        Err(Failure::usage(format!(
            "figure {}: {}",
            self.name,
            vpass_lab::suggest::unknown("variant", variant, names)
        )))
    }
}

/// A figure of many points per run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::paper) struct Plot {
    /// The file, without its ending.
    pub(in crate::paper) name: String,
    pub(in crate::paper) title: String,
    pub(in crate::paper) group: String,
    pub(in crate::paper) kind: PlotKind,
    /// Only of the runs of this workload; of all where absent.
    #[serde(default)]
    pub(in crate::paper) workload: Option<String>,
    /// Techniques that it shows; all where empty.
    #[serde(default)]
    pub(in crate::paper) reclaim: Vec<String>,
    /// A list of numbers of the summary, by JSON pointer; for `cumulative`.
    #[serde(default)]
    pub(in crate::paper) metric: String,
}

impl Plot {
    /// Whether it shows a run of this group under this workload.
    pub(in crate::paper) fn shows(&self, group: &str, workload: &str) -> bool {
        self.group == group && self.workload.as_ref().is_none_or(|w| w == workload)
    }

    /// Checks that there are weeks to plot.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn check_weeks(&self, group: &Group, long_us: Option<f64>) -> Result<(), Failure> {
        if group.span.as_ref().is_some_and(|span| span.window.is_none()) && long_us.is_some() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "plot {}: `weeks` are of a group with a `span` and no window, of a recipe that says \
             with `long_us` which reads are long",
            self.name
        )))
    }
}

/// What is plotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::paper) enum PlotKind {
    /// Reads that met a reclaim job, by response time.
    Responses,
    /// A histogram of the summary, bin by bin and added up.
    Cumulative,
    /// Real and effective P/E counts of every block at the end.
    Blocks,
    /// The host's page reads taken apart, by page kind and by which pages below were valid.
    Stages,
    /// What was read, rewritten and read slowly, week by week.
    Weeks,
}
