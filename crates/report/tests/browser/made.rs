//! Results made for the tests: three techniques, whose numbers follow from short formulas.

use std::sync::OnceLock;
use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::IntervalLogWriterBuilder;
use serde_json::{Value, json};
use vpass_drive::base::units::Cause;
use vpass_lab::compare::Comparison;
use vpass_lab::compare::row::ComparisonRow;
use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::{Unwatched, unwatched};
use vpass_lab::results::{About, ByCause, LifeUnit, Summary};
use vpass_lab::run::execute;
use vpass_lab::setup::{Base, Named, Setup};
use vpass_report::folder::Folder;

/// Labels of the techniques. The last label would break a page that does not escape labels.
pub(crate) const LABELS: [&str; 3] = ["none", "block", "<script>alert(1)</script>\"&'"];
/// Number of blocks of the drive.
pub(crate) const BLOCKS: usize = 40;
/// Number of the wordline that is nearest to its limit in every block.
pub(crate) const WORST: usize = 20;
/// Names of the wordline groups. Wordline w belongs to group w modulo 4.
pub(crate) const GROUPS: [&str; 4] = ["best", "good", "bad", "<b>worst</b>"];

/// Returns the number of the block with this rank. The worst block has rank 0.
pub(crate) fn block(rank: usize) -> usize {
    7 + 3 * rank
}

/// Returns the dose that a wordline endures.
pub(crate) fn limit(w: usize) -> f64 {
    [70_000.0, 60_000.0, 50_000.0, 40_000.0][w % 4]
}

/// Returns the dose of a wordline in the block with this rank.
pub(crate) fn dose(technique: usize, rank: usize, w: usize) -> f64 {
    let worst = [3.0, 0.15, 0.9][technique] * (1.0 - rank as f64 / 50.0);
    (limit(w) * worst * if w == WORST { 1.0 } else { 0.1 }).round()
}

/// Returns the number of reads of a wordline. Two wordlines are read often.
pub(crate) fn reads(w: usize) -> u32 {
    match w {
        19 => 3044,
        21 => 2986,
        w => w as u32 % 5,
    }
}

/// Returns the number of valid pages of a wordline. Every eighth wordline holds no data.
pub(crate) fn valid_pages(w: usize) -> u32 {
    if w % 8 == 7 { 0 } else { 3 }
}

/// Returns two latencies in microseconds: that of most reads, and that of two reads in a thousand.
pub(crate) fn latencies(technique: usize) -> [f64; 2] {
    let factor = technique as f64 + 1.0;
    [100.0 * factor, 5000.0 * factor]
}

/// Returns the number of pages that reclaim writes per second.
pub(crate) fn reclaim_rate(technique: usize) -> f64 {
    [0.0, 2000.0, 500.0][technique]
}

/// Makes the results of a comparison on a drive with `wordlines` wordlines per block.
pub(crate) fn results(wordlines: usize) -> Folder {
    let row = |i: usize| ComparisonRow::new(LABELS[i].into(), vec![summary(i)]);
    let compared = Comparison::new(About::of_run(&summary(0)), (0..3).map(row).collect());
    let compare = serde_json::to_vec(&compared).unwrap();
    let mut folder = Folder::of_files("made", [("compare.json".to_owned(), compare)]);
    for (i, label) in LABELS.iter().enumerate() {
        folder.put(*label, Folder::of_files(*label, files(i, wordlines)));
    }
    folder
}

