//! An adversary that observes the drive between bursts of a few requests. It sees the place of
//! every page, and the oracle gives it the true dose of every wordline. It reads beside the
//! wordlines nearest their limits. Or it reads where a policy's counters know least: in blocks that
//! are soon cleaned, just opened or evenly read. A fixed attack, made for a drive in one state,
//! cannot find bugs that show only after data has moved.
//!
//! The drive serves a burst to its end before the adversary observes it again, so its queues are
//! empty in between. If a drive needs to know the time, each request arrives at a time of its own.
//!
//! ```text
//! wordline 3 of block 7 endures 12 more reads    burst: 20 reads of wordlines 2 and 4, two writes
//! its pages are in block 9 now                   burst: reads beside the pages, or a new victim
//! ```

mod siege;

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_drive::base::units::{BlockId, Lpn, Ns, Ppn};
use vpass_drive::drive::Drive;
use vpass_drive::drive::audit::BlockRow;
use vpass_drive::flash::block::BlockState;
use vpass_drive::time::{Progress, Replay, RunError, run_untimed};
use vpass_drive::watch::observer::NO_PPN;

pub(crate) use self::siege::Siege;
use crate::Oracle;
use crate::dice::Dice;

/// Smallest and largest number of requests in a burst.
const BURST: (u64, u64) = (4, 100);
/// Largest number of bursts at one victim after the first.
const PATIENCE: u64 = 60;
/// Mark of a flash page that holds no host page.
const NO_OWNER: Lpn = Lpn::new(u32::MAX);

/// Blocks that the adversary chooses its next victim from.
#[derive(Clone, Copy)]
enum Taste {
    /// All blocks.
    Nearest,
    /// Blocks with the fewest valid pages. The drive cleans them next, or already moves their
    /// pages.
    Emptiest,
    /// Blocks that the drive is writing.
    Open,
    /// One random block.
    Chance,
}

/// Way in which the adversary treats a victim.
#[derive(Clone, Copy)]
enum Manner {
    /// It reads beside the victim.
    Hammer,
    /// It reads every other wordline of the block once, and then beside the victim. A policy that
    /// counts only a few wordlines knows little then.
    Even,
}

/// Page that the adversary attacks.
#[derive(Clone, Copy)]
struct Victim {
    page: Lpn,
    ppn: Ppn,
    manner: Manner,
    /// Share of writes among all requests.
    writes: f64,
    /// Whether the adversary follows the page when that moves.
    follows: bool,
    bursts: u64,
}

/// State of a drive as the adversary sees it.
struct Sight {
    /// Host page that each flash page holds.
    owners: Vec<Lpn>,
    pages_per_block: usize,
    bits: usize,
    stride: usize,
}

impl Sight {
    fn of(drive: &Drive) -> Self {
        let geometry = drive.geometry();
        let mut owners = vec![NO_OWNER; geometry.raw_pages() as usize];
        for row in drive.map_rows().filter(|row| row.ppn != NO_PPN && !row.buffered) {
            owners[row.ppn.index()] = row.lpn;
        }
        Self {
            owners,
            pages_per_block: geometry.pages_per_block as usize,
            bits: geometry.cell.bits() as usize,
            stride: geometry.neighbour_stride as usize,
        }
    }

    fn block(&self, ppn: Ppn) -> &[Lpn] {
        let first = ppn.index() / self.pages_per_block * self.pages_per_block;
        &self.owners[first..][..self.pages_per_block]
    }

    /// Returns the host pages on the wordlines beside a flash page.
    fn neighbours(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let (block, wordline) = (self.block(ppn), ppn.index() % self.pages_per_block / self.bits);
        let of = |w: usize| block.get(w * self.bits..(w + 1) * self.bits).unwrap_or_default();
        let below = wordline.checked_sub(self.stride).map_or(&[][..], of);
        below.iter().chain(of(wordline + self.stride)).copied().filter(|lpn| *lpn != NO_OWNER)
    }

    /// Returns the host pages on the wordline of a flash page.
    fn wordline(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let first = ppn.index() / self.bits * self.bits;
        self.owners[first..first + self.bits].iter().copied().filter(|lpn| *lpn != NO_OWNER)
    }

