//! Sentences under the table of a comparison. The first sentences name the techniques that lost
//! data. Further sentences name the winners for life, tail latency, reclaim writes, write
//! amplification and RAM. Only techniques that kept all data compete. If a difference is within the
//! noise, there is no winner. The last sentences name techniques that did nothing, and say what a
//! single seed does not show.

use std::collections::BTreeMap;

use super::ranking::Ranking;
use super::refused::grouped;
use super::row::ComparisonRow;
use super::{life_unit, shown_life};
use crate::numbers::{count, plural};
use crate::results::LifeUnit;
use crate::results::quantity::{Quantity, Unit};

/// Describes which techniques kept the data, and which technique wins each quantity.
pub fn sentences(rows: &[ComparisonRow]) -> Vec<String> {
    let mut sentences = losses(rows);
    let safe = safe(rows);
    if let ([only], true) = (&safe[..], rows.len() > 1) {
        sentences.push(format!(
            "Only `{}` kept all data, so there is nothing to compare it with.",
            only.label
        ));
    }
    if safe.len() > 1 {
        let parts = parts(&found(rows));
        let is_close = parts.iter().any(|part| part.contains("too close to rank"));
        if !parts.is_empty() {
            sentences
                .push(format!("Among the techniques that kept all data: {}.", parts.join("; ")));
        }
        let baselines = safe.iter().filter(|row| row.baseline);
        sentences.extend(baselines.map(|row| {
            format!("`{}` protects no data from reads, so it is not compared.", row.label)
        }));
        sentences.extend(idle(&safe));
        if rows.iter().all(|row| row.ignores_seed) {
            sentences.push(NO_SEED.into());
        } else if rows[0].runs.len() == 1 {
            sentences.push(ONE_SEED.into());
        } else if is_close && rows[0].runs.len() <= FEW_SEEDS {
            sentences.push("More seeds can rank smaller differences.".into());
        }
        if life_unit(rows).is_some() && shown_life(rows).is_none() {
            sentences.push("`vpass life` simulates the life of the drive.".into());
        }
    }
    sentences
}

/// Sentence about comparisons with one seed.
const ONE_SEED: &str = "Only one seed was run. The places of hot pages depend on the seed, and \
    other seeds may give other differences.";

/// Largest number of seeds for which the verdict recommends more seeds. The 99 % interval of three
/// differences is 5.6 times as wide as that of ten.
const FEW_SEEDS: usize = 8;

/// Sentence about comparisons that no seed changes.
const NO_SEED: &str = "Neither the trace nor the start of the drive depends on the seed, so other \
    seeds give the same results.";

/// Names the techniques that did nothing, with the reason.
fn idle(safe: &[&ComparisonRow]) -> Vec<String> {
    let sentence = |(labels, why): (String, &str)| {
        format!("Read reclaim did nothing under {labels}, because {why}.")
    };
    let named = safe.iter().filter_map(|row| {
        let why = row.idle.as_deref()?;
        Some((why, format!("`{}`", row.label)))
    });
    grouped(named).into_iter().map(sentence).collect()
}

/// Describes the data that techniques lost. An example is "`none` lost data: 456 pages."
fn losses(rows: &[ComparisonRow]) -> Vec<String> {
    let lossy: Vec<&ComparisonRow> = rows.iter().filter(|row| row.lost_data()).collect();
    let of = |row: &&ComparisonRow| {
        let pages: u64 = row.runs.iter().map(|run| run.data_lost_pages).sum();
        let reads: u64 = row.runs.iter().map(|run| run.uncorrectable_reads).sum();
        let what = if pages > 0 { plural(pages, "page") } else { plural(reads, "failed read") };
        let runs =
            if row.runs.len() > 1 { format!(" in {} runs", row.runs.len()) } else { String::new() };
        format!("`{}` lost data: {what}{runs}", row.label)
    };
    let sentences: Vec<String> = lossy.iter().map(of).collect();
    match sentences.len() {
        0 => vec!["No technique lost data.".into()],
        n if n == rows.len() => {
            vec!["Every technique lost data.".into(), format!("{}.", sentences.join("; "))]
        }
        _ => vec![format!("{}.", sentences.join("; "))],
    }
}

/// Keys of the quantities that a verdict names after the life, with the most important first.
const NAMED: [&str; 4] =
    ["read_p99_9_us", "reclaim_write_pages", "write_amplification", "controller_ram_bytes"];

/// Returns the rows that kept all data and that a real drive can have.
fn safe(rows: &[ComparisonRow]) -> Vec<&ComparisonRow> {
    rows.iter().filter(|row| !row.lost_data() && !row.counterfactual).collect()
}

