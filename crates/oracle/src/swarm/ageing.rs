//! Drives whose data ages. One case in eight has a refresh period, an age at the start, and
//! requests that arrive at times of their own. These choices have their own random numbers, so
//! other cases stay the same.

use vpass_drive::api::refresh::{NO_REFRESH, RefreshTechnique, shortest_pass};
use vpass_drive::base::span::{DAY, HOUR, Span};
use vpass_drive::base::units::Ns;
use vpass_drive::config::{CellType, DriveConfig, KindUs, Number, Params};
use vpass_techniques::{all, card};

use super::balanced::{Balanced, one_of};
use super::{nested, params, tired};
use crate::dice::Dice;

/// One case in eight has data that ages.
const AGES: [bool; 8] = one_of();
/// Refresh periods, as multiples of the shortest one that the drive can keep.
const PERIODS: [f64; 4] = [1.0, 2.0, 8.0, 1000.0];
/// Largest number of blocks that refresh begins in a second; 0 for all blocks that are due.
const PATROLS: [f64; 4] = [0.0, 0.0, 0.001, 10.0];
/// Factor of the period in timed cases. Without it, host requests and their consequences take most
/// of the dies' time.
const BUSY: f64 = 16.0;
/// Factor of the period in timed nested cases, whose jobs should run while data grows older.
const BUSY_NESTED: f64 = 4.0;
/// Smallest period of nested cases in hours, because younger data counts as fresh.
const SHORT_NESTED: f64 = 3.0;
/// Periods in days during which error rates grow.
const LONG: [f64; 3] = [0.2, 3.0, 60.0];
/// Number of periods that pass during all requests.
const PASSED: [f64; 4] = [0.3, 2.0, 6.0, 20.0];
/// Ages at the start, in periods.
const AGED: [f64; 3] = [0.0, 0.5, 1.0];

/// Parameters that these cases draw one after another. Any other parameter has a list of its own
/// and changes nothing else in a case.
const IN_TURN: [(&str, &str); 7] = [
    ("block", "lead"),
    ("block", "at_once"),
    ("ida", "lead"),
    ("ida", "at_once"),
    ("ida", "error_rate"),
    ("ida", "adjust_us"),
    ("ida", "only_invalid"),
];

/// Returns whether data ages in a case.
pub(super) fn ages(balanced: &Balanced) -> bool {
    balanced.pick("ages", &AGES)
}

/// Choices of a case about time.
#[derive(Clone, Copy)]
pub(super) struct Ages {
    /// Refresh technique.
    pub(super) refresh: &'static str,
    /// Time that passes during all requests.
    passes: Ns,
}

impl Ages {
    /// Draws these choices for a case and lets the drive's data age; `None` if its data does not
    /// age. A `named` refresh technique is always active. A recorded technique replaces the drawn
    /// one.
    pub(super) fn draw(
        balanced: &Balanced,
        config: &mut DriveConfig,
        timed: bool,
        lowers_density: bool,
        (named, recorded): (Option<&'static str>, Option<&'static str>),
        is_nested: bool,
    ) -> Option<Self> {
        if named.is_none() && !ages(balanced) && !(is_nested && nested::ages(balanced)) {
            return None;
        }
        let mut dice = Dice::new(balanced.case ^ 0xA6E0_F0DA_7A00_0000);
        let fits = |technique: &&RefreshTechnique| {
            config.geometry.cell.bits() > 1 || technique.name != "ida"
        };
        let techniques: Vec<&RefreshTechnique> = all().refresh.iter().filter(fits).collect();
        // The list includes "no refresh", for data that only ages.
        let technique =
            techniques[dice.between(0, 3 * techniques.len() as u64) as usize % techniques.len()];
        let technique = named.or(recorded).map_or(technique, card);
        let refresh = technique.name;
        // The 2-3-2 code of TLC has no guard levels.
        if refresh == "ida"
            && config.geometry.cell == CellType::Tlc
            && !lowers_density
            && balanced.pick("code", &[false, true])
        {
            config.geometry.cell = CellType::Tlc232;
            // In this code, the MSB page is sensed as often as the LSB page.
            if let KindUs::PerKind(times) = &mut config.timing.sense_us {
                times[2] = times[0];
            }
        }
        let mut of_refresh = Params::default();
        let patrol = balanced.pick("patrol", &PATROLS);
        for technique in ["block", "ida"] {
            of_refresh.set(Some(technique), "patrol", Number::Real(patrol));
        }
        for (key, list) in [("at_reclaim", "merges at reclaim"), ("at_gc", "merges at gc")] {
            of_refresh.set(Some("ida"), key, Number::Whole(balanced.pick(list, &[0, 0, 1])));
        }
        config.refresh.params =
            params::draw_apart((balanced, &mut dice), "refresh", &IN_TURN, of_refresh);
        let period = shortest_pass(config, technique).0 as f64
            * dice.pick(&PERIODS)
            * match (timed, is_nested) {
                (false, _) => 1.0,
                (true, false) => BUSY,
                (true, true) => BUSY_NESTED,
            };
        let period = if is_nested {
            period.max(SHORT_NESTED * HOUR as f64)
        } else if balanced.pick("long", &[false, true]) {
            period.max(dice.pick(&LONG) * DAY as f64)
        } else {
            period
        };
        config.refresh.period = Span(period.ceil() as Ns);
        let age = (period * dice.pick(&AGED)) as Ns;
        config.start.age = Span(if refresh == NO_REFRESH { age.max(1) } else { age });
        let passes = (period * dice.pick(&PASSED)) as Ns;
        config.error.longest_age = tired::longest_age(balanced, config.start.age, passes);
        Some(Self { refresh, passes })
    }

    /// Makes the period at least as long as a pass over the drive takes.
    pub(super) fn leave_time(self, config: &mut DriveConfig) {
        let technique = card(self.refresh);
        config.refresh.period = config.refresh.period.max(shortest_pass(config, technique));
    }

    /// Returns the mean time between this number of requests.
    pub(super) fn gap(self, requests: u64) -> Ns {
        (self.passes / requests.max(1)).max(1)
    }
}
