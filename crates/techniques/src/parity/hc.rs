//! # Hybrid Caching
//! Uses two caches. The write buffer keeps the pages of a stripe together, so that they are written
//! together. A cache of partial parity delays the programming of parity.
//!
//! - **Paper:** Guo et al., DA-RAID-5, DATE 2013 (III-E, Algorithm 2).
//! - **Acts at:** each stripe that leaves the buffer; the stripe written longest ago leaves first.
//!   A request of more than `cut_off` pages goes straight to flash with its parity. Its pages are
//!   then removed from the buffer and the cache.
//! - **Costs:** as `ppc`, but with fewer programs and reads, because a page that is written again
//!   is often still in the buffer.
//! - **Departs from the paper:** if more than `N_update` pages change, the paper's partial parity
//!   covers only the changed pages. Pages that it covered before are without parity until the
//!   commit. In vpass the partial parity still covers all these pages. To update it, the drive
//!   reads the old versions of the changed pages or the other covered pages, whichever are fewer.
//!   With `published = 1`, vpass follows the paper.
//! - **Does not help:** a loss of power, as with `ppc`.
//!
//! ```text
//! PP of D1 to D3, N = 4        D1 changes              PP' = PP ^ D1 ^ D1'             1 read
//!                              D1 to D3 change         PP' = D1' ^ D2' ^ D3'           none
//!                              D1 and D2 change        PP' = D1' ^ D2' ^ D3            1 read
//!    published, N_update = 1   D1 and D2 change        PP' = D1' ^ D2'                 none, and D3 is exposed
//! ```

use super::ppc::{PAGES, ram_of_cache};
use super::{Change, Covering, Equation, Parity, ParityTechnique, REBUILD, Renewal, STRIPE};
use vpass_drive::api::card::{About, Card, Kind, New, Param};
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::Bytes;
use vpass_drive::config::{ConfigError, DriveConfig, Params, require};

/// Longest request, in pages, that the write buffer takes.
const CUT_OFF: Param = Param {
    key: "cut_off",
    kind: Kind::Whole,
    unit: "pages",
    default: 8.0,
    range: (1.0, 4096.0),
    draw: &[1.0, 2.0, 4.0],
    meaning: "longest request, in pages, that the write buffer takes; longer requests go straight \
        to flash with their parity",
    source: "da-raid5-2013 III-E: 8 pages",
    alias: None,
};

/// Whether Algorithm 2 of the paper is used as published, without the correction of vpass.
const PUBLISHED: Param = Param {
    key: "published",
    kind: Kind::Whole,
    unit: "",
    default: 0.0,
    range: (0.0, 1.0),
    draw: &[0.0],
    meaning: "1: as published, if more than n_update pages of a stripe change, the partial parity \
        then covers only the changed pages; 0: the partial parity also keeps covering the other \
        pages",
    source: "da-raid5-2013 Algorithm 2",
    alias: None,
};

/// Limit of the published rule: if more pages change, the other covered pages of the stripe are
/// left without parity.
const N_UPDATE: Param = Param {
    key: "n_update",
    kind: Kind::Whole,
    unit: "pages",
    default: 6.0,
    range: (0.0, 64.0),
    draw: &[1.0],
    meaning: "only with published = 1: largest number of changed pages at which the partial parity \
        of a stripe is updated in place; if parity.hc.n_update equals parity.stripe, partial \
        parity is always updated in place",
    source: "da-raid5-2013 IV-B: N_update = 6",
    alias: None,
};

pub(super) const CARD: ParityTechnique = Card {
    about: About {
        name: "hc",
        summary: "`ppc` behind a write buffer that writes whole stripes",
        paper: "Guo et al., DATE 2013, III-E",
        params: &[STRIPE, REBUILD, PAGES, CUT_OFF, PUBLISHED, N_UPDATE],
        refuses: Some(|config| least_buffer(config, CARD.about.name)),
        settles: Some(settle_turn),
        ..About::PLAIN
    },
    new: New::Listed(|args, _, _| {
        Box::new(Hc {
            pages: args.whole(&PAGES),
            members: args.whole(&STRIPE),
            cut_off: args.whole(&CUT_OFF),
            forgets_beyond: (args.whole(&PUBLISHED) == 1).then(|| args.whole(&N_UPDATE)),
        })
    }),
};

pub(super) struct Hc {
    pages: u32,
    members: u32,
    cut_off: u32,
    /// Number of changing pages above which the other covered pages are left without parity; `None`
    /// in the sound version, which never does this.
    forgets_beyond: Option<u32>,
}

impl Parity for Hc {
    /// Handles a stripe that had no parity, so that its parity is programmed without delay.
    fn equation(&self, change: &Change) -> Equation {
        change.cheaper(Equation::Modify)
    }

    fn cache_pages(&self) -> u32 {
        self.pages
    }

    fn renewal(&self, covering: &Covering) -> Renewal {
        match self.forgets_beyond {
            Some(most) if covering.changing > most => Renewal::Expose,
            Some(_) => Renewal::TakeOut,
            None if covering.covered_changing <= covering.covered_staying => Renewal::TakeOut,
            None => Renewal::Gather,
        }
    }

    fn longest_cached(&self) -> Option<u32> {
        Some(self.cut_off)
    }

    fn controller_ram(&self, geometry: &Geometry) -> Bytes {
        ram_of_cache(geometry, self.pages, self.members)
    }
}

/// Refuses a write buffer that is too small to hold a stripe in one of its halves.
///
/// # Errors
/// Returns a sentence that names the wrong key.
pub(super) fn least_buffer(config: &DriveConfig, parity: &str) -> Result<(), ConfigError> {
    let Some(members) = config.parity.stripe else { return Ok(()) };
    let least = Bytes(2 * u64::from(members) * config.geometry.page_size.0);
    require(config.drive.write_buffer.0 >= least.0, || {
        format!(
            "parity technique `{parity}` keeps the {members} pages of a stripe in one half of \
             drive.write_buffer; drive.write_buffer is {} but must be at least {least}",
            config.drive.write_buffer
        )
    })
}

/// Refuses an `n_update` above the number of pages in a stripe. If the default is above this
/// number, `n_update` becomes this number, which has the same effect.
///
/// # Errors
/// Returns a sentence that names the wrong key.
fn settle_turn(params: &mut Params) -> Result<(), ConfigError> {
    let (name, members) = (CARD.about.name, STRIPE.value(params, CARD.about.name));
    match params.get(Some(name), N_UPDATE.key) {
        Some(n_update) => require(n_update.value() <= members, || {
            format!(
                "parity.hc.n_update = {n_update} is above the {members} pages of a stripe; \
                 n_update must be at most {members}, and n_update = {members} always updates \
                 partial parity in place"
            )
        })?,
        None if N_UPDATE.default > members => {
            params.set(Some(name), N_UPDATE.key, N_UPDATE.number(members));
        }
        None => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let renewal = |forgets_beyond, changing, covered_changing, covered_staying| {
            Hc { pages: 1, members: 4, cut_off: 8, forgets_beyond }.renewal(&Covering {
                changing,
                covered_changing,
                covered_staying,
            })
        };
        assert_eq!(
            [(1, 1, 2), (3, 3, 0), (2, 2, 1)].map(|(n, c, s)| renewal(None, n, c, s)),
            [Renewal::TakeOut, Renewal::Gather, Renewal::Gather]
        );
        assert_eq!(
            [renewal(Some(1), 1, 1, 2), renewal(Some(1), 2, 2, 1)],
            [Renewal::TakeOut, Renewal::Expose]
        );
    }
}
