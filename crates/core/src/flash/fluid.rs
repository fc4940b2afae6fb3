//! Reads in bulk: between two looks at a block its reads are numbers drawn by chance, and not
//! served one by one.
//!
//! Each page is read as a Poisson process of its own rate, independently of all others. So a
//! block's reads are one, whose rate is the sum over its valid pages; and that rate changes only
//! when one is programmed or its data is no longer wanted.
//!
//! - **The alarm.** `n` reads are left until it. The last of them comes when the integral of the
//!   block's rate has grown by a gamma variate of shape n: in that measure of time the reads are a
//!   Poisson process of rate 1, however the rate changes (the time change theorem). One number is
//!   drawn for each alarm, and a change of the rate only moves the time at which the integral
//!   reaches it. What was expected before the change stays in the integral: reads not yet drawn
//!   count.
//! - **How many there were before the alarm.** Of the n - 1 reads before the last, each came by now
//!   with the probability "integral so far over the integral at the alarm": a binomial draw. From
//!   there on the process begins anew, and a new alarm is drawn.
//! - **Where they went.** Given their number they are independent, and a page gets its share of the
//!   integral: a multinomial draw, wordline by wordline. For a page that came or went meanwhile the
//!   share counts the time that it was there (`pending`).
//! - **The read that rings** is drawn from the rates at its time and served like any other read, so
//!   every technique sees what it sees in the other gears.
//!
//! Pages of a *tired* block may need retries. The number of retries of a read depends on the dose
//! of the reads before it. Until a page reaches its next level of retries, that number is known for
//! each page, and the reads are drawn in bulk (`retried`). Other reads are drawn page by page and
//! served one by one, up to [`AT_ONCE`] in a row.
//!
//! All of it is exact, with three exceptions. Reads of a request of several pages come together in
//! a workload and are apart here. What a new wordline need not answer for, in a block that is read
//! while it is written, is counted up to the last draw, which is less than 1/[`OF_ALARM`] of the
//! way to the alarm ago: its dose is over-stated by less than that. A read of a tired block that
//! is served by itself is served when the last of its row comes, [`LATE`] after its own time at
//! most, in the mean.
//!
//! Where page kinds deposit different doses, an alarm is approached in strides: as many reads as
//! surely do not reach it, then one, and again.

mod agenda;
mod chance;
mod draw;
mod flow;
mod mean_reads;
mod retried;
mod track;
mod words;

use crate::base::daily::DailyHours;
use crate::base::dose::Quarters;
use crate::base::mem::prefetch;
use crate::base::rates::{NS_PER_S, ReadRates};
use crate::base::units::{BlockId, Lpn, Ns, PageInBlock, Ppn};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::block::{BlockState, SUSPECT};
use crate::flash::counted::PAGES;
use crate::hints::Hinted;
use agenda::Agenda;
use chance::Chance;
use flow::Flow;
use mean_reads::MeanReads;
use words::Words;

/// A block that is read while it is written is drawn anew before a wordline when so much of the way
/// to its alarm is behind.
const OF_ALARM: f64 = 512.0;

/// Reads of a tired block in a row.
const AT_ONCE: u32 = 1024;
/// The mean time that a row takes: an hour, below which ages are not told apart.
const LATE: Ns = 3_600_000_000_000;

/// What the flash knows of reads that come in bulk.
pub(crate) struct Fluid {
    rates: ReadRates,
    /// Hours in which reads come. Flows, the agenda and the mean of reads use the clock of these
    /// hours.
    hours: DailyHours,
    host_pages: u32,
    chance: Chance,
    flows: Vec<Flow>,
    /// Reads expected of each place (a wordline or, where page kinds deposit different doses or
    /// pages are counted, a page) since its block was drawn, beyond what its valid pages come to
    /// that were there all the time.
    pending: Vec<f32>,
    by_page: bool,
    /// Whether somebody wants to know of each read that takes retries.
    hears_retries: bool,
    mean_reads: MeanReads,
    agenda: Agenda,
    /// Blocks of which something may have changed that their alarm depends on.
    touched: Vec<BlockId>,
    /// Pages whose reads have to be served by themselves.
    owed: Vec<Lpn>,
    /// Reads drawn that the host's counts do not have yet.
    served: u64,
    /// Those of them of each word of the host's hints; none where the host says nothing.
    words: Option<Words>,
    weights: Vec<f64>,
    /// Valid pages of the block at hand, with their rates; and whether they are those of the block
    /// whose alarm is being drawn.
    places: Vec<PageInBlock>,
    page_rates: Vec<f64>,
    is_listed: bool,
    counts: Vec<u32>,
    /// Number of reads of each place, without their retries; and the retries of each of these
    /// reads. The second list is empty if no read takes a retry.
    reads: Vec<u32>,
    retries: Vec<u8>,
    doses: Vec<Quarters>,
    order: Vec<u32>,
}

