//! An adversary that looks again between bursts of a few requests. It sees where every page lies
//! and, from the oracle, what every wordline has really endured. It reads beside the wordlines
//! nearest their limits, or where a policy's counters know least: in blocks about to be cleaned, in
//! blocks just opened, in blocks that were read evenly before. An attack that is made once, for a
//! drive in one state, cannot find bugs that show only after data has moved.
//!
//! A burst is served to its end before the next look, so the drive drains in between. On a drive
//! that needs to know the time its requests come by a clock of their own.
//!
//! ```text
//! look: block 7, wordline 3 can take 12 more reads beside it     burst: 20 reads of wordlines 2 and 4, two writes elsewhere
//! look: its pages lie in block 9 now; of block 7 another is next   burst: reads beside that; or it follows the pages
//! ```

mod siege;

use vpass_core::base::request::{Arrival, Op, Request, RequestSource, SourceError};
use vpass_core::base::units::{BlockId, Lpn, Ns, Ppn};
use vpass_core::drive::Drive;
use vpass_core::flash::block::BlockState;
use vpass_core::time::{Progress, Replay, RunError, run_untimed};
use vpass_core::watch::observer::NO_PPN;

pub(crate) use self::siege::Siege;
use crate::Oracle;
use crate::dice::Dice;

/// Requests between two looks.
const BURST: (u64, u64) = (4, 100);
/// Bursts after which another wordline is looked for.
const PATIENCE: u64 = 60;
/// In the place of a host page: a flash page that holds none.
const NO_OWNER: Lpn = Lpn::new(u32::MAX);

/// Which blocks it looks at for its next victim.
#[derive(Clone, Copy)]
enum Taste {
    /// All of them.
    Nearest,
    /// Those with the fewest valid pages: cleaned next, or being moved.
    Emptiest,
    /// Those that are being written.
    Open,
    /// Any one.
    Chance,
}

/// How it treats a victim.
#[derive(Clone, Copy)]
enum Manner {
    /// Reads beside it.
    Hammer,
    /// Reads every other wordline of its block once, then beside it: whoever counts a few wordlines
    /// only knows little then.
    Even,
}

/// What it goes for.
#[derive(Clone, Copy)]
struct Victim {
    page: Lpn,
    ppn: Ppn,
    manner: Manner,
    /// Share of writes among its requests.
    writes: f64,
    /// Whether it goes after the page when that moves.
    follows: bool,
    bursts: u64,
}

/// What it sees of a drive.
struct Sight {
    /// Whose data each flash page holds.
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

    /// The host's pages that lie beside a flash page.
    fn neighbours(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let (block, wordline) = (self.block(ppn), ppn.index() % self.pages_per_block / self.bits);
        let of = |w: usize| block.get(w * self.bits..(w + 1) * self.bits).unwrap_or_default();
        let below = wordline.checked_sub(self.stride).map_or(&[][..], of);
        below.iter().chain(of(wordline + self.stride)).copied().filter(|lpn| *lpn != NO_OWNER)
    }

    /// The host's pages that lie on its wordline.
    fn wordline(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let first = ppn.index() / self.bits * self.bits;
        self.owners[first..first + self.bits].iter().copied().filter(|lpn| *lpn != NO_OWNER)
    }

    /// A flash page on the wordline above that holds a page of the host's, and that page.
    fn above(&self, ppn: Ppn) -> Option<(Ppn, Lpn)> {
        let above = (ppn.index() / self.bits + self.stride) * self.bits;
        let is_within = ppn.index() / self.pages_per_block == above / self.pages_per_block;
        let all = (above..above + self.bits)
            .filter(|_| is_within)
            .map(|above| (Ppn::from_index(above), self.owners[above]));
        all.into_iter().find(|(_, lpn)| *lpn != NO_OWNER)
    }

    /// The host's pages of its block that lie neither on its wordline nor beside it.
    fn far_from(&self, ppn: Ppn) -> impl Iterator<Item = Lpn> {
        let own = ppn.index() % self.pages_per_block / self.bits;
        let wordlines = self.block(ppn).chunks(self.bits).enumerate();
        let far = wordlines
            .filter(move |(wordline, _)| *wordline != own && wordline.abs_diff(own) != self.stride);
        far.flat_map(|(_, pages)| pages).copied().filter(|lpn| *lpn != NO_OWNER)
    }

    /// The flash page that holds a page of the host's; of one that is on flash.
    fn place_of(&self, lpn: Lpn) -> Ppn {
        Ppn::from_index(self.owners.iter().position(|owner| *owner == lpn).expect("it is on flash"))
    }

