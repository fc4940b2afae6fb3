//! # RAID-5
//! Keeps a parity page for every N host pages and updates it with each write.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (II-B), the baseline of the paper.
//! - **Acts at:** each write that leaves the buffer, and each trim of written data.
//! - **Costs:** a page that is written alone takes one more program and up to two reads. One of
//!   every N + 1 flash pages holds parity.
//! - **Does not help:** stripes with two unreadable pages at the same time.
//!
//! The paper has two equations for the new parity. The drive uses the equation that needs fewer
//! reads. If both need equally many, the drive uses equation 1, which starts from the old parity.
//!
//! ```text
//! N = 4, all written     D0 changes              P' = P ^ D0 ^ D0'                   2 reads      (equation 1)
//!                        D0 to D2 change         P' = D0' ^ D1' ^ D2' ^ D3           1 read       (equation 2)
//!                        all change              P' = D0' ^ D1' ^ D2' ^ D3'          none
//! ```

use super::{Change, Equation, Parity, ParityTechnique, REBUILD, STRIPE};
use vpass_drive::api::card::{About, Card, New};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "raid5",
        summary: "keeps one parity page for every N host pages, and updates it with each write",
        paper: "Guo et al., DATE 2013, II-B",
        params: &[STRIPE, REBUILD],
        ..About::PLAIN
    },
    new: New::Listed(|_, _, _| Box::new(Raid5)),
};

pub(super) struct Raid5;

impl Parity for Raid5 {
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    /// Returns the RAM for the map of the parity pages.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        Bytes(4 * u64::from(geometry.logical_pages() - geometry.host_pages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let equation = |to_modify, to_do_whole| Raid5.equation(&Change { to_modify, to_do_whole });
        assert_eq!(
            [equation(2, 3), equation(4, 1), equation(5, 0), equation(2, 2)],
            [Equation::Modify, Equation::Whole, Equation::Whole, Equation::Modify]
        );
    }
}