impl Fluid {
    /// Reads of a page in a nanosecond.
    #[inline]
    fn per_ns(&self, lpn: Lpn) -> f64 {
        reads_of(&self.rates, self.host_pages, lpn)
    }

    /// The alarm of a block may have moved.
    #[inline]
    pub(super) fn touch(&mut self, block: BlockId) {
        if self.touched.last() != Some(&block) {
            self.touched.push(block);
        }
    }
}

/// Reads of a page in a nanosecond. Nobody reads parity.
#[inline]
fn reads_of(rates: &ReadRates, host_pages: u32, lpn: Lpn) -> f64 {
    if lpn.number() < host_pages { rates.pages.per_ns(lpn) } else { 0.0 }
}

impl Flash {
    /// From now on pages are read at these rates, without requests; the host has read so many
    /// before. Somebody may want to know of each read that takes retries.
    pub(crate) fn begin_fluid(
        &mut self,
        (rates, hours): (ReadRates, DailyHours),
        (hinted, hears_retries): (Option<Hinted>, bool),
        (seed, before): (u64, u64),
    ) {
        // Every look at a block goes through the owners of its pages.
        self.contents.settle_all();
        let bits = self.geometry.cell.bits() as usize;
        let by_page = self.counters == PAGES
            || self.dose[..bits].iter().any(|dose| *dose != self.dose[0])
            || self.are_limits_by_kind();
        let places = self.wordlines.len() * if by_page { bits } else { 1 };
        self.fluid = Some(Box::new(Fluid {
            rates,
            hours,
            host_pages: self.geometry.host_pages,
            chance: Chance::new(seed),
            flows: vec![Flow::STILL; self.hot.len()],
            pending: vec![0.0; places],
            by_page,
            hears_retries,
            mean_reads: MeanReads::new(hours.worked(self.now), 0.0, before),
            agenda: Agenda::default(),
            touched: vec![],
            owed: vec![],
            served: 0,
            words: hinted.map(|hinted| Words::new(hinted, self.hot.len())),
            weights: vec![],
            places: vec![],
            page_rates: vec![],
            is_listed: false,
            counts: vec![],
            reads: vec![],
            retries: vec![],
            doses: vec![],
            order: vec![],
        }));
        self.take_rates();
    }

    /// From now on pages are read at other rates.
    pub(crate) fn set_rates(&mut self, rates: ReadRates) {
        self.draw_all();
        self.fluid.as_mut().expect("reads come in bulk").rates = rates;
        self.take_rates();
    }

    /// All reads up to now are drawn, and no more come.
    pub(crate) fn end_fluid(&mut self) {
        self.draw_all();
        self.fluid = None;
    }

    /// Sums up the rates of every block's pages.
    fn take_rates(&mut self) {
        let mut fluid = self.fluid.take().expect("reads come in bulk");
        let now = fluid.hours.worked(self.now);
        fluid.mean_reads.set(now, fluid.rates.pages.sum(fluid.host_pages) / NS_PER_S);
        for block in self.geometry.block_ids() {
            let first = self.geometry.first_page(block);
            let rate_of = |page: PageInBlock| fluid.per_ns(self.contents.owner(first + page));
            let rate: f64 = self.valid_pages_of(block).map(rate_of).sum();
            let flow = &mut fluid.flows[block.index()];
            flow.begin(now, 1, f64::INFINITY);
            flow.rate = rate;
            fluid.touched.push(block);
        }
        self.fluid = Some(fluid);
        self.plan_touched();
    }

    /// Returns the time on the clock that runs only while reads come.
    #[inline]
    fn time_of_reads(&self) -> Ns {
        self.fluid.as_ref().map_or(self.now, |fluid| fluid.hours.worked(self.now))
    }

