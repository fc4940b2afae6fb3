//! Computes which address ranges caused reclaim's copies. When a job begins, the valid pages that
//! it will move are divided among the ranges of host pages. The share of a range is the dose that
//! its reads added to the wordlines that move.
//!
//! So this file records the place of each page's data, and the present or last owner of each flash
//! page. The drive decides which lost pages it keeps as valid. So after a reported loss, the only
//! check is that the blame does not exceed the moved pages.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::mem::{huge_zeros, prefetch, zeros};
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::config::DisturbModel;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{NO_LPN, NO_PPN, PhysRead};

use crate::endurance::{FAR, counts_alike};
use crate::medium::{At, Medium};
use crate::oracle::Oracle;
use crate::report::Kind;

/// Number of ranges of equal size into which the capacity is divided.
const RANGES: u32 = 64;
/// Tolerance: drive and oracle add up the same numbers in different orders.
const ROUNDING: f64 = 1e-9;

/// Owners of flash pages, and copies by range.
#[derive(Debug, Default)]
pub(crate) struct Blame {
    /// Place on flash of each host page's data, or of its older part: the number of the flash page
    /// plus 1. It is 0 if the page is where a computed start put it.
    places: Vec<u32>,
    /// Present or last owner of each flash page since its block's erase: the number of the host
    /// page plus 1. It is 0 if the owner follows from a computed start.
    owners: Vec<u32>,
    range_pages: u32,
    own_reads_count: bool,
    copies: Vec<f64>,
    /// Whether no page was lost yet.
    exact: bool,
}

impl Blame {
    pub(crate) fn new(geometry: &Geometry, model: DisturbModel) -> Self {
        Self {
            places: huge_zeros(geometry.host_pages as usize),
            owners: zeros(geometry.raw_pages() as usize),
            range_pages: geometry.host_pages.div_ceil(RANGES).max(1),
            own_reads_count: counts_alike(model),
            copies: vec![0.0; RANGES as usize],
            exact: true,
        }
    }

    /// Returns the bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        (u64::from(geometry.host_pages) + u64::from(geometry.raw_pages())) * size_of::<Ppn>() as u64
    }

    pub(crate) fn prefetch(&self, lpn: Lpn) {
        prefetch(&self.places, lpn.index());
    }

    /// Records that a flash page was programmed with the data of a host page, or with no host data.
    pub(crate) fn programmed(&mut self, ppn: Ppn, lpn: Lpn) {
        if let Some(owner) = self.owners.get_mut(ppn.index()) {
            *owner = lpn.min(NO_LPN).number() + 1;
        }
        if let Some(place) = self.places.get_mut(lpn.index()) {
            *place = ppn.number() + 1;
        }
    }

    /// Records that a page needs no data on flash any more.
    pub(crate) fn leaves_flash(&mut self, lpn: Lpn) {
        if let Some(place) = self.places.get_mut(lpn.index()) {
            *place = NO_PPN.number() + 1;
        }
    }

    pub(crate) fn erased(&mut self, geometry: &Geometry, block: BlockId) {
        if !self.owners.is_empty() {
            self.owners[geometry.first_page(block).index()..][..geometry.pages_per_block as usize]
                .fill(NO_LPN.number() + 1);
        }
    }

    /// Records that a page was reported lost.
    pub(crate) fn lost(&mut self) {
        self.exact = false;
    }

    pub(crate) fn begin_measured_phase(&mut self) {
        self.copies.fill(0.0);
    }

    /// Checks a page that a job reads for a move. Its data must not have a newer version elsewhere.
    pub(crate) fn check_wanted(&self, medium: &Medium, read: &PhysRead) -> Result<(), String> {
        let known = self.exact && read.ppn.index() < self.owners.len();
        if known && self.owner(medium, read.ppn).is_some() && !self.is_valid(medium, read.ppn) {
            return Err(format!(
                "{} reads lpn {} at ppn {} to move it, but the page there is invalid",
                read.cause.name(),
                read.lpn,
                read.ppn
            ));
        }
        Ok(())
    }

    fn owner(&self, medium: &Medium, ppn: Ppn) -> Option<Lpn> {
        let owner = match self.owners[ppn.index()] {
            0 => medium.put_by_start(ppn),
            number => Some(Lpn::new(number - 1)),
        };
        owner.filter(|lpn| lpn.index() < self.places.len())
    }

    /// Returns whether no page was lost yet, so that the validity of every page is known.
    pub(crate) fn is_exact(&self) -> bool {
        self.exact && !self.owners.is_empty()
    }

    /// Returns the number of valid pages of a block.
    pub(crate) fn valid_of(&self, geometry: &Geometry, medium: &Medium, block: BlockId) -> u32 {
        let first = geometry.first_page(block);
        first.run(geometry.pages_per_block).filter(|ppn| self.is_valid(medium, *ppn)).count() as u32
    }

    /// Returns whether a flash page is valid. If neither the host page's place nor the flash page's
    /// owner changed since the start, the page lies where the start put it.
    fn is_valid(&self, medium: &Medium, ppn: Ppn) -> bool {
        let lies_there = |lpn: Lpn| match self.places[lpn.index()] {
            0 => self.owners[ppn.index()] == 0,
            number => number - 1 == ppn.number(),
        };
        self.owner(medium, ppn).is_some_and(lies_there)
    }
}

