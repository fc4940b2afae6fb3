//! Results of a recipe as text: the means of every figure, and each number of the paper beside the
//! corresponding number of vpass.
use std::fmt::Write;

use serde_json::Value;

use super::csv::quoted;
use super::numbers::{Numbers, Shown};
use super::recipe::{Expectations, Expected, Figure, Mean, Recipe};
use super::report::{Grid, Part};
use super::run::{CYCLES, REFUSED, Run};
use crate::failure::Failure;
use crate::numbers::seconds;
use crate::plain::line;

/// Returns a row for each number of the paper. The row also has the verdict, and the corresponding
/// number of vpass if this number exists.
fn compared<'a>(
    recipe: &Recipe,
    figures: &[Numbers],
    expectations: &'a Expectations,
) -> Vec<(&'a Expected, Option<f64>, &'static str)> {
    let of = |e: &'a Expected| {
        let numbers = recipe.figures.iter().position(|f| f.name == e.figure).map(|i| &figures[i]);
        let of = |variant: &str, technique: &str| {
            numbers.map_or(Shown::None, |n| n.measured_of(e, variant, technique))
        };
        let here = of(&e.variant, &e.reclaim);
        let than = |name: &Option<String>| {
            name.as_deref()
                .map_or(Shown::None, |name| of(e.than.as_ref().unwrap_or(&e.variant), name))
        };
        (e, here.number(), verdict(e, here, than(&e.below), than(&e.above)))
    };
    expectations.expected.iter().map(of).collect()
}

/// Lower limit of a ratio: the change in vpass divided by the change in the paper. If the ratio is
/// below the limit, the verdict is "disagrees".
const NO_CHANGE: f64 = 0.1;

/// Returns the verdict on the vpass number `here`. `below` and `above` are the vpass numbers of the
/// techniques that `expected.below` and `expected.above` name.
fn verdict(expected: &Expected, here: Shown, below: Shown, above: Shown) -> &'static str {
    if [here, below, above].contains(&Shown::Refused) {
        return REFUSED;
    }
    let Some(here) = here.number() else { return "no number" };
    if expected.direction_only {
        let holds = match (&expected.below, &expected.above) {
            (Some(_), _) => below.number().map(|other| here < other),
            (_, Some(_)) => above.number().map(|other| here > other),
            _ => expected.value.map(|value| (here - 1.0) * (value - 1.0) > 0.0),
        };
        return match holds {
            None => "no number",
            Some(true) => "direction only",
            Some(false) => "disagrees",
        };
    }
    let value = expected.value.unwrap_or(f64::NAN);
    let is_close = (here - value).abs() <= expected.tolerance.unwrap_or(0.0) * value.abs();
    // Change in vpass, divided by the change in the paper. The ratio is negative if the two changes
    // have opposite directions.
    let of_change = (here - 1.0) / (value - 1.0);
    match expected.change_within {
        Some(_) if of_change < NO_CHANGE => "disagrees",
        Some(share) if !is_close || (of_change - 1.0).abs() > share => "direction only",
        None if !is_close => "differs",
        _ if expected.calibrated => "agrees, by calibration",
        _ => "agrees",
    }
}

/// Returns a CSV text with the paper's number, the vpass number and the verdict of each comparison.
pub(super) fn csv(recipe: &Recipe, figures: &[Numbers], expectations: &Expectations) -> String {
    let mut csv = String::from("source,what,paper,here,tolerance,verdict,change_within\n");
    for (e, here, verdict) in compared(recipe, figures, expectations) {
        let text = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
        let [paper, here, tolerance, change_within] =
            [e.value, here, e.tolerance, e.change_within].map(text);
        let [source, what, verdict] = [&e.source, &e.what, verdict].map(quoted);
        let _ =
            writeln!(csv, "{source},{what},{paper},{here},{tolerance},{verdict},{change_within}");
    }
    csv
}