    /// Whether reads come in bulk.
    #[inline]
    pub(crate) fn is_fluid(&self) -> bool {
        self.fluid.is_some()
    }

    /// Pages that the host has read by now, of which so many are counted: in the mean, where reads
    /// come in bulk.
    pub(crate) fn host_reads(&self, counted: u64) -> u64 {
        self.fluid
            .as_ref()
            .map_or(counted, |fluid| fluid.mean_reads.by(fluid.hours.worked(self.now)))
    }

    /// Whether a block is read in bulk.
    pub(super) fn is_read_in_bulk(&self, block: BlockId) -> bool {
        self.fluid.as_ref().is_some_and(|fluid| fluid.flows[block.index()].rate > 0.0)
    }

    fn valid_pages_of(&self, block: BlockId) -> impl Iterator<Item = PageInBlock> {
        std::iter::successors(self.contents.next_valid(block, PageInBlock::FIRST), move |page| {
            self.contents.next_valid(block, *page + 1)
        })
    }

    /// When a block is looked at next for the reads that it has got; `Ns::MAX` where none is.
    #[inline]
    pub(crate) fn next_bulk(&self) -> Ns {
        self.fluid.as_ref().map_or(Ns::MAX, |fluid| fluid.hours.reaches(fluid.agenda.next()))
    }

    /// Looks at the blocks that are due, until the alarm of one is: all its reads are drawn, and
    /// those that have to be served by themselves are [`Self::owed_read`].
    pub(crate) fn look_at_due(&mut self) {
        let now = self.time_of_reads();
        loop {
            let Some(fluid) = self.fluid.as_mut() else { return };
            let Some(block) = fluid.agenda.take(&mut fluid.flows, now) else { return };
            let flow = &mut fluid.flows[block.index()];
            flow.pass(now);
            if !flow.is_due() {
                let at = flow.next_look(self.hot[block.index()].state == BlockState::Open);
                fluid.agenda.plan(&mut fluid.flows, block, at);
                continue;
            }
            let (left, before) = (u64::from(flow.left), u64::from(flow.left) - 1);
            if self.hot[block.index()].has(SUSPECT) {
                self.draw_tired(block, left);
            } else {
                self.draw_alarm(block, before);
            }
            // What comes next is drawn when the reads that are owed have been served.
            self.restart(block, 1, f64::INFINITY);
            self.touch(block);
            if self.fluid.as_ref().is_some_and(|fluid| !fluid.owed.is_empty()) {
                return;
            }
        }
    }

    /// A read was served by itself from this page: its block's alarm is nearer.
    #[inline]
    pub(crate) fn served_from(&mut self, ppn: Ppn) {
        if self.geometry.has_page(ppn) {
            self.touch(self.geometry.block_of(ppn));
        }
    }

    /// Whether there is a next one.
    #[inline]
    pub(crate) fn owes_reads(&self) -> bool {
        self.fluid.as_ref().is_some_and(|fluid| !fluid.owed.is_empty())
    }

    /// The page of the next read that is served by itself.
    #[inline]
    pub(crate) fn owed_read(&mut self) -> Option<Lpn> {
        self.fluid.as_mut()?.owed.pop()
    }

    /// A page was programmed: from now on its block is read as often as it is.
    #[inline]
    pub(super) fn gain_reads(&mut self, block: BlockId, page: PageInBlock, lpn: Lpn) {
        if self.fluid.is_some() {
            self.change_reads(block, page, lpn, 1.0);
        }
    }

    /// The data of a page is not wanted any more, and nobody reads it there.
    #[inline]
    pub(super) fn lose_reads(&mut self, block: BlockId, page: PageInBlock) {
        if self.fluid.is_some() {
            let lpn = self.contents.owner(self.geometry.first_page(block) + page);
            self.change_reads(block, page, lpn, -1.0);
        }
    }

    /// Asks for what is touched when the data of a page is no longer wanted.
    #[inline]
    pub(super) fn prefetch_bulk(&self, block: BlockId, ppn: Ppn) {
        if let Some(fluid) = &self.fluid {
            self.contents.prefetch_owner(ppn);
            prefetch(&fluid.flows, block.index());
            prefetch(
                &fluid.pending,
                if fluid.by_page { ppn.index() } else { self.geometry.wordline_of(ppn) as usize },
            );
        }
    }

