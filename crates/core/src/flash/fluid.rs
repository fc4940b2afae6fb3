//! Reads in bulk: between two looks at a block its reads are numbers drawn by chance, and not served one by one.
//!
//! Each page is read as a Poisson process of its own rate, independently of all others. So a block's reads are one, whose rate is the sum
//! over its valid pages; and that rate changes only when one is programmed or its data is no longer wanted.
//!
//! - **The alarm.** `n` reads are left until it. The last of them comes when the integral of the block's rate has grown by a gamma variate of
//!   shape n: in that measure of time the reads are a Poisson process of rate 1, however the rate changes (the time change theorem). One
//!   number is drawn for each alarm, and a change of the rate only moves the time at which the integral reaches it. What was expected before
//!   the change stays in the integral: reads not yet drawn count.
//! - **How many there were before the alarm.** Of the n - 1 reads before the last, each came by now with the probability "integral so far over
//!   the integral at the alarm": a binomial draw. From there on the process begins anew, and a new alarm is drawn.
//! - **Where they went.** Given their number they are independent, and a page gets its share of the integral: a multinomial draw, wordline
//!   by wordline. For a page that came or went meanwhile the share counts the time that it was there (`pending`).
//! - **The read that rings** is drawn from the rates at its time and served like any other read, so every technique sees what it sees in the
//!   other gears.
//!
//! All of it is exact, with two exceptions. Reads of a request of several pages come together in a workload and are apart here. What a new
//! wordline need not answer for, in a block that is read while it is written, is counted up to the last draw, which is less than
//! 1/[`OF_ALARM`] of the way to the alarm ago: its dose is over-stated by less than that.
//!
//! Where page kinds deposit different doses, an alarm is approached in strides: as many reads as surely do not reach it, then one, and again.

mod agenda;
mod chance;
mod draw;
mod flow;

use crate::base::dose::Quarters;
use crate::base::rates::ReadRates;
use crate::base::units::{BlockId, Lpn, Ns};
use crate::bugs::{Bug, planted};
use crate::flash::Flash;
use crate::flash::block::BlockState;
use agenda::Agenda;
use chance::Chance;
use flow::Flow;

/// A block that is read while it is written is drawn anew before a wordline when so much of the way to its alarm is behind.
const OF_ALARM: f64 = 512.0;

/// What the flash knows of reads that come in bulk.
pub(crate) struct Fluid {
    rates: ReadRates,
    host_pages: u32,
    chance: Chance,
    flows: Vec<Flow>,
    /// Reads expected of each place (a wordline or, where page kinds deposit different doses, a page) since its block was drawn, beyond what
    /// its valid pages come to that were there all the time.
    pending: Vec<f32>,
    by_page: bool,
    agenda: Agenda,
    /// Blocks of which something may have changed that their alarm depends on.
    touched: Vec<BlockId>,
    /// Reads drawn that the host's counts do not have yet.
    served: u64,
    weights: Vec<f64>,
    counts: Vec<u32>,
}

impl Fluid {
    /// Reads of a page in a nanosecond. Nobody reads parity.
    #[inline]
    fn per_ns(&self, lpn: Lpn) -> f64 {
        if lpn < self.host_pages { self.rates.pages.per_ns(lpn) } else { 0.0 }
    }

    /// The alarm of a block may have moved.
    #[inline]
    pub(super) fn touch(&mut self, block: BlockId) {
        if self.touched.last() != Some(&block) {
            self.touched.push(block);
        }
    }
}

