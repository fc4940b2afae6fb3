//! Verdict at the top of the page: the sentences about losses and winners that the command printed.

use vpass_lab::results::quantity::Quantity;

use crate::model::{Kind, Model, Row};
use crate::numbers::{NBSP, count};
use crate::section::{capitalised, code};
use crate::sentences::sweep;
use crate::svg::escape;

/// Returns the headline of the page as markup.
pub fn headline(model: &Model) -> String {
    if let Some(swept) = &model.sweep {
        return sweep::headline(swept);
    }
    if let [only] = model.all().collect::<Vec<_>>()[..] {
        return alone(only);
    }
    // The printed verdict of other results names several winners.
    if let (Kind::Lives, Some(best)) = (model.kind, model.winners_of("life").first()) {
        return longest(best);
    }
    let first = model.verdict.first().map_or(NO_WINNER, String::as_str);
    printed(first.trim_end_matches('.'))
}

/// Headline without a printed verdict.
const NO_WINNER: &str = "No technique is clearly the best";

/// Keys of the measures in which techniques can win. The most important measure is the first.
pub(super) const MEASURES: [&str; 4] =
    ["life", "read_p99_9_us", "reclaim_write_pages", "write_amplification"];

/// Says that one technique wins a measure, such as "has the shortest read p99.9".
pub(super) fn wins(key: &str) -> String {
    if key == "life" {
        return "lives longest".into();
    }
    let quantity = Quantity::of(key);
    let best = quantity.verdict.map_or("best", |words| words.best);
    format!("has the {best} {}", quantity.label)
}

/// Describes the longest life, such as "`straw-wl` keeps all data and lives longest: 11.6 h".
fn longest(best: &Row) -> String {
    let length = best.life.map_or_else(String::new, |life| format!(": {}", life.text()));
    format!("{} keeps all data and lives longest{length}", em(best))
}

fn alone(row: &Row) -> String {
    if row.kept_data() {
        format!("{} keeps all data{}", em(row), life_of(row))
    } else {
        format!("{} loses {} of data", em(row), pages(row.lost_pages))
    }
}

fn life_of(row: &Row) -> String {
    let known = row.life.filter(|life| life.point().is_some());
    known.map_or_else(String::new, |life| format!(" and lives {}", life.text()))
}

pub(super) fn em(row: &Row) -> String {
    format!("<em>{}</em>", code(&row.label))
}

fn pages(n: f64) -> String {
    let noun = if (n - 1.0).abs() < f64::EPSILON { "page" } else { "pages" };
    format!("{}{NBSP}{noun}", count(n))
}

/// Returns the sentences below the headline of the page, as markup: the verdict that the command
/// printed. A sentence that the headline says already is left out.
pub fn lede(model: &Model) -> String {
    if let Some(swept) = &model.sweep {
        return sweep::lede(swept, model);
    }
    let headline = format!("{}.", headline(model));
    let said = model.verdict.iter().map(|sentence| printed(sentence));
    said.filter(|sentence| *sentence != headline).collect::<Vec<_>>().join(" ")
}

/// Returns what the command found out about these measures, as sentences in markup.
pub fn findings(model: &Model, keys: &[&str]) -> String {
    let sentence = |finding: &String| printed(&capitalised(format!("{finding}.")));
    let known = keys.iter().filter_map(|key| model.findings.get(*key));
    known.map(sentence).collect::<Vec<_>>().join(" ")
}

/// Returns the markup of a sentence that a command printed. Names between backquotes become code.
pub fn printed(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    let part = |(i, text): (usize, &str)| {
        if i % 2 == 1 { code(text) } else { escape(text) }
    };
    parts.map(part).collect()
}

/// Returns the technique that wins in the most important measure with a winner; `None` without a
/// winner.
pub fn leader(model: &Model) -> Option<&Row> {
    MEASURES.iter().find_map(|key| model.winners_of(key).first().copied())
}

#[cfg(test)]
mod tests;