/// Returns the parts of the results, in the order in which a reader sees them.
pub(super) fn parts(
    (recipe, sources): (&Recipe, &str),
    figures: &[Numbers],
    runs: &[Run],
    expectations: &Expectations,
) -> Result<Vec<Part>, Failure> {
    let head = format!("\n  on {}; {}", line(&recipe.drive), line(sources));
    let mut parts = vec![Part::Title(line(&recipe.title).into(), head)];
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let over =
            figure.divisor().map_or_else(|| figure.unit.clone(), |over| format!("over {over}"));
        let rows = if figure.by_workload { "" } else { ", mean of the workloads" };
        let about = format!(" ({}; {}{rows})", line(&figure.name), line(&over));
        parts.push(Part::Title(line(&figure.title).into(), about));
        parts.push(Part::Numbers(table(figure, numbers)));
    }
    for gain in &recipe.gains {
        let (name, over) = (line(&gain.name), line(&gain.over));
        let about = format!(" ({name}; share of the mean read latency under {over})");
        parts.push(Part::Title(line(&gain.title).into(), about));
        parts.push(Part::Numbers(gain.table(runs)?));
    }
    if !expectations.expected.is_empty() {
        parts.push(Part::Title("Beside the paper".into(), String::new()));
        let mut grid = Grid::new(["source", "what", "paper", "here", ""]);
        for (e, here, verdict) in compared(recipe, figures, expectations) {
            let text = |n: Option<f64>| n.map_or_else(|| "-".into(), crate::numbers::digits);
            let (paper, here) = (text(e.value), text(here));
            grid.row([e.source.clone(), e.what.clone(), paper, here, verdict.into()]);
        }
        parts.push(Part::Words(grid));
    }
    for left_out in &expectations.not_reproduced {
        let (what, why) = (line(&left_out.what), line(&left_out.why));
        parts.push(Part::Line(format!("not reproduced: {what}: {why}")));
    }
    for run in runs {
        parts.extend(of_length(run).into_iter().map(|said| Part::Line(line(&said).into())));
    }
    for run in runs {
        let lost = run.summary.pointer("/data_lost_pages").and_then(Value::as_u64).unwrap_or(0);
        if lost > 0 {
            let said = format!("data lost: {lost} pages in {}", run.name());
            parts.push(Part::Loss(line(&said).into()));
        }
    }
    Ok(parts)
}

/// Returns sentences about a run. A sentence says that the drive could not keep up with the
/// requests, or that the run ended at its limit of reads.
fn of_length(run: &Run) -> Vec<String> {
    let mut said = vec![];
    if run.fell_behind {
        let number =
            |pointer: &str| run.summary.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
        let (lag, all) = (number("/throughput/backlog_s"), number("/simulation/simulated_s"));
        let (behind, after) = (seconds(lag), seconds(all - lag));
        said.push(format!(
            "{REFUSED}: {}: after {after}, the drive was {behind} behind the requests",
            run.name()
        ));
    }
    let cycles = |key: &str| run.summary.pointer(&format!("/{CYCLES}/{key}"));
    for (part, which) in [("warm_up", "its warm-up"), ("counted", "the counted part")] {
        if cycles(&format!("{part}_capped")).and_then(Value::as_bool) == Some(true) {
            let done = cycles(part).and_then(Value::as_f64).unwrap_or(0.0);
            said.push(format!(
                "capped: {}: {which} reached the limit of reads and ended after {done:.2} cycles",
                run.name()
            ));
        }
    }
    said
}

/// Returns a table with a column for each technique of a figure. Each variant has a row of means.
/// If the figure shows workloads, a row for each workload precedes the means.
fn table(figure: &Figure, numbers: &Numbers) -> Grid {
    let (variants, techniques) = numbers.columns();
    let text = |shown: Shown| match shown {
        Shown::Number(n) => crate::numbers::digits(n),
        Shown::None => "-".into(),
        Shown::Refused => "refused".into(),
    };
    let mut grid = Grid::new(std::iter::once("").chain(techniques.iter().copied()));
    for variant in variants {
        for workload in numbers.workloads().into_iter().filter(|_| figure.by_workload) {
            let cell = |technique: &&str| {
                let half =
                    numbers.half_width(variant, workload, technique).filter(|_| figure.interval);
                text(numbers.of_workload(variant, workload, technique))
                    + &half.map_or_else(String::new, plus_minus)
            };
            grid.row(
                std::iter::once(format!("{variant} {workload}")).chain(techniques.iter().map(cell)),
            );
        }
        for (mean, words) in figure.means() {
            let name = if figure.by_workload || mean != Mean::All {
                format!("{variant} {words}")
            } else {
                variant.to_owned()
            };
            grid.row(std::iter::once(name).chain(
                techniques.iter().map(|technique| text(numbers.mean(mean, variant, technique))),
            ));
        }
    }
    grid
}

