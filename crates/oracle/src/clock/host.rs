//! Requests between submission and completion. The parts of a request, the host link and the write
//! buffer give the time at which it must be complete.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use vpass_drive::base::metrics::TimedMetrics;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{Lpn, Ns};

use super::latencies::Latencies;
use super::lengths::Lengths;
use crate::requests::pages_of;

#[derive(Debug)]
struct Asked {
    request: Request,
    /// Start of the request's latency; `None` before it is submitted.
    start: Option<Ns>,
    /// Number of pages of a read that have been given to a die or served from memory.
    begun: u32,
    /// Number of unfinished parts.
    left: u32,
    /// Whether reclaim was active on a die that served a page of the request.
    met_reclaim: bool,
    /// Latest end of a finished part.
    end: Ns,
    /// Whether nothing more can delay the request.
    done: bool,
    completed: bool,
}

/// The host's side of the drive.
#[derive(Debug, Default)]
pub(super) struct Host {
    /// First incomplete request and all later requests. `first` is the number of that request,
    /// modulo 2^32.
    asked: VecDeque<Asked>,
    first: u32,
    /// Number of the next request to be submitted.
    next: u32,
    open: bool,
    depth: u32,
    /// Completion times of finished requests, and the number of unfinished ones.
    ends: BinaryHeap<Reverse<Ns>>,
    undone: u32,
    read_link: Ns,
    write_link: Ns,
    /// Writes and trims that wait to enter the buffer, each with its number and the arrival of its
    /// data.
    stalled: VecDeque<(u32, Ns)>,
    /// Number of pages on their way from the write buffer to flash.
    programming: u32,
    /// Write without a buffer whose programs are being given to dies.
    through: Option<u32>,
    pub(super) latencies: Latencies,
    /// Stripes under way. Each has its number of programs, its number of host pages and the request
    /// that waits for it.
    stripes: BTreeMap<u32, (u32, u32, Option<u32>)>,
}

impl Host {
    pub(super) fn ask(&mut self, first: u64, requests: &[Request]) {
        if self.asked.is_empty() {
            self.first = first as u32;
            self.next = self.first;
        }
        let new = |request: &Request| Asked {
            request: *request,
            start: None,
            begun: 0,
            left: 0,
            met_reclaim: false,
            end: 0,
            done: false,
            completed: false,
        };
        self.asked.extend(requests.iter().map(new));
    }

    fn get(&mut self, number: u32) -> Result<&mut Asked, String> {
        let at = number.wrapping_sub(self.first) as usize;
        self.asked
            .get_mut(at)
            .filter(|a| a.start.is_some() && !a.completed)
            .ok_or_else(|| format!("request {number} is not outstanding"))
    }

    pub(super) fn paced(
        &mut self,
        open: bool,
        depth: u32,
        lengths: &Lengths,
    ) -> Result<(), String> {
        (self.open, self.depth) = (open, depth);
        // A source that reacts to completions keeps to its own depth.
        if open && depth != lengths.max_outstanding && depth != u32::MAX {
            return Err(format!(
                "{depth} requests may be outstanding; the drive allows {}",
                lengths.max_outstanding
            ));
        }
        Ok(())
    }

    /// Returns the number of requests in the drive. The time must not go back between calls.
    fn outstanding(&mut self, now: Ns) -> u32 {
        while self.ends.peek().is_some_and(|end| end.0 <= now) {
            self.ends.pop();
        }
        self.ends.len() as u32 + self.undone
    }

    /// Checks, before time advances, that nothing waits without a reason.
    pub(super) fn check_still(&mut self, now: Ns, lengths: &Lengths) -> Result<(), String> {
        self.end_through();
        if let Some((number, _)) = self.stalled.front().filter(|(_, arrived)| *arrived <= now)
            && self.has_room(lengths)
        {
            return Err(format!(
                "request {number} does not enter the buffer at {now} ns, although only {} buffer \
                 pages are being programmed",
                self.programming
            ));
        }
        let next =
            self.asked.get(self.next.wrapping_sub(self.first) as usize).map(|a| a.request.at);
        if next.is_some_and(|at| !self.open || at <= now) && self.outstanding(now) < self.depth {
            return Err(format!(
                "request {} has arrived at {now} ns, but it is not submitted",
                self.next
            ));
        }
        Ok(())
    }

