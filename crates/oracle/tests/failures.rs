//! Random drives that lose a die at a random time, under the oracle.

use vpass_drive::drive::failing::TakenByFailures;
use vpass_oracle::swarm::lost_die::LostDieCase;
use vpass_oracle::swarm::{Cards, Case};
use vpass_techniques::card;

/// Number of cases in a run of the tests.
const CASES: u64 = 300;

#[test]
fn nothing_is_lost_that_parity_gives_back() {
    let cases = std::env::var("VPASS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let from = std::env::var("VPASS_SEED").map_or(0, |n| n.parse().expect("a number"));
    let (mut wrong, mut rebuilt, mut mended, mut lost, mut stopped) = (vec![], 0, 0, 0, 0);
    for seed in from..from + cases {
        match (LostDieCase { seed, by_wear: false }).run() {
            Ok(done) => {
                rebuilt += done.rebuilt;
                mended += u64::from(done.is_rebuild_done);
                lost += u64::from(done.lost > 0);
                stopped += u64::from(done.stopped.is_some());
            }
            Err(said) => wrong.push(format!("{seed}: {said}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    // Each kind of case is common enough to show something.
    assert!(
        rebuilt > 20 * cases && mended > cases / 5 && lost > cases / 10 && stopped > 0,
        "{rebuilt} {mended} {lost} {stopped}"
    );
}

/// Flash fails in each stage of a drive's life if wear decides on parity. Pages are lost because
/// they had no parity, and for no other reason.
#[test]
fn what_is_lost_for_want_of_parity_is_told_apart() {
    let cases = std::env::var("VPASS_CASES").map_or(CASES, |n| n.parse().expect("a number"));
    let from = std::env::var("VPASS_SEED").map_or(0, |n| n.parse().expect("a number"));
    let (mut wrong, mut rebuilt, mut mended, mut stopped, mut stages) = (vec![], 0, 0, 0, [0; 4]);
    let mut lost = TakenByFailures::default();
    for seed in from..from + cases {
        match (LostDieCase { seed, by_wear: true }).run() {
            Ok(done) => {
                rebuilt += done.rebuilt;
                mended += u64::from(done.is_rebuild_done);
                stopped += u64::from(done.stopped.is_some());
                stages[done.stage.map_or(0, |stage| usize::from(stage.number()))] += 1;
                lost.pages += done.taken.pages;
                lost.not_worn += done.taken.not_worn;
                lost.waiting += done.taken.waiting;
                lost.twice_failed += done.taken.twice_failed;
            }
            Err(said) => wrong.push(format!("{seed}: {said}")),
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(
        rebuilt > 10 * cases && mended > cases / 20 && stopped > 0,
        "{rebuilt} {mended} {stopped}"
    );
    assert!(
        stages.iter().all(|times| *times > cases / 20),
        "without stages, and in each: {stages:?}"
    );
    assert!(
        lost.not_worn > 10 * cases && lost.waiting > cases / 40 && lost.twice_failed > cases / 10,
        "{lost:?}"
    );
}

/// A die, a plane, a block or a page fails on drives of all kinds, under all techniques.
#[test]
fn whatever_fails_on_whatever_drive_is_accounted_for() {
    const CASES: u64 = 12;
    for parity in ["none", "raid5", "ppc", "hc", "pe-aware", "da-raid5"] {
        for seed in 0..CASES {
            let case = Case::new(seed).failing();
            let case = if parity == "none" { case } else { case.striped(card(parity)) };
            if let Err(said) = case.run() {
                panic!("seed {seed}, parity {parity}: {said}");
            }
        }
    }
}

/// In the first case, a block with one page fails before its refresh is due. In the second, a free
/// block fails between two host pages that the drive writes to flash, after the drive has counted
/// its free blocks.
#[test]
fn blocks_that_fail_are_neither_refreshed_nor_counted_as_free() {
    let refresh = card("block");
    let cases = [
        (79_400_108, "page-type, greedy, block"),
        (78_400_157, "erased-probe, cost-benefit, block"),
    ];
    let run = |(seed, cards)| {
        Case::new(seed).refreshed(refresh).with_cards(Cards::recorded(cards)).failing().run()
    };
    let wrong: Vec<String> = cases.into_iter().filter_map(|case| run(case).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Drives on which a second failure, or a page past its limit, once caused an error. The drive gave
/// up a page that its stripe could restore. Or the oracle demanded the report of a loss that could
/// not be known yet.
#[test]
fn drives_on_which_losses_were_once_told_wrongly() {
    for seed in [1629, 1779, 3289, 6624, 7264, 8873, 8882, 40_526] {
        if let Err(said) = (LostDieCase { seed, by_wear: false }).run() {
            panic!("seed {seed}: {said}");
        }
    }
}

/// A program waits for a read among the host's reads, and joins its die as that read ends. The next
/// read begins at the same time. Both may go first while writes wait for a free page in the buffer.
#[test]
fn a_program_joins_as_the_next_read_begins() {
    assert_eq!((LostDieCase { seed: 1962, by_wear: false }).run().err(), None);
}
