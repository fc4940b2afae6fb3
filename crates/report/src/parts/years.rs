//! Part 5 of the page for simulated lives: causes of wear, from the new drive to the worn drive.

use serde_json::json;

use crate::chart::Chart;
use crate::model::{DAYS, Model, Row, Wearing};
use crate::numbers::{days, percent as percent_text, sig, trimmed};
use crate::parts::life::CAUSES;
use crate::scale::{Scale, ends};
use crate::section::{Entry, Figure, Section, absent, csv};
use crate::svg::{caption, short};
use crate::table::Table;

const TITLE: &str = "Causes of the wear, from the new to the worn drive";
const HEIGHT: u32 = 110;

/// Returns the page section about the causes of wear.
pub(crate) fn section(model: &Model) -> Section {
    let drawn: Vec<(usize, &Row, &Wearing)> = model
        .rows
        .iter()
        .enumerate()
        .filter_map(|(i, row)| Some((i, row, row.wearing.as_ref()?)))
        .filter(|(_, _, wearing)| wearing.years.len() > 1)
        .collect();
    if drawn.is_empty() {
        let why = "This chart is absent, because life.json has no series in which the wear grows: \
            the lives are too short, or the file is from an earlier version of vpass.";
        return absent("years", TITLE, why);
    }
    let cycles = drawn.iter().flat_map(|(.., wearing)| wearing.pec.iter().copied());
    let (first, most) = ends(cycles).unwrap_or((0.0, 1.0));
    let x = Scale::linear(first, most, 6, trimmed);
    let charts: String = drawn
        .iter()
        .enumerate()
        .map(|(n, (i, row, wearing))| chart(*i, row, wearing, &x, n + 1 == drawn.len()))
        .collect();
    let data = drawn
        .iter()
        .map(|(i, _, w)| json!({"t": i, "pec": w.pec, "years": w.years, "consumed": w.consumed}));
    let data = data.collect();
    let figure = Figure {
        id: "years",
        title: TITLE,
        say: "Each point shows what caused the wear since the previous point.".into(),
        body: format!(
            "<div class=\"chart\"><p class=\"unit\">Share of the wear at each number of P/E \
             cycles, by cause</p>{charts}<div class=\"xlab\"></div></div>"
        ),
        source: "x: mean P/E cycles of a block. The colours are those of the chart above. Source: \
            life.json",
        table: table(&drawn),
    };
    figure.section(vec![("years", data), numbers(&drawn)])
}

/// Returns the numbers of the figure as CSV text.
fn numbers(drawn: &[(usize, &Row, &Wearing)]) -> Entry {
    let heading = [
        "technique",
        "years",
        "pec_mean",
        "host",
        "gc",
        "reclaim",
        "refresh",
        "levelling",
        "parity",
    ];
    let mut rows = vec![];
    for (_, row, wearing) in drawn {
        for (n, shares) in wearing.consumed.iter().enumerate() {
            let numbers = [wearing.years[n], wearing.pec[n]];
            let numbers = numbers.iter().chain(shares).map(f64::to_string);
            rows.push(std::iter::once(row.label.clone()).chain(numbers).collect());
        }
    }
    csv("years", &heading, &rows)
}

/// Returns a chart with stacked areas, which shows the causes of wear under one technique.
fn chart(i: usize, row: &Row, wearing: &Wearing, x: &Scale, has_axis: bool) -> String {
    let y = Scale::linear(0.0, 1.0, 2, |share| format!("{} %", short(100.0 * share, 0)));
    let mut drawn = Chart::new(HEIGHT, x, &y);
    let mut below = vec![0.0; wearing.pec.len()];
    for (k, (.., name)) in CAUSES.iter().enumerate() {
        let shares = wearing.consumed.iter().map(|of| of[k]);
        let above: Vec<f64> = below.iter().zip(shares).map(|(b, s)| (b + s).min(1.0)).collect();
        let ranges = wearing.pec.iter().zip(&below).zip(&above).map(|((x, b), a)| (*x, *b, *a));
        drawn.area(&format!(" fill=\"var(--w{k})\""), name, &ranges.collect::<Vec<_>>());
        below = above;
    }
    let years = match row.life {
        Some(life) if life.lives_on => life.text(),
        _ => days(DAYS * wearing.years.last().unwrap_or(&0.0)),
    };
    let said = format!("Shares of the wear under {}, over P/E cycles", row.label);
    drawn.markup(&caption(&row.label, &years));
    format!("<div class=\"pe s{i}\">{}</div>", drawn.svg(has_axis, &said))
}

fn table(drawn: &[(usize, &Row, &Wearing)]) -> String {
    let mut table = Table::new(
        ["technique", "time", "mean P/E cycles"]
            .into_iter()
            .chain(CAUSES.map(|(.., name)| name))
            .collect::<Vec<_>>(),
    );
    for (_, row, wearing) in drawn {
        for (n, (years, pec)) in wearing.years.iter().zip(&wearing.pec).enumerate() {
            let shares = wearing.consumed[n].iter().map(|share| percent_text(100.0 * share));
            // The unit suits the length, because some lives are only a few days long.
            let time = days(DAYS * years);
            table.row([row.label.clone(), time, sig(*pec)].into_iter().chain(shares));
        }
    }
    table.html("Shares of the wear since the previous row of the table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_short_life_have_hours_and_days() {
        let mut model = crate::testing::compared();
        model.rows[1].wearing = Some(Wearing {
            years: vec![0.5 / 365.0, 3.3 / 365.0],
            pec: vec![100.0, 3000.0],
            consumed: vec![[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]; 2],
            ..Wearing::default()
        });
        let html = section(&model).html;
        for time in ["12.0\u{a0}h</td>", "3.30\u{a0}days</td>"] {
            assert!(html.contains(time), "{html}");
        }
        assert!(html.contains(">time</th>") && !html.contains(">years</th>"), "{html}");
    }
}
