//! # None
//! Does not rewrite data because of its age.
//!
//! - **Costs:** nothing.
//! - **Does not help:** data that is not rewritten for any other reason.

use super::{Aged, Refresh, RefreshTechnique, Wanted};
use vpass_drive::api::card::{About, Card, New};
use vpass_drive::base::units::Moment;

pub(super) const CARD: RefreshTechnique = Card {
    about: About { name: "none", summary: "no data refresh: data ages", ..About::PLAIN },
    new: New::Listed(|_, _, _| Box::new(None)),
};

pub(super) struct None;

impl Refresh for None {
    fn first_look(&self, _since: Moment) -> Option<Moment> {
        Option::None
    }

    fn done_by(&self, _since: Moment) -> Option<Moment> {
        Option::None
    }

    fn on_time(&mut self, aged: &Aged) -> Wanted {
        unreachable!("it asked to see no block at {}", aged.now)
    }
}
