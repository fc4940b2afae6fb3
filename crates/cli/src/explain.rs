//! One read taken apart: how long it takes, what it does to its block, and when the block is rewritten because of reads.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde::Serialize;
use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{transfer_ns, us};
use vpass_core::config::{DisturbModel, DoseUnit, DriveConfig};
use vpass_core::disturb::table::{ALPHA_ONE, DOSE_ONE, LimitTable, QUARTERS, dose_per_kind};
use vpass_core::slots::reclaim::promise::Prospect;
use vpass_core::slots::reclaim::{Technique, Threshold, technique};

use crate::args::ExplainArgs;
use crate::exit::Failure;
use crate::load;
use crate::numbers::{bytes, count, digits, microseconds};
use crate::out;
use crate::plan::reclaim_named;
use crate::report::COUNTERFACTUAL;
use crate::table::{Look, Table, wants_colour};

#[derive(Serialize)]
struct Explanation {
    drive: String,
    reclaim: &'static str,
    controller_ram_bytes: u64,
    page_bytes: u32,
    read: Vec<ReadLatency>,
    dose: Option<Dose>,
    /// Whether what follows is the drive's nature as the technique makes it, which no drive has.
    counterfactual: bool,
    /// Limit of each page kind over that of the weakest.
    kind_factor: Vec<(&'static str, f64)>,
    ages: Vec<Age>,
}

/// Microseconds, of a whole page on an idle drive.
#[derive(Serialize)]
struct ReadLatency {
    page_kind: &'static str,
    sensings: u32,
    sensing_us: f64,
    channel_us: f64,
    ecc_us: f64,
    host_link_us: f64,
    total_us: f64,
}

#[derive(Serialize)]
struct Dose {
    model: &'static str,
    unit: &'static str,
    /// Dose units of one read of each page kind.
    weight: Vec<(&'static str, f64)>,
    neighbour_stride: u32,
    wordlines_per_block: u32,
}

/// A block after so many P/E cycles.
#[derive(Serialize)]
pub(crate) struct Age {
    pub(crate) pec: u32,
    pub(crate) groups: Vec<Group>,
    pub(crate) thresholds: Vec<Rewrite>,
    /// What the technique promises of such a block, and what that rests on.
    promise: String,
    /// Dose units left of the tightest budget of a wordline, below 0 where the promise does not hold; none where it promises nothing.
    slack: Option<f64>,
}

/// What a group of wordlines endures.
#[derive(Serialize)]
pub(crate) struct Group {
    pub(crate) name: String,
    wordlines: u32,
    pub(crate) limit: f64,
    pub(crate) alpha: f64,
}

/// A count of reads at which a technique acts.
#[derive(Serialize)]
pub(crate) struct Rewrite {
    what: String,
    pub(crate) reads: u32,
    because: String,
}

/// Prints the explanation.
pub(crate) fn explain(args: &ExplainArgs) -> Result<(), Failure> {
    let reclaim = reclaim_named(&args.reclaim)?;
    let sets = load::overrides(&args.set)?;
    if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
        return Err(Failure::usage(format!("--set {}: explain is about the drive alone", set.text)));
    }
    let reclaim = technique(reclaim).expect("its name was found");
    // The nature that a run would have: a counterfactual technique changes it.
    let config = reclaim.drive(load::drive(&args.drive, &sets)?.config);
    let explanation = explanation(&args.drive, &config, reclaim)?;
    out::print(&if args.json { out::json(&explanation)? } else { render(&explanation, &config, wants_colour()) })
}

fn explanation(name: &str, config: &DriveConfig, reclaim: &'static Technique) -> Result<Explanation, Failure> {
    let geometry = Geometry::new(config);
    Ok(Explanation {
        drive: name.into(),
        reclaim: reclaim.name,
        controller_ram_bytes: reclaim.make(config, 0).controller_ram(&geometry).0,
        page_bytes: geometry.page_bytes,
        read: latencies(config, &geometry),
        dose: dose(config, &geometry),
        counterfactual: reclaim.is_counterfactual(),
        kind_factor: geometry.cell.kinds().iter().copied().zip(config.disturb.kind_factor.iter().copied()).collect(),
        ages: ages(config, &geometry, reclaim.name)?,
    })
}

fn latencies(config: &DriveConfig, geometry: &Geometry) -> Vec<ReadLatency> {
    let t = &config.timing;
    let page = u64::from(geometry.page_bytes);
    let (channel, host, ecc) = (transfer_ns(page, t.channel_mb_s), transfer_ns(page, t.host_mb_s), us(t.ecc_us));
    let cell = geometry.cell;
    let kinds = cell.kinds().iter().zip(cell.sensings()).zip(t.sense_per_kind_us(cell));
    let in_us = |ns: u64| ns as f64 / 1e3;
    kinds
        .map(|((kind, sensings), sense_us)| ReadLatency {
            page_kind: kind,
            sensings,
            sensing_us: in_us(us(sense_us)),
            channel_us: in_us(channel),
            ecc_us: in_us(ecc),
            host_link_us: in_us(host),
            total_us: in_us(us(sense_us) + channel + ecc + host),
        })
        .collect()
}

fn dose(config: &DriveConfig, geometry: &Geometry) -> Option<Dose> {
    let model = match config.disturb.model {
        DisturbModel::None => return None,
        DisturbModel::Count => "count",
        DisturbModel::Wordline => "wordline",
    };
    let unit = match config.disturb.dose {
        DoseUnit::Reads => "reads",
        DoseUnit::Sensings => "sensings",
    };
    let weights = dose_per_kind(config.disturb.dose, geometry.cell).map(|quarters| f64::from(quarters) / f64::from(QUARTERS));
    let weight = geometry.cell.kinds().iter().copied().zip(weights).collect();
    Some(Dose { model, unit, weight, neighbour_stride: geometry.neighbour_stride, wordlines_per_block: geometry.wordlines_per_block })
}

/// The block at the drive's starting age and at each age of its table.
fn ages(config: &DriveConfig, geometry: &Geometry, reclaim: &str) -> Result<Vec<Age>, Failure> {
    let counts: BTreeSet<u32> = config.disturb.table.iter().map(|row| row.pec).chain([config.start.pec]).collect();
    ages_at(config, geometry, reclaim, &counts)
}

/// A block of this age; none where reads disturb nothing.
///
/// # Errors
/// A drive that cannot be.
pub(crate) fn age(config: &DriveConfig, pec: u32, reclaim: &str) -> Result<Option<Age>, Failure> {
    Ok(ages_at(config, &Geometry::new(config), reclaim, &BTreeSet::from([pec]))?.pop())
}

fn ages_at(config: &DriveConfig, geometry: &Geometry, reclaim: &str, counts: &BTreeSet<u32>) -> Result<Vec<Age>, Failure> {
    if config.disturb.model == DisturbModel::None {
        return Ok(vec![]);
    }
    let table = LimitTable::of(config);
    let technique = technique(reclaim_named(reclaim)?).expect("its name was found");
    let prospect = Prospect::new(config, technique, true)?;
    let group = |g: usize, pec: u32| {
        let e = table.truth(g, pec);
        Group {
            name: config.disturb.groups[g].clone(),
            wordlines: (0..geometry.wordlines_per_block).filter(|w| table.group_of(*w) == g).count() as u32,
            limit: e.limit as f64 / DOSE_ONE as f64,
            alpha: e.alpha as f64 / ALPHA_ONE as f64,
        }
    };
    let rewrite = |t: Threshold| Rewrite { what: t.name, reads: t.reads, because: t.because };
    let age = |pec| {
        let promise = prospect.promise(pec);
        Age {
            pec,
            groups: (0..table.groups()).map(|g| group(g, pec)).collect(),
            thresholds: prospect.thresholds(pec).into_iter().map(rewrite).collect(),
            promise: promise.words(&config.disturb),
            slack: promise.budget().map(|budget| budget.slack()),
        }
    };
    Ok(counts.iter().copied().map(age).collect())
}

fn render(e: &Explanation, config: &DriveConfig, colour: bool) -> String {
    let mut text = String::new();
    let heading = |text: &mut String, title: &str| {
        let _ = writeln!(text, "{}", Look::Heading.paint(title, colour));
    };
    heading(&mut text, &format!("Latency of reading a page of {} on an idle drive {}", bytes(e.page_bytes.into()), e.drive));
    let mut table = Table::new(["page kind", "sensing", "channel", "ECC", "host link", "total"]);
    for r in &e.read {
        let times = [r.sensing_us, r.channel_us, r.ecc_us, r.host_link_us, r.total_us].map(microseconds);
        table.row(std::iter::once(r.page_kind.to_owned()).chain(times));
    }
    text.push_str(&table.render(colour));
    text.push('\n');
    heading(&mut text, "Dose that one read deposits in its block");
    text.push_str(&dose_words(e, config));
    text.push('\n');
    heading(&mut text, &format!("What a block endures, and when `{}` acts", e.reclaim));
    if e.counterfactual {
        let _ = writeln!(text, "  {COUNTERFACTUAL}");
    }
    text.push_str(&age_words(e, colour));
    let _ = writeln!(text, "  {} takes {} of controller RAM", e.reclaim, bytes(e.controller_ram_bytes));
    text
}

fn dose_words(e: &Explanation, config: &DriveConfig) -> String {
    let Some(dose) = &e.dose else { return "  none: disturb.model is \"none\", so reads disturb nothing\n".into() };
    let mut text = String::new();
    if dose.model == "count" {
        let _ = writeln!(text, "  every page of the block, the one read included: 1 x weight (model count)");
    } else {
        let first = &e.ages[0];
        let alphas: Vec<_> = first.groups.iter().map(|g| format!("{} for group {}", digits(g.alpha), g.name)).collect();
        let rest = dose.wordlines_per_block.saturating_sub(3);
        let _ = writeln!(text, "  the wordline read                          0");
        let _ = writeln!(
            text,
            "  its 2 neighbours ({} away)                alpha x weight each; at {} P/E cycles alpha is {}",
            dose.neighbour_stride,
            first.pec,
            alphas.join(", ")
        );
        let _ = writeln!(text, "  each of the other {rest:<5} wordlines          1 x weight");
    }
    let weights: Vec<_> = dose.weight.iter().map(|(kind, w)| format!("{kind} {w}")).collect();
    let _ = writeln!(text, "  weight: {} (disturb.dose = \"{}\")", weights.join(", "), dose.unit);
    let before = config.disturb.preprogram_weight;
    let _ = writeln!(text, "  wordlines not yet programmed: x {before} (disturb.preprogram_weight)");
    text
}

fn age_words(e: &Explanation, colour: bool) -> String {
    if e.ages.is_empty() {
        return "  it endures any number of reads\n".into();
    }
    let mut table = Table::new(["P/E cycles", "group", "wordlines", "limit", "alpha", "limit / alpha"]);
    for age in &e.ages {
        for g in &age.groups {
            let numbers = [count(g.wordlines.into()), digits(g.limit), digits(g.alpha), digits(g.limit / g.alpha)];
            table.row([count(age.pec.into()), g.name.clone()].into_iter().chain(numbers));
        }
    }
    let mut text = table.render(colour);
    if !e.kind_factor.is_empty() {
        let factors: Vec<_> = e.kind_factor.iter().map(|(kind, factor)| format!("{kind} {factor}")).collect();
        let _ = writeln!(text, "  the limits are those of the weakest page kind: x {} (disturb.kind_factor)", factors.join(", "));
    }
    for age in &e.ages {
        for t in &age.thresholds {
            let _ =
                writeln!(text, "  at {} P/E cycles: {} at {} reads = {}", count(age.pec.into()), t.what, count(t.reads.into()), t.because);
        }
        if age.thresholds.is_empty() {
            let _ = writeln!(text, "  at {} P/E cycles: never", count(age.pec.into()));
        }
        let _ = writeln!(text, "  at {} P/E cycles {}", count(age.pec.into()), age.promise);
    }
    text
}