    fn has_room(&self, lengths: &Lengths) -> bool {
        lengths.slots == 0 || self.programming < lengths.slots
    }

    pub(super) fn submitted(
        &mut self,
        number: u32,
        now: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        self.end_through();
        if number != self.next {
            return Err(format!(
                "request {number} is submitted, but request {} is next",
                self.next
            ));
        }
        if self.outstanding(now) >= self.depth {
            return Err(format!(
                "request {number} is submitted at {now} ns, but {} requests are already \
                 outstanding",
                self.depth
            ));
        }
        self.next = self.next.wrapping_add(1);
        self.undone += 1;
        let open = self.open;
        let at = number.wrapping_sub(self.first) as usize;
        let asked =
            self.asked.get_mut(at).ok_or_else(|| format!("request {number} was not requested"))?;
        let Request { at, bytes, op, .. } = asked.request;
        if open && at > now {
            return Err(format!(
                "request {number} is submitted at {now} ns, before its arrival at {at} ns"
            ));
        }
        asked.start = Some(if open { at } else { now });
        match op {
            Op::Read => asked.left = pages(&asked.request, lengths).1,
            Op::Write => {
                let arrived = lengths.link(bytes).map_or(now, |ns| {
                    self.write_link = self.write_link.max(now) + ns;
                    self.write_link
                });
                self.stalled.push_back((number, arrived));
            }
            Op::Trim => {
                // A trim enters the buffer after all earlier writes.
                let arrived = self.stalled.back().map_or(now, |(_, before)| now.max(*before));
                self.stalled.push_back((number, arrived));
            }
        }
        Ok(())
    }

    /// Takes the next page of a read and returns it.
    #[inline]
    pub(super) fn next_page(
        &mut self,
        number: u32,
        bytes: u32,
        lengths: &Lengths,
    ) -> Result<Lpn, String> {
        let asked = self.get(number)?;
        let (first, count) = pages(&asked.request, lengths);
        if asked.request.op != Op::Read || asked.begun == count {
            return Err(format!(
                "request {number} gets more pages than the {} that it reads",
                asked.begun
            ));
        }
        let page = asked.begun;
        asked.begun += 1;
        let wanted = bytes_of(&asked.request, u64::from((first + page).number()), lengths);
        if bytes != wanted {
            return Err(format!(
                "page {page} of request {number} gets {bytes} bytes instead of {wanted}"
            ));
        }
        Ok(first + page)
    }

    /// Notes if a read of a request met reclaim on its die.
    pub(super) fn meets_reclaim(&mut self, request: u32, met_reclaim: bool) -> Result<(), String> {
        self.get(request)?.met_reclaim |= met_reclaim;
        Ok(())
    }

    /// Notes that data for the host is ready in the controller.
    #[inline]
    pub(super) fn deliver(
        &mut self,
        (number, bytes): (u32, u32),
        ready: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        let end = lengths.link(bytes).map_or(ready, |ns| {
            self.read_link = self.read_link.max(ready) + ns;
            self.read_link
        });
        self.part_done(number, end)
    }

    fn part_done(&mut self, number: u32, end: Ns) -> Result<(), String> {
        let asked = self.get(number)?;
        asked.end = asked.end.max(end);
        asked.left = asked
            .left
            .checked_sub(1)
            .ok_or_else(|| format!("request {number} has too many parts"))?;
        if asked.left == 0 {
            asked.done = true;
            let end = asked.end;
            self.undone -= 1;
            self.ends.push(Reverse(end));
        }
        Ok(())
    }

    pub(super) fn accepted(
        &mut self,
        number: u32,
        now: Ns,
        lengths: &Lengths,
    ) -> Result<(), String> {
        self.end_through();
        let Some((first, arrived)) = self.stalled.pop_front().filter(|(first, _)| *first == number)
        else {
            return Err(format!("request {number} enters the buffer out of order"));
        };
        if !self.has_room(lengths) {
            return Err(format!(
                "request {number} enters the buffer at {now} ns, although {} buffer pages are \
                 being programmed",
                self.programming
            ));
        }
        if arrived > now {
            return Err(format!(
                "request {number} enters the buffer at {now} ns, before its data arrives at \
                 {arrived} ns"
            ));
        }
        let asked = self.get(first)?;
        (asked.left, asked.end) = (1, now);
        if lengths.slots == 0 && asked.request.op == Op::Write {
            self.through = Some(number);
            return Ok(());
        }
        self.part_done(first, now)
    }

