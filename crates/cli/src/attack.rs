//! `vpass attack`: attacks the data of one simulated drive with chosen requests. The requests run
//! as in `vpass run`. The attacker knows where data lies, and how the drive reclaims blocks.
//!
//! `--write` saves the requests of the attack in a workload file, which `vpass run` replays. With
//! the same seed, all data then lies in the same places as during the attack.

pub(crate) mod args;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toml::Table;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{NO_PARITY, ParityTechnique};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::{NO_REFRESH, RefreshTechnique};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;
use vpass_drive::hints;
use vpass_drive::phrase;
use vpass_lab::failure::Failure;
use vpass_lab::hints::HintFile;
use vpass_lab::load::{self, Generated, Loaded};
use vpass_lab::memory;
use vpass_lab::plan::{
    ADAPTIVE, Cards, RunPlan, Workload, gc_named, parity_named, reclaim_named, refresh_named,
};
use vpass_lab::session::{Beginning, Session};
use vpass_lab::setup::{Gear, Watch};
use vpass_lab::suggest;
use vpass_techniques::with_parts;
use vpass_workload::attack::{ATTACKS, Knowledge, attack as attack_named};
use vpass_workload::phases::{PhasesConfig, PhasesFile};

use self::args::AttackArgs;
use crate::args::Base;
use crate::exit::Exit;
use crate::out_file::OutFile;
use crate::progress::deaf;
use vpass_lab::plain;

/// Runs one of the listed attacks (`vpass list attacks`).
pub(crate) fn attack(args: &AttackArgs) -> Result<Exit, Failure> {
    if args.name == ADAPTIVE {
        return adaptive(args);
    }
    if args.force && args.write.is_none() {
        return Err(Failure::usage("--force is for --write"));
    }
    let names = ATTACKS.iter().map(|a| a.name).chain([ADAPTIVE]);
    let unknown = || Failure::usage(suggest::unknown("attack", &args.name, names));
    let attack = attack_named(&args.name).ok_or_else(unknown)?;
    let victim = Victim::new(args)?;
    let knowledge = victim.knowledge(args.base.gear, args.base.seed)?;
    let phase = (attack.phases)(&knowledge);
    if phase.is_empty() {
        let sentence = format!(
            "attack {} finds nothing to read on drive {}; the attack needs adjacent wordlines with \
             data",
            attack.name, victim.drive.name
        );
        return Err(Failure::usage(sentence));
    }
    let workload = PhasesConfig {
        requests: args.requests.map(Into::into),
        queue_depth: args.base.queue_depth,
        rate: args.rate,
        phase,
        ..PhasesConfig::default()
    };
    let file = PhasesFile {
        description: format!("attack {}: {}", attack.name, attack.summary),
        workload,
        hints: Table::new(),
    };
    if let Some(place) = &args.write {
        write(OutFile::begin(place, args.force)?, place, &file, &victim.command(&args.base))?;
    }
    let plan = victim.plan(&args.base, attack.name, file)?;
    plan.require_no_acceleration()?;
    crate::out::say_all(&plan.promise_notes());
    crate::run_and_show(&plan, &args.base, "attack")
}

/// Summary of the adaptive attack for `vpass list attacks`. This attack chooses its requests during
/// the run.
pub(crate) const ADAPTIVE_SUMMARY: &str = "inspects the drive after every 4 to 100 requests, then \
    reads beside wordlines that are near their limit, and beside wordlines about which the \
    technique knows little";
/// Default number of requests of the adaptive attack.
const ADAPTIVE_REQUESTS: u64 = 100_000;

/// Runs the adaptive attack.
fn adaptive(args: &AttackArgs) -> Result<Exit, Failure> {
    if args.write.is_some() || args.force {
        let sentence = "--write and --force: attack adaptive chooses its requests during the run, \
            so vpass cannot write them into a file; the same --seed repeats the requests";
        return Err(Failure::usage(sentence));
    }
    if args.base.oracle == Watch::Off {
        return Err(Failure::usage(
            "--oracle off: attack adaptive takes the dose of each wordline from the oracle; \
             --oracle on is expected",
        ));
    }
    let victim = Victim::new(args)?;
    // `knowledge` returns an error if the drive has no data to attack.
    victim.knowledge(args.base.gear, args.base.seed)?;
    let workload = Workload::Adversary {
        requests: args.requests.map_or(ADAPTIVE_REQUESTS, Into::into),
        depth: args.base.queue_depth.unwrap_or(1),
        rate: args.rate,
    };
    let plan = victim.against(&args.base, workload)?;
    plan.require_no_acceleration()?;
    crate::out::say_all(&plan.promise_notes());
    crate::run_and_show(&plan, &args.base, "attack")
}

/// Drive under attack, with its reclaim, GC, refresh and parity techniques.
struct Victim {
    drive: Loaded<DriveConfig>,
    reclaim: &'static Technique,
    gc: &'static GcTechnique,
    refresh: &'static RefreshTechnique,
    parity: &'static ParityTechnique,
    hints: Option<PathBuf>,
}

