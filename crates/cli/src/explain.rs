//! `vpass explain`: prints the latency of one read, and the effect of this read on the drive.

mod budget;
mod code;
mod stripe;
pub(crate) mod unit;

use std::fmt::Write;

use vpass_drive::config::DriveConfig;
use vpass_lab::as_json;
use vpass_lab::explain::{Age, Dose, Explanation, Word, explanation};
use vpass_lab::failure::Failure;
use vpass_lab::load;
use vpass_lab::numbers::{bytes, count, digits, microseconds};
use vpass_lab::plan::reclaim_named;

use crate::args::ExplainArgs;
use crate::out;
use crate::report::COUNTERFACTUAL;
use crate::table::{Look, Table, wants_colour, wrapped_lines};
use vpass_lab::plain;

/// Prints the explanation of one read on a drive.
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let reclaim = reclaim_named(&args.reclaim)?;
    let sets = load::overrides(&args.set)?;
    if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
        let what = "`vpass explain` accepts only keys of the drive";
        return Err(Failure::usage(what).at(set.said.clone()));
    }
    // Some techniques assume flash that no real drive has, and therefore change the configuration
    // of the drive. A run makes the same change.
    let config = reclaim.drive(load::drive(&args.drive, &sets)?.config);
    let explanation = explanation(&args.drive, &config, reclaim)?;
    out::print(&if args.json {
        as_json::text(&explanation)?
    } else {
        wrapped_lines(&render(&explanation, &config, wants_colour()))
    })
}

fn render(e: &Explanation, config: &DriveConfig, colour: bool) -> String {
    let mut text = String::new();
    let heading = |text: &mut String, title: &str| {
        let _ = writeln!(text, "{}", Look::Heading.paint(&plain::line(title), colour));
    };
    heading(
        &mut text,
        &format!(
            "Latency of reading a page of {} on an idle drive {}",
            bytes(e.page_bytes.into()),
            e.drive
        ),
    );
    let mut table = Table::new(["page kind", "sensing", "channel", "ECC", "host link", "total"]);
    for r in &e.read {
        let times =
            [r.sensing_us, r.channel_us, r.ecc_us, r.host_link_us, r.total_us].map(microseconds);
        table.row(std::iter::once(r.page_kind.to_owned()).chain(times));
    }
    text.push_str(&table.render(colour));
    text.push('\n');
    heading(&mut text, "Mapping unit");
    text.push_str(&unit::words(&e.mapping_unit, colour));
    text.push('\n');
    heading(&mut text, "Dose that one read deposits in its block");
    text.push_str(&dose_words(e, config));
    text.push('\n');
    heading(
        &mut text,
        &format!("Read limits of a block, and read counts at which `{}` acts", e.reclaim),
    );
    if e.counterfactual {
        let _ = writeln!(text, "  {COUNTERFACTUAL}");
    }
    text.push_str(&age_words(e, colour));
    let _ =
        writeln!(text, "  {} takes {} of controller RAM", e.reclaim, bytes(e.controller_ram_bytes));
    if let Some(code) = &e.code {
        text.push('\n');
        heading(&mut text, "Limits that follow from the error-correcting code");
        text.push_str(&code::words(code, colour));
    }
    if let Some(stripes) = &e.stripes {
        text.push('\n');
        heading(&mut text, "Reads first, parity second");
        text.push_str(&stripe::words(stripes, colour));
    }
    if let Some(budget) = &e.error_budget {
        text.push('\n');
        heading(
            &mut text,
            "Error budget of a page: errors from wear, age and reads; dose left at each retry",
        );
        text.push_str(&budget::words(budget, colour));
    }
    if let Some(words) = &e.hints {
        text.push('\n');
        heading(
            &mut text,
            &format!(
                "Retries that the host's hints allow (--hints), and read counts at which `{}` \
                 first acts",
                e.reclaim
            ),
        );
        text.push_str(&hint_words(words, colour));
    }
    text
}

fn hint_words(words: &[Word], colour: bool) -> String {
    let mut table =
        Table::new(["access latency", "budget", "retries", "a read takes", "first acts at"]);
    for word in words {
        let budget = word.budget_us.map_or_else(|| "reclaim.retries".into(), microseconds);
        let first = word.thresholds.iter().map(|t| t.reads).min();
        let first =
            first.map_or_else(|| "-".into(), |reads| format!("{} reads", count(reads.into())));
        table.row([
            word.access_latency.into(),
            budget,
            count(word.retries.into()),
            microseconds(word.latency_us),
            first,
        ]);
    }
    table.render(colour)
}