    /// The same; all of its block where nothing lies beside it.
    fn neighbours_or_block(&self, ppn: Ppn) -> Vec<Lpn> {
        let near: Vec<Lpn> = self.neighbours(ppn).collect();
        if near.is_empty() {
            self.block(ppn).iter().copied().filter(|lpn| *lpn != NO_OWNER).collect()
        } else {
            near
        }
    }

    /// A page of each wordline of its block but its own.
    fn each_wordline(&self, ppn: Ppn) -> Vec<Lpn> {
        let own = ppn.index() % self.pages_per_block / self.bits;
        let wordlines =
            self.block(ppn).chunks(self.bits).enumerate().filter(|(wordline, _)| *wordline != own);
        wordlines
            .filter_map(|(_, pages)| pages.iter().copied().find(|lpn| *lpn != NO_OWNER))
            .collect()
    }
}

/// How the requests of a burst come: so many outstanding, or by a clock of their own.
#[derive(Clone, Copy)]
pub(crate) enum Coming {
    Outstanding(u32),
    /// So far apart in the mean; the last came then.
    ByClock {
        gap: Ns,
        at: Ns,
    },
}

impl Coming {
    /// Requests at hand. By a clock none comes before the drive is done with the burst before.
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

/// The adversary of one drive.
pub struct Adversary {
    dice: Dice,
    coming: Coming,
    victim: Option<Victim>,
}

impl Adversary {
    /// The same seed and the same drive: the same requests. It keeps `depth` of them outstanding
    /// within a burst.
    pub fn new(seed: u64, depth: u32) -> Self {
        Self { dice: Dice::new(seed), coming: Coming::Outstanding(depth), victim: None }
    }

    /// The same on a drive that needs to know the time: its requests come by a clock of their own,
    /// so many ns apart in the mean.
    #[must_use]
    pub fn by_a_clock(self, gap: Ns) -> Self {
        Self { coming: Coming::ByClock { gap, at: 0 }, ..self }
    }

    /// Attacks a drive that an [`Oracle`] watches with so many requests; `heard` is told of each
    /// burst before it is served. Gives the requests served.
    ///
    /// # Errors
    /// An interruption.
    ///
    /// # Panics
    /// Where no oracle watches the drive: nobody else knows true doses.
    pub fn attack(
        &mut self,
        drive: &mut Drive,
        mut engine: Option<&mut Replay>,
        requests: u64,
        heard: &mut dyn FnMut(&[Request]),
        progress: Progress,
    ) -> Result<u64, RunError> {
        let mut served = 0;
        while served < requests {
            let size = self.dice.between(BURST.0, BURST.1).min(requests - served);
            let made = self.burst(drive, size as usize);
            let mut burst = self.coming.burst(&mut self.dice, drive, made);
            heard(&burst.requests);
            let before = served;
            let mut step = |of_burst: u64, drive: &Drive| progress(before + of_burst, drive);
            served += match engine.as_deref_mut() {
                Some(engine) => engine.run(drive, &mut burst, &mut step)?,
                None => run_untimed(drive, &mut burst, &mut step)?,
            };
        }
        Ok(served)
    }

    /// The next requests, from what it sees now.
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
            // There is nothing to read: something is written.
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
        // What it has done shows when the victim itself is read.
        if let Some(last) = requests.last_mut().filter(|_| self.dice.chance(0.5)) {
            *last = request(page_of_victim.number().into(), Op::Read);
        }
        // A part of it is written first: by the time that the rest is needed it may be gone.
        if let Some(first) = requests.first_mut().filter(|_| writes > 0.0 && self.dice.chance(0.1))
        {
            *first = self.part_of(page_of_victim, page);
        }
        requests
    }

    /// Now and then: the pages that the drive has reported lost.
    fn ruins(&mut self, drive: &mut Drive) -> Vec<Lpn> {
        if drive.lost_pages() == 0 || self.dice.chance(0.8) {
            return vec![];
        }
        let pages = drive.geometry().host_pages;
        let oracle = oracle_of(drive);
        Lpn::range(0..pages).filter(|lpn| oracle.is_lost(*lpn)).collect()
    }

    /// Does something to a lost page, or to one beside it.
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

    /// A write of a part of a page, from any byte to any other.
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

    /// Keeps to its victim while there is one, and finds the next.
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
        // What is lost already can lose no more.
        let left = live.map(|ppn| (oracle.reads_left(ppn), ppn)).filter(|(left, _)| *left >= 0.0);
        // One with nothing beside it is hard to reach.
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

    /// The blocks among which the next victim is looked for.
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

/// Requests at hand.
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