impl Victim {
    /// Loads the drive, and looks up its techniques by name.
    fn new(args: &AttackArgs) -> Result<Self, Failure> {
        let (base, techniques) = (&args.base, &args.techniques);
        if base.gear == Gear::Fluid {
            return Err(Failure::usage(
                "--gear fluid draws reads in bulk, but an attack chooses each read; use --gear \
                 untimed",
            ));
        }
        let sets = load::overrides(&base.set)?;
        if let Some(set) = sets.iter().find(|s| s.is_of_workload()) {
            return Err(Failure::usage("an attack makes its own workload")
                .at(set.said.clone())
                .with_remedy("use --requests and --queue-depth"));
        }
        let refresh = techniques.refresh.as_deref().map(refresh_named).transpose()?;
        let mut drive = load::drive(&base.drive, &sets)?;
        let parity = parity_named(&techniques.parity)?;
        let (config, refresh) = with_parts(drive.config, parity, refresh);
        drive.config = config;
        let has_clock = base.gear == Gear::Timed || args.rate.is_some();
        if drive.config.keeps_time() && !has_clock {
            let what = if *refresh == *NO_REFRESH {
                "start.age".into()
            } else {
                format!("--refresh {refresh}")
            };
            return Err(Failure::usage(format!(
                "{what} needs a clock, but the requests of an attack have no times: give the \
                 requests per second with --rate N, or use --gear timed"
            )));
        }
        let hints = Some(args.hints.clone()).filter(|file| file.as_os_str() != "off");
        if let Some(file) = &hints {
            drive.config.hints.said =
                Some(HintFile::read(file)?.ranges(None, &[], drive.config.drive.capacity)?);
            hints::check(&drive.config)
                .map_err(|e| Failure::usage(phrase!["drive ", drive.name.clone(), ": ", e]))?;
        }
        Ok(Self {
            hints,
            drive,
            reclaim: reclaim_named(&techniques.reclaim)?,
            gc: gc_named(&techniques.gc)?,
            refresh,
            parity,
        })
    }

    /// Returns the attacker's knowledge of the drive at the start of the run.
    fn knowledge(&self, gear: Gear, seed: u64) -> Result<Knowledge, Failure> {
        memory::require_drive(&self.drive, self.reclaim)?;
        let techniques = Techniques {
            reclaim: self.reclaim,
            gc: self.gc,
            refresh: self.refresh,
            parity: self.parity,
            seed,
        };
        let config = &self.drive.config;
        let beginning = Beginning {
            config,
            techniques: &techniques,
            timed: gear == Gear::Timed,
            oracle: None,
            seed,
        };
        let session = deaf(|| Session::new(&beginning))?;
        Knowledge::of(session.drive(), self.reclaim.name).ok_or_else(|| {
            let sentence = "there is nothing to attack: the drive must hold data (start.fill above \
                0), and reads must disturb this data (disturb.model other than none)";
            Failure::usage(format!("drive {}: {sentence}", self.drive.name))
        })
    }

    /// Plans a run of this workload file on the drive.
    fn plan(&self, base: &Base, name: &str, file: PhasesFile) -> Result<RunPlan, Failure> {
        let loaded = Loaded {
            name: format!("attack {name}"),
            text: String::new(),
            config: Generated::Phases(file),
        };
        self.against(base, Workload::Generated(loaded))
    }

    fn against(&self, base: &Base, workload: Workload) -> Result<RunPlan, Failure> {
        let plan = RunPlan::once(&base.into(), self.drive.clone(), workload, self.reclaim, self.gc);
        plan.with(Cards {
            reclaim: self.reclaim,
            gc: self.gc,
            refresh: Some(self.refresh),
            parity: self.parity,
        })
    }

    /// Returns the command that replays a workload file against the drive. The caller appends the
    /// name of the file to the command.
    fn command(&self, base: &Base) -> String {
        let mut text = format!(
            "vpass run --drive {} --reclaim {} --gc {}",
            self.drive.name, self.reclaim, self.gc
        );
        if *self.refresh != *NO_REFRESH {
            let _ = write!(text, " --refresh {}", self.refresh);
        }
        if *self.parity != *NO_PARITY {
            let _ = write!(text, " --parity {}", self.parity);
        }
        if let Some(hints) = &self.hints {
            let _ = write!(text, " --hints {}", hints.display());
        }
        let _ = write!(text, " --gear {} --seed {}", base.gear.name(), base.seed);
        for set in &base.set {
            let _ = write!(text, " --set '{set}'");
        }
        text
    }
}

/// Writes a workload file. The first lines of the file hold the command that replays the workload.
fn write(out: OutFile, place: &Path, file: &PhasesFile, command: &str) -> Result<(), Failure> {
    let body = toml::to_string(file).map_err(|e| Failure::failed(e.to_string()))?;
    let head = "This attack works only if every page lies in the same place as when vpass wrote \
        this file. The drive, the seed and the gear in the next line ensure this. Replay the \
        attack with:";
    // A TOML comment must fit in one line.
    let command = plain::line(command);
    let text = format!("# {head}\n# {command} --workload {}\n\n{body}", plain::path(place));
    out.finish_with(&text)
}
