//! Tests of language models on a drive: the fluid gear against the untimed gear over many tokens,
//! and how little the popularity of the experts matters.

#![expect(clippy::print_stdout, reason = "the long test prints what each threshold came to")]

use crate::common;

use std::fs;

use common::{agree, mean, seeds};
use rayon::prelude::*;
use vpass_drive::base::units::Cause;
use vpass_lab::estimate;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::Summary;
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Gear, Named, Setup};

/// Runs a model on the tiny drive. `model` are lines of `[workload.model]`.
fn run(gear: Gear, reclaim: &str, model: &str, set: &[&str], seed: u64) -> Summary {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model.toml");
    fs::write(&file, format!("[workload.model]\n{model}\n")).unwrap();
    let set = set.iter().map(ToString::to_string).collect();
    let base = Base { gear, seed, set, ..Base::new("tiny") };
    let setup = Setup::new(base, Named::Workload(file.to_str().unwrap().into()));
    let plan = RunPlan::new(&setup, Chosen { reclaim, ..Chosen::default() }, &unwatched).unwrap();
    execute(&plan, &Unwatched).unwrap().summary
}

/// Returns a model with experts of 16 whole pages. A token reads `pages` pages on average.
fn model_of(pages: u32, tokens: u64) -> String {
    let active = f64::from(pages) / 16.0;
    format!(
        "size = \"400MiB\"\nexpert = \"256KiB\"\nactive = {active}\npopularity = \"zipf:0.9\"\n\
         tokens_per_second = 100\ntokens = {tokens}"
    )
}

/// Compares the gears at a threshold of `reads`, with a model whose tokens read `pages` pages.
fn compare(reads: u32, pages: u32, tokens: u64) {
    let model = model_of(pages, tokens);
    let key = format!("reclaim.count.reads={reads}");
    let of = |gear: Gear| -> Vec<Summary> {
        (1..=seeds())
            .into_par_iter()
            .map(|seed| run(gear, "count", &model, &[&key], seed))
            .collect()
    };
    let rewritten = |of: &[Summary]| -> Vec<f64> {
        of.iter().map(|summary| summary.flash.programs.of(Cause::Reclaim) as f64).collect()
    };
    let (fluid, untimed) = (of(Gear::Fluid), of(Gear::Untimed));
    let pages_rewritten = (rewritten(&fluid), rewritten(&untimed));
    let name = format!("pages rewritten at {reads} reads");
    let (by_fluid, by_untimed) = (mean(&pages_rewritten.0).0, mean(&pages_rewritten.1).0);
    let apart = (by_fluid / by_untimed - 1.0) * 100.0;
    println!("{name}: fluid {by_fluid:.0}, untimed {by_untimed:.0}, {apart:+.3} %");
    agree(&name, 0.01, &pages_rewritten.0, &pages_rewritten.1);
    // A block of 192 pages is rewritten after `reads` page reads, or after one more. The model
    // fills 134 blocks, which begin without reads, so each is up to one rewrite behind. Wear
    // levelling moves blocks too, and each of them loses up to one rewrite.
    for summary in &fluid {
        let all = summary.host.read_pages as f64;
        let (most, least) = (all / f64::from(reads), all / f64::from(reads + 1));
        let levelled = summary.flash.erases.of(Cause::Wear) as f64;
        let blocks = summary.flash.programs.of(Cause::Reclaim) as f64 / 192.0;
        assert!(
            blocks <= most * 1.01 && blocks >= least - 140.0 - levelled,
            "{reads}: {blocks} blocks, by hand {least} to {most}, {levelled} by wear levelling"
        );
    }
}

#[test]
fn the_fluid_gear_agrees_with_requests_at_small_thresholds() {
    compare(1000, 100, 20_000);
    compare(10_000, 100, 20_000);
}

/// The full range of thresholds: 10^7 tokens, with up to 10^9 page reads for each gear and seed. At
/// small thresholds a token reads fewer pages, so that no run rewrites more than 100,000 blocks.
#[test]
#[ignore = "long; `make long-models` runs it"]
fn the_fluid_gear_agrees_with_requests_at_all_thresholds() {
    for reads in [100, 1000, 10_000, 100_000, 1_000_000] {
        compare(reads, (reads / 100).min(100), 10_000_000);
    }
}

/// A technique that counts the reads of blocks rewrites a block for each `reads` of them, whichever
/// pages are popular. The result ends where techniques look at wordlines or pages.
#[test]
fn behind_a_cache_wear_depends_on_bytes_and_not_on_popularity() {
    let wear = |popularity: &str, placed: &str, cache: &str, expert: &str, active: u32| {
        let model = format!(
            "size = \"600MiB\"\nexpert = \"{expert}\"\nactive = {active}\ncache = \"{cache}\"\n\
             popularity = \"{popularity}\"\nplaced = \"{placed}\"\ntokens_per_second = 100\n\
             tokens = 200000"
        );
        let set = ["reclaim.count.reads=3000", "reclaim.count.spread=1"];
        let summary = run(Gear::Fluid, "count", &model, &set, 1);
        summary.read_wear.expect("the model is read")
    };
    let even = wear("uniform", "shuffled", "120MiB", "256KiB", 40);
    // A block of 192 pages is written for each 3,000 reads of its pages.
    assert!((even / (100.0 * 192.0 / 3000.0) - 1.0).abs() < 0.01, "{even}");
    for popularity in ["zipf:0.6", "zipf:0.9", "zipf:1.2"] {
        for placed in ["shuffled", "sorted"] {
            let skewed = wear(popularity, placed, "120MiB", "256KiB", 40);
            assert!((skewed / even - 1.0).abs() < 0.01, "{popularity} {placed}: {skewed} {even}");
        }
    }
}

/// The life of a stack of High Bandwidth Flash follows from its blocks, cycles and threshold. On
/// 174,900 blocks, 227 GB/s last ten years at 1,000,000 reads, and 680 GB/s at 3,000,000.
#[test]
fn a_stack_of_flash_lasts_ten_years_at_its_bandwidth() {
    for (reads, gb_per_s) in [(1_000_000u64, 227.0), (3_000_000, 680.0)] {
        let set = vec![
            format!("workload.rate={}", gb_per_s * 1e9 / 4096.0),
            format!("reclaim.count.reads={reads}"),
        ];
        let base = Base { gear: Gear::Fluid, set, ..Base::new("hbf-slc") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let named = Chosen { reclaim: "count", ..Chosen::default() };
        let plan = RunPlan::new(&setup, named, &unwatched).unwrap();
        let years = estimate::of(&plan).unwrap().unwrap().life_years.unwrap();
        let by_hand =
            100_000.0 * 174_900.0 * reads as f64 * 4096.0 / (gb_per_s * 1e9) / (365.0 * 86_400.0);
        assert!((by_hand - 10.0).abs() < 0.03, "{by_hand}");
        assert!((years / by_hand - 1.0).abs() < 0.01, "{years} for {by_hand}");
    }
}
