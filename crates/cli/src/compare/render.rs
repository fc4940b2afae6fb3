//! Results of a comparison as text for a terminal, as CSV, and as Markdown.

use vpass_lab::compare::refused::by_reason;
use vpass_lab::compare::row::{Cell, ComparisonRow};
use vpass_lab::compare::{Comparison, shown_life, warnings};
use vpass_lab::plan::RunPlan;
use vpass_lab::results::quantity::{QUANTITIES, Quantity, Shown, Sizes};
use vpass_lab::setup::Gear;
use vpass_report::csv;

use crate::report::{self, failures_in_short};
use crate::table::{Look, Table, wrapped};

/// Returns the comparison as CSV. Each result has two columns: the mean, and half the width of the
/// 95 % confidence interval. As in `compare.json`, a projected life is printed even if it has not
/// settled. The last column, `life_settled`, says whether the lives can be ranked.
pub(super) fn csv(compared: &Comparison) -> String {
    let quantities: Vec<&Quantity> = compared.quantities().collect();
    let mut names = vec!["reclaim", "gc"];
    names.extend(compared.refreshes().then_some("refresh"));
    names.extend(compared.has_parity().then_some("parity"));
    names.push("runs");
    let heading = names.into_iter().map(str::to_owned).chain(heading_of_csv(&quantities));
    let mut rows = vec![heading.collect()];
    for row in &compared.techniques {
        let mut cells = vec![row.reclaim.clone(), row.gc.clone()];
        cells.extend(row.refresh.clone());
        cells.extend(row.parity.clone());
        cells.push(row.runs.len().to_string());
        cells.extend(cells_of_csv(row, &quantities));
        rows.push(cells);
    }
    csv::text(&rows)
}

/// Returns the headings of the columns that [`cells_of_csv`] fills.
pub(crate) fn heading_of_csv(quantities: &[&Quantity]) -> Vec<String> {
    let both = quantities.iter().flat_map(|of| [of.key.to_owned(), format!("{}_ci95", of.key)]);
    both.chain(["life_settled".into()]).collect()
}

/// Returns the mean and the half width of each quantity of a row, and whether its life settled.
pub(crate) fn cells_of_csv(row: &ComparisonRow, quantities: &[&Quantity]) -> Vec<String> {
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
    let cells = quantities.iter().map(|quantity| row.cell(quantity));
    let both =
        |cell: Option<Cell>| [number(cell.map(|c| c.mean)), number(cell.and_then(|c| c.ci95))];
    cells.flat_map(both).chain([row.life_settled.to_string()]).collect()
}

/// Returns the text of a comparison: title, table, notes, legend, warnings and verdict. `parity`
/// names the parity technique that all rows have.
pub(super) fn text(compared: &Comparison, plan: &RunPlan, parity: &str, colour: bool) -> String {
    let rows = &compared.techniques;
    let mut text = report::heading(plan, &(parity.to_owned() + &words_of_seeds(compared)), colour);
    text.push_str(&table(compared, plan).render(colour));
    text.push('\n');
    let mut notes = Table::default();
    notes.row([
        "*: best value of the column among techniques that lost no data (no star if all values are \
         equal, if no value is clearly the best, or if the noise of a value is not known)",
    ]);
    let counterfactual = labels(rows.iter().filter(|row| row.counterfactual));
    let ageless =
        labels(rows.iter().filter(|row| row.is_ageless() && rows.iter().any(ComparisonRow::ages)));
    if !counterfactual.is_empty() {
        notes.row([format!("{counterfactual}: {}; it wins no column", report::COUNTERFACTUAL)]);
    }
    if !ageless.is_empty() {
        notes.row([format!(
            "{ageless}: data does not age in this run (no refresh, no start.age), but ages in the \
             other runs"
        )]);
    }
    if !plan.fail.is_empty() {
        let injected: Vec<String> = plan.fail.iter().map(ToString::to_string).collect();
        notes.row([format!("failures were injected into every drive: {}", injected.join(", "))]);
    }
    for row in rows {
        if let Some(what) = failures_in_short(&row.runs) {
            notes.row([format!("{}: {what}", row.label)]);
        }
    }
    for row in &compared.stopped {
        notes.row([format!("{}: stopped without results: {}", row.label, row.why)]);
    }
    for (labels, why) in by_reason(&compared.refused) {
        notes.row([format!(
            "{labels}: no results, because the drive refuses this technique: {why}"
        )]);
    }
    text.push_str(&notes.render_words(colour));
    text.push_str(&legend(compared, plan).render_words(colour));
    if let Some(trace) = &rows[0].runs[0].trace {
        text.push_str(&report::bad_lines(trace));
    }
    text.push_str(&said(rows, colour));
    text.push_str(&wrapped(&format!("\n{}\n", compared.verdict.join(" ")), 0));
    text
}