impl Oracle {
    /// Records the blame of a reclaim job that begins with a whole block or with these pages.
    pub(crate) fn book_blame(&mut self, block: BlockId, pages: Option<&PageSet>) {
        if self.blame.owners.is_empty() {
            return;
        }
        let first = self.geometry.first_page(block);
        let wanted = |page: &u32| {
            pages.is_none_or(|pages| pages.words()[*page as usize / 64] >> (page % 64) & 1 == 1)
        };
        let moves: Vec<u32> = (0..self.protocol.written(block))
            .filter(wanted)
            .filter(|page| self.blame.is_valid(&self.medium, first + *page))
            .collect();
        let shares = if pages.is_some() {
            self.shares(block, &moves)
        } else {
            vec![1.0; self.geometry.wordlines_per_block as usize]
        };
        let mut weights = vec![0.0; RANGES as usize];
        for (index, share) in (0..).zip(&shares) {
            self.weigh(block, index, *share, &mut weights);
        }
        let total: f64 = weights.iter().sum();
        if total > 0.0 {
            let copies = moves.len() as f64;
            self.blame
                .copies
                .iter_mut()
                .zip(weights)
                .for_each(|(booked, weight)| *booked += copies * weight / total);
        }
    }

    /// Returns the dose that a read of each wordline adds to the wordlines of these pages, in
    /// total.
    fn shares(&self, block: BlockId, moves: &[u32]) -> Vec<f64> {
        let (bits, stride) = (self.geometry.cell.bits(), self.geometry.neighbour_stride);
        let mut moving: Vec<u32> = moves.iter().map(|page| page / bits).collect();
        moving.dedup();
        let of = |reader: u32| {
            let deposits = |victim: &u32| {
                let at = At {
                    block,
                    wordline: self.geometry.first_wordline(block) + victim,
                    index: *victim,
                    kind: 0,
                };
                let is_beside = reader.abs_diff(*victim) == stride;
                match reader == *victim {
                    true if self.blame.own_reads_count => 1.0,
                    true => 0.0,
                    false if is_beside => self.doses.page(at).alpha as f64 / FAR as f64,
                    false => 1.0,
                }
            };
            moving.iter().map(deposits).sum()
        };
        (0..self.geometry.wordlines_per_block).map(of).collect()
    }

    /// Adds the reads of a wordline to the ranges whose data it holds or held.
    fn weigh(&self, block: BlockId, index: u32, share: f64, weights: &mut [f64]) {
        let (g, bits) = (&self.geometry, self.geometry.cell.bits());
        let weight = self.medium.read(g.first_wordline(block) + index) as f64 * share;
        if weight == 0.0 {
            return;
        }
        let first = g.first_page(block) + index * bits;
        let owners: Vec<Lpn> =
            first.run(bits).filter_map(|ppn| self.blame.owner(&self.medium, ppn)).collect();
        for lpn in &owners {
            weights[(lpn.number() / self.blame.range_pages) as usize] +=
                weight / owners.len() as f64;
        }
    }

    /// Compares the drive's blame by range with the oracle's.
    pub(crate) fn check_blame(&mut self, drive: &Drive) {
        let size = self.geometry.host_pages.div_ceil(RANGES).max(1);
        let (mut told, mut end, mut right) = (vec![0.0; RANGES as usize], 0u64, true);
        for range in drive.blamed_ranges() {
            right &=
                range.copies >= 0.0 && u64::from(range.first.number()) >= end && range.pages > 0;
            end = u64::from(range.first.number()) + u64::from(range.pages);
            told[(range.first.number() / size).min(RANGES - 1) as usize] += range.copies;
        }
        if !right || end > u64::from(self.geometry.host_pages) {
            self.findings.add(Kind::Books, || {
                "the address ranges with the most reclaim overlap, or lie beyond the drive".into()
            });
        }
        let (sum, moved): (f64, _) = (told.iter().sum(), self.claims.reclaim_reads);
        if !drive.is_timed() && sum > moved as f64 * (1.0 + ROUNDING) + 1e-6 {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive attributes {sum:.3} reclaim copies to reads; reclaim copied {moved} \
                     pages"
                )
            });
        }
        if !self.blame.exact || self.blame.owners.is_empty() {
            return;
        }
        for (range, (told, own)) in told.iter().zip(&self.blame.copies).enumerate() {
            if (told - own).abs() > ROUNDING * (1.0 + own) {
                let first = range as u32 * size;
                self.findings.add(Kind::Books, || {
                    format!(
                        "the drive attributes {told:.3} reclaim copies to the pages from {first} \
                         on; {own:.3} were seen"
                    )
                });
            }
        }
    }
}
