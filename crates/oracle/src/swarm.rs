//! Random drives under random workloads, watched by the oracle. A case is one number: the same number, build and
//! configuration give the same case, so a failure is replayed by its number.
//!
//! **Checked** everything the oracle checks; that a correct policy loses nothing wherever its promise holds, up to the border of that; that
//! settings under which it does not hold are refused without a run; that the content agrees with a naive reference drive; that every
//! request is served. **Not checked** that figures are right: closed forms do that.
//!
//! Techniques, gears, schedules, cells, error models and the like are dealt from decks (`deck`), so that each has its share; the rest is
//! drawn. An adversary (`crate::adversary`) makes the requests of a quarter of the cases, a random stream those of the others; drives without
//! reclaim are mostly besieged. In a quarter of the cases a part of the stream is a warm-up, before the measured phase.
//! Each case leaves a random part of the choices out and weighs the rest wildly (swarm testing, Groce et al., ISSTA 2012).

mod ageing;
mod border;
mod deck;
mod draw;
mod hinted;
mod params;
mod referee;
mod restless;
mod start;
mod stream;
mod tired;
mod witness;

use vpass_core::base::request::Request;
use vpass_core::bugs::{Bug, Finder};
use vpass_core::config::{DisturbModel, DriveConfig, ErrorLaw};
use vpass_core::drive::{Drive, Techniques};
use vpass_core::slots::card::Protection;
use vpass_core::slots::gc::GC;
use vpass_core::slots::reclaim::{CHECK_INTERVAL, OWN_AGE, RECLAIM, Technique};
use vpass_core::slots::refresh::{self, NO_REFRESH};
use vpass_core::time::{Replay, RunError, run_untimed, warm_up};

use self::ageing::Ages;
use self::deck::Decks;
use self::referee::{Referee, Verdict};
use self::restless::Restless;
use self::stream::{GROUP_OF, Stream, mirror};
use self::witness::Witness;
use crate::adversary::{Adversary, Coming, Siege};
use crate::dice::Dice;
use crate::fullness::Sight;
use crate::hearsay::Ear;
use crate::promises::{Answers, Knows};
use crate::{Oracle, OracleReport, ReferenceDrive};

/// Cards of each technique in the deck: one that may lose data, one that must not, and the restless policy.
const SHARES: (usize, usize, usize) = (4, 3, 6);

/// One case in sixteen is played twice: the same number is the same case.
const AGAIN: [bool; 16] = [true, false, false, false, false, false, false, false, false, false, false, false, false, false, false, false];

/// How many cases without reclaim are besieged, and how many of those have whole limits, which doses can meet to the last.
const BESIEGED: [bool; 3] = [true, true, false];
const WHOLE_LIMITS: [bool; 2] = [true, false];

/// Requests of a siege for each of a stream: it does one thing after the other, and nothing at random between.
const SIEGE: u64 = 3;

/// Requests of a warm-up, of all.
const WARM_UP: (u64, u64) = (1, 4);

/// Who makes the requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    Stream,
    Adversary,
    Siege,
}

impl Host {
    /// That of a case under a technique, if any is named.
    fn of(decks: &Decks, technique: Option<&Technique>, config: &DriveConfig, is_tired: bool) -> Self {
        // A siege goes by limits that neither age nor retries move.
        let helpless =
            technique.is_some_and(|technique| technique.name == "none") && config.disturb.model != DisturbModel::None && !is_tired;
        match decks.pick("adversary", &[false, false, false, true]) {
            true => Self::Adversary,
            false if helpless && decks.pick("siege", &BESIEGED) => Self::Siege,
            false => Self::Stream,
        }
    }
}

/// Under what name results count cases of the policy that does at random whatever a policy may.
pub const RESTLESS: &str = "(at random)";

/// What a clean case did.
#[derive(Clone, Debug)]
pub struct CaseSummary {
    /// The case in a line.
    pub what: String,
    /// Its technique, or [`RESTLESS`].
    pub technique: &'static str,
    /// Whether an adversary made its requests.
    pub adversary: bool,
    /// Requests served.
    pub requests: u64,
    /// The verdict; none where the drive was refused, rightly.
    pub report: Option<OracleReport>,
}

/// A case: its number, and what of it is not left to the number.
#[derive(Clone, Copy)]
pub struct Case {
    seed: u64,
    technique: Option<&'static Technique>,
    bug: Option<Bug>,
}

