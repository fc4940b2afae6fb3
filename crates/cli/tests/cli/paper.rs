//! Tests of paper recipes, and of runs with a warm-up.

use crate::common::{Room, vpass};

/// Returns the folder `papers/`.
pub(crate) fn papers() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers")
}

#[test]
fn a_small_straw_runs_and_no_technique_loses_data() {
    let room = Room::new();
    let out = room.path("straw");
    let done = vpass(&[
        "paper",
        papers().join("straw-2024/small.toml").to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(!done.stdout.contains("data lost"), "{}", done.stdout);
    let copies = std::fs::read_to_string(out.join("fig8-copies-with-gc.csv")).unwrap();
    let mean = |reclaim: &str| -> f64 {
        let row = copies
            .lines()
            .find(|l| l.starts_with(&format!("2000,mean,{reclaim},")))
            .unwrap_or_else(|| panic!("{reclaim} in {copies}"));
        row.rsplit(',').next().unwrap().parse().unwrap()
    };
    assert!((mean("block") - 1.0).abs() < 1e-9);
    // Exact counters copy the fewest pages, estimated counters copy more, and the baseline copies
    // most.
    assert!(
        mean("straw-wl") <= mean("straw-ss")
            && mean("straw-ss") < mean("page-type")
            && mean("page-type") < 1.0,
        "{copies}"
    );
    // Every run made one P/E cycle of its blocks, and hardly more. The runs differ in length.
    let cycles = std::fs::read_to_string(out.join("cycles.csv")).unwrap();
    for line in cycles.lines().filter(|l| l.starts_with("2000,uniform,")) {
        let cycles: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert!((1.0..1.2).contains(&cycles), "{line}");
    }
    assert!(!done.stdout.contains("what counts ended after"), "{}", done.stdout);
    for name in ["fig1b-layers", "fig4-mixes", "fig5-parameters", "fig9-p99_9", "comparison"] {
        let csv = std::fs::read_to_string(out.join(format!("{name}.csv"))).unwrap();
        assert!(csv.lines().count() > usize::from(name != "comparison"), "{name}");
    }
}

#[test]
fn the_full_recipes_and_what_they_expect_are_read() {
    // The output folder is invalid, so this is the first error after everything was read.
    for paper in [
        "straw-2024",
        "ipr-2018",
        "ida-coding-2018",
        "read-latency-relaxation-2021",
        "da-raid5-2013",
    ] {
        let done = vpass(&[
            "paper",
            papers().join(paper).to_str().unwrap(),
            "--out",
            "/proc/nowhere/paper",
        ]);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains("cannot be written"), "{}", done.stderr);
    }
}

#[test]
fn a_wrong_recipe_is_refused_with_its_line() {
    let room = Room::new();
    let file = room.file("run.toml", "title = \"x\"\ndrive = \"tiny\"\nfigures = []\n");
    let done = vpass(&["paper", &file]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("line 3") && done.stderr.contains("figures"), "{}", done.stderr);
}

#[test]
fn what_warms_up_is_not_counted_and_the_rest_is() {
    let run = |more: &[&str]| {
        let args = [
            "run",
            "--drive",
            "tiny",
            "--workload",
            "uniform-read",
            "--set",
            "workload.requests=50000",
            "--json",
        ];
        vpass(&[&args[..], more].concat())
    };
    let done = run(&["--warm-up", "20000"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert_eq!(done.json()["host"]["read_requests"], 30_000);
    assert_eq!(run(&[]).json()["host"]["read_requests"], 50_000);
    let done = run(&["--warm-up", "50001"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("only 50000 requests"), "{}", done.stderr);
}

#[test]
fn a_small_ipr_runs_and_no_technique_loses_data() {
    let room = Room::new();
    let out = room.path("ipr");
    let done = vpass(&[
        "paper",
        papers().join("ipr-2018/small.toml").to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        !done.stdout.contains("data lost") && done.stdout.contains("every workload is generated"),
        "{}",
        done.stdout
    );
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let share = |workload: &str| -> f64 {
        let csv = read("fig2-share.csv");
        csv.lines()
            .find_map(|l| l.strip_prefix(&format!("paper,{workload},block,")))
            .unwrap()
            .parse()
            .unwrap()
    };
    // Without writes, only reclaim erases blocks. Each block has 10,000 reads, of which 192 are
    // reads of its own copies.
    assert!((share("reads-only") - 1.0).abs() < 1e-9 && (0.3..0.9).contains(&share("reads-99")));
    // Read-hot data is in blocks that endure ten times as many reads. These blocks need at most a
    // tenth of the erases, and the erases for finding read-hot data.
    let over_baseline = read("rr-over-baseline.csv");
    for reclaim in ["hotld", "ipr"] {
        let line = over_baseline
            .lines()
            .find(|l| l.starts_with(&format!("paper,reads-99,{reclaim},")))
            .unwrap();
        let ratio: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert!((0.09..0.5).contains(&ratio), "{over_baseline}");
    }
    // 427 blocks of 6 MiB hold 2 GiB, and a fifth of it as spare area.
    assert_eq!(
        read("fig11-wear.csv").lines().filter(|l| l.starts_with("paper,reads-only,block,")).count(),
        427
    );
    assert!(
        read("table2-workloads.csv").contains("reads-99,2,0.99,15.11,0.15,hot-cold:0.05/0.95"),
        "{}",
        read("table2-workloads.csv")
    );
    assert!(read("table1-settings.csv").contains("pages_per_block,192,pages"));
    // A reclaim job takes 192 x 1.7 ms + 5 ms. Reads that waited for a whole job took 300 to 350
    // ms.
    let responses = read("fig10-responses.csv");
    let hump: u64 = responses
        .lines()
        .find_map(|l| l.strip_prefix("paper,reads-only,block,300,350,"))
        .unwrap()
        .parse()
        .unwrap();
    assert!(hump > 50, "{responses}");
}

#[test]
fn a_small_ida_runs_and_its_reads_sense_less() {
    let room = Room::new();
    let out = room.path("ida");
    let done = vpass(&[
        "paper",
        papers().join("ida-coding-2018/small.toml").to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        !done.stdout.contains("data lost") && !done.stdout.contains("could not keep up"),
        "{}",
        done.stdout
    );
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let last = |csv: &str, start: &str| -> f64 {
        let line = csv
            .lines()
            .find(|l| l.starts_with(start))
            .unwrap_or_else(|| panic!("{start} in {csv}"));
        line.rsplit(',').next().unwrap().parse().unwrap()
    };
    let response = read("response-by-error-rate.csv");
    let (some, most) = (last(&response, "E20,uniform,ida,"), last(&response, "E80,uniform,ida,"));
    assert!(some < most && most < 1.0 && some > 0.7, "{response}");
    // Just after a refresh, a merged CSB needs one sensing, and a merged MSB needs one or two. A
    // page needs at most four sensings.
    let stages = read("reads-by-kind-and-validity.csv");
    let sensing_us = |technique: &str, case: &str| -> u32 {
        let line = stages
            .lines()
            .find(|l| l.starts_with(&format!("load 0.7,uniform,{technique},1,{case},")))
            .unwrap();
        line.split(',').nth(9).unwrap().parse::<f64>().unwrap().round() as u32
    };
    assert_eq!(
        [sensing_us("block", "-CM"), sensing_us("block", "-C"), sensing_us("block", "--M")],
        [150, 100, 150]
    );
    assert!(
        sensing_us("ida", "-CM") < 110
            && sensing_us("ida", "-C") < 60
            && sensing_us("ida", "--M") < 90,
        "{stages}"
    );
    assert_eq!(
        [sensing_us("ida", "L"), sensing_us("ida", "LC"), sensing_us("ida", "LCM")],
        [50, 100, 150]
    );
    // The gain includes shorter sensing, and shorter queues because of it.
    let gain = read("gain.csv");
    let row: Vec<f64> = gain
        .lines()
        .find(|l| l.starts_with("load 0.7,"))
        .unwrap()
        .split(',')
        .skip(1)
        .map(|n| n.parse().unwrap())
        .collect();
    assert!(row[1] > 0.02 && row[2] > 0.02 && row[0] > row[1] + 0.02, "{gain}");
    // The oracle also saw refresh between the reads.
    assert!(
        last(&read("busy-merges.csv"), "10 min,skewed,ida,") > 0.0,
        "{}",
        read("busy-merges.csv")
    );
    // Data that stays in place is not programmed again, but its block stays in use.
    assert!(
        last(&read("refresh-programs.csv"), "E20,mean,ida,") < 0.9,
        "{}",
        read("refresh-programs.csv")
    );
    assert!(
        last(&read("blocks-in-use.csv"), "E20,mean,ida,") > 1.05,
        "{}",
        read("blocks-in-use.csv")
    );
}

/// Recipe with two workloads. A trace can replace each workload.
const TWO: &str = "title = 'two'\ndrive = 'tiny'\nfigure = [{ name = 'reads', title = 'reads', \
    group = 'g', metric = ['/host/read_requests'], \
    unit = 'reads', by_workload = true }]\n\
    workload = [\n{ name = 'SRC', traces = ['src1_2', 'src2_0'], config = { requests = 500 } },\n\
    { name = 'HM', traces = ['hm_0'], config = { requests = 400 } },\n]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['block'], passes = 2.0, variant = [{ name \
    = 'v' }] }]\n";

#[test]
fn real_traces_take_the_place_of_generated_workloads() {
    let room = Room::new();
    let recipe = room.file("run.toml", TWO);
    // Trace in the form of MSR Cambridge, made for this test: three reads and one write.
    let row = |at: u64, op: &str, offset: u64| {
        format!("{},src1,2,{op},{offset},4096,100\n", 128_166_372_000_000_000 + at)
    };
    let rows =
        [row(0, "Read", 0), row(10, "Read", 8192), row(20, "Write", 4096), row(30, "Read", 0)]
            .concat();
    std::fs::create_dir(room.path("traces")).unwrap();
    room.file("traces/src1_2.csv", &rows);
    let folder = room.path("traces");
    let done = vpass(&["paper", &recipe, "--traces", folder.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("real traces: SRC (1 file); the other workloads are generated"),
        "{}",
        done.stdout
    );
    // The trace has two passes of three reads. The generated workload has two passes of 400 reads.
    let rows: Vec<Vec<&str>> =
        done.stdout.lines().map(|l| l.split_whitespace().collect()).collect();
    assert!(
        rows.contains(&vec!["v", "SRC", "6.00"]) && rows.contains(&vec!["v", "HM", "800"]),
        "{}",
        done.stdout
    );

    let empty = room.path("empty");
    std::fs::create_dir(&empty).unwrap();
    let done = vpass(&["paper", &recipe, "--traces", empty.to_str().unwrap()]);
    assert_eq!(done.code, 2);
    assert!(
        done.stderr.contains("of this recipe is in the folder (names known: src1_2, src2_0, hm_0)"),
        "{}",
        done.stderr
    );
}

#[test]
fn a_plot_of_an_unknown_workload_is_refused() {
    let room = Room::new();
    let plot =
        "plot = [{ name = 'p', title = 'p', group = 'g', kind = 'blocks', workload = 'SRK' }]\n";
    let recipe = room.file("run.toml", &TWO.replace("figure = ", &format!("{plot}figure = ")));
    let done = vpass(&["paper", &recipe]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("unknown workload `SRK`; did you mean `SRC`?"), "{}", done.stderr);
}

#[test]
fn a_warm_up_goes_over_passes_where_they_repeat_anyway() {
    let args = [
        "run",
        "--drive",
        "tiny",
        "--workload",
        "uniform-read",
        "--set",
        "workload.requests=50000",
        "--json",
    ];
    let done = vpass(
        &[&args[..], &["--warm-up", "120000", "--until", "stable", "--set", "disturb.model=none"]]
            .concat(),
    );
    assert_eq!(done.code, 0, "{}", done.stderr);
    // After the warm-up, 30,000 requests of the third pass are left. Without an erase, the results
    // do not settle in 100 passes.
    assert_eq!(done.json()["host"]["read_requests"], 30_000 + 99 * 50_000);
}

/// Recipe whose runs end after some P/E cycles of their blocks, for two techniques. The figure
/// shows copies per page read.
const BY_CYCLES: &str = "title = 'cycles'\ndrive = 'tiny'\nset = ['start.pec=2000']\n\
    figure = [{ name = 'f', title = 'copies', group = 'g', metric = ['/reclaim/pages_copied'], \
    share_of = ['/host/read_pages'], \
    unit = 'copies', by_workload = true }]\n\
    workload = [{ name = 'even', config = { distribution = 'uniform', read_share = 1.0, block_size \
    = '16KiB' } }]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['block', 'straw-wl'], cycles = 0.5, \
    reads_per_block = 100000, wear = 'frozen', \
    variant = [{ name = 'v' }] }]\n";

#[test]
fn runs_by_cycles_are_rates_and_say_where_they_were_capped() {
    let room = Room::new();
    let paper = |text: &str| vpass(&["paper", &room.file("run.toml", text)]);
    let refused = |text: &str, words: &str| {
        let done = paper(text);
        assert_eq!(done.code, 2);
        assert!(done.stderr.contains(words), "{}", done.stderr);
    };
    let done = paper(BY_CYCLES);
    assert!(done.code == 0 && !done.stdout.contains("capped"), "{} {}", done.stdout, done.stderr);
    let done = paper(&BY_CYCLES.replace("100000", "10"));
    assert!(
        done.stdout.contains(
            "capped: g v even straw-wl: the counted part reached the limit of reads and ended \
             after 0.00 cycles"
        ),
        "{}",
        done.stdout
    );
    refused(
        &BY_CYCLES.replace(", share_of = ['/host/read_pages']", ""),
        "differ in length; `share_of` is expected",
    );
    refused(
        &BY_CYCLES.replace("reads_per_block = 100000, ", ""),
        "set `reads_per_block` to limit the length of the run",
    );
    refused(
        &BY_CYCLES.replace("pec=2000", "pec=2001"),
        "wear = \"frozen\" with start.pec = 2001: disturb.table has no row for this P/E count",
    );
}

/// Recipe with two runs for each of two refresh techniques, after three periods of updates. The
/// runs measure the stages of reads, for data of every age.
const BY_PERIODS: &str = "title = 'periods'\ndrive = 'tiny'\nset = ['disturb.model=none', \
    'start.fill=0.5', 'start.age=30d']\n\
    figure = [{ name = 'f', title = 'mean', group = 'g', metric = ['/latency_us/read/mean'], unit \
    = 'us', over = 'block' },\n\
    { name = 'in-use', title = 'blocks', group = 'g', metric = ['/blocks/in_use'], unit = 'blocks' \
    }]\n\
    plot = [{ name = 'stages', title = 'stages', group = 'g', kind = 'stages' }]\n\
    gain = [{ name = 'gain', title = 'gain', group = 'g', technique = 'none', over = 'block', twin \
    = ' free' }]\n\
    workload = [{ name = 'even', config = {} }]\n\
    group = [{ name = 'g', gear = 'timed', reclaim = ['none'], refresh = ['block', 'none'], seeds \
    = 2, load = 0.5, \
    periods = { before = 3, updates = 0.25, reads = 20000, stages = true }, \
    variant = [{ name = 'v' }, { name = 'v free', set = ['timing.program_us=0.001', \
    'timing.erase_us=0.001'] }] }]\n";

#[test]
fn data_is_updated_for_periods_and_its_reads_are_taken_apart() {
    let room = Room::new();
    let out = room.path("out");
    let done =
        vpass(&["paper", &room.file("run.toml", BY_PERIODS), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let numbers =
        |line: &str, of: usize| -> f64 { line.split(',').nth(of).unwrap().parse().unwrap() };
    let csv = read("f.csv");
    let of = |start: &str| {
        csv.lines()
            .find(|l| l.starts_with(start))
            .unwrap_or_else(|| panic!("{start} in {csv}"))
            .to_owned()
    };
    let (first, second, mean) =
        (of("v,even,1,none,"), of("v,even,2,none,"), of("v,mean,mean,none,"));
    assert!(csv.starts_with("# mean\nvariant,workload,seed,refresh,us,over_block\n"), "{csv}");
    assert!(
        (f64::midpoint(numbers(&first, 5), numbers(&second, 5)) - numbers(&mean, 5)).abs() < 1e-12
            && first != second
    );
    // Without refresh, a wordline has lost a share e^(-3/4) of its pages, each page independently.
    let stages = read("stages.csv");
    let share = |case: &str| {
        let line =
            stages.lines().find(|l| l.starts_with(&format!("v,even,none,1,{case},"))).unwrap();
        numbers(line, 6)
    };
    assert!(
        share("-C") / (share("-C") + share("LC")) > 0.3 && (share("csb") - 1.0 / 3.0).abs() < 0.02,
        "{stages}"
    );
    let whole = stages.lines().find(|l| l.starts_with("v,even,block,1,LCM,")).unwrap();
    assert!(numbers(whole, 6) > share("LCM"), "{stages}");
    // All means are over reads of one page. Time outside the stages is the transfer to the host.
    let gain = read("gain.csv");
    let row = gain.lines().find(|l| l.starts_with("v,")).unwrap();
    assert!(
        (numbers(row, 1) - (2..5).map(|of| numbers(row, of)).sum::<f64>()).abs() < 1e-12,
        "{gain}"
    );
    assert_eq!(numbers(row, 2).to_bits(), 0f64.to_bits(), "neither technique senses less: {gain}");
    let runs: serde_json::Value = serde_json::from_str(&read("runs.json")).unwrap();
    let updates = runs[0]["summary"]["host"]["write_requests"].as_u64().unwrap();
    assert!(
        updates < 20 && runs[0]["refresh"] == "block" && runs[2]["summary"]["seed"] == 2,
        "{updates}"
    );
    assert!(read("in-use.csv").lines().any(|l| l.starts_with("v,even,1,none,")));
}

#[test]
fn periods_that_do_not_go_together_with_the_rest_are_refused() {
    let room = Room::new();
    let refused = |from: &str, to: &str, words: &str| {
        let done = vpass(&["paper", &room.file("run.toml", &BY_PERIODS.replace(from, to))]);
        assert!(done.code == 2 && done.stderr.contains(words), "{}", done.stderr);
    };
    refused("load = 0.5, ", "", "`reads` needs exactly one of `queue_depth` and `load`");
    refused(
        "reads = 20000",
        "reads = 20000, counted = 1",
        "either `reads` or `counted` is expected",
    );
    refused("before = 3", "before = 0", "amounts above 0 are expected");
    refused("reads = 20000", "reads = 20000, read_share = 1.5", "`read_share` must be above 0");
    refused("refresh = ['block', 'none'], ", "", "`periods` needs `refresh`");
    refused(
        "reclaim = ['none']",
        "reclaim = ['none', 'block']",
        "`reclaim` must name one technique",
    );
    refused("seeds = 2", "oracle = true", "`stages` needs the timed gear, without `oracle`");
    refused("{ name = 'v free', ", "{ name = 'w', ", "for each variant NAME, a variant NAME free");
    refused(
        "stages = true",
        "stages = false",
        "group g has periods, and periods need `stages = true`",
    );
    refused("start.age=30d", "start.age=31d", "start.age = \"31d\" must be at most refresh.period");
}

#[test]
fn a_run_that_cannot_keep_up_gives_no_number_and_the_others_go_on() {
    let room = Room::new();
    let recipe = "title = 'load'\ndrive = 'tiny'\n\
        figure = [{ name = 'f', title = 'latency', group = 'g', metric = ['/latency_us/read/p50'], \
        unit = 'us', by_workload = true }]\n\
        expected = 'expected.toml'\n\
        workload = [{ name = 'slow', config = { read_share = 1.0, requests = 20000, rate = 1000.0 \
        } },\n\
        { name = 'fast', config = { read_share = 1.0, requests = 20000, rate = 1e8 } }]\n\
        group = [{ name = 'g', gear = 'timed', reclaim = ['block'], passes = 1.0, variant = [{ \
        name = 'v' }] }]\n";
    let row = |workload: &str| {
        format!(
            "[[expected]]\nsource = 's'\nwhat = '{workload}'\nfigure = 'f'\nvariant = \
             'v'\nworkload = '{workload}'\nreclaim = 'block'\n\
             value = 60.0\ntolerance = 100.0\n"
        )
    };
    room.file("expected.toml", &(row("slow") + &row("fast")));
    let out = room.path("out");
    let done = vpass(&["paper", &room.file("run.toml", recipe), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stdout.contains("refused: could not keep up: g v fast block: "),
        "{}",
        done.stdout
    );
    let csv = std::fs::read_to_string(out.join("f.csv")).unwrap();
    assert!(
        csv.contains("v,fast,block,refused: could not keep up\n")
            && csv.contains("v,mean,block,refused: could not keep up\n"),
        "{csv}"
    );
    let slow: f64 =
        csv.lines().find_map(|l| l.strip_prefix("v,slow,block,")).unwrap().parse().unwrap();
    assert!(slow > 10.0);
    let comparison = std::fs::read_to_string(out.join("comparison.csv")).unwrap();
    assert!(
        comparison.contains("\"slow\",60,") && comparison.contains("\"agrees\""),
        "{comparison}"
    );
    assert!(comparison.contains("\"fast\",60,,100,\"refused: could not keep up\""), "{comparison}");
}

#[test]
fn an_expected_row_says_how_it_is_compared() {
    let room = Room::new();
    let recipe = room.file("run.toml", &TWO.replacen('\n', "\nexpected = 'expected.toml'\n", 1));
    let refusal = |more: &str| {
        let row = format!(
            "[[expected]]\nsource = 's'\nwhat = 'w'\nfigure = 'reads'\nvariant = 'v'\nreclaim = \
             'block'\nvalue = 2.0\n{more}\n"
        );
        room.file("expected.toml", &row);
        let done = vpass(&["paper", &recipe]);
        assert_eq!(done.code, 2);
        done.stderr
    };
    for (more, words) in [
        ("", "a `tolerance`, or `direction_only = true`, is expected"),
        (
            "direction_only = true\ntolerance = 0.1",
            "`direction_only` excludes `tolerance` and `calibrated`",
        ),
        ("direction_only = true", "the figure has no divisor (`over`), so give `below` or `above`"),
        ("tolerance = 0.1\nbelow = 'ipr'", "`below` and `above` need `direction_only = true`"),
        ("tolerance = 0.1\nthan = 'w'", "`than` needs `below` or `above`"),
        (
            "tolerance = 0.1\nchange_within = 1.0",
            "`change_within` is a share of the paper's change; it must be above 0 and below 1",
        ),
        (
            "tolerance = 0.1\nchange_within = 0.5",
            "the figure has no divisor (`over`), so leave out `change_within`",
        ),
        (
            "direction_only = true\nbelow = 'ipr'\nchange_within = 0.5",
            "`direction_only` excludes `change_within`",
        ),
    ] {
        let said = refusal(more);
        assert!(said.contains(words), "{said}");
    }
}

/// Recipe with random writes under each parity technique, on a drive with space for the parity.
const BY_PARITY: &str = "title = 'parity'\ndrive = 'tiny'\n\
    set = ['disturb.model=none', 'drive.capacity=512MiB', 'drive.spare=0.5', 'start.fill=0.3', \
    'start.overwrite=0', 'parity.stripe=3']\n\
    figure = [{ name = 'f', title = 'programs', group = 'g', parity = ['none', 'raid5', 'ppc', \
    'hc'], metric = ['/flash/programs/parity'],\n\
    unit = 'pages' }]\n\
    workload = [{ name = 'even', config = { requests = 2000, read_share = 0.0, block_size = \
    '16KiB' } }]\n\
    group = [{ name = 'g', gear = 'untimed', reclaim = ['none'], parity = ['none', 'raid5', 'ppc', \
    'hc'], passes = 1.0, oracle = true,\n\
    variant = [{ name = 'v' }] }]\n";

#[test]
fn parity_is_an_axis_of_a_group() {
    let room = Room::new();
    let out = room.path("out");
    let done = vpass(&["paper", &room.file("run.toml", BY_PARITY), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let csv = std::fs::read_to_string(out.join("f.csv")).unwrap();
    let pages = |technique: &str| -> f64 {
        let line = csv
            .lines()
            .find(|line| line.contains(&format!(",{technique},")))
            .unwrap_or_else(|| panic!("{technique} in {csv}"));
        line.split(',').nth(3).unwrap().parse().unwrap()
    };
    assert!(csv.contains("variant,workload,parity,pages"), "{csv}");
    assert!(
        pages("none") < 1.0
            && pages("ppc") > 0.0
            && pages("ppc") < pages("raid5")
            && pages("hc") <= pages("ppc"),
        "{csv}"
    );
    let two = BY_PARITY.replace("reclaim = ['none']", "reclaim = ['none', 'block']");
    let done = vpass(&["paper", &room.file("two.toml", &two)]);
    assert!(
        done.code == 2 && done.stderr.contains("with `parity`, `reclaim` must name one technique"),
        "{}",
        done.stderr
    );
}

/// The means of a figure and the keys of one technique are compared with numbers computed from the
/// summaries of the runs.
#[test]
fn means_are_told_apart_and_weighed() {
    let room = Room::new();
    let figure = "figure = [{ name = 'f', title = 'pages', group = 'g', metric = \
        ['/flash/programs/host', '/flash/programs/parity'], over = 'raid5',\n\
        weights = ['/host/write_pages', '/host/read_pages'], without = ['reads'], sums = true, \
        unit = 'pages' }]\n";
    let workloads = "workload = [{ name = 'even', config = { requests = 2000, read_share = 0.1, \
        block_size = '16KiB' } },\n\
        { name = 'long', config = { requests = 900, read_share = 0.3, block_size = '32KiB' } },\n\
        { name = 'reads', config = { requests = 3000, read_share = 0.9, block_size = '16KiB' } \
        }]\n";
    let mut recipe: Vec<String> = BY_PARITY.lines().take(3).map(Into::into).collect();
    recipe.extend([figure.into(), workloads.into()]);
    recipe.push(
        "group = [{ name = 'g', gear = 'untimed', reclaim = ['none'], parity = ['raid5', \
        'hc'], passes = 1.0,"
            .into(),
    );
    recipe.push("variant = [{ name = 'v', own = { hc = ['drive.write_buffer=2MiB'] } }] }]".into());
    let recipe = recipe.join("\n");
    let out = room.path("out");
    let done = vpass(&["paper", &room.file("run.toml", &recipe), "--out", out.to_str().unwrap()]);
    assert_eq!(done.code, 0, "{}", done.stderr);

    let runs: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("runs.json")).unwrap()).unwrap();
    let number = |parity: &str, workload: &str| {
        let is_it =
            |run: &&serde_json::Value| run["parity"] == parity && run["workload"] == workload;
        let summary = &runs.as_array().unwrap().iter().find(is_it).unwrap()["summary"];
        let of = |pointer: &str| summary.pointer(pointer).unwrap().as_f64().unwrap();
        let (writes, reads) = (of("/host/write_pages"), of("/host/read_pages"));
        (of("/flash/programs/host") * writes + of("/flash/programs/parity") * reads)
            / (writes + reads)
    };
    let [even, long, reads] = ["even", "long", "reads"]
        .map(|workload| (number("hc", workload), number("raid5", workload)));
    let ratio = |(hc, raid5): (f64, f64)| hc / raid5;
    let sums = (even.0 + long.0 + reads.0) / (even.1 + long.1 + reads.1);
    let expected = [
        ("mean", (ratio(even) + ratio(long) + ratio(reads)) / 3.0),
        ("mean without reads", f64::midpoint(ratio(even), ratio(long))),
        ("ratio of sums", sums),
    ];
    let csv = std::fs::read_to_string(out.join("f.csv")).unwrap();
    for (words, expected) in expected {
        let line = csv
            .lines()
            .find(|line| line.starts_with(&format!("v,{words},hc,")))
            .unwrap_or_else(|| panic!("{words} in {csv}"));
        let here: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert!((here / expected - 1.0).abs() < 1e-9, "{line}: {expected}");
        assert!(done.stdout.contains(&format!("v {words}")) || words == "mean", "{}", done.stdout);
    }

    let same = room.path("same");
    let done = vpass(&[
        "paper",
        &room.file("same.toml", &recipe.replace("drive.write_buffer=2MiB", "")),
        "--out",
        same.to_str().unwrap(),
    ]);
    assert_eq!(done.code, 2, "a key without a name");
    let without = recipe.replace(", own = { hc = ['drive.write_buffer=2MiB'] }", "");
    let done =
        vpass(&["paper", &room.file("same.toml", &without), "--out", same.to_str().unwrap()]);
    let of_raid5 = |csv: &str| {
        csv.lines().filter(|line| line.contains(",raid5,")).map(Into::into).collect::<Vec<String>>()
    };
    let other = std::fs::read_to_string(same.join("f.csv")).unwrap();
    assert!(done.code == 0 && other != csv && of_raid5(&other) == of_raid5(&csv), "{other}{csv}");

    for (from, to, said) in [
        ("over = 'raid5',", "", "`sums` computes a ratio"),
        ("'/host/write_pages', ", "", "as many numbers as `metric`"),
        ("without = ['reads']", "without = ['reeds']", "reeds"),
        ("own = { hc", "own = { ppc", "`own`"),
    ] {
        let done = vpass(&["paper", &room.file("wrong.toml", &recipe.replace(from, to))]);
        assert!(done.code == 2 && done.stderr.contains(said), "{said}: {}", done.stderr);
    }
}
