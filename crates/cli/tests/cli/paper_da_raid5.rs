//! The recipe of da-raid5-2013, and what its files are read with.

use crate::common::{Room, names_in, vpass};
use crate::csv;
use crate::paper::papers;

#[test]
fn a_small_da_raid5_has_the_limits_of_its_code_and_the_workloads_of_table_i() {
    let room = Room::new();
    let out = room.path("da-raid5");
    let done = vpass(&["paper", papers().join("da-raid5-2013/small.toml").to_str().unwrap(), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let limits = read("fig2-limits.csv");
    let row = |start: &str| limits.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start} in {limits}")).to_owned();
    assert_eq!(row("own,15000,"), "own,15000,5.842966e-4,2.4414e-7,46000,381.0,41425");
    assert!(row("uber_1e-15,15000,").contains(",4322,187.3,"), "{limits}");
    let table = csv::rows(&read("table1-workloads.csv"));
    for (workload, writes, sequential) in
        [("Win 7", 0.42, 0.152), ("RHEL", 0.93, 0.023), ("Financial", 0.76, 0.019), ("TPC-C", 0.99, 0.009)]
    {
        let row = table.iter().find(|row| row[0] == workload).unwrap();
        let numbers = [&row[1], &row[2]].map(|n| n.parse::<f64>().unwrap());
        // A write may go on by chance as well.
        assert!((numbers[0] - writes).abs() < 0.01 && (-0.003..0.012).contains(&(numbers[1] - sequential)), "{row:?}");
    }
    // A block is recycled before its reads run out: nothing is lost, where without it something is.
    let lost = csv::rows(&read("websearch-lost.csv"));
    let lost = |reclaim: &str| csv::number(&lost, &["published", "web search", reclaim]);
    assert!(lost("block") < 1.0 && lost("none") > 1.0, "{} {}", lost("block"), lost("none"));
    // Less parity is programmed and read the later it is made, and none by UDL, in both states of the drive.
    for (figure, of, workload) in
        [("fig5", "as published", "Win 7, timed"), ("fig5", "as published", "TPC-C, timed"), ("fig5-full", "all written", "TPC-C, full")]
    {
        for what in ["programs", "reads"] {
            let rows = csv::rows(&read(&format!("{figure}-{what}.csv")));
            let over_raid5 = |parity: &str| csv::number(&rows, &[of, workload, parity]);
            let [udl, hc, ppc] = ["udl", "hc", "ppc"].map(over_raid5);
            assert!(udl < 0.95 * hc && hc <= 1.005 * ppc && ppc < 0.97, "{figure}-{what} {workload}: {udl} {hc} {ppc}");
        }
    }
    // All of it can be read, names with commas included.
    for name in names_in(&out).iter().filter(|name| name.ends_with(".csv")) {
        assert!(csv::rows(&read(name)).len() > usize::from(name != "comparison.csv"), "{name}");
    }
}

/// Names with commas and quotes wherever a recipe can have them.
const HARD_NAMES: &str = r#"title = 'names'
drive = 'tiny'
expected = 'expected.toml'
figure = [{ name = 'f', title = 'f, "f"', group = 'g', metric = ['/host/read_requests'], unit = 'reads, all', over = 'none',
    without = ['c "d"'], by_workload = true }]
plot = [{ name = 'p', title = 'p', group = 'g', kind = 'blocks' }]
workload = [{ name = 'a, b', config = { requests = 500 } }, { name = 'c "d"', config = { requests = 400 } }]
group = [{ name = 'g', gear = 'untimed', reclaim = ['none', 'block'], variant = [{ name = 'v, "w"' }] }]
"#;

#[test]
fn names_come_back_whole_from_every_file() {
    let room = Room::new();
    let out = room.path("out");
    let expected = r#"[[expected]]
source = 's, "t"'
what = 'as many ("all, of them")'
figure = 'f'
variant = 'v, "w"'
reclaim = 'block'
value = 1.0
tolerance = 0.1
"#;
    room.file("expected.toml", expected);
    let done = vpass(&["paper", &room.file("run.toml", HARD_NAMES), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows = |name: &str| csv::rows(&std::fs::read_to_string(out.join(name)).unwrap());
    let f = rows("f.csv");
    assert_eq!(f[0], ["variant", "workload", "reclaim", "reads, all", "over_none"]);
    assert_eq!(f[1], [r#"v, "w""#, "a, b", "none", "500", "1"]);
    assert_eq!(csv::number(&f, &[r#"v, "w""#, r#"c "d""#, "block"]).round() as u32, 1);
    assert_eq!(csv::number(&f, &[r#"v, "w""#, r#"mean without c "d""#, "block"]).round() as u32, 1);
    assert_eq!(rows("comparison.csv")[1], [r#"s, "t""#, r#"as many ("all, of them")"#, "1", "1", "0.1", "agrees"]);
    assert!(rows("p.csv").iter().skip(1).all(|row| row[0] == r#"v, "w""#));
}
