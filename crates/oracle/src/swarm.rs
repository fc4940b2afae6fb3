//! Random drives under random workloads, watched by the oracle. A case is identified by a number.
//! The same number, build and configuration give the same case, so a failed case can be repeated.
//!
//! **Checked:** the swarm uses all checks of the oracle. A correct policy must lose nothing while
//! its guarantee holds, also at the border of it. Settings that break the guarantee must be refused
//! before a run. Every request must be served.
//! **Not checked:** closed forms check that the figures are right.
//!
//! Techniques, gears, schedules, cells and error models come from balanced draws (`balanced`), so
//! each value has its share. All other choices are independent. An adversary (`crate::adversary`)
//! makes the requests of a quarter of the cases, and a random stream those of the others. Most
//! drives without reclaim are besieged. In a quarter of the cases, a part of the stream is a
//! warm-up before the measured phase. Each case leaves out a random part of the choices and gives
//! the others very unequal weights (swarm testing, Groce et al., ISSTA 2012).

mod ageing;
mod balanced;
mod border;
mod cards;
mod draw;
mod drawing;
mod drawn;
mod failing;
mod hinted;
mod nested;
mod params;
mod play;
mod policy_numbers;
mod promises;
mod restless;
mod stream;
mod striped;
mod tired;
mod witness;

use vpass_drive::api::card::Protection;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::{ParityTechnique, has_stripes};
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::{DisturbModel, DriveConfig, ErrorLaw};
use vpass_drive::drive::Techniques;
use vpass_techniques::all;

use self::ageing::Ages;
use self::balanced::Balanced;
pub use self::cards::Cards;
use self::drawing::Drawn;
pub use self::drawn::Digest;
pub use self::failing::failures;
use self::nested::Within;
use self::play::{Play, Played};
use crate::OracleReport;

/// Cases without reclaim that are besieged.
const BESIEGED: [bool; 3] = [true, true, false];

/// Source of the requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Stream,
    Adversary,
    Siege,
}

impl Host {
    /// Returns the source of a case's requests.
    fn of(
        balanced: &Balanced,
        technique: Option<&Technique>,
        config: &DriveConfig,
        is_tired: bool,
    ) -> Self {
        // A siege relies on limits that neither age nor retries change.
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

/// Name in results for cases of the policy that acts at random.
pub const RESTLESS: &str = "(at random)";

/// Result of a case without an error.
#[derive(Clone, Debug, Default)]
pub struct CaseSummary {
    /// Description of the case in a line.
    pub what: String,
    /// Technique of the case, or [`RESTLESS`].
    pub technique: &'static str,
    /// Techniques of the case; `None` if they are not drawn.
    pub cards: Option<Cards>,
    /// Whether an adversary made the requests.
    pub adversary: bool,
    /// Number of requests served.
    pub requests: u64,
    /// Verdict of the oracle; `None` if the drive was rightly refused.
    pub report: Option<OracleReport>,
}

/// A case: its number, and the choices that do not follow from the number.
#[derive(Clone, Copy)]
pub struct Case {
    seed: u64,
    technique: Option<&'static Technique>,
    parity: Option<&'static ParityTechnique>,
    cards: Option<Cards>,
    /// GC policy of each case; `None` if each case draws its own.
    gc: Option<&'static GcTechnique>,
    /// Refresh technique of each case whose cells allow it; `None` if each case draws its own.
    refresh: Option<&'static RefreshTechnique>,
    /// Whether flash fails.
    fails: bool,
    /// Whether an erase counts as several cycles.
    accelerates: bool,
}

/// Runs one case.
///
/// # Errors
/// The errors found, as sentences.
pub fn run_case(seed: u64) -> Result<CaseSummary, String> {
    Case::new(seed).run()
}

impl Case {
    /// Returns the case of this number.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            technique: None,
            parity: None,
            cards: None,
            gc: None,
            refresh: None,
            fails: false,
            accelerates: false,
        }
    }

    /// Returns the case with this technique, as a case of the technique's battery.
    #[must_use]
    pub fn under(self, technique: &'static Technique) -> Self {
        Self { technique: Some(technique), ..self }
    }

    /// Returns the case with this parity technique, as a case of its battery. The drive has enough
    /// dies for the technique.
    #[must_use]
    pub fn striped(self, parity: &'static ParityTechnique) -> Self {
        Self { parity: Some(parity), ..self }
    }

    /// Returns the case with this GC policy. Everything else of the case stays as it is.
    #[must_use]
    pub fn cleaned(self, gc: &'static GcTechnique) -> Self {
        Self { gc: Some(gc), ..self }
    }

    /// Returns the case with this refresh technique, as a case of its battery. Its data ages.
    #[must_use]
    pub fn refreshed(self, refresh: &'static RefreshTechnique) -> Self {
        Self { refresh: Some(refresh), ..self }
    }

    /// Returns the case with these techniques, even if the lists of techniques have changed since
    /// it was recorded.
    #[must_use]
    pub fn with_cards(self, cards: Cards) -> Self {
        Self { cards: Some(cards), ..self }
    }

    /// Returns the case with one or two failures of a die, a plane, a block or a page.
    #[must_use]
    pub fn failing(self) -> Self {
        Self { fails: true, ..self }
    }

    /// Returns the case as [`Self::failing`] does, with a drawn parity technique.
    #[must_use]
    pub fn failing_with_parity(self) -> Self {
        let techniques: Vec<_> = all().parity.iter().collect();
        let parity = Balanced { case: self.seed }.pick("parity of failures", &techniques);
        if has_stripes(parity) { self.striped(parity).failing() } else { self.failing() }
    }

    /// Returns the case on a drive where an erase counts as several P/E cycles.
    #[must_use]
    pub fn accelerated(self) -> Self {
        Self { accelerates: true, ..self }
    }

    /// Returns whether data ages in this case, unless its policy is the random one.
    pub fn ages(self) -> bool {
        ageing::ages(&Balanced { case: self.seed })
    }

    /// Returns whether reads of this case begin at the level that worked last, provided that they
    /// take retries.
    pub fn keeps_levels(self) -> bool {
        tired::keeps_levels(&Balanced { case: self.seed })
    }

    /// Returns whether events of this case begin during other events.
    pub fn is_nested(self) -> bool {
        !self.fails && nested::is_nested(&Balanced { case: self.seed })
    }

    /// Returns whether this case draws its retries, provided that its data has error rates.
    pub fn is_noisy(self) -> bool {
        tired::is_noisy(&Balanced { case: self.seed })
    }

    /// Returns the drive of the case and its techniques, for other checks of the same drives.
    ///
    /// # Errors
    /// Returns an error for a drive that cannot be drawn, or whose reclaim technique is not in the
    /// list.
    pub fn drive(self) -> Result<(DriveConfig, Techniques), String> {
        let drawn = self.draw()?;
        drawn.named.ok_or(RESTLESS)?;
        Ok((drawn.config, drawn.techniques))
    }

    /// Returns the digest of the drawn case, without a run.
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

    /// Runs the case.
    ///
    /// # Errors
    /// The errors found, as sentences.
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
        let what = describe(&config, name, techniques.gc.name, timed, host, ages)
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

/// Returns whether each answer of a technique must keep the guarantee. A technique with a
/// probability keeps it nearly always.
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
