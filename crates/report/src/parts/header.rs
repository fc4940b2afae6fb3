//! Parts 1 and 3 of the page. Part 1 has facts about the run and the verdict. Part 3 has the check
//! boxes that show or hide techniques.

use std::fmt::Write;

use crate::model::{Model, number};
use crate::numbers::count;
use crate::section::Section;
use crate::sentences::verdict::{headline, leader, lede};
use crate::svg::{dashes, escape};

/// Returns the name of the workload. If the name is a path, its folders are left out.
pub(crate) fn workload(model: &Model) -> &str {
    let name = model.about.workload.trim_end_matches('/');
    name.rsplit('/').next().unwrap_or(name)
}

/// Returns the head of the page, with the verdict.
pub(crate) fn header(model: &Model) -> String {
    let color = leader(model).and_then(|row| model.place(&row.label));
    let class = color.map_or_else(String::new, |i| format!(" class=\"c{i}\""));
    let fact =
        |(name, value): (&str, String)| format!("<span>{name} <b>{}</b></span>", escape(&value));
    let facts: String = facts(model).into_iter().map(fact).collect();
    format!(
        "<header class=\"top\"><p class=\"crumb\"><span class=\"mark\">vpass</span>{facts}</p>\
         <h1{class}>{}</h1><p class=\"lede\">{}</p></header>",
        headline(model),
        lede(model)
    )
}

/// Returns the facts that all techniques share, such as sizes.
fn facts(model: &Model) -> Vec<(&'static str, String)> {
    let mut facts =
        vec![("drive", model.about.drive.clone()), ("workload", workload(model).to_owned())];
    if let Some(run) = model.rows.first().and_then(|row| row.runs.first()) {
        let host = &run.summary.host;
        facts.push(("host page reads", count(host.read_pages as f64)));
        facts.push(("host page writes", count(host.write_pages as f64)));
    }
    let start = number(model.drive_configuration(), "/start/pec");
    facts.extend(start.map(|pec| ("P/E cycles at the start", count(pec))));
    if model.about.seeds > 1 {
        facts.push(("seeds", model.about.seeds.to_string()));
    }
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// Returns the check boxes of the techniques. Each box shows or hides one technique in all charts.
/// The boxes are also the legend of the charts.
pub(crate) fn keys(model: &Model) -> Section {
    let mut html = String::from(
        "<div class=\"keys\" role=\"group\" aria-label=\"Techniques shown in all charts\">\
         <span>Show</span>",
    );
    for (i, row) in model.rows.iter().enumerate() {
        let lost = if row.kept_data() { "" } else { " · loses data" };
        let _ = write!(
            html,
            "<label class=\"key\"><input type=\"checkbox\" id=\"k{i}\" checked>\
             <svg aria-hidden=\"true\"><line x1=\"1\" x2=\"21\" y1=\"5\" y2=\"5\" \
             stroke=\"var(--t{i})\" stroke-width=\"3\"{}/></svg><span>{}{lost}</span></label>",
            dashes(i),
            escape(&row.label)
        );
    }
    html.push_str("<button id=\"theme\" type=\"button\">Dark / light</button></div>");
    if !model.others.is_empty() {
        let all = model.rows.len() + model.others.len();
        let _ = write!(
            html,
            "<p class=\"big-note\">The charts show {} of {all} techniques: the winners, then \
             <code>block</code>, <code>none</code> and others. The table has all.</p>",
            model.rows.len()
        );
    }
    Section { html, data: vec![] }
}
