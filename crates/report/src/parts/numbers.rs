//! Part 10 of the page: a table with all numbers of all techniques. Each measure has a row.

use vpass_lab::results::quantity::{QUANTITIES, Unit};

use crate::model::{Kind, Model, Row};
use crate::section::{Section, csv, foot_of_table, raw};
use crate::table::{Look, Table};

/// Returns the page section with the table of all numbers.
pub(crate) fn section(model: &Model) -> Section {
    let table = table(model);
    let places: Vec<Option<usize>> = model.all().map(|row| model.place(&row.label)).collect();
    let class = |column: usize| {
        let place = column.checked_sub(1).and_then(|row| places.get(row).copied().flatten());
        place.map_or_else(String::new, |i| format!("s{i}"))
    };
    let say = if model.all().count() > 1 {
        "A green dot marks the best of the techniques that kept all data, if this technique is \
         clearly better than the others."
    } else {
        "All numbers of the run."
    };
    let html = format!(
        "<section id=\"table\" class=\"fig\" aria-labelledby=\"table-h\"><h2 id=\"table-h\">All \
         numbers</h2><p class=\"say\">{say}</p>{}{}</section>",
        table.html("Results by technique", class),
        foot_of_table()
    );
    Section { html, data: vec![raw_numbers(model)] }
}

/// Returns all means and half widths of intervals as CSV text, with one row per technique.
fn raw_numbers(model: &Model) -> (&'static str, serde_json::Value) {
    let columns: Vec<&str> = QUANTITIES
        .iter()
        .map(|column| column.key)
        .chain(LIVES.map(|(key, ..)| key))
        .filter(|key| model.all().any(|row| row.value(key).is_some()))
        .collect();
    let halves: Vec<String> = columns.iter().map(|key| format!("{key}_ci95")).collect();
    let both = columns.iter().zip(&halves).flat_map(|(key, half)| [*key, half.as_str()]);
    let heading: Vec<&str> = std::iter::once("technique").chain(both).collect();
    let of = |row: &Row| {
        let cells = columns.iter().flat_map(|key| {
            let cell = row.cells.get(*key);
            [raw(cell.map(|cell| cell.mean)), raw(cell.and_then(|cell| cell.ci95))]
        });
        std::iter::once(row.label.clone()).chain(cells).collect()
    };
    csv("table", &heading, &model.all().map(of).collect::<Vec<_>>())
}

/// Returns the table of all numbers.
pub(crate) fn table(model: &Model) -> Table {
    let mut table = Table::new(
        std::iter::once("").chain(model.all().map(|row| row.label.as_str())).collect::<Vec<_>>(),
    );
    if model.shows_life() && model.all().any(|row| row.life.is_some()) {
        let life = |row: &Row| row.life.map(|life| life.text());
        add(model, &mut table, ("life", "life"), life);
    }
    let quantities = QUANTITIES.iter().filter(|of| of.life_unit().is_none());
    let of_lives = LIVES.into_iter().filter(|_| model.kind == Kind::Lives);
    for (key, label, unit) in quantities.map(|of| (of.key, of.label, of.unit)).chain(of_lives) {
        let text = |row: &Row| row.cells.get(key).map(|_| row.text(key, unit));
        add(model, &mut table, (key, label), text);
    }
    table
}

/// Numbers that only simulated lives have. Each number has its key, its name on the page, and its
/// unit.
const LIVES: [(&str, &str, Unit); 2] = [
    ("pec_mean", "P/E cycles of the mean block at the end", Unit::Ratio),
    ("worst_dose_ratio", "largest dose over its limit", Unit::Ratio),
];

/// Adds a row for one measure to the table. If no technique has this number, no row is added.
fn add(
    model: &Model,
    table: &mut Table,
    (key, label): (&str, &str),
    text: impl Fn(&Row) -> Option<String>,
) {
    let winners = model.winners_of(key);
    let cell = |row: &Row| {
        let wins = winners.iter().any(|winner| winner.label == row.label);
        let loses = is_loss(key) && row.value(key).is_some_and(|n| n > 0.0);
        let look = match (loses, wins && !is_loss(key)) {
            (true, _) => Look::Bad,
            (_, true) => Look::Good,
            _ => Look::Plain,
        };
        (text(row).unwrap_or_else(|| "–".into()), look)
    };
    if model.all().any(|row| text(row).is_some()) {
        let cells = std::iter::once((label.to_owned(), Look::Plain)).chain(model.all().map(cell));
        table.painted_row(cells.collect());
    }
}

fn is_loss(key: &str) -> bool {
    QUANTITIES.iter().any(|quantity| quantity.key == key && quantity.is_loss())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::compared;

    #[test]
    fn the_table_has_each_number_and_a_dot_for_winners_alone() {
        let model = compared();
        let json = table(&model).json();
        assert_ne!(json[0][""], "life", "no life has settled");
        let of = |label: &str| {
            json.as_array().unwrap().iter().find(|row| row[""] == label).unwrap().clone()
        };
        let writes = of("reclaim writes");
        assert_eq!(
            [&writes["none"], &writes["block"], &writes["straw-wl"]],
            ["0", "200,000", "2,000"]
        );
        assert_eq!(of("RAM")["straw-wl"], "80.0\u{a0}KiB");
        let html = section(&model).html;
        assert_eq!(html.matches("class=\"best").count(), 2, "memory of block, writes of straw-wl");
        assert_eq!(html.matches("class=\"bad s0\">698<").count(), 1);
    }
}
