//! Results of simulated lives, as text for the terminal.

use std::fmt::Write;

use vpass_lab::life::climb::Climbed;
use vpass_lab::life::ladder::{Next, Rung};
use vpass_lab::life::record::{Sampled, Setting};
use vpass_lab::life::summary::{Consumed, Life, warnings};
use vpass_lab::life::verdict::sentences;
use vpass_lab::life::{End, answer, held, rounds};
use vpass_lab::mean_ci95::MeanCi95;
use vpass_lab::numbers::{bytes, count, digits, microseconds, plural, years};
use vpass_lab::plan::FEWEST_PAGES;

use super::args::LifeArgs;
use crate::report;
use crate::table::{Table, wrapped};
use vpass_lab::plain;

/// Returns the text about simulated lives: title, tables, notes, warnings, verdict, and the answer
/// for each technique.
pub(super) fn text(
    lives: &[Life],
    setting: &Setting,
    climbed: &Climbed,
    args: &LifeArgs,
    colour: bool,
) -> String {
    let mut text = report::heading(setting.plan, &lived(setting, args), colour);
    text.push_str(&table(lives).render(colour));
    text.push('\n');
    for table in [retried(lives), hinted(lives)].into_iter().flatten() {
        text.push_str(&table.render(colour));
        text.push('\n');
    }
    for sentence in notes(lives, setting, climbed, args) {
        let _ = writeln!(text, "{}", wrapped(&format!("  {}", plain::line(&sentence)), 2));
    }
    let warned = report::warnings(&warnings(lives), colour);
    if !warned.is_empty() {
        let _ = write!(text, "\n{warned}");
    }
    let verdict = sentences(lives).join(" ");
    if !verdict.is_empty() {
        let _ = writeln!(text, "\n{}", wrapped(&verdict, 0));
    }
    let answers: Vec<String> =
        lives.iter().filter_map(|life| answer::sentence(&setting.whole.drive.name, life)).collect();
    if !answers.is_empty() {
        text.push('\n');
    }
    for sentence in answers {
        let _ = writeln!(text, "{}", wrapped(&plain::line(&sentence), 0));
    }
    text
}

/// Describes the samples and seeds, for example "4 disjoint samples of 1/256, 2 seeds from 1 on".
fn lived(setting: &Setting, args: &LifeArgs) -> String {
    let plan = setting.plan;
    let sample = match setting.samples {
        _ if plan.sample.is_whole() => "the whole drive".to_owned(),
        1 => format!("a sample of {}", plan.sample),
        n => format!("{n} disjoint samples of {}", plan.sample),
    };
    let parity = args.combinations().of_one_parity();
    match setting.seeds {
        1 => format!("{parity}{sample}, seed {}", plan.seed),
        n => format!("{parity}{sample}, {n} seeds from {} on", plan.seed),
    }
}

fn table(lives: &[Life]) -> Table {
    // The last cause of rewrites in the list is the regrouping of data by hints. This cause has a
    // column only if it rewrote pages.
    let regroups = lives
        .iter()
        .any(|life| life.consumed.as_ref().is_some_and(|consumed| consumed.hints.mean > 0.0));
    let causes = &Consumed::CAUSES[..Consumed::CAUSES.len() - usize::from(!regroups)];
    let before =
        ["", "life", "host wrote", "flash wrote", "write ampl.", "read wear", "net", "P/E"];
    let mut table =
        Table::new(before.into_iter().chain(causes.iter().copied()).chain(["lost pages"]));
    for life in lives {
        let amplification = life.write_amplification.map_or_else(|| "-".into(), |e| digits(e.mean));
        let percent = |of: Option<MeanCi95>| {
            of.map_or_else(|| "-".into(), |e| format!("{} %", digits(e.mean)))
        };
        let mut cells = vec![
            life.label.clone(),
            life.length_text(),
            bytes(life.host_bytes_written.mean as u64),
            bytes(life.flash_bytes_written.mean as u64),
            amplification,
            percent(life.read_wear),
            percent(life.read_wear_net),
            digits(life.pec_mean.mean),
        ];
        match &life.consumed {
            Some(consumed) => {
                cells.extend(
                    consumed
                        .rows()
                        .iter()
                        .take(causes.len())
                        .map(|(_, share)| format!("{:.1} %", 100.0 * share.mean)),
                );
            }
            None => cells.extend(std::iter::repeat_n("-".to_owned(), causes.len())),
        }
        cells.push(digits(life.data_lost_pages));
        table.row(cells);
    }
    table
}

