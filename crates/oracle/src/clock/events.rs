//! Events of the timed gear, one by one, each against the expected course.

use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::watch::time_event::{OpId, TimeEvent, Work};

use super::dies::{Ended, HostRead};
use super::lengths::How;
use super::work::{UnderWay, die_of_part, part_ns};
use super::{HeldRead, Rebuilding, TimingChecker};

impl TimingChecker {
    /// Advances time to `at`, and checks that all that could begin earlier has begun.
    pub(super) fn go_to(&mut self, at: Ns) -> Result<(), String> {
        if at == self.now {
            return Ok(());
        }
        if at < self.now {
            return Err(format!("an event at {at} ns comes after an event at {} ns", self.now));
        }
        if let Some((stripe, read)) = self.due.first() {
            return Err(format!(
                "a host read failed at {} ns, but ppn {} still waits to be read for rebuild \
                 {stripe}",
                self.now, read.ppn
            ));
        }
        let before = std::mem::replace(&mut self.now, at);
        self.dies.check_still(before)?;
        self.host.check_still(before, &self.lengths)
    }

    pub(super) fn event(&mut self, event: &TimeEvent) -> Result<(), String> {
        match *event {
            TimeEvent::Completed { request, start, end } => {
                self.host.completed(request, start, end)
            }
            TimeEvent::Part { op, work } => self.part(op, &work),
            TimeEvent::Paced { open, depth, at } => {
                self.go_to(at)?;
                self.host.paced(open, depth, &self.lengths)
            }
            TimeEvent::Submitted { request, at } => {
                self.go_to(at)?;
                self.host.submitted(request, at, &self.lengths)?;
                self.dies.pressed = self.host.stalls_since();
                Ok(())
            }
            TimeEvent::FromMemory { request, bytes, at } => {
                self.go_to(at)?;
                self.host.next_page(request, bytes, &self.lengths)?;
                self.host.deliver(request, bytes, at, &self.lengths)
            }
            TimeEvent::Rebuilding { request, bytes, stripe, at } => {
                self.go_to(at)?;
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                self.expected.take_rebuilt(lpn, stripe)?;
                if self.dies.is_loading(stripe) {
                    self.rebuilding.insert(stripe, Rebuilding { request, bytes, decodings: 1 });
                    return Ok(());
                }
                self.host.deliver(request, bytes, at, &self.lengths)
            }
            TimeEvent::Accepted { request, at } => {
                self.go_to(at)?;
                self.host.accepted(request, at, &self.lengths)?;
                self.dies.pressed = self.host.stalls_since();
                Ok(())
            }
            TimeEvent::Read { op, request, ppn, bytes, at } => {
                self.go_to(at)?;
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                let how = self.expected.take_read(lpn, ppn)?;
                self.urgency.read(self.lengths.die(ppn), self.lengths.block(ppn), ppn);
                self.dies.read(op, (request, bytes), (ppn, how), at, &self.lengths)
            }
            TimeEvent::Retry { op, request, ppn, bytes, attempt, at } => {
                self.go_to(at)?;
                let coding = self.expected.take_retry(ppn, attempt, Cause::Host)?;
                self.dies.retry(op, (request, bytes), (ppn, coding), attempt, at, &self.lengths)
            }
            TimeEvent::Load { op, ppn, stripe, retry, at } => {
                self.go_to(at)?;
                self.load(op, ppn, stripe, retry)
            }
            TimeEvent::Held { ppn, stripe, retry } => self.hold(ppn, stripe, retry),
            TimeEvent::ToRepair { op, request, ppn, bytes, stripe, at } => {
                self.go_to(at)?;
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                let how = self.expected.take_read(lpn, ppn)?;
                self.expected.take_repair((lpn, ppn), stripe)?;
                self.urgency.read(self.lengths.die(ppn), self.lengths.block(ppn), ppn);
                self.rebuilding.insert(stripe, Rebuilding { request, bytes, decodings: 2 });
                self.dies.read_to_repair(
                    op,
                    (request, bytes),
                    stripe,
                    (ppn, how),
                    at,
                    &self.lengths,
                )
            }
            TimeEvent::Work { op, work, at } => {
                self.go_to(at)?;
                self.work(op, &work)
            }
            TimeEvent::Piece { op, die, cause, at } => {
                self.go_to(at)?;
                self.piece(op, die.into(), cause)
            }
            TimeEvent::Begun { op, unit, at } => {
                self.go_to(at)?;
                self.dies.begun(op, unit, at, &self.lengths)?;
                self.check_calm(op, unit, at)
            }
            TimeEvent::Suspended { op, at } => {
                self.go_to(at)?;
                self.dies.suspended(op, at, &self.lengths)
            }
            TimeEvent::Transfer { op, channel, at, from, to } => {
                self.go_to(at)?;
                self.dies.transfer(op, channel, at, (from, to), &self.lengths)
            }
            TimeEvent::Ended { op, at } => {
                self.go_to(at)?;
                self.ended(op, at)
            }
            TimeEvent::Job { die, block, cause, on, at } => {
                self.go_to(at)?;
                self.urgency.job(die.into(), block, cause, on, at);
                self.dies.job(die.into(), cause, on)
            }
            TimeEvent::Urgent { die, on, at } => {
                self.go_to(at)?;
                self.dies.urgent(die.into(), on);
                if on { self.urgency.check_urgent(die.into(), at) } else { Ok(()) }
            }
        }
    }

