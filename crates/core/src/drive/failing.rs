//! Units of the flash that fail while the drive runs: what lay there is lost, or is left to be rebuilt from its stripes (`mending`).
//!
//! A failure takes effect between two requests: with the first from its number or its time on or, where the drive is idle, in the pause.

use std::ops::Range;

use crate::base::failure::{Failure, Unit, When};
use crate::base::request::Request;
use crate::base::streams::{FIRST_OWN, RESERVE};
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, Lpn, Ns, Ppn};
use crate::config::MIN_SPARE_BLOCKS;
use crate::drive::Drive;
use crate::drive::mending::Mending;
use crate::flash::block::FAILED;

/// Blocks of each die that pages which come from elsewhere must leave, beside those that the die needs.
const MARGIN: u32 = 2;

/// A failure that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// What was to fail, and when.
    pub failure: Failure,
    /// Requests of the measured phase before it.
    pub request: u64,
    /// The time, as far as there is a clock.
    pub at: Ns,
    /// Pages of the host and of parity that lay there.
    pub pages: u64,
}

/// What became of failures since the measured phase began.
#[derive(Clone, Debug, Default)]
pub struct FailureBooks {
    /// Those that happened, in their order.
    pub happened: Vec<Happened>,
    /// Pages of the host that they lost, unless newer data was in the write buffer.
    pub lost_pages: u64,
    /// Those of them that parity would have given back, had not another page of their stripe failed, too.
    pub lost_twice_failed: u64,
    /// Pages that were rebuilt in the background, with the host's reads, and before writes and trims of their stripes.
    pub rebuilt_in_background: u64,
    /// The same.
    pub rebuilt_for_reads: u64,
    /// The same.
    pub rebuilt_for_writes: u64,
    /// When the last rebuild was done: requests before it, and the time; none where it is not.
    pub mended: Option<(u64, Ns)>,
}

/// Failures of a run.
#[derive(Default)]
pub(crate) struct Failing {
    /// Those that have still to come.
    to_come: Vec<Failure>,
    /// Number of the measured phase's first request.
    first: u64,
    /// Pages that are rebuilt for each request.
    pub(super) by_request: f64,
    /// Requests of the measured phase so far, as far as they concern failures.
    pub(super) request: u64,
    /// The rebuild under way.
    pub(super) mending: Option<Mending>,
    pub(super) books: FailureBooks,
}

impl Failing {
    /// None yet; so many pages are to be rebuilt for each request of the host.
    pub(super) fn rebuilding(by_request: f64) -> Self {
        Self { by_request, ..Self::default() }
    }
}

impl Drive {
    /// These are going to fail in the measured phase, which begins now.
    pub fn expect_failures(&mut self, failures: &[Failure]) {
        self.failing.to_come = failures.to_vec();
        self.failing.first = self.announced();
        self.attention = !failures.is_empty();
    }

    /// What became of failures; none where none was to come.
    pub fn failure_books(&self) -> Option<&FailureBooks> {
        let any = !self.failing.to_come.is_empty() || !self.failing.books.happened.is_empty();
        any.then_some(&self.failing.books)
    }

    /// Failures that have not happened.
    pub fn failures_to_come(&self) -> &[Failure] {
        &self.failing.to_come
    }

    /// Pages on flash that has failed, which nobody has rebuilt yet.
    pub fn unmended_pages(&self) -> u64 {
        let is_failed = |lpn: &Lpn| self.ftl.place_of(*lpn).is_some_and(|ppn| self.flash.is_failed(ppn));
        if self.failing.mending.is_some() { (0..self.geometry.logical_pages()).filter(is_failed).count() as u64 } else { 0 }
    }

    /// Whether something is to fail, or is being rebuilt: whoever serves requests asks [`Self::attend`] before each of them then.
    #[inline]
    pub(crate) fn wants_attention(&self) -> bool {
        self.attention
    }

    /// The time of the next failure that goes by time.
    pub(crate) fn next_failure(&self) -> Ns {
        let times = self.failing.to_come.iter().filter_map(|failure| if let When::At(at) = failure.when { Some(at) } else { None });
        times.min().unwrap_or(Ns::MAX)
    }

