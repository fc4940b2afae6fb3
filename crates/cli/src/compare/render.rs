//! Results of a comparison as text for a terminal, as CSV, and as Markdown.

use std::fmt::Write;

use vpass_lab::compare::column::{COLUMNS, Sizes};
use vpass_lab::compare::ranking::winners;
use vpass_lab::compare::refused::{Refused, by_reason};
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::compare::verdict::verdict;
use vpass_lab::compare::{has_parity, refreshes, shown_life, stands, warnings};
use vpass_lab::plan::RunPlan;
use vpass_lab::setup::Gear;

use crate::args::CompareArgs;
use crate::report::{self, parity::failures_in_short};
use crate::table::{Look, Table, wrapped};

/// Returns the comparison as CSV. Each result has two columns: the mean, and half the width of the
/// 95 % confidence interval. As in `compare.json`, a projected life is printed even if it has not
/// settled. The last column, `life_settled`, says whether the lives can be ranked.
pub(super) fn csv(rows: &[ComparisonRow]) -> String {
    let refreshes = refreshes(rows);
    let has_parity = has_parity(rows);
    let mut text = String::from(if refreshes { "reclaim,gc,refresh" } else { "reclaim,gc" });
    text.push_str(if has_parity { ",parity,runs" } else { ",runs" });
    let columns: Vec<_> = (0..COLUMNS.len()).filter(|c| stands(rows, *c)).collect();
    for column in &columns {
        let _ = write!(text, ",{0},{0}_ci95", COLUMNS[*column].key);
    }
    text.push_str(",life_settled\n");
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| n.to_string());
    for row in rows {
        let refresh = if refreshes { format!("{},", row.refresh) } else { String::new() };
        let parity = if has_parity { format!("{},", row.parity) } else { String::new() };
        let _ = write!(text, "{},{},{refresh}{parity}{}", row.reclaim, row.gc, row.runs.len());
        for e in columns.iter().map(|c| row.means[*c]) {
            let _ =
                write!(text, ",{},{}", number(e.map(|e| e.mean)), number(e.and_then(|e| e.ci95)));
        }
        let _ = writeln!(text, ",{}", row.life_settled());
    }
    text
}

/// Returns the text of a comparison: title, table, notes, legend, warnings and verdict.
pub(super) fn text(
    rows: &[ComparisonRow],
    (stopped, refused): (&[Refused], &[Refused]),
    (plan, seeds): (&RunPlan, u32),
    args: &CompareArgs,
    colour: bool,
) -> String {
    let mut text = report::heading(plan, &words_of_seeds(args, seeds), colour);
    text.push_str(&table(rows, refused, plan).render(colour));
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
    for row in stopped {
        notes.row([format!("{}: stopped without results: {}", row.label, row.why)]);
    }
    for (labels, why) in by_reason(refused) {
        notes.row([format!(
            "{labels}: no results, because the drive refuses this technique: {why}"
        )]);
    }
    text.push_str(&notes.render_words(colour));
    text.push_str(&legend(rows, plan).render_words(colour));
    if let Some(trace) = &rows[0].runs[0].trace {
        text.push_str(&report::bad_lines(trace));
    }
    text.push_str(&said(rows, colour));
    text.push_str(&wrapped(&verdict(rows, &Sizes::of(plan)), 0));
    text
}

