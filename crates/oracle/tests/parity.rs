//! Random drives with parity, under the oracle. It computes the parity of the pages on flash and
//! compares each parity page with it.

#[cfg(feature = "seeded-bugs")]
use crate::at_recorded;

use vpass_drive::api::parity::{PARITY, ParityTechnique, has_stripes};
use vpass_drive::api::refresh::{RefreshTechnique, refresh_technique};
use vpass_oracle::swarm::{Cards, Case};

/// Cases of each technique; `make soak` runs thousands.
const CASES: u64 = 60;

/// Cases in which wordlines are merged in place too.
const MERGED: u64 = 30;

fn ida() -> &'static RefreshTechnique {
    refresh_technique("ida").expect("it is in the list")
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
    let chosen = PARITY
        .iter()
        .filter(|t| has_stripes(t.name) && only.as_ref().is_none_or(|only| only == t.name));
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
        let technique =
            vpass_drive::api::parity::parity_technique(name).expect("it is in the list");
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
    let technique = vpass_drive::api::parity::parity_technique("raid5").expect("it is in the list");
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
    let technique = vpass_drive::api::parity::parity_technique("raid5").expect("it is in the list");
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
    let technique =
        vpass_drive::api::parity::parity_technique("da-raid5").expect("it is in the list");
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

/// The oracle finds a merge that destroys a version on which delayed parity depends, under
/// techniques that give wordlines guard levels. It also finds a merge that leaves such a version in
/// a wordline without guard levels. If cases have changed since, a later case shows it.
#[cfg(feature = "seeded-bugs")]
#[test]
fn guard_levels_are_found_that_destroy_what_parity_counts() {
    use vpass_drive::api::parity::parity_technique;
    use vpass_drive::api::reclaim::technique;
    use vpass_drive::bugs::Bug;

    const RECORDED: [(&str, u64, &str); 3] = [
        ("ipr-wl", 174, "is removed by a merge"),
        ("ipr", 323, "is removed by a merge"),
        ("ipr", 109, "has no guard levels"),
    ];
    const WITHIN: u64 = 300;
    let parity = parity_technique("ppc").expect("it is in the list");
    for (name, first, says) in RECORDED {
        let reclaim = technique(name).expect("it is in the list");
        let case = |seed| Case::new(seed).under(reclaim).striped(parity);
        let shows = |seed: &u64| {
            case(*seed).with(Bug::KeptMergedEarly).run().is_err_and(|said| said.contains(says))
        };
        let found = (first..first + WITHIN).find(shows);
        assert!(found.is_some_and(|seed| case(seed).run().is_ok()), "{name}, {says}: {found:?}");
    }
}

