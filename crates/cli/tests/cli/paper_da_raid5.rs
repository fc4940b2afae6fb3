//! Tests of the recipe of da-raid5-2013, and of names and traces in its files.

use std::path::Path;

use crate::common::{Room, names_in, vpass};
use crate::csv;
use crate::paper::papers;

#[test]
fn a_small_da_raid5_has_the_limits_of_its_code_and_the_workloads_of_table_i() {
    let room = Room::new();
    let out = room.path("da-raid5");
    let done = vpass(&[
        "paper",
        papers().join("da-raid5-2013/small.toml").to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let limits = read("fig2-limits.csv");
    let row = |start: &str| {
        limits
            .lines()
            .find(|line| line.starts_with(start))
            .unwrap_or_else(|| panic!("{start} in {limits}"))
            .to_owned()
    };
    assert_eq!(row("own,15000,"), "own,15000,5.842966e-4,2.4414e-7,46000,381.0,41425");
    assert!(row("uber_1e-15,15000,").contains(",4322,187.3,"), "{limits}");
    let table = csv::rows(&read("table1-workloads.csv"));
    for (workload, writes, sequential) in [
        ("Win 7", 0.42, 0.152),
        ("RHEL", 0.93, 0.023),
        ("Financial", 0.76, 0.019),
        ("TPC-C", 0.99, 0.009),
    ] {
        let row = table.iter().find(|row| row[0] == workload).unwrap();
        let numbers = [&row[1], &row[2]].map(|n| n.parse::<f64>().unwrap());
        // By chance, a write can also continue another write.
        assert!(
            (numbers[0] - writes).abs() < 0.01
                && (-0.003..0.012).contains(&(numbers[1] - sequential)),
            "{row:?}"
        );
    }
    let settings = csv::rows(&read("table2-settings.csv"));
    let of_table_ii = [
        ("page_program_1", 1600.0),
        ("page_program_2", 5000.0),
        ("block_erase", 1500.0),
        ("block_erase_from_15001", 10_000.0),
    ];
    for (setting, value) in of_table_ii.into_iter().chain([
        ("block_size", 1_048_576.0),
        ("blocks_per_plane", 48.0),
        ("raw_flash", 9.0 * 48.0 * 1_048_576.0),
    ]) {
        let row = settings
            .iter()
            .find(|row| row[0] == setting)
            .unwrap_or_else(|| panic!("{setting} in {settings:?}"));
        assert!((row[1].parse::<f64>().unwrap() / value - 1.0).abs() < 1e-12, "{row:?}");
    }
    // With recycling, blocks are recycled before they reach their limit, and no data is lost.
    // Without recycling, data is lost.
    let lost = csv::rows(&read("websearch-lost.csv"));
    let lost = |reclaim: &str| csv::number(&lost, &["published", "web search", reclaim]);
    assert!(lost("block") < 1.0 && lost("none") > 1.0, "{} {}", lost("block"), lost("none"));
    // The later a technique makes parity, the less parity is programmed and read. UDL needs no
    // parity here. Both states of the drive show this order.
    for (figure, of, workload) in [
        ("fig5", "as published", "Win 7, timed"),
        ("fig5", "as published", "TPC-C, timed"),
        ("fig5-full", "all written", "TPC-C, full"),
    ] {
        for what in ["programs", "reads"] {
            let rows = csv::rows(&read(&format!("{figure}-{what}.csv")));
            let over_raid5 = |parity: &str| csv::number(&rows, &[of, workload, parity]);
            let [udl, hc, ppc] = ["udl", "hc", "ppc"].map(over_raid5);
            assert!(
                udl < 0.95 * hc && hc <= 1.005 * ppc && ppc < 0.97,
                "{figure}-{what} {workload}: {udl} {hc} {ppc}"
            );
        }
    }
    // Requests larger than the buffer are programmed one by one, and PPC has no cut-off. With
    // longer stripes, RAID-5 needs less parity.
    let cut_off = csv::rows(&read("cut-off-programs.csv"));
    let [hc, ppc] =
        ["hc", "ppc"].map(|parity| csv::number(&cut_off, &["cut-off 4", "TPC-C, timed", parity]));
    assert!(hc > 1.1 && (ppc - 1.0).abs() < 1e-9, "{hc} {ppc}");
    let stripes = csv::rows(&read("stripes-programs-over-raid5.csv"));
    let pages = |of: &str| {
        stripes.iter().find(|row| row[0] == of && row[2] == "raid5").unwrap()[3]
            .parse::<u32>()
            .unwrap()
    };
    assert!(pages("N 16") < pages("N 4"), "{stripes:?}");
    // A program takes 3.3 ms of flash time, and a read takes 0.4 ms. If only HC has a cache, it
    // needs fewer programs and less flash time than PPC.
    let of = |name: &str, parity: &str| {
        let rows = csv::rows(&read(name));
        let row = rows
            .iter()
            .find(|row| row[..3] == ["1 MiB", "TPC-C, timed", parity])
            .unwrap_or_else(|| panic!("{parity} in {name}"));
        row[3].parse::<f64>().unwrap()
    };
    for parity in ["raid5", "ppc", "udl", "hc"] {
        let by_hand = 3.3 * of("cache-programs.csv", parity) + 0.4 * of("cache-reads.csv", parity);
        assert!((of("cache-work.csv", parity) / by_hand - 1.0).abs() < 1e-9, "{parity}: {by_hand}");
    }
    for name in ["cache-programs.csv", "cache-work.csv"] {
        assert!(
            of(name, "hc") < 0.99 * of(name, "ppc"),
            "{name}: {} {}",
            of(name, "hc"),
            of(name, "ppc")
        );
    }
    // All files are valid CSV, even with commas in names.
    for name in names_in(&out)
        .iter()
        .filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "csv"))
    {
        assert!(csv::rows(&read(name)).len() > usize::from(name != "comparison.csv"), "{name}");
    }
}

