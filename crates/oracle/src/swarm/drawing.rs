//! Draws a case: its drive, its techniques, its gear and its host. This runs nothing.

use vpass_drive::api::parity::has_stripes;
use vpass_drive::api::reclaim::Technique;
use vpass_drive::api::refresh::{self, NO_REFRESH, RefreshTechnique};
use vpass_drive::base::span::Span;
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Techniques;
use vpass_techniques::reclaim::RETRIES;
use vpass_techniques::{all, card, named, resolve, usual};

use super::ageing::Ages;
use super::balanced::{Balanced, one_of};
use super::cards::Cards;
use super::drawn::Digest;
use super::{Case, Host, RESTLESS, border, draw, hinted, nested, striped, tired};
use crate::dice::Dice;

/// Number of entries in the list of techniques for a technique that may lose data, for a technique
/// that must not, and for the random policy.
const SHARES: (usize, usize, usize) = (4, 3, 6);

/// One case in sixteen runs twice. Both runs must end alike.
const AGAIN: [bool; 16] = one_of();

/// Whether a besieged case has whole limits, which doses can meet exactly.
const WHOLE_LIMITS: [bool; 2] = [true, false];

/// Cycles of an erase in accelerated cases.
const ACCELERATIONS: [u32; 6] = [2, 3, 10, 30, 100, 1000];

/// One in four of the cases with retries has the technique that follows retries.
const OBSERVES: [bool; 4] = [true, false, false, false];

/// A drawn case.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub(super) struct Drawn {
    pub(super) config: DriveConfig,
    pub(super) techniques: Techniques,
    /// Named technique; `None` for the random policy.
    pub(super) named: Option<&'static Technique>,
    /// Technique of the drive. Under the random policy it only limits how the drive may begin.
    pub(super) technique: &'static Technique,
    pub(super) cards: Option<Cards>,
    pub(super) timed: bool,
    pub(super) host: Host,
    pub(super) ages: Option<Ages>,
    /// Whether the steady state at the start is computed.
    pub(super) computed: bool,
    pub(super) warms_up: bool,
    /// Pages of the longest requests.
    pub(super) longest: u64,
    /// Factor by which the number of requests grows.
    pub(super) lives: u64,
    /// Whether events begin during other events.
    pub(super) is_nested: bool,
    /// Whether the random policy of the case acts too late.
    pub(super) is_reckless: bool,
    /// Seed of the failures of flash, if there are any.
    pub(super) fails: Option<u64>,
    /// Number of runs of the case.
    pub(super) plays: u32,
    /// Random numbers of the run.
    pub(super) dice: Dice,
}

impl Drawn {
    /// Returns the digest of the drawn case.
    pub(super) fn digest(&self) -> u64 {
        let Techniques { reclaim, gc, refresh, parity, seed } = self.techniques;
        let restless = self.named.is_none();
        let gap = self.ages.map(|ages| ages.gap(1));
        let texts = [
            format!("{reclaim} {gc} {refresh} {parity} {seed} {restless} {gap:?}"),
            format!("{} {:?} {} {}", self.timed, self.host, self.computed, self.warms_up),
            format!("{} {} {} {}", self.longest, self.lives, self.plays, self.dice.clone().next()),
            format!("{} {}", self.is_nested, self.is_reckless),
        ];
        texts
            .iter()
            .fold(Digest::default().config(&self.config), |digest, text| digest.text(text))
            .value()
    }
}

