//! `vpass attack search`: searches for requests that make a policy lose data or copy many pages.
//! The search begins with the listed attacks and with random attacks. Then the search varies the
//! best attacks found so far. Each trial of an attack is an untimed run that the oracle checks.
//!
//! One random stream makes all attacks of a round. The trials of a round then run on all cores.
//! Therefore `--rounds` gives the same result on any number of cores.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use rayon::ThreadPool;
use rayon::prelude::*;
use toml::Table;
use vpass_lab::failure::{Failure, Kind};
use vpass_lab::numbers;
use vpass_lab::progress::Progress;
use vpass_lab::results::Summary;
use vpass_lab::{pool, run};
use vpass_workload::attack::Breeder;
use vpass_workload::phases::{PhaseConfig, PhasesConfig, PhasesFile};

use super::args::{AttackArgs, Goal};
use super::{Victim, write};
use crate::args::{Base, Gear, Watch};
use crate::exit::Exit;
use crate::out;
use crate::out_file::OutFile;
use crate::progress::{Bar, keep_what_is_found};

/// Number of trials in a round.
const TRIALS: usize = 8;
/// Rank of the attack that each trial of a round varies; 0 is the best attack so far. `None` stands
/// for a new random attack.
const PARENTS: [Option<usize>; TRIALS] =
    [None, Some(0), Some(0), Some(0), Some(1), Some(2), Some(3), Some(5)];
/// Number of best attacks that the search keeps and varies.
const KEPT: usize = 6;

/// Attack, with the result of its trial.
#[derive(Clone)]
struct Tried {
    phases: Vec<PhaseConfig>,
    score: f64,
    /// Whether this trial ends the search. A bug of the drive ends every search. Lost data ends a
    /// search whose goal is lost data.
    broken: bool,
}

/// Settings that the trials of a search share.
struct Search<'a> {
    victim: &'a Victim,
    base: Base,
    goal: Goal,
    requests: u64,
    coming: (Option<u32>, Option<f64>),
    progress: Bar,
    pool: ThreadPool,
}

/// Searches for an attack, writes it to a file, and runs it once more to show its effect.
pub(crate) fn search(args: &AttackArgs) -> Result<Exit, Failure> {
    let minutes = args.search.minutes;
    if let Some(m) = minutes.filter(|m| !(*m > 0.0 && *m < 1e6)) {
        return Err(Failure::usage(format!("--minutes {m}: must be above 0")));
    }
    let victim = Victim::new(args)?;
    let base = Base { gear: Gear::Untimed, oracle: Watch::On, ..args.base.clone() };
    let place =
        args.write.clone().unwrap_or_else(|| format!("attack-{}.toml", victim.reclaim).into());
    // The file is opened before the search, so that vpass reports an unusable path at once.
    let out = OutFile::begin(&place, args.force)?;
    let breeder = Breeder::new(victim.knowledge(base.gear.into(), base.seed)?, base.seed);
    let requests = args.requests.map_or(breeder.requests(), Into::into);
    let goal = args.search.goal.unwrap_or_default();
    let total = args.search.rounds.map(|rounds| rounds.get() * TRIALS as u64 * requests);
    keep_what_is_found();
    let progress = Bar::new(total, "requests");
    let pool = pool::threads(pool::cores(), &progress)?;
    let coming = (base.queue_depth, args.rate);
    let search = Search { victim: &victim, base, goal, requests, coming, progress, pool };
    let end = match (minutes, args.search.rounds) {
        (_, Some(rounds)) => End::Rounds(rounds.get()),
        (minutes, None) => {
            End::At(Instant::now() + Duration::from_secs_f64(minutes.unwrap_or(1.0) * 60.0))
        }
    };
    let (best, trials) = search.run(breeder, &end)?;
    let interrupted = !search.progress.may_go_on();
    drop(search.progress);
    let file = file_of(
        &best.phases,
        requests,
        search.coming,
        &format!("found by a search for {}", goal.words()),
    );
    write(out, &place, &file, &victim.command(&search.base))?;
    let found = format!("{}; {}", numbers::plural(trials, "trial"), goal.found(&best));
    if interrupted {
        let sentence = format!(
            "interrupted after {found}; the best attack so far is saved in {}",
            place.display()
        );
        return Err(Failure { kind: Kind::Interrupted, ..Failure::usage(sentence) });
    }
    out::say(&format!("vpass: {found}; the best attack is saved in {}", place.display()));
    crate::run_and_show(&victim.plan(&search.base, "search", file)?, &search.base, "attack")
}

