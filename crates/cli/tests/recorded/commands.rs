//! List of the recorded runs of commands other than `run` and `attack`, and of pages. All
//! of them are small, so `make test` makes all of them.

use crate::runs::Run;

/// Comparisons: a trace, seeds, closed and open loops, time and counts, parity, hints, ages, a
/// technique that loses data, and a sweep.
const COMPARE: [&str; 7] = [
    "--drive tiny --trace examples/traces/pgbench-ext4.csv.zst --set start.pec=2000 --reclaim \
     block,read-leveling --gear untimed",
    "--drive tiny --workload hot-cold --set workload.requests=10000 --set workload.queue_depth=8 \
     --set start.pec=2000 --set start.reads=12000 --reclaim block,ipr --gear timed --seeds 3 \
     --html PAGE.html",
    "--drive tiny --workload random-70-30 --set workload.requests=20000 --set workload.rate=20k \
     --set workload.queue_depth= --set start.reads=12000 --reclaim block,straw-ss --gc \
     greedy,cost-benefit --ages 0,2000 --gear untimed",
    "--drive tiny --set drive.capacity=512MiB --set drive.spare=0.5 --set parity.stripe=3 \
     --workload zipf-read --set workload.requests=200000 --set start.pec=2900 --set \
     start.reads=12000 --reclaim none,straw-wl --parity none,raid5 --gear timed --html PAGE.html",
    "--drive aged-tlc --set drive.capacity=1GB --set drive.spare=0.5 --workload zipf-read --set \
     workload.requests=10000 --hints crates/cli/tests/recorded/idle.toml --set \
     hints.typical_us=200 --set hints.idle_us=1000 --reclaim block,tiered --gear timed",
    "--drive tiny --fio examples/jobs/database.fio --set start.pec=2000 --set start.reads=12000 \
     --reclaim none,redftl --gear timed",
    "--drive tiny --workload hot-cold --set workload.requests=5000 --set start.reads=12000 --sweep \
     start.pec=0,2000 --sweep workload.queue_depth=1,16 --reclaim straw-wl,ipr-wl",
];

/// Lives near their end, so that they are short: on rungs, and exact.
const LIFE: [&str; 9] = [
    "--drive tiny --workload random-70-30 --set workload.rate=20k --set start.pec=2900 --rung 1 \
     --html PAGE.html",
    "--drive tiny --workload random-70-30 --set workload.rate=20k --set drive.capacity=256MiB \
     --set start.pec=2900 --reclaim block,straw-wl --rung 2",
    "--drive tiny --trace examples/traces/pgbench-ext4.csv.zst --set start.pec=2990 --years \
     0.0001 --rung 1",
    "--drive modern-tlc --workload random-70-30 --set workload.rate=20k --set start.pec=2990 \
     --sample 1/256 --rung 1",
    "--drive tiny --workload zipf-read --set workload.rate=20k --set drive.capacity=256MiB --set \
     start.pec=2950 --set start.reads=12000 --reclaim none,block,count --years 0.0001 --exact",
    "--drive tiny --workload hot-cold --set workload.rate=20k --set drive.capacity=256MiB --set \
     start.pec=2950 --reclaim straw-ss,page-type --seeds 2 --exact",
    "--drive tiny --workload random-70-30 --set workload.rate=20k --set drive.capacity=256MiB \
     --set drive.spare=0.5 --set start.pec=2980 --set parity.stripe=3 --parity raid5 --reclaim \
     block,ipr --exact",
    "--drive tiny --trace examples/traces/pgbench-ext4.csv.zst --fit scale --set \
     drive.capacity=256MiB --set start.pec=2990 --years 0.0001 --exact",
    "--drive tiny --trace examples/traces/pgbench-ext4.csv.zst --fit scale --set \
     drive.capacity=256MiB --set start.pec=2980 --reclaim block,ipr --rung 2",
];

/// Calls that print their results, and pages and counters of single runs.
const OTHERS: [&str; 21] = [
    "sweep examples/sweeps/wear.toml",
    "sweep crates/cli/tests/recorded/sweep.toml --html PAGE.html",
    "llm --drive tiny --model 64MiB --experts 1MiB --active 8 --tokens-per-second 20 --cache 4MiB \
     --json",
    "llm --drive tiny --set start.pec=2990 --model 512MiB --experts 1MiB --active 8 \
     --tokens-per-second 20 --hours 8 --cache 400MiB --reclaim count,straw-wl --rung 1 --json",
    "explain --drive tiny --reclaim straw-wl --json",
    "explain --drive tiny --reclaim none --json",
    "explain --drive aged-qlc --reclaim tiered --json",
    "explain --drive rlr-rewriter-tlc --json",
    "explain --drive real-h --reclaim count --json",
    "explain --drive modern-tlc --set start.pec=2500 --reclaim straw-ss --json",
    "trace info examples/traces/pgbench-ext4.csv.zst --json",
    "trace info crates/workload/tests/corpus/compact.vpt --json",
    "trace info crates/workload/tests/corpus/blkparse.txt --json",
    "trace info crates/workload/tests/corpus/v2.vscsi --json",
    "trace info crates/workload/tests/corpus/tencent.csv --drive aged-tlc --json",
    "show drive modern-tlc --json",
    "show sheet tiny --json",
    "smart --measured examples/smart/before.json examples/smart/after.json --json",
    "smart --measured examples/smart/before.json examples/smart/after.json --drive modern-tlc \
     --json",
    "run --drive tiny --workload random-70-30 --set workload.requests=5000 --set start.pec=2000 \
     --set start.reads=12000 --html PAGE.html && smart OUT --json",
    "run --drive aged-tlc --set drive.capacity=2GB --workload random-70-30 --set \
     workload.requests=5000 --html PAGE.html && smart OUT --json",
];

/// Returns the runs of this list.
pub(crate) fn all() -> Vec<Run> {
    let with = |command, words: &[&str]| -> Vec<_> {
        words.iter().map(|words| Run::new(&format!("{command} {words}"))).collect()
    };
    [with("compare", &COMPARE), with("life", &LIFE), with("", &OTHERS)].concat()
}
