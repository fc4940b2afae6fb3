//! Compares the drive's report about blocks with guard levels with the oracle's counts. It counts
//! the blocks made, the blocks that GC erased, and the share of their limits used by then.

use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::metrics::ReclaimCounts;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::DriveConfig;

use crate::oracle::Oracle;
use crate::report::Kind;

/// Counts since the measured phase began.
#[derive(Debug)]
pub(crate) struct DensityBooks {
    reprogrammed: u64,
    erased_by_gc: u64,
    /// Pages that guard levels take away now in each domain, and the largest allowed number per
    /// domain.
    away: Vec<u64>,
    /// Low-density blocks made by reprogramming, and their largest allowed number. A random policy
    /// has no such limit.
    made: BTreeSet<BlockId>,
    may_be: Option<usize>,
    away_of: BTreeMap<BlockId, u32>,
    may_take: u64,
    /// Wordline whose pages a mover sensed last, and these pages as bits.
    wordline: u32,
    sensed: u32,
    /// Number of blocks by the used share of the weakest wordline's limit, in steps of a twentieth.
    /// The last step has all shares from 95 % on.
    used: [u64; 20],
}

impl DensityBooks {
    pub(crate) fn new(config: &DriveConfig, geometry: &Geometry) -> Self {
        Self {
            may_take: (config.density.spare_share * f64::from(spare_pages(geometry))) as u64,
            reprogrammed: 0,
            erased_by_gc: 0,
            away: vec![0; geometry.domains() as usize],
            made: BTreeSet::new(),
            may_be: None,
            away_of: BTreeMap::new(),
            wordline: 0,
            sensed: 0,
            used: [0; 20],
        }
    }

    /// Begins the measured phase.
    pub(crate) fn restart(&mut self) {
        (self.reprogrammed, self.erased_by_gc, self.used) = (0, 0, [0; 20]);
    }

    /// Records that a mover senses a page.
    pub(crate) fn sense(&mut self, geometry: &Geometry, ppn: Ppn) {
        if geometry.has_page(ppn) {
            let wordline = geometry.wordline_of(ppn);
            let before = if wordline == self.wordline { self.sensed } else { 0 };
            (self.wordline, self.sensed) = (wordline, before | 1 << geometry.kind_of(ppn));
        }
    }

    /// Returns whether a mover has just sensed the page of this kind on this wordline.
    pub(crate) fn has_sensed(&self, wordline: u32, kind: u32) -> bool {
        self.wordline == wordline && self.sensed >> kind & 1 == 1
    }

    pub(crate) fn reprogram(&mut self) {
        self.reprogrammed += 1;
    }
}

impl Oracle {
    /// Checks that the policy obeys `density.low_density`.
    pub(crate) fn expect_low_density(&mut self, config: &DriveConfig) {
        let bits = config.geometry.cell.bits();
        let blocks = (config.density.low_density
            * f64::from(self.truth.geometry.blocks_per_domain())) as usize;
        self.books.density.may_be = Some(if bits == 1 { 0 } else { blocks });
    }

    /// Counts a block that has low density from now on. Low-density blocks that are moving do not
    /// count any more.
    pub(crate) fn count_low_density(&mut self, block: BlockId) {
        self.books.density.made.insert(block);
        let Some(most) = self.books.density.may_be else { return };
        // If data cannot go to another die, only the blocks of this die count.
        let near = self.books.density.made.iter().filter(|made| {
            self.truth.geometry.domain_of(**made) == self.truth.geometry.domain_of(block)
        });
        let stay =
            near.filter(|made| **made == block || !self.truth.jobs.contains_key(made)).count();
        if stay > most {
            self.findings.add(Kind::Books, || {
                format!("{stay} blocks have low density; density.low_density allows {most}")
            });
        }
    }
}

