//! What a recipe found, for reading: every figure's means, and the paper's numbers beside ours.

use std::fmt::Write;

use serde_json::Value;

use super::Run;
use super::figure::Numbers;
use super::recipe::{Expectations, Expected, Recipe};
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
pub(super) fn render(recipe: &Recipe, figures: &[Numbers], runs: &[Run], expectations: &Expectations, colour: bool) -> String {
    let mut text = format!("{}\n  on {}; every workload is generated\n", Look::Heading.paint(&recipe.title, colour), recipe.drive);
    for (figure, numbers) in recipe.figures.iter().zip(figures) {
        let (variants, reclaims) = numbers.columns();
        let over = figure.over.as_ref().map_or_else(|| figure.unit.clone(), |over| format!("over {over}"));
        let _ = write!(text, "\n{} ({}; {over}, mean of the workloads)\n", Look::Heading.paint(&figure.title, colour), figure.name);
        let mut table = Table::new(std::iter::once("").chain(reclaims.iter().copied()));
        for variant in variants {
            let cell = |reclaim: &&str| numbers.mean(variant, reclaim).map_or_else(|| "-".into(), crate::numbers::digits);
            table.row(std::iter::once(variant.to_owned()).chain(reclaims.iter().map(cell)));
        }
        text.push_str(&table.render(colour));
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
