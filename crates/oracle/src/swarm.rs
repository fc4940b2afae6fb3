//! Random drives under random workloads, watched by the oracle. A case is one number: the same
//! number, build and configuration give the same case, so a failure is replayed by its number.
//!
//! **Checked** is everything that the oracle checks; that a correct policy loses nothing wherever
//! its promise holds, up to the border of that; that settings under which it does not hold are
//! refused without a run; that the content agrees with a naive reference drive; that every request
//! is served. **Not checked** is whether figures are right: closed forms do that.
//!
//! Techniques, gears, schedules, cells, error models and the like are drawn in balance
//! (`balanced`), so that each has its share; the rest is drawn. An adversary (`crate::adversary`)
//! makes the requests of a quarter of the cases, a random stream those of the others; drives
//! without reclaim are mostly besieged. In a quarter of the cases a part of the stream is a
//! warm-up, before the measured phase. Each case leaves a random part of the choices out and weighs
//! the rest wildly (swarm testing, Groce et al., ISSTA 2012).

mod ageing;
mod balanced;
pub mod bereft;
mod border;
mod cards;
mod draw;
mod drawing;
mod drawn;
mod hinted;
mod nested;
mod params;
mod play;
mod referee;
mod restless;
mod start;
mod stream;
mod striped;
mod tired;
mod witness;

use vpass_core::base::geometry::Geometry;
use vpass_core::bugs::Bug;
use vpass_core::config::{DisturbModel, DriveConfig, ErrorLaw};
use vpass_core::slots::card::Protection;
use vpass_core::slots::parity::ParityTechnique;
use vpass_core::slots::reclaim::Technique;
use vpass_core::slots::refresh::RefreshTechnique;

use self::ageing::Ages;
use self::balanced::Balanced;
pub use self::cards::Cards;
use self::drawing::Drawn;
pub use self::drawn::Digest;
use self::nested::Within;
use self::play::{Play, Played};
use crate::OracleReport;

/// How many cases without reclaim are besieged.
const BESIEGED: [bool; 3] = [true, true, false];

/// Who makes the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Stream,
    Adversary,
    Siege,
}

impl Host {
    /// That of a case under a technique, if any is named.
    fn of(
        balanced: &Balanced,
        technique: Option<&Technique>,
        config: &DriveConfig,
        is_tired: bool,
    ) -> Self {
        // A siege goes by limits that neither age nor retries move.
        let helpless = technique.is_some_and(|technique| technique.name == "none")
            && config.disturb.model != DisturbModel::None
            && !is_tired;
        match balanced.pick("adversary", &[false, false, false, true]) {
            true => Self::Adversary,
            false if helpless && balanced.pick("siege", &BESIEGED) => Self::Siege,
            false => Self::Stream,
        }
    }
}

/// Under what name results count cases of the policy that does at random whatever a policy may.
pub const RESTLESS: &str = "(at random)";

