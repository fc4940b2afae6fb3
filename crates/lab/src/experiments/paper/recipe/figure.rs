//! Figures and plots of a recipe: which numbers of which runs each figure shows.
use serde::Deserialize;

use crate::experiments::paper::group::Group;
use crate::failure::Failure;

/// Figure: a table of one number for every run of a group.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::experiments::paper) struct Figure {
    /// Name of the figure's file, without its ending.
    pub(in crate::experiments::paper) name: String,
    pub(in crate::experiments::paper) title: String,
    pub(in crate::experiments::paper) group: String,
    /// Techniques to show. An empty list means all techniques.
    #[serde(default, alias = "refresh", alias = "parity")]
    pub(in crate::experiments::paper) reclaim: Vec<String>,
    /// Workloads to show and to average. An empty list means all workloads.
    #[serde(default)]
    pub(in crate::experiments::paper) workloads: Vec<String>,
    /// JSON pointers to numbers of the summary. The figure shows the sum of these numbers. A number
    /// whose pointer has a minus sign is subtracted.
    pub(in crate::experiments::paper) metric: Vec<String>,
    /// Factors for the numbers of `metric`, one per number, such as the time of one page. Default:
    /// 1.
    #[serde(default)]
    pub(in crate::experiments::paper) times: Vec<f64>,
    /// JSON pointers to weights in the summary, one for each number of `metric`. The figure then
    /// shows the weighted mean.
    #[serde(default)]
    pub(in crate::experiments::paper) weights: Vec<String>,
    /// JSON pointers to numbers of the run's summary. The figure's number is divided by their sum.
    #[serde(default)]
    pub(in crate::experiments::paper) share_of: Vec<String>,
    pub(in crate::experiments::paper) unit: String,
    /// Technique whose number divides the numbers of all techniques.
    #[serde(default)]
    pub(in crate::experiments::paper) over: Option<String>,
    /// Variant whose number divides the numbers of the same technique in all variants. Excludes
    /// `over`.
    #[serde(default)]
    pub(in crate::experiments::paper) over_variant: Option<String>,
    /// JSON pointers to the numbers whose sum is the divisor. Default: `metric`.
    #[serde(default)]
    pub(in crate::experiments::paper) over_metric: Vec<String>,
    /// Workloads that a second mean leaves out. If the list is empty, there is only one mean.
    #[serde(default)]
    pub(in crate::experiments::paper) without: Vec<String>,
    /// Whether to also show the ratio of the sums over all workloads, beside the mean of the
    /// ratios.
    #[serde(default)]
    pub(in crate::experiments::paper) sums: bool,
    /// Whether to show each workload and not only the means.
    #[serde(default)]
    pub(in crate::experiments::paper) by_workload: bool,
    /// Whether to show the 95 % interval over seeds and samples with the number of each workload.
    #[serde(default)]
    pub(in crate::experiments::paper) interval: bool,
}

/// Way to summarise several workloads in one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::experiments::paper) enum Mean {
    /// Mean over all workloads.
    #[default]
    All,
    /// Mean over the workloads that [`Figure::without`] does not name.
    Without,
    /// Ratio of the sums over all workloads.
    Sums,
}

/// Beginnings of pointers to numbers that grow with the length of a run.
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

    /// Checks that the figure divides counts if the runs of its group differ in length.
    ///
    /// # Errors
    /// Reports a count that is not divided.
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
    /// Returns the technique or variant whose number divides the other numbers; `None` if the
    /// figure shows no ratio.
    pub(in crate::experiments::paper) fn divisor(&self) -> Option<&str> {
        self.over.as_deref().or(self.over_variant.as_deref())
    }

    /// Returns the means over the workloads, with their names.
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
    /// Reports an empty `metric`, a wrong number of weights or factors, or a ratio of sums without
    /// a divisor.
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

    /// Checks the technique or variant that the figure divides by.
    ///
    /// # Errors
    /// Reports two divisors, or an unknown variant.
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
    /// Workload whose runs the plot shows. Default: all workloads.
    #[serde(default)]
    pub(in crate::experiments::paper) workload: Option<String>,
    /// Techniques to show. An empty list means all techniques.
    #[serde(default)]
    pub(in crate::experiments::paper) reclaim: Vec<String>,
    /// JSON pointer to a list of numbers in the summary. Only the plot `cumulative` uses it.
    #[serde(default)]
    pub(in crate::experiments::paper) metric: String,
}

impl Plot {
    /// Returns whether the plot shows a run of this group and workload.
    pub(in crate::experiments::paper) fn shows(&self, group: &str, workload: &str) -> bool {
        self.group == group && self.workload.as_ref().is_none_or(|w| w == workload)
    }

    /// Checks that the runs of the plot have data for each week.
    ///
    /// # Errors
    /// Reports a group without a counted span, or a recipe without `long_us`.
    pub(super) fn check_weeks(&self, group: &Group, long_us: Option<f64>) -> Result<(), Failure> {
        if group.span.as_ref().is_some_and(|span| span.window.is_none()) && long_us.is_some() {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "plot {}: kind `weeks` needs a group with a `span` that has no `window`, and `long_us` \
             in the recipe",
            self.name
        )))
    }
}

/// Content of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::experiments::paper) enum PlotKind {
    /// Number of reads that met a reclaim job, by response time.
    Responses,
    /// Histogram of the summary, with the count and the cumulative share of each bin.
    Cumulative,
    /// P/E counts and effective P/E counts of every block at the end.
    Blocks,
    /// Stages of the host's page reads, by page kind and by which pages below are valid.
    Stages,
    /// Reads, rewrites and long reads of each week.
    Weeks,
}
