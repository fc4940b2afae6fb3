//! Table of all points of a sweep. Each technique has a row at each point.

use vpass_lab::results::quantity::QUANTITIES;

use crate::model::{Model, Row, Sweep};
use crate::section::{Section, csv, foot_of_table, raw};
use crate::table::Table;

/// Largest number of rows in the table. A longer table would make the page slow.
const MOST_ROWS: usize = 2_000;

/// Returns the page section with the table of all points.
pub(super) fn section(model: &Model, sweep: &Sweep) -> Section {
    let all: Vec<(&[String], &Row)> = super::results(model, sweep).collect();
    let rows = &all[..all.len().min(MOST_ROWS)];
    let columns: Vec<_> = QUANTITIES
        .iter()
        .filter(|column| column.life_unit().is_none())
        .filter(|column| all.iter().any(|(_, row)| row.value(column.key).is_some()))
        .collect();
    let has_life = all.iter().any(|(_, row)| row.life.is_some_and(|life| life.point().is_some()));
    let life = has_life.then_some("life");
    let keys = || sweep.keys.iter().map(String::as_str);
    let labels = columns.iter().map(|column| column.label);
    let mut table =
        Table::new(keys().chain(["technique"]).chain(life).chain(labels).collect::<Vec<_>>());
    for (values, row) in rows {
        let life = has_life.then(|| row.life.map_or_else(|| "–".into(), |life| life.text()));
        let cells = columns.iter().map(|column| row.text(column.key, column.unit));
        table.row(values.iter().cloned().chain([row.label.clone()]).chain(life).chain(cells));
    }
    let say = if all.len() > MOST_ROWS {
        format!(
            "This table has the first {MOST_ROWS} of {} rows. sweep.csv has all rows.",
            all.len()
        )
    } else {
        "Each row is for one technique at one point.".to_owned()
    };
    let html = format!(
        "<section id=\"table\" class=\"fig\" aria-labelledby=\"table-h\"><h2 id=\"table-h\">All \
         points</h2><p class=\"say\">{say}</p>{}{}</section>",
        table.html("Results by point and technique", |_| String::new()),
        foot_of_table()
    );
    let names: Vec<&str> =
        keys().chain(["technique"]).chain(columns.iter().map(|column| column.key)).collect();
    let numbers: Vec<Vec<String>> = rows
        .iter()
        .map(|(values, row)| {
            let cells = columns.iter().map(|column| raw(row.value(column.key)));
            values.iter().cloned().chain([row.label.clone()]).chain(cells).collect()
        })
        .collect();
    Section { html, data: vec![csv("table", &names, &numbers)] }
}
