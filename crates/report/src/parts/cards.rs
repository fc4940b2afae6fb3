//! Part 2 of the page: up to four cards. Each card is about one measure. The card names the best
//! technique and the next one, and shows a bar for every technique.

use std::fmt::Write;

use vpass_lab::results::quantity::{Quantity, Unit};

use crate::model::{Kind, Model, Row};
use crate::numbers::kept_together;
use crate::section::Section;
use crate::sentences::verdict::{leader, printed};
use crate::svg::{escape, percent};

/// Length limit for the bar of a technique that lost data. The limit is a multiple of the longest
/// bar among techniques that kept their data.
const CAP: f64 = 1.6;
/// Length of the shortest bar for a value above 0, as a share of the width.
const SMALLEST: f64 = 0.03;

/// Function of a row.
type OfRow<T> = Box<dyn Fn(&Row) -> T>;

/// Measure that a card shows, such as the life.
struct Measure {
    key: &'static str,
    /// Title of the card, which begins with a capital letter.
    title: String,
    /// Whether the lengths of the bars are logarithmic.
    is_log: bool,
    value: OfRow<Option<f64>>,
    text: OfRow<String>,
}

/// Returns the page section with the cards. Lives that have not settled have no card.
pub(crate) fn section(model: &Model) -> Section {
    let measures = measures(model);
    let shown = measures.iter().filter(|measure| measure.key != "life" || model.shows_life());
    let cards: String = shown.map(|measure| card(model, measure)).collect();
    Section { html: format!("<div class=\"cards\">{cards}</div>"), data: vec![] }
}

fn measures(model: &Model) -> [Measure; 4] {
    let is_compared = model.all().count() > 1;
    let life = Measure {
        key: "life",
        title: if is_compared { "Longest life" } else { "Life" }.into(),
        is_log: false,
        value: Box::new(|row| row.life?.point()),
        text: Box::new(|row| row.life.map_or_else(|| "–".into(), |life| life.text())),
    };
    // Lives are compared only by their years.
    let of = |key| of_quantity(key, is_compared && model.kind != Kind::Lives);
    if model.kind == Kind::Lives {
        let share = |row: &Row| Some(100.0 * row.wearing.as_ref()?.shares[2]);
        let reads = Measure {
            key: "reads_share",
            title: "Share of the wear by reads".into(),
            is_log: false,
            value: Box::new(share),
            text: Box::new(move |row| {
                share(row).map_or_else(|| "–".into(), |of| kept_together(&Unit::Percent.text(of)))
            }),
        };
        return [life, reads, of("write_amplification"), of("data_lost_pages")];
    }
    let cost = if model.is_timed() { "read_p99_9_us" } else { "reclaim_write_pages" };
    let ram = Measure { is_log: true, ..of("controller_ram_bytes") };
    [life, of(cost), of("write_amplification"), ram]
}

/// Returns the measure of a quantity. The title names the best value if techniques are compared.
fn of_quantity(key: &'static str, is_compared: bool) -> Measure {
    let quantity = Quantity::of(key);
    let best = quantity.verdict.filter(|_| is_compared);
    let mut title =
        best.map_or_else(String::new, |words| format!("{} ", words.best)) + quantity.label;
    title[..1].make_ascii_uppercase();
    Measure {
        key,
        title,
        is_log: false,
        value: Box::new(|row| row.value(key)),
        text: Box::new(|row| {
            let value = row.value(key);
            value.map_or_else(|| "–".into(), |of| kept_together(&quantity.unit.text(of)))
        }),
    }
}

fn card(model: &Model, measure: &Measure) -> String {
    let winners = model.winners_of(measure.key);
    let best = winners.first().copied();
    let (big, by) = best.map_or_else(
        || without_winner(model, measure),
        |best| ((measure.text)(best), format!("<b>{}</b>", escape(&best.label))),
    );
    let by = model.findings.get(measure.key).map_or(by, |finding| printed(finding));
    let place = best.and_then(|best| model.place(&best.label));
    let class = place.map_or_else(String::new, |i| format!(" c{i}"));
    let long = if big.chars().count() > 9 { " long" } else { "" };
    let bars_are = if measure.is_log { " (bars: logarithmic)" } else { "" };
    format!(
        "<div class=\"card{class}\"><h2>{}</h2><p class=\"big{long}\">{}</p><p class=\"by\">\
         {by}{bars_are}</p><dl class=\"mini\">{}</dl></div>",
        escape(&measure.title),
        escape(&big),
        bars(model, measure, &winners)
    )
}

/// Returns the text of a card without a winner, and a name or a reason. Lives are compared only by
/// their years, so other cards show the numbers of the longest life.
fn without_winner(model: &Model, measure: &Measure) -> (String, String) {
    let alone = model.all().next().filter(|_| model.all().count() == 1);
    let longest = leader(model).filter(|_| model.kind == Kind::Lives);
    if let Some(row) = alone.or(longest).filter(|row| (measure.value)(row).is_some()) {
        return ((measure.text)(row), format!("<b>{}</b>", escape(&row.label)));
    }
    let known = |row: &&Row| row.may_win() && (measure.value)(row).is_some();
    let mut texts: Vec<String> = model.all().filter(known).map(|row| (measure.text)(row)).collect();
    texts.dedup();
    match &texts[..] {
        [] if model.all().all(|row| !row.kept_data()) => {
            ("–".into(), "Every technique lost data.".into())
        }
        [] => ("–".into(), String::new()),
        [alike] => (alike.clone(), String::new()),
        _ => ("not ranked".into(), String::new()),
    }
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