/// Returns the summary of a technique: a run of 1,000 reads whose numbers are replaced.
fn summary(i: usize) -> Summary {
    static RUN: OnceLock<Summary> = OnceLock::new();
    let of_reads = || {
        let base = Base { set: vec!["workload.requests=1000".into()], ..Base::new("tiny") };
        let setup = Setup::new(base, Named::Workload("uniform-read".into()));
        let plan = RunPlan::new(&setup, Chosen::default(), &unwatched).unwrap();
        execute(&plan, &Unwatched).unwrap().summary
    };
    let mut run = Summary { batches: None, ..RUN.get_or_init(of_reads).clone() };
    let ([usual, slow], days) = (latencies(i), [9.0, 1.0, 3.0][i]);
    (run.workload, run.reclaim_technique) = ("read-hot.fio".into(), LABELS[i].into());
    let read = &mut run.latency_us.read;
    (read.mean, read.p50, read.p99) = (Some(usual), Some(usual), Some(usual));
    (read.p99_9, read.max) = (Some(slow), Some(slow));
    run.write_amplification = Some(2.0 + i as f64);
    run.controller_ram_bytes = [0, 1224, 82_841][i];
    run.data_lost_pages = if i == 0 { 40 } else { 0 };
    (run.host.read_pages, run.host.write_pages) = (100_000, 20_000);
    let mut programs = [0; Cause::COUNT];
    programs[Cause::Host as usize] = 20_000;
    programs[Cause::Gc as usize] = 20_000;
    programs[Cause::Reclaim as usize] = (reclaim_rate(i) * 40.0) as u64;
    run.flash.programs = ByCause::from(programs);
    run.reclaim.counts.invocations = i as u64;
    let wear = &mut run.wear;
    (wear.life_unit, wear.life_settled) = (Some(LifeUnit::Days), true);
    wear.projected_life_days = Some(days);
    (wear.life_low_days, wear.life_high_days) = (Some(0.9 * days), Some(1.1 * days));
    wear.cycles_observed = 50.0;
    run.simulation.simulated_s = Some(40.0);
    run
}

fn manifest(i: usize, wordlines: usize) -> Value {
    json!({
        "vpass": "0.1.0", "command": "compare", "drive": "tiny", "workload": "read-hot.fio",
        "workload_generated": true, "workload_source": "generated", "reclaim": LABELS[i],
        "counterfactual": false, "gc": "greedy", "refresh": "none", "gear": "timed", "seed": 1,
        "repeat": 1, "oracle": true, "oracle_level": "on",
        "command_line": ["vpass", "compare", "--drive", "tiny"],
        "assumptions": ["A <b>bold</b> assumption."],
        "drive_configuration": {
            "geometry": {"channels": 2, "dies_per_channel": 2, "planes_per_die": 2,
                "wordlines_per_block": wordlines, "neighbour_stride": 1, "cell": "tlc",
                "page_size": "16KiB", "blocks_per_plane": 51},
            "disturb": {"groups": GROUPS},
            "drive": {"capacity": "1GiB", "spare": 0.16, "rated_pec": 3000},
            "start": {"pec": 1500, "fill": 1.0, "overwrite": 0.0},
            "timing": {"sense_us": 20.0, "program_us": 100.0, "erase_us": 1000.0},
            "reclaim": {"schedule": "deadline"},
        },
        "workload_configuration": {"fio": {"sha256": "0123456789abcdef"}},
    })
}

fn files(i: usize, wordlines: usize) -> Vec<(String, Vec<u8>)> {
    let texts = [
        ("summary.json", serde_json::to_string(&summary(i)).unwrap()),
        ("manifest.json", manifest(i, wordlines).to_string()),
        ("blocks.csv", blocks_csv()),
        ("series.csv", series_csv(i)),
        ("latency.csv", latency_csv(i)),
        ("dose.csv", dose_csv(i, wordlines)),
        ("dose_map.csv", dose_map_csv(i, wordlines)),
        ("dose_blocks.csv", dose_blocks_csv(i, wordlines)),
    ];
    let texts = texts.map(|(name, text)| (name.to_owned(), text.into_bytes()));
    texts.into_iter().chain([("read.hlog".to_owned(), read_log(i))]).collect()
}

fn read_log(i: usize) -> Vec<u8> {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for (us, count) in latencies(i).into_iter().zip([99_800, 200]) {
        histogram.record_n((us * 1e3) as u64, count).unwrap();
    }
    let (mut bytes, mut serializer) = (vec![], V2DeflateSerializer::new());
    let mut log =
        IntervalLogWriterBuilder::new().begin_log_with(&mut bytes, &mut serializer).unwrap();
    log.write_histogram(&histogram, Duration::ZERO, Duration::from_secs(40), None).unwrap();
    bytes
}

