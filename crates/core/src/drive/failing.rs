//! Units of the flash that fail while the drive runs: what lay there is lost, or is left to be
//! rebuilt from its stripes (`background_rebuild`).
//!
//! A failure takes effect between two requests: with the first from its number or its time on or,
//! where the drive is idle, in the pause.

use crate::base::failure::{Failure, Stretch, Unit, When};
use crate::base::request::Request;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, Lpn, Ns, PageInBlock};
use crate::drive::Drive;
use crate::drive::background_rebuild::BackgroundRebuild;
use crate::ftl::lifetime::{Lifetime, Stage};
use crate::ftl::retire::Beyond;
pub use crate::ftl::retire::TakenByFailures;

/// What helps a drive that is short of blocks.
const MORE_SPARE: &str = "increase `drive.spare`";

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
    /// The stage of the drive's life, where it has stages.
    pub stage: Option<Stage>,
}

/// What became of failures since the measured phase began.
#[derive(Clone, Debug, Default)]
pub struct FailureBooks {
    /// Those that happened, in their order.
    pub happened: Vec<Happened>,
    /// Pages of the host that they have taken.
    pub taken: TakenByFailures,
    /// Pages that were rebuilt in the background.
    pub rebuilt_in_background: u64,
    /// Those that were rebuilt with the host's reads.
    pub rebuilt_for_reads: u64,
    /// Those that were rebuilt before writes and trims of their stripes.
    pub rebuilt_for_writes: u64,
    /// When the last rebuild was done: requests before it, and the time; none where it is not.
    pub rebuild_done: Option<(u64, Ns)>,
}

/// A page that the host read and that had to be rebuilt.
#[derive(Clone, Copy)]
pub(crate) struct RebuiltRead {
    /// The number under which that was done.
    pub(crate) serial: u32,
    /// The page was read first, and could not be decoded. Of failed flash nothing is read.
    pub(crate) was_read: bool,
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
    /// The number under which a page was rebuilt last, and what a read of the host had rebuilt of
    /// which time has not heard yet.
    pub(super) last_rebuilt: u32,
    pub(super) rebuilt_read: Option<RebuiltRead>,
    /// The rebuild under way.
    pub(super) background: Option<BackgroundRebuild>,
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
    pub fn failure_books(&self) -> Option<FailureBooks> {
        let any = !self.failing.to_come.is_empty() || !self.failing.books.happened.is_empty();
        any.then(|| FailureBooks { taken: self.ftl.taken, ..self.failing.books.clone() })
    }

    /// Failures that have not happened.
    pub fn failures_to_come(&self) -> &[Failure] {
        &self.failing.to_come
    }

    /// Pages on flash that has failed, which nobody has rebuilt yet.
    pub fn pages_to_rebuild(&self) -> u64 {
        let is_failed = |lpn: &Lpn| self.ftl.lies_on_failed(&self.flash, *lpn);
        if self.failing.background.is_some() {
            Lpn::range(0..self.geometry.logical_pages()).filter(is_failed).count() as u64
        } else {
            0
        }
    }

    /// Whether something is to fail, or is being rebuilt: whoever serves requests asks
    /// [`Self::attend`] before each of them then.
    #[inline]
    pub(crate) fn wants_attention(&self) -> bool {
        self.attention
    }

    /// The time of the next failure that goes by time.
    pub(crate) fn next_failure(&self) -> Ns {
        let times =
            self.failing.to_come.iter().filter_map(|failure| {
                if let When::At(at) = failure.when { Some(at) } else { None }
            });
        times.min().unwrap_or(Ns::MAX)
    }

    /// What fails by the request of this number, at this time, fails now; a rebuild goes on by a
    /// step.
    ///
    /// # Errors
    /// Why the drive cannot go on.
    pub(crate) fn attend(&mut self, request: u64, at: Ns) -> Result<(), String> {
        let now = request - self.failing.first;
        let new = now - std::mem::replace(&mut self.failing.request, now);
        while let Some(due) =
            self.failing.to_come.iter().position(|failure| self.is_due(failure, at))
        {
            let failure = self.failing.to_come.remove(due);
            self.fail(failure, at)?;
        }
        self.rebuild_during_requests(new, at);
        self.attention = !self.failing.to_come.is_empty() || self.failing.background.is_some();
        Ok(())
    }

    fn is_due(&self, failure: &Failure, at: Ns) -> bool {
        match failure.when {
            When::At(time) => time <= at,
            When::Request(number) => number <= self.failing.request,
        }
    }

