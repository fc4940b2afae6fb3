//! A siege of a drive that may lose data under its technique. The siege counts its reads, so a page
//! ends just at its limit or one read beyond. Then it does what must show the loss. An adversary
//! that only reads until it sees a loss has mostly passed that point.
//!
//! ```text
//! a page endures 37.5 more reads beside it
//! 37 reads                             the page must be readable
//! 38 reads                             the page must be reported lost
//! 38 reads, a write of a part of it    the rest of the page is lost
//! 38 reads, no read of it              the end of the run must find the loss
//! ```

use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{BlockId, Lpn, Ppn};
use vpass_drive::config::DisturbModel;
use vpass_drive::drive::Drive;
use vpass_drive::flash::block::BlockState;
use vpass_drive::time::{Replay, RunError};

use super::{Coming, NO_OWNER, Sight, any_page, emptiest, filled, of_page, oracle_of};
use crate::dice::Dice;

/// Largest number of reads in one act.
const MOST_READS: u64 = 6000;
/// Number of further acts in the same block.
const PATIENCE: u64 = 3;

/// Act of the siege on a page at its limit.
#[derive(Clone, Copy)]
enum Act {
    /// The siege reads the page one read beyond its limit.
    ReadsPast,
    /// The siege reads the page exactly at its limit.
    ReadsAt,
    /// The siege writes a part of the page one read beyond its limit, and then pages elsewhere.
    WritesPart,
    /// The siege disturbs an erased page beyond its limit, and then writes it.
    BringsForth,
    /// The siege leaves the page one read beyond its limit.
    Leaves,
}

/// The acts, each repeated as often as the siege should try it. Some acts need an open block, or a
/// block that is cleaned in time, so they often fail.
const ACTS: [Act; 9] = [
    Act::ReadsPast,
    Act::ReadsPast,
    Act::ReadsAt,
    Act::WritesPart,
    Act::WritesPart,
    Act::WritesPart,
    Act::BringsForth,
    Act::BringsForth,
    Act::Leaves,
];

/// Last act of a run.
#[derive(Clone, Copy)]
enum Last {
    /// A page in an open block is past its limit, and nothing has read it.
    InOpenBlock,
    /// A read at the end of the run, which completes another page, brings a page past its limit.
    ByLooking,
    /// The run ends without a special act.
    Nothing,
}

/// Blocks that the siege chooses from.
#[derive(Clone, Copy)]
enum Taste {
    Any,
    Emptiest,
    Open,
}

/// A siege of one drive.
pub(crate) struct Siege {
    dice: Dice,
    coming: Coming,
    block: Option<(BlockId, u64)>,
}

impl Siege {
    pub(crate) fn new(seed: u64, coming: Coming) -> Self {
        Self { dice: Dice::new(seed), coming, block: None }
    }

    /// Serves about `requests` requests, in the way of [`super::Adversary::attack`]. Returns the
    /// number of requests served.
    pub(crate) fn lay(
        &mut self,
        drive: &mut Drive,
        mut engine: Option<&mut Replay>,
        requests: u64,
    ) -> Result<u64, RunError> {
        let mut served = 0;
        let mut is_last = false;
        while !is_last {
            is_last = served >= requests;
            let requests = if is_last { self.last(drive) } else { self.act(drive) };
            let on = (&mut *drive, engine.as_deref_mut());
            served += self.coming.serve(&mut self.dice, on, requests, &mut |_, _| true)?;
        }
        Ok(served)
    }

    fn act(&mut self, drive: &mut Drive) -> Vec<Request> {
        let act = self.dice.pick(&ACTS);
        let sight = Sight::of(drive);
        let acted = match act {
            Act::BringsForth => self.brings_forth(drive, &sight),
            Act::ReadsAt => self
                .victim(drive, &sight, Taste::Any)
                .and_then(|victim| reads_at(drive, &sight, victim)),
            Act::WritesPart => self
                .victim(drive, &sight, Taste::Emptiest)
                .and_then(|victim| self.writes_part(drive, &sight, victim)),
            Act::ReadsPast | Act::Leaves => {
                let taste = self.dice.pick(&[Taste::Any, Taste::Open]);
                self.victim(drive, &sight, taste).and_then(|victim| {
                    let mut reads = past(drive, &sight, victim)?;
                    if matches!(act, Act::ReadsPast) {
                        reads.push(read(drive, sight.owners[victim.index()]));
                    }
                    Some(reads)
                })
            }
        };
        acted.unwrap_or_else(|| {
            self.block = None;
            let count = self.dice.between(1, 30);
            self.writes(drive, count)
        })
    }