/// Returns a table with the share of reads for each number of retries; `None` if no read needed a
/// retry.
fn retried(lives: &[Life]) -> Option<Table> {
    let of = |life: &Life| {
        life.reads_by_retries
            .clone()
            .filter(|shares| shares[1..].iter().any(|share| share.mean > 0.0))
    };
    let levels = lives.iter().find_map(of)?.len();
    let names = (1..levels).map(|n| format!("{n} retr{}", if n == 1 { "y" } else { "ies" }));
    let mut table = Table::new(
        ["reads with".to_owned(), "none".to_owned()]
            .into_iter()
            .chain(names)
            .chain(["UBER".to_owned()]),
    );
    for life in lives {
        let shares = life
            .reads_by_retries
            .iter()
            .flatten()
            .map(|share| format!("{:.3} %", 100.0 * share.mean));
        let uber = life.uber.map_or_else(|| "-".into(), |uber| digits(uber.mean));
        table.row(std::iter::once(life.label.clone()).chain(shares).chain([uber]));
    }
    Some(table)
}

/// Returns a table with the share of reads for each hint of the host; `None` without hints.
fn hinted(lives: &[Life]) -> Option<Table> {
    let mut table = Table::new(["data that is", "", "may take", "reads", "missed"]);
    let mut is_empty = true;
    for life in lives {
        for (word, of) in life.hints.iter().flatten().filter(|(_, of)| of.reads.mean > 0.0) {
            let missed = of
                .missed_budgets
                .map_or_else(|| "-".into(), |missed| format!("{:.3} %", 100.0 * missed.mean));
            let retries = format!(
                "{} retr{}, {}",
                of.retries,
                if of.retries == 1 { "y" } else { "ies" },
                microseconds(of.latency_us)
            );
            table.row([
                word.clone(),
                life.label.clone(),
                retries,
                format!("{:.1} %", 100.0 * of.reads.mean),
                missed,
            ]);
            is_empty = false;
        }
    }
    (!is_empty).then_some(table)
}

fn notes(lives: &[Life], setting: &Setting, climbed: &Climbed, args: &LifeArgs) -> Vec<String> {
    let plan = setting.plan;
    let mut notes = vec![
        format!(
            "A life ends when the mean block has endured {} P/E cycles{}. {}Numbers of bytes are \
             totals for the life of a whole drive.",
            plan.drive.config.drive.rated_pec,
            args.uber.map_or_else(String::new, |uber| format!(
                ", or the UBER of all reads exceeds {uber:e}"
            )),
            if setting.rung.is_none() && lives.iter().any(|life| life.years.ci95.is_some()) {
                "Years have the 95 % interval of the mean. "
            } else {
                ""
            },
        ),
        "The columns from host to parity show shares of the programmed pages, by cause. GC has a \
         column of its own, because GC frees space for every cause."
            .into(),
    ];
    notes.extend(setting.sampled.map(of_samples));
    if let Some(rung) = setting.rung {
        notes.push(of_rung(rung, lives));
        notes.extend(
            climbed.end.and_then(|end| why_no_higher(end, lives, (args.within, args.minutes()))),
        );
    } else if lives.iter().all(|life| life.years.ci95.is_none()) {
        notes.push(
            "A single life has no confidence interval; for an interval, use --seeds N or --sample \
             K/N."
                .into(),
        );
    } else if setting.samples > 1 {
        notes.push(
            "Only sums and means have intervals: samples do not show the largest and smallest \
             values of a drive."
                .into(),
        );
    }
    notes.extend(lives.iter().filter_map(bounds));
    notes.extend(rounds::said(lives));
    notes.extend(held::said(lives, setting.rung.is_some()));
    if args.uber.is_some() {
        let by_uber = |life: &Life| life.lives.iter().filter(|one| one.end == End::Uber).count();
        let ended: Vec<_> = lives
            .iter()
            .map(|life| format!("{} of {} under {}", by_uber(life), life.lives.len(), life.label))
            .collect();
        notes.push(format!("Lives that ended by errors: {}.", ended.join(", ")));
    }
    notes.extend(plan.bulk_warning());
    notes
}

