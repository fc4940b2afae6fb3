//! Computes which address ranges caused reclaim's copies. When a job begins, the valid pages that
//! it will move are divided among the ranges of host pages. The share of a range is the dose that
//! its reads added to the wordlines that move.
//!
//! So this file records the place of each page's data, and the present or last owner of each flash
//! page. The drive decides which lost pages it keeps as valid. So nothing is compared after a
//! reported loss.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::mem::{huge_zeros, zeros};
use vpass_drive::base::page_set::PageSet;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Ppn};
use vpass_drive::config::DisturbModel;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{Event, NO_LPN, NO_PPN, PhysRead};

use crate::limits::{FAR, counts_alike};
use crate::medium::At;
use crate::oracle::{Books, Check};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Number of ranges of equal size into which the capacity is divided.
const RANGES: u32 = 64;
/// Tolerance: drive and oracle add up the same numbers in different orders.
const ROUNDING: f64 = 1e-9;

/// Owners of flash pages, and copies by range.
#[derive(Debug)]
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
}

impl Blame {
    /// Returns `None` with parity, where a job may copy an old version that parity still needs. Such
    /// a copy has no owner to blame.
    pub(crate) fn new(geometry: &Geometry, model: DisturbModel) -> Option<Self> {
        geometry.stripes.is_none().then(|| Self {
            places: huge_zeros(geometry.host_pages as usize),
            owners: zeros(geometry.raw_pages() as usize),
            range_pages: geometry.host_pages.div_ceil(RANGES).max(1),
            own_reads_count: counts_alike(model),
            copies: vec![0.0; RANGES as usize],
        })
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        (u64::from(geometry.host_pages) + u64::from(geometry.raw_pages())) * size_of::<Ppn>() as u64
    }

    /// Records that a flash page was programmed with the data of a host page, or with no host data.
    fn programmed(&mut self, ppn: Ppn, lpn: Lpn) {
        if let Some(owner) = self.owners.get_mut(ppn.index()) {
            *owner = lpn.min(NO_LPN).number() + 1;
        }
        if let Some(place) = self.places.get_mut(lpn.index()) {
            *place = ppn.number() + 1;
        }
    }

    /// Records that a page needs no data on flash any more.
    fn leaves_flash(&mut self, lpn: Lpn) {
        if let Some(place) = self.places.get_mut(lpn.index()) {
            *place = NO_PPN.number() + 1;
        }
    }

    fn erased(&mut self, geometry: &Geometry, block: BlockId) {
        self.owners[geometry.first_page(block).index()..][..geometry.pages_per_block as usize]
            .fill(NO_LPN.number() + 1);
    }

    /// Records the reads of movers that complete a page in the controller's memory.
    fn read(&mut self, truth: &Truth, batch: &[PhysRead]) {
        for read in batch.iter().filter(|read| read.fill) {
            let by_mover = !matches!(read.cause, Cause::Host | Cause::Parity);
            if by_mover && truth.geometry.has_page(read.ppn) {
                self.leaves_flash(read.lpn);
            }
        }
    }

    fn owner(&self, truth: &Truth, ppn: Ppn) -> Option<Lpn> {
        let owner = match self.owners[ppn.index()] {
            0 => truth.medium.put_by_start(ppn),
            number => Some(Lpn::new(number - 1)),
        };
        owner.filter(|lpn| lpn.index() < self.places.len())
    }

    /// Returns whether a flash page is valid. If neither the host page's place nor the flash page's
    /// owner changed since the start, the page lies where the start put it.
    fn is_valid(&self, truth: &Truth, ppn: Ppn) -> bool {
        let lies_there = |lpn: Lpn| match self.places[lpn.index()] {
            0 => self.owners[ppn.index()] == 0,
            number => number - 1 == ppn.number(),
        };
        self.owner(truth, ppn).is_some_and(lies_there)
    }