    /// How many of these requests, the first of which has this number, may be served before the
    /// drive wants attention again: one at least.
    pub(crate) fn calm(&self, number: u64, requests: &[Request]) -> usize {
        if self.failing.background.is_some() {
            return 1;
        }
        let until = |failure: &Failure| match failure.when {
            When::At(at) => requests.partition_point(|request| request.at < at),
            When::Request(request) => {
                (request + self.failing.first).saturating_sub(number) as usize
            }
        };
        self.failing.to_come.iter().map(until).min().unwrap_or(usize::MAX).clamp(1, requests.len())
    }

    fn fail(&mut self, failure: Failure, at: Ns) -> Result<(), String> {
        let pages = failure.unit.pages(&self.geometry);
        let blocks: Vec<BlockId> = pages.blocks(&self.geometry).collect();
        self.flash.fail(pages);
        for block in blocks.iter().copied() {
            if self.flash.is_dead(block) {
                self.ftl.retire(&mut self.flash, block);
            } else {
                self.ftl.retire_when_empty(&mut self.flash, block);
            }
        }
        if let Unit::Die(die) = failure.unit {
            self.place_without(die as DieId);
        }
        let mut held: Vec<Lpn> =
            blocks.iter().flat_map(|block| self.valid_in(*block, pages)).collect();
        held.sort_unstable();
        let stage = self.lifetime().map(Lifetime::stage);
        self.failing.books.happened.push(Happened {
            failure,
            request: self.failing.request,
            at,
            pages: held.len() as u64,
            stage,
        });
        self.require_room(failure, held.len())?;
        match self.geometry.stripes {
            None => held
                .into_iter()
                .for_each(|lpn| self.ftl.lose_page(&mut self.flash, lpn, Beyond::NoParity)),
            Some(stripes) => self.leave_to_stripes(stripes, &held),
        }
        // Old versions on which delayed parity counts may have gone, too.
        for block in blocks {
            self.ftl.make_whole_without(&mut self.flash, block);
        }
        if let Some(stripes) =
            self.geometry.stripes.filter(|_| matches!(failure.unit, Unit::Die(_)))
        {
            self.ftl.give_up_parity_without_place(&mut self.flash, stripes);
        }
        self.ftl.settle_parity(&mut self.flash);
        self.refill_reserve();
        self.form_waiting();
        Ok(())
    }

    /// Whose data the valid pages of a block hold, as far as they are among these.
    fn valid_in(&self, block: BlockId, pages: Stretch) -> Vec<Lpn> {
        let (mut found, mut page, first) =
            (vec![], PageInBlock::FIRST, self.geometry.first_page(block));
        while let Some(valid) = self.flash.contents().next_valid(block, page) {
            if pages.contains(first + valid) {
                found.push(self.flash.contents().owner(first + valid));
            }
            page = valid + 1;
        }
        found
    }

    /// Pages of a die that has failed go to others from now on, where these have room; else to that
    /// of their parity.
    fn place_without(&mut self, die: DieId) {
        let Some(stripes) = self.geometry.stripes else { return };
        let [elsewhere, with_parity] =
            [true, false].map(|relocates| stripes.without(die, relocates));
        let chosen = if self.lacks_room(&elsewhere).is_none() { elsewhere } else { with_parity };
        (self.geometry.stripes, self.flash.geometry.stripes, self.ftl.stripes) =
            (Some(chosen), Some(chosen), Some(chosen));
    }

    /// What lies on failed flash is lost where its stripe cannot give it back; the rest is going to
    /// be rebuilt.
    fn leave_to_stripes(&mut self, stripes: Stripes, held: &[Lpn]) {
        let mut of_held: Vec<u32> = held.iter().map(|lpn| stripes.of(*lpn)).collect();
        of_held.sort_unstable();
        of_held.dedup();
        let (mut gone, mut urgent) = (vec![], vec![]);
        for stripe in of_held {
            let members = stripes.data(stripe).chain([stripes.parity(stripe)]);
            let failed: Vec<Lpn> =
                members.filter(|lpn| self.ftl.lies_on_failed(&self.flash, *lpn)).collect();
            let of_host = || failed.iter().copied().filter(|lpn| !stripes.is_parity(*lpn));
            let gone_here: Vec<(Lpn, Beyond)> = of_host()
                .filter_map(|lpn| Some((lpn, self.ftl.beyond(&self.flash, lpn)?)))
                .collect();
            if failed == [stripes.parity(stripe)] && !stripes.has_parity(stripe) {
                self.ftl.unprotect(&mut self.flash, stripe);
            } else if !gone_here.is_empty() || self.ftl.partial.get(stripe).is_some() {
                urgent.extend(
                    of_host().filter(|lpn| gone_here.iter().all(|(other, _)| other != lpn)),
                );
                gone.push((stripe, gone_here));
            } else {
                self.begin_rebuild();
            }
        }
        self.rebuild_at_once(stripes, &urgent, gone);
    }

