//! Calls whose output shows the names that programs read. Each call is small, and together the
//! calls show every section.

/// Titles for the snapshot, with the arguments of each call. `OUT` is a folder for results, `TIRED`
/// is a drive file, and `HINTS` is a file of hints.
pub(crate) const JSON: [(&str, &str); 38] = [
    ("run", "run --drive tiny --workload zipf-read --set workload.requests=2000 --json --out OUT"),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=9000 --gear untimed \
         --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload zipf-read --set workload.requests=1000 --ages 0,2000 --json",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 --oracle full \
         --warm-up 100 --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 --refresh block \
         --set start.age=10d --json",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 --refresh ida --set \
         start.age=10d --json",
    ),
    (
        "run",
        "run --drive TIRED --workload random-70-30 --set workload.requests=2000 --hints HINTS \
         --seeds 2 --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 PARITY --parity \
         raid5 --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 PARITY --parity hc \
         --fail die:3@r500 --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 PARITY --parity \
         pe-aware --json --out OUT",
    ),
    (
        "run",
        "run --drive tiny --workload random-70-30 --set workload.requests=2000 PARITY --parity \
         da-raid5 --json --out OUT",
    ),
    ("run", "run --drive tiny --fio examples/jobs/database.fio --json --out OUT"),
    (
        "run",
        "run --drive tiny --trace examples/traces/pgbench-ext4.csv.zst --gear untimed --json --out \
         OUT",
    ),
    (
        "compare",
        "compare --drive tiny --workload zipf-read --set workload.requests=2000 --seeds 1 \
         --reclaim none,block --json --out OUT",
    ),
    (
        "compare",
        "compare --drive tiny --workload random-70-30 --set workload.requests=2000 --reclaim \
         none,block --seeds 2 --json --out OUT",
    ),
    (
        "compare",
        "compare --drive tiny --workload random-70-30 --set workload.requests=2000 PARITY --parity \
         none,raid5 --json",
    ),
    (
        "compare",
        "compare --drive TIRED --workload random-70-30 --set workload.requests=2000 --reclaim \
         none,block --json",
    ),
    ("life", "life LIFE --years 0.001 --seeds 2 --json --out OUT"),
    ("life", "life LIFE --years 0.001 --reclaim block,straw-wl --json --out OUT"),
    ("attack", "attack hammer --drive tiny --requests 2000 --json --out OUT"),
    ("attack", "attack adaptive --drive tiny --requests 2000 --json --out OUT"),
    (
        "smart --measured",
        "smart --measured examples/smart/before.json examples/smart/after.json --drive modern-tlc \
         --json",
    ),
    ("explain", "explain --drive tiny --json"),
    ("explain", "explain --drive aged-tlc --reclaim straw-wl --json"),
    ("explain", "explain --drive da-raid5-mlc --json"),
    ("show drive", "show drive tiny --json"),
    ("show workload", "show workload zipf-read --json"),
    ("show sheet", "show sheet tiny --json"),
    (
        "llm",
        "llm --drive tiny --model 800MB --experts 2MB --active 25 --cache 100MB \
         --tokens-per-second 10 --set drive.rated_pec=5 --json",
    ),
    ("new drive", "new drive --capacity 16GB --cell tlc --tbw 10 --json"),
    ("list", "list --json"),
    ("list keys", "list keys --json"),
    ("list reclaim", "list reclaim --json"),
    ("list refresh", "list refresh --json"),
    ("list parity", "list parity --json"),
    ("list gc", "list gc --json"),
    ("trace info", "trace info examples/traces/pgbench-ext4.csv.zst --json"),
    ("trace info", "trace info --drive tiny examples/traces/pgbench-ext4.csv.zst --json"),
];

/// Short names in [`JSON`], with the arguments that replace them.
pub(crate) const SHORT: [(&str, &str); 2] = [
    ("PARITY", "--set drive.capacity=256MiB --set drive.spare=0.75 --set parity.stripe=3"),
    ("LIFE", "--drive tiny --workload zipf-read --set workload.rate=10000 --set drive.rated_pec=5"),
];

/// Exit codes, each with its case and the arguments of a call.
pub(crate) const CODES: [(i32, &str, &str); 8] = [
    (
        0,
        "run that loses nothing",
        "run --drive tiny --workload zipf-read --set workload.requests=100",
    ),
    (2, "unknown drive", "run --drive nothing --workload zipf-read"),
    (2, "unknown key", "run --drive tiny --workload zipf-read --set drive.nothing=1"),
    (2, "unknown flag", "run --nothing"),
    (2, "unknown technique", "run --drive tiny --workload zipf-read --reclaim nothing"),
    (2, "missing file", "trace info nothing.csv"),
    (
        3,
        "run that loses data",
        "run --drive tiny --workload zipf-read --set start.pec=3000 --set \
         workload.requests=2000000 --reclaim none --gear untimed",
    ),
    (
        3,
        "attack that loses data",
        "attack hammer --drive tiny --set start.pec=2000 --requests 300000 --reclaim none --gear \
         untimed",
    ),
];
