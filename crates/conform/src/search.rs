//! Search for requests that make a reclaim technique lose data. The search begins with the attacks
//! of `vpass attack` and with random attacks. Then it varies the best attacks found so far. Each
//! trial of an attack is an untimed run that the oracle checks.
//!
//! One random stream makes all attacks of a round. The trials of a round then run on all cores. So
//! `--rounds` gives the same result on any number of cores.

use std::fs;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use vpass_drive::api::reclaim::Technique;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;
use vpass_lab::failure::Failure;
use vpass_lab::load::{self, Generated, Loaded};
use vpass_lab::plan::{RunPlan, Workload, reclaim_named};
use vpass_lab::progress::Unwatched;
use vpass_lab::run;
use vpass_lab::session::{Beginning, Session};
use vpass_lab::setup::{Base, Gear};
use vpass_techniques::usual;
use vpass_workload::attack::Knowledge;
use vpass_workload::phases::{PhaseConfig, PhasesConfig, PhasesFile};

use crate::breed::Breeder;

/// Options of a search.
#[derive(clap::Args)]
pub(crate) struct SearchArgs {
    /// Drive: a preset or a TOML file.
    #[arg(long)]
    drive: String,
    /// Values of keys of the drive.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Reclaim technique to attack.
    #[arg(long, default_value = "block")]
    reclaim: String,
    /// Random seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Rounds of eight trials.
    #[arg(long, default_value = "3")]
    rounds: NonZeroU64,
    /// Minutes of the search, instead of rounds.
    #[arg(long, conflicts_with = "rounds")]
    minutes: Option<u32>,
    /// Workload file for the best attack. `vpass run` replays it.
    #[arg(long, value_name = "FILE")]
    write: PathBuf,
}

/// Number of trials in a round.
const TRIALS: usize = 8;
/// Rank of the attack that each trial of a round varies; 0 is the best attack so far. `None` stands
/// for a new random attack.
const PARENTS: [Option<usize>; TRIALS] =
    [None, Some(0), Some(0), Some(0), Some(1), Some(2), Some(3), Some(5)];
/// Number of best attacks that the search keeps and varies.
const KEPT: usize = 6;

/// Attack, with the result of its trial.
struct Tried {
    phases: Vec<PhaseConfig>,
    /// Number of lost pages and of uncorrectable reads, plus the worst ratio of a page's dose to
    /// the page's limit. Infinite for a bug of the drive.
    score: f64,
    has_lost_data: bool,
}

/// Searches for an attack and writes it to a file. Returns a sentence, and an exit code.
pub(crate) fn search(args: &SearchArgs) -> Result<(String, u8), Failure> {
    let victim = Victim::new(&args.drive, &args.set, &args.reclaim, args.seed)?;
    let mut breeder = Breeder::new(victim.knowledge()?, args.seed);
    let requests = breeder.requests();
    let end = args.minutes.map(|m| Instant::now() + Duration::from_secs(60 * u64::from(m)));
    let (mut best, mut next, mut trials) = (Vec::<Tried>::new(), breeder.known(), 0);
    for round in 1.. {
        while next.len() < TRIALS {
            let parent = PARENTS
                .get(next.len())
                .and_then(|rank| best.get((*rank)?.min(best.len().checked_sub(1)?)));
            next.push(match parent {
                Some(parent) => breeder.changed(&parent.phases),
                None => breeder.random(),
            });
        }
        let trial = |phases| victim.trial(phases, requests);
        let tried: Result<Vec<_>, _> = next.par_drain(..).with_max_len(1).map(trial).collect();
        for tried in tried? {
            trials += 1;
            // Of attacks with equal scores, the one that was found first has the highest rank.
            best.insert(best.partition_point(|b| b.score >= tried.score), tried);
        }
        best.truncate(KEPT);
        let is_over = end.map_or(round >= args.rounds.get(), |end| Instant::now() >= end);
        if is_over || best[0].score.is_infinite() || best[0].has_lost_data {
            break;
        }
    }
    let best = best.swap_remove(0);
    victim.write(&file_of(best.phases, requests), args)?;
    let (what, code) = match () {
        () if best.score.is_infinite() => ("a trial shows a bug of the drive".into(), 1),
        () if best.has_lost_data => ("a trial lost data".into(), 3),
        () => {
            let share = 100.0 * best.score;
            (format!("the best trial brought a page with data to {share:.2} % of its limit"), 0)
        }
    };
    Ok((format!("{}: {trials} trials; {what}: {}", args.reclaim, args.write.display()), code))
}

fn file_of(phase: Vec<PhaseConfig>, requests: u64) -> PhasesFile {
    PhasesFile {
        description: "found by a search for lost data".into(),
        workload: PhasesConfig { requests: Some(requests), phase, ..PhasesConfig::default() },
        hints: toml::Table::new(),
    }
}

/// Drive under attack, with its reclaim technique.
pub(crate) struct Victim {
    base: Base,
    drive: Loaded<DriveConfig>,
    reclaim: &'static Technique,
}

