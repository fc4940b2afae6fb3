//! Sentences under the table of a comparison. The first sentences name the techniques that lost
//! data. Further sentences name the winners for life, tail latency, reclaim writes, write
//! amplification and RAM. Only techniques that kept all data compete. If a difference is within the
//! noise, there is no winner.

use super::column::{COLUMNS, Sizes};
use super::life_unit;
use super::ranking::Ranking;
use super::row::ComparisonRow;
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
        if !parts.is_empty() {
            sentences
                .push(format!("Among the techniques that kept all data: {}.", parts.join("; ")));
        }
        let baselines = safe.iter().filter(|row| row.baseline);
        sentences.extend(baselines.map(|row| {
            format!("`{}` protects no data from reads, so it is not compared.", row.label)
        }));
    }
    sentences
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
    let life = life_unit(rows).map(|unit| Measure {
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
        let is_life = COLUMNS[column].life_unit().is_some();
        if is_life && let Some(words) = no_wear(rows) {
            return Found::Said(words);
        }
        if is_life && !rows.iter().all(|row| row.life_settled()) {
            return Found::Said(NOT_SETTLED.into());
        }
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
        let longer = || if is_life { longer_runs(rows) } else { String::new() };
        Found::Said(match ranking.behind.first() {
            None => format!(
                "{measure} {verb} too close to rank ({values}{unit}){longer}",
                values = ranking.front_texts(),
                longer = longer()
            ),
            Some(next) if ranking.front_is_alike() => format!(
                "{measure} {verb} {best} under {names} ({first}{unit}, against {}{unit} under \
                 `{}`{times})",
                next.text,
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
                 {values}{unit}; next is `{}` {}{unit}{longer}",
                next.row.label,
                next.with_range,
                values = ranking.front_texts(),
                longer = longer()
            ),
        })
    }
}

/// Sentence that is printed if the runs of any row are too short to project a life.
const NOT_SETTLED: &str = "life is not known, because the runs are too short for their rates to \
    settle; `vpass life` simulates lives";

/// Returns a sentence about lives if no row shows any wear. Otherwise returns `None`.
fn no_wear(rows: &[&ComparisonRow]) -> Option<String> {
    let lives = rows.iter().map(|row| row.life(row.life_unit()?)).collect::<Option<Vec<_>>>()?;
    if rows.len() < 2 || !lives.iter().all(|life| life.no_wear) {
        return None;
    }
    let needed: Vec<Option<u64>> = rows.iter().map(|row| row.requests_for_life()).collect();
    let most = needed.iter().flatten().max();
    let never: Vec<String> = rows
        .iter()
        .zip(&needed)
        .filter(|(_, needed)| needed.is_none())
        .map(|(row, _)| format!("`{}`", row.label))
        .collect();
    Some(match most {
        Some(requests) if never.is_empty() => {
            format!(
                "life is not known: no wear was seen, and the runs are too short; run at least {} \
                 requests",
                count(*requests)
            )
        }
        Some(requests) => format!(
            "life is not known: no wear was seen, and the runs are too short; run at least {} \
             requests; nothing is programmed or erased under {}",
            count(*requests),
            never.join(", ")
        ),
        None => "life is not known: no wear was seen, because this workload causes no wear".into(),
    })
}

/// Returns a text such as "; the life under each technique needs at least 3,000 requests".
/// The text is empty if the life of each row is already known as a single number.
fn longer_runs(rows: &[&ComparisonRow]) -> String {
    let most = rows.iter().filter_map(|row| row.requests_for_life()).max();
    most.map_or_else(String::new, |requests| {
        format!(
            "; the life under each technique needs at least {} requests, perhaps more",
            count(requests)
        )
    })
}

#[cfg(test)]
pub(super) mod tests;