/// Runs one case.
///
/// # Errors
/// What went wrong, in sentences.
pub fn run_case(seed: u64) -> Result<CaseSummary, String> {
    Case::new(seed).run()
}

/// Runs one case on a drive with a bug.
///
/// # Errors
/// How the bug was found.
#[cfg(feature = "seeded-bugs")]
pub fn run_case_with(seed: u64, bug: Bug) -> Result<CaseSummary, String> {
    Case::new(seed).with(bug).run()
}

impl Case {
    /// The case of this number.
    pub fn new(seed: u64) -> Self {
        Self { seed, technique: None, bug: None }
    }

    /// A case of this technique: one of its battery.
    #[must_use]
    pub fn under(self, technique: &'static Technique) -> Self {
        Self { technique: Some(technique), ..self }
    }

    /// The same on a drive with a bug.
    #[cfg(feature = "seeded-bugs")]
    #[must_use]
    pub fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    /// Whether data ages in the case of this number, unless its policy is the restless one.
    pub fn ages(self) -> bool {
        ageing::ages(&Decks { case: self.seed })
    }

    /// Whether reads begin with the level that worked last in the case of this number, where they take retries.
    pub fn keeps_levels(self) -> bool {
        tired::keeps_levels(&Decks { case: self.seed })
    }

    /// Whether retries are drawn in it, where data has error rates.
    pub fn is_noisy(self) -> bool {
        tired::is_noisy(&Decks { case: self.seed })
    }

    /// Runs it.
    ///
    /// # Errors
    /// What went wrong, in sentences.
    pub fn run(self) -> Result<CaseSummary, String> {
        let decks = Decks { case: self.seed };
        let mut dice = Dice::new(self.seed);
        let timed = decks.pick("gear", &[false, true]);
        let named = self.technique.or_else(|| decks.pick("technique", &techniques()));
        // Under the restless policy the technique named only says what the drive may begin with.
        let restless = named.is_none();
        let technique = named.unwrap_or_else(|| vpass_core::slots::reclaim::technique("block").expect("it is in the list"));
        let cleaning: Vec<&str> = GC.iter().map(|t| t.name).collect();
        let mut techniques =
            Techniques { reclaim: technique.name.into(), gc: decks.pick("gc", &cleaning).into(), seed: self.seed, ..Techniques::default() };
        let mut config = draw::random_config(&decks, &mut dice, restless || technique.keeps_apart, restless)
            .resolve()
            .map_err(|e| format!("the random configuration does not resolve: {e}"))?;
        if !restless {
            border::sometimes_at_the_border(&decks, &mut dice, &mut config, technique, timed);
        }
        let ages = Ages::draw(&decks, &mut config, timed, restless || technique.lowers_density);
        techniques.refresh = ages.map_or(NO_REFRESH, |ages| ages.refresh).into();
        config = refresh::drive(config, &techniques.refresh);
        let is_tired = !restless && tired::draw(&decks, &mut config, technique, timed);
        // It is in no deck: other cases stay what they are.
        let observes = is_tired && self.technique.is_none() && config.ecc.levels() > 1 && decks.pick("observes", &OBSERVES);
        let (named, technique) = match vpass_core::slots::reclaim::technique("observed-retries").filter(|_| observes) {
            None => (named, technique),
            Some(observing) => (Some(observing), observing),
        };
        techniques.reclaim = technique.name.into();
        if is_tired {
            config = hinted::draw(&decks, config, technique.keeps_apart).map_err(|e| format!("hints: {e}"))?;
            // What was added for the hints is refreshed as well.
            if let Some(ages) = ages {
                ages.leave_time(&mut config);
            }
        }
        let host = Host::of(&decks, named, &config, is_tired);
        if host == Host::Siege && decks.pick("whole limits", &WHOLE_LIMITS) {
            config.disturb.table.iter_mut().for_each(|row| {
                row.limit.iter_mut().chain(&mut row.alpha).for_each(|number| *number = number.ceil());
            });
        }
        config.start.reads = draw::random_start_reads(&mut dice, &config, &techniques, timed);
        let name = if restless { RESTLESS } else { technique.name };
        let what = describe(&config, name, &techniques.gc, timed, host, ages);
        let adversary = host != Host::Stream;
        let summary = |what: String, requests, report| CaseSummary { what, technique: name, adversary, requests, report };
        if !restless && let Some(said) = border::refusal(&config, technique, &techniques, timed).map_err(|e| format!("{what}: {e}"))? {
            return Ok(summary(format!("{what}: {said}"), 0, None));
        }
        let computed = decks.pick("computed", &[false, true]);
        let warms_up = decks.pick("warm-up", &[false, false, false, true]);
        let longest = decks.pick("longest", &[5, 5, 5, 5, 5, 5, 5, 80]);
        let lives = decks.pick("length", &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10]);
        let play = || {
            let play = Play {
                config: config.clone(),
                techniques: &techniques,
                technique: named,
                timed,
                host,
                computed,
                warms_up,
                longest,
                ages,
                bug: self.bug,
            };
            play.run(dice.clone(), lives)
        };
        let again = lives == 1 && decks.pick("again", &AGAIN);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let played = play()?;
            let same = !again || play()?.end == played.end;
            if same { Ok(played) } else { Err("the same case, played again, ends in another state".to_owned()) }
        }));
        let played = match outcome {
            Ok(Ok(played)) => played,
            Ok(Err(e)) => return Err(format!("{what}: {e}")),
            Err(panic) => return Err(format!("{what}: the drive stopped: {}", panic_text(panic.as_ref()))),
        };
        judge(&played, restless || !technique.may_lose()).map_err(|e| format!("{what}: {e}"))?;
        Ok(summary(what, played.requests, Some(played.report)))
    }
}