    fn change_reads(&mut self, block: BlockId, page: PageInBlock, lpn: Lpn, sign: f64) {
        if let Some(fluid) = &self.fluid {
            self.change_rate((block, page), lpn, sign * fluid.per_ns(lpn));
        }
    }

    /// A page of the host's is read so often a second from now on. `ppn` is where flash holds data
    /// of it.
    pub(crate) fn set_read_rate(&mut self, lpn: Lpn, ppn: Option<Ppn>, per_s: f32) {
        let fluid = self.fluid.as_mut().expect("reads come in bulk");
        let before = fluid.rates.pages.per_ns(lpn);
        fluid.rates.pages.set(lpn, per_s);
        let by = fluid.rates.pages.per_ns(lpn) - before;
        let now = fluid.hours.worked(self.now);
        fluid.mean_reads.change(now, by);
        let Some(ppn) = ppn else { return };
        let block = self.geometry.block_of(ppn);
        let page = self.geometry.page_in(block, ppn);
        if self.contents.next_valid(block, page) == Some(page) {
            self.change_rate((block, page), lpn, by);
        }
    }

    /// A page of a block, which holds this data, is read more often from now on, by so many reads a
    /// nanosecond, or less often.
    fn change_rate(&mut self, (block, page): (BlockId, PageInBlock), lpn: Lpn, by: f64) {
        let now = self.time_of_reads();
        let place = self.place_of(block, page);
        let hot = &self.hot[block.index()];
        let (is_empty, is_open) = (hot.valid == 0, hot.state == BlockState::Open);
        let Some(fluid) = &mut self.fluid else { return };
        let flow = &mut fluid.flows[block.index()];
        let before = flow.expected();
        flow.change(now, by);
        if planted(Bug::AlarmNotDrawnAgain) {
            flow.put_off(before);
        }
        if is_empty {
            // What is left is rounding.
            flow.rate = 0.0;
        }
        let there = (now - flow.drawn_at) as f64;
        if by > 0.0 && flow.is_early() {
            let at = flow.next_look(is_open);
            fluid.agenda.plan(&mut fluid.flows, block, at);
        }
        if let Some(pending) = fluid.pending.get_mut(place) {
            *pending -= (by * there) as f32;
        }
        if let Some(words) = &mut fluid.words {
            words.leave_out(block, lpn, by * there);
        }
    }

    fn place_of(&self, block: BlockId, page: PageInBlock) -> usize {
        let ppn = self.geometry.first_page(block) + page;
        let by_page = self.fluid.as_ref().is_some_and(|fluid| fluid.by_page);
        if by_page { ppn.index() } else { self.geometry.wordline_of(ppn) as usize }
    }

    /// An erased block is read no more, and what it got in its last moments is nobody's.
    pub(super) fn forget_reads(&mut self, block: BlockId) {
        let Some(fluid) = &mut self.fluid else { return };
        fluid.agenda.plan(&mut fluid.flows, block, flow::NEVER);
        fluid.flows[block.index()].rate = 0.0;
        self.restart(block, 1, f64::INFINITY);
    }

    /// All reads of a block up to now are drawn.
    fn restart(&mut self, block: BlockId, left: u32, target: f64) {
        let now = self.time_of_reads();
        let Some(fluid) = &mut self.fluid else { return };
        fluid.flows[block.index()].begin(now, left, target);
        if let Some(words) = &mut fluid.words {
            words.begin_anew(block);
        }
        if !fluid.pending.is_empty() {
            let bits = if fluid.by_page { self.geometry.cell.bits() } else { 1 };
            let (first, count) = (
                self.geometry.first_wordline(block) * bits,
                self.geometry.wordlines_per_block * bits,
            );
            fluid.pending[first as usize..(first + count) as usize].fill(0.0);
        }
    }

    /// A block's alarm, or its distance from it, may have changed.
    #[inline]
    pub(super) fn touch(&mut self, block: BlockId) {
        if let Some(fluid) = &mut self.fluid {
            fluid.touch(block);
        }
    }

