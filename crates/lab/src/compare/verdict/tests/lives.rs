//! Tests of the sentences and stars of lives: ranges, runs that are too short, and seeds.

use super::*;

/// End of a verdict if the table shows no lives.
const VPASS_LIFE: &str = "`vpass life` simulates the life of the drive.";

#[test]
fn disjoint_ranges_have_a_winner() {
    let rows = |block: f64| {
        [
            row("straw-wl", vec![days(None, 5.46, 6.51 * 365.25)]),
            row("ipr", vec![days(Some(2.92), 2.1, 4.2)]),
            row("block", vec![days(Some(46.7 / 24.0), 1.4, block)]),
        ]
    };
    let apart = verdict(&rows(2.9));
    assert!(
        apart.contains(
            "life is longest under `straw-wl` (5.46 days to 6.51 years, against 2.92 \
             days under `ipr`: at least 1.30 times)"
        ),
        "{apart}"
    );
    assert_eq!(stars(&rows(2.9), "projected_life_days"), [true, false, false]);
    // The life under `block` may reach 6 days, so the sentence names `block` and its range beside
    // the longest life. The life under `ipr` lies between the two.
    let overlap = verdict(&rows(6.0));
    assert!(
        overlap.contains(
            "life is longest under these techniques, which are too close to rank: `straw-wl` 5.46 \
             days to 6.51 years, `block` (46.7 h, 33.6 h to 6.00 days); next is `ipr` (2.92 days, \
             2.10 to 4.20 days)"
        ),
        "{overlap}"
    );
    assert_eq!(stars(&rows(6.0), "projected_life_days"), [false; 3]);
    let all = verdict(&[
        row("a", vec![days(Some(3.0), 2.0, 4.0)]),
        row("b", vec![days(Some(2.5), 2.0, 3.5)]),
    ]);
    assert!(
        all.contains(
            "life is too close to rank (`a` (3.00 days, 2.00 to 4.00 days), `b` \
         (2.50 days, 2.00 to 3.50 days))"
        ),
        "{all}"
    );
}

#[test]
fn in_a_closed_loop_the_drive_that_writes_more_lives_longest() {
    let bytes = |middle: f64| {
        let run = summary();
        let wear = Wear {
            life_unit: Some(LifeUnit::HostBytes),
            life_settled: true,
            host_bytes_until_worn: Some(middle),
            host_bytes_until_worn_low: Some(0.95 * middle),
            host_bytes_until_worn_high: Some(1.05 * middle),
            cycles_observed: 5_000.0,
            ..run.wear.clone()
        };
        // The slower drive has simulated more days, but days do not count here.
        Summary { wear, ..run }
    };
    let rows = [row("none", vec![bytes(2e15)]), row("raid5", vec![bytes(1.38e15)])];
    let said = verdict(&rows);
    assert!(
        said.contains(
            "life is longest under `none` (2,000 TBW, against 1,380 TBW under `raid5`: 1.45 times)"
        ),
        "{said}"
    );
    assert_eq!(
        (stars(&rows, "host_bytes_until_worn"), stars(&rows, "projected_life_days")),
        (vec![true, false], vec![false, false])
    );
    assert_eq!(compared(&rows).winners["life"], ["none"]);
}

#[test]
fn a_run_that_has_not_settled_leaves_life_without_a_winner() {
    let of = |life_settled: bool, middle: f64| {
        let run = days(Some(middle), 0.95 * middle, 1.05 * middle);
        Summary { wear: Wear { life_settled, ..run.wear.clone() }, ..run }
    };
    let rows = |settled| [row("a", vec![of(true, 4.0)]), row("b", vec![of(settled, 2.0)])];
    assert_eq!(stars(&rows(true), "projected_life_days"), [true, false]);
    assert_eq!(stars(&rows(false), "projected_life_days"), [false, false]);
    assert!(verdict(&rows(false)).ends_with(VPASS_LIFE));
    assert!(compared(&rows(false)).winners["life"].is_empty());
}

#[test]
fn one_run_that_has_not_settled_leaves_all_lives_unknown() {
    let unsettled = |run: Summary| {
        let wear = Wear { life_settled: false, ..run.wear.clone() };
        Summary { wear, ..run }
    };
    let long = || days(Some(30.0), 29.0, 31.0);
    let short = || days(Some(2.0), 1.9, 2.1);
    let cases = [
        [row("a", vec![long()]), row("b", vec![unsettled(short())])],
        [row("a", vec![unsettled(long())]), row("b", vec![short()])],
        [row("a", vec![long(), long()]), row("b", vec![short(), unsettled(short())])],
    ];
    for rows in cases {
        let said = verdict(&rows);
        assert!(said.ends_with(VPASS_LIFE) && !said.contains("life is"), "{said}");
        assert_eq!(stars(&rows, "projected_life_days"), [false, false], "{said}");
    }
    // A row that lost data does not compete.
    let lost = Summary { data_lost_pages: 1, ..unsettled(short()) };
    let rows = [row("a", vec![long()]), row("b", vec![short()]), row("none", vec![lost])];
    assert!(!verdict(&rows).contains("life is longest"), "no column shows the lives");
    assert_eq!(stars(&rows, "projected_life_days"), [true, false, false]);
}

#[test]
fn lives_are_as_uncertain_as_their_seeds_and_batches() {
    let exact = |middle: f64| days(Some(middle), middle, middle);
    let winner = |runs: Vec<Summary>| {
        stars(&[row("a", runs), row("b", vec![exact(3.0); 2])], "projected_life_days")
    };
    assert_eq!(winner(vec![exact(4.0), exact(4.0)]), [true, false]);
    // Two seeds with lives of 3.9 and 4.1 give an interval of 4 ± 12.7 x 0.1.
    assert_eq!(winner(vec![exact(3.9), exact(4.1)]), [false, false]);
    // If the wear of each run is uncertain by 50 %, the mean of two seeds is uncertain by 35 %. The
    // range of the life then begins at 4 / 1.35 = 2.96, which is below 3.
    let noisy = |share: f64| {
        let run = exact(4.0);
        let cycles_observed = Some(share * run.wear.cycles_observed);
        Summary { batch_means: BatchMeans { cycles_observed, ..run.batch_means.clone() }, ..run }
    };
    assert_eq!(winner(vec![noisy(0.1), noisy(0.1)]), [true, false]);
    assert_eq!(winner(vec![noisy(0.5), noisy(0.5)]), [false, false]);
}
