//! Sentences under the table of a comparison. The first sentences name the techniques that lost
//! data. Further sentences name the winners for life, tail latency, reclaim writes, write
//! amplification and RAM. Only techniques that kept all data compete. If a difference is within the
//! noise, there is no winner. The last sentences name techniques that did nothing, and say what a
//! single seed does not show.

use super::column::{COLUMNS, Sizes};
use super::ranking::Ranking;
use super::row::ComparisonRow;
use super::{life_unit, shown_life};
use crate::numbers::{count, plural};

/// Describes which techniques kept the data, and which technique wins each measure.
pub fn verdict(rows: &[ComparisonRow], sizes: &Sizes) -> String {
    format!("\n{}\n", sentences(rows, sizes).join(" "))
}

/// Returns the sentences of [`verdict`].
pub fn sentences(rows: &[ComparisonRow], sizes: &Sizes) -> Vec<String> {
    let mut sentences = losses(rows);
    let safe: Vec<&ComparisonRow> =
        rows.iter().filter(|row| !row.lost_data() && !row.counterfactual).collect();
    if let ([only], true) = (&safe[..], rows.len() > 1) {
        sentences.push(format!(
            "Only `{}` kept all data, so there is nothing to compare it with.",
            only.label
        ));
    }
    if safe.len() > 1 {
        let parts = findings(rows, &safe, sizes);
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
    let mut reasons: Vec<(&str, Vec<String>)> = vec![];
    for (row, why) in safe.iter().filter_map(|row| Some((row, row.idle.as_deref()?))) {
        let label = format!("`{}`", row.label);
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, labels)) => labels.push(label),
            None => reasons.push((why, vec![label])),
        }
    }
    let sentence = |(why, labels): (&str, Vec<String>)| {
        format!("Read reclaim did nothing under {}, because {why}.", labels.join(", "))
    };
    reasons.into_iter().map(sentence).collect()
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

/// Quantity by which techniques are compared.
struct Measure {
    key: &'static str,
    name: &'static str,
    /// Verb that follows the name of the measure: "is" or "are".
    verb: &'static str,
    best: &'static str,
    /// Unit of the measure's numbers.
    unit: &'static str,
    /// Whether the verdict has a sentence about this measure if all rows have equal values.
    says_alike: bool,
}

const MEASURES: [Measure; 4] = [
    Measure {
        key: "read_p99_9_us",
        name: "read p99.9",
        verb: "is",
        best: "shortest",
        unit: "",
        says_alike: true,
    },
    Measure {
        key: "reclaim_write_pages",
        name: "reclaim writes",
        verb: "are",
        best: "fewest",
        unit: " pages",
        says_alike: false,
    },
    Measure {
        key: "write_amplification",
        name: "write amplification",
        verb: "is",
        best: "smallest",
        unit: "",
        says_alike: false,
    },
    Measure {
        key: "controller_ram_bytes",
        name: "RAM",
        verb: "is",
        best: "smallest",
        unit: "",
        says_alike: true,
    },
];

/// Returns sentences about the rows that kept all data, with the most important sentence first.
fn findings(rows: &[ComparisonRow], safe: &[&ComparisonRow], sizes: &Sizes) -> Vec<String> {
    let life = shown_life(rows).map(|unit| Measure {
        key: unit.key(),
        name: "life",
        verb: "is",
        best: "longest",
        unit: "",
        says_alike: true,
    });
    let (mut parts, mut unknown) = (vec![], vec![]);
    for measure in life.iter().chain(&MEASURES) {
        match measure.of(safe, sizes) {
            Found::Nothing => {}
            Found::Said(words) => parts.push(words),
            Found::Unknown(needed) => unknown.push((measure.name, needed)),
        }
    }
    parts.extend(too_short(&unknown));
    parts
}

/// Result of comparing the rows by one measure.
enum Found {
    Nothing,
    Said(String),
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

impl Measure {
    /// Describes the winner of this measure, such as "life is longest under `a` (12.9 h, against
    /// 4.40 h under `b`: 2.93 times)".
    fn of(&self, rows: &[&ComparisonRow], sizes: &Sizes) -> Found {
        let column = COLUMNS.iter().position(|c| c.key == self.key).expect("a column has this key");
        let Some(ranking) = Ranking::of(rows, column, sizes) else { return Found::Nothing };
        let (measure, verb, unit, best) = (self.name, self.verb, self.unit, self.best);
        let first = &ranking.front[0].text;
        if ranking.is_alike() {
            let words = format!("{measure} {verb} the same under all ({first}{unit})");
            return if self.says_alike { Found::Said(words) } else { Found::Nothing };
        }
        if !ranking.is_known() {
            return Found::Unknown(COLUMNS[column].needed());
        }
        Found::Said(match ranking.behind.first() {
            None => format!(
                "{measure} {verb} too close to rank ({values}{unit})",
                values = ranking.front_texts()
            ),
            Some(next) if ranking.front_is_alike() => format!(
                "{measure} {verb} {best} under {names} ({}{unit}, against {}{unit} under \
                 `{}`{times})",
                ranking.front[0].in_sentence(),
                next.in_sentence(),
                next.row.label,
                names = ranking
                    .front
                    .iter()
                    .map(|standing| format!("`{}`", standing.row.label))
                    .collect::<Vec<_>>()
                    .join(" and "),
                times = ranking.times()
            ),
            Some(next) => format!(
                "{measure} {verb} {best} under these techniques, which are too close to rank: \
                 {values}{unit}; next is `{}` {}{unit}",
                next.row.label,
                next.with_range,
                values = ranking.front_texts()
            ),
        })
    }
}

#[cfg(test)]
pub(super) mod tests;