    /// What fails by the request of this number, at this time, fails now; a rebuild goes on by a step.
    ///
    /// # Errors
    /// Why the drive cannot go on.
    pub(crate) fn attend(&mut self, request: u64, at: Ns) -> Result<(), String> {
        let now = request - self.failing.first;
        let new = now - std::mem::replace(&mut self.failing.request, now);
        while let Some(due) = self.failing.to_come.iter().position(|failure| self.is_due(failure, at)) {
            let failure = self.failing.to_come.remove(due);
            self.fail(failure, at)?;
        }
        self.mend_beside_requests(new, at);
        self.attention = !self.failing.to_come.is_empty() || self.failing.mending.is_some();
        Ok(())
    }

    fn is_due(&self, failure: &Failure, at: Ns) -> bool {
        match failure.when {
            When::At(time) => time <= at,
            When::Request(number) => number <= self.failing.request,
        }
    }

    /// How many of these requests, the first of which has this number, may be served before the drive wants attention again: one at least.
    pub(crate) fn calm(&self, number: u64, requests: &[Request]) -> usize {
        if self.failing.mending.is_some() {
            return 1;
        }
        let until = |failure: &Failure| match failure.when {
            When::At(at) => requests.partition_point(|request| request.at < at),
            When::Request(request) => (request + self.failing.first).saturating_sub(number) as usize,
        };
        self.failing.to_come.iter().map(until).min().unwrap_or(usize::MAX).clamp(1, requests.len())
    }

    fn fail(&mut self, failure: Failure, at: Ns) -> Result<(), String> {
        let pages = failure.unit.pages(&self.geometry);
        let blocks: Vec<BlockId> = self.geometry.blocks_with(&pages).collect();
        self.flash.fail(pages.clone());
        for block in blocks.iter().copied() {
            match failure.unit {
                Unit::Page(_) => self.ftl.retire_when_empty(&mut self.flash, block),
                _ => self.ftl.retire(&mut self.flash, block),
            }
        }
        if let Unit::Die(die) = failure.unit {
            self.place_without(die as DieId);
        }
        let mut held: Vec<Lpn> = blocks.iter().flat_map(|block| self.valid_in(*block, &pages)).collect();
        held.sort_unstable();
        self.failing.books.happened.push(Happened { failure, request: self.failing.request, at, pages: held.len() as u64 });
        match self.geometry.stripes {
            None => held.into_iter().for_each(|lpn| self.lose_to_failure(lpn, false)),
            Some(stripes) => self.leave_to_stripes(stripes, &held),
        }
        self.require_spare(failure)
    }

    /// Whose data the valid pages of a block hold, as far as they are among these.
    fn valid_in(&self, block: BlockId, pages: &Range<Ppn>) -> Vec<Lpn> {
        let (mut found, mut page, first) = (vec![], 0, self.geometry.first_page(block));
        while let Some(valid) = self.flash.contents().next_valid(block, page) {
            if pages.contains(&(first + valid)) {
                found.push(self.flash.contents().to_logical[(first + valid) as usize]);
            }
            page = valid + 1;
        }
        found
    }

    /// Pages of a die that has failed go to others from now on, where these have room; else to that of their parity.
    fn place_without(&mut self, die: DieId) {
        let Some(stripes) = self.geometry.stripes else { return };
        let [elsewhere, with_parity] = [true, false].map(|relocates| stripes.without(die, relocates));
        let chosen = if self.lacks_room(&elsewhere, MARGIN).is_none() { elsewhere } else { with_parity };
        (self.geometry.stripes, self.flash.geometry.stripes, self.ftl.stripes) = (Some(chosen), Some(chosen), Some(chosen));
    }