/// One case in four of those with retries is under the technique that goes by them.
const OBSERVES: [bool; 4] = [true, false, false, false];

/// Whether each answer of a technique must keep its promise: one that trusts to chance keeps it all but always.
fn keeps_promises(technique: &Technique) -> bool {
    technique.protects == Protection::Sound && technique.params.iter().all(|param| param.key != "probability")
}

/// The deck of techniques; none stands for the restless policy.
fn techniques() -> Vec<Option<&'static Technique>> {
    let (may_lose, safe, restless) = SHARES;
    let cards =
        RECLAIM.iter().filter(|t| !t.needs.retries).flat_map(|t| std::iter::repeat_n(Some(t), if t.may_lose() { may_lose } else { safe }));
    cards.chain(std::iter::repeat_n(None, restless)).collect()
}

/// What a run came to.
struct Played {
    /// All that must be the same when it is run again.
    end: String,
    requests: u64,
    report: OracleReport,
    /// Pages lost, before and in the measured phase.
    lost: u64,
    /// Whether nothing was to be lost at the P/E counts that the drive came to.
    promised: bool,
}

fn judge(Played { report, lost, promised, .. }: &Played, safe: bool) -> Result<(), String> {
    if report.is_bug() {
        return Err(report.findings.join("; "));
    }
    if safe && *promised && *lost > 0 {
        return Err(format!("a correct policy lost {lost} pages"));
    }
    Ok(())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

/// A case about to be run.
struct Play<'a> {
    config: DriveConfig,
    techniques: &'a Techniques,
    /// None where the policy is the restless one.
    technique: Option<&'static Technique>,
    timed: bool,
    host: Host,
    /// Whether a steady state at the start is computed, as that of large drives is.
    computed: bool,
    warms_up: bool,
    /// Pages of a stream's longest requests.
    longest: u64,
    /// Where data ages.
    ages: Option<Ages>,
    bug: Option<Bug>,
}