/// Returns a sentence about the samples, such as "The samples hold 12,000 pages of the workload, in
/// 360 blocks."
fn of_samples(sampled: Sampled) -> String {
    let few = if sampled.pages < FEWEST_PAGES {
        format!(" With fewer than {} pages, only a range is given.", count(FEWEST_PAGES))
    } else {
        String::new()
    };
    format!(
        "The samples hold {} of the workload, in {}.{few}",
        plural(sampled.pages, "page"),
        plural(sampled.blocks, "block")
    )
}

/// Explains how lives were simulated on this rung (level of accuracy), and what the intervals mean.
fn of_rung(rung: Rung, lives: &[Life]) -> String {
    let from: Vec<f64> = lives
        .iter()
        .flat_map(|life| &life.lives)
        .filter_map(|one| one.accelerated_from_pec)
        .collect();
    let warm_up = from.iter().copied().fold(0.0, f64::max);
    let number = rung.number;
    let (Some(windows), false) = (rung.windows, from.is_empty()) else {
        return format!("Rung {number} of the ladder: every P/E cycle was simulated.");
    };
    let settled = if lives.iter().all(|life| life.has_settled) {
        "had settled"
    } else {
        "had not settled in every life"
    };
    format!(
        "Rung {number} of the ladder: wear {settled} by {} P/E cycles. From then on, vpass \
         simulated {} windows of at most {} P/E cycles, each for an equal part of the life. \
         --rung {number} repeats this simulation.",
        digits(warm_up),
        windows.count,
        windows.cycles,
    )
}

/// Explains why the command ended on this rung (`--rung`), although the interval is missing or too
/// wide. Returns `None` if the interval is narrow enough.
fn why_no_higher(end: Next, lives: &[Life], (within, minutes): (f64, f64)) -> Option<String> {
    let wanted = if lives.iter().all(|life| life.has_settled) {
        format!("The interval is wider than --within {} %", digits(100.0 * within))
    } else {
        "An interval needs wear that has settled".into()
    };
    match end {
        Next::Answered | Next::Climb(_) => None,
        Next::OutOfTime(takes) => Some(format!(
            "{wanted}: a higher rung would take about --minutes {}, more than is left of --minutes \
             {}.",
            digits(takes),
            digits(minutes),
        )),
        Next::AtTop => Some(format!(
            "{wanted}, and this was the last rung. Try --exact with more --seeds or samples."
        )),
    }
}

/// Returns a sentence about a life whose simulation used up its work; `None` for other lives.
fn bounds(life: &Life) -> Option<String> {
    let at_most = || match life.years_at_most {
        Some(most) => format!(
            ", and at most {}, because the host's data alone programs all flash as often as it is \
             rated in this time",
            years(most, None)
        ),
        None => String::new(),
    };
    life.out_of_work.then(|| {
        format!(
            "`{}`: the simulation used up its work (--minutes) at {} P/E cycles. The drive lives \
             at least {}{}.",
            life.label,
            digits(life.pec_mean.mean),
            years(life.years.mean, None),
            at_most()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_are_those_of_the_command() {
        assert_eq!(
            why_no_higher(Next::OutOfTime(13.5), &[], (0.1, 0.3)).unwrap(),
            "The interval is wider than --within 10.0 %: a higher rung would take about --minutes \
             13.5, more than is left of --minutes 0.30."
        );
    }
}
