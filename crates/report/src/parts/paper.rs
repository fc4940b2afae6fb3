//! Page about a paper: the paper's numbers beside our numbers, and the data of the figures.

use std::fmt::Write;

use crate::csv::Csv;
use crate::model::{Claim, Model};
use crate::numbers::sig;
use crate::scale::{Log, Scale, ends};
use crate::section::{Head, Section, absent, csv, figure, foot, raw};
use crate::sentences::paper::others;
use crate::svg::{escape, percent};
use crate::table::{Look, Table};

const TITLE: &str = "The paper's numbers beside ours";
/// Range of ratios that the axis covers even if all ratios lie close to 1.
const RATIOS: (f64, f64) = (0.5, 2.0);
/// Largest number of rows that the page shows in the table of a figure. The CSV file has all rows.
const ROWS: usize = 400;

/// Returns the page section about the paper's numbers.
pub(crate) fn section(model: &Model) -> Section {
    let Some(paper) = &model.paper else { return Section::default() };
    if paper.claims.is_empty() {
        let why = "This table is absent: the recipe names no numbers of the paper.";
        let mut section = absent("paper", TITLE, why);
        section.html += &figures(&paper.figures);
        return section;
    }
    let head = Head { id: "paper", title: TITLE, say: others() };
    let foot = foot("Bars: tolerance of \"agrees\". comparison.csv", &table(&paper.claims));
    let mut html = figure(&head, &chart(&paper.claims), &foot);
    html += &figures(&paper.figures);
    Section { html, data: vec![numbers(&paper.claims)] }
}

/// Returns the paper's numbers and our numbers as CSV text.
fn numbers(claims: &[Claim]) -> (&'static str, serde_json::Value) {
    let row = |claim: &Claim| {
        let [paper, here, tolerance] = [claim.paper, claim.here, claim.tolerance].map(raw);
        vec![
            claim.source.clone(),
            claim.what.clone(),
            paper,
            here,
            tolerance,
            claim.verdict.clone(),
        ]
    };
    let heading = ["source", "what", "paper", "here", "tolerance", "verdict"];
    csv("paper", &heading, &claims.iter().map(row).collect::<Vec<_>>())
}

/// Returns a chart with one row per number of the paper. If we have this number too, the row shows
/// the ratio of our number to the paper's number.
fn chart(claims: &[Claim]) -> String {
    let (low, high) = ends(claims.iter().filter_map(ratio)).unwrap_or(RATIOS);
    let x = Log::new((0.8 * low).min(RATIOS.0), (1.25 * high).max(RATIOS.1), sig);
    let mut rows = String::from(
        "<div class=\"hd\">Source</div><div class=\"hd\">Ours over the paper's, logarithmic</div>\
         <div class=\"hd\">Verdict</div>",
    );
    for claim in claims {
        let _ = write!(
            rows,
            "<div class=\"nm\">{}</div><div>{}</div><div>{}<br><span class=\"big-note\">{}</span>\
             </div>",
            escape(&claim.source),
            ratio(claim).map_or_else(|| without_ratio(claim), |ratio| row(claim, ratio, &x)),
            escape(&claim.verdict),
            escape(&claim.what)
        );
    }
    format!("<div class=\"rows paper\">{rows}</div>")
}

/// Returns the ratio of our number to the paper's number. Returns `None` if a number is missing, or
/// is not above 0.
fn ratio(claim: &Claim) -> Option<f64> {
    Some(claim.here.filter(|n| *n > 0.0)? / claim.paper.filter(|n| *n > 0.0)?)
}

/// Returns the text for a number of the paper that has no ratio.
fn without_ratio(claim: &Claim) -> String {
    let text = match (claim.paper, claim.here) {
        (Some(paper), Some(here)) => format!("paper {}, ours {}", sig(paper), sig(here)),
        (None, Some(here)) => {
            format!("the paper gives only a direction; our number is {}", sig(here))
        }
        (Some(paper), None) => format!("paper {}, no number here", sig(paper)),
        (None, None) => "no number".into(),
    };
    format!("<span class=\"big-note\">{text}</span>")
}

