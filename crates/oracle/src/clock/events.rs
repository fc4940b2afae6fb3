//! Events of the timed gear, one by one, each against the expected course.

use vpass_drive::base::units::{Cause, Ns, Ppn};
use vpass_drive::watch::time_event::{OpId, TimeEvent, Work};

use super::dies::Ended;
use super::lengths::How;
use super::work::{UnderWay, die_of_part, part_ns};
use super::{HeldRead, Rebuilding, TimingChecker};

/// Returns the time of an event; `None` for an event without a time of its own.
fn time_of(event: &TimeEvent) -> Option<Ns> {
    match *event {
        TimeEvent::Completed { .. } | TimeEvent::Part { .. } | TimeEvent::Held { .. } => None,
        TimeEvent::Paced { at, .. }
        | TimeEvent::Submitted { at, .. }
        | TimeEvent::FromMemory { at, .. }
        | TimeEvent::Rebuilding { at, .. }
        | TimeEvent::Accepted { at, .. }
        | TimeEvent::Read { at, .. }
        | TimeEvent::Retry { at, .. }
        | TimeEvent::Load { at, .. }
        | TimeEvent::ToRepair { at, .. }
        | TimeEvent::Work { at, .. }
        | TimeEvent::Piece { at, .. }
        | TimeEvent::Begun { at, .. }
        | TimeEvent::Suspended { at, .. }
        | TimeEvent::Transfer { at, .. }
        | TimeEvent::Ended { at, .. }
        | TimeEvent::Job { at, .. }
        | TimeEvent::Urgent { at, .. } => Some(at),
    }
}

impl TimingChecker {
    /// Advances time to `at`, and checks that no request waits without a reason until then.
    fn go_to(&mut self, at: Ns) -> Result<(), String> {
        if at == self.now {
            return Ok(());
        }
        if at < self.now {
            return Err(format!("an event at {at} ns comes after an event at {} ns", self.now));
        }
        let before = std::mem::replace(&mut self.now, at);
        self.host.check_still(before, &self.lengths)
    }

    pub(super) fn event(&mut self, event: &TimeEvent) -> Result<(), String> {
        time_of(event).map_or(Ok(()), |at| self.go_to(at))?;
        match *event {
            TimeEvent::Completed { request, start, end } => {
                self.host.completed(request, start, end)
            }
            TimeEvent::Part { op, work } => self.part(op, &work),
            TimeEvent::Paced { open, depth, .. } => self.host.paced(open, depth, &self.lengths),
            TimeEvent::Submitted { request, at } => self.host.submitted(request, at, &self.lengths),
            TimeEvent::Accepted { request, at } => self.host.accepted(request, at, &self.lengths),
            TimeEvent::FromMemory { request, bytes, at } => {
                self.host.next_page(request, bytes, &self.lengths)?;
                self.host.deliver((request, bytes), at, &self.lengths)
            }
            TimeEvent::Rebuilding { request, bytes, stripe, at } => {
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                self.expected.take_rebuilt(lpn, stripe)?;
                if self.dies.is_loading(stripe) {
                    let rebuilding = Rebuilding { part: (request, bytes), decodings: 1 };
                    self.rebuilding.insert(stripe, rebuilding);
                    return Ok(());
                }
                self.host.deliver((request, bytes), at, &self.lengths)
            }
            TimeEvent::Read { op, request, ppn, bytes, .. } => {
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                let how = self.expected.take_read(lpn, ppn)?;
                self.read(op, (ppn, how), None, (bytes, Some(request)), None)
            }
            TimeEvent::Retry { op, ppn, bytes, attempt, .. } => {
                let how = self.expected.take_retry(ppn, attempt, Cause::Host)?;
                self.read(op, (ppn, how), Some(attempt), (bytes, None), None)
            }
            TimeEvent::Load { op, ppn, stripe, retry, .. } => self.load(op, ppn, stripe, retry),
            TimeEvent::Held { ppn, stripe, retry } => self.hold(ppn, stripe, retry),
            TimeEvent::ToRepair { op, request, ppn, bytes, stripe, .. } => {
                let lpn = self.host.next_page(request, bytes, &self.lengths)?;
                let how = self.expected.take_read(lpn, ppn)?;
                self.expected.take_repair((lpn, ppn), stripe)?;
                self.rebuilding.insert(stripe, Rebuilding { part: (request, bytes), decodings: 2 });
                self.read(op, (ppn, how), None, (bytes, None), Some((stripe, Some(request))))
            }
            TimeEvent::Work { op, work, .. } => self.work(op, &work),
            TimeEvent::Piece { op, die, cause, .. } => self.piece(op, die.into(), cause),
            TimeEvent::Begun { op, unit, at } => self.dies.begun(op, unit, at),
            TimeEvent::Suspended { op, at } => self.dies.suspended(op, at, &self.lengths),
            TimeEvent::Transfer { op, channel, at, from, to } => {
                self.dies.transfer(op, channel, at, (from, to), &self.lengths)
            }
            TimeEvent::Ended { op, at } => self.ended(op, at),
            TimeEvent::Job { die, cause, on, .. } => self.dies.job(die.into(), cause, on),
            TimeEvent::Urgent { .. } => Ok(()),
        }
    }

    /// Queues a read among the host's reads. It transfers these bytes, for the request that gets
    /// them, if there is one. A rebuild may wait for it, whose page the host's own read of a request
    /// could not decode.
    fn read(
        &mut self,
        op: OpId,
        page: (Ppn, How),
        retry: Option<u8>,
        (bytes, request): (u32, Option<u32>),
        rebuild: Option<(u32, Option<u32>)>,
    ) -> Result<(), String> {
        let transfer = self.lengths.speed.channel(bytes);
        let part = request.map(|request| (request, bytes));
        let mut read = UnderWay::read(page, retry, transfer, part, (self.now, &self.lengths));
        if let (Some((rebuild, of)), Some(host_read)) = (rebuild, &mut read.host_read) {
            (read.load_for, host_read.to_repair) = (Some(rebuild), of);
        }
        self.dies.queue(op, read, None)
    }

