//! Part 2 of the page: up to four cards. Each card is about one measure. The card names the best
//! technique and the next one, and shows a bar for every technique.

use std::fmt::Write;

use crate::columns::Unit;
use crate::model::{Kind, Model, Row};
use crate::numbers::two;
use crate::section::Section;
use crate::sentences::verdict::{leader, ratio};
use crate::svg::{escape, percent};

/// Length limit for the bar of a technique that lost data. The limit is a multiple of the longest
/// bar among techniques that kept their data.
const CAP: f64 = 1.6;
/// Length of the shortest bar for a value above 0, as a share of the width.
const SMALLEST: f64 = 0.03;
/// Largest relative difference between two numbers that still count as equal.
const ALIKE: f64 = 0.01;

/// Measure that a card shows, such as the life.
struct Measure {
    key: &'static str,
    title: &'static str,
    /// Title of the card on a page with only one technique, where nothing can be compared.
    alone: &'static str,
    more_is_better: bool,
    /// Whether the lengths of the bars are logarithmic.
    is_log: bool,
    value: fn(&Row) -> Option<f64>,
    text: fn(&Row) -> String,
}

/// Returns the page section with the cards. Lives that have not settled have no card.
pub(crate) fn section(model: &Model) -> Section {
    let measures = measures(model);
    let shown = measures.iter().filter(|measure| measure.key != "life" || model.shows_life());
    let cards: String = shown.map(|measure| card(model, measure)).collect();
    Section { html: format!("<div class=\"cards\">{cards}</div>"), data: vec![] }
}

fn measures(model: &Model) -> [Measure; 4] {
    let life = Measure {
        key: "life",
        title: "Longest life",
        alone: "Life",
        more_is_better: true,
        is_log: false,
        value: |row| row.life?.point(),
        text: |row| row.life.map_or_else(|| "–".into(), |life| life.text()),
    };
    let amplification = of_column(
        "write_amplification",
        if model.kind == Kind::Lives {
            ["Write amplification"; 2]
        } else {
            ["Lowest write amplification", "Write amplification"]
        },
        |row| row.value("write_amplification"),
        |row| text_of(row, "write_amplification", Unit::Ratio),
    );
    let lost = of_column(
        "data_lost_pages",
        ["Lost pages"; 2],
        |row| row.value("data_lost_pages"),
        |row| text_of(row, "data_lost_pages", Unit::Count),
    );
    match model.kind {
        Kind::Lives => [
            life,
            of_column(
                "reads_share",
                ["Share of the wear by reads"; 2],
                |row| Some(100.0 * row.wearing.as_ref()?.shares[2]),
                |row| {
                    let share = row.wearing.as_ref().map(|wearing| 100.0 * wearing.shares[2]);
                    share.map_or_else(|| "–".into(), |share| Unit::Percent.text(share))
                },
            ),
            amplification,
            lost,
        ],
        _ => [
            life,
            if model.is_timed() {
                of_column(
                    "read_p99_9_us",
                    ["Shortest tail: read p99.9", "Tail: read p99.9"],
                    |row| row.value("read_p99_9_us"),
                    |row| text_of(row, "read_p99_9_us", Unit::Us),
                )
            } else {
                of_column(
                    "reclaim_write_pages",
                    ["Fewest pages rewritten because of reads", "Pages rewritten because of reads"],
                    |row| row.value("reclaim_write_pages"),
                    |row| text_of(row, "reclaim_write_pages", Unit::Count),
                )
            },
            amplification,
            Measure {
                is_log: true,
                ..of_column(
                    "controller_ram_bytes",
                    ["Smallest controller memory", "Controller memory"],
                    |row| row.value("controller_ram_bytes"),
                    |row| text_of(row, "controller_ram_bytes", Unit::Bytes),
                )
            },
        ],
    }
}