#[test]
fn factors_that_are_not_one_for_each_number_are_refused() {
    let room = Room::new();
    let recipe = |times: &str| {
        format!(
            "title = 'times'\ndrive = 'tiny'\n\
             figure = [{{ name = 'f', title = 'f', group = 'g', metric = ['/host/read_requests'], \
             unit = 'ms', {times} }}]\n\
             workload = [{{ name = 'w', config = {{ requests = 50 }} }}]\n\
             group = [{{ name = 'g', gear = 'untimed', reclaim = ['none'], variant = [{{ name = \
             'v' }}] }}]\n"
        )
    };
    let run = |times: &str| {
        let file = room.file(&format!("{}.toml", times.len()), &recipe(times));
        let out = room.path(&format!("out-{}", times.len()));
        let done = vpass(&["paper", &file, "--out", out.to_str().unwrap()]);
        (done.code, done.stderr, std::fs::read_to_string(out.join("f.csv")).unwrap_or_default())
    };
    assert_eq!(csv::rows(&run("times = [0.5]").2)[1], ["v", "w", "none", "25"]);
    for (times, words) in [
        ("times = [0.5, 2.0]", "figure f: `times` must have as many numbers as `metric`"),
        (
            "times = [2], weights = ['/host/read_requests']",
            "figure f: `times` and `weights` exclude each other",
        ),
    ] {
        let (code, said, _) = run(times);
        assert!(code == 2 && said.contains(words), "{code} {said}");
    }
}

/// Recipe with commas and quotes in every name that can have them.
const HARD_NAMES: &str = r#"title = 'names'
drive = 'tiny'
expected = 'expected.toml'
figure = [{ name = 'f', title = 'f, "f"', group = 'g', metric = ['/host/read_requests'],
    unit = 'reads, all', over = 'none', without = ['c "d"'], by_workload = true }]
plot = [{ name = 'p', title = 'p', group = 'g', kind = 'blocks' }]
workload = [{ name = 'a, b', config = { requests = 500 } },
    { name = 'c "d"', config = { requests = 400 } }]