/// Limit of a search: a number of rounds, or a moment. A loss or a bug can end the search earlier.
enum End {
    Rounds(u64),
    At(Instant),
}

impl Search<'_> {
    /// Runs the search. Returns the best attack and the number of trials.
    fn run(&self, mut breeder: Breeder, end: &End) -> Result<(Tried, u64), Failure> {
        let mut best: Vec<Tried> = vec![];
        let mut next = breeder.known();
        let (mut rounds, mut trials) = (0, 0);
        loop {
            while next.len() < TRIALS {
                let parent = PARENTS
                    .get(next.len())
                    .and_then(|rank| best.get((*rank)?.min(best.len().checked_sub(1)?)));
                let child = match parent {
                    Some(parent) => breeder.changed(&parent.phases),
                    None => breeder.random(),
                };
                next.push(child);
            }
            let try_all =
                || next.par_drain(..).with_max_len(1).map(|phases| self.trial(phases)).collect();
            let tried: Vec<_> = self.pool.install(try_all);
            for tried in tried {
                match tried {
                    Err(failure) if failure.is_interruption() => {}
                    Err(failure) => return Err(failure),
                    Ok(tried) => {
                        trials += 1;
                        // If attacks have equal scores, the attack that was found first has the
                        // highest rank.
                        let place = best.partition_point(|b| b.score >= tried.score);
                        best.insert(place, tried);
                    }
                }
            }
            best.truncate(KEPT);
            rounds += 1;
            let over = match end {
                End::Rounds(wanted) => rounds >= *wanted,
                End::At(end) => Instant::now() >= *end,
            };
            if over || best.first().is_some_and(|b| b.broken) || !self.progress.may_go_on() {
                let best = best.into_iter().next().ok_or_else(Failure::interrupted)?;
                return Ok((best, trials));
            }
        }
    }

    /// Runs one attack and returns its result.
    fn trial(&self, phases: Vec<PhaseConfig>) -> Result<Tried, Failure> {
        let plan = self.victim.plan(
            &self.base,
            "search",
            file_of(&phases, self.requests, self.coming, ""),
        )?;
        // A panic is a bug of the drive. An attack that causes a panic is the best possible result
        // of a search.
        let outcome = catch_unwind(AssertUnwindSafe(|| run::execute(&plan, &self.progress)));
        let Ok(outcome) = outcome else {
            return Ok(Tried { phases, score: f64::INFINITY, broken: true });
        };
        let outcome = outcome?;
        let bug = outcome.is_bug();
        let broken = bug || self.goal == Goal::Loss && outcome.summary.lost_data();
        Ok(Tried {
            phases,
            score: if bug { f64::INFINITY } else { self.goal.score(&outcome.summary) },
            broken,
        })
    }
}

/// Makes a workload file from the phases of an attack. `coming` holds the queue depth and the
/// request rate.
fn file_of(
    phases: &[PhaseConfig],
    requests: u64,
    coming: (Option<u32>, Option<f64>),
    description: &str,
) -> PhasesFile {
    let (queue_depth, rate) = coming;
    let workload = PhasesConfig {
        requests: Some(requests),
        queue_depth,
        rate,
        phase: phases.to_vec(),
        ..PhasesConfig::default()
    };
    PhasesFile { description: description.into(), workload, hints: Table::new() }
}

impl Goal {
    /// Returns the score of a trial. A higher score is better for the attacker.
    fn score(self, s: &Summary) -> f64 {
        match self {
            // The score is the number of lost pages, plus the number of uncorrectable reads, plus
            // the worst ratio of a page's dose (read disturbance) to the page's limit.
            Self::Loss => {
                s.oracle.as_ref().map_or(0.0, |o| o.worst_dose_ratio)
                    + (s.data_lost_pages + s.uncorrectable_reads) as f64
            }
            Self::Writes => s.reclaim.counts.pages_copied as f64 / s.host.read_pages.max(1) as f64,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Loss => "lost data",
            Self::Writes => "reclaim copies per page read",
        }
    }

    /// Describes the result of the best trial.
    fn found(self, best: &Tried) -> String {
        match self {
            _ if best.score.is_infinite() => "a trial shows a bug of the drive model".into(),
            Self::Loss if best.broken => "a trial lost data".into(),
            Self::Loss => format!(
                "the best trial brought a page that holds data to {:.2} % of its limit",
                100.0 * best.score
            ),
            Self::Writes => {
                format!("the best trial made {:.4} reclaim copies per page read", best.score)
            }
        }
    }
}