fn dose_words(e: &Explanation, config: &DriveConfig) -> String {
    let Some(dose) = &e.dose else {
        return "  none: disturb.model is \"none\", so reads disturb nothing\n".into();
    };
    let mut text = String::new();
    match e.ages.first() {
        Some(first) if config.disturb.model.has_neighbours() => {
            text.push_str(&neighbour_words(dose, first))
        }
        _ if config.disturb.model.own_reads_disturb() => {
            let _ = writeln!(
                text,
                "  every page of the block, including the page read: 1 x weight (model {})",
                dose.model
            );
        }
        _ => {
            let _ = writeln!(
                text,
                "  the dose comes from the error model, which has no table of limits (model \
                 {})",
                dose.model
            );
        }
    }
    let weights: Vec<_> = dose.weight.iter().map(|(kind, w)| format!("{kind} {w}")).collect();
    let _ = writeln!(text, "  weight: {} (disturb.dose = \"{}\")", weights.join(", "), dose.unit);
    let before = config.disturb.preprogram_weight;
    let _ = writeln!(
        text,
        "  weight of a read for wordlines not yet programmed: {before} times the weight above \
            (disturb.preprogram_weight)"
    );
    text
}

fn neighbour_words(dose: &Dose, first: &Age) -> String {
    let alphas: Vec<_> =
        first.groups.iter().map(|g| format!("{} for group {}", digits(g.alpha), g.name)).collect();
    format!(
        "  the wordline read                          0
  its 2 neighbours ({} away)                alpha x weight each; at {} P/E cycles alpha is {}
  each of the other {:<5} wordlines          1 x weight\n",
        dose.neighbour_stride,
        first.pec,
        alphas.join(", "),
        dose.wordlines_per_block.saturating_sub(3)
    )
}

fn age_words(e: &Explanation, colour: bool) -> String {
    if e.ages.is_empty() {
        let words = if e.dose.is_some() {
            "the drive's error model has no table of limits"
        } else {
            "a block endures any number of reads"
        };
        return format!("  {words}\n");
    }
    let mut table =
        Table::new(["P/E cycles", "group", "wordlines", "limit", "alpha", "limit / alpha"]);
    for age in &e.ages {
        for g in &age.groups {
            let numbers = [
                count(g.wordlines.into()),
                digits(g.limit),
                digits(g.alpha),
                digits(g.limit / g.alpha),
            ];
            table.row([count(age.pec.into()), g.name.clone()].into_iter().chain(numbers));
        }
    }
    let mut text = table.render(colour);
    if !e.kind_factor.is_empty() {
        let factors: Vec<_> =
            e.kind_factor.iter().map(|(kind, factor)| format!("{kind} {factor}")).collect();
        let _ = writeln!(
            text,
            "  limits hold for the weakest page kind; factors of all page kinds: {} \
             (disturb.kind_factor)",
            factors.join(", ")
        );
    }
    for age in &e.ages {
        for t in &age.thresholds {
            let _ = writeln!(
                text,
                "  at {} P/E cycles: {action} at {} reads = {formula}",
                count(age.pec.into()),
                count(t.reads.into()),
                action = t.what,
                formula = t.because
            );
        }
        if age.thresholds.is_empty() {
            let _ = writeln!(text, "  at {} P/E cycles: never", count(age.pec.into()));
        }
        let _ = writeln!(text, "  at {} P/E cycles {}", count(age.pec.into()), age.promise);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Explains a read on a drive under the technique `none`.
    fn said(drive: &str) -> (Explanation, DriveConfig) {
        let reclaim = reclaim_named("none").unwrap();
        let config = load::drive(drive, &[]).unwrap().config;
        (explanation(drive, &config, reclaim).unwrap(), config)
    }

    #[test]
    fn a_drive_whose_error_model_has_no_table_is_explained_without_one() {
        let (mut explanation, config) = said("tiny");
        assert!(render(&explanation, &config, false).contains("its 2 neighbours"));
        (explanation.ages, explanation.error_budget, explanation.hints) = (vec![], None, None);
        let text = render(&explanation, &config, false);
        assert!(
            text.contains(
                "  the dose comes from the error model, which has no table of limits (model \
                 wordline)\n"
            ),
            "{text}"
        );
        assert!(text.contains("  the drive's error model has no table of limits\n"), "{text}");
    }
}