    /// Moves a block's alarm after a page of it was sensed. If the alarm is only one read nearer,
    /// its new time is drawn from its old time. The block's other reads need no draw.
    #[inline]
    pub(super) fn sensed(&mut self, block: BlockId) {
        if self.fluid.is_none() {
            return;
        }
        let (now, left) = (self.time_of_reads(), self.reads_to_alarm(block));
        let hot = &self.hot[block.index()];
        let (is_open, is_suspect) = (hot.state == BlockState::Open, hot.has(SUSPECT));
        let Some(fluid) = &mut self.fluid else { return };
        let flow = &mut fluid.flows[block.index()];
        if is_suspect
            || !flow.has_alarm()
            || !(flow.left.saturating_sub(1)..=flow.left).contains(&left)
        {
            fluid.touch(block);
        } else if left < flow.left {
            flow.pass(now);
            if flow.approach(1.0 - fluid.chance.share()) {
                let at = flow.next_look(is_open);
                fluid.agenda.plan(&mut fluid.flows, block, at);
            } else {
                fluid.touch(block);
            }
        }
    }

    /// Draws the reads of blocks whose alarms may have moved, and their alarms anew. Called when
    /// all that happens at a time has happened.
    #[inline]
    pub(crate) fn plan_touched(&mut self) {
        while let Some(block) = self.fluid.as_mut().and_then(|fluid| fluid.touched.pop()) {
            if self.hot[block.index()].state != BlockState::Free {
                self.draw_reads(block);
                self.begin_anew(block);
            }
        }
    }

    /// The reads of a block are drawn up to now: what is left until its alarm is drawn.
    fn begin_anew(&mut self, block: BlockId) {
        let hot = &self.hot[block.index()];
        let is_open = hot.state == BlockState::Open;
        let left = if hot.has(SUSPECT) {
            self.known_retries(block).unwrap_or_else(|| self.reads_at_once(block))
        } else {
            self.reads_to_alarm(block).max(1)
        };
        let Some(fluid) = &mut self.fluid else { return };
        let target = fluid.chance.wait_for(left);
        self.restart(block, left, target);
        let Some(fluid) = &mut self.fluid else { return };
        let at = fluid.flows[block.index()].next_look(is_open);
        fluid.agenda.plan(&mut fluid.flows, block, at);
    }

    /// Returns the largest dose of a sensing.
    pub(super) fn largest_dose(&self) -> Quarters {
        self.dose.into_iter().max().unwrap_or(Quarters::UNIT)
    }

    /// Returns the number of reads that reach a block's alarm if each deposits the largest dose.
    fn reads_to_alarm(&self, block: BlockId) -> u32 {
        let hot = &self.hot[block.index()];
        hot.alarm.saturating_sub(hot.reads).count().div_ceil(self.largest_dose().count())
    }

    /// Returns a number of reads of a block that surely do not reach its alarm.
    fn reads_before_alarm(&self, block: BlockId) -> u64 {
        u64::from(self.reads_to_alarm(block).saturating_sub(1))
    }

    /// Deposits reads that came before an alarm. Others may have been served by themselves since it
    /// was drawn, and brought it nearer: those that would reach it are served by themselves, too.
    fn deposit_before_alarm(&mut self, block: BlockId, count: u64) {
        if planted(Bug::AlarmNotDrawnAgain) {
            let expected =
                self.fluid.as_ref().map_or(0.0, |fluid| fluid.flows[block.index()].expected());
            return self.deposit(block, expected as u64);
        }
        let in_bulk = count.min(self.reads_before_alarm(block));
        self.draw_readers(block, count - in_bulk);
        self.deposit(block, in_bulk);
    }

    /// Reads of a tired block that are served one after the other when the last of them has come:
    /// with all their retries they ask no policy, and the first waits for the last no longer than
    /// [`LATE`], in the mean.
    fn reads_at_once(&self, block: BlockId) -> u32 {
        let reads = self.hot[block.index()].reads;
        let retries = self.max_retries().unwrap_or(0);
        let deposited = self.largest_dose().count().saturating_mul(u32::from(retries) + 1);
        let quiet = self.tired.quiet_dose(block).saturating_sub(reads).count() / deposited;
        let in_time =
            self.fluid.as_ref().map_or(0.0, |fluid| fluid.flows[block.index()].rate * LATE as f64);
        quiet.min(in_time as u32).clamp(1, AT_ONCE)
    }

    /// Reads drawn since this was asked last.
    pub(crate) fn take_served(&mut self) -> u64 {
        self.fluid.as_mut().map_or(0, |fluid| std::mem::take(&mut fluid.served))
    }
}