impl Play<'_> {
    fn run(self, mut dice: Dice, lives: u64) -> Result<Played, String> {
        let (seed, timed) = (dice.next(), self.timed);
        let verdict = Verdict::default();
        let mut drive = self.drive(seed, &verdict).map_err(|e| e.to_string())?;
        let computed = self.computed && drive.config().start.overwrite >= 1.0;
        if computed {
            drive.precondition_computed(seed);
        } else {
            drive.precondition(seed);
        }
        start::check_content(&mut drive, computed)?;
        drive.begin_measurement();
        start::check_counts(&drive)?;
        let mut reference = ReferenceDrive::new();
        for row in drive.map_rows() {
            reference.write(row.lpn);
        }
        let keeps_apart = self.technique.is_none_or(|t| t.keeps_apart);
        let mut source = Stream::new(&mut dice, &drive, reference, keeps_apart, self.longest);
        source.left *= lives;
        let asked = source.left;
        if let Some(ages) = self.ages {
            source.go_by_a_clock(ages.gap(asked));
        }
        let (warmed, lost_before) = if self.warms_up { warmed_up(&mut drive, &mut source)? } else { (0, (0, 0)) };
        let mut engine = timed.then(|| Replay::new(&drive));
        if let Some(engine) = &mut engine {
            engine.count_groups(&GROUP_OF);
        }
        let served = self.serve(&mut dice, &mut drive, engine.as_mut(), &mut source).map_err(|e| format!("{e:?}"))?;
        let requests = warmed + served;
        // A siege ends with what it has begun.
        if requests != asked && !(self.host == Host::Siege && requests > asked) {
            return Err(format!("{requests} of {asked} requests were served"));
        }
        if let Some(fault) = referee::fault(&verdict) {
            return Err(fault);
        }
        drive.report_unread_losses();
        let oracle: Box<dyn std::any::Any> = drive.end_observation().expect("the oracle watched");
        let mut oracle = oracle.downcast::<Oracle>().expect("the watcher is the oracle");
        oracle.check_doses(&drive);
        oracle.check_counters(&drive);
        let all_lost = lost_before.0 + drive.lost_pages();
        // Nobody promises to keep data that is older than it may become.
        let lost = all_lost - lost_before.1 - drive.lost_by_age();
        if all_lost == 0 {
            compare(&drive, &source.reference)?;
        }
        let promised = self.technique.is_none_or(|technique| border::promised(&drive, technique, timed));
        let end = end(&drive, engine.as_ref());
        if let Some(broken) = oracle.broken_promise().filter(|_| promised) {
            return Err(broken.to_owned());
        }
        Ok(Played { end, requests, report: oracle.conclude(&drive), lost, promised })
    }

    /// What is left of the stream's requests, or as many of another host's.
    fn serve(&self, dice: &mut Dice, drive: &mut Drive, engine: Option<&mut Replay>, source: &mut Stream) -> Result<u64, RunError> {
        let left = source.left;
        if self.host == Host::Stream {
            return match engine {
                Some(engine) => engine.run(drive, source, &mut |_, _| true),
                None => run_untimed(drive, source, &mut |_, _| true),
            };
        }
        let (seed, depth) = (dice.next(), dice.pick(&[1, 4, 32]));
        let page = u64::from(drive.geometry().page_bytes);
        let mut heard = |burst: &[Request]| burst.iter().for_each(|r| mirror(&mut source.reference, r, page));
        let gap = self.ages.map(|ages| ages.gap(left));
        if self.host == Host::Siege {
            let coming = gap.map_or(Coming::Outstanding(depth), |gap| Coming::ByClock { gap, at: 0 });
            return Siege::new(seed, coming).lay(drive, engine, SIEGE * left, &mut heard);
        }
        let mut adversary = Adversary::new(seed, depth);
        if let Some(gap) = gap {
            adversary = adversary.by_a_clock(gap);
        }
        adversary.attack(drive, engine, left, &mut heard, &mut |_, _| true)
    }

    /// The drive, watched by an oracle, with its bug.
    fn drive(&self, seed: u64, verdict: &Verdict) -> Result<Drive, vpass_core::config::ConfigError> {
        let (config, gc) = (self.config.clone(), &self.techniques.gc);
        let mut drive = match self.technique {
            None => Drive::with_policy(config, Box::new(Restless::new(seed)), self.techniques, self.timed)?,
            Some(_) => Drive::new(config, self.techniques, self.timed)?,
        };
        let mut oracle = Oracle::new(drive.geometry(), drive.config());
        oracle.expect_refresh(drive.config(), &self.techniques.refresh, self.techniques.seed, self.timed);
        // Blocks that hold a few pages, or are written again within themselves, look fuller to GC than they are.
        if !self.timed && self.technique.is_some_and(|technique| !technique.keeps_apart) {
            oracle.expect_cleaning(gc);
        }
        // What distorts bounds must show by what it does.
        let ear = self.bug.is_none_or(|bug| bug.finder() == Finder::Check).then(Ear::default);
        if let Some(ear) = &ear {
            oracle.overhear(ear, drive.config(), self.timed);
        }
        if self.technique.is_some() {
            oracle.expect_low_density(drive.config());
        }
        if self.technique.is_some_and(keeps_promises) {
            oracle.expect_budgets(drive.config());
        }
        // Of retries, which deposit more, a technique keeps a reserve that the worst host is not held against.
        let has_rates = drive.config().error.model != ErrorLaw::None;
        let answers = self
            .technique
            .filter(|technique| !has_rates && !self.timed && keeps_promises(technique))
            .map(|technique| (Answers::default(), technique));
        if let Some((answers, technique)) = &answers {
            let merges_wordlines = technique.lowers_density && !technique.keeps_apart;
            let interval = merges_wordlines.then(|| CHECK_INTERVAL.value(&drive.config().reclaim.params, technique.name) as u32);
            let knows = Knows { counts_blocks: technique.params.iter().all(|param| *param == OWN_AGE), interval };
            oracle.hold_to_promise(answers, drive.config(), self.timed, knows);
        }
        let watched = drive.config().clone();
        drive.interpose(|policy| {
            if ear.is_some() {
                oracle.knows_streams(policy.streams(), self.timed);
            }
            if policy.follows_age() {
                oracle.expect_follows_age(&watched, self.timed);
            }
            Box::new(Witness::of(policy, ear.as_ref(), answers.as_ref().map(|(answers, _)| answers)))
        });
        oracle.expect_groups(&GROUP_OF);
        let sight = Sight::default();
        oracle.looks_at(&sight);
        drive.interpose_gc(|policy| Box::new(Referee::of(policy, gc, &watched, verdict, &sight)));
        drive.observe(Box::new(oracle));
        #[cfg(feature = "seeded-bugs")]
        if let Some(bug) = self.bug {
            drive.seed_bug(bug);
        }
        Ok(drive)
    }
}

