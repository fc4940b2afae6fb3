//! Figures and plots of a recipe. Each figure and each plot selects runs, and selects numbers from
//! the summaries of these runs.
use serde::Deserialize;

use crate::experiments::paper::group::Group;
use crate::failure::Failure;

/// Figure: a table with one number for every run of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Figure {
    /// Name of the figure's file, without its ending.
    pub(in crate::experiments::paper) name: String,
    pub(in crate::experiments::paper) title: String,
    pub(in crate::experiments::paper) group: String,
    /// Techniques that the figure shows. An empty list means all techniques.
    #[serde(default, alias = "refresh", alias = "parity")]
    pub(in crate::experiments::paper) reclaim: Vec<String>,
    /// Workloads that the figure shows and includes in means. An empty list means all workloads.
    #[serde(default)]
    pub(in crate::experiments::paper) workloads: Vec<String>,
    /// JSON pointers to numbers in the summary of a run. The figure shows the sum of these numbers.
    /// If a pointer begins with a minus sign, the number is subtracted.
    pub(in crate::experiments::paper) metric: Vec<String>,
    /// Factors for the numbers of `metric`, one factor for each number. For example, a factor can
    /// be the time that one page takes. Default: 1.
    #[serde(default)]
    pub(in crate::experiments::paper) times: Vec<f64>,
    /// JSON pointers to weights in the summary of a run, one weight for each number of `metric`.
    /// With weights, the figure shows the weighted mean of the numbers.
    #[serde(default)]
    pub(in crate::experiments::paper) weights: Vec<String>,
    /// JSON pointers to numbers in the summary of a run. The figure's number is divided by the sum
    /// of these numbers.
    #[serde(default)]
    pub(in crate::experiments::paper) share_of: Vec<String>,
    pub(in crate::experiments::paper) unit: String,
    /// Name of a technique. The numbers of all techniques are divided by the number of this
    /// technique.
    pub(in crate::experiments::paper) over: Option<String>,
    /// Name of a variant. The number of a technique in any variant is divided by the number of this
    /// technique in the named variant. A figure with `over_variant` cannot have `over`.
    pub(in crate::experiments::paper) over_variant: Option<String>,
    /// JSON pointers to numbers in the summary of the run that `over` or `over_variant` selects.
    /// The sum of these numbers is the divisor. Default: `metric`.
    #[serde(default)]
    pub(in crate::experiments::paper) over_metric: Vec<String>,
    /// Workloads that are left out of the second mean. If this list is empty, there is only one
    /// mean.
    #[serde(default)]
    pub(in crate::experiments::paper) without: Vec<String>,
    /// Whether to show a ratio of two sums, which are both taken over all workloads. The mean of
    /// the ratios of the workloads is always shown.
    #[serde(default)]
    pub(in crate::experiments::paper) sums: bool,
    /// Whether to show the number of each workload, in addition to the means.
    #[serde(default)]
    pub(in crate::experiments::paper) by_workload: bool,
    /// Whether to show, for each workload, the 95 % interval over seeds and samples.
    #[serde(default)]
    pub(in crate::experiments::paper) interval: bool,
}

/// Method to combine the numbers of several workloads into one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::experiments::paper) enum Mean {
    /// Mean over all workloads.
    #[default]
    All,
    /// Mean over the workloads that are not in [`Figure::without`].
    Without,
    /// Ratio of the sums over all workloads.
    Sums,
}

/// First parts of JSON pointers to counts. Counts grow with the length of a run.
const GROWING: [&str; 3] = ["/flash/", "/host/", "/reclaim/"];

impl Figure {
    /// Returns whether the figure shows a run of this group, workload and technique.
    pub(in crate::experiments::paper) fn shows(
        &self,
        group: &str,
        workload: &str,
        technique: &str,
    ) -> bool {
        let among =
            |list: &[String], name: &str| list.is_empty() || list.iter().any(|known| known == name);
        self.group == group && among(&self.workloads, workload) && among(&self.reclaim, technique)
    }

    /// Checks that the figure divides counts by another number if the runs of the group differ in
    /// length.
    ///
    /// # Errors
    /// Returns an error if the figure shows a count without a divisor.
    pub(super) fn check_rates(&self, group: &Group) -> Result<(), Failure> {
        let grows = |pointer: &String| {
            GROWING.iter().any(|part| pointer.trim_start_matches('-').starts_with(part))
        };
        if group.cycles.is_none() || !self.share_of.is_empty() || !self.metric.iter().any(grows) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "figure {}: the runs of group {} end at a fixed cycle count, so these runs differ in \
             length; `share_of` is expected, for instance [\"/host/read_pages\"]",
            self.name, group.name
        )))
    }
}