group = [{ name = 'g', gear = 'untimed', reclaim = ['none', 'block'],
    variant = [{ name = 'v, "w"' }] }]
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
    let done =
        vpass(&["paper", &room.file("run.toml", HARD_NAMES), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let rows = |name: &str| csv::rows(&std::fs::read_to_string(out.join(name)).unwrap());
    let f = rows("f.csv");
    assert_eq!(f[0], ["variant", "workload", "reclaim", "reads, all", "over_none"]);
    assert_eq!(f[1], [r#"v, "w""#, "a, b", "none", "500", "1"]);
    assert_eq!(csv::number(&f, &[r#"v, "w""#, r#"c "d""#, "block"]).round() as u32, 1);
    assert_eq!(csv::number(&f, &[r#"v, "w""#, r#"mean without c "d""#, "block"]).round() as u32, 1);
    assert_eq!(
        rows("comparison.csv")[1],
        [r#"s, "t""#, r#"as many ("all, of them")"#, "1", "1", "0.1", "agrees", ""]
    );
    assert!(rows("p.csv").iter().skip(1).all(|row| row[0] == r#"v, "w""#));
}

/// Recipe with three generated workloads, and a trace beside them in one of two groups.
const BESIDE: &str = "title = 'beside'\ndrive = 'tiny'\n\
    figure = [{ name = 'f', title = 'reads', group = 'g', metric = ['/host/read_requests'], unit = \
    'reads', by_workload = true },\n\
    { name = 'h', title = 'reads', group = 'h', metric = ['/host/read_requests'], unit = 'reads', \
    by_workload = true }]\n\
    workload = [{ name = 'SRC', config = { requests = 500 } }, { name = 'HM', config = { requests \
    = 400 } },\n\
    { name = 'stripes', config = { requests = 10, read_share = 0.5, stripes = { page = '8KiB' } } \
    }]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['block'], workloads = ['SRC', 'HM'], \
    variant = [{ name = 'v' }] },\n\
    { name = 'h', gear = 'untimed', reclaim = ['block'], workloads = ['HM'], variant = [{ name = \
    'v' }] }]\n\
    trace = [{ name = 'SRC, real', files = ['src1_2'], beside = ['SRC'] }]\n\
    [model]\nstripes = 'shares'\n";

#[test]
fn a_real_trace_stands_beside_a_workload_and_in_no_mean() {
    let room = Room::new();
    let recipe = room.file("run.toml", BESIDE);
    // Trace in the form of MSR Cambridge, made for this test: three reads, and a write of two pages
    // of 16 KiB.
    let row = |at: u64, op: &str, offset: u64| {
        format!("{},src1,2,{op},{offset},20480,100\n", 128_166_372_000_000_000 + at)
    };
    std::fs::create_dir(room.path("traces")).unwrap();
    room.file(
        "traces/src1_2.csv",
        &[row(0, "Read", 0), row(10, "Read", 65536), row(20, "Write", 16384), row(30, "Read", 0)]
            .concat(),
    );
    let run = |more: &[&str], out: &str| {
        let out = room.path(out);
        let done = vpass(&[&["paper", &recipe, "--out", out.to_str().unwrap()], more].concat());
        assert_eq!(done.code, 0, "{}", done.stderr);
        let read = |name: &str| csv::rows(&std::fs::read_to_string(out.join(name)).unwrap());
        (["f.csv", "h.csv", "shares.csv"].map(read), done.stdout)
    };
    let folder = room.path("traces");
    let ([f, h, shares], said) = run(&["--traces", folder.to_str().unwrap()], "with");
    let ([f_without, h_without, shares_without], said_without) = run(&[], "without");
    assert!(
        said.contains(
            "every workload is generated; these real traces ran beside the generated workloads and \
             are not part of the means: SRC, real (1 file)\n"
        ),
        "{said}"
    );
    assert!(said_without.contains("every workload is generated\n"), "{said_without}");
    // The trace adds one row after the row of SRC. Nothing else differs, not even the mean or the
    // other group.
    assert_eq!(f[2], ["v", "SRC, real", "block", "3"]);
    assert_eq!([&f[..2], &f[3..]].concat(), f_without);
    assert_eq!((h, csv::number(&f, &["v", "mean"]).round() as u32), (h_without, 450));
    assert_eq!(
        shares.last().unwrap(),
        &["SRC, real", "0.2500", "0.0000", "2.0000", "2.0000", "0.0000", "0.0000"]
    );
    assert_eq!(shares[..2], shares_without);

    for (from, to, words) in [
        ("beside = ['SRC']", "beside = ['SCR']", "unknown workload `SCR`"),
        (
            "beside = ['SRC']",
            "beside = []",
            "trace SRC, real: `files` and `beside` must each have at least one name",
        ),
        (
            "name = 'SRC, real'",
            "name = 'HM'",
            "trace HM: a workload or trace already has this name",
        ),
        (
            "gear = 'untimed', reclaim = ['block'], workloads = ['SRC', 'HM']",
            "gear = 'untimed', span = { days = 1, reads_per_page = 1 }, reclaim = ['block']",
            "trace SRC, real: group g has `periods` or a `span`",
        ),
    ] {
        let done = vpass(&["paper", &room.file("wrong.toml", &BESIDE.replace(from, to))]);
        assert!(done.code == 2 && done.stderr.contains(words), "{words}: {}", done.stderr);
    }
}
