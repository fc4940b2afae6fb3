//! # None
//! Does not react to read disturbance. The data that a drive loses with `none` shows how much the
//! other techniques save.
//!
//! - **Costs:** nothing.
//! - **Does not help:** any data.

use super::Technique;
use super::{Action, Policy, Promise, Threshold, View};
use vpass_drive::api::card::{About, Card, New, Protection};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Bytes, Reads};

pub(super) const CARD: Technique = Card {
    about: About {
        name: "none",
        summary: "no read reclaim: data that reaches its limit is lost",
        protects: Protection::None,
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(None)),
};

pub(super) struct None;

impl Policy for None {
    fn arm(&mut self, _view: &View, _block: BlockId) -> Reads {
        Reads::NEVER
    }

    fn on_alarm(&mut self, _view: &View, _block: BlockId, _out: &mut Vec<Action>) -> Reads {
        Reads::NEVER
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }

    fn promise(&self, _view: &View, _pec: u32) -> Promise {
        Promise::Nothing("`none` does not react to reads; data that reaches its limit is lost")
    }

    fn explain(&self, _view: &View, _pec: u32) -> Vec<Threshold> {
        vec![]
    }
}
