//! List of the recorded runs. First, every technique runs in both gears under five workloads. Other
//! runs are sensitive to the order of events, or have other cell types. The last runs are attacks,
//! a job file, a trace, and other commands.

use vpass_workload::attack::ATTACKS;

use crate::crossings;

/// Call of the command, or several calls with `&&` between them. A call with `--json` prints its
/// results; every other call writes them into a folder.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) words: Vec<String>,
}

impl Run {
    /// Word that stands for the path of the folder of the results.
    pub(crate) const OUT: &str = "OUT";
    /// Word that stands for the path of a page.
    pub(crate) const PAGE: &str = "PAGE.html";

    pub(crate) fn new(words: &str) -> Self {
        Self { words: words.split_whitespace().map(str::to_owned).collect() }
    }

    /// Returns the arguments of each call.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &[String]> {
        self.words.split(|word| word == "&&")
    }

    /// Returns whether the run uses a new technique that no recorded run uses.
    pub(crate) fn is_of_one_unrecorded(&self, recorded: &[(String, String)]) -> bool {
        let of = |option: &str| {
            self.words
                .windows(2)
                .find(|words| words[0] == option)
                .map(|words| format!(" {option} {} ", words[1]))
        };
        let unknown = |choice: String| {
            !recorded.iter().any(|(_, title)| format!("{title} ").contains(&choice))
        };
        ["--reclaim", "--gc"].into_iter().filter_map(of).any(unknown)
    }

    /// Returns the arguments of the run in one line.
    pub(crate) fn title(&self) -> String {
        self.words.join(" ")
    }
}

const WORKLOADS: [&str; 5] =
    ["uniform-read", "zipf-read", "hot-cold", "random-70-30", "sequential-read"];
const SCHEDULES: [&str; 3] = ["foreground", "batch:24", "deadline"];

/// Settings of a worn drive whose blocks have been read before, so that a few requests cause
/// reclaim.
const WORN: &str = "--set start.pec=2000 --set start.reads=12000 --set start.overwrite=0.5";

/// Settings that depend on ties and on the order of events, and settings of other kinds of drives.
const VARIANTS: [&str; 17] = [
    "--set workload.queue_depth=16",
    "--set workload.rate=60000",
    "--set workload.rate=50000 --set workload.arrivals=constant",
    "--set workload.queue_depth=16 --set drive.write_buffer=0",
    "--set workload.queue_depth=32 --set drive.write_buffer=64KiB",
    "--set timing.suspend=true --set timing.suspend_limit=2 --set timing.suspend_program_us=5 \
     --set timing.suspend_erase_us=50",
    "--set timing.cache_read=true --set workload.queue_depth=16",
    "--set timing.independent_planes=true --set timing.suspend=true --set \
     timing.suspend_program_us=10",
    "--set timing.program_unit=wordline --set timing.pad_after_us=200 --set workload.rate=20000",
    "--set timing.channel_mb_s=0 --set timing.host_mb_s=0 --set workload.queue_depth=1",
    "--set geometry.cell=mlc",
    "--set geometry.cell=qlc",
    "--set disturb.dose=sensings --set disturb.preprogram_weight=0.5",
    "--set disturb.policy_row_cycles=0 --set disturb.block_variation=0.2",
    "--set geometry.strings_per_layer=4 --set geometry.neighbour_stride=4",
    "--set wear.static_gap=2 --set gc.background=0.9",
    "--set density.interval_average=recent:16 --set density.reprogram_dose=20",
];

/// Techniques whose requirements differ most.
const UNLIKE: [&str; 5] = ["block", "straw-ss", "tiered", "read-leveling", "ipr"];

/// Returns all runs.
pub(crate) fn all() -> Vec<Run> {
    let single = [techniques(), counts(), variants(), cleaning(), attacks(), sources()].concat();
    [single, commands(), crossings::all()].concat()
}

fn techniques() -> Vec<Run> {
    let mut runs = vec![];
    // `tiny` has no error rates, and therefore no retries.
    for technique in
        vpass_techniques::all().reclaim.iter().filter(|technique| !technique.needs.retries)
    {
        // This number does not depend on the place in the list, which a new technique may change.
        let i = technique.name.len();
        for (j, workload) in WORKLOADS.iter().enumerate() {
            for gear in ["timed", "untimed"] {
                let (seed, schedule) = (1 + (i + j) % 4, SCHEDULES[(i + j) % SCHEDULES.len()]);
                runs.push(Run::new(&format!(
                    "run --drive tiny --workload {workload} --set workload.requests=20000 {WORN} \
                     --reclaim {} --gear {gear} --seed {seed} --set reclaim.schedule={schedule}",
                    technique.name
                )));
            }
        }
    }
    runs
}

/// Runs in which `count` reaches its count, in each of its ways.
fn counts() -> Vec<Run> {
    let ways = [
        "--set reclaim.count.reads=11900 --set start.reads=12000",
        "--set reclaim.count.reads=2000 --set reclaim.count.spread=0.67",
        "--set reclaim.count.reads=20 --set reclaim.count.drive_wide=1",
    ];
    let run = |way: &str, gear: &str| {
        Run::new(&format!(
            "run --drive tiny --workload zipf-read --set workload.requests=20000 --reclaim count \
             {way} --gear {gear}"
        ))
    };
    ways.iter().flat_map(|way| ["timed", "untimed"].map(|gear| run(way, gear))).collect()
}

fn variants() -> Vec<Run> {
    let mut runs = vec![];
    for (i, variant) in VARIANTS.iter().enumerate() {
        for reclaim in UNLIKE {
            let schedule = SCHEDULES[i % SCHEDULES.len()];
            runs.push(Run::new(&format!(
                "run --drive tiny --workload random-70-30 --set workload.requests=15000 {WORN} \
                 --reclaim {reclaim} --gear timed --set reclaim.schedule={schedule} {variant}"
            )));
        }
    }
    runs
}

fn cleaning() -> Vec<Run> {
    let run = |gc: &str, gear| {
        Run::new(&format!(
            "run --drive tiny --workload random-70-30 --set workload.requests=60000 --set \
             start.overwrite=1 --reclaim ipr --gc {gc} --gear {gear}"
        ))
    };
    vpass_techniques::all()
        .gc
        .iter()
        .flat_map(|gc| ["timed", "untimed"].map(|gear| run(gc.name, gear)))
        .collect()
}

fn attacks() -> Vec<Run> {
    let run = |attack: &str, reclaim, gear| {
        Run::new(&format!(
            "attack {attack} --drive tiny --set start.pec=2000 --requests 30000 --reclaim \
             {reclaim} --gear {gear}"
        ))
    };
    let of = |attack| {
        ["none", "straw-ss"]
            .into_iter()
            .flat_map(move |reclaim| ["timed", "untimed"].map(|gear| run(attack, reclaim, gear)))
    };
    ATTACKS.iter().map(|attack| attack.name).chain(["adaptive"]).flat_map(of).collect()
}

fn sources() -> Vec<Run> {
    ["--fio examples/jobs/database.fio", "--trace examples/traces/pgbench-ext4.csv.zst"]
        .into_iter()
        .flat_map(|source| {
            ["block", "ipr-wl"].map(|reclaim| {
                Run::new(&format!("run --drive tiny {source} {WORN} --reclaim {reclaim}"))
            })
        })
        .collect()
}

/// Returns the runs of other commands.
fn commands() -> Vec<Run> {
    let lines = include_str!("commands.txt").lines();
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(Run::new).collect()
}