    /// Notes a read for a rebuild that waits until the host's own read of the page has failed.
    pub(super) fn hold(&mut self, ppn: Ppn, stripe: u32, retry: Option<u8>) -> Result<(), String> {
        if !self.expected.is_to_be_repaired(stripe) {
            return Err(format!(
                "ppn {ppn} is held back for rebuild {stripe}, but no host read failed for that \
                 rebuild"
            ));
        }
        let how = if let Some(attempt) = retry {
            How { coding: self.expected.take_retry(ppn, attempt, Cause::Parity)?, level: 0 }
        } else {
            self.dies.awaits(stripe);
            self.expected.take_load(ppn, &self.lengths)?
        };
        self.held.entry(stripe).or_default().push(HeldRead { ppn, retry, how });
        Ok(())
    }

    /// Checks a page read for a rebuild among the host's reads. A host read must wait for that
    /// rebuild.
    pub(super) fn load(
        &mut self,
        op: OpId,
        ppn: Ppn,
        stripe: u32,
        retry: Option<u8>,
    ) -> Result<(), String> {
        if let Some(at) = self
            .due
            .iter()
            .position(|(of, read)| (*of, read.ppn, read.retry) == (stripe, ppn, retry))
        {
            let (_, HeldRead { how, .. }) = self.due.remove(at);
            return match retry {
                Some(attempt) => {
                    self.dies.retry_load(op, (ppn, how.coding), attempt, self.now, &self.lengths)
                }
                None => self.dies.load_awaited(op, stripe, (ppn, how), self.now, &self.lengths),
            };
        }
        if self.expected.is_to_be_repaired(stripe) {
            return Err(format!(
                "ppn {ppn} is read for rebuild {stripe} before the host read of its page failed"
            ));
        }
        if !self.expected.is_awaited(stripe) {
            return Err(format!(
                "ppn {ppn} is read as a host read for rebuild {stripe}, but no host read waits for \
                 that rebuild"
            ));
        }
        let Some(attempt) = retry else {
            if self.retried_behind.take() == Some(ppn) {
                return Err(format!(
                    "a host read waits for ppn {ppn} of rebuild {stripe}, but its retry waits \
                     behind other work"
                ));
            }
            let how = self.expected.take_load(ppn, &self.lengths)?;
            return self.dies.load(op, stripe, (ppn, how), self.now, &self.lengths);
        };
        let coding = self.expected.take_retry(ppn, attempt, Cause::Parity)?;
        self.dies.retry_load(op, (ppn, coding), attempt, self.now, &self.lengths)
    }