    /// Records the blame of a reclaim job that begins with a whole block or with these pages.
    fn book(&mut self, truth: &Truth, block: BlockId, pages: Option<&PageSet>) {
        let first = truth.geometry.first_page(block);
        let wanted = |page: &u32| {
            pages.is_none_or(|pages| pages.words()[*page as usize / 64] >> (page % 64) & 1 == 1)
        };
        let moves: Vec<u32> = (0..truth.protocol.written(block))
            .filter(wanted)
            .filter(|page| self.is_valid(truth, first + *page))
            .collect();
        let shares = if pages.is_some() {
            self.shares(truth, block, &moves)
        } else {
            vec![1.0; truth.geometry.wordlines_per_block as usize]
        };
        let mut weights = vec![0.0; RANGES as usize];
        for (index, share) in (0..).zip(&shares) {
            self.weigh(truth, block, index, *share, &mut weights);
        }
        let total: f64 = weights.iter().sum();
        if total > 0.0 {
            let copies = moves.len() as f64;
            self.copies
                .iter_mut()
                .zip(weights)
                .for_each(|(booked, weight)| *booked += copies * weight / total);
        }
    }

    /// Returns the dose that a read of each wordline adds to the wordlines of these pages, in
    /// total.
    fn shares(&self, truth: &Truth, block: BlockId, moves: &[u32]) -> Vec<f64> {
        let (bits, stride) = (truth.geometry.cell.bits(), truth.geometry.neighbour_stride);
        let mut moving: Vec<u32> = moves.iter().map(|page| page / bits).collect();
        moving.dedup();
        let of = |reader: u32| {
            let deposits = |victim: &u32| {
                let at = At {
                    block,
                    wordline: truth.geometry.first_wordline(block) + victim,
                    index: *victim,
                    kind: 0,
                };
                let is_beside = reader.abs_diff(*victim) == stride;
                match reader == *victim {
                    true if self.own_reads_count => 1.0,
                    true => 0.0,
                    false if is_beside => truth.doses.page(at).alpha as f64 / FAR as f64,
                    false => 1.0,
                }
            };
            moving.iter().map(deposits).sum()
        };
        (0..truth.geometry.wordlines_per_block).map(of).collect()
    }

    /// Adds the reads of a wordline to the ranges whose data it holds or held.
    fn weigh(&self, truth: &Truth, block: BlockId, index: u32, share: f64, weights: &mut [f64]) {
        let (g, bits) = (&truth.geometry, truth.geometry.cell.bits());
        let weight = truth.medium.read(g.first_wordline(block) + index) as f64 * share;
        if weight == 0.0 {
            return;
        }
        let first = g.first_page(block) + index * bits;
        let owners: Vec<Lpn> = first.run(bits).filter_map(|ppn| self.owner(truth, ppn)).collect();
        for lpn in &owners {
            weights[(lpn.number() / self.range_pages) as usize] += weight / owners.len() as f64;
        }
    }
}

impl Check for Blame {
    fn after(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Preloaded { block, lpns } if truth.has_block(block) => {
                let room = truth.geometry.pages_per_block;
                let pages = truth.geometry.first_page(block).run(room);
                pages.zip(lpns).for_each(|(ppn, lpn)| self.programmed(ppn, *lpn));
            }
            Event::Wrote { lpn, .. } if !truth.stamps.is_partly_written(lpn) => {
                self.leaves_flash(lpn);
            }
            Event::Filled { lpn } | Event::Trimmed { lpn } | Event::Gathered { lpn, .. } => {
                self.leaves_flash(lpn);
            }
            Event::Reads { batch } => self.read(truth, batch),
            Event::Programmed { ppn, lpn, .. } => self.programmed(ppn, lpn),
            Event::Padded { ppn, .. } => self.programmed(ppn, NO_LPN),
            Event::Erased { block, .. } if truth.has_block(block) => {
                self.erased(&truth.geometry, block);
            }
            Event::JobBegan { block, pages, cause: Cause::Reclaim } if truth.has_block(block) => {
                self.book(truth, block, pages);
            }
            Event::MeasuredPhase => self.copies.fill(0.0),
            _ => {}
        }
    }

    /// Compares the drive's blame by range with the copies that were seen.
    fn end(&mut self, truth: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        if truth.stamps.any_was_lost() {
            return;
        }
        let mut told = vec![0.0; RANGES as usize];
        for range in drive.blamed_ranges() {
            told[(range.first.number() / self.range_pages).min(RANGES - 1) as usize] +=
                range.copies;
        }
        for (range, (told, own)) in told.iter().zip(&self.copies).enumerate() {
            if (told - own).abs() > ROUNDING * (1.0 + own) {
                let first = range as u32 * self.range_pages;
                findings.add(Kind::Books, || {
                    format!(
                        "the drive attributes {told:.3} reclaim copies to the pages from {first} \
                         on; {own:.3} were seen"
                    )
                });
            }
        }
    }
}