impl Figure {
    /// Returns the technique or the variant whose number is the divisor. Returns `None` if the
    /// figure shows no ratio.
    pub(in crate::experiments::paper) fn divisor(&self) -> Option<&str> {
        self.over.as_deref().or(self.over_variant.as_deref())
    }

    /// Returns the kinds of means that the figure shows. Each kind comes with the name of the mean.
    pub(in crate::experiments::paper) fn means(&self) -> Vec<(Mean, String)> {
        let mut means = vec![(Mean::All, "mean".to_owned())];
        if !self.without.is_empty() {
            means.push((Mean::Without, format!("mean without {}", self.without.join(" and "))));
        }
        if self.sums {
            means.push((Mean::Sums, "ratio of sums".into()));
        }
        means
    }

    /// Checks the numbers and the means of the figure.
    ///
    /// # Errors
    /// Returns an error if `metric` is empty, if the number of weights or factors is wrong, or if a
    /// ratio of sums has no divisor.
    pub(super) fn check_numbers(&self) -> Result<(), Failure> {
        let wrong = if self.metric.is_empty() {
            "`metric` is empty; at least one number of the summary is expected"
        } else if !self.weights.is_empty() && self.weights.len() != self.metric.len() {
            "`weights` must have as many numbers as `metric`"
        } else if !self.times.is_empty()
            && (self.times.len() != self.metric.len()
                || !self.times.iter().all(|times| times.is_finite()))
        {
            "`times` must have as many numbers as `metric`"
        } else if !self.times.is_empty() && !self.weights.is_empty() {
            "`times` and `weights` exclude each other"
        } else if !self.weights.is_empty()
            && (!self.share_of.is_empty() || !self.over_metric.is_empty())
        {
            "`weights` excludes `share_of` and `over_metric`"
        } else if self.sums && self.divisor().is_none() {
            "`sums` computes a ratio, so `over` or `over_variant` is expected"
        } else {
            return Ok(());
        };
        Err(Failure::usage(format!("figure {}: {wrong}", self.name)))
    }

    /// Checks the technique or the variant whose number is the divisor.
    ///
    /// # Errors
    /// Returns an error if the figure has two divisors, or if the variant is unknown.
    pub(super) fn check_base(&self, group: &Group) -> Result<(), Failure> {
        let Some(variant) = &self.over_variant else { return Ok(()) };
        if self.over.is_some() {
            return Err(Failure::usage(format!(
                "figure {}: give either `over` or `over_variant`",
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
            crate::suggest::unknown("variant", variant, names)
        )))
    }
}

/// Plot: a figure with many points per run.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Plot {
    /// Name of the plot's file, without its ending.
    pub(in crate::experiments::paper) name: String,
    pub(in crate::experiments::paper) title: String,
    pub(in crate::experiments::paper) group: String,
    pub(in crate::experiments::paper) kind: PlotKind,
    /// Workload whose runs the plot shows. Default: all workloads of the group.
    pub(in crate::experiments::paper) workload: Option<String>,
    /// Techniques that the plot shows. An empty list means all techniques.
    #[serde(default)]
    pub(in crate::experiments::paper) reclaim: Vec<String>,
    /// JSON pointer to a list of numbers in the summary of a run. Only plots of the kind
    /// `cumulative` use this pointer.
    #[serde(default)]
    pub(in crate::experiments::paper) metric: String,
}

impl Plot {
    /// Returns whether the plot shows a run of this group and workload.
    pub(in crate::experiments::paper) fn shows(&self, group: &str, workload: &str) -> bool {
        self.group == group && self.workload.as_ref().is_none_or(|w| w == workload)
    }

    /// Checks that the runs of the plot record data for each week.
    ///
    /// # Errors
    /// Returns an error if the group has no counted span, or if the recipe has no `long_us`.
    pub(super) fn check_weeks(&self, group: &Group, long_us: Option<f64>) -> Result<(), Failure> {
        if group.span.as_ref().is_some_and(|span| span.window.is_none()) && long_us.is_some() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "plot {}: kind `weeks` needs `long_us` in the recipe, and a group that has a `span` \
             and no `window`",
            self.name
        )))
    }
}

/// Kind of points that a plot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::experiments::paper) enum PlotKind {
    /// Number of reads that waited for a reclaim job, by response time.
    Responses,
    /// Histogram from the summary of a run. For each bin, the plot has the count and the cumulative
    /// share.
    Cumulative,
    /// P/E count and effective P/E count of every block at the end of a run.
    Blocks,
    /// Stages of the host's page reads, by page kind. Further rows have the stages by the validity
    /// of the lower pages in the wordline of the read page.
    Stages,
    /// Numbers of reads, rewrites and long reads in each week.
    Weeks,
}