    /// What lies on failed flash is lost where its stripe cannot give it back; the rest is going to be rebuilt.
    fn leave_to_stripes(&mut self, stripes: Stripes, held: &[Lpn]) {
        let mut of_held: Vec<u32> = held.iter().map(|lpn| stripes.of(*lpn)).collect();
        of_held.sort_unstable();
        of_held.dedup();
        let mut to_mend = false;
        for stripe in of_held {
            let members = stripes.data(stripe).chain([stripes.parity(stripe)]);
            let failed: Vec<Lpn> = members.filter(|lpn| self.ftl.place_of(*lpn).is_some_and(|ppn| self.flash.is_failed(ppn))).collect();
            let unprotected = self.ftl.is_unprotected(stripe);
            if unprotected || failed.len() > 1 {
                for lpn in failed.into_iter().filter(|lpn| !stripes.is_parity(*lpn)) {
                    self.lose_to_failure(lpn, !unprotected);
                }
                self.ftl.unprotect(&mut self.flash, stripe);
                self.ftl.forgive_empty(stripe);
            } else if failed == [stripes.parity(stripe)] && !stripes.has_parity(stripe) {
                self.ftl.unprotect(&mut self.flash, stripe);
            } else {
                to_mend = true;
            }
        }
        if to_mend {
            self.begin_mending();
        }
    }

    /// The data of a page is lost, unless the write buffer holds all of it anew; `twice` where parity would have given it back but for another
    /// failure.
    fn lose_to_failure(&mut self, lpn: Lpn, twice: bool) {
        if !self.ftl.is_whole_in_memory(lpn) {
            let is_new = !self.ftl.is_lost(lpn);
            self.ftl.report_lost(&mut self.flash, lpn);
            self.failing.books.lost_pages += u64::from(is_new);
            self.failing.books.lost_twice_failed += u64::from(is_new && twice);
        }
        self.ftl.drop_page(&mut self.flash, lpn);
    }

    /// Blocks of a die, or of the drive, that have not failed, and what keeps it from holding all data with these stripes: a sentence.
    fn lacks_room(&self, stripes: &Stripes, margin: u32) -> Option<String> {
        let pages = stripes.pages_by_die()?;
        let needed = u32::from(FIRST_OWN) + RESERVE + margin;
        (0..).zip(pages).find_map(|(die, pages)| {
            let blocks = self.blocks_left(self.geometry.blocks_of_domain(die));
            let wanted = pages.div_ceil(self.geometry.pages_per_block) + needed;
            (pages > 0 && blocks < wanted)
                .then(|| format!("die {die} has {blocks} blocks left, and its pages, open blocks and reserve want {wanted}"))
        })
    }

    fn blocks_left(&self, of: impl Iterator<Item = BlockId>) -> u32 {
        of.filter(|block| !self.flash.hot(*block).has(FAILED)).count() as u32
    }

    /// The drive goes on while its flash holds all that the host may write.
    fn require_spare(&self, failure: Failure) -> Result<(), String> {
        let lacks: Option<String> = match self.geometry.stripes {
            Some(stripes) if stripes.pages_by_die().is_none() => Some("no die is left for pages of its stripes".into()),
            Some(stripes) => self.lacks_room(&stripes, 0),
            None => {
                let blocks = self.blocks_left(self.geometry.block_ids());
                let open: u32 = self.ftl.stream_widths().iter().map(|(_, width)| width).sum();
                let wanted = self.geometry.host_pages.div_ceil(self.geometry.pages_per_block) + (open + RESERVE + 2).max(MIN_SPARE_BLOCKS);
                (blocks < wanted).then(|| format!("it has {blocks} blocks left, and its capacity, open blocks and reserve want {wanted}"))
            }
        };
        let dies = 0..self.geometry.domains();
        let is_left = |domain: &u32| self.blocks_left(self.geometry.blocks_of_domain(*domain)) > 0;
        let stuck = || dies.filter(is_left).any(|domain| self.ftl.free_blocks_of(domain as usize) == 0);
        let lacks = lacks.or_else(|| stuck().then(|| "no erased block is left to clean others with".into()));
        let lost = self.failing.books.lost_pages;
        lacks.map_or(Ok(()), |why| {
            Err(format!("{failure}: the drive stops: {why}; {lost} pages of the host were lost to failures; more drive.spare is right"))
        })
    }
}
