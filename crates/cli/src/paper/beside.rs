//! What a recipe found, for reading: every figure's means, and the paper's numbers beside ours.

use std::fmt::Write;

use serde_json::Value;

use super::Run;
use super::figure::Numbers;
use super::recipe::{Expectations, Expected, Figure, Recipe};
use crate::table::{Look, Table};

/// A number of the paper and ours, where there is one.
fn compared<'a>(recipe: &Recipe, figures: &[Numbers], expectations: &'a Expectations) -> Vec<(&'a Expected, Option<f64>)> {
    let of = |e: &Expected| recipe.figures.iter().position(|f| f.name == e.figure).and_then(|i| figures[i].measured(e));
    expectations.expected.iter().map(|e| (e, of(e))).collect()
}

fn verdict(expected: &Expected, here: Option<f64>) -> &'static str {
    match here {
        None => "no number",
        Some(here) if (here - expected.value).abs() > expected.tolerance * expected.value.abs() => "differs",
        Some(_) if expected.calibrated => "agrees, by calibration",
        Some(_) => "agrees",
    }
}

/// Both numbers, and whether they agree.
pub(super) fn csv(recipe: &Recipe, figures: &[Numbers], expectations: &Expectations) -> String {
    let mut csv = String::from("source,what,paper,here,tolerance,verdict\n");
    for (e, here) in compared(recipe, figures, expectations) {
        let here_text = here.map_or_else(String::new, |n| n.to_string());
        let _ = writeln!(csv, "\"{}\",\"{}\",{},{here_text},{},\"{}\"", e.source, e.what, e.value, e.tolerance, verdict(e, here));
    }
    csv
}

/// All of it.
pub(super) fn render(
    (recipe, sources): (&Recipe, &str),
    figures: &[Numbers],
    runs: &[Run],
    expectations: &Expectations,
    colour: bool,
) -> String {
    let mut text = format!("{}\n  on {}; {sources}\n", Look::Heading.paint(&recipe.title, colour), recipe.drive);
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let over = figure.over.as_ref().map_or_else(|| figure.unit.clone(), |over| format!("over {over}"));
        let rows = if figure.by_workload { "" } else { ", mean of the workloads" };
        let _ = write!(text, "\n{} ({}; {over}{rows})\n", Look::Heading.paint(&figure.title, colour), figure.name);
        text.push_str(&table(figure, numbers).render(colour));
    }
    if !expectations.expected.is_empty() {
        let _ = write!(text, "\n{}\n", Look::Heading.paint("Beside the paper", colour));
        let mut table = Table::new(["source", "what", "paper", "here", ""]);
        for (e, here) in compared(recipe, figures, expectations) {
            let here_text = here.map_or_else(|| "-".into(), crate::numbers::digits);
            table.row([e.source.clone(), e.what.clone(), crate::numbers::digits(e.value), here_text, verdict(e, here).into()]);
        }
        text.push_str(&table.render_words(colour));
    }
    for left_out in &expectations.not_reproduced {
        let _ = writeln!(text, "  not reproduced: {}: {}", left_out.what, left_out.why);
    }
    for run in runs.iter().filter(|r| r.summary.pointer("/data_lost_pages").and_then(Value::as_u64).unwrap_or(0) > 0) {
        let lost = run.summary.pointer("/data_lost_pages").and_then(Value::as_u64).unwrap_or(0);
        let _ = writeln!(text, "  {}", Look::Bad.paint(&format!("data lost: {lost} pages in {}", run.name()), colour));
    }
    text
}

/// A figure's techniques side by side: the means of each variant, and each workload before them where the figure says so.
fn table(figure: &Figure, numbers: &Numbers) -> Table {
    let (variants, reclaims) = numbers.columns();
    let text = |number: Option<f64>| number.map_or_else(|| "-".into(), crate::numbers::digits);
    let mut table = Table::new(std::iter::once("").chain(reclaims.iter().copied()));
    for variant in variants {
        for workload in numbers.workloads().into_iter().filter(|_| figure.by_workload) {
            let cell = |reclaim: &&str| text(numbers.of_workload(variant, workload, reclaim));
            table.row(std::iter::once(format!("{variant} {workload}")).chain(reclaims.iter().map(cell)));
        }
        let name = if figure.by_workload { format!("{variant} mean") } else { variant.to_owned() };
        table.row(std::iter::once(name).chain(reclaims.iter().map(|reclaim| text(numbers.mean(variant, reclaim)))));
    }
    table
}
