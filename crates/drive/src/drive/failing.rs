//! Parts of the flash that fail while the drive runs. Their data is lost, or is rebuilt from its
//! stripes (`background_rebuild`).
//!
//! A failure takes effect between two requests: with the first request at or after its number or
//! time. If the drive is idle, it takes effect during the pause.

use crate::base::failure::{Failure, Stretch, Unit, When};
use crate::base::request::Request;
use crate::base::stripes::Stripes;
use crate::base::units::{BlockId, DieId, Lpn, Ns, PageInBlock};
use crate::drive::Drive;
use crate::drive::background_rebuild::BackgroundRebuild;
use crate::ftl::lifetime::{Lifetime, Stage};
use crate::ftl::retire::Beyond;
pub use crate::ftl::retire::TakenByFailures;

/// Remedy for a drive with too few blocks.
const MORE_SPARE: &str = "increase `drive.spare`";

/// Failure that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Happened {
    /// Injected failure.
    pub failure: Failure,
    /// Number of requests of the measured phase before the failure.
    pub request: u64,
    /// Time of the failure, if there is a clock.
    pub at: Ns,
    /// Number of host pages and parity pages on the failed flash.
    pub pages: u64,
    /// Stage of the drive's life, if it has stages.
    pub stage: Option<Stage>,
}

/// Effects of failures since the beginning of the measured phase.
#[derive(Clone, Debug, Default)]
pub struct FailureBooks {
    /// Failures that happened, in order.
    pub happened: Vec<Happened>,
    /// Host pages that failures took.
    pub taken: TakenByFailures,
    /// Number of pages rebuilt in the background.
    pub rebuilt_in_background: u64,
    /// Number of pages rebuilt because the host read them.
    pub rebuilt_for_reads: u64,
    /// Number of pages rebuilt before writes and trims of their stripes.
    pub rebuilt_for_writes: u64,
    /// Number of requests and time at the end of the last rebuild; `None` before that end.
    pub rebuild_done: Option<(u64, Ns)>,
}

/// Page that the host read and that had to be rebuilt.
#[derive(Clone, Copy)]
pub(crate) struct RebuiltRead {
    /// Number of the computation that rebuilt the page.
    pub(crate) serial: u32,
    /// Whether the page was read first and could not be decoded. Pages of failed flash are not
    /// read.
    pub(crate) was_read: bool,
}

/// Failures of a run.
#[derive(Default)]
pub(crate) struct Failing {
    /// Failures that are still to come.
    to_come: Vec<Failure>,
    /// Number of the first request of the measured phase.
    first: u64,
    /// Number of pages that are rebuilt per request.
    pub(super) by_request: f64,
    /// Number of requests of the measured phase that failures have taken into account.
    pub(super) request: u64,
    /// Number of the last rebuild of a page, and the page that the last host read had rebuilt. The
    /// timed gear has not processed this page yet.
    pub(super) last_rebuilt: u32,
    pub(super) rebuilt_read: Option<RebuiltRead>,
    /// Running rebuild.
    pub(super) background: Option<BackgroundRebuild>,
    pub(super) books: FailureBooks,
}

impl Failing {
    /// Begins without failures. `by_request` is the number of pages to rebuild per host request.
    pub(super) fn rebuilding(by_request: f64) -> Self {
        Self { by_request, ..Self::default() }
    }
}

impl Drive {
    /// Sets the failures that will happen in the measured phase, which begins now.
    pub fn expect_failures(&mut self, failures: &[Failure]) {
        self.failing.to_come = failures.to_vec();
        self.failing.first = self.announced();
        self.attention = !failures.is_empty();
    }

    /// Returns the effects of failures; `None` if no failure was requested.
    pub fn failure_books(&self) -> Option<FailureBooks> {
        let any = !self.failing.to_come.is_empty() || !self.failing.books.happened.is_empty();
        any.then(|| FailureBooks { taken: self.ftl.taken, ..self.failing.books.clone() })
    }

    /// Returns the failures that have not happened yet.
    pub fn failures_to_come(&self) -> &[Failure] {
        &self.failing.to_come
    }

    /// Returns the number of pages on failed flash that are not rebuilt yet.
    pub fn pages_to_rebuild(&self) -> u64 {
        let is_failed = |lpn: &Lpn| self.ftl.lies_on_failed(&self.flash, *lpn);
        if self.failing.background.is_some() {
            Lpn::range(0..self.geometry.logical_pages()).filter(is_failed).count() as u64
        } else {
            0
        }
    }

    /// Returns whether a failure is to come or a rebuild is running. Callers that serve requests
    /// then call [`Self::attend`] before each request.
    #[inline]
    pub(crate) fn wants_attention(&self) -> bool {
        self.attention
    }

    /// Returns the time of the next failure that has a time.
    pub(crate) fn next_failure(&self) -> Ns {
        let times =
            self.failing.to_come.iter().filter_map(|failure| {
                if let When::At(at) = failure.when { Some(at) } else { None }
            });
        times.min().unwrap_or(Ns::MAX)
    }