fn of_column(
    key: &'static str,
    [title, alone]: [&'static str; 2],
    value: fn(&Row) -> Option<f64>,
    text: fn(&Row) -> String,
) -> Measure {
    Measure { key, title, alone, more_is_better: false, is_log: false, value, text }
}

fn text_of(row: &Row, key: &str, unit: Unit) -> String {
    row.value(key).map_or_else(|| "–".into(), |value| unit.text(value))
}

fn card(model: &Model, measure: &Measure) -> String {
    let winners = model.winners_of(measure.key);
    let best = winners.first().copied();
    let (big, by) = match best {
        Some(best) => ((measure.text)(best), against(model, measure, best, &winners)),
        None => undecided(model, measure),
    };
    let place = best.and_then(|best| model.place(&best.label));
    let class = place.map_or_else(String::new, |i| format!(" c{i}"));
    let long = if big.chars().count() > 9 { " long" } else { "" };
    let bars_are = if measure.is_log { " (bars: logarithmic)" } else { "" };
    format!(
        "<div class=\"card{class}\"><h2>{}</h2><p class=\"big{long}\">{}</p><p class=\"by\">\
         {by}{bars_are}</p><dl class=\"mini\">{}</dl></div>",
        escape(if model.all().count() > 1 { measure.title } else { measure.alone }),
        escape(&big),
        bars(model, measure, &winners)
    )
}

/// Returns the text about the winners and the next technique, such as "`a`; `b` takes 1.2 times as
/// much".
fn against(model: &Model, measure: &Measure, best: &Row, winners: &[&Row]) -> String {
    let names: Vec<String> =
        winners.iter().map(|row| format!("<b>{}</b>", escape(&row.label))).collect();
    let names = crate::sentences::list(&names);
    let mut others: Vec<(&Row, f64)> = model
        .all()
        .filter(|row| row.may_win() && !winners.iter().any(|winner| winner.label == row.label))
        .filter_map(|row| Some((row, (measure.value)(row)?)))
        .collect();
    others.sort_by(
        |a, b| if measure.more_is_better { b.1.total_cmp(&a.1) } else { a.1.total_cmp(&b.1) },
    );
    let Some(((next, than), value)) = others.first().zip((measure.value)(best)) else {
        return names;
    };
    let next = escape(&next.label);
    if value <= 0.0 || *than <= 0.0 {
        return format!("{names}; next is {next}");
    }
    if let Some(ratio) =
        others.first().and_then(|(row, _)| ratio(best, row)).filter(|_| measure.key == "life")
    {
        return format!("{names}, {ratio} {next}");
    }
    if measure.more_is_better {
        format!("{names}, {} times {next}", two(value / than))
    } else {
        format!("{names}; {next} takes {} times as much", two(than / value))
    }
}

/// Returns the text of a card without a winner, and the reason why no technique wins.
fn undecided(model: &Model, measure: &Measure) -> (String, String) {
    if let Some(of_best) = of_the_longest_lives(model, measure) {
        return of_best;
    }
    let all: Vec<&Row> = model.all().filter(|row| row.kept_data() && !row.counterfactual).collect();
    let competing: Vec<&Row> = all.iter().copied().filter(|row| row.may_win()).collect();
    let safe = if competing.is_empty() { all } else { competing };
    let known: Vec<(&Row, f64)> =
        safe.iter().filter_map(|row| Some((*row, (measure.value)(row)?))).collect();
    if let ([one], 1) = (&known[..], model.all().count()) {
        return ((measure.text)(one.0), format!("<b>{}</b>", escape(&one.0.label)));
    }
    if measure.key == "life" && safe.iter().any(|row| row.may_win() && !model.is_ranked(row)) {
        return ("not ranked".into(), "Only bounds of some lives are known.".into());
    }
    let Some((low, high)) = crate::scale::ends(known.iter().map(|(_, value)| *value)) else {
        let why =
            if safe.is_empty() { "Every technique lost data." } else { "These runs have none." };
        return ("–".into(), why.into());
    };
    let all: Vec<&Row> = known.iter().map(|(row, _)| *row).collect();
    if let [only] = all[..] {
        return ((measure.text)(only), format!("<b>{}</b>, alone", escape(&only.label)));
    }
    if high - low <= ALIKE * high.abs() {
        return ((measure.text)(all[0]), format!("alike under {}", names(&all)));
    }
    // Memory has no noise. If no technique has the smallest memory, no technique may win.
    if measure.key == "controller_ram_bytes" && model.front_of(measure.key).is_none() {
        let texts: Vec<String> = all.iter().map(|row| (measure.text)(row)).collect();
        return (
            "not ranked".into(),
            format!("{} under {}", crate::sentences::list(&texts), names(&all)),
        );
    }
    let (front, then) = front(model, measure).unwrap_or((all, String::new()));
    let is_known = |row: &&Row| {
        measure.key == "life" || row.cells.get(measure.key).is_some_and(|cell| cell.half.is_some())
    };
    let why = if front.iter().all(is_known) {
        "differ by less than their noise"
    } else {
        "cannot be compared, because the noise of the values is not known"
    };
    ("too close to rank".into(), format!("{} {why}{then}", names(&front)))
}

/// Returns the techniques that may be the best in a measure, because their intervals overlap. Also
/// returns a phrase about the next technique. Returns `None` if the model has no such techniques.
fn front<'a>(model: &'a Model, measure: &Measure) -> Option<(Vec<&'a Row>, String)> {
    let (front, behind) = model.front_of(measure.key)?;
    let mut behind: Vec<(&Row, f64)> =
        behind.into_iter().filter_map(|row| Some((row, (measure.value)(row)?))).collect();
    behind.sort_by(|a, b| a.1.total_cmp(&b.1));
    let next = if measure.more_is_better { behind.last() } else { behind.first() };
    let then = next.map_or_else(String::new, |(row, _)| {
        format!("; then {} {}", escape(&row.label), escape(&(measure.text)(row)))
    });
    Some((front, then))
}