    /// Returns a flash page with host data on the wordline above, and the host page that it holds.
    fn above(&self, ppn: Ppn) -> Option<(Ppn, Lpn)> {
        let above = (ppn.index() / self.bits + self.stride) * self.bits;
        let is_within = ppn.index() / self.pages_per_block == above / self.pages_per_block;
        let all = (above..above + self.bits)
            .filter(|_| is_within)
            .map(|above| (Ppn::from_index(above), self.owners[above]));
        all.into_iter().find(|(_, lpn)| *lpn != NO_OWNER)
    }

    /// Returns the flash pages of a block that hold host pages.
    fn held(&self, block: BlockId) -> impl Iterator<Item = Ppn> {
        let pages = self.pages_per_block as u32;
        let all = Ppn::new(block.number() * pages).run(pages);
        all.filter(|ppn| self.owners[ppn.index()] != NO_OWNER)
    }

    /// Returns the other wordlines of the block, each with its distance and its host pages.
    fn others(&self, ppn: Ppn) -> impl Iterator<Item = (usize, impl Iterator<Item = Lpn>)> {
        let own = ppn.index() % self.pages_per_block / self.bits;
        let wordlines = self.block(ppn).chunks(self.bits).enumerate();
        wordlines.filter(move |(wordline, _)| *wordline != own).map(move |(wordline, pages)| {
            (wordline.abs_diff(own), pages.iter().copied().filter(|lpn| *lpn != NO_OWNER))
        })
    }

    /// Returns the host pages of the block that are neither on this wordline nor beside it.
    fn far_from(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let far = self.others(ppn).filter(|(distance, _)| *distance != self.stride);
        far.flat_map(|(_, pages)| pages)
    }

    /// Returns the flash page that holds a host page. The host page must be on flash.
    fn place_of(&self, lpn: Lpn) -> Ppn {
        Ppn::from_index(self.owners.iter().position(|owner| *owner == lpn).expect("it is on flash"))
    }

    /// Returns the host pages beside a flash page. If there are none, returns all host pages of its
    /// block.
    fn neighbours_or_block(&self, ppn: Ppn) -> Vec<Lpn> {
        let near: Vec<Lpn> = self.neighbours(ppn).collect();
        if near.is_empty() {
            self.block(ppn).iter().copied().filter(|lpn| *lpn != NO_OWNER).collect()
        } else {
            near
        }
    }

    /// Returns one host page of each wordline of the block, except this page's own wordline.
    fn each_wordline(&self, ppn: Ppn) -> Vec<Lpn> {
        self.others(ppn).filter_map(|(_, mut pages)| pages.next()).collect()
    }
}

/// Way in which the requests of a burst arrive: with this number outstanding, or each at a time of
/// its own.
#[derive(Clone, Copy)]
pub(crate) enum Coming {
    Outstanding(u32),
    /// Mean time between two requests, and the time of the last one.
    ByClock {
        gap: Ns,
        at: Ns,
    },
}

impl Coming {
    /// Serves requests as a burst. With times of their own, no request arrives before the drive has
    /// finished the last burst.
    fn serve(
        &mut self,
        dice: &mut Dice,
        (drive, engine): (&mut Drive, Option<&mut Replay>),
        mut requests: Vec<Request>,
        progress: Progress,
    ) -> Result<u64, RunError> {
        if let Self::ByClock { gap, at } = self {
            *at = drive.now().max(*at);
            for request in &mut requests {
                *at += dice.between(0, 2 * *gap);
                request.at = *at;
            }
        }
        serve(drive, engine, &mut Burst { requests, coming: *self }, progress)
    }
}

/// An adversary of one drive.
pub struct Adversary {
    dice: Dice,
    coming: Coming,
    victim: Option<Victim>,
}

impl Adversary {
    /// Returns an adversary that keeps `depth` requests outstanding within a burst. The same seed
    /// and the same drive give the same requests.
    pub fn new(seed: u64, depth: u32) -> Self {
        Self::coming(seed, Coming::Outstanding(depth))
    }

    pub(crate) fn coming(seed: u64, coming: Coming) -> Self {
        Self { dice: Dice::new(seed), coming, victim: None }
    }

    /// Returns the adversary for a drive that needs to know the time. Its requests arrive at times
    /// of their own, `gap` ns apart on average.
    #[must_use]
    pub fn by_a_clock(self, gap: Ns) -> Self {
        Self { coming: Coming::ByClock { gap, at: 0 }, ..self }
    }