impl Case {
    /// Returns the reclaim technique: the recorded one, the one that belongs to the parity
    /// technique, or a drawn one. Returns `None` for the random policy.
    fn reclaim(self, balanced: &Balanced) -> Option<&'static Technique> {
        match (self.cards, self.parity) {
            (Some(cards), _) => named(cards.reclaim),
            (None, Some(parity)) => Some(
                striped::parts(self.seed, parity).0.unwrap_or_else(|| striped::technique(balanced)),
            ),
            (None, None) if self.is_nested() && nested::is_restless(balanced) => None,
            (None, None) => balanced.pick("technique", &techniques()),
        }
    }

    /// Returns whether a case with error rates has the technique that follows retries. This is a
    /// draw of its own, so other cases stay the same.
    fn observes(self, balanced: &Balanced, config: &DriveConfig) -> bool {
        self.technique.is_none()
            && self.parity.is_none()
            && config.ecc.levels() > 1
            && balanced.pick("observes", &OBSERVES)
    }

    /// Draws the case without a run.
    pub(super) fn draw(self) -> Result<Drawn, String> {
        let balanced = Balanced { case: self.seed };
        let mut dice = Dice::new(self.seed);
        let timed = balanced.pick("gear", &[false, true]);
        let named = self.technique.or_else(|| self.reclaim(&balanced));
        // Under the random policy, the named technique only limits how the drive may begin.
        let restless = named.is_none();
        let technique = named.unwrap_or_else(|| card("block"));
        let cleaning: Vec<_> = all().gc.iter().collect();
        let drawn = || balanced.pick("gc", &cleaning);
        let recorded = self.cards.map(|cards| card(cards.gc));
        let gc = self.gc.or(recorded).unwrap_or_else(drawn);
        let mut techniques = Techniques { reclaim: technique, gc, seed: self.seed, ..usual() };
        let is_nested = self.cards.map_or_else(|| self.is_nested(), |cards| cards.nested);
        let is_reckless = is_nested && restless && nested::is_reckless(&balanced);
        let keeps_apart = restless || technique.keeps_apart;
        let mut config = first_config(&balanced, &mut dice, (keeps_apart, restless), is_nested)?;
        if self.accelerates {
            config.wear.acceleration = balanced.pick("acceleration", &ACCELERATIONS);
        }
        if let Some(parity) = self.parity {
            if has_stripes(parity) {
                config = striped::draw(&balanced, config, parity, technique)?;
            }
            techniques.parity = parity;
        }
        if !restless {
            border::sometimes_at_the_border(&balanced, &mut dice, &mut config, technique);
        }
        striped::draw_start_wear(&balanced, &mut config);
        let lowers_density = restless || technique.lowers_density;
        let fits =
            |refresh: &&RefreshTechnique| refresh.name != "ida" || config.geometry.cell.bits() > 1;
        let refresh = self.refresh.filter(fits).map(|refresh| refresh.name);
        let refresh = refresh.or_else(|| striped::parts(self.seed, self.parity?).1);
        let refresh = (refresh, self.cards.map(|cards| cards.refresh));
        let ages = Ages::draw(&balanced, &mut config, timed, lowers_density, refresh, is_nested);
        let drawn = ages.map_or(NO_REFRESH, |ages| ages.refresh);
        let cards = Some(Cards {
            reclaim: if restless { RESTLESS } else { technique.name },
            gc: gc.name,
            refresh: drawn,
            nested: is_nested,
        });
        // Techniques that merge states in place beside parity have a battery of their own.
        let ages = ages.filter(|ages| {
            self.parity.is_none() || self.refresh.is_some() || ages.refresh != "ida"
        });
        if self.parity.is_some() && ages.is_none() {
            config.start.age = Span(0);
        }
        techniques.refresh = card(ages.map_or(NO_REFRESH, |ages| ages.refresh));
        config = refresh::drive(config, techniques.refresh);
        let is_raised = self.parity.is_some_and(|parity| {
            !self.fails && tired::raise(&balanced, &mut config, (technique, parity))
        });
        let may_tire = !restless || is_reckless;
        let is_tired =
            is_raised || may_tire && tired::draw(&balanced, &mut config, technique, is_nested);
        let observes = is_tired && self.observes(&balanced, &config);
        let technique = if observes { card("observed-retries") } else { technique };
        let named = if observes { Some(technique) } else { named };
        techniques.reclaim = technique;
        if is_tired && self.parity.is_none() {
            config = hinted::draw(&balanced, config, technique.keeps_apart)
                .map_err(|e| format!("hints: {e}"))?;
            // Blocks added for hints need refresh too.
            if let Some(ages) = ages {
                ages.leave_time(&mut config);
            }
        }
        if is_nested && !is_raised && (!restless || is_reckless) {
            nested::bring_to_the_border(&balanced, &mut config, technique);
        }
        // An adversary would not notice which flash has failed.
        let host = if self.fails || is_nested {
            Host::Stream
        } else {
            Host::of(&balanced, named, &config, is_tired)
        };
        if host == Host::Siege && balanced.pick("whole limits", &WHOLE_LIMITS) {
            let rows = config.disturb.table.iter_mut();
            let numbers = rows.flat_map(|row| row.limit.iter_mut().chain(&mut row.alpha));
            numbers.for_each(|number| *number = number.ceil());
        }
        if technique.has(&RETRIES) && config.ecc.levels() <= 1 {
            technique.set(&mut config, &RETRIES, 0.0);
        }
        config.start.reads = draw::random_start_reads(&mut dice, &config, &techniques);
        let lives = balanced.pick("length", &[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 10]);
        Ok(Drawn {
            config,
            techniques,
            named,
            technique,
            cards,
            timed,
            host,
            ages,
            computed: balanced.pick("computed", &[false, true]),
            warms_up: balanced.pick("warm-up", &[false, false, false, true]),
            longest: balanced.pick("longest", &[5, 5, 5, 5, 5, 5, 5, 80]),
            lives,
            is_nested,
            is_reckless,
            fails: self.fails.then_some(self.seed),
            plays: if lives == 1 && balanced.pick("again", &AGAIN) { 2 } else { 1 },
            dice,
        })
    }
}

/// Draws the first drive of a case and resolves it.
fn first_config(
    balanced: &Balanced,
    dice: &mut Dice,
    (keeps_apart, restless): (bool, bool),
    is_nested: bool,
) -> Result<DriveConfig, String> {
    let mut config = draw::random_config(balanced, dice, keeps_apart, restless);
    if is_nested {
        nested::draw(balanced, &mut config, keeps_apart);
    }
    resolve(config).map_err(|e| format!("the random configuration does not resolve: {e}"))
}

/// Returns the list of techniques; `None` is the random policy.
fn techniques() -> Vec<Option<&'static Technique>> {
    let (may_lose, safe, restless) = SHARES;
    let cards = all()
        .reclaim
        .iter()
        .filter(|t| !t.needs.retries)
        .flat_map(|t| std::iter::repeat_n(Some(t), if t.may_lose() { may_lose } else { safe }));
    cards.chain(std::iter::repeat_n(None, restless)).collect()
}
