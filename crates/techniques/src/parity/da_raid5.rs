//! # DA-RAID-5
//! Divides a drive's life into three stages. In the first stage, blocks are recycled (rewritten
//! before data becomes unreadable) and there is no parity. In the second stage, stripes with a page
//! in a worn block have parity. In the third stage, all stripes have parity.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (III-B).
//! - **Is made of:** the parity techniques `pe-aware`, `hc` and `udl`. Of these, `udl` consists of
//!   reclaim `block` and refresh `block`; a run may replace either by another technique.
//! - **Acts at:** the second stage begins when a block first exceeds `t_p` P/E cycles. Worn blocks
//!   are not recycled for reads or for age, because parity rebuilds unreadable pages. The third
//!   stage begins when more than `l` stripes have a page in a worn block. All other stripes then
//!   get parity, on all dies; reads of the host have priority over this. When all stripes have
//!   parity, no block is recycled any more. A drive never returns to an earlier stage.
//! - **Costs:** in each stage, the costs of the technique that works in it. In all stages, the
//!   write buffer keeps the pages of a stripe together.
//! - **Departs from the paper:** L is a number of blocks in section III-E, but a number of stripes
//!   in III-B, IV-A and vpass. Blocks that are not worn are recycled until the last stripe has
//!   parity. Until then, some of their pages lie in stripes without parity.
//! - **Does not help:** stripes with two unreadable pages, which become more frequent as blocks age
//!   without recycling. Like `hc`, it does not help in a loss of power. It does not help if flash
//!   fails before its stripes have parity. If a failed die leaves no place for parity, worn blocks
//!   are still not recycled.
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

/// Number L of stripes. If more than L stripes have a page in a worn block, all stripes get parity.
const L: Param = Param {
    key: "l",
    kind: Kind::Whole,
    unit: "stripes",
    default: 16_384.0,
    range: (0.0, 4_294_967_295.0),
    draw: &[0.0],
    meaning: "when more than this number of stripes have a page in a worn block, the last stage \
        begins and all stripes get parity",
    source: "da-raid5-2013 IV-A: L = 2^14",
    alias: Some("l"),
};

/// Longest request, in pages, that the write buffer takes in the last stage.
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

/// Number of partial-parity pages that the cache holds in the last stage, one per stripe.
const PAGES: Param = Param {
    key: "pages",
    kind: Kind::Whole,
    unit: "pages",
    default: 64.0,
    range: (1.0, 4096.0),
    draw: &[2.0],
    meaning: "last stage: number of pages that the controller keeps for partial parity (one page \
        per stripe)",
    source: "da-raid5-2013 IV-A: 512 KB of 8-KB pages",
    alias: None,
};

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "da-raid5",
        summary: "works like `udl` at first, then like `pe-aware`, then like `hc`, as blocks wear",
        paper: "Guo et al., DATE 2013",
        params: &[STRIPE, REBUILD, T_P, QUEUE, L, CUT_OFF, PAGES],
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

    /// Updates partial parity like `hc`, but never leaves a page without parity.
    fn renewal(&self, covering: &Covering) -> Renewal {
        if covering.covered_changing <= covering.covered_staying {
            Renewal::TakeOut
        } else {
            Renewal::Gather
        }
    }

    /// Keeps the pages of a stripe together in the write buffer. In the first two stages, requests
    /// of any length go through the buffer.
    fn longest_cached(&self) -> Option<u32> {
        Some(u32::MAX)
    }

    fn by_wear(&self) -> Option<ByWear> {
        Some(self.by_wear)
    }

    /// Returns the RAM of the techniques of all stages, including the cache of the last stage.
    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        let beside = Bytes(4 * u64::from(geometry.logical_pages() - geometry.host_pages));
        Bytes(
            ram_of_counters(geometry, &self.by_wear).0
                + ram_of_cache(geometry, self.last.cache_pages, self.members).0
                - beside.0,
        )
    }
}
