//! Random drives with parity, under the oracle. It computes the parity of the pages on flash and
//! compares each parity page with it.

use vpass_drive::api::parity::{ParityTechnique, has_stripes};
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_oracle::swarm::{Cards, Case};
use vpass_techniques::{all, card};

/// Cases of each technique; `make soak` runs thousands.
const CASES: u64 = 60;

/// Cases in which wordlines are merged in place too.
const MERGED: u64 = 30;

fn ida() -> &'static RefreshTechnique {
    card("ida")
}

#[test]
fn parity_is_what_it_should_be() {
    run_all(CASES, |case| case);
}

#[test]
fn parity_is_what_it_should_be_where_wordlines_are_merged() {
    run_all(MERGED, |case| case.refreshed(ida()));
}

/// Runs this number of cases of each technique, or the number in `VPASS_CASES`.
fn run_all(cases: u64, with: impl Fn(Case) -> Case + Sync) {
    let cases = std::env::var("VPASS_CASES").map_or(cases, |n| n.parse().expect("a number"));
    let from = std::env::var("VPASS_SEED").map_or(0, |n| n.parse().expect("a number"));
    let only = std::env::var("VPASS_PARITY").ok();
    let chosen = all()
        .parity
        .iter()
        .filter(|t| has_stripes(t) && only.as_ref().is_none_or(|only| only == t.name));
    let of = |technique: &'static ParityTechnique| {
        let says = |seed: u64| {
            Some(format!(
                "{} {seed}: {}",
                technique.name,
                with(Case::new(seed).striped(technique)).run().err()?
            ))
        };
        (from..from + cases).filter_map(says).collect::<Vec<_>>()
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = chosen.map(|technique| scope.spawn(move || of(technique))).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a case that does not panic"))
            .collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// During an update, its reads and the space for it start moves, and these rebuild more than a
/// hundred pages. In the third case, some partly written pages are lost or rebuilt elsewhere while
/// the host reads them. Others are completed before their old versions decay.
#[test]
fn updates_outlast_what_they_set_off() {
    for (name, seed, cards) in [
        ("raid5", 700_037, "straw-ss, stable-greedy, none"),
        ("ppc", 600_167, "block, cost-benefit, none"),
        ("ppc", 61_222, "straw-ss-published, stable-greedy, none"),
    ] {
        let technique = card(name);
        if let Err(said) =
            Case::new(seed).striped(technique).with_cards(Cards::recorded(cards)).run()
        {
            panic!("{name} {seed}: {said}");
        }
    }
}

/// The read of the old parity starts a move, and the move loses the last page that this parity
/// protects. So the parity is given up, and its read has no use.
#[test]
fn an_update_forgets_parity_that_is_given_up_meanwhile() {
    let technique = card("raid5");
    let case = Case::new(50_001)
        .striped(technique)
        .refreshed(ida())
        .with_cards(Cards::recorded("straw-ss, stable-greedy, ida"));
    if let Err(said) = case.run() {
        panic!("{said}");
    }
}

/// Reads of a warm-up rebuild pages, and a warm-up takes no time. No read of the measured phase
/// waits for these rebuilds.
#[test]
fn a_rebuild_of_a_warm_up_keeps_no_later_read_waiting() {
    let technique = card("raid5");
    let case = Case::new(79_600_087)
        .striped(technique)
        .with_cards(Cards::recorded("straw-ss-published, greedy, none"));
    if let Err(said) = case.run() {
        panic!("{said}");
    }
}

/// A page that a move rebuilds counts as sensed, not as rebuilt from its sources. Undecodable data
/// that was read for the parity of another page stays in its place. Blocks that rebuilds read are
/// recycled in time.
#[test]
fn moves_rebuild_what_blocks_that_are_left_alone_have_lost() {
    let technique = card("da-raid5");
    for (seed, cards) in [
        (126, "block, cost-benefit, block"),
        (897, "none, cost-benefit, block"),
        (2006, "block, cost-benefit, block"),
    ] {
        if let Err(said) =
            Case::new(seed).striped(technique).with_cards(Cards::recorded(cards)).run()
        {
            panic!("{seed}: {said}");
        }
    }
}
