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

    /// Returns the host pages of the block that are neither on this wordline nor beside it.
    fn far_from(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let own = ppn.index() % self.pages_per_block / self.bits;
        let wordlines = self.block(ppn).chunks(self.bits).enumerate();
        let far = wordlines
            .filter(move |(wordline, _)| *wordline != own && wordline.abs_diff(own) != self.stride);
        far.flat_map(|(_, pages)| pages).copied().filter(|lpn| *lpn != NO_OWNER)
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
        let own = ppn.index() % self.pages_per_block / self.bits;
        let wordlines =
            self.block(ppn).chunks(self.bits).enumerate().filter(|(wordline, _)| *wordline != own);
        wordlines
            .filter_map(|(_, pages)| pages.iter().copied().find(|lpn| *lpn != NO_OWNER))
            .collect()
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
    /// Returns the requests as a burst. With times of their own, no request arrives before the
    /// drive has finished the last burst.
    fn burst(&mut self, dice: &mut Dice, drive: &Drive, mut requests: Vec<Request>) -> Burst {
        if let Self::ByClock { gap, at } = self {
            *at = drive.now().max(*at);
            for request in &mut requests {
                *at += dice.between(0, 2 * *gap);
                request.at = *at;
            }
        }
        Burst { requests, coming: *self }
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
        Self { dice: Dice::new(seed), coming: Coming::Outstanding(depth), victim: None }
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
            let mut burst = self.coming.burst(&mut self.dice, drive, made);
            let before = served;
            let mut step = |of_burst: u64, drive: &Drive| progress(before + of_burst, drive);
            served += match engine.as_deref_mut() {
                Some(engine) => engine.run(drive, &mut burst, &mut step)?,
                None => run_untimed(drive, &mut burst, &mut step)?,
            };
        }
        Ok(served)
    }

    /// Makes the next requests from the present state of the drive.
    fn burst(&mut self, drive: &mut Drive, size: usize) -> Vec<Request> {
        let sight = Sight::of(drive);
        self.choose(drive, &sight);
        let page = u64::from(drive.geometry().page_bytes);
        let pages = u64::from(drive.geometry().host_pages);
        let request = |lpn: u64, op: Op| Request {
            at: 0,
            offset: lpn * page,
            bytes: page as u32,
            op,
            origin: 0,
            hint: None,
        };
        let ruins = self.ruins(drive);
        if !ruins.is_empty() {
            return (0..size).map(|_| self.disturb_ruin(&ruins, page, pages)).collect();
        }
        let Some(Victim { page: page_of_victim, ppn, manner, writes, .. }) = self.victim else {
            // The drive holds no page to read, so the requests write.
            return (0..size)
                .map(|_| request(self.dice.between(0, pages - 1), Op::Write))
                .collect();
        };
        let near = sight.neighbours_or_block(ppn);
        let mut first =
            if matches!(manner, Manner::Even) { sight.each_wordline(ppn) } else { vec![] }
                .into_iter();
        let one = |n: usize| {
            if self.dice.chance(writes) {
                let op = if self.dice.chance(0.1) { Op::Trim } else { Op::Write };
                return request(self.dice.between(0, pages - 1), op);
            }
            let lpn = first.next().unwrap_or(near[n % near.len()]);
            request(lpn.number().into(), Op::Read)
        };
        let mut requests: Vec<Request> = (0..size).map(one).collect();
        // A read of the victim itself shows the harm done.
        if let Some(last) = requests.last_mut().filter(|_| self.dice.chance(0.5)) {
            *last = request(page_of_victim.number().into(), Op::Read);
        }
        // First comes a write of a part of the victim. By the time that the drive needs the rest,
        // it may be lost.
        if let Some(first) = requests.first_mut().filter(|_| writes > 0.0 && self.dice.chance(0.1))
        {
            *first = self.part_of(page_of_victim, page);
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
    fn disturb_ruin(&mut self, ruins: &[Lpn], page: u64, pages: u64) -> Request {
        let lpn = self.dice.pick(ruins);
        let (op, whole) = match self.dice.between(0, 9) {
            0..=3 => (Op::Read, true),
            4..=6 => return self.part_of(lpn, page),
            7 => (Op::Write, true),
            8 => (Op::Write, false),
            _ => (Op::Trim, true),
        };
        let count = if whole || u64::from(lpn.number()) + 1 == pages { 1 } else { 2 };
        Request {
            at: 0,
            offset: lpn.offset(page as u32),
            bytes: (count * page) as u32,
            op,
            origin: 0,
            hint: None,
        }
    }

    /// Returns a write of a random part of a page.
    fn part_of(&mut self, lpn: Lpn, page: u64) -> Request {
        let from = self.dice.between(0, page - 1);
        let bytes = self.dice.between(1, page - from) as u32;
        Request {
            at: 0,
            offset: lpn.offset(page as u32) + from,
            bytes,
            op: Op::Write,
            origin: 0,
            hint: None,
        }
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
        let per_block = sight.pages_per_block as u32;
        let live =
            blocks.iter().flat_map(|block| Ppn::new(block.number() * per_block).run(per_block));
        let live = live.filter(|ppn| sight.owners[ppn.index()] != NO_OWNER);
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
    fn blocks(&mut self, drive: &Drive, taste: Taste) -> Vec<BlockId> {
        let filled: Vec<_> =
            BlockId::all().zip(drive.block_states()).filter(|(_, row)| row.valid > 0).collect();
        let all = || filled.iter().map(|(block, _)| *block).collect();
        match taste {
            _ if filled.is_empty() => vec![],
            Taste::Nearest => all(),
            Taste::Emptiest => {
                let mut closed: Vec<_> =
                    filled.iter().filter(|(_, row)| row.state == BlockState::Closed).collect();
                closed.sort_by_key(|(_, row)| row.valid);
                closed.iter().take(4).map(|(block, _)| *block).collect()
            }
            Taste::Open => filled
                .iter()
                .filter(|(_, row)| row.state == BlockState::Open)
                .map(|(block, _)| *block)
                .collect(),
            Taste::Chance => {
                vec![filled[self.dice.between(0, filled.len() as u64 - 1) as usize].0]
            }
        }
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
