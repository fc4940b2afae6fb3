//! Numbers of a figure. There is a row for each run of a group. The row has the figure's number for
//! this run, and the ratio to the number for another technique or variant. Further rows have means
//! over the workloads.
use std::fmt::Write;

use super::csv::field;
use super::recipe::{Expected, Figure, Mean};
use super::run::{REFUSED, Run};
use crate::failure::Failure;
use crate::mean_ci95::mean_ci95;

/// Numbers of a figure, in the order of the runs.
pub(super) struct Numbers<'a> {
    figure: &'a Figure,
    rows: Vec<FigureRow<'a>>,
}

struct FigureRow<'a> {
    variant: &'a str,
    workload: &'a str,
    is_beside: bool,
    technique: &'a str,
    seed: u64,
    /// Residue of the sample, which has one page in N. All page numbers in the sample have this
    /// residue modulo N. A whole drive has residue 0.
    residue: u32,
    raw: f64,
    refused: bool,
    /// Value from the summary of this run. The values of other runs can be divided by this value.
    base: f64,
    /// Divisor for the value of this run.
    divisor: f64,
    /// Value that the figure shows. If the figure has a divisor, this value is a ratio. Otherwise,
    /// this value comes from the run's summary.
    shown: Shown,
}

/// Number, or the reason why the number is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shown {
    Number(f64),
    /// Number that cannot be computed, because the divisor is 0, or because no run has the divisor.
    None,
    /// Number that is missing because the drive could not keep up with the requests, either in this
    /// run or in the run of the divisor.
    Refused,
}

impl Shown {
    pub(super) fn number(self) -> Option<f64> {
        if let Self::Number(n) = self { Some(n) } else { None }
    }

    fn mean(all: &[Self]) -> Self {
        if all.contains(&Self::Refused) {
            return Self::Refused;
        }
        let numbers: Option<Vec<f64>> = all.iter().map(|shown| shown.number()).collect();
        match numbers.as_deref() {
            None | Some([]) => Self::None,
            Some(numbers) => Self::Number(numbers.iter().sum::<f64>() / numbers.len() as f64),
        }
    }
}