/// Returns numbers of the techniques with the longest lives, and the names of these techniques.
/// Lives are compared only by their years, so no technique wins by its other numbers.
fn of_the_longest_lives(model: &Model, measure: &Measure) -> Option<(String, String)> {
    if model.kind != Kind::Lives || measure.key == "life" {
        return None;
    }
    let best = leader(model).map(|row| vec![row]);
    let best = best.or_else(|| Some(model.front_of("life")?.0))?;
    let mut values: Vec<(f64, String)> = best
        .iter()
        .map(|row| Some(((measure.value)(row)?, (measure.text)(row))))
        .collect::<Option<_>>()?;
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (low, high) = (&values.first()?.1, &values.last()?.1);
    let text = if low == high { low.clone() } else { format!("{low} to {high}") };
    let bold: Vec<String> =
        best.iter().map(|row| format!("<b>{}</b>", escape(&row.label))).collect();
    Some((text, format!("under {}", crate::sentences::list(&bold))))
}

/// Returns the labels of these rows as a list in words.
fn names(rows: &[&Row]) -> String {
    let names: Vec<String> = rows.iter().map(|row| escape(&row.label)).collect();
    crate::sentences::list(&names)
}

fn bars(model: &Model, measure: &Measure, winners: &[&Row]) -> String {
    let scale = Widths::of(model, measure);
    let mut html = String::new();
    for (i, row) in model.rows.iter().enumerate() {
        let width = (measure.value)(row).map_or(0.0, |value| scale.width(value));
        let fill = if row.kept_data() { format!("var(--t{i})") } else { "none".into() };
        let bar = if width > 0.0 {
            format!(
                "<rect x=\"0.5\" y=\"0.5\" height=\"7\" width=\"{}\" fill=\"{fill}\" \
                 stroke=\"var(--t{i})\"/>",
                percent(0.985 * width)
            )
        } else {
            String::new()
        };
        let best = if winners.iter().any(|w| w.label == row.label) { " best" } else { "" };
        let _ = write!(
            html,
            "<dt class=\"s{i}{best}\">{}</dt><dd class=\"s{i}\"><svg aria-hidden=\"true\">{bar}\
             </svg></dd><dd class=\"v s{i}{best}\">{}</dd>",
            escape(&row.label),
            escape(&(measure.text)(row))
        );
    }
    html
}

/// Scale that gives the lengths of the bars in a card.
struct Widths {
    low: f64,
    high: f64,
    is_log: bool,
}

impl Widths {
    fn of(model: &Model, measure: &Measure) -> Self {
        let of = |row: &Row| (measure.value)(row).filter(|value| *value > 0.0);
        let all: Vec<f64> = model.rows.iter().filter_map(of).collect();
        let safe = model.rows.iter().filter(|row| row.kept_data()).filter_map(of);
        let most = all.iter().copied().fold(0.0, f64::max);
        let cap = safe.fold(0.0, f64::max) * CAP;
        Self {
            low: all.iter().copied().fold(f64::INFINITY, f64::min),
            high: if cap > 0.0 { most.min(cap) } else { most },
            is_log: measure.is_log,
        }
    }

    /// Returns the length of a bar as a share of the width, from 0 to 1.
    fn width(&self, value: f64) -> f64 {
        if value <= 0.0 || self.high <= 0.0 {
            return 0.0;
        }
        let share = if self.is_log {
            // The offset makes the bar of the smallest value visible.
            let above = |v: f64| (v / self.low).log10() + 0.35;
            above(value) / above(self.high)
        } else {
            value / self.high
        };
        share.clamp(SMALLEST, 1.0)
    }
}