/// Every seeded bug of parity is found at its recorded case. If cases have changed since, a later
/// case finds it.
#[cfg(feature = "seeded-bugs")]
#[test]
fn every_bug_of_parity_is_found() {
    use vpass_drive::api::parity::parity_technique;
    use vpass_drive::bugs::Bug;

    const FIRST: &str = "straw-ss-sound, greedy, none";
    const RECORDED: [(Bug, u64, &str); 35] = [
        (Bug::MemberAstray, 0, FIRST),
        (Bug::ApartAstray, 29, "hotld, stable-greedy, none"),
        (Bug::LanePlaceWrong, 58, "straw-ss, stable-greedy, none"),
        (Bug::LaneOwnerWrong, 58, "straw-ss, stable-greedy, none"),
        (Bug::LaneTurnedWrong, 58, "straw-ss, stable-greedy, none"),
        (Bug::ParityStale, 0, FIRST),
        (Bug::OldGivenUpEarly, 0, FIRST),
        (Bug::PartialForgetsPage, 0, FIRST),
        (Bug::TrimLeavesParity, 2, "erased-probe, stable-greedy, none"),
        (Bug::OldDataForgotten, 5, "none, greedy, block"),
        (Bug::RebuiltFromGarbage, 127, "none, stable-greedy, none"),
        (Bug::PreparationUncounted, 0, FIRST),
        (Bug::RecoveryAsParity, 44, "none, cost-benefit, none"),
        (Bug::FailedRecoveryUncounted, 50, "tiered, stable-greedy, none, nested"),
        (Bug::RepairedReadAtOnce, 4, "none, stable-greedy, none"),
        (Bug::RepairReadsAhead, 4, "none, stable-greedy, none"),
        (Bug::KeptErasedEarly, 2, "erased-probe, stable-greedy, none"),
        (Bug::PartialKeepsOld, 2, "erased-probe, stable-greedy, none"),
        (Bug::CommitTakesNew, 35, "erased-probe, greedy, none"),
        (Bug::PartialUnseen, 65, "none, stable-greedy, none"),
        (Bug::GatherForgetsOthers, 5, "none, greedy, block"),
        (Bug::WindowUncounted, 1, "straw-ss-published, cost-benefit, none"),
        (Bug::ForgetsTooSoon, 18, "straw-ss-sound, greedy, none"),
        (Bug::RestRebuiltTwice, 61_222, "straw-ss-published, stable-greedy, none"),
        (Bug::MovesNotCounted, 3, "page-type, cost-benefit, none"),
        (Bug::ParityNotFormed, 3, "page-type, cost-benefit, none"),
        (Bug::DissolvedEarly, 3, "page-type, cost-benefit, none"),
        (Bug::LateParityTrusted, 5, "none, greedy, block"),
        (Bug::SpreadForgotten, 5, "none, greedy, block"),
        (Bug::SweptUnformed, 2, "block, greedy, block"),
        (Bug::WornRecycled, 0, "block, greedy, block"),
        (Bug::WornShareTwice, 1, "block, greedy, block"),
        (Bug::ServiceForgotten, 73, "straw-ss-sound, cost-benefit, none"),
        (Bug::ServiceAtNewLimit, 713, "ipr, greedy, none"),
        (Bug::KeptMergedEarly, 1, "straw-ss-published, cost-benefit, ida"),
    ];
    // No random case has shown the first bug in 1,750 cases under `ppc`. A hand-made test shows it
    // (`drive/tests/delayed_parity.rs`). Stories of core find the next three
    // (`drive/src/bugs/stories.rs`). The last three have no story. They need a move for free space
    // that changes a stripe during its own update, and no case does this.
    const SURVIVORS: [Bug; 7] = [
        Bug::KeptTakenForGood,
        Bug::KeptRetriesForgotten,
        Bug::KeptReadUnasked,
        Bug::RepairAcrossRoom,
        Bug::UpdateAcrossRoom,
        Bug::RenewedAcrossRoom,
        Bug::CommittedAcrossRoom,
    ];
    const WITHIN: u64 = 300;
    let named = |name| parity_technique(name).expect("it is in the list");
    let (raid5, ppc, hc, pe_aware, da_raid5) =
        (named("raid5"), named("ppc"), named("hc"), named("pe-aware"), named("da-raid5"));
    // The finding must come from the oracle, not from the drive's own assertions.
    let shows = |bug: Bug, seed: u64, cards: Option<&'static str>| {
        let technique = match bug {
            Bug::GatherForgetsOthers | Bug::ForgetsTooSoon => hc,
            Bug::SweptUnformed | Bug::WornRecycled | Bug::WornShareTwice => da_raid5,
            _ if Bug::OF_MERGES.contains(&bug) => ppc,
            _ if Bug::OF_WEAR.contains(&bug) => pe_aware,
            _ if bug == Bug::LateParityTrusted || Bug::OF_DELAY.contains(&bug) => ppc,
            _ => raid5,
        };
        let case = cards
            .map(Cards::recorded)
            .into_iter()
            .fold(Case::new(seed).striped(technique), Case::with_cards);
        let case = if Bug::OF_MERGES.contains(&bug) { case.refreshed(ida()) } else { case };
        let shows = case.with(bug).run().is_err_and(|said| !said.contains("the drive panicked"));
        case.run().ok().filter(|_| shows)?.cards.map(|cards| cards.to_string())
    };
    let bugs = Bug::OF_PARITY
        .into_iter()
        .chain(Bug::OF_DELAY)
        .chain(Bug::OF_WEAR)
        .chain(Bug::OF_RAISED)
        .chain(Bug::OF_MERGES);
    let missed =
        at_recorded::missed(bugs.filter(|bug| !SURVIVORS.contains(bug)), &RECORDED, WITHIN, shows);
    assert!(missed.is_empty(), "{missed:?}");
}