    /// These pages of a stripe are gone for good, and its parity with them. What is left of one
    /// that waited for its parity waits on.
    pub(super) fn lose(&mut self, stripes: Stripes, stripe: u32, gone: &[(Lpn, Beyond)]) {
        for (lpn, beyond) in gone {
            if self.ftl.lies_on_failed(&self.flash, *lpn) {
                self.ftl.lose_page(&mut self.flash, *lpn, *beyond);
            }
        }
        if self.ftl.may_give_up_parity(stripes, stripe) {
            self.ftl.unprotect(&mut self.flash, stripe);
            if self.ftl.partial.is_on() && stripes.has_parity(stripe) {
                self.ftl.partial.to_protect.push(stripe);
            }
        }
        self.ftl.forgive_empty(stripe);
        self.ftl.settle_stripe(&mut self.flash, stripe);
    }

    /// What keeps the dies from holding all data with these stripes, and what would be right: a
    /// sentence.
    fn lacks_room(&self, stripes: &Stripes) -> Option<String> {
        let Some(pages) = stripes.pages_by_die() else { return Some(self.lacks_dies(stripes)) };
        (0..).zip(pages).find_map(|(die, pages)| {
            // Of each stream it may have one open.
            let lacks = self.lacks_blocks(die, pages, self.ftl.stream_widths().len() as u32)?;
            (pages > 0).then(|| format!("die {die}: {lacks}"))
        })
    }

    /// That members of a stripe would lie on one die: no spare helps against that.
    fn lacks_dies(&self, stripes: &Stripes) -> String {
        let works = |die: &u32| {
            self.geometry.blocks_of_domain(*die).any(|block| !self.flash.has_failed(block))
        };
        let (members, left) =
            (stripes.members(), (0..self.geometry.domains()).filter(works).count());
        let shorter =
            if left > 1 { format!("set parity.stripe={left} or less, or ") } else { String::new() };
        format!(
            "stripes have {members} host pages, each on its own die, and {left} of {} dies are \
             left; {shorter}use more dies",
            self.geometry.domains()
        )
    }

    /// What keeps a domain from holding so many pages with so many open blocks. Where no more
    /// blocks are free than the reserve, one of those that are full must have a page to clean, even
    /// while two pages are there twice, on their way.
    fn lacks_blocks(&self, domain: u32, pages: u32, open: u32) -> Option<String> {
        let blocks = self
            .geometry
            .blocks_of_domain(domain)
            .filter(|block| !self.flash.has_failed(*block))
            .count() as u32;
        let wanted =
            (pages + 2).div_ceil(self.geometry.pages_per_block) + open + self.ftl.reserve();
        (blocks < wanted).then(|| {
            format!(
                "{blocks} blocks left, {wanted} needed for data, open blocks and the GC reserve; \
                 {MORE_SPARE}"
            )
        })
    }

    /// The drive goes on while its flash holds all that the host may write, and while there is room
    /// to clean blocks in.
    fn require_room(&self, failure: Failure, held: usize) -> Result<(), String> {
        let lacks = if let Some(stripes) = self.geometry.stripes {
            self.lacks_room(&stripes)
        } else {
            let open = self.ftl.stream_widths().iter().map(|(_, width)| width).sum();
            self.lacks_blocks(0, self.geometry.host_pages, open)
                .map(|lacks| format!("flash: {lacks}"))
        };
        let cannot_clean = || {
            let why = (0..self.geometry.domains())
                .find_map(|domain| self.ftl.cannot_clean(&self.flash, domain as usize))?;
            Some(format!("{why}; {MORE_SPARE}"))
        };
        lacks.or_else(cannot_clean).map_or(Ok(()), |why| {
            let lost = self.ftl.taken.pages;
            Err(format!(
                "{failure}: the drive stopped: {why}. Host pages lost to failures so far: {lost}; \
                 pages on the failed flash not rebuilt: {held}"
            ))
        })
    }

    /// Cleans where a failure took free blocks, so that the next one finds as many.
    fn refill_reserve(&mut self) {
        for domain in 0..self.geometry.domains() {
            if self.geometry.blocks_of_domain(domain).any(|block| !self.flash.has_failed(block)) {
                let (flash, ftl, mut slots) = self.parts();
                let reserve = ftl.reserve();
                ftl.ensure_free(flash, &mut slots, domain as usize, reserve);
            }
        }
    }
}
