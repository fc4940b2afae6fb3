//! Part 10 of the page: a table with all numbers of all techniques. Each measure has a row.

use vpass_lab::results::quantity::QUANTITIES;

use crate::measure::{Measure, OF_LIVES};
use crate::model::{Model, Row};
use crate::section::{Entry, Section, csv, of_table, raw};
use crate::table::{Look, Table};

/// Returns the page section with the table of all numbers.
pub(crate) fn section(model: &Model) -> Section {
    let class = |column: usize| {
        let row = column.checked_sub(1).and_then(|row| model.all().nth(row));
        let place = row.and_then(|row| model.place(&row.label));
        place.map_or_else(String::new, |i| format!("s{i}"))
    };
    let say = if model.all().count() > 1 {
        "A green dot marks the best of the techniques that kept all data, if this technique is \
         clearly better than the others."
    } else {
        "All numbers of the run."
    };
    let table = table(model).classed_html("Results by technique", class);
    of_table("All numbers", say, &table, raw_numbers(model))
}

/// Returns all means and half widths of intervals as CSV text, with one row per technique.
fn raw_numbers(model: &Model) -> Entry {
    let columns = QUANTITIES.iter().map(|quantity| quantity.key).chain(OF_LIVES.map(|of| of.key));
    let columns: Vec<&str> =
        columns.filter(|key| model.all().any(|row| row.value(key).is_some())).collect();
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

/// Returns the table of all numbers. A measure without any value has no row.
pub(crate) fn table(model: &Model) -> Table {
    let heading = std::iter::once("").chain(model.all().map(|row| row.label.as_str()));
    let mut table = Table::new(heading.collect::<Vec<_>>());
    let life = model.shows_life().then(|| Measure::life(model.all()));
    for measure in life.into_iter().chain(Measure::all(model.kind)) {
        if !model.all().any(|row| measure.value(row).is_some()) {
            continue;
        }
        let winners = measure.winners(model);
        let is_loss = is_loss(measure.key);
        let cell = |row: &Row| {
            let look = match is_loss {
                true if measure.value(row).is_some_and(|n| n > 0.0) => Look::Bad,
                false if winners.iter().any(|winner| winner.label == row.label) => Look::Good,
                _ => Look::Plain,
            };
            (measure.text(row), look)
        };
        let cells = std::iter::once((measure.label.to_owned(), Look::Plain));
        table.painted_row(cells.chain(model.all().map(cell)).collect());
    }
    table
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
        let lines = table(&model).markdown();
        assert!(!lines.contains("| life |"), "no life has settled");
        assert!(lines.contains("| reclaim writes | 0 | 200,000 | 2,000 |"), "{lines}");
        let ram = lines.lines().find(|line| line.starts_with("| RAM |")).unwrap();
        assert!(ram.ends_with("| 80.0\u{a0}KiB |"), "{ram}");
        let html = section(&model).html;
        assert_eq!(html.matches("class=\"best").count(), 2, "memory of block, writes of straw-wl");
        assert_eq!(html.matches("class=\"bad s0\">698<").count(), 1);
    }
}
