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

/// Drive whose reads take retries.
const TIRED: &str = "--drive aged-tlc --set drive.capacity=256MiB --set geometry.channels=2 --set \
                     geometry.dies_per_channel=2 --set geometry.planes_per_die=1 --set \
                     geometry.wordlines_per_block=32 --set drive.spare=0.6 --set \
                     parity.stripe=3 --workload random-70-30 --set workload.requests=2500";

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
    ("refresh", "--refresh ida --set refresh.period=60d"),
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
    [with_parity(), pairs(), samples(), queues()].concat()
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
            runs.push(Run::new(&format!("run {TIRED} {options} {reclaim} {rate} --gear {gear}")));
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
             timing.suspend_limit=2 --parity {parity} --reclaim block --gear timed"
        ))
    };
    [1, 8, 64]
        .into_iter()
        .flat_map(|depth| ["none", "raid5", "ppc", "hc"].map(|parity| run(depth, parity)))
        .collect()
}
