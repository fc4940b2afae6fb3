//! Small runs whose results are computed a second time. Every technique has a run. Every number of
//! a summary is above 0 in some run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use vpass_lab::plan::{Chosen, RunPlan};
use vpass_lab::progress::unwatched;
use vpass_lab::setup::{Base, Gear, HintSource, Named, Replay, Setup, Watch};

/// Drive of 120 blocks of 24 pages on four dies. Its limits are low: 40,000 requests bring hot
/// blocks to their limits several times.
const DRIVE: &str = r#"
[geometry]
channels = 2
dies_per_channel = 2
planes_per_die = 1
blocks_per_plane = 30
wordlines_per_block = 8
cell = "tlc"
page_size = "16KiB"
[timing]
sense_us = 20
program_us = 100
erase_us = 1000
channel_mb_s = 1000
host_mb_s = 4000
[drive]
spare = 0.3
write_buffer = "128KiB"
rated_pec = 3000
[start]
overwrite = 0.3
pec = 500
[disturb]
model = "wordline"
groups = ["good", "bad"]
group_share = [0.5, 0.5]
table = [
    { pec = 0, limit = [1300, 1100], alpha = [4.0, 5.0] },
    { pec = 3000, limit = [1200, 1000], alpha = [4.0, 5.0] },
]
"#;

/// Two retries, and error rates that rise with reads and, by 1e-4 per hour, with age.
const TIRED: &str = r#"
[error]
model = "powerlaw"
e = 0.004
b = 1e-4
m = 0.0
n = 1.0
[ecc]
codeword = "4KiB"
cap = [0.0085, 0.01, 0.012]
retry_decode_us = [50, 70]
[hints]
typical_us = 150
idle_us = 1000
"#;

/// Hint "idle" for a third of the data, and "typical" for another third.
const HINTS: &str = "[[range]]\noffset = 0\nbytes = \"8MiB\"\naccess_latency = \"idle\"\n\
    [[range]]\noffset = \"8MiB\"\nbytes = \"8MiB\"\naccess_latency = \"typical\"\n";

/// Run whose results are computed a second time.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    chosen: Chosen<'static>,
    gear: Gear,
    is_tired: bool,
    set: Vec<&'static str>,
    fail: &'static str,
    hints: bool,
    trace: Option<String>,
    pub(crate) seed: u64,
}

impl Case {
    fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            chosen: Chosen::default(),
            gear: Gear::Timed,
            is_tired: false,
            set: vec![],
            fail: "",
            hints: false,
            trace: None,
            seed: 1,
        }
    }

    fn reclaim(self, reclaim: &'static str) -> Self {
        Self { chosen: Chosen { reclaim, ..self.chosen }, ..self }
    }

    fn refresh(self, refresh: &'static str) -> Self {
        Self { chosen: Chosen { refresh: Some(refresh), ..self.chosen }, ..self }
    }

    fn parity(self, parity: &'static str) -> Self {
        Self { chosen: Chosen { parity, ..self.chosen }, ..self }
    }

    fn tired(self) -> Self {
        Self { is_tired: true, ..self }
    }

    fn set(mut self, set: &[&'static str]) -> Self {
        self.set.extend(set);
        self
    }

    /// Returns the case with another seed.
    pub(crate) fn seeded(&self, seed: u64) -> Self {
        Self { seed, ..self.clone() }
    }

    pub(crate) fn plan(&self) -> RunPlan {
        let drive = file("toml", &format!("{DRIVE}{}", if self.is_tired { TIRED } else { "" }));
        let mut set = vec!["reclaim.check_interval=100"];
        if self.trace.is_none() {
            set.extend([
                "workload.read_share=0.97",
                "workload.requests=40000",
                "workload.distribution=hot-cold:0.1/0.9",
            ]);
            set.push("workload.block_size=12KiB");
        }
        set.extend(&self.set);
        let set = set.into_iter().map(str::to_owned).collect();
        let queue_depth = self.trace.as_ref().map(|_| 4);
        let base = Base {
            gear: self.gear,
            queue_depth,
            set,
            seed: self.seed,
            oracle: Watch::Off,
            ..Base::new(drive.display().to_string())
        };
        let workload = match &self.trace {
            Some(text) => {
                Named::Trace { files: vec![file("log", text)], replay: Replay::default() }
            }
            None => Named::Workload("random-70-30".into()),
        };
        let hints =
            if self.hints { HintSource::File(file("hints", HINTS)) } else { HintSource::Off };
        let fail = self
            .fail
            .split(',')
            .filter(|one| !one.is_empty())
            .map(|one| one.parse().unwrap())
            .collect();
        let setup = Setup { hints, fail, ..Setup::new(base, workload) };
        RunPlan::new(&setup, self.chosen, &unwatched)
            .unwrap_or_else(|e| panic!("{}: {e}", self.name))
    }
}