/// What a clean case did.
#[derive(Clone, Debug, Default)]
pub struct CaseSummary {
    /// The case in a line.
    pub what: String,
    /// Its technique, or [`RESTLESS`].
    pub technique: &'static str,
    /// Its techniques, as they were drawn; none of a case whose techniques are no draw.
    pub cards: Option<Cards>,
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
    parity: Option<&'static ParityTechnique>,
    cards: Option<Cards>,
    /// The refresh technique of all cases whose cells it goes with; none where each draws its own.
    refresh: Option<&'static RefreshTechnique>,
    /// Whether flash fails.
    fails: bool,
    /// Whether an erase counts as several cycles.
    accelerates: bool,
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
        Self {
            seed,
            technique: None,
            parity: None,
            cards: None,
            refresh: None,
            fails: false,
            accelerates: false,
            bug: None,
        }
    }

    /// A case of this technique: one of its battery.
    #[must_use]
    pub fn under(self, technique: &'static Technique) -> Self {
        Self { technique: Some(technique), ..self }
    }

    /// A case of this parity technique: one of its battery. The drive has dies enough for it.
    #[must_use]
    pub fn striped(self, parity: &'static ParityTechnique) -> Self {
        Self { parity: Some(parity), ..self }
    }

    /// A case of this refresh technique: one of its battery. Data ages in it.
    #[must_use]
    pub fn refreshed(self, refresh: &'static RefreshTechnique) -> Self {
        Self { refresh: Some(refresh), ..self }
    }

    /// The same case with these techniques, whatever the lists of techniques have become since it
    /// was recorded.
    #[must_use]
    pub fn with_cards(self, cards: Cards) -> Self {
        Self { cards: Some(cards), ..self }
    }

    /// The same case, in which a die, a plane, a block or a page fails, or two of them.
    #[must_use]
    pub fn failing(self) -> Self {
        Self { fails: true, ..self }
    }

    /// Returns the case on a drive where an erase counts as several P/E cycles.
    #[must_use]
    pub fn accelerated(self) -> Self {
        Self { accelerates: true, ..self }
    }

    /// The same on a drive with a bug.
    #[cfg(feature = "seeded-bugs")]
    #[must_use]
    pub fn with(self, bug: Bug) -> Self {
        Self { bug: Some(bug), ..self }
    }

    /// Whether data ages in the case of this number, unless its policy is the restless one.
    pub fn ages(self) -> bool {
        ageing::ages(&Balanced { case: self.seed })
    }

    /// Whether reads begin with the level that worked last in the case of this number, where they
    /// take retries.
    pub fn keeps_levels(self) -> bool {
        tired::keeps_levels(&Balanced { case: self.seed })
    }

    /// Whether events come one within the other in the case of this number.
    pub fn is_nested(self) -> bool {
        !self.fails && nested::is_nested(&Balanced { case: self.seed })
    }

    /// Whether retries are drawn in it, where data has error rates.
    pub fn is_noisy(self) -> bool {
        tired::is_noisy(&Balanced { case: self.seed })
    }

    /// Digest of the case as it is drawn. Nothing runs.
    pub fn digest(self) -> u64 {
        let digest = Digest::default().text(&format!("{:?}", self.fails));
        digest
            .and(
                self.draw().map_or_else(
                    |said| Digest::default().text(&said).value(),
                    |drawn| drawn.digest(),
                ),
            )
            .value()
    }

    /// Runs it.
    ///
    /// # Errors
    /// What went wrong, in sentences.
    pub fn run(self) -> Result<CaseSummary, String> {
        let Drawn {
            config,
            techniques,
            named,
            technique,
            cards,
            timed,
            host,
            ages,
            computed,
            warms_up,
            longest,
            lives,
            within,
            plays,
            dice,
        } = self.draw()?;
        let Within { is_nested, is_reckless } = within;
        let restless = named.is_none();
        let name = if restless { RESTLESS } else { technique.name };
        let what = describe(&config, name, &techniques.gc, timed, host, ages)
            + if is_nested { ", nested" } else { "" };
        let adversary = host != Host::Stream;
        let summary = |what: String, requests, report| CaseSummary {
            what,
            technique: name,
            cards,
            adversary,
            requests,
            report,
        };
        if !restless
            && let Some(said) = border::refusal(&config, technique, &techniques, timed)
                .map_err(|e| format!("{what}: {e}"))?
        {
            return Ok(summary(format!("{what}: {said}"), 0, None));
        }
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
                within,
                fails: self.fails.then_some(self.seed),
                bug: self.bug,
            };
            play.run(dice.clone(), lives)
        };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let played = play()?;
            let same = plays == 1 || play()?.end == played.end;
            if same {
                Ok(played)
            } else {
                Err("a second run of the same case ends in another state".to_owned())
            }
        }));
        let played = match outcome {
            Ok(Ok(played)) => played,
            Ok(Err(e)) => return Err(format!("{what}: {e}")),
            Err(panic) => {
                return Err(format!("{what}: the drive panicked: {}", panic_text(panic.as_ref())));
            }
        };
        judge(&played, !self.fails && !is_reckless && (restless || !technique.may_lose()))
            .map_err(|e| format!("{what}: {e}"))?;
        Ok(summary(what, played.requests, Some(played.report)))
    }
}

/// Whether each answer of a technique must keep its promise: one that trusts to chance keeps it all
/// but always.
fn keeps_promises(technique: &Technique) -> bool {
    technique.protects == Protection::Sound
        && technique.params.iter().all(|param| param.key != "probability")
}

fn judge(Played { report, lost, promised, .. }: &Played, safe: bool) -> Result<(), String> {
    if report.is_bug() {
        return Err(report.findings.join("; "));
    }
    if safe && *promised && *lost > 0 {
        return Err(format!("a sound technique lost {lost} pages"));
    }
    Ok(())
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}

fn describe(
    config: &DriveConfig,
    reclaim: &str,
    gc: &str,
    timed: bool,
    host: Host,
    ages: Option<Ages>,
) -> String {
    let retries = config.ecc.levels().saturating_sub(1);
    let hinted = if config.hints.said.is_some() { ", hints" } else { "" };
    let g = &config.geometry;
    format!(
        "{} dies of {} blocks of {} pages, {:?}, {}, {}, {}, {}{}{}{}{}",
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
            Host::Adversary => ", with an adversary",
            Host::Siege => ", under siege by an adversary",
        },
        ages.map_or_else(String::new, |ages| format!(
            ", refresh {} within {}",
            ages.refresh, config.refresh.period
        )),
        if config.error.model == ErrorLaw::None {
            String::new()
        } else {
            format!(", error rates, {retries} retries{hinted}")
        },
        Geometry::new(config).stripes.map_or_else(String::new, |stripes| format!(
            ", stripes of {} and parity",
            stripes.members()
        )),
    )
}