    /// Notes that host pages are given to a die to program. Returns the request that waits for
    /// them.
    pub(super) fn programs(&mut self, pages: u32) -> Result<Option<u32>, String> {
        self.programming += pages;
        if let Some(number) = self.through {
            self.get(number)?.left += 1;
        }
        Ok(self.through)
    }

    /// Notes that a page of a stripe is given to a die to program. `by_host` is true for a host
    /// page.
    pub(super) fn programs_striped(&mut self, stripe: u32, by_host: bool) -> Result<(), String> {
        let is_new = !self.stripes.contains_key(&stripe);
        let (programs, pages, request) = self.stripes.entry(stripe).or_default();
        (*programs, *pages) = (*programs + 1, *pages + u32::from(by_host));
        if by_host {
            self.programming += 1;
        }
        if is_new && by_host {
            *request = self.through;
            if let Some(number) = self.through {
                self.get(number)?.left += 1;
            }
        }
        Ok(())
    }

    /// Notes that a page of a stripe is programmed. The buffer releases the stripe's pages with the
    /// last of them.
    pub(super) fn programmed_striped(&mut self, stripe: u32, now: Ns) -> Result<(), String> {
        let under_way = self.stripes.get_mut(&stripe).ok_or_else(|| {
            format!("stripe {stripe} was programmed, but it was not being written")
        })?;
        under_way.0 -= 1;
        if under_way.0 > 0 {
            return Ok(());
        }
        let (_, pages, request) = self.stripes.remove(&stripe).unwrap_or_default();
        self.programmed(pages, request, now)
    }

    pub(super) fn programmed(
        &mut self,
        pages: u32,
        request: Option<u32>,
        now: Ns,
    ) -> Result<(), String> {
        self.programming -= pages;
        request.map_or(Ok(()), |number| self.part_done(number, now))
    }

    /// Ends the list of programs of the last write without a buffer.
    fn end_through(&mut self) {
        if let Some(number) = self.through.take() {
            self.part_done(number, 0).expect("its own part kept it open");
        }
    }

    pub(super) fn completed(&mut self, number: u32, start: Ns, end: Ns) -> Result<(), String> {
        self.end_through();
        let asked = self.get(number)?;
        if !asked.done {
            return Err(format!(
                "request {number}, {:?}, is complete at {end} ns, but {} parts are missing",
                asked.request, asked.left
            ));
        }
        let began = asked.start.unwrap_or(0);
        if (start, end) != (began, asked.end) {
            let text = format!(
                "request {number}, {:?}, takes from {start} to {end} ns; it must take from {began} \
                 to {} ns",
                asked.request, asked.end
            );
            return Err(text);
        }
        asked.completed = true;
        let (request, met_reclaim) = (asked.request, asked.met_reclaim);
        self.latencies.completed(&request, met_reclaim, (start, end));
        while self.asked.front().is_some_and(|asked| asked.completed) {
            self.asked.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        Ok(())
    }

    /// Checks that all requests are complete and that their latencies are reported.
    pub(super) fn check_end(&self, latencies: &TimedMetrics) -> Result<(), String> {
        if !self.asked.is_empty() {
            return Err(format!(
                "requests from number {} on are not complete at the end",
                self.first
            ));
        }
        self.latencies.check(latencies)
    }
}

/// Returns the first page of a request, and the number of pages that it touches.
fn pages(request: &Request, lengths: &Lengths) -> (Lpn, u32) {
    let pages = pages_of(request, lengths.geometry.page_bytes);
    (Lpn::new(pages.start as u32), (pages.end - pages.start) as u32)
}

/// Returns the number of bytes that a request wants from a page.
fn bytes_of(request: &Request, page: u64, lengths: &Lengths) -> u32 {
    let size = u64::from(lengths.geometry.page_bytes);
    let from = request.offset.max(page * size);
    let to = (request.offset + u64::from(request.bytes)).min((page + 1) * size);
    (to - from) as u32
}
