//! Verdict at the top of the page: which technique wins and by how much, which techniques lose
//! data, and what the winner costs.

use crate::columns::column;
use crate::model::{Kind, Model, Row};
use crate::numbers::{NBSP, bytes, count, times, us};
use crate::section::{bold, code};
use crate::sentences::{list, paper, sweep};

/// Returns the headline of the page as markup. The headline names a winner only if, by the
/// intervals, the winner is better than all other techniques that kept their data.
pub fn headline(model: &Model) -> String {
    if let Some(paper) = &model.paper {
        return paper::headline(&paper.claims);
    }
    if let Some(swept) = &model.sweep {
        return sweep::headline(swept);
    }
    let all: Vec<&Row> = model.all().collect();
    if let [only] = all[..] {
        return alone(only);
    }
    let safe: Vec<&Row> = all.iter().copied().filter(|row| row.may_win()).collect();
    if all.iter().all(|row| !row.kept_data()) {
        return "Every technique lost data".into();
    }
    if let ([only], true) = (&safe[..], all.iter().any(|row| !row.kept_data())) {
        return format!("Only {} keeps all data{}", em(only), life_of(only));
    }
    let [life, others @ ..] = &MEASURES;
    let winner = won(model, life)
        .or_else(|| tied(model, life))
        .or_else(|| others.iter().find_map(|measure| won(model, measure)))
        .or_else(|| others.iter().find_map(|measure| tied(model, measure)));
    winner.unwrap_or_else(|| {
        if safe.is_empty() {
            return "No technique that protects data was run".into();
        }
        let names: Vec<String> = safe.iter().map(|row| code(&row.label)).collect();
        format!("{} keep all data, and cannot be ranked by {}", list(&names), measures_of(model))
    })
}

/// Measure that the headline can use, with its key and its wording for one winner and for several
/// winners.
pub(super) struct Measure {
    pub(super) key: &'static str,
    pub(super) of_one: &'static str,
    of_several: &'static str,
}

/// Measures for the headline. The most important measure is the first.
pub(super) const MEASURES: [Measure; 4] = [
    Measure { key: "life", of_one: "lives longest", of_several: "live longest" },
    Measure {
        key: "read_p99_9_us",
        of_one: "has the shortest tail of reads",
        of_several: "have the shortest tail of reads",
    },
    Measure {
        key: "reclaim_write_pages",
        of_one: "rewrites the fewest pages because of reads",
        of_several: "rewrite the fewest pages because of reads",
    },
    Measure {
        key: "write_amplification",
        of_one: "has the lowest write amplification",
        of_several: "have the lowest write amplification",
    },
];

/// Returns the headline about the winners in a measure; `None` if the measure has no winner.
fn won(model: &Model, measure: &Measure) -> Option<String> {
    let winners = model.winners_of(measure.key);
    let best = *winners.first()?;
    let others = || {
        model
            .all()
            .filter(|row| model.is_ranked(row) && winners.iter().all(|w| w.label != row.label))
    };
    let base = others().find(|row| row.reclaim == "block").or_else(|| others().next());
    let names: Vec<String> = winners.iter().map(|row| em(row)).collect();
    let (keep, does) = match names.len() {
        1 => ("keeps", measure.of_one),
        _ => ("keep", measure.of_several),
    };
    let amount = if measure.key == "life" {
        life_amount(best, base)
    } else {
        amount(measure.key, best, base)
    };
    Some(format!("{} {keep} all data and {does}{amount}", list(&names)))
}

/// Returns the headline for a measure in which several techniques may be the best. All these
/// techniques are better than some other technique.
fn tied(model: &Model, measure: &Measure) -> Option<String> {
    let (mut front, behind) = model.front_of(measure.key)?;
    let is_life = measure.key == "life";
    // The best comes first: the longest life, or else the smallest number.
    let rank = |row: &Row| match (is_life, row.life) {
        (true, life) => life.and_then(|life| life.point()).map_or(0.0, |life| -life),
        (false, _) => row.value(measure.key).unwrap_or(f64::INFINITY),
    };
    front.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
    let base = behind.iter().find(|row| row.reclaim == "block").or(behind.first());
    let value = |row: &Row| text_of(row, measure.key);
    let values: Vec<String> = front.iter().filter_map(|row| value(row)).collect();
    let names: Vec<String> = front.iter().map(|row| em(row)).collect();
    let against = base.and_then(|row| Some((row, value(row)?)));
    let against = against.map_or_else(String::new, |(row, text)| {
        format!(", against {text} under {}", code(&row.label))
    });
    let why = if is_life && front.iter().all(|row| row.life.is_some_and(|life| life.lives_on)) {
        "outlive the simulation, so the longest life is not known".into()
    } else {
        format!("{}, but are too close to rank", measure.of_several)
    };
    Some(format!("{} keep all data and {why}: {}{against}", list(&names), list(&values)))
}

/// Returns the value of a technique in a measure as text; `None` if the value is unknown.
fn text_of(row: &Row, key: &str) -> Option<String> {
    if key == "life" {
        row.life.filter(|life| life.is_settled && life.point().is_some()).map(|life| life.text())
    } else {
        row.value(key).map(|value| column(key).unit.text(value))
    }
}

/// Describes the winner's life, and its ratio to another life. An example is ": 11.6 h, 2.8 times
/// `block`".
fn life_amount(best: &Row, base: Option<&Row>) -> String {
    let text = best.life.map_or_else(String::new, |life| format!(": {}", life.text()));
    let ratio =
        base.and_then(|base| Some(format!(", {} {}", ratio(best, base)?, code(&base.label))));
    text + &ratio.unwrap_or_default()
}

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