impl<'a> Numbers<'a> {
    /// Collects the figure's numbers from the runs of the figure's group.
    ///
    /// # Errors
    /// Returns an error if a JSON pointer does not lead to a number.
    pub(super) fn of(figure: &'a Figure, runs: &'a [Run]) -> Result<Self, Failure> {
        let mut rows = vec![];
        for run in runs.iter().filter(|run| figure.shows(&run.group, &run.workload, run.technique))
        {
            let sum = |pointers: &[String]| {
                pointers
                    .iter()
                    .map(|p| run.number_at(&figure.name, p))
                    .sum::<Result<f64, Failure>>()
            };
            let whole = if figure.share_of.is_empty() { 1.0 } else { sum(&figure.share_of)? };
            // If the sum of the `share_of` numbers is 0, the figure shows 0 for the run.
            let raw = if figure.weights.is_empty() {
                if whole > 0.0 { multiplied(figure, run)? / whole } else { 0.0 }
            } else {
                weighted(figure, run)?
            };
            let base = if figure.over_metric.is_empty() { raw } else { sum(&figure.over_metric)? };
            let shown = if run.fell_behind { Shown::Refused } else { Shown::Number(raw) };
            rows.push(FigureRow {
                variant: &run.variant,
                workload: &run.workload,
                is_beside: run.is_beside,
                technique: run.technique,
                seed: run.plan.seed,
                residue: run.plan.sample.residue,
                raw,
                refused: run.fell_behind,
                base,
                divisor: 1.0,
                shown,
            });
        }
        if let Some(over) = figure.divisor() {
            let of_variant = figure.over_variant.is_some();
            for i in 0..rows.len() {
                let key = |row: &FigureRow<'a>| {
                    (
                        row.workload,
                        row.seed,
                        row.residue,
                        if of_variant { row.technique } else { row.variant },
                    )
                };
                let base = rows.iter().find(|r| {
                    key(r) == key(&rows[i])
                        && over == if of_variant { r.variant } else { r.technique }
                });
                let base = base.ok_or_else(|| {
                    Failure::usage(format!(
                        "figure {}: {over} is not among the runs of this figure",
                        figure.name
                    ))
                })?;
                let refused = [&rows[i], base].into_iter().any(|row| row.refused);
                rows[i].divisor = base.base;
                rows[i].shown = match rows[i].divisor {
                    _ if refused => Shown::Refused,
                    base if base > 0.0 => Shown::Number(rows[i].raw / base),
                    _ => Shown::None,
                };
            }
        }
        Ok(Self { figure, rows })
    }

    /// Returns the mean of the figure's numbers over seeds and workloads. Real traces that run
    /// beside generated workloads are excluded. If any workload has no number, there is no mean.
    pub(super) fn mean(&self, mean: Mean, variant: &str, technique: &str) -> Shown {
        let is_without = |row: &FigureRow| {
            mean == Mean::Without && self.figure.without.iter().any(|name| name == row.workload)
        };
        let is_left_out = |row: &FigureRow| row.is_beside || is_without(row);
        let of_it: Vec<&FigureRow> = self
            .rows
            .iter()
            .filter(|r| (r.variant, r.technique) == (variant, technique) && !is_left_out(r))
            .collect();
        if mean != Mean::Sums {
            return Shown::mean(&of_it.iter().map(|r| r.shown).collect::<Vec<_>>());
        }
        let sum = |of: fn(&FigureRow) -> f64| of_it.iter().map(|row| of(row)).sum::<f64>();
        match sum(|row| row.divisor) {
            _ if of_it.iter().any(|row| row.shown == Shown::Refused) => Shown::Refused,
            divisor if divisor > 0.0 => Shown::Number(sum(|row| row.raw) / divisor),
            _ => Shown::None,
        }
    }

    /// Returns the mean of the figure's numbers for one workload, over seeds and samples.
    pub(super) fn of_workload(&self, variant: &str, workload: &str, technique: &str) -> Shown {
        let of_it = self
            .rows
            .iter()
            .filter(|r| (r.variant, r.workload, r.technique) == (variant, workload, technique));
        Shown::mean(&of_it.map(|r| r.shown).collect::<Vec<_>>())
    }

    /// Returns half the width of the 95 % interval of a workload's number, over seeds and samples.
    /// Returns `None` for a single run.
    pub(super) fn half_width(&self, variant: &str, workload: &str, technique: &str) -> Option<f64> {
        let of_it = self
            .rows
            .iter()
            .filter(|r| (r.variant, r.workload, r.technique) == (variant, workload, technique));
        let numbers: Option<Vec<f64>> = of_it.map(|r| r.shown.number()).collect();
        mean_ci95(&numbers?)?.ci95
    }

    /// Returns the vpass number that corresponds to a number of the paper.
    pub(super) fn measured_of(&self, expected: &Expected, variant: &str, technique: &str) -> Shown {
        match &expected.workload {
            Some(workload) => self.of_workload(variant, workload, technique),
            None => self.mean(expected.mean, variant, technique),
        }
    }

    /// Returns the names of the workloads in order, without duplicates.
    pub(super) fn workloads(&self) -> Vec<&'a str> {
        let mut workloads: Vec<&str> = vec![];
        for row in &self.rows {
            if !workloads.contains(&row.workload) {
                workloads.push(row.workload);
            }
        }
        workloads
    }

    /// Returns the names of the variants and the names of the techniques, in order and without
    /// duplicates.
    pub(super) fn columns(&self) -> (Vec<&'a str>, Vec<&'a str>) {
        let mut variants: Vec<&str> = vec![];
        let mut techniques: Vec<&str> = vec![];
        for row in &self.rows {
            if !variants.contains(&row.variant) {
                variants.push(row.variant);
            }
            if !techniques.contains(&row.technique) {
                techniques.push(row.technique);
            }
        }
        (variants, techniques)
    }

    /// Returns the table as CSV. If there are several seeds, the table has a column for the seed.
    /// `slot` is the kind of the compared techniques, such as reclaim.
    pub(super) fn csv(&self, slot: &str) -> String {
        let figure = self.figure;
        let over = figure.divisor().map_or_else(String::new, |over| {
            format!(",{}", field(&format!("over_{}", over.replace(['-', ' '], "_"))))
        });
        let several = self.rows.iter().any(|row| row.seed != self.rows[0].seed);
        let samples = self.rows.iter().any(|row| row.residue != self.rows[0].residue);
        let seeds = format!(
            "{}{}",
            if several { "seed," } else { "" },
            if samples { "sample," } else { "" }
        );
        let mut csv = format!(
            "# {}\nvariant,workload,{seeds}{slot},{}{over}\n",
            figure.title,
            field(&figure.unit)
        );
        let cell = |shown: Shown| match shown {
            Shown::Number(n) => n.to_string(),
            Shown::None => String::new(),
            Shown::Refused => REFUSED.into(),
        };
        for row in &self.rows {
            let raw = if row.refused { REFUSED.to_owned() } else { row.raw.to_string() };
            let seed = if several { format!("{},", row.seed) } else { String::new() };
            let sample = if samples { format!("{},", row.residue) } else { String::new() };
            let _ = write!(
                csv,
                "{},{},{seed}{sample}{},{raw}",
                field(row.variant),
                field(row.workload),
                row.technique
            );
            let _ = if figure.divisor().is_some() {
                writeln!(csv, ",{}", cell(row.shown))
            } else {
                writeln!(csv)
            };
        }
        let (variants, techniques) = self.columns();
        let seed = ["mean,"; 2][..usize::from(several) + usize::from(samples)].concat();
        for variant in variants {
            for (mean, words) in figure.means() {
                for technique in &techniques {
                    let number = cell(self.mean(mean, variant, technique));
                    let columns =
                        if figure.divisor().is_some() { format!(",{number}") } else { number };
                    let _ = writeln!(
                        csv,
                        "{},{},{seed}{technique},{columns}",
                        field(variant),
                        field(&words)
                    );
                }
            }
        }
        csv
    }
}

