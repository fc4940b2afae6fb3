//! Part 2 of the page: up to four cards. Each card is about one measure. The card names the best
//! technique and the next one, and shows a bar for every technique.

use std::fmt::Write;

use crate::measure::{LIFE, Measure, READS_SHARE};
use crate::model::{Kind, Model, Row};
use crate::numbers::short;
use crate::scale::{Scale, ends};
use crate::section::{Section, capitalised};
use crate::sentences::verdict::{leader, printed};
use crate::svg::{escape, percent};

/// Length of the shortest bar for a value above 0, as a share of the width.
const SMALLEST: f64 = 0.03;
/// Factor by which a logarithmic scale begins below the smallest value, so that the bar of this
/// value is visible.
const BELOW: f64 = 2.24;

/// Returns the page section with the cards. Lives that have not settled have no card.
pub(crate) fn section(model: &Model) -> Section {
    let life = Measure::life(model.all());
    let others = match model.kind {
        Kind::Lives => [READS_SHARE, "write_amplification", "data_lost_pages"],
        _ if model.is_timed() => ["read_p99_9_us", "write_amplification", "controller_ram_bytes"],
        _ => ["reclaim_write_pages", "write_amplification", "controller_ram_bytes"],
    };
    let cards: String = std::iter::once(life)
        .chain(others.map(Measure::of))
        .filter(|measure| measure.key != LIFE || model.shows_life())
        .map(|measure| card(model, &measure))
        .collect();
    Section { html: format!("<div class=\"cards\">{cards}</div>"), data: vec![] }
}

/// Returns the title of a card. The title names the best value if techniques are compared. Lives
/// are compared only by their years.
fn title(model: &Model, measure: &Measure) -> String {
    let is_compared = model.all().count() > 1 && (measure.key == LIFE || model.kind != Kind::Lives);
    let best = measure.best.filter(|_| is_compared);
    capitalised(best.map_or_else(String::new, |best| format!("{best} ")) + measure.label)
}

fn card(model: &Model, measure: &Measure) -> String {
    let winners = measure.winners(model);
    let best = winners.first().copied();
    let (big, by) = best.map_or_else(
        || without_winner(model, measure),
        |best| (measure.brief(best), format!("<b>{}</b>", escape(&best.label))),
    );
    let by = model.findings.get(measure.key).map_or(by, |finding| printed(finding));
    let place = best.and_then(|best| model.place(&best.label));
    let class = place.map_or_else(String::new, |i| format!(" c{i}"));
    let long = if big.chars().count() > 9 { " long" } else { "" };
    let bars_are = if is_log(measure) { " (bars: logarithmic)" } else { "" };
    format!(
        "<div class=\"card{class}\"><h2>{}</h2><p class=\"big{long}\">{}</p><p class=\"by\">\
         {by}{bars_are}</p><dl class=\"mini\">{}</dl></div>",
        escape(&title(model, measure)),
        escape(&big),
        bars(model, measure, &winners)
    )
}

/// Returns the text of a card without a winner, and a name or a reason. Lives are compared only by
/// their years, so other cards show the numbers of the longest life.
fn without_winner(model: &Model, measure: &Measure) -> (String, String) {
    let alone = model.all().next().filter(|_| model.all().count() == 1);
    let longest = leader(model).filter(|_| model.kind == Kind::Lives);
    if let Some(row) = alone.or(longest).filter(|row| measure.value(row).is_some()) {
        return (measure.brief(row), format!("<b>{}</b>", escape(&row.label)));
    }
    let known = |row: &&Row| row.may_win() && measure.value(row).is_some();
    let mut texts: Vec<String> = model.all().filter(known).map(|row| measure.brief(row)).collect();
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

/// Returns whether the lengths of the bars are logarithmic.
fn is_log(measure: &Measure) -> bool {
    measure.key == "controller_ram_bytes"
}

fn bars(model: &Model, measure: &Measure, winners: &[&Row]) -> String {
    let value = |row: &Row| measure.value(row).filter(|value| *value > 0.0);
    let most = model.longest_bar(value);
    let least = ends(model.rows.iter().filter_map(value)).map_or(most, |ends| ends.0);
    let scale = if is_log(measure) {
        Scale::log(least / BELOW, most, 10.0, short)
    } else {
        Scale::linear(0.0, most, 1, short)
    };
    let mut html = String::new();
    for (i, row) in model.rows.iter().enumerate() {
        let fill = if row.kept_data() { format!("var(--t{i})") } else { "none".into() };
        let bar = value(row).map_or_else(String::new, |value| {
            format!(
                "<rect x=\"0.5\" y=\"0.5\" height=\"7\" width=\"{}\" fill=\"{fill}\" \
                 stroke=\"var(--t{i})\"/>",
                percent(0.985 * scale.place(value).clamp(SMALLEST, 1.0))
            )
        });
        let best = if winners.iter().any(|w| w.label == row.label) { " best" } else { "" };
        let _ = write!(
            html,
            "<dt class=\"s{i}{best}\">{}</dt><dd class=\"s{i}\"><svg aria-hidden=\"true\">{bar}\
             </svg></dd><dd class=\"v s{i}{best}\">{}</dd>",
            escape(&row.label),
            escape(&measure.brief(row))
        );
    }
    html
}