/// Describes the winner's number and another number, such as ": 1,808, against 205,153 under
/// `block`".
fn amount(key: &str, best: &Row, base: Option<&Row>) -> String {
    let unit = column(key).unit;
    let Some(value) = best.value(key) else { return String::new() };
    let other = base.and_then(|base| Some((base, base.value(key)?)));
    let other = other
        .map(|(base, than)| format!(", against {} under {}", unit.text(than), code(&base.label)));
    format!(": {}{}", unit.text(value), other.unwrap_or_default())
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

/// Returns the names of the measures in which techniques were compared.
fn measures_of(model: &Model) -> &'static str {
    match (model.kind, model.is_timed()) {
        (Kind::Lives, _) => "their lives",
        (_, true) => "life, read tail and rewritten pages",
        (_, false) => "life and rewritten pages",
    }
}

pub(super) fn em(row: &Row) -> String {
    format!("<em>{}</em>", code(&row.label))
}

fn pages(n: f64) -> String {
    let noun = if (n - 1.0).abs() < f64::EPSILON { "page" } else { "pages" };
    format!("{}{NBSP}{noun}", count(n))
}

/// Returns the sentences below the headline of the page, as markup.
pub fn lede(model: &Model) -> String {
    if let Some(swept) = &model.sweep {
        return sweep::lede(swept, model);
    }
    let mut said: Vec<String> = vec![];
    let all: Vec<&Row> = model.all().collect();
    if all.len() > 1 {
        said.extend(all.iter().filter(|row| !row.kept_data()).map(|row| loss(row)));
    }
    said.extend(needless(&all));
    said.extend(lives(&all, model));
    let best = leader(model);
    if let Some((best, base)) = best.and_then(|best| Some((best, model.base(best)?))) {
        said.extend(price(best, base));
        said.extend(slowest(best, base));
    }
    if let Some(best) = best.filter(|best| !best.assumptions.is_empty()) {
        said.push(format!(
            "The numbers of {} rest on assumptions, <a href=\"#warn\">listed below</a>.",
            code(&best.label)
        ));
    }
    said.join(" ")
}

/// Returns the technique that the headline names as the winner; `None` without a winner.
pub fn leader(model: &Model) -> Option<&Row> {
    MEASURES.iter().find_map(|measure| model.winners_of(measure.key).first().copied())
}

fn loss(row: &Row) -> String {
    let lost = format!("{} loses {}", code(&row.label), pages(row.lost_pages));
    let without = if row.reclaim == "none" { "Without reclaim " } else { "" };
    let runs = match row.runs.len() {
        0 | 1 => String::new(),
        n => format!(" in {n} runs"),
    };
    format!("<b>{without}{lost}</b> of data{runs}.")
}

/// Returns a sentence about a workload that needs no reclaim. The sentence exists only if `none`
/// kept all data.
fn needless(all: &[&Row]) -> Option<String> {
    let none = all.iter().find(|row| row.reclaim == "none" && row.kept_data())?;
    Some(format!(
        "{} loses nothing in this run, so the run shows only what protection costs, and not what \
         protection saves.",
        code(&none.label)
    ))
}

/// Returns a sentence about the lives, if the headline says nothing about them.
fn lives(all: &[&Row], model: &Model) -> Option<String> {
    let safe: Vec<&&Row> = all.iter().filter(|row| row.may_win()).collect();
    let is_said = !model.winners_of("life").is_empty() || model.front_of("life").is_some();
    if safe.is_empty() || is_said {
        return None;
    }
    if !model.shows_life() {
        return Some(format!("{} simulates the life of the drive.", code("vpass life")));
    }
    let known: Vec<String> = safe
        .iter()
        .filter_map(|row| Some(format!("{} {}", code(&row.label), row.life?.text())))
        .collect();
    let why = if safe.iter().all(|row| row.life.is_some_and(|life| life.lives_on)) {
        "The drives outlive the simulation"
    } else if safe.iter().all(|row| model.is_ranked(row)) {
        "The lives are too close to rank"
    } else {
        "The lives cannot be ranked"
    };
    (safe.len() > 1 && known.len() == safe.len()).then(|| format!("{why}: {}.", list(&known)))
}

/// Describes what both techniques cost: controller memory and rewritten pages.
fn price(best: &Row, base: &Row) -> Option<String> {
    let ram = |row: &Row| row.value("controller_ram_bytes");
    let (of_best, of_base) = (ram(best)?, ram(base)?);
    let writes = |row: &Row| row.value("reclaim_write_pages");
    let rewrites =
        |row: &Row| writes(row).map_or_else(String::new, |n| format!(" and rewrites {}", pages(n)));
    Some(format!(
        "{base} takes {} of controller memory{base_rewrites}; {best} takes {}{best_rewrites}.",
        bytes(of_base),
        bytes(of_best),
        base_rewrites = rewrites(base),
        best_rewrites = rewrites(best),
        base = code(&base.label),
        best = code(&best.label)
    ))
}

/// Describes the winner's slowest read. The sentence exists only if this read is much slower than
/// the slowest read of `base`.
fn slowest(best: &Row, base: &Row) -> Option<String> {
    let (mine, other) = (best.value("read_max_us")?, base.value("read_max_us")?);
    (mine > 1.5 * other).then(|| {
        format!(
            "The slowest read of the best technique takes {}, against {} under {}.",
            bold(&us(mine)),
            us(other),
            code(&base.label)
        )
    })
}

#[cfg(test)]
mod tests;