/// Serves a part of a stream in no time, and begins to count anew: the requests, the pages lost, and those of them that were by age.
fn warmed_up(drive: &mut Drive, source: &mut Stream) -> Result<(u64, (u64, u64)), String> {
    let after = source.left - source.left * WARM_UP.0 / WARM_UP.1;
    source.left -= after;
    let served = warm_up(drive, source, &mut |_, _| true).map_err(|e| format!("{e:?}"))?;
    source.left = after;
    if drive.keeps_time() {
        drive.restart_clock();
        source.restart_clock();
    }
    let lost = (drive.lost_pages(), drive.lost_by_age());
    drive.begin_measurement();
    start::check_counts(drive)?;
    Ok((served, lost))
}

/// Where everything lies, how worn it is, what was counted, and when the last request was complete.
fn end(drive: &Drive, engine: Option<&Replay>) -> String {
    let map = drive.map_rows().fold(0u64, |sum, row| sum.rotate_left(5).wrapping_mul(31) ^ u64::from(row.ppn) << 20 ^ u64::from(row.lpn));
    let worn: u64 = drive.block_states().map(|row| row.effective_milli).fold(0, |sum, milli| sum.rotate_left(7) ^ milli);
    let counts = (drive.host_counts(), drive.flash_counts(), drive.reclaim_counts(), drive.refresh_counts(), drive.technique_counts());
    format!(
        "{map} {worn} {counts:?} {} {} {:?}",
        drive.oldest_age(),
        drive.lost_pages(),
        engine.map(|e| (e.last_completion(), e.metrics().read.total_ns()))
    )
}

/// Every page that the reference drive holds, and no other, is mapped.
fn compare(drive: &Drive, reference: &ReferenceDrive) -> Result<(), String> {
    let mut held = 0;
    for row in drive.map_rows() {
        held += 1;
        if reference.read(row.lpn).is_none() {
            return Err(format!("the drive holds lpn {}, which the reference drive does not", row.lpn));
        }
    }
    if held == reference.mapped_pages() {
        Ok(())
    } else {
        Err(format!("the drive holds {held} pages, the reference drive {}", reference.mapped_pages()))
    }
}

fn describe(config: &DriveConfig, reclaim: &str, gc: &str, timed: bool, host: Host, ages: Option<Ages>) -> String {
    let retries = config.ecc.levels().saturating_sub(1);
    let hinted = if config.hints.said.is_some() { ", hints" } else { "" };
    let g = &config.geometry;
    format!(
        "{} dies of {} blocks of {} pages, {:?}, {}, {}, {}, {}{}{}{}",
        g.channels * g.dies_per_channel,
        g.blocks_per_plane.unwrap_or(0) * g.planes_per_die,
        g.pages_per_block(),
        config.disturb.model,
        reclaim,
        gc,
        if timed { "timed" } else { "untimed" },
        config.reclaim.schedule,
        match host {
            Host::Stream => "",
            Host::Adversary => ", under an adversary",
            Host::Siege => ", besieged",
        },
        ages.map_or_else(String::new, |ages| format!(", refresh {} within {}", ages.refresh, config.refresh.period)),
        if config.error.model == ErrorLaw::None { String::new() } else { format!(", error rates, {retries} retries{hinted}") },
    )
}