/// Returns a sum of numbers in the summary of a run, for a figure. Each number is multiplied by its
/// factor from `times`.
///
/// # Errors
/// Returns an error if a JSON pointer does not lead to a number.
fn multiplied(figure: &Figure, run: &Run) -> Result<f64, Failure> {
    let factors = figure.times.iter().copied().chain(std::iter::repeat(1.0));
    figure
        .metric
        .iter()
        .zip(factors)
        .map(|(metric, times)| Ok(run.number_at(&figure.name, metric)? * times))
        .sum()
}

/// Returns a weighted mean of numbers in the summary of a run, for a figure. If all weights are 0,
/// the mean is 0.
///
/// # Errors
/// Returns an error if a JSON pointer does not lead to a number.
fn weighted(figure: &Figure, run: &Run) -> Result<f64, Failure> {
    let (mut sum, mut whole) = (0.0, 0.0);
    for (metric, weight) in figure.metric.iter().zip(&figure.weights) {
        let weight = run.number_at(&figure.name, weight)?;
        sum += run.number_at(&figure.name, metric)? * weight;
        whole += weight;
    }
    Ok(if whole > 0.0 { sum / whole } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_hides_no_run_without_a_number() {
        let (one, three) = (Shown::Number(1.0), Shown::Number(3.0));
        assert_eq!(Shown::mean(&[one, three]), Shown::Number(2.0));
        assert_eq!([Shown::mean(&[one, Shown::None]), Shown::mean(&[])], [Shown::None; 2]);
        assert_eq!(Shown::mean(&[one, Shown::None, Shown::Refused]), Shown::Refused);
    }
}
