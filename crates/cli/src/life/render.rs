//! Lives for reading.

use std::fmt::Write;

use vpass_lab::life::summary::Life;
use vpass_lab::life::verdict::verdict;
use vpass_lab::numbers::{bytes, digits};
use vpass_lab::plan::Plan;

use super::args::LifeArgs;
use crate::report;
use crate::table::{Look, Table, wrapped};

/// For a terminal: title, table, what to know of it, verdict.
pub(super) fn text(lives: &[Life], plan: &Plan, args: &LifeArgs, colour: bool) -> String {
    let title = report::title(
        env!("CARGO_PKG_VERSION"),
        &plan.drive.name,
        &plan.workload.name(),
        plan.workload.is_generated(),
        &plan.workload.source(),
    );
    let mut text = format!("{}\n  {} gear, {}\n\n", Look::Heading.paint(&title, colour), plan.gear.name(), lived(plan, args));
    text.push_str(&table(lives).render(colour));
    text.push('\n');
    for sentence in notes(lives, plan, args) {
        let _ = writeln!(text, "{}", wrapped(&format!("  {sentence}"), 2));
    }
    if let Some(verdict) = verdict(lives) {
        let _ = writeln!(text, "\n{}", wrapped(&verdict, 0));
    }
    text
}

/// "4 samples of 1/256, 2 seeds from 1 on".
fn lived(plan: &Plan, args: &LifeArgs) -> String {
    let samples = args.setup.sample.count;
    let sample = match samples {
        _ if plan.sample.is_whole() => "the whole drive".to_owned(),
        1 => format!("a sample of {}", plan.sample),
        n => format!("{n} disjoint samples of {}", plan.sample),
    };
    match args.seeds.get() {
        1 => format!("{sample}, seed {}", plan.seed),
        n => format!("{sample}, {n} seeds from {} on", plan.seed),
    }
}

fn table(lives: &[Life]) -> Table {
    let mut table = Table::new([
        "",
        "years",
        "host wrote",
        "flash wrote",
        "WA",
        "P/E",
        "host",
        "GC",
        "reads",
        "age",
        "levelling",
        "parity",
        "lost pages",
    ]);
    for life in lives {
        let amplification = life.write_amplification.map_or_else(|| "-".into(), |e| digits(e.mean));
        let mut cells = vec![
            life.label.clone(),
            life.years_text(),
            bytes(life.host_bytes_written.mean as u64),
            bytes(life.flash_bytes_written.mean as u64),
            amplification,
            digits(life.pec_mean.mean),
        ];
        match &life.consumed {
            Some(consumed) => cells.extend(consumed.rows().iter().map(|(_, share)| format!("{:.1} %", 100.0 * share.mean))),
            None => cells.extend(std::iter::repeat_n("-".to_owned(), 6)),
        }
        cells.push(digits(life.data_lost_pages));
        table.row(cells);
    }
    table
}

fn notes(lives: &[Life], plan: &Plan, args: &LifeArgs) -> Vec<String> {
    let mut notes = vec![
        format!(
            "years: until the mean block has endured {} P/E cycles{}. Bytes are those of a whole drive's life.",
            plan.drive.config.drive.rated_pec,
            if lives.iter().any(|life| life.years.ci95.is_some()) { ", with the 95 % interval of the mean" } else { "" },
        ),
        "host to parity: what the programmed pages were for, as shares; GC makes room for all the others.".into(),
    ];
    if lives.iter().all(|life| life.years.ci95.is_none()) {
        notes.push("One life says nothing of how sure its years are; --seeds N or --sample K/N give an interval.".into());
    } else if args.setup.sample.count > 1 {
        notes.push(
            "Intervals are those of sums and means; the largest and the smallest of a drive are not known from samples, and have none."
                .into(),
        );
    }
    if plan.is_fluid() {
        notes.push("Reads were drawn in bulk: there are no latencies, and the oracle checks doses, copies, books and map, but not which page a read got.".into());
    }
    notes
}
