//! Random drives of all kinds under the oracle. Drive and oracle must agree about them.

use std::env;
use std::thread;

use vpass_drive::api::parity::{ParityTechnique, has_stripes};
use vpass_oracle::swarm::{Cards, Case, CaseSummary};
use vpass_techniques::{all, card};

/// Returns the number in an environment variable.
pub(crate) fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name).map_or(otherwise, |n| n.parse().expect("a number"))
}

/// Runs `VPASS_CASES` cases of a kind, the first ones from `VPASS_SEED` on. Returns the summaries,
/// without those of refused drives.
fn clean(from: u64, cases: u64, kind: impl Fn(u64) -> Option<Case>) -> Vec<CaseSummary> {
    let of_kind = (number("VPASS_SEED", from)..).filter_map(|seed| Some((seed, kind(seed)?)));
    let (mut played, mut findings) = (vec![], vec![]);
    for (seed, case) in of_kind.take(number("VPASS_CASES", cases) as usize) {
        match case.run() {
            Ok(summary) => played.extend(summary.report.is_some().then_some(summary)),
            Err(said) => findings.push(format!("case {seed}: {said}")),
        }
    }
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    played
}

#[test]
fn random_cases_are_clean() {
    clean(0, 120, |seed| Some(Case::new(seed)));
}

/// The oracle's clocks must agree with the drive's refresh.
#[test]
fn random_drives_keep_what_refresh_promises() {
    let played = clean(1, 40, |seed| Some(Case::new(seed)).filter(|case| case.ages()));
    let refreshed = played.iter().filter(|case| case.what.contains("refresh block")).count();
    assert!(refreshed > 5, "{refreshed}");
}

#[test]
fn events_within_others_are_seen_through() {
    let played = clean(200, 25, |seed| Some(Case::new(seed)).filter(|case| case.is_nested()));
    assert!(played.len() > 5, "{} were not refused", played.len());
}

/// Drive and oracle must agree about the first level of a read and about the effect of chance.
#[test]
fn reads_of_tired_data_take_the_retries_that_they_may() {
    for of in [Case::keeps_levels, Case::is_noisy] {
        clean(1, 25, |seed| Some(Case::new(seed)).filter(|case| of(*case)));
    }
}

#[test]
fn drives_that_wear_faster_are_clean() {
    clean(0, 40, |seed| Some(Case::new(seed).accelerated()));
}

/// Three in ten of the drives whose data ages merge wordlines as they refresh them.
#[test]
fn wordlines_are_merged_under_any_reclaim_technique() {
    for technique in all().reclaim {
        let cases = (1..).map(Case::new).filter(|case| case.ages()).take(60);
        let ran = cases.map(|case| match case.under(technique).run() {
            Ok(summary) => summary.what.contains("refresh ida"),
            Err(said) => panic!("{}: {said}", technique.name),
        });
        assert_eq!(ran.filter(|merges| *merges).take(2).count(), 2, "{}", technique.name);
    }
}

/// The oracle computes the parity of the pages on flash and compares each parity page with it.
#[test]
fn parity_is_what_it_should_be() {
    with_parity(60, |case| case);
}

#[test]
fn parity_is_what_it_should_be_where_wordlines_are_merged() {
    with_parity(30, |case| case.refreshed(card("ida")));
}

/// Runs this number of cases of each technique, or of the one in `VPASS_PARITY`.
fn with_parity(cases: u64, with: fn(Case) -> Case) {
    let only = env::var("VPASS_PARITY").ok();
    let is_wanted = |technique: &&ParityTechnique| {
        has_stripes(technique) && only.as_ref().is_none_or(|only| only == technique.name)
    };
    thread::scope(|scope| {
        for technique in all().parity.iter().filter(is_wanted) {
            let case = move |seed| Some(with(Case::new(seed).striped(technique)));
            scope.spawn(move || clean(0, cases, case));
        }
    });
}

/// A die, a plane, a block or a page fails on drives of all kinds, under all techniques.
#[test]
fn whatever_fails_on_whatever_drive_is_accounted_for() {
    clean(0, 12, |seed| Some(Case::new(seed).failing()));
    for parity in ["raid5", "ppc", "hc", "pe-aware", "da-raid5"] {
        clean(0, 12, |seed| Some(Case::new(seed).failing().striped(card(parity))));
    }
}

/// A recorded case: its parity and refresh techniques, its number, the techniques that it drew, and
/// whether flash fails.
type Recorded = (Option<&'static str>, Option<&'static str>, u64, &'static str, bool);

const RECORDED: [Recorded; 11] = [
    // During an update, its reads and the space for it start moves, and these rebuild more than a
    // hundred pages. In the third case, some partly written pages are lost or rebuilt elsewhere
    // while the host reads them. Others are completed before their old versions decay.
    (Some("raid5"), None, 700_037, "straw-ss, stable-greedy, none", false),
    (Some("ppc"), None, 600_167, "block, cost-benefit, none", false),
    (Some("ppc"), None, 61_222, "straw-ss-published, stable-greedy, none", false),
    // The read of the old parity starts a move, and the move loses the last page that this parity
    // protects. So the parity is given up, and its read has no use.
    (Some("raid5"), Some("ida"), 50_001, "straw-ss, stable-greedy, ida", false),
    // Reads of a warm-up rebuild pages, and a warm-up takes no time. No read of the measured phase
    // waits for these rebuilds.
    (Some("raid5"), None, 79_600_087, "straw-ss-published, greedy, none", false),
    // A page that a move rebuilds counts as sensed, not as rebuilt from its sources. Undecodable
    // data that was read for the parity of another page stays in its place. Blocks that rebuilds
    // read are recycled in time.
    (Some("da-raid5"), None, 126, "block, cost-benefit, block", false),
    (Some("da-raid5"), None, 897, "none, cost-benefit, block", false),
    (Some("da-raid5"), None, 2006, "block, cost-benefit, block", false),
    // A block without a dose enters a new age step while its refresh waits for the die. The next
    // read must ask its policy, and its job must continue.
    (None, Some("ida"), 79_500_443, "tiered, greedy, ida", false),
    // A block with one page fails before its refresh is due.
    (None, Some("block"), 79_400_108, "page-type, greedy, block", true),
    // A free block fails between two host pages that the drive writes to flash, after the drive has
    // counted its free blocks.
    (None, Some("block"), 78_400_157, "erased-probe, cost-benefit, block", true),
];

#[test]
fn recorded_cases_are_clean() {
    for (parity, refresh, seed, cards, fails) in RECORDED {
        let case = Case::new(seed).with_cards(Cards::recorded(cards));
        let case = parity.map_or(case, |parity| case.striped(card(parity)));
        let case = refresh.map_or(case, |refresh| case.refreshed(card(refresh)));
        let case = if fails { case.failing() } else { case };
        case.run().unwrap_or_else(|said| panic!("{parity:?} {refresh:?} {seed}: {said}"));
    }
}