    /// Attacks a drive that an [`Oracle`] watches with this number of requests. Returns the number of
    /// requests served.
    ///
    /// # Errors
    /// If the run is interrupted.
    ///
    /// # Panics
    /// If no oracle watches the drive. Only an oracle knows true doses.
    pub fn attack(
        &mut self,
        drive: &mut Drive,
        mut engine: Option<&mut Replay>,
        requests: u64,
        progress: Progress,
    ) -> Result<u64, RunError> {
        let mut served = 0;
        while served < requests {
            let size = self.dice.between(BURST.0, BURST.1).min(requests - served);
            let made = self.burst(drive, size as usize);
            let mut step = |of_burst: u64, drive: &Drive| progress(served + of_burst, drive);
            let on = (&mut *drive, engine.as_deref_mut());
            served += self.coming.serve(&mut self.dice, on, made, &mut step)?;
        }
        Ok(served)
    }

    /// Makes the next requests from the present state of the drive.
    fn burst(&mut self, drive: &mut Drive, size: usize) -> Vec<Request> {
        let sight = Sight::of(drive);
        self.choose(drive, &sight);
        let ruins = self.ruins(drive);
        if !ruins.is_empty() {
            return (0..size).map(|_| self.disturb_ruin(drive, &ruins)).collect();
        }
        let Some(Victim { page: page_of_victim, ppn, manner, writes, .. }) = self.victim else {
            // The drive holds no page to read, so the requests write.
            return (0..size)
                .map(|_| of_page(drive, any_page(&mut self.dice, drive), Op::Write))
                .collect();
        };
        let near = sight.neighbours_or_block(ppn);
        let mut first =
            if matches!(manner, Manner::Even) { sight.each_wordline(ppn) } else { vec![] }
                .into_iter();
        let one = |n: usize| {
            if self.dice.chance(writes) {
                let op = if self.dice.chance(0.1) { Op::Trim } else { Op::Write };
                return of_page(drive, any_page(&mut self.dice, drive), op);
            }
            of_page(drive, first.next().unwrap_or(near[n % near.len()]), Op::Read)
        };
        let mut requests: Vec<Request> = (0..size).map(one).collect();
        // A read of the victim itself shows the harm done.
        if let Some(last) = requests.last_mut().filter(|_| self.dice.chance(0.5)) {
            *last = of_page(drive, page_of_victim, Op::Read);
        }
        // First comes a write of a part of the victim. By the time that the drive needs the rest,
        // it may be lost.
        if let Some(first) = requests.first_mut().filter(|_| writes > 0.0 && self.dice.chance(0.1))
        {
            *first = self.part_of(drive, page_of_victim);
        }
        requests
    }

    /// Returns the pages that the drive has reported lost, in a random share of calls.
    fn ruins(&mut self, drive: &mut Drive) -> Vec<Lpn> {
        if drive.lost_pages() == 0 || self.dice.chance(0.8) {
            return vec![];
        }
        let pages = drive.geometry().host_pages;
        let oracle = oracle_of(drive);
        Lpn::range(0..pages).filter(|lpn| oracle.is_lost(*lpn)).collect()
    }

    /// Returns a request to a lost page, or to the lost page and the next page.
    fn disturb_ruin(&mut self, drive: &Drive, ruins: &[Lpn]) -> Request {
        let lpn = self.dice.pick(ruins);
        let is_last = lpn.number() + 1 == drive.geometry().host_pages;
        let (op, pages) = match self.dice.between(0, 9) {
            0..=3 => (Op::Read, 1),
            4..=6 => return self.part_of(drive, lpn),
            8 if !is_last => (Op::Write, 2),
            7 | 8 => (Op::Write, 1),
            _ => (Op::Trim, 1),
        };
        let one = of_page(drive, lpn, op);
        Request { bytes: pages * one.bytes, ..one }
    }

    /// Returns a write of a random part of a page.
    fn part_of(&mut self, drive: &Drive, lpn: Lpn) -> Request {
        let whole = of_page(drive, lpn, Op::Write);
        let from = self.dice.between(0, u64::from(whole.bytes) - 1);
        let bytes = self.dice.between(1, u64::from(whole.bytes) - from) as u32;
        Request { offset: whole.offset + from, bytes, ..whole }
    }

