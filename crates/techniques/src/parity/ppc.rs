//! # PPC
//! Delays the programming of parity. Until parity is programmed, the controller keeps partial
//! parity in a cache in memory.
//!
//! - **Paper:** Im and Shin, IEEE Transactions on Computers 60, 2011, as da-raid5-2013 describes it
//!   (II-B).
//! - **Acts at:** each write that leaves the buffer. The parity of a stripe is programmed when the
//!   cache is full. It is also programmed before the erase of an old page version that is needed to
//!   compute it.
//! - **Costs:** one page of memory per stripe in the cache, and one read for each page that changes
//!   again. Before the drive programs parity, it reads the pages that the partial parity does not
//!   cover.
//! - **Does not help:** a loss of power. The cached parity is then lost, except with `parity.cache
//!   = "non-volatile"`.
//!
//! ```text
//! D1, D2 and D3 of D0 to D3 change       PP  = D1 ^ D2 ^ D3            nothing is read
//! D1 changes again                       PP' = PP ^ D1 ^ D1'           1 read
//! the stripe is committed                P   = PP' ^ D0                1 read, 1 program
//! ```

use super::{Change, Equation, Parity, ParityTechnique, REBUILD, STRIPE};
use vpass_drive::api::card::{About, Card, Kind, New, Param};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;

/// Number of partial-parity pages that the cache holds, one per stripe.
pub(super) const PAGES: Param = Param {
    key: "pages",
    kind: Kind::Whole,
    unit: "pages",
    default: 64.0,
    range: (1.0, 4096.0),
    draw: &[1.0, 2.0, 5.0],
    meaning: "number of pages that the controller keeps for partial parity (one page per stripe); \
        the least recently updated page is evicted first",
    source: "da-raid5-2013 IV-A: 512 KB of 8-KB pages",
    alias: None,
};

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "ppc",
        summary: "keeps partial parity in a cache, and programs one parity page after every N host \
            pages",
        paper: "Im and Shin, IEEE TC 2011",
        params: &[STRIPE, REBUILD, PAGES],
        ..About::PLAIN
    },
    new: New::Listed(|args, _, _| {
        Box::new(Ppc { pages: args.whole(&PAGES), members: args.whole(&STRIPE) })
    }),
};

pub(super) struct Ppc {
    pages: u32,
    members: u32,
}

impl Parity for Ppc {
    /// Handles a stripe that had no parity, so that its parity is programmed without delay.
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    fn cache_pages(&self) -> u32 {
        self.pages
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        ram_of_cache(geometry, self.pages, self.members)
    }
}

/// Returns the RAM for the map of the parity pages and for the cache. Each cache entry has the
/// partial parity, its stripe, the covered pages of the stripe, and the places of their old
/// versions.
pub(super) fn ram_of_cache(geometry: &Geometry, pages: u32, members: u32) -> Bytes {
    let entry = u64::from(geometry.page_bytes) + 4 + 8 + 4 * u64::from(members);
    Bytes(4 * u64::from(geometry.logical_pages() - geometry.host_pages) + u64::from(pages) * entry)
}
