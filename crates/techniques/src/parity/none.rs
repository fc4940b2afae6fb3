//! # None
//! Keeps no parity, so a page that cannot be read is lost.
//!
//! - **Costs:** nothing.
//! - **Does not help:** data whose limit is exceeded, and data on a die that fails.

use super::{Change, Equation, Parity, ParityTechnique};
use vpass_drive::api::card::{About, Card, New};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "none",
        summary: "no parity: pages that cannot be read are lost",
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(None)),
};

pub(super) struct None;

impl Parity for None {
    fn equation(&self, change: &Change) -> Equation {
        unreachable!("a drive without stripes changed a stripe: {change:?}")
    }

    fn controller_ram(&self, _geometry: &Geometry) -> Bytes {
        Bytes(0)
    }
}