/// Returns the warnings about the results. Each line has one warning, with the techniques that the
/// warning concerns.
fn said(rows: &[ComparisonRow], colour: bool) -> String {
    let all: Vec<&ComparisonRow> = rows.iter().collect();
    let line = |warning: warnings::Warned| {
        let is_of_all = rows.len() > 1 && warning.labels.len() == rows.len();
        let whose = if is_of_all { "all".into() } else { warning.labels.join(", ") };
        format!("{whose}: {}", warning.sentence)
    };
    let lines: Vec<String> = warnings::warnings(&all).into_iter().map(line).collect();
    if lines.is_empty() { String::new() } else { format!("\n{}", report::warnings(&lines, colour)) }
}

/// Returns the labels of these rows, separated by commas.
fn labels<'a>(rows: impl Iterator<Item = &'a ComparisonRow>) -> String {
    rows.map(|row| row.label.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the quantities to show. The first one is the life of the drive, if it has settled in all
/// rows. Quantities about time are shown only in the timed gear.
fn shown(compared: &Comparison, plan: &RunPlan) -> Vec<&'static Quantity> {
    let timed = plan.gear == Gear::Timed;
    let unit = shown_life(&compared.techniques);
    let life = QUANTITIES.iter().filter(|of| of.life_unit().is_some() && of.life_unit() == unit);
    let others = compared
        .quantities()
        .filter(|of| of.life_unit().is_none() && (timed || of.shown != Shown::Timed));
    life.chain(others).collect()
}

/// Returns the table of a comparison.
pub(crate) fn table(compared: &Comparison, plan: &RunPlan) -> Table {
    let sizes = plan.sizes();
    let shown = shown(compared, plan);
    let mut table = Table::new(std::iter::once("reclaim").chain(shown.iter().map(|of| of.heading)));
    let opening = (1..).zip(&shown).filter(|(_, of)| of.opens_group);
    table.cut_before(opening.map(|(place, _)| place).collect());
    for row in &compared.techniques {
        let mark = match (row.counterfactual, row.saturated) {
            (true, _) => " (counterfactual)",
            (false, true) => " (saturated)",
            (false, false) => "",
        };
        let name = (format!("{}{mark}", row.label), Look::Plain);
        let cells = shown.iter().map(|of| cell(compared, row, of, &sizes));
        table.painted_row(std::iter::once(name).chain(cells).collect());
    }
    for row in &compared.refused {
        let nothing = std::iter::repeat_n("- ".to_owned(), shown.len());
        table.row(std::iter::once(format!("{} (refused)", row.label)).chain(nothing));
    }
    table
}

/// Returns the cell of a row in a column. A star marks the winner.
fn cell(
    compared: &Comparison,
    row: &ComparisonRow,
    quantity: &Quantity,
    sizes: &Sizes,
) -> (String, Look) {
    let wins = compared.wins(quantity.key, row);
    if let Some(unit) = quantity.life_unit() {
        let life = row.life(unit);
        return life.map_or_else(nothing, |life| match life.middle {
            Some(middle) => starred(quantity.unit.text_on(middle, sizes), wins),
            None => starred(life.text(), wins),
        });
    }
    let Some(cell) = row.cell(quantity) else { return nothing() };
    let text = quantity.unit.text_on(cell.mean, sizes) + &cell.interval(quantity.unit);
    let (text, look) = starred(text, wins);
    let loses = quantity.key == "data_lost_pages" && cell.mean > 0.0;
    (text, if loses { Look::Bad } else { look })
}

fn nothing() -> (String, Look) {
    ("- ".into(), Look::Plain)
}

/// Returns a legend that explains the columns. Columns with the same explanation share one line.
fn legend(compared: &Comparison, plan: &RunPlan) -> Table {
    let mut legend = Table::default();
    let mut names: Vec<&str> = vec![];
    for quantity in shown(compared, plan) {
        names.push(quantity.heading);
        if !quantity.meaning.is_empty() {
            legend.row([names.join(", "), quantity.meaning.to_owned()]);
            names.clear();
        }
    }
    legend
}

fn words_of_seeds(compared: &Comparison) -> String {
    let (first, seeds) = (compared.about.seed, compared.about.seeds);
    match seeds {
        1 => format!("seed {first}"),
        n => format!(
            "seeds {first} to {}: mean ± half width of the 95 % confidence interval",
            first + (u64::from(n) - 1)
        ),
    }
}

fn starred(text: String, wins: bool) -> (String, Look) {
    if wins { (text + "*", Look::Good) } else { (text + " ", Look::Plain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vpass_lab::plan::Chosen;
    use vpass_lab::progress::{Unwatched, unwatched};
    use vpass_lab::results::{LifeUnit, Summary, Wear};
    use vpass_lab::run::execute;
    use vpass_lab::setup::{Base, Named, Setup};

    /// Makes a run whose life is known only as a range of days.
    fn range(run: &Summary, low: f64, high: f64, life_settled: bool) -> Summary {
        let wear = Wear {
            life_unit: Some(LifeUnit::Days),
            life_settled,
            projected_life_days: None,
            life_low_days: Some(low),
            life_high_days: Some(high),
            cycles_observed: 20.0,
            ..run.wear.clone()
        };
        Summary { wear, ..run.clone() }
    }

    #[test]
    fn a_star_stands_in_the_cell_of_the_winner_and_nowhere_else() {
        let base = Base { set: vec!["workload.requests=1000".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        let run = execute(&plan, &Unwatched).unwrap().summary;
        let rows = |settled: bool| {
            let of = |label: &str, run: Summary| ComparisonRow::new(label.into(), vec![run]);
            let rows = vec![
                of("short", range(&run, 1.0, 2.5, settled)),
                // In this test, the technique with the longest life uses no controller memory.
                of("long", Summary { controller_ram_bytes: 0, ..range(&run, 5.0, 9.0, true) }),
                of("middle", range(&run, 3.0, 4.0, true)),
            ];
            Comparison::new(plan.about(1), rows)
        };
        let stars = |compared: &Comparison| {
            let table = table(compared, &plan).markdown();
            table.lines().map(|line| line.matches('*').count()).collect::<Vec<_>>()
        };
        let table = table(&rows(true), &plan).markdown();
        assert!(table.contains("| long | 5.00 to 9.00 days\\* |"), "{table}");
        assert_eq!(stars(&rows(true)), [0, 0, 0, 2, 0]);
        // Without settled lives, the table has no column of lives.
        let table = super::table(&rows(false), &plan).markdown();
        assert!(!table.contains("life") && !table.contains("days"), "{table}");
        assert_eq!(stars(&rows(false)), [0, 0, 0, 1, 0]);
        // The CSV marks the life that the table withholds.
        let csv = csv(&rows(false));
        let last = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect::<Vec<_>>();
        assert_eq!(last, ["life_settled", "false", "true", "true"]);
    }
}