fn plus_minus(half: f64) -> String {
    format!(" ± {}", crate::numbers::digits(half))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(more: &str) -> Expected {
        toml::from_str(&format!(
            "source = 's'\n\
            what = 'w'\n\
            figure = 'f'\n\
            variant = 'v'\n\
            reclaim = 'r'\n\
            value = 0.5\n\
            {more}"
        ))
        .unwrap()
    }

    #[test]
    fn a_size_agrees_within_its_tolerance_and_a_direction_on_the_same_side() {
        let of = |more: &str, here: f64, other: f64| {
            let other = Shown::Number(other);
            verdict(&expected(more), Shown::Number(here), other, other)
        };
        let number = "tolerance = 0.1";
        assert_eq!(
            [
                of(number, 0.54, 0.0),
                of(number, 0.56, 0.0),
                of("tolerance = 0.1\ncalibrated = true", 0.5, 0.0)
            ],
            ["agrees", "differs", "agrees, by calibration"]
        );
        let of_change = |value: f64, here: f64| {
            let expected = Expected {
                value: Some(value),
                tolerance: Some(0.1),
                change_within: Some(0.5),
                ..expected(number)
            };
            verdict(&expected, Shown::Number(here), Shown::None, Shown::None)
        };
        // The paper's gain is 6.1 %. Gains of 3.1 to 9.1 % in vpass agree with this gain. Larger
        // gains have the right direction. A loss, or no gain at all, disagrees. The tolerance of
        // the ratio alone would accept all these results.
        assert_eq!([0.91, 0.93, 0.969].map(|here| of_change(0.939, here)), ["agrees"; 3]);
        assert_eq!([0.869, 0.98, 0.5].map(|here| of_change(0.939, here)), ["direction only"; 3]);
        assert_eq!([0.998, 1.0, 1.02].map(|here| of_change(0.939, here)), ["disagrees"; 3]);
        // In the first case, the paper's gain is 42.1 %. The vpass gain is within half of the
        // paper's gain, but outside the tolerance. In the other two cases, the paper reports a
        // rise.
        assert_eq!(
            [of_change(0.579, 0.384), of_change(1.4, 1.3), of_change(1.4, 0.9)],
            ["direction only", "agrees", "disagrees"]
        );
        let side = "direction_only = true";
        assert_eq!(
            [of(side, 0.99, 0.0), of(side, 1.0, 0.0), of(side, 1.5, 0.0)],
            ["direction only", "disagrees", "disagrees"]
        );
        let (below, above) =
            ("direction_only = true\nbelow = 'x'", "direction_only = true\nabove = 'x'");
        assert_eq!([of(below, 2.0, 3.0), of(below, 3.0, 3.0)], ["direction only", "disagrees"]);
        assert_eq!([of(above, 0.2, 0.1), of(above, 0.1, 0.2)], ["direction only", "disagrees"]);
        let lost = |more: &str| Expected { value: None, ..expected(more) };
        let three = Shown::Number(3.0);
        assert_eq!(verdict(&lost(below), Shown::Number(2.0), three, Shown::None), "direction only");
        assert_eq!(verdict(&lost(side), Shown::Number(2.0), three, Shown::None), "no number");
        let of = |more: &str, here, other| verdict(&expected(more), here, other, Shown::None);
        assert_eq!(of(below, Shown::Number(2.0), Shown::None), "no number");
        assert_eq!(of(side, Shown::None, Shown::None), "no number");
        assert_eq!(of(number, Shown::Refused, Shown::None), "refused: could not keep up");
        assert_eq!(of(below, Shown::Number(2.0), Shown::Refused), "refused: could not keep up");
    }
}
