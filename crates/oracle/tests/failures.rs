//! Random drives on which flash fails, under the oracle.

use vpass_oracle::swarm::{Cards, Case};
use vpass_techniques::card;

/// A die, a plane, a block or a page fails on drives of all kinds, under all techniques.
#[test]
fn whatever_fails_on_whatever_drive_is_accounted_for() {
    let cases = std::env::var("VPASS_CASES").map_or(60, |n| n.parse().expect("a number"));
    for parity in ["none", "raid5", "ppc", "hc", "pe-aware", "da-raid5"] {
        for seed in 0..cases {
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