    /// Keeps the present victim for its number of bursts, and then chooses the next.
    fn choose(&mut self, drive: &mut Drive, sight: &Sight) {
        if let Some(victim) = self.victim.take().filter(|victim| victim.bursts > 0) {
            let stays = sight.owners[victim.ppn.index()] == victim.page;
            let now = if stays {
                Some(victim.ppn)
            } else {
                sight.owners.iter().position(|lpn| *lpn == victim.page).map(Ppn::from_index)
            };
            if let Some(ppn) = now.filter(|_| stays || victim.follows) {
                self.victim = Some(Victim { ppn, bursts: victim.bursts - 1, ..victim });
                return;
            }
        }
        let taste = self.dice.pick(&[
            Taste::Nearest,
            Taste::Nearest,
            Taste::Emptiest,
            Taste::Open,
            Taste::Chance,
        ]);
        let blocks = self.blocks(drive, taste);
        let oracle = oracle_of(drive);
        let live = blocks.into_iter().flat_map(|(block, _)| sight.held(block));
        // A page that is lost already cannot lose more.
        let left = live.map(|ppn| (oracle.reads_left(ppn), ppn)).filter(|(left, _)| *left >= 0.0);
        // A page without neighbours is hard to reach.
        let alone = |ppn: Ppn| sight.neighbours(ppn).next().is_none();
        let order =
            |a: &(f64, Ppn), b: &(f64, Ppn)| alone(a.1).cmp(&alone(b.1)).then(a.0.total_cmp(&b.0));
        let Some((_, ppn)) = left.min_by(order) else { return };
        self.victim = Some(Victim {
            page: sight.owners[ppn.index()],
            ppn,
            manner: self.dice.pick(&[Manner::Hammer, Manner::Hammer, Manner::Even]),
            writes: self.dice.pick(&[0.0, 0.05, 0.3, 0.7]),
            follows: self.dice.chance(0.5),
            bursts: self.dice.between(0, PATIENCE),
        });
    }

    /// Returns the blocks to choose the next victim from.
    fn blocks(&mut self, drive: &Drive, taste: Taste) -> Vec<(BlockId, BlockRow)> {
        match taste {
            Taste::Nearest => filled(drive, None),
            Taste::Emptiest => emptiest(drive, 4),
            Taste::Open => filled(drive, Some(BlockState::Open)),
            Taste::Chance => {
                let all = filled(drive, None);
                if all.is_empty() { all } else { vec![self.dice.pick(&all)] }
            }
        }
    }
}

/// Returns the blocks with host data, of a state or of all states.
fn filled(drive: &Drive, state: Option<BlockState>) -> Vec<(BlockId, BlockRow)> {
    let is_wanted = |row: &BlockRow| row.valid > 0 && state.is_none_or(|state| row.state == state);
    BlockId::all().zip(drive.block_states()).filter(|(_, row)| is_wanted(row)).collect()
}

/// Returns the closed blocks with the fewest valid pages.
fn emptiest(drive: &Drive, count: usize) -> Vec<(BlockId, BlockRow)> {
    let mut blocks = filled(drive, Some(BlockState::Closed));
    blocks.sort_by_key(|(_, row)| row.valid);
    blocks.truncate(count);
    blocks
}

/// Returns a request for a whole page.
fn of_page(drive: &Drive, lpn: Lpn, op: Op) -> Request {
    let bytes = drive.geometry().page_bytes;
    Request { at: 0, offset: lpn.offset(bytes), bytes, op, origin: 0, hint: None }
}

fn any_page(dice: &mut Dice, drive: &Drive) -> Lpn {
    Lpn::new(dice.between(0, u64::from(drive.geometry().host_pages) - 1) as u32)
}

/// Serves requests in the drive's gear. Without an engine, requests take no time.
pub(crate) fn serve(
    drive: &mut Drive,
    engine: Option<&mut Replay>,
    source: &mut dyn RequestSource,
    progress: Progress,
) -> Result<u64, RunError> {
    match engine {
        Some(engine) => engine.run(drive, source, progress),
        None => run_untimed(drive, source, progress),
    }
}

/// Returns the oracle of a drive.
fn oracle_of(drive: &mut Drive) -> &Oracle {
    drive.observer::<Oracle>().expect("an oracle watches")
}

/// Requests that are made already, as a source.
struct Burst {
    requests: Vec<Request>,
    coming: Coming,
}

impl RequestSource for Burst {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let n = self.requests.len().min(max);
        out.extend(self.requests.drain(..n));
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        match self.coming {
            Coming::Outstanding(depth) => Arrival::Closed { depth },
            Coming::ByClock { .. } => Arrival::Open,
        }
    }
}