    fn last(&mut self, drive: &mut Drive) -> Vec<Request> {
        let sight = Sight::of(drive);
        self.block = None;
        let acted = match self.dice.pick(&[
            Last::InOpenBlock,
            Last::ByLooking,
            Last::ByLooking,
            Last::Nothing,
        ]) {
            Last::InOpenBlock => self
                .victim(drive, &sight, Taste::Open)
                .and_then(|victim| past(drive, &sight, victim)),
            // In this model, reads of a wordline disturb the wordline itself. No wordline is nearer
            // to its limit than its neighbour.
            Last::ByLooking if drive.config().disturb.model == DisturbModel::Wordline => {
                self.lost_by_looking(drive, &sight)
            }
            Last::ByLooking | Last::Nothing => None,
        };
        acted.unwrap_or_default()
    }

    /// Returns a page of the chosen block that has host data beside it and is not lost yet.
    fn victim(&mut self, drive: &mut Drive, sight: &Sight, taste: Taste) -> Option<Ppn> {
        let (block, acts) = self
            .block
            .take()
            .or_else(|| self.choose(drive, taste).map(|block| (block, PATIENCE)))?;
        if acts > 0 && matches!(taste, Taste::Any) {
            self.block = Some((block, acts - 1));
        }
        let oracle = oracle_of(drive);
        let near = sight.held(block).filter(|ppn| sight.neighbours(*ppn).next().is_some());
        let left = near.map(|ppn| (oracle.reads_left(ppn), ppn));
        let mut whole: Vec<(f64, Ppn)> =
            left.filter(|(left, _)| (0.0..MOST_READS as f64).contains(left)).collect();
        whole.sort_by(|a, b| a.0.total_cmp(&b.0));
        let among = if self.dice.chance(0.7) { 1 } else { whole.len() };
        (!whole.is_empty()).then(|| self.dice.pick(&whole[..among]).1)
    }

    fn choose(&mut self, drive: &Drive, taste: Taste) -> Option<BlockId> {
        let blocks = match taste {
            Taste::Open => filled(drive, Some(BlockState::Open)),
            Taste::Any => filled(drive, Some(BlockState::Closed)),
            Taste::Emptiest => emptiest(drive, 3),
        };
        (!blocks.is_empty()).then(|| self.dice.pick(&blocks).0)
    }

    /// Returns writes of parts of pages whose rest is lost. After each follow about as many writes
    /// elsewhere as the part needs to leave the buffer. Meanwhile the drive may clean the block,
    /// which holds nothing else by then.
    fn writes_part(
        &mut self,
        drive: &mut Drive,
        sight: &Sight,
        victim: Ppn,
    ) -> Option<Vec<Request>> {
        let neighbour = sight.neighbours(victim).next()?;
        let mut requests = past(drive, sight, victim)?;
        let slots = drive.config().drive.write_buffer.0 / u64::from(drive.geometry().page_bytes);
        let lost: Vec<Lpn> = sight.neighbours(sight.place_of(neighbour)).collect();
        // The drive cleans next the block that holds little else.
        let others =
            sight.block(victim).iter().filter(|lpn| **lpn != NO_OWNER && !lost.contains(lpn));
        requests.extend(others.map(|lpn| of_page(drive, *lpn, Op::Trim)));
        // The drive cleans blocks when it opens new ones.
        if let Some(left) =
            self.until_full(drive, sight).filter(|left| slots > 0 && *left < MOST_READS / 10)
        {
            requests.extend(self.writes(drive, left.saturating_sub(slots / 2)));
        }
        for lpn in lost {
            requests.push(self.part(drive, lpn));
            let many = self.dice.between(slots / 2, slots + 1);
            for write in self.writes(drive, many) {
                requests.push(write);
                if self.dice.chance(0.4) {
                    requests.push(read(drive, lpn));
                }
            }
            if self.dice.chance(0.5) {
                requests.push(self.part(drive, lpn));
            }
            requests.push(read(drive, lpn));
            if self.dice.chance(0.3) {
                // Two writes of its halves bring the page back.
                let whole = of_page(drive, lpn, Op::Write);
                let first = Request { bytes: whole.bytes / 2, ..whole };
                let second = Request {
                    offset: whole.offset + u64::from(first.bytes),
                    bytes: whole.bytes - first.bytes,
                    ..whole
                };
                requests.extend([first, second, read(drive, lpn)]);
            }
        }
        Some(requests)
    }

