//! # DA-RAID-5
//! Divides a drive's life into three stages. In the first stage, blocks are recycled and there is
//! no parity. In the second, stripes with a page in a worn block have parity. In the third, all
//! stripes have parity.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (III-B).
//! - **Is made of:** `pe-aware`, `hc` and `udl`, which consists of reclaim `block` and refresh
//!   `block`. If another reclaim or refresh technique is chosen, it replaces this part.
//! - **Acts at:** the second stage begins with the first block of more than `t_p` P/E cycles. Worn
//!   blocks are not recycled for reads or for age, because parity rebuilds unreadable pages. The
//!   last stage begins when more than `l` stripes have a page in a worn block. All other stripes
//!   then get parity, on all dies, after the host's reads. When all stripes have parity, blocks are
//!   no longer recycled. A drive never returns to an earlier stage.
//! - **Costs:** the costs of the technique of each stage. The write buffer keeps the pages of a
//!   stripe together in all stages.
//! - **Departs from the paper:** in III-E, L counts blocks; in III-B and IV-A it counts stripes, as
//!   in vpass. Blocks that are not worn are recycled until the last stripe has its parity, because
//!   until then some of their stripes have no parity.
//! - **Does not help:** two unreadable pages of a stripe; they become more frequent as blocks age
//!   without recycling. A loss of power, as with `hc`. Flash that fails before its stripes have
//!   parity. If a failed die leaves no place for parity, worn blocks are still not recycled.
//!
//! ```text
//! t_p = 9, l = 1     no block has 10 cycles                       stage 1     no parity
//!                    a block is erased for the tenth time         stage 2     stripes with a page in it have parity
//!                    pages of two stripes lie in such blocks      stage 3     all stripes get parity; hc delays it
//! ```

use super::hc::least_buffer;
use super::pe_aware::{QUEUE, T_P, ram_of_counters, worn_beyond};
use super::ppc::ram_of_cache;
use super::{Change, Covering, Equation, Parity, ParityTechnique, REBUILD, Renewal, STRIPE, udl};
use vpass_drive::api::card::{About, Card, Kind, New, Param};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{ByWear, LastStage};

/// Number of stripes with a page in a worn block above which all stripes get parity.
const L: Param = Param {
    key: "l",
    kind: Kind::Whole,
    unit: "stripes",
    default: 16_384.0,
    range: (0.0, 4_294_967_295.0),
    draw: &[0.0],
    meaning: "the last stage begins, and all stripes get parity, when more than this number of \
        stripes have a page in a worn block",
    source: "da-raid5-2013 IV-A: L = 2^14",
    alias: Some("l"),
};

/// Longest request that is cached in the last stage.
const CUT_OFF: Param = Param {
    key: "cut_off",
    kind: Kind::Whole,
    unit: "pages",
    default: 8.0,
    range: (1.0, 4096.0),
    draw: &[4.0],
    meaning: "last stage: longest request, in pages, that the write buffer takes; longer requests \
        go straight to flash with their parity",
    source: "da-raid5-2013 III-E: 8 pages",
    alias: None,
};

/// Number of stripes of which the cache keeps a page in the last stage.
const PAGES: Param = Param {
    key: "pages",
    kind: Kind::Whole,
    unit: "pages",
    default: 64.0,
    range: (1.0, 4096.0),
    draw: &[2.0],
    meaning: "last stage: number of pages of partial parity that the controller keeps, one per \
        stripe",
    source: "da-raid5-2013 IV-A: 512 KB of 8-KB pages",
    alias: None,
};

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "da-raid5",
        summary: "`udl`, then `pe-aware`, then `hc`, as blocks wear",
        paper: "Guo et al., DATE 2013",
        params: &[STRIPE, REBUILD, T_P, QUEUE, L, CUT_OFF, PAGES],
        goes_by_wear: true,
        parts: Some(udl::PARTS),
        refuses: Some(|config| least_buffer(config, CARD.about.name)),
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| {
        let last = LastStage {
            beyond: args.whole(&L),
            cut_off: args.whole(&CUT_OFF),
            cache_pages: args.whole(&PAGES),
        };
        let by_wear = ByWear {
            above: worn_beyond(args, config),
            as_printed: false,
            queue: args.whole(&QUEUE),
            last: Some(last),
        };
        Box::new(DaRaid5 { by_wear, last, members: args.whole(&STRIPE) })
    }),
};

pub(super) struct DaRaid5 {
    by_wear: ByWear,
    last: LastStage,
    members: u32,
}

impl Parity for DaRaid5 {
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    /// Works like `hc`, but never exposes pages.
    fn renewal(&self, covering: &Covering) -> Renewal {
        if covering.covered_changing <= covering.covered_staying {
            Renewal::TakeOut
        } else {
            Renewal::Gather
        }
    }

    /// Groups stripes in the write buffer. In the first two stages, no request is too long for
    /// this.
    fn longest_cached(&self) -> Option<u32> {
        Some(u32::MAX)
    }

    fn by_wear(&self) -> Option<ByWear> {
        Some(self.by_wear)
    }

    /// Returns the RAM of its parts, with the cache of the last stage.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        let beside = Bytes(4 * u64::from(geometry.logical_pages() - geometry.host_pages));
        Bytes(
            ram_of_counters(geometry, &self.by_wear).0
                + ram_of_cache(geometry, self.last.cache_pages, self.members).0
                - beside.0,
        )
    }
}
