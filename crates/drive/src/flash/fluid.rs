//! Reads in bulk: between two checks of a block, the numbers of its reads are drawn at random. They
//! are not served one by one.
//!
//! Each page is read as a Poisson process with its own rate, independently of all others. So the
//! reads of a block are one Poisson process. Its rate is the sum over the block's valid pages. This
//! rate changes only if a page is programmed or its data is no longer wanted.
//!
//! - **The alarm.** `n` reads are left until the alarm. The last of them comes when the integral of
//!   the block's rate has grown by a gamma variate of shape n. On the time scale of this integral,
//!   the reads are a Poisson process of rate 1, however the rate changes (the time change theorem).
//!   One number is drawn for each alarm. A change of the rate only moves the time at which the
//!   integral reaches this number. The integral keeps what was expected before the change: reads
//!   that are not drawn yet count.
//! - **How many reads came before the alarm.** Take any of the n - 1 reads before the last one. Its
//!   probability to have come by now is the ratio of the integral now to the integral at the
//!   alarm. So the number of these reads is a binomial draw. Then the process begins again, and a
//!   new alarm is drawn.
//! - **Which pages they read.** Given their number, the reads are independent. A page gets its
//!   share of the integral: a multinomial draw, wordline by wordline. For a page that came or went
//!   in between, the share counts the time for which the page was there (`pending`).
//! - **The read that reaches the alarm** is drawn from the rates at its time and served like any
//!   other read. So every technique sees what it sees in the other gears.
//!
//! Pages that are not on flash are read, too ([`absent`]).
//!
//! Some blocks need retries. The number of retries of a read depends on the dose of the reads
//! before it. Until a page reaches its next level, this number is known for each page, and the
//! reads are drawn in bulk (`retried`). Other reads are drawn page by page and served one by one,
//! up to [`AT_ONCE`] in a row.
//!
//! All of this is exact, with three exceptions:
//!
//! - Reads of a request of several pages come together in a workload, but separately here.
//! - A block may be read while it is written. The dose before a new wordline is counted up to the
//!   last draw. The reads since then are less than 1/[`OF_ALARM`] of those up to the alarm, so the
//!   wordline's dose is overstated by less than that.
//! - A block that needs retries serves some reads in rows. Each of them is served when the last read
//!   of its row comes. On average this is at most [`LATE`] after its own time.
//!
//! If page kinds deposit different doses, an alarm is approached in steps. First comes the largest
//! number of reads that cannot reach it, then one read, and so on.

pub(crate) mod absent;
mod agenda;
mod chance;
mod changes;
mod draw;
mod flow;
pub(crate) mod held;
mod mean_reads;
mod retried;
mod track;
mod words;

use crate::base::daily::DailyHours;
use crate::base::dose::Quarters;
use crate::base::rates::{NS_PER_S, ReadRates};
use crate::base::units::{BlockId, Lpn, Ns, PageInBlock, Ppn};
use crate::flash::Flash;
use crate::flash::block::{BlockState, SUSPECT};
use crate::flash::counted::PAGES;
use crate::hints::Hinted;
use absent::Absent;
use agenda::Agenda;
use chance::Chance;
use flow::Flow;
use held::Held;
use mean_reads::MeanReads;
use words::Words;

/// Reads of a block that is read while it is written are drawn before a new wordline. This happens
/// if at least one in this number of the expected reads up to its alarm has come.
const OF_ALARM: f64 = 512.0;

/// Largest number of reads in a row that a block that needs retries serves at once.
const AT_ONCE: u32 = 1024;
/// Largest mean time that a row takes: one hour. Shorter differences of age have no effect.
const LATE: Ns = 3_600_000_000_000;

/// State of reads that come in bulk.
pub(crate) struct Fluid {
    rates: ReadRates,
    held: Held,
    /// Hours in which reads come. Flows, the agenda and the mean of reads use the clock of these
    /// hours.
    hours: DailyHours,
    host_pages: u32,
    chance: Chance,
    absent: Absent,
    flows: Vec<Flow>,
    /// Reads expected at each place since its block was drawn, beyond those of the valid pages that
    /// were there all the time. A place is a wordline. It is a page if page kinds deposit different
    /// doses or if reads of pages are counted.
    pending: Vec<f32>,
    by_page: bool,
    /// Whether an observer wants each read that takes retries.
    hears_retries: bool,
    mean_reads: MeanReads,
    agenda: Agenda,
    /// Blocks whose alarm may have moved.
    touched: Vec<BlockId>,
    /// Pages whose reads must be served by themselves.
    owed: Vec<Lpn>,
    /// Number of reads that were drawn but are not yet in the host's counts.
    served: u64,
    /// Number of drawn reads by hint that are not yet in the counts. `None` if the host gives no
    /// hints.
    words: Option<Words>,
    weights: Vec<f64>,
    /// Valid pages of the current block with their rates, and whether this is the block whose alarm
    /// is being drawn.
    places: Vec<PageInBlock>,
    page_rates: Vec<f64>,
    is_listed: bool,
    counts: Vec<u32>,
    /// Number of reads of each place, without retries, and number of retries of each of these
    /// reads. The second list is empty if no read takes a retry.
    reads: Vec<u32>,
    retries: Vec<u8>,
    doses: Vec<Quarters>,
    order: Vec<u32>,
}