/// Returns what is known of each quantity that a verdict names, as the part of a sentence. The key
/// `life` stands for the life in the unit that suits the workload.
pub fn findings(rows: &[ComparisonRow]) -> BTreeMap<String, String> {
    let finding = |(quantity, found): (&Quantity, Found)| {
        let is_life = quantity.life_unit().is_some();
        let text = match found {
            Found::Said(text) | Found::Alike(text) => text,
            Found::Unknown(needed) => too_short(&[(quantity.label, needed)])?,
        };
        Some((if is_life { "life" } else { quantity.key }.to_owned(), text))
    };
    found(rows).into_iter().filter_map(finding).collect()
}

/// Returns the parts of a sentence about these findings, with the most important part first.
fn parts(found: &[(&Quantity, Found)]) -> Vec<String> {
    let (mut parts, mut unknown) = (vec![], vec![]);
    for (quantity, found) in found {
        let says_alike = quantity.verdict.is_some_and(|words| words.says_alike);
        match found {
            Found::Said(text) => parts.push(text.clone()),
            Found::Alike(text) => parts.extend(says_alike.then(|| text.clone())),
            Found::Unknown(needed) => unknown.push((quantity.label, *needed)),
        }
    }
    parts.extend(too_short(&unknown));
    parts
}

/// Compares the rows that kept all data by each quantity that a verdict names.
fn found(rows: &[ComparisonRow]) -> Vec<(&'static Quantity, Found)> {
    let (safe, life) = (safe(rows), shown_life(rows).map(LifeUnit::key));
    let named = life.into_iter().chain(NAMED).map(Quantity::of);
    named.filter_map(|quantity| Some((quantity, of_quantity(&safe, quantity)?))).collect()
}

/// Result of comparing the rows by one quantity.
enum Found {
    Said(String),
    /// Equal values in all rows.
    Alike(String),
    /// Unknown noise, with the number of requests or reads after which a run shows the noise.
    Unknown((u64, &'static str)),
}

/// Formats the sentence that names the measures for which the runs are too short. An example is
/// "read p99.9 and reclaim writes are not compared: ...".
fn too_short(unknown: &[(&str, (u64, &'static str))]) -> Option<String> {
    let (requests, what) = unknown.iter().map(|(_, needed)| *needed).max()?;
    let names = match unknown.iter().map(|(name, _)| *name).collect::<Vec<_>>()[..] {
        [one] if one != "reclaim writes" => format!("{one} is"),
        [one] => format!("{one} are"),
        [ref others @ .., last] => format!("{} and {last} are", others.join(", ")),
        [] => return None,
    };
    Some(format!(
        "{names} not compared, because the noise of such short runs is not known. A run needs {} \
         {what}",
        count(requests)
    ))
}

/// Describes the winner of a quantity, such as "life is longest under `a` (12.9 h, against 4.40 h
/// under `b`: 2.93 times)".
fn of_quantity(rows: &[&ComparisonRow], quantity: &Quantity) -> Option<Found> {
    let (words, ranking) = (quantity.verdict?, Ranking::of_rows(rows.iter().copied(), quantity)?);
    let is_life = quantity.life_unit().is_some();
    let name = if is_life { "life" } else { quantity.label };
    let unit = if quantity.unit == Unit::Pages { " pages" } else { "" };
    let (verb, best, first) = (words.verb, words.best, &ranking.front[0].text);
    if ranking.is_alike() {
        let alike = format!("{name} {verb} the same under all ({first}{unit})");
        return Some(Found::Alike(alike));
    }
    if !ranking.is_known {
        return Some(Found::Unknown(quantity.needed()));
    }
    let values = ranking.front_texts();
    Some(Found::Said(match ranking.behind.first() {
        None => format!("{name} {verb} too close to rank ({values}{unit})"),
        Some(next) if ranking.front_is_alike() => {
            let names: Vec<String> =
                ranking.front.iter().map(|one| format!("`{}`", one.row.label)).collect();
            format!(
                "{name} {verb} {best} under {} ({}{unit}, against {}{unit} under `{}`{})",
                names.join(" and "),
                ranking.front[0].in_sentence(),
                next.in_sentence(),
                next.row.label,
                ranking.times()
            )
        }
        Some(next) => format!(
            "{name} {verb} {best} under these techniques, which are too close to rank: \
             {values}{unit}; next is `{}` {}{unit}",
            next.row.label, next.with_range
        ),
    }))
}

#[cfg(test)]
pub(super) mod tests;