impl Victim {
    pub(crate) fn new(
        drive: &str,
        set: &[String],
        reclaim: &str,
        seed: u64,
    ) -> Result<Self, Failure> {
        Ok(Self {
            base: Base { gear: Gear::Untimed, set: set.to_vec(), seed, ..Base::new(drive) },
            drive: load::drive(drive, &load::overrides(set)?)?,
            reclaim: reclaim_named(reclaim)?,
        })
    }

    /// Returns the attacker's knowledge of the drive at the start of a run.
    pub(crate) fn knowledge(&self) -> Result<Knowledge, Failure> {
        let seed = self.base.seed;
        let techniques = Techniques { reclaim: self.reclaim, seed, ..usual() };
        let beginning = Beginning {
            config: &self.drive.config,
            techniques: &techniques,
            timed: false,
            oracle: None,
            seed,
        };
        let nothing = || Failure::usage("there is nothing to attack: no data, or reads harm none");
        Knowledge::of(Session::new(&beginning)?.drive(), self.reclaim.name).ok_or_else(nothing)
    }

    /// Runs one attack and returns its result.
    fn trial(&self, phases: Vec<PhaseConfig>, requests: u64) -> Result<Tried, Failure> {
        let workload = Workload::Generated(Loaded {
            name: "attack".into(),
            text: String::new(),
            config: Generated::Phases(file_of(phases.clone(), requests)),
        });
        let plan =
            RunPlan::once(&self.base, self.drive.clone(), workload, self.reclaim, usual().gc);
        let plan = plan.checked()?;
        // A panic is a bug of the drive.
        let outcome = catch_unwind(AssertUnwindSafe(|| run::execute(&plan, &Unwatched)));
        let Ok(outcome) = outcome else {
            return Ok(Tried { phases, score: f64::INFINITY, has_lost_data: false });
        };
        let outcome = outcome?;
        let summary = &outcome.summary;
        let dose = summary.oracle.as_ref().map_or(0.0, |oracle| oracle.worst_dose_ratio);
        let lost = (summary.data_lost_pages + summary.uncorrectable_reads) as f64;
        let score = if outcome.is_bug() { f64::INFINITY } else { dose + lost };
        Ok(Tried { phases, score, has_lost_data: summary.lost_data() })
    }

    /// Writes the workload file of an attack. Its first line is the command that replays it.
    fn write(&self, file: &PhasesFile, args: &SearchArgs) -> Result<(), Failure> {
        let body = toml::to_string(file).map_err(|e| Failure::failed(e.to_string()))?;
        let set: Vec<String> = args.set.iter().map(|set| format!(" --set '{set}'")).collect();
        let set = set.concat();
        let place = args.write.display();
        let text = format!(
            "# vpass run --drive {} --reclaim {} --gear untimed --seed {}{set} --workload {place}\n\
             \n{body}",
            self.drive.name, self.reclaim, args.seed
        );
        fs::write(&args.write, text).map_err(|e| Failure::usage(format!("{place}: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tempfile::TempDir;
    use vpass_lab::plan::Chosen;
    use vpass_lab::progress::unwatched;
    use vpass_lab::setup::{Named, Setup};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: SearchArgs,
    }

    /// Searches on a worn drive, and returns the sentence, the exit code and the written file.
    fn searched(room: &TempDir, reclaim: &str, rounds: &str) -> (String, u8, String) {
        let place = room.path().join("found.toml");
        let words = ["", "--drive", "tiny", "--set", "start.pec=2000", "--reclaim", reclaim];
        let more = ["--rounds", rounds, "--write", place.to_str().unwrap()];
        let line = Line::parse_from(words.iter().chain(&more));
        let (sentence, code) = search(&line.args).unwrap();
        (sentence, code, fs::read_to_string(place).unwrap())
    }

    #[test]
    fn a_search_finds_what_an_unprotected_drive_loses() {
        let room = TempDir::new().unwrap();
        let (sentence, code, _) = searched(&room, "none", "2");
        assert!(sentence.contains("none: 8 trials; a trial lost data") && code == 3, "{sentence}");
        let base =
            Base { gear: Gear::Untimed, set: vec!["start.pec=2000".into()], ..Base::new("tiny") };
        let file = room.path().join("found.toml").display().to_string();
        let setup = Setup::new(base, Named::Workload(file));
        let chosen = Chosen { reclaim: "none", ..Chosen::default() };
        let plan = RunPlan::new(&setup, chosen, &unwatched).unwrap();
        let replayed = run::execute(&plan, &Unwatched).unwrap();
        assert!(replayed.summary.lost_data(), "the file replays the attack");
    }

    #[test]
    fn a_search_by_rounds_repeats_and_breaks_no_technique_that_protects() {
        let protecting: Vec<_> = vpass_techniques::all()
            .reclaim
            .iter()
            .filter(|technique| !technique.may_lose() && !technique.is_counterfactual())
            .collect();
        assert!(protecting.len() > 10, "{}", protecting.len());
        for technique in protecting {
            let room = TempDir::new().unwrap();
            let found = searched(&room, technique.name, "3");
            assert_eq!(found.1, 0, "{}", found.0);
            assert!(found == searched(&room, technique.name, "3"), "{}", technique.name);
        }
    }
}