/// Returns a file of this test with this content.
pub(crate) fn file(extension: &str, text: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let room = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recomputed");
    std::fs::create_dir_all(&room).unwrap();
    let path = room.join(format!("{}.{extension}", NEXT.fetch_add(1, Ordering::Relaxed)));
    std::fs::write(&path, text).unwrap();
    path
}

/// Requests with their own clock, for one second.
const OPEN: [&str; 2] = ["workload.queue_depth=", "workload.rate=20000"];
/// Space for one parity page per three pages.
const STRIPED: [&str; 2] = ["drive.spare=0.6", "parity.stripe=3"];

/// Parity for stripes with a page in a block of more than 505 P/E cycles.
const WORN: [&str; 3] =
    ["parity.pe-aware.t_p=505", "start.pec_spread=6", "workload.read_share=0.9"];

/// Returns all cases.
pub(crate) fn cases() -> Vec<Case> {
    let (listed, mut all) = (vpass_techniques::all(), vec![]);
    for technique in listed.reclaim {
        let case = Case::new(technique.name).reclaim(technique.name);
        all.push(if technique.needs.retries { case.tired() } else { case });
    }
    for technique in listed.gc {
        let chosen = Chosen { gc: technique.name, ..Chosen::default() };
        all.push(
            Case { chosen, ..Case::new(technique.name) }
                .set(&["workload.read_share=0.7", "workload.requests=20000"]),
        );
    }
    for technique in listed.refresh {
        let aged = Case::new(format!("refresh {}", technique.name))
            .tired()
            .refresh(technique.name)
            .set(&OPEN);
        all.push(aged.set(&[
            "refresh.period=1s",
            "error.longest_age=1h",
            "drive.slc_rewrites=0.75",
        ]));
    }
    for technique in listed.parity {
        all.push(
            Case::new(format!("parity {}", technique.name)).parity(technique.name).set(&STRIPED),
        );
    }
    all.extend(others());
    all
}

/// Returns the cases that test a number of the summary instead of a technique.
fn others() -> Vec<Case> {
    let aged = ["start.age=400h", "error.longest_age=1y"];
    vec![
        Case { gear: Gear::Untimed, ..Case::new("untimed").reclaim("straw-wl") },
        Case::new("retries").tired().reclaim("none"),
        Case::new("by age").tired().reclaim("none").set(&OPEN).set(&aged),
        Case {
            fail: "block:40@r20000,page:77@r30000",
            ..Case::new("by age and failures").tired().reclaim("none").set(&OPEN).set(&aged)
        },
        Case {
            fail: "block:40@r20000,block:70@r20001",
            ..Case::new("raid5 that fails").parity("raid5").set(&STRIPED)
        },
        Case {
            fail: "block:40@r20000,block:41@r20000",
            ..Case::new("pe-aware that fails").parity("pe-aware").set(&STRIPED).set(&WORN)
        },
        Case { hints: true, ..Case::new("hints").tired().reclaim("none") },
        Case::new("exposed").parity("hc").set(&STRIPED).set(&[
            "parity.hc.n_update=1",
            "parity.hc.published=1",
            "workload.block_size=32KiB",
            "workload.read_share=0.7",
            "workload.requests=20000",
        ]),
        Case::new("guarded wordlines")
            .reclaim("ipr")
            .set(&["timing.program_unit=wordline", "workload.block_size=16KiB"]),
        Case::new("wordlines").set(&["timing.program_unit=wordline", "workload.block_size=16KiB"]),
        Case::new("padded").set(&[
            "drive.write_buffer=0",
            "timing.program_unit=wordline",
            "workload.block_size=16KiB",
        ]),
        Case::new("open blocks")
            .tired()
            .refresh("block")
            .set(&OPEN)
            .set(&["refresh.period=1s", "workload.read_share=0.9995"]),
        Case::new("levelled").set(&[
            "wear.static_gap=2",
            "workload.read_share=0.7",
            "workload.requests=20000",
        ]),
        Case::new("worn stripes").parity("pe-aware").set(&STRIPED).set(&WORN),
        Case { trace: Some(trims()), ..Case::new("trims") },
    ]
}

/// Returns a log of fio. It writes and reads a megabyte, and trims parts of it.
fn trims() -> String {
    let mut log = "fio version 2 iolog\n/d add\n/d open\n".to_owned();
    for n in 0..400u64 {
        let at = n * 7919 % 64 * 16384;
        let _ = writeln!(log, "/d write {at} 16384\n/d read {at} 4096");
        if n % 5 == 0 {
            let _ = writeln!(log, "/d trim {at} 32768\n/d read {at} 16384");
        }
    }
    log
}
