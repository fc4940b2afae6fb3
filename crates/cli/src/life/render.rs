//! Results of simulated lives, as text for the terminal.

use std::fmt::Write;

use vpass_lab::life::climb::Climbed;
use vpass_lab::life::ladder::{Next, Rung};
use vpass_lab::life::record::{Sampled, Setting};
use vpass_lab::life::summary::{Life, warnings};
use vpass_lab::life::verdict::sentences;
use vpass_lab::life::{End, answer, held, rounds};
use vpass_lab::numbers::{count, digits, plural, years};
use vpass_lab::plan::FEWEST_PAGES;

use super::args::LifeArgs;
use crate::report;
use crate::table::wrapped;
use vpass_lab::plain;
use vpass_report::facts;

/// Keys of a life that the text leaves out: the title and the sentences have some of them, and the
/// JSON output has all.
const LEFT_OUT: [&str; 14] = [
    "reclaim",
    "gc",
    "refresh",
    "parity",
    "lives",
    "series",
    "mapping_unit",
    "interval",
    "warnings",
    "counterfactual",
    "ended",
    "has_settled",
    "out_of_work",
    "simulated_cycles",
];

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
    text.push_str(&facts::rows(lives, &LEFT_OUT, colour));
    text.push('\n');
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
        "`programmed for` shows shares of the programmed pages, by cause. GC has a share of its \
         own, because GC frees space for every cause."
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