impl Fluid {
    /// Returns the number of reads of a page per nanosecond.
    #[inline]
    fn per_ns(&self, lpn: Lpn) -> f64 {
        reads_of(&self.rates, self.host_pages, lpn)
    }

    /// Returns the number of the hint of a page; 0 if the host gives no hints.
    #[inline]
    fn hint_of(&self, lpn: Lpn) -> usize {
        self.words.as_ref().map_or(0, |words| words.of(lpn))
    }

    /// Notes that the alarm of a block may have moved.
    #[inline]
    pub(super) fn touch(&mut self, block: BlockId) {
        if self.touched.last() != Some(&block) {
            self.touched.push(block);
        }
    }
}

/// Returns the number of reads of a page per nanosecond. Parity is never read.
#[inline]
fn reads_of(rates: &ReadRates, host_pages: u32, lpn: Lpn) -> f64 {
    if lpn.number() < host_pages { rates.pages.per_ns(lpn) } else { 0.0 }
}

impl Flash {
    /// Makes the host read pages at these rates from now on, without requests. The host has already
    /// read `before` pages. An observer may want each read that takes retries.
    pub(crate) fn begin_fluid(
        &mut self,
        (rates, hours): (ReadRates, DailyHours),
        (hinted, hears_retries): (Option<Hinted>, bool),
        (seed, before): (u64, u64),
    ) {
        // Every check of a block goes through the owners of its pages.
        self.contents.settle_all();
        let chance = Chance::new(seed);
        let bits = self.geometry.cell.bits() as usize;
        let by_page = self.counters == PAGES
            || self.dose[..bits].iter().any(|dose| *dose != self.dose[0])
            || self.are_limits_by_kind();
        let places = self.wordlines.len() * if by_page { bits } else { 1 };
        let pages = self.hot.len() * self.geometry.pages_per_block as usize;
        self.fluid = Some(Box::new(Fluid {
            held: Held::new(&rates.pages, pages),
            rates,
            hours,
            host_pages: self.geometry.host_pages,
            absent: Absent::new(chance.another()),
            chance,
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

    /// Makes the host read pages at other rates from now on.
    pub(crate) fn set_rates(&mut self, rates: ReadRates) {
        self.draw_all();
        let pages = self.hot.len() * self.geometry.pages_per_block as usize;
        let fluid = self.fluid.as_mut().expect("reads come in bulk");
        fluid.held = Held::new(&rates.pages, pages);
        fluid.rates = rates;
        fluid.absent.clear();
        self.take_rates();
    }

    /// Draws all reads up to now. No more reads come in bulk.
    pub(crate) fn end_fluid(&mut self) {
        self.draw_all();
        self.fluid = None;
    }

    /// Adds up the rates of every block's pages.
    fn take_rates(&mut self) {
        let mut fluid = self.fluid.take().expect("reads come in bulk");
        let now = fluid.hours.worked(self.now);
        fluid.mean_reads.set(now, fluid.rates.pages.sum(fluid.host_pages) / NS_PER_S);
        for block in self.geometry.block_ids() {
            let first = self.geometry.first_page(block);
            let Fluid { rates, host_pages, held, .. } = &mut *fluid;
            let rate_of = |page: PageInBlock| {
                let lpn = self.contents.owner(first + page);
                held.note(first + page, lpn, &rates.pages);
                reads_of(rates, *host_pages, lpn)
            };
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

    /// Returns whether reads come in bulk.
    #[inline]
    pub(crate) fn is_fluid(&self) -> bool {
        self.fluid.is_some()
    }

    /// Returns the number of pages that the host has read by now. If reads come in bulk, this is an
    /// expected number, and `counted` otherwise.
    pub(crate) fn host_reads(&self, counted: u64) -> u64 {
        self.fluid
            .as_ref()
            .map_or(counted, |fluid| fluid.mean_reads.by(fluid.hours.worked(self.now)))
    }

    /// Returns whether a block is read in bulk.
    pub(super) fn is_read_in_bulk(&self, block: BlockId) -> bool {
        self.fluid.as_ref().is_some_and(|fluid| fluid.flows[block.index()].rate > 0.0)
    }

    fn valid_pages_of(&self, block: BlockId) -> impl Iterator<Item = PageInBlock> {
        std::iter::successors(self.contents.next_valid(block, PageInBlock::FIRST), move |page| {
            self.contents.next_valid(block, *page + 1)
        })
    }

    /// Returns the time at which the next block is checked for its reads; `Ns::MAX` if there is
    /// none.
    #[inline]
    pub(crate) fn next_bulk(&self) -> Ns {
        self.fluid.as_ref().map_or(Ns::MAX, |fluid| fluid.hours.reaches(fluid.agenda.next()))
    }

    /// Checks the blocks that are due, up to the first one whose alarm has come. All reads of this
    /// block are drawn. The reads that must be served by themselves come from [`Self::owed_read`].
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
            // The next alarm is drawn when the owed reads have been served.
            self.restart(block, 1, f64::INFINITY);
            self.touch(block);
            if self.fluid.as_ref().is_some_and(|fluid| !fluid.owed.is_empty()) {
                return;
            }
        }
    }

    /// Notes that a read of this page was served by itself: its block is nearer to its alarm.
    #[inline]
    pub(crate) fn served_from(&mut self, ppn: Ppn) {
        if self.geometry.has_page(ppn) {
            self.touch(self.geometry.block_of(ppn));
        }
    }

    /// Returns whether a read must still be served by itself.
    #[inline]
    pub(crate) fn owes_reads(&self) -> bool {
        self.fluid.as_ref().is_some_and(|fluid| !fluid.owed.is_empty())
    }

    /// Returns the page of the next read that must be served as a single read.
    #[inline]
    pub(crate) fn owed_read(&mut self) -> Option<Lpn> {
        self.fluid.as_mut()?.owed.pop()
    }

    /// Ends the reads of an erased block. They are drawn when its last page is no longer wanted.
    pub(super) fn forget_reads(&mut self, block: BlockId) {
        let Some(fluid) = &mut self.fluid else { return };
        fluid.agenda.plan(&mut fluid.flows, block, flow::NEVER);
        fluid.flows[block.index()].rate = 0.0;
        self.restart(block, 1, f64::INFINITY);
    }

    /// Begins a new count of a block's reads: all its reads up to now are drawn.
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

    /// Notes that a block's alarm, or its distance from the alarm, may have changed.
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

    /// Draws the reads of blocks whose alarms may have moved, and their next alarms. Called after
    /// everything that happens at one time.
    #[inline]
    pub(crate) fn plan_touched(&mut self) {
        while let Some(block) = self.fluid.as_mut().and_then(|fluid| fluid.touched.pop()) {
            if self.hot[block.index()].state != BlockState::Free {
                self.draw_reads(block);
                self.begin_anew(block);
            }
        }
    }

    /// Draws the number of reads that are left until the next alarm of a block. Its reads up to now
    /// are drawn.
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

    /// Deposits reads that came before an alarm. Since the alarm was drawn, other reads may have
    /// been served by themselves and have brought it nearer. Reads that would reach it are served
    /// by themselves, too.
    fn deposit_before_alarm(&mut self, block: BlockId, count: u64) {
        let in_bulk = count.min(self.reads_to_alarm(block).saturating_sub(1).into());
        self.draw_readers(block, count - in_bulk);
        self.deposit(block, in_bulk);
    }

    /// Returns the number of reads of a block that needs retries which form a row. They are served
    /// together when the last of them has come. Even with all their retries, they do not reach the
    /// alarm. On average, the first read waits for the last one at most [`LATE`].
    fn reads_at_once(&self, block: BlockId) -> u32 {
        let reads = self.hot[block.index()].reads;
        let retries = self.max_retries().unwrap_or(0);
        let deposited = self.largest_dose().count().saturating_mul(u32::from(retries) + 1);
        let quiet = self.tired.quiet_dose(block).saturating_sub(reads).count() / deposited;
        let in_time =
            self.fluid.as_ref().map_or(0.0, |fluid| fluid.flows[block.index()].rate * LATE as f64);
        quiet.min(in_time as u32).clamp(1, AT_ONCE)
    }

    /// Returns the number of reads drawn since the last call.
    pub(crate) fn take_served(&mut self) -> u64 {
        self.fluid.as_mut().map_or(0, |fluid| std::mem::take(&mut fluid.served))
    }
}
