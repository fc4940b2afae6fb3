//! Verdict at the top of the page: which techniques keep their data, and the sentences about
//! winners that the command printed.

use crate::model::{Model, Row};
use crate::numbers::{NBSP, count, times};
use crate::section::code;
use crate::sentences::{list, sweep};
use crate::svg::escape;

/// Returns the headline of the page as markup.
pub fn headline(model: &Model) -> String {
    if let Some(swept) = &model.sweep {
        return sweep::headline(swept);
    }
    let all: Vec<&Row> = model.all().collect();
    if let [only] = all[..] {
        return alone(only);
    }
    // The printed verdict names the winners. Results without this verdict name the longest life.
    if model.verdict.is_empty()
        && let Some(best) = model.winners_of("life").first()
    {
        return longest(best, model.base(best));
    }
    let (kept, lost): (Vec<&Row>, Vec<&Row>) = all.into_iter().partition(|row| row.kept_data());
    match (&kept[..], &lost[..]) {
        (_, []) => "No technique lost data".into(),
        ([], _) => "Every technique lost data".into(),
        ([only], _) => format!("Only {} keeps all data{}", em(only), life_of(only)),
        (_, lost) => {
            let names: Vec<String> = lost.iter().map(|row| code(&row.label)).collect();
            format!("{} {} data", list(&names), if lost.len() == 1 { "loses" } else { "lose" })
        }
    }
}

/// Measure in which a technique can win, with its key and its wording.
pub(super) struct Measure {
    pub(super) key: &'static str,
    pub(super) of_one: &'static str,
}

/// Measures in which techniques can win. The most important measure is the first.
pub(super) const MEASURES: [Measure; 4] = [
    Measure { key: "life", of_one: "lives longest" },
    Measure { key: "read_p99_9_us", of_one: "has the shortest tail of reads" },
    Measure { key: "reclaim_write_pages", of_one: "rewrites the fewest pages because of reads" },
    Measure { key: "write_amplification", of_one: "has the lowest write amplification" },
];

/// Describes the ratio of two lives, such as "2.8 times". If only ranges are known, the text is
/// such as "at least 3.3 times". Returns `None` if a life is unknown.
pub fn ratio(best: &Row, base: &Row) -> Option<String> {
    let (best, base) = (best.life?, base.life?);
    let is_sure =
        best.middle.is_some() && base.middle.is_some() && !best.lives_on && !base.lives_on;
    let (more, less) = if is_sure {
        (best.point()?, base.point()?)
    } else {
        (best.low.or(best.middle)?, base.high.or(base.middle)?)
    };
    if base.lives_on || !best.is_settled || !base.is_settled || less <= 0.0 {
        return None;
    }
    let at_least = if is_sure { "" } else { "at least " };
    Some(format!("{at_least}{}", times(more / less)))
}

/// Describes the longest life, and its ratio to another life. An example is "`straw-wl` keeps all
/// data and lives longest: 11.6 h, 2.8 times `block`".
fn longest(best: &Row, base: Option<&Row>) -> String {
    let length = best.life.map_or_else(String::new, |life| format!(": {}", life.text()));
    let ratio =
        base.and_then(|base| Some(format!(", {} {}", ratio(best, base)?, code(&base.label))));
    format!("{} keeps all data and lives longest{length}{}", em(best), ratio.unwrap_or_default())
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

/// Returns the markup of a sentence that a command printed. Names between backquotes become code.
fn printed(sentence: &str) -> String {
    let parts = sentence.split('`').enumerate();
    let part = |(i, text): (usize, &str)| {
        if i % 2 == 1 { code(text) } else { escape(text) }
    };
    parts.map(part).collect()
}

/// Returns the technique that wins in the most important measure with a winner; `None` without a
/// winner.
pub fn leader(model: &Model) -> Option<&Row> {
    MEASURES.iter().find_map(|measure| model.winners_of(measure.key).first().copied())
}

#[cfg(test)]
mod tests;