    /// Notes a read for a rebuild that waits until the host's own read of the page has failed.
    fn hold(&mut self, ppn: Ppn, stripe: u32, retry: Option<u8>) -> Result<(), String> {
        if !self.expected.is_to_be_repaired(stripe) {
            return Err(format!(
                "ppn {ppn} is held back for rebuild {stripe}, but no host read failed for that \
                 rebuild"
            ));
        }
        let how = if let Some(attempt) = retry {
            self.expected.take_retry(ppn, attempt, Cause::Parity)?
        } else {
            self.dies.awaits(stripe)?;
            self.expected.take_load(ppn)?
        };
        self.held.push(HeldRead { ppn, retry, how, stripe, is_due: false });
        Ok(())
    }

    /// Checks a page read for a rebuild among the host's reads. A host read must wait for that
    /// rebuild, and its own read of the page must have failed before.
    fn load(&mut self, op: OpId, ppn: Ppn, stripe: u32, retry: Option<u8>) -> Result<(), String> {
        let is_it = |held: &HeldRead| (held.stripe, held.ppn, held.retry) == (stripe, ppn, retry);
        let held = self.held.iter().position(is_it).map(|at| self.held.remove(at));
        if held.map_or_else(|| self.expected.is_to_be_repaired(stripe), |held| !held.is_due) {
            return Err(format!(
                "ppn {ppn} is read for rebuild {stripe} before the host read of its page failed"
            ));
        }
        let how = match (held, retry) {
            (Some(held), _) => held.how,
            (None, Some(attempt)) => self.expected.take_retry(ppn, attempt, Cause::Parity)?,
            (None, None) => {
                self.dies.awaits(stripe)?;
                self.expected.take_load(ppn)?
            }
        };
        let rebuild = retry.is_none().then_some((stripe, None));
        self.read(op, (ppn, how), retry, (self.lengths.geometry.page_bytes, None), rebuild)
    }

    fn work(&mut self, op: OpId, work: &Work) -> Result<(), String> {
        let taken = self.expected.take_work(work, &self.lengths)?;
        let mut under_way = UnderWay::of(work, taken, &self.lengths);
        if let Some(load_for) = under_way.load_for {
            self.dies.awaits(load_for)?;
        }
        if under_way.host_pages > 0 {
            under_way.request = self.host.programs(under_way.host_pages)?;
        }
        let program_of = match *work {
            Work::Program { wordline, .. } => wordline,
            Work::Striped { stripe, waits, cause, .. } => {
                self.host.programs_striped(stripe, cause == Cause::Host)?;
                Some(stripe).filter(|_| waits)
            }
            _ => None,
        };
        self.dies.queue(op, under_way, program_of)
    }

    fn part(&mut self, op: OpId, work: &Work) -> Result<(), String> {
        let taken = self.expected.take_work(work, &self.lengths)?;
        let (ns, die) = self.pieces.entry(op).or_default();
        *ns += part_ns(work, taken, &self.lengths);
        *die = die_of_part(work, &self.lengths).or(*die);
        if *ns == 0 {
            // A piece whose parts take no time does not run.
            self.pieces.remove(&op);
        }
        Ok(())
    }

    fn piece(&mut self, op: OpId, die: u32, cause: Cause) -> Result<(), String> {
        let (ns, own) = self
            .pieces
            .remove(&op)
            .ok_or_else(|| format!("die {die} gets a piece of a job without parts"))?;
        if own.is_some_and(|own| own != die) {
            return Err(format!(
                "a piece of a job goes to die {die}; its pages are on die {own:?}"
            ));
        }
        self.dies.queue(op, UnderWay::piece(die, ns, cause), None)
    }

    fn ended(&mut self, op: OpId, at: Ns) -> Result<(), String> {
        let Ended::Whole(work) = self.dies.ended(op, at)? else { return Ok(()) };
        if let Some(read) = work.host_read {
            let request = read.to_repair.or(read.part.map(|(request, _)| request));
            request.map_or(Ok(()), |request| self.host.meets_reclaim(request, read.met_reclaim))?;
            if let Some(part) = read.part {
                self.host.deliver(part, at + self.lengths.speed.ecc, &self.lengths)?;
            }
            if read.to_repair.is_some() {
                let of_rebuild =
                    self.held.iter_mut().filter(|held| Some(held.stripe) == work.load_for);
                of_rebuild.for_each(|held| held.is_due = true);
            }
        }
        match work {
            UnderWay { load_for: Some(stripe), .. } => self.deliver_rebuilt(stripe),
            UnderWay { stripe: Some(stripe), .. } => self.host.programmed_striped(stripe, at),
            UnderWay { host_pages, request, .. } if host_pages > 0 => {
                self.host.programmed(host_pages, request, at)
            }
            _ => Ok(()),
        }
    }

    /// Notes that a page was read for a stripe. With the last of these pages the host gets the
    /// rebuilt page.
    fn deliver_rebuilt(&mut self, stripe: u32) -> Result<(), String> {
        let is_loading = self.dies.is_loading(stripe);
        let rebuilt = if is_loading { None } else { self.rebuilding.remove(&stripe) };
        let Some(Rebuilding { part, decodings }) = rebuilt else { return Ok(()) };
        self.host.deliver(part, self.now + decodings * self.lengths.speed.ecc, &self.lengths)
    }
}