    /// Returns reads beside the page that an open block takes next, until that page is lost before
    /// it is written. Then the page is written and read.
    fn brings_forth(&mut self, drive: &mut Drive, sight: &Sight) -> Option<Vec<Request>> {
        let open = filled(drive, Some(BlockState::Open)).into_iter();
        let next: Vec<Ppn> = open
            .map(|(block, row)| drive.geometry().first_page(block) + u32::from(row.written))
            .filter(|ppn| ppn.index() % sight.pages_per_block != 0)
            .collect();
        let ppn = *next.get(self.dice.between(0, next.len().max(1) as u64 - 1) as usize)?;
        let neighbour = sight.neighbours(ppn).next()?;
        let place = sight.place_of(neighbour);
        let oracle = oracle_of(drive);
        let ((dose, limit), slope) = (oracle.truth_of_next(ppn)?, oracle.slope_of_next(ppn, place));
        let reads = limit.saturating_sub(dose).checked_div(slope)? + 2;
        if reads > MOST_READS {
            return None;
        }
        // Other pages on this wordline would be lost earlier and would show the loss that is to
        // come. So would pages on the other side of the wordline that is read.
        let others = [Some(ppn.index()), ppn.index().checked_sub(2 * sight.stride * sight.bits)]
            .into_iter()
            .flatten();
        let others = others
            .filter(|other| other / sight.pages_per_block == ppn.index() / sight.pages_per_block)
            .map(Ppn::from_index);
        let mut requests: Vec<Request> = others
            .flat_map(|other| sight.wordline(other))
            .map(|lpn| of_page(drive, lpn, Op::Trim))
            .collect();
        requests.extend(vec![read(drive, neighbour); reads as usize]);
        let width = u64::from(drive.geometry().dies()) * sight.bits as u64;
        let slots = drive.config().drive.write_buffer.0 / u64::from(drive.geometry().page_bytes);
        let written = self.writes(drive, slots + 2 * width);
        let again: Vec<Request> =
            written.iter().map(|request| Request { op: Op::Read, ..*request }).collect();
        requests.extend(written);
        requests.extend(again);
        Some(requests)
    }

    /// Returns reads of an upper wordline until the wordline below is nearly lost, then reads of
    /// the lower one until the upper one is lost. Nothing has noticed that loss. Last comes a write
    /// of a part of the upper page. At its end the run reads the rest of that page, and this read
    /// brings the lower wordline past its limit.
    fn lost_by_looking(&mut self, drive: &mut Drive, sight: &Sight) -> Option<Vec<Request>> {
        let pages = sight.owners.len() as u64;
        let from = self.dice.between(0, pages - 1);
        let all = (from..pages).chain(0..from).map(|ppn| Ppn::new(ppn as u32));
        let all = all.filter(|ppn| sight.owners[ppn.index()] != NO_OWNER);
        let ((lpn, then), (above, first)) = all
            .filter_map(|below| both(drive, sight, below))
            .find(|(a, b)| a.1 + b.1 <= MOST_READS)?;
        let mut requests = vec![read(drive, above); first as usize];
        requests.extend(vec![read(drive, lpn); then as usize]);
        requests.push(self.part(drive, above));
        Some(requests)
    }

