//! # PE-aware
//! Keeps parity only for stripes that have a page in a worn block. A block is worn if it has more
//! than `t_p` P/E cycles.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (III-D, Algorithm 1).
//! - **Acts at:** each stripe that leaves the write buffer, and each move of a page to a worn block
//!   or out of one. The buffer keeps the pages of a stripe together, and the stripe written longest
//!   ago leaves first. If a move makes parity necessary, the drive computes and programs it later
//!   in the background.
//! - **Costs:** as `raid5` for stripes with parity, and none for other stripes. To form the parity
//!   of a stripe, the drive reads each page that is not moved, and programs one page.
//! - **Departs from the paper:** in the paper, writes to worn blocks increase a stripe's counter,
//!   and other writes decrease it. This counter drifts, because it ignores moves, lost and rebuilt
//!   pages, and the place of the old copy. In vpass the counter is the stripe's number of pages in
//!   worn blocks. With `published = 1`, vpass counts as the paper does. The paper has no failing
//!   flash. In vpass, after a failure, a stripe keeps its parity until its failed pages are
//!   rebuilt.
//! - **Does not help:** pages that cannot be read or are on failed flash, if their stripe has no
//!   parity. These pages are lost. A stripe that still waits for its parity has none.
//!
//! ```text
//! t_p = 9, N = 3     D1 goes to a block of 10 cycles         counter 0 -> 1     P = D0 ^ D1' ^ D2       2 reads, 1 program
//!                    D1 goes to another worn block           counter 1 -> 1     P' = P ^ D1' ^ D1''     2 reads, 1 program
//!                    D1 goes to a block of 5 cycles          counter 1 -> 0     P is given back         none
//!    published       D1 goes to another worn block           counter 1 -> 2     so P stays when all pages lie in young blocks
//! ```

use super::{Change, Equation, Parity, ParityTechnique, REBUILD, STRIPE};
use vpass_drive::api::card::{About, Args, Card, Kind, New, Param};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{ByWear, DriveConfig, ErrorLaw};

/// Number of P/E cycles above which a block is worn.
pub(super) const T_P: Param = Param {
    key: "t_p",
    kind: Kind::Whole,
    unit: "P/E cycles",
    default: 15_000.0,
    range: (0.0, 1e6),
    draw: &[0.0],
    meaning: "P/E cycles above which a block counts as worn; stripes with a page in a worn block \
        get parity; the default is bch.pec if limits follow from a code",
    source: "da-raid5-2013 IV-A: T_p = 15,000",
    alias: Some("t_p"),
};

/// Number of stripes that may wait for their parity.
pub(super) const QUEUE: Param = Param {
    key: "queue",
    kind: Kind::Whole,
    unit: "stripes",
    default: 64.0,
    range: (0.0, 65_536.0),
    draw: &[0.0, 4.0, 64.0],
    meaning: "largest number of stripes that wait for parity after page moves; any further stripe \
        gets parity at once",
    source: "assumption: the number of pages in the partial parity cache",
    alias: Some("queue"),
};

/// Whether Algorithm 1 of the paper is used as published, without the correction of vpass.
const PUBLISHED: Param = Param {
    key: "published",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0],
    meaning: "1: as published, the counter of a stripe goes up for each write to a worn block and \
        down for any other write; 0: the counter is the number of pages in worn blocks",
    source: "da-raid5-2013 Algorithm 1",
    alias: None,
};

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "pe-aware",
        summary: "a parity page for N host pages only if at least one of these pages lies in a \
            worn block",
        paper: "Guo et al., DATE 2013, III-D",
        params: &[STRIPE, REBUILD, T_P, QUEUE, PUBLISHED],
        ..About::PLAIN
    },
    new: New::Listed(|args, config, _| {
        let (above, as_printed, queue) =
            (worn_beyond(args, config), args.whole(&PUBLISHED) == 1, args.whole(&QUEUE));
        Box::new(PeAware(ByWear { above, as_printed, queue, last: None }))
    }),
};

/// Returns `T_p`, the P/E count above which a block is worn. If the user gives no number and a code
/// sets the limits, it is the P/E count to which those limits apply.
pub(super) fn worn_beyond(args: &Args, config: &DriveConfig) -> u32 {
    let otherwise =
        if config.error.model == ErrorLaw::Bch { config.bch.pec } else { T_P.default as u32 };
    args.whole_or(&T_P, otherwise)
}

pub(super) struct PeAware(ByWear);

impl Parity for PeAware {
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    /// Keeps the pages of a stripe together in the write buffer. Requests of any length go through
    /// the buffer.
    fn longest_cached(&self) -> Option<u32> {
        Some(u32::MAX)
    }

    fn by_wear(&self) -> Option<ByWear> {
        Some(self.0)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        ram_of_counters(geometry, &self.0)
    }
}

/// Returns the RAM for three tables: the map of the parity pages, a counter for each stripe, and
/// the queue of stripes that wait for parity.
pub(super) fn ram_of_counters(geometry: &Geometry, by_wear: &ByWear) -> Bytes {
    let stripes = u64::from(geometry.logical_pages() - geometry.host_pages);
    Bytes(4 * stripes + stripes + 4 * u64::from(by_wear.queue))
}