impl Oracle {
    /// Checks the sensings before a merge in a block of full density. Every page of the wordline
    /// must have been sensed just before, or only its valid pages if no others are needed.
    pub(crate) fn check_sensed(&mut self, block: BlockId, wordline: u32, mode: u8) {
        let first = self.truth.geometry.first_wordline(block) + wordline;
        let wanted = |(kind, stamp)| {
            u32::from(!self.adjusted.is_one(mode) || self.truth.stamps.is_live(stamp)) << kind
        };
        let wanted: u32 = (0..self.truth.geometry.cell.bits())
            .zip(self.truth.medium.stamps(first))
            .map(wanted)
            .sum();
        let right =
            self.books.density.wordline == first && self.books.density.sensed & wanted == wanted;
        self.books.density.sensed = 0;
        if !right {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "wordline {wordline} of block {block} was reprogrammed, but its data was not \
                     sensed before"
                )
            });
        }
    }

    /// Records that guard levels take this number of pages of a block away.
    pub(crate) fn take_away(&mut self, block: BlockId, pages: u32) {
        let domain = self.truth.geometry.domain_of(block);
        self.books.density.away[domain] += u64::from(pages);
        *self.books.density.away_of.entry(block).or_default() += pages;
        let (away, may_take) = (self.books.density.away[domain], self.books.density.may_take);
        if away > may_take {
            self.findings.add(Kind::Books, || {
                format!("guard levels remove {away} pages; density.spare_share allows {may_take}")
            });
        }
    }

    /// Returns the number of pages that a block lacks after its change to a mode. The block is not
    /// written any further, so pages that it never received count as well.
    pub(crate) fn pages_gone(&self, block: BlockId, mode: u8) -> u32 {
        let bits = self.truth.geometry.cell.bits();
        self.truth.geometry.pages_per_block
            - self.truth.protocol.written(block) / bits
                * (bits - self.truth.geometry.codings.given_up(mode))
    }

    /// Records a block that is about to be erased.
    pub(crate) fn note_density(&mut self, block: BlockId, cause: Cause) {
        self.books.density.away[self.truth.geometry.domain_of(block)] -=
            u64::from(self.books.density.away_of.remove(&block).unwrap_or(0));
        self.books.density.made.remove(&block);
        if !self.is_sparse(block) {
            return;
        }
        self.books.density.erased_by_gc += u64::from(cause == Cause::Gc);
        if let Some(twentieths) = self.truth.doses.used(block) {
            self.books.density.used[twentieths.min(19) as usize] += 1;
        }
    }

    /// Returns whether a block lacks some page kinds.
    fn is_sparse(&self, block: BlockId) -> bool {
        !self.truth.protocol.is_full(block)
    }

    pub(crate) fn check_density(&mut self, reclaim: &ReclaimCounts) {
        let seen = &self.books.density;
        self.findings.compare(&[
            ("reprogrammed blocks", reclaim.reprograms, seen.reprogrammed),
            (
                "low-density blocks erased by GC",
                reclaim.low_density_erases_by_gc,
                seen.erased_by_gc,
            ),
        ]);
        if reclaim.low_density_used.0 != seen.used {
            let claimed = reclaim.low_density_used.0;
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports the used share of low-density blocks as {claimed:?}, in \
                     twentieths; it is {:?}",
                    seen.used
                )
            });
        }
        if reclaim.pool_misses > reclaim.pool_openings {
            let (missed, opened) = (reclaim.pool_misses, reclaim.pool_openings);
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports {missed} blocks outside the pool, but only {opened} should \
                     be in the pool"
                )
            });
        }
    }
}

/// Returns the number of pages of a domain that hold neither host data nor parity. If each page has
/// its own die, this is the number for the die with the most host data and parity.
fn spare_pages(geometry: &Geometry) -> u32 {
    let of_data = geometry.stripes.map_or(geometry.host_pages, |stripes| {
        let mut by_die = vec![0; geometry.dies() as usize];
        Lpn::range(0..stripes.pages()).for_each(|lpn| by_die[usize::from(stripes.die(lpn))] += 1);
        by_die.into_iter().max().unwrap_or(0)
    });
    geometry.blocks / geometry.domains() * geometry.pages_per_block - of_data
}
