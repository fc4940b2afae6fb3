//! Part of the page with warnings, assumptions, and the findings of the oracle.

use crate::model::{Kind, Model, Row};
use crate::numbers::count;
use crate::section::Section;
use crate::svg::escape;

/// Sentence with its CSS class, which is "", "ok" or "bad".
type Line = (&'static str, String);

/// Returns the page section with the warnings; empty if there is nothing to say.
pub(crate) fn section(model: &Model) -> Section {
    let mut lines = lost(model);
    lines.extend(model.notes.iter().map(|note| ("", escape(note))));
    lines.extend(of_rows(model, |row| &row.warnings, ""));
    lines.extend(of_rows(model, |row| &row.assumptions, "Assumption: "));
    lines.extend(oracle(model));
    if lines.is_empty() {
        return Section::default();
    }
    let item = |(class, markup)| format!("<li class=\"{class}\">{markup}</li>");
    let items: String = lines.into_iter().map(item).collect();
    let html = format!(
        "<section id=\"warn\" aria-labelledby=\"warn-h\"><h2 id=\"warn-h\">Warnings and \
         assumptions</h2><ul class=\"warn\">{items}</ul></section>"
    );
    Section { html, data: vec![] }
}

/// Returns a sentence for each technique that lost data.
fn lost(model: &Model) -> Vec<Line> {
    let line = |row: &Row| {
        let (name, pages) = (escape(&row.label), count(row.lost_pages));
        let sentence = match points_with_losses(model, row) {
            None => format!(
                "<b>{name}</b> lost {pages} pages of data. Charts draw this technique hollow or \
                 dashed, and it cannot win."
            ),
            Some((lossy, all)) => format!(
                "<b>{name}</b> lost data at {lossy} of {all} points, {pages} pages in total. \
                 Charts mark this technique at these points, and it cannot win there."
            ),
        };
        ("bad", sentence)
    };
    let lossy = model.all().filter(|row| !row.kept_data()).map(line);
    let ideal = model.all().filter(|row| row.counterfactual).map(|row| {
        let name = escape(&row.label);
        let why =
            "no real drive can use this technique. It shows the possible gain, and cannot win.";
        ("", format!("<b>{name}</b> is counterfactual: {why}"))
    });
    lossy.chain(ideal).collect()
}

/// Returns the number of points at which a technique lost data, and the number of all points with
/// this technique. Returns `None` if the results are not a sweep.
fn points_with_losses(model: &Model, row: &Row) -> Option<(usize, usize)> {
    let points = &model.sweep.as_ref()?.points;
    let rows: Vec<&Row> = points.iter().filter_map(|point| point.row(&row.label)).collect();
    Some((rows.iter().filter(|row| !row.kept_data()).count(), rows.len()))
}

/// Returns the sentences that belong to the rows. Each sentence appears once, with the techniques
/// that it concerns.
fn of_rows(model: &Model, of: fn(&Row) -> &Vec<String>, before: &str) -> Vec<Line> {
    let mut all: Vec<(&String, Vec<&str>)> = vec![];
    for row in model.all() {
        for sentence in of(row) {
            match all.iter_mut().find(|(known, _)| *known == sentence) {
                Some((_, labels)) => labels.push(&row.label),
                None => all.push((sentence, vec![&row.label])),
            }
        }
    }
    let several = model.all().count();
    let line = |(sentence, labels): (&String, Vec<&str>)| {
        let whose = if several > 1 && labels.len() == several {
            "all".to_owned()
        } else {
            escape(&labels.join(", "))
        };
        ("", format!("<b>{whose}</b>: {before}{}", escape(sentence)))
    };
    all.into_iter().map(line).collect()
}

/// Returns sentences about the findings of the oracle.
fn oracle(model: &Model) -> Vec<Line> {
    if model.kind != Kind::Runs {
        return vec![];
    }
    let reports: Vec<(&Row, &_)> = model
        .all()
        .flat_map(|row| row.runs.iter().map(move |run| (row, run)))
        .filter_map(|(row, run)| Some((row, run.summary.oracle.as_ref()?)))
        .collect();
    if reports.is_empty() {
        return vec![("", "The oracle did not check these runs.".into())];
    }
    let findings =
        reports.iter().flat_map(|(row, report)| report.findings.iter().map(move |f| (row, f)));
    let line = |(row, finding): (&&Row, &String)| {
        let (name, finding) = (escape(&row.label), escape(finding));
        ("bad", format!("<b>{name}</b>: the oracle found a bug of the drive model: {finding}"))
    };
    let mut lines: Vec<Line> = findings.map(line).collect();
    if lines.is_empty() {
        let reads = count(reports.iter().map(|(_, report)| report.reads_checked as f64).sum());
        let what = "page reads and found no bug of the drive model.";
        lines.push(("ok", format!("The oracle checked {reads} {what}")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared;

    #[test]
    fn warnings_of_all_techniques_appear_once() {
        let mut model = compared();
        for row in &mut model.rows {
            row.warnings = vec!["<Slow>".into()];
        }
        model.rows[1].warnings.push("Odd.".into());
        let html = section(&model).html;
        assert_eq!(html.matches("&lt;Slow&gt;").count(), 1);
        assert!(html.contains("<li class=\"\"><b>all</b>: &lt;Slow&gt;</li>"), "{html}");
        assert!(html.contains("<li class=\"\"><b>block</b>: Odd.</li>"), "{html}");
        assert!(html.contains("<b>none</b> lost 698 pages of data."), "{html}");
    }

    #[test]
    fn findings_of_the_oracle_are_bugs() {
        let mut model = compared();
        let clean = section(&model).html;
        assert!(clean.contains("checked 3,000,000 page reads and found no bug"), "{clean}");
        let oracle = model.rows[2].runs[0].summary.oracle.as_mut().unwrap();
        oracle.findings = vec!["page 7".into()];
        let html = section(&model).html;
        assert!(
            html.contains("<b>straw-wl</b>: the oracle found a bug of the drive model: page 7")
        );
        assert!(!html.contains("found no bug"));
    }
}