/// Returns the warnings about the results. Each line has one warning, with the techniques that the
/// warning concerns.
fn said(rows: &[ComparisonRow], colour: bool) -> String {
    let all: Vec<&ComparisonRow> = rows.iter().collect();
    let line = |warning: warnings::Warning| {
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

/// Returns only the table of the comparison, as Markdown for a document.
pub(super) fn markdown(rows: &[ComparisonRow], refused: &[Refused], plan: &RunPlan) -> String {
    table(rows, refused, plan).markdown()
}

/// Returns the columns to show. The first column is the life of the drive, if it has settled in all
/// rows. Columns about time are shown only in the timed gear. Columns about aged data are shown
/// only if they have something to show.
fn shown(rows: &[ComparisonRow], plan: &RunPlan) -> Vec<usize> {
    let timed = plan.gear == Gear::Timed;
    let unit = shown_life(rows);
    let is_life = |c: &usize| COLUMNS[*c].life_unit().is_some();
    let life = (0..COLUMNS.len()).filter(|c| is_life(c) && COLUMNS[*c].life_unit() == unit);
    let others = (0..COLUMNS.len())
        .filter(|c| !is_life(c) && (timed || !COLUMNS[*c].needs_time) && stands(rows, *c));
    life.chain(others).collect()
}

fn table(rows: &[ComparisonRow], refused: &[Refused], plan: &RunPlan) -> Table {
    let sizes = Sizes::of(plan);
    let shown = shown(rows, plan);
    let mut table =
        Table::new(std::iter::once("reclaim").chain(shown.iter().map(|c| COLUMNS[*c].heading)));
    table.cut_before(
        (1..)
            .zip(&shown)
            .filter(|(_, c)| COLUMNS[**c].opens_group)
            .map(|(place, _)| place)
            .collect(),
    );
    let best: Vec<_> = (0..COLUMNS.len()).map(|c| winners(rows, c, &sizes)).collect();
    for (r, row) in rows.iter().enumerate() {
        let mark = match (row.counterfactual, row.is_saturated()) {
            (true, _) => " (counterfactual)",
            (false, true) => " (saturated)",
            (false, false) => "",
        };
        let mut cells = vec![(format!("{}{mark}", row.label), Look::Plain)];
        for c in &shown {
            let column = &COLUMNS[*c];
            let life = || row.life(column.life_unit()?).map(|life| life.text(&sizes));
            cells.push(match (life(), row.means[*c]) {
                (Some(life), _) => starred(life, best[*c][r]),
                (None, Some(e)) => {
                    let text = column.text(e.mean, &sizes) + &row.interval(*c, &sizes);
                    let (text, look) = starred(text, best[*c][r]);
                    let loses = column.key == "data_lost_pages" && e.mean > 0.0;
                    (text, if loses { Look::Bad } else { look })
                }
                (None, None) => ("- ".into(), Look::Plain),
            });
        }
        table.painted_row(cells);
    }
    for row in refused {
        let nothing = std::iter::repeat_n("- ".to_owned(), shown.len());
        table.row(std::iter::once(format!("{} (refused)", row.label)).chain(nothing));
    }
    table
}

/// Returns only the table of the comparison.
pub(super) fn plain_table(
    rows: &[ComparisonRow],
    plan: &RunPlan,
    is_markdown: bool,
    colour: bool,
) -> String {
    let table = table(rows, &[], plan);
    if is_markdown { table.markdown() } else { table.render(colour) }
}

/// Returns a legend that explains the columns. Columns with the same explanation share one line.
fn legend(rows: &[ComparisonRow], plan: &RunPlan) -> Table {
    let mut legend = Table::default();
    let mut names: Vec<&str> = vec![];
    for column in shown(rows, plan).into_iter().map(|c| &COLUMNS[c]) {
        names.push(column.heading);
        if !column.meaning.is_empty() {
            legend.row([names.join(", "), column.meaning.to_owned()]);
            names.clear();
        }
    }
    legend
}

fn words_of_seeds(args: &CompareArgs, seeds: u32) -> String {
    let (first, parity) = (args.setup.base.seed, args.combined.of_one_parity());
    match seeds {
        1 => format!("{parity}seed {first}"),
        n => format!(
            "{parity}seeds {first} to {}: mean ± half width of the 95 % confidence interval",
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
            let of = |label: &str, run: Summary| ComparisonRow::new(&plan, label.into(), vec![run]);
            [
                of("short", range(&run, 1.0, 2.5, settled)),
                // In this test, the technique with the longest life uses no controller memory.
                of("long", Summary { controller_ram_bytes: 0, ..range(&run, 5.0, 9.0, true) }),
                of("middle", range(&run, 3.0, 4.0, true)),
            ]
        };
        let stars = |rows: &[ComparisonRow]| {
            let table = markdown(rows, &[], &plan);
            table.lines().map(|line| line.matches('*').count()).collect::<Vec<_>>()
        };
        let table = markdown(&rows(true), &[], &plan);
        assert!(table.contains("| long | 5.00 to 9.00 days\\* |"), "{table}");
        assert_eq!(stars(&rows(true)), [0, 0, 0, 2, 0]);
        // Without settled lives, the table has no column of lives.
        let table = markdown(&rows(false), &[], &plan);
        assert!(!table.contains("life") && !table.contains("days"), "{table}");
        assert_eq!(stars(&rows(false)), [0, 0, 0, 1, 0]);
        // The CSV marks the life that the table withholds.
        let csv = csv(&rows(false));
        let last = csv.lines().map(|line| line.rsplit(',').next().unwrap()).collect::<Vec<_>>();
        assert_eq!(last, ["life_settled", "false", "true", "true"]);
    }
}