    /// Returns the number of writes that fill the open blocks of one stream. The stream is random,
    /// and its blocks are written in turn.
    fn until_full(&mut self, drive: &Drive, sight: &Sight) -> Option<u64> {
        let open =
            drive.block_states().filter(|row| row.state == BlockState::Open && row.written > 0);
        let written: Vec<usize> = open.map(|row| usize::from(row.written)).collect();
        let one = *written.get(self.dice.between(0, written.len().max(1) as u64 - 1) as usize)?;
        let like_it = written.iter().filter(|other| other.abs_diff(one) <= sight.bits).count();
        Some((sight.pages_per_block.saturating_sub(one) * like_it) as u64)
    }

    fn writes(&mut self, drive: &Drive, count: u64) -> Vec<Request> {
        let one = |_| of_page(drive, any_page(&mut self.dice, drive), Op::Write);
        (0..count).map(one).collect()
    }

    fn part(&mut self, drive: &Drive, lpn: Lpn) -> Request {
        let whole = of_page(drive, lpn, Op::Write);
        let from = u64::from(whole.bytes) / 64 * self.dice.between(0, 62);
        let bytes = (u64::from(whole.bytes) / 64 * self.dice.between(1, 2)) as u32;
        Request { offset: whole.offset + from, bytes: bytes.max(1), ..whole }
    }
}

/// Returns a read of a whole page.
fn read(drive: &Drive, lpn: Lpn) -> Request {
    of_page(drive, lpn, Op::Read)
}

/// Returns reads beside a page, and far from it, that use up its limit completely. If no such mix
/// exists, the reads use nearly all of it.
fn reads_at(drive: &mut Drive, sight: &Sight, victim: Ppn) -> Option<Vec<Request>> {
    let neighbour = sight.neighbours(victim).next()?;
    let (near, left) = step(drive, victim, sight.place_of(neighbour))?;
    let far = sight
        .far_from(victim)
        .next()
        .map(|lpn| (lpn, oracle_of(drive).weight(sight.place_of(lpn))));
    let exact = far.and_then(|(lpn, weight)| {
        let counts =
            (0..=left / near).rev().take(1 << 10).map(|count| (count, left - count * near));
        counts
            .filter(|(_, rest)| rest % weight == 0)
            .map(|(count, rest)| (count, rest / weight, lpn))
            .find(|(_, more, _)| *more < 2000)
    });
    let (count, more, lpn) = exact.unwrap_or((left / near, 0, neighbour));
    let mut requests = vec![read(drive, neighbour); count as usize];
    requests.extend(vec![read(drive, lpn); more as usize]);
    requests.push(read(drive, sight.owners[victim.index()]));
    Some(requests)
}

/// Returns the dose that a read of the neighbour adds to a page, and the dose that the page can
/// still take. Both are in 1/1024 dose units.
fn step(drive: &mut Drive, victim: Ppn, neighbour: Ppn) -> Option<(u64, u64)> {
    let oracle = oracle_of(drive);
    let (dose, limit) = oracle.truth(victim)?;
    let near = oracle.slope(victim, neighbour);
    (limit >= dose && near > 0).then(|| (near, limit - dose))
}

/// Returns a page and a page above it, each with a number of reads. The reads of the lower page
/// bring the upper one past its limit. The reads of the upper page leave the lower one just within
/// its limit.
fn both(drive: &mut Drive, sight: &Sight, below: Ppn) -> Option<((Lpn, u64), (Lpn, u64))> {
    let (ppn, above) = sight.above(below)?;
    let ((near, left), (back, room)) = (step(drive, below, ppn)?, step(drive, ppn, below)?);
    Some(((sight.owners[below.index()], room / back + 1), (above, left / near)))
}

/// Returns the reads beside a page that bring it just past its limit.
fn past(drive: &mut Drive, sight: &Sight, victim: Ppn) -> Option<Vec<Request>> {
    let neighbour = sight.neighbours(victim).next()?;
    let (near, left) = step(drive, victim, sight.place_of(neighbour))?;
    let reads = left / near + 1;
    (reads <= MOST_READS).then(|| vec![read(drive, neighbour); reads as usize])
}
