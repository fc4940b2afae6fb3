//! Random drives that find bugs, by number.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use vpass_drive::bugs::{Bug, Found};
use vpass_oracle::swarm::lost_die::LostDieCase;
use vpass_oracle::swarm::{Cards, Case};
use vpass_techniques::card;

use crate::fluid;

/// Random drives that must find a bug.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finder(Found);

impl Finder {
    /// Random drives of `vpass check`.
    pub(super) const CHECK: Self = Self(Found::Check { case: 0, cards: "" });

    /// Returns the random drives of a record; `None` for a story.
    pub(super) fn of(found: Found) -> Option<Self> {
        (!matches!(found, Found::Unit { .. } | Found::Story { .. })).then_some(Self(found))
    }

    /// Returns the battery of a reclaim technique, without a recorded case.
    pub(super) const fn battery(of: &'static str) -> Self {
        Self(Found::Battery { of, case: 0, cards: "" })
    }

    /// Returns the number of the recorded case, or of the first one.
    pub(super) fn case(self) -> u64 {
        match self.0 {
            Found::Check { case, .. }
            | Found::Battery { case, .. }
            | Found::Parity { case, .. }
            | Found::Failures { case, .. }
            | Found::Acceleration { case }
            | Found::Fluid { case, .. } => case,
            Found::Unit { .. } | Found::Story { .. } => 0,
        }
    }

    /// Returns the recorded techniques. Cases that do not draw their techniques have none.
    fn cards(self) -> Option<&'static str> {
        match self.0 {
            Found::Check { cards, .. }
            | Found::Battery { cards, .. }
            | Found::Parity { cards, .. } => Some(cards),
            _ => None,
        }
    }

    /// Returns whether there is a recorded case.
    pub(super) fn is_recorded(self) -> bool {
        self.cards() != Some("")
    }

    /// Runs a case on drives with this bug, or without a bug, and returns its techniques. A
    /// recorded case has its recorded techniques.
    ///
    /// # Errors
    /// The errors found, as sentences.
    pub(super) fn run(
        self,
        case: u64,
        is_recorded: bool,
        bug: Option<Bug>,
    ) -> Result<String, String> {
        let drawn = match self.0 {
            Found::Check { .. } => Case::new(case),
            Found::Battery { of, .. } => Case::new(case).under(card(of)),
            Found::Parity { of, refresh, .. } => {
                let striped = Case::new(case).striped(card(of));
                let refresh = refresh.map(card);
                refresh.into_iter().fold(striped, Case::refreshed)
            }
            Found::Acceleration { .. } => Case::new(case).accelerated(),
            Found::Failures { by_wear, .. } => {
                return LostDieCase { seed: case, by_wear, bug }.run().map(|_| String::new());
            }
            Found::Fluid { data, writes, .. } => {
                let run = || fluid::with_bug(case, data, bug.map(|bug| (bug, writes)));
                return catch_unwind(AssertUnwindSafe(run))
                    .unwrap_or_else(|_| Err("the drive panicked".into()))
                    .map(|()| String::new());
            }
            Found::Unit { .. } | Found::Story { .. } => return Ok(String::new()),
        };
        let cards = self.cards().filter(|_| is_recorded).map(Cards::recorded);
        let drawn = cards.into_iter().fold(drawn, Case::with_cards);
        let done = bug.into_iter().fold(drawn, Case::with).run()?;
        Ok(done.cards.map(|cards| cards.to_string()).unwrap_or_default())
    }
}

/// Writes the finder as in its record.
impl fmt::Display for Finder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            Found::Check { .. } => write!(f, "by = \"check\""),
            Found::Battery { of, .. } => write!(f, "by = \"battery\", of = \"{of}\""),
            Found::Parity { of, .. } => write!(f, "by = \"parity\", of = \"{of}\""),
            Found::Failures { by_wear, .. } => write!(f, "by = \"failures\", by_wear = {by_wear}"),
            Found::Acceleration { .. } => write!(f, "by = \"acceleration\""),
            Found::Fluid { data, writes, .. } => {
                write!(f, "by = \"fluid\", data = \"{data}\", writes = {writes}")
            }
            Found::Unit { of, test } => {
                write!(f, "by = \"unit\", of = \"{of}\", test = \"{test}\"")
            }
            Found::Story { test } => write!(f, "by = \"story\", test = \"{test}\""),
        }
    }
}