    pub(super) fn work(&mut self, op: OpId, work: &Work) -> Result<(), String> {
        if let Work::Load { src, wordline, .. } = *work
            && self.expected.is_awaited(wordline)
        {
            return Err(format!(
                "a host read waits for ppn {src} of rebuild {wordline}, but it is read behind \
                 other work"
            ));
        }
        self.retried_behind = if let Work::Retry { src, .. } = *work { Some(src) } else { None };
        let sparse = if let Work::Program { dst, .. } = work {
            self.expected.is_sparse(self.lengths.block(*dst))
        } else {
            false
        };
        self.pads.check(work, self.now, self.host.last_end, sparse, &self.lengths)?;
        let taken = self.expected.take_work(work, &self.lengths)?;
        let mut under_way = UnderWay::of(work, &taken, &self.lengths);
        if under_way.host_pages > 0 {
            under_way.request = self.host.programs(under_way.host_pages)?;
        }
        if let Work::Striped { stripe, cause, .. } = *work {
            self.host.programs_striped(stripe, cause == Cause::Host)?;
        }
        let program_of = match *work {
            Work::Program { wordline, .. } => wordline,
            Work::Striped { stripe, waits: true, .. } => Some(stripe),
            _ => None,
        };
        self.dies.queue(op, under_way, program_of)
    }

    pub(super) fn part(&mut self, op: OpId, work: &Work) -> Result<(), String> {
        let taken = self.expected.take_work(work, &self.lengths)?;
        let parts = self.pieces.entry(op).or_default();
        if let Some(block) = taken.moved {
            *parts.moved.entry(block).or_default() += 1;
        }
        if let Work::Erase { block, .. } = work {
            parts.erased.insert(*block);
        }
        parts.ns += part_ns(work, &taken, &self.lengths);
        parts.die = die_of_part(work, &self.lengths).or(parts.die);
        if parts.ns == 0 {
            // A piece whose parts take no time does not run.
            self.pieces.remove(&op);
        }
        Ok(())
    }

    pub(super) fn piece(&mut self, op: OpId, die: u32, cause: Cause) -> Result<(), String> {
        let parts = self
            .pieces
            .remove(&op)
            .ok_or_else(|| format!("die {die} gets a piece of a job without parts"))?;
        if parts.die.is_some_and(|own| own != die) {
            return Err(format!(
                "a piece of a job goes to die {die}; its pages are on die {:?}",
                parts.die
            ));
        }
        let most = self.lengths.batch.unwrap_or(u32::MAX);
        if let Some((block, moved)) = parts
            .moved
            .iter()
            .find(|(block, moved)| **moved > most && !parts.erased.contains(block))
        {
            return Err(format!(
                "a batch moves {moved} pages of block {block}; it may move at most {most} before \
                 its job continues"
            ));
        }
        self.dies.queue(op, UnderWay::piece(die, parts.ns, cause), None)
    }

    pub(super) fn ended(&mut self, op: OpId, at: Ns) -> Result<(), String> {
        match self.dies.ended(op, at, &self.lengths)? {
            Ended::Read(HostRead {
                to_repair: true,
                load_for: Some(stripe),
                request,
                met_reclaim,
                ..
            }) => {
                self.host.meets_reclaim(request, met_reclaim)?;
                self.due.extend(
                    self.held.remove(&stripe).into_iter().flatten().map(|read| (stripe, read)),
                );
                self.deliver_rebuilt(stripe)
            }
            Ended::Read(HostRead { load_for: Some(stripe), .. })
            | Ended::Work(UnderWay { load_for: Some(stripe), .. }) => self.deliver_rebuilt(stripe),
            Ended::Read(read) if read.in_vain => Ok(()),
            Ended::Read(read) => {
                self.host.deliver_page(&read, at + self.lengths.ecc, &self.lengths)
            }
            Ended::Work(UnderWay { stripe: Some(stripe), .. }) => {
                self.host.programmed_striped(stripe, at)
            }
            Ended::Work(work) if work.host_pages > 0 => {
                self.host.programmed(work.host_pages, work.request, at)
            }
            Ended::Work(_) | Ended::Half => Ok(()),
        }
    }

    /// Notes that a page was read for a stripe. With the last of these pages the host gets the
    /// rebuilt page.
    pub(super) fn deliver_rebuilt(&mut self, stripe: u32) -> Result<(), String> {
        let rebuilt =
            if self.dies.is_loading(stripe) { None } else { self.rebuilding.remove(&stripe) };
        let Some(Rebuilding { request, bytes, decodings }) = rebuilt else { return Ok(()) };
        self.host.deliver(request, bytes, self.now + decodings * self.lengths.ecc, &self.lengths)
    }
}
