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
mod hinted;
pub mod lost_die;
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

use std::panic::{AssertUnwindSafe, catch_unwind};

use vpass_drive::api::card::Protection;
use vpass_drive::api::gc::GcTechnique;
use vpass_drive::api::parity::ParityTechnique;
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::RefreshTechnique;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::config::{DisturbModel, DriveConfig, ErrorLaw};
use vpass_drive::drive::Techniques;

use self::balanced::Balanced;
pub use self::cards::Cards;
use self::drawing::Drawn;
pub use self::drawn::Digest;
use self::play::Played;
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
        let drawn = self.draw()?;
        let what = drawn.describe();
        let (requests, report) = drawn.run().map_err(|e| format!("{what}: {e}"))?;
        Ok(CaseSummary {
            what,
            technique: drawn.name(),
            cards: drawn.cards,
            adversary: drawn.host != Host::Stream,
            requests,
            report,
        })
    }
}

impl Drawn {
    /// Returns the name of the technique in results.
    fn name(&self) -> &'static str {
        self.named.map_or(RESTLESS, |technique| technique.name)
    }

    /// Runs the case. Returns the number of requests and the verdict; without a verdict, the drive
    /// was rightly refused.
    fn run(&self) -> Result<(u64, Option<OracleReport>), String> {
        if self.named.is_some() && border::is_refused(self)? {
            return Ok((0, None));
        }
        let played = without_panic(|| {
            let played = self.play()?;
            let same = self.plays == 1 || self.play()?.end == played.end;
            if same {
                Ok(played)
            } else {
                Err("a second run of the same case ends in another state".to_owned())
            }
        })?;
        let may_lose = self.named.is_some_and(|technique| technique.may_lose());
        judge(&played, self.fails.is_none() && !self.is_reckless && !may_lose)?;
        Ok((played.requests, Some(played.report)))
    }

    fn describe(&self) -> String {
        let (config, g) = (&self.config, &self.config.geometry);
        let host = match self.host {
            Host::Stream => "",
            Host::Adversary => ", with an adversary",
            Host::Siege => ", under siege by an adversary",
        };
        let ages = self
            .ages
            .map(|ages| format!(", refresh {} within {}", ages.refresh, config.refresh.period));
        let retries = config.ecc.levels().saturating_sub(1);
        let errors = (config.error.model != ErrorLaw::None)
            .then(|| format!(", error rates, {retries} retries"));
        let stripes = Geometry::new(config).stripes;
        let stripes = stripes.map(|of| format!(", stripes of {} and parity", of.members()));
        let others: String = [ages, errors, stripes].into_iter().flatten().collect();
        format!(
            "{} dies of {} blocks of {} pages, {:?}, {}, {}, {}, {}{host}{others}{}",
            g.channels * g.dies_per_channel,
            g.blocks_per_plane.unwrap_or(0) * g.planes_per_die,
            g.pages_per_block(),
            config.disturb.model,
            self.name(),
            self.techniques.gc.name,
            if self.timed { "timed" } else { "untimed" },
            config.reclaim.schedule,
            if self.is_nested { ", nested" } else { "" },
        )
    }
}

/// Returns the result of a run. A panic is an error.
fn without_panic<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("the drive panicked: {}", text.unwrap_or("no message")))
    })
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