/// Returns the text of a CSV file.
fn csv(heading: &str, rows: impl IntoIterator<Item = String>) -> String {
    rows.into_iter().fold(heading.to_owned() + "\n", |text, row| text + &row + "\n")
}

fn blocks_csv() -> String {
    let row = |rank: usize| {
        let cycles = 1500 + rank % 3;
        format!("{},0,0,closed,{cycles},{cycles},0,192,192", block(rank))
    };
    csv(
        "block,die,plane,state,pec_cycles,effective_pec_cycles,reads_dose_units,valid_pages,\
         written_pages",
        (0..BLOCKS).map(row),
    )
}

fn series_csv(i: usize) -> String {
    let row = |tick: u32| {
        let s = f64::from(tick) * 2.0;
        let rewritten = s * reclaim_rate(i);
        format!("{},{s},{},{},{rewritten}", tick * 6000, tick * 5000, tick * 1000)
    };
    csv(
        "requests,simulated_s,host_read_pages,host_write_pages,programs_reclaim_pages",
        (1..=20).map(row),
    )
}

fn latency_csv(i: usize) -> String {
    let [usual, slow] = latencies(i);
    let row = |window: u32| {
        let (from, to) = (f64::from(window) * 0.5, f64::from(window + 1) * 0.5);
        format!("{from},{to},read,1250,{usual},{usual},{usual},{slow},{slow}")
    };
    csv("from_s,to_s,op,count,mean_us,p50_us,p99_us,p99_9_us,max_us", (0..80).map(row))
}

fn dose_csv(i: usize, wordlines: usize) -> String {
    let row = |rank: usize, w: usize| {
        let (dose, limit, valid) = (dose(i, rank, w), limit(w), valid_pages(w));
        let lost = if dose > limit { valid } else { 0 };
        let (block, reads_before, group) = (block(rank), 9000 + rank, GROUPS[w % 4]);
        let (reads, valid) = (reads(w), valid - lost);
        format!(
            "{block},0,0,12.5,{reads_before},1501,{w},{group},9,0,{reads},{dose},{limit},{valid},\
             {lost}"
        )
    };
    csv(
        "block,die,plane,at_s,at_host_read_pages,pec_cycles,wordline,group,alpha,guard_levels,\
         reads,dose,limit,valid_pages,lost_pages",
        (0..BLOCKS).flat_map(|rank| (0..wordlines).map(move |w| row(rank, w))),
    )
}

fn dose_map_csv(i: usize, wordlines: usize) -> String {
    let per_bin = wordlines.div_ceil(128);
    let row = |rank: usize, bin: usize| {
        let in_bin = bin * per_bin..wordlines.min((bin + 1) * per_bin);
        let (first, count) = (in_bin.start, in_bin.len());
        let with_data = in_bin.filter(|w| valid_pages(*w) > 0);
        let worst = with_data.map(|w| dose(i, rank, w) / limit(w)).reduce(f64::max);
        let (ratio, state) = match worst {
            None => (String::new(), "none"),
            Some(ratio) if ratio > 1.0 => (ratio.to_string(), "lost"),
            Some(ratio) => (ratio.to_string(), "data"),
        };
        format!("{},{},{bin},{first},{count},{ratio},{state},0", rank + 1, block(rank))
    };
    csv(
        "rank,block,bin,first_wordline,wordlines,worst_ratio,state,ratio_at_end",
        (0..BLOCKS)
            .flat_map(|rank| (0..wordlines.div_ceil(per_bin)).map(move |bin| row(rank, bin))),
    )
}

fn dose_blocks_csv(i: usize, wordlines: usize) -> String {
    let row = |rank: usize| {
        let ratio = |w: usize| dose(i, rank, w) / limit(w);
        let with_data = (0..wordlines).filter(|w| valid_pages(*w) > 0);
        let past = with_data.filter(|w| ratio(*w) > 1.0).count();
        format!("{},{},{WORST},12.5,{past},0,", block(rank), ratio(WORST))
    };
    csv(
        "block,worst_ratio,worst_wordline,at_s,wordlines_past_limit,erases,share_used_at_erase",
        (0..BLOCKS).map(row),
    )
}