    /// Lets all failures happen that are due at this request or time, and continues a rebuild by
    /// one step.
    ///
    /// # Errors
    /// Reports why the drive cannot go on.
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

    /// Returns how many of these requests the drive may serve before it needs [`Self::attend`]
    /// again. The result is at least 1. `number` is the number of the first request.
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
        // Old versions that delayed parity needs may also be lost.
        for block in blocks {
            self.ftl.make_whole_where(&mut self.flash, |flash, ppn| {
                flash.geometry.block_of(ppn) == block && flash.is_failed(ppn)
            });
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

    /// Returns the host pages whose valid data lies in a block and among these pages.
    fn valid_in(&self, block: BlockId, pages: Stretch) -> Vec<Lpn> {
        let (mut found, mut page, first) =
            (vec![], PageInBlock::FIRST, self.geometry.first_page(block));
        while let Some(valid) = self.flash.contents.next_valid(block, page) {
            if pages.contains(first + valid) {
                found.push(self.flash.contents.owner(first + valid));
            }
            page = valid + 1;
        }
        found
    }

    /// Gives new dies to the pages of a failed die: other dies if these have space, and otherwise
    /// the dies of their parities.
    fn place_without(&mut self, die: DieId) {
        let Some(stripes) = self.geometry.stripes else { return };
        let [elsewhere, with_parity] =
            [true, false].map(|relocates| stripes.without(die, relocates));
        let chosen = if self.lacks_room(&elsewhere).is_none() { elsewhere } else { with_parity };
        (self.geometry.stripes, self.flash.geometry.stripes, self.ftl.stripes) =
            (Some(chosen), Some(chosen), Some(chosen));
    }

    /// Handles pages on failed flash. Pages that their stripes cannot rebuild are lost. The other
    /// pages are rebuilt later.
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

    /// Loses these pages of a stripe for good, and the stripe's parity with them. If the stripe
    /// waited for its parity, its remaining pages continue to wait.
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

    /// Returns the reason why the dies cannot hold all data with these stripes, and a remedy, as a
    /// sentence.
    fn lacks_room(&self, stripes: &Stripes) -> Option<String> {
        let Some(pages) = stripes.pages_by_die() else { return Some(self.lacks_dies(stripes)) };
        (0..).zip(pages).find_map(|(die, pages)| {
            // A die may have one open block of each stream.
            let lacks = self.lacks_blocks(die, pages, self.ftl.streams.widths().len() as u32)?;
            (pages > 0).then(|| format!("die {die}: {lacks}"))
        })
    }

    /// Describes that members of a stripe would lie on one die. More spare blocks would not help.
    fn lacks_dies(&self, stripes: &Stripes) -> String {
        let works = |die: &u32| {
            self.geometry.blocks_of_domain(*die).any(|block| !self.flash.has_failed(block))
        };
        let (members, left) =
            (stripes.members(), (0..self.geometry.domains()).filter(works).count());
        let shorter =
            if left > 1 { format!("set parity.stripe={left} or less, or ") } else { String::new() };
        format!(
            "stripes have {members} host pages, each on a different die, but only {left} of {} \
             dies are left; {shorter}use a drive with more dies",
            self.geometry.domains()
        )
    }

    /// Returns the reason why a domain cannot hold this number of pages with this number of open
    /// blocks. If only the reserve is free, some full block must have an invalid page. This must
    /// hold even while two pages are stored twice because they move.
    fn lacks_blocks(&self, domain: u32, pages: u32, open: u32) -> Option<String> {
        let blocks = self
            .geometry
            .blocks_of_domain(domain)
            .filter(|block| !self.flash.has_failed(*block))
            .count() as u32;
        let wanted =
            (pages + 2).div_ceil(self.geometry.pages_per_block) + open + self.ftl.streams.reserve();
        (blocks < wanted).then(|| {
            format!(
                "{blocks} blocks left, {wanted} needed for data, open blocks and the GC reserve; \
                 {MORE_SPARE}"
            )
        })
    }

    /// Checks that the flash can still hold all data that the host may write, and has space for
    /// cleaning blocks.
    fn require_room(&self, failure: Failure, held: usize) -> Result<(), String> {
        let lacks = if let Some(stripes) = self.geometry.stripes {
            self.lacks_room(&stripes)
        } else {
            let open = self.ftl.streams.widths().iter().map(|(_, width)| width).sum();
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
                 pages not yet rebuilt from failed flash: {held}"
            ))
        })
    }

    /// Cleans blocks where a failure took free blocks, so that the next failure finds the same
    /// number of free blocks.
    fn refill_reserve(&mut self) {
        for domain in 0..self.geometry.domains() {
            if self.geometry.blocks_of_domain(domain).any(|block| !self.flash.has_failed(block)) {
                let (ftl, mut cx) = self.parts();
                let reserve = ftl.streams.reserve();
                ftl.ensure_free(&mut cx, domain as usize, reserve);
            }
        }
    }
}