impl Flash {
    /// From now on pages are read at these rates, without requests.
    pub(crate) fn begin_fluid(&mut self, rates: ReadRates, seed: u64) {
        let bits = self.geometry.cell.bits() as usize;
        let by_page = self.dose[..bits].iter().any(|dose| *dose != self.dose[0]);
        let places = self.wordlines.len() * if by_page { bits } else { 1 };
        self.fluid = Some(Box::new(Fluid {
            rates,
            host_pages: self.geometry.host_pages,
            chance: Chance::new(seed),
            flows: vec![Flow::STILL; self.hot.len()],
            pending: vec![0.0; places],
            by_page,
            agenda: Agenda::default(),
            touched: vec![],
            served: 0,
            weights: vec![],
            counts: vec![],
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
        for block in 0..self.geometry.blocks {
            let first = self.geometry.first_page(block);
            let rate_of = |page: u32| fluid.per_ns(self.contents.to_logical[(first + page) as usize]);
            let rate: f64 = self.valid_pages_of(block).map(rate_of).sum();
            let flow = &mut fluid.flows[block as usize];
            flow.begin(self.now, 1, f64::INFINITY);
            flow.rate = rate;
            fluid.touched.push(block);
        }
        self.fluid = Some(fluid);
        self.plan_touched();
    }

    fn valid_pages_of(&self, block: BlockId) -> impl Iterator<Item = u32> {
        std::iter::successors(self.contents.next_valid(block, 0), move |page| self.contents.next_valid(block, page + 1))
    }

    /// When a block is looked at next for the reads that it has got; `Ns::MAX` where none is.
    #[inline]
    pub(crate) fn next_bulk(&self) -> Ns {
        self.fluid.as_ref().map_or(Ns::MAX, |fluid| fluid.agenda.next())
    }

    /// Looks at the blocks that are due, until the alarm of one is: all its reads are drawn but the one that rings, of this page.
    pub(crate) fn next_ringing(&mut self) -> Option<Lpn> {
        let now = self.now;
        loop {
            let fluid = self.fluid.as_mut()?;
            let block = fluid.agenda.take(&mut fluid.flows, now)?;
            let flow = &mut fluid.flows[block as usize];
            flow.pass(now);
            if !flow.is_due() {
                let at = flow.next_look(self.hot[block as usize].state == BlockState::Open);
                fluid.agenda.plan(&mut fluid.flows, block, at);
                continue;
            }
            let before = if planted(Bug::AlarmNotDrawnAgain) { flow.expected() as u64 } else { u64::from(flow.left) - 1 };
            let reader = self.draw_reader(block);
            self.deposit(block, before);
            // What comes next is drawn when the read that rings has been served.
            self.restart(block, 1, f64::INFINITY);
            self.touch(block);
            if reader.is_some() {
                return reader;
            }
        }
    }

    /// A page was programmed: from now on its block is read as often as it is.
    #[inline]
    pub(super) fn gain_reads(&mut self, block: BlockId, page: u32, lpn: Lpn) {
        if self.fluid.is_some() {
            self.change_reads(block, page, lpn, 1.0);
        }
    }

    /// The data of a page is not wanted any more, and nobody reads it there.
    #[inline]
    pub(super) fn lose_reads(&mut self, block: BlockId, page: u32) {
        if self.fluid.is_some() {
            let lpn = self.contents.to_logical[(self.geometry.first_page(block) + page) as usize];
            self.change_reads(block, page, lpn, -1.0);
        }
    }

    fn change_reads(&mut self, block: BlockId, page: u32, lpn: Lpn, sign: f64) {
        let now = self.now;
        let place = self.place_of(block, page);
        let hot = &self.hot[block as usize];
        let (is_empty, is_open) = (hot.valid == 0, hot.state == BlockState::Open);
        let Some(fluid) = &mut self.fluid else { return };
        let rate = fluid.per_ns(lpn);
        let flow = &mut fluid.flows[block as usize];
        let before = flow.expected();
        flow.change(now, sign * rate);
        if planted(Bug::AlarmNotDrawnAgain) {
            flow.put_off(before);
        }
        if is_empty {
            // What is left is rounding.
            flow.rate = 0.0;
        }
        let there = (now - flow.drawn_at) as f64;
        if sign > 0.0 && flow.is_early() {
            let at = flow.next_look(is_open);
            fluid.agenda.plan(&mut fluid.flows, block, at);
        }
        if let Some(pending) = fluid.pending.get_mut(place) {
            *pending -= (sign * rate * there) as f32;
        }
    }

    fn place_of(&self, block: BlockId, page: u32) -> usize {
        let ppn = self.geometry.first_page(block) + page;
        let by_page = self.fluid.as_ref().is_some_and(|fluid| fluid.by_page);
        if by_page { ppn as usize } else { self.geometry.wordline_of(ppn) as usize }
    }

    /// An erased block is read no more, and what it got in its last moments is nobody's.
    pub(super) fn forget_reads(&mut self, block: BlockId) {
        let Some(fluid) = &mut self.fluid else { return };
        fluid.agenda.plan(&mut fluid.flows, block, flow::NEVER);
        fluid.flows[block as usize].rate = 0.0;
        self.restart(block, 1, f64::INFINITY);
    }

    /// All reads of a block up to now are drawn.
    fn restart(&mut self, block: BlockId, left: u32, target: f64) {
        let now = self.now;
        let Some(fluid) = &mut self.fluid else { return };
        fluid.flows[block as usize].begin(now, left, target);
        if !fluid.pending.is_empty() {
            let bits = if fluid.by_page { self.geometry.cell.bits() } else { 1 };
            let (first, count) = (self.geometry.first_wordline(block) * bits, self.geometry.wordlines_per_block * bits);
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

    /// Draws the reads of blocks whose alarms may have moved, and their alarms anew. Called when all that happens at a time has happened.
    #[inline]
    pub(crate) fn plan_touched(&mut self) {
        while let Some(block) = self.fluid.as_mut().and_then(|fluid| fluid.touched.pop()) {
            if self.hot[block as usize].state != BlockState::Free {
                self.draw_reads(block);
                self.begin_anew(block);
            }
        }
    }

    /// The reads of a block are drawn up to now: what is left until its alarm is drawn.
    fn begin_anew(&mut self, block: BlockId) {
        let hot = &self.hot[block as usize];
        let (largest, is_open) = (self.dose.into_iter().max().unwrap_or(Quarters::UNIT), hot.state == BlockState::Open);
        let left = hot.alarm.saturating_sub(hot.reads).count().div_ceil(largest.count()).max(1);
        let Some(fluid) = &mut self.fluid else { return };
        let target = fluid.chance.wait_for(left);
        self.restart(block, left, target);
        let Some(fluid) = &mut self.fluid else { return };
        let at = fluid.flows[block as usize].next_look(is_open);
        fluid.agenda.plan(&mut fluid.flows, block, at);
    }

    /// Reads drawn since this was asked last.
    pub(crate) fn take_served(&mut self) -> u64 {
        self.fluid.as_mut().map_or(0, |fluid| std::mem::take(&mut fluid.served))
    }
}