fn row(claim: &Claim, ratio: f64, x: &dyn Scale) -> String {
    let one = percent(x.place(1.0));
    let mut svg = String::new();
    if let Some(tolerance) = claim.tolerance.filter(|t| *t > 0.0 && *t < 1.0) {
        let (from, to) = (x.place(1.0 - tolerance).max(0.0), x.place(1.0 + tolerance).min(1.0));
        let _ = write!(
            svg,
            "<rect x=\"{}\" width=\"{}\" y=\"5\" height=\"16\" fill=\"var(--grid)\"/>",
            percent(from),
            percent(to - from)
        );
    }
    let agrees = claim.verdict.starts_with("agrees");
    let colour = if agrees { "var(--ok)" } else { "var(--bad)" };
    let mark = if agrees { "●" } else { "◆" };
    let _ = write!(
        svg,
        "<line class=\"wh\" x1=\"{one}\" x2=\"{one}\" y1=\"2\" y2=\"24\"/><text class=\"mid\" \
         x=\"{0}\" y=\"18\" fill=\"{colour}\">{mark}</text><text x=\"{0}\" dx=\"9\" \
         y=\"17\">{1}</text>",
        percent(x.place(ratio)),
        sig(ratio)
    );
    let said = format!(
        "Paper {}, ours {}: {}",
        claim.paper.map_or_else(|| "none".into(), sig),
        claim.here.map_or_else(|| "none".into(), sig),
        claim.verdict
    );
    format!("<svg role=\"img\" aria-label=\"{}\">{svg}</svg>", escape(&said))
}

fn table(claims: &[Claim]) -> String {
    let mut table = Table::new(["source", "what", "paper", "here", "tolerance", "verdict"]);
    for claim in claims {
        let number = |n: Option<f64>| n.map_or_else(|| "–".into(), sig);
        let look = if claim.verdict.starts_with("agrees") { Look::Good } else { Look::Plain };
        let plain = |text: String| (text, Look::Plain);
        table.painted_row(vec![
            plain(claim.source.clone()),
            plain(claim.what.clone()),
            plain(number(claim.paper)),
            plain(number(claim.here)),
            plain(number(claim.tolerance)),
            (claim.verdict.clone(), look),
        ]);
    }
    table.html("Numbers of the paper and ours", |_| String::new())
}

/// Returns the data of the figures as markup. Each figure has a table that the reader can open.
fn figures(figures: &[(String, Csv)]) -> String {
    let mut html = String::from(
        "<section id=\"figures\" aria-labelledby=\"figures-h\"><h2 id=\"figures-h\">Data of the \
         figures</h2>",
    );
    for (name, csv) in figures {
        let mut table = Table::new(csv.heading.clone());
        for row in 0..csv.len().min(ROWS) {
            table.row(csv.row(row).map(str::to_owned));
        }
        let left_out = csv.len().saturating_sub(ROWS);
        let more = if left_out > 0 {
            format!("<p class=\"big-note\">{left_out} more rows are in {}.csv.</p>", escape(name))
        } else {
            String::new()
        };
        let _ = write!(
            html,
            "<details class=\"num\"><summary>{}</summary>{}{more}</details>",
            escape(csv.title.as_deref().unwrap_or(name)),
            table.html(&format!("{name}.csv"), |_| String::new())
        );
    }
    html + "</section>"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_needs_both_numbers() {
        let claim = |paper, here| Claim {
            source: "Fig. 2".into(),
            what: "erases".into(),
            paper,
            here,
            tolerance: Some(0.1),
            verdict: "agrees".into(),
        };
        assert_eq!(ratio(&claim(Some(2.0), Some(3.0))), Some(1.5));
        assert_eq!(
            [ratio(&claim(None, Some(3.0))), ratio(&claim(Some(0.0), Some(1.0)))],
            [None; 2]
        );
        // The axis is logarithmic from 0.5 to 2, so the ratio 1 lies in the middle of the axis.
        let html = chart(&[claim(Some(2.0), Some(2.0))]);
        assert!(html.contains("x1=\"50%\" x2=\"50%\""), "{html}");
        assert!(
            chart(&[claim(None, Some(1.5))])
                .contains("the paper gives only a direction; our number is 1.5")
        );
        assert!(chart(&[claim(None, None)]).contains("no number"));
    }
}
