//! List of the recorded runs in which mechanisms meet: parity, gears, failures and refresh, and
//! each pair of further mechanisms. All of them are small, so `make test` makes all of them.

use crate::runs::Run;

const PARITY: [&str; 7] = ["none", "raid5", "ppc", "hc", "pe-aware", "da-raid5", "udl"];
const FAILURES: [&str; 4] =
    ["", "--fail die:1@r900", "--fail plane:1@r900", "--fail block:17@r900"];
const REFRESH: [&str; 3] = ["none", "block", "ida"];
const RECLAIM: [&str; 6] = ["block", "straw-wl", "ipr", "tiered", "page-type", "none"];

/// Drive with spare blocks for a failed die, whose data becomes too old during a run.
const OLD: &str = "--drive tiny --set drive.capacity=192MiB --set drive.spare=0.75 --set \
                   parity.stripe=3 --set start.pec=2000 --set start.reads=12000 --set \
                   start.overwrite=0.5 --set start.age=9s --set refresh.period=10s --workload \
                   random-70-30 --set workload.requests=2500 --set workload.rate=1k";

/// Worn drive with old data, whose reads take retries.
const TIRED: &str = "--drive aged-tlc --set drive.capacity=256MiB --set geometry.channels=2 --set \
                     geometry.dies_per_channel=2 --set geometry.planes_per_die=1 --set \
                     geometry.wordlines_per_block=32 --set drive.spare=0.6 --set start.pec=1500 \
                     --set start.age=50d --set refresh.period=60d --set parity.stripe=3 \
                     --workload random-70-30 --set workload.requests=2500";

/// Mechanisms with the options that turn them on.
const MECHANISMS: [(&str, &str); 11] = [
    ("buffer", "--set drive.write_buffer=0"),
    ("wordline", "--set timing.program_unit=wordline"),
    (
        "hints",
        "--hints crates/cli/tests/recorded/few.toml --set hints.typical_us=200 --set \
         hints.idle_us=1000",
    ),
    ("retries", "--set reclaim.retries=4 --set ecc.start_from_last=true"),
    ("levelling", "--set wear.static_gap=1 --set gc.background=0.9"),
    ("depth", "--set workload.queue_depth=16"),
    ("refresh", "--refresh ida"),
    ("ipr", "--reclaim ipr-wl"),
    ("density", "--reclaim tiered"),
    ("parity", "--parity raid5"),
    ("failure", "--fail die:1@r900"),
];

/// Pairs that exclude each other: two reclaim techniques, and parity with hints or with programs of
/// whole wordlines.
const EXCLUDED: [(&str, &str); 3] =
    [("ipr", "density"), ("hints", "parity"), ("wordline", "parity")];

/// Returns all runs.
pub(crate) fn all() -> Vec<Run> {
    [with_parity(), pairs(), samples(), queues(), tired(), rare()].concat()
}

/// Returns each parity technique in each gear with each failure. Refresh and reclaim take turns.
fn with_parity() -> Vec<Run> {
    let mut runs = vec![];
    for parity in PARITY {
        for gear in ["timed", "untimed", "fluid"] {
            // Nothing can fail in the fluid gear.
            let failures = if gear == "fluid" { &[""; 3] } else { &FAILURES[..] };
            for failure in failures {
                let n = runs.len();
                let (reclaim, refresh) = (RECLAIM[n % RECLAIM.len()], REFRESH[n % REFRESH.len()]);
                runs.push(Run::new(&format!(
                    "run {OLD} --reclaim {reclaim} --gear {gear} --parity {parity} --refresh \
                     {refresh} {failure}"
                )));
            }
        }
    }
    runs
}

/// Returns each pair of mechanisms.
fn pairs() -> Vec<Run> {
    let mut runs = vec![];
    for (n, (first, options)) in MECHANISMS.iter().enumerate() {
        for (second, more) in &MECHANISMS[n + 1..] {
            if EXCLUDED.contains(&(first, second)) {
                continue;
            }
            let options = format!("{options} {more}");
            let is_timed = ["wordline", "depth"].iter().any(|name| [first, second].contains(&name));
            let is_even = runs.len().is_multiple_of(2);
            let gear = if is_timed || is_even { "timed" } else { "untimed" };
            let rate = if options.contains("depth") { "" } else { "--set workload.rate=20k" };
            let reclaim = match (options.contains("--reclaim"), is_even) {
                (true, _) => "",
                (false, true) => "--reclaim block",
                (false, false) => "--reclaim straw-wl",
            };
            let refresh = if options.contains("--refresh") { "" } else { "--refresh block" };
            runs.push(Run::new(&format!(
                "run {TIRED} {options} {reclaim} {refresh} {rate} --gear {gear}"
            )));
        }
    }
    runs
}

/// Returns samples of drives, on which reads are simulated in bulk.
fn samples() -> Vec<Run> {
    let run = |reclaim: &str, refresh| {
        Run::new(&format!(
            "run {OLD} --set drive.capacity=512MiB --reclaim {reclaim} --refresh {refresh} \
             --gear fluid --sample 1/2"
        ))
    };
    let of = |reclaim| REFRESH.map(|refresh| run(reclaim, refresh));
    ["block", "straw-wl", "ipr"].into_iter().flat_map(of).collect()
}

/// Returns closed loops, in which reads suspend programs and erases.
fn queues() -> Vec<Run> {
    let run = |depth: u32, parity: &str| {
        Run::new(&format!(
            "run {TIRED} --set workload.queue_depth={depth} --set timing.suspend=true --set \
             timing.suspend_limit=2 --parity {parity} --reclaim block --refresh block --gear timed"
        ))
    };
    [1, 8, 64]
        .into_iter()
        .flat_map(|depth| ["none", "raid5", "ppc", "hc"].map(|parity| run(depth, parity)))
        .collect()
}

/// Returns drives whose reads begin at the voltages that worked last, and whose errors are random.
fn tired() -> Vec<Run> {
    let run = |gear: &str, noise| {
        Run::new(&format!(
            "run {TIRED} --set reclaim.retries=4 --set ecc.start_from_last=true --set \
             error.noise={noise} --set workload.rate=20k --refresh block --reclaim block --gear \
             {gear}"
        ))
    };
    let of = |gear| [false, true].map(|noise| run(gear, noise));
    ["timed", "untimed"].into_iter().flat_map(of).collect()
}

/// Returns runs in which rare decisions matter: how worn a stripe is, which requests bypass the
/// buffer, how fast parity is formed, and which wordlines a refresh merges.
fn rare() -> Vec<Run> {
    let run = |options: &str, gear| Run::new(&format!("run {OLD} {options} --gear {gear}"));
    let merging = "--refresh ida --set refresh.period=2s --set start.age=1s --set \
                   workload.rate=400";
    vec![
        run("--parity pe-aware --set parity.t_p=2000", "timed"),
        run("--parity hc --set parity.hc.cut_off=1 --set workload.block_size=32KiB", "timed"),
        run(
            "--set drive.spare=0.6 --set start.overwrite=1 --set start.reads=9000 --set \
             start.worn_share=0.2 --set start.worn_pec=2600 --set parity.t_p=2500 --parity \
             pe-aware --reclaim straw-wl --refresh block",
            "timed",
        ),
        run(merging, "timed"),
        run(merging, "untimed"),
        run(
            "--refresh ida --set refresh.ida.at_gc=1 --set start.overwrite=1 --set \
             drive.spare=0.2",
            "timed",
        ),
    ]
}
