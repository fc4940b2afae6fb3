//! What the host asked for: every request split into pages by arithmetic of the oracle's own, and
//! each page served once, in its turn. Reads keep their order, and so do writes and trims; in the
//! timed gear the two kinds pass each other.
//!
//! ```text
//! 4-KiB pages, a write of bytes 3072 to 9215:    page 0, parts 48 to 63    page 1, all    page 2, parts 0 to 15
//! ```

use std::collections::VecDeque;

use vpass_core::base::latency::AccessLatency;
use vpass_core::base::metrics::HostCounts;
use vpass_core::base::request::{Op, Request};
use vpass_core::base::units::Lpn;

/// Every part of a page.
pub(crate) const WHOLE: u64 = u64::MAX;

/// A request of which pages are still to be served.
#[derive(Clone, Copy, Debug)]
struct Asked {
    number: u64,
    op: Op,
    bytes: u32,
    /// Its first page, the page whose turn it is, and one past the last.
    first: u64,
    next: u64,
    end: u64,
    /// The bytes of the drive it asks for: from, to.
    from: u64,
    to: u64,
    hint: Option<AccessLatency>,
}

/// The requests of one kind, in order.
#[derive(Debug)]
struct Queue {
    page_bytes: u32,
    asked: VecDeque<Asked>,
}

/// All that the host asked for and has not got.
#[derive(Debug)]
pub(crate) struct Requests {
    page_shift: u32,
    reads: Queue,
    changes: Queue,
    /// Any requests were told of: before them the drive is prepared, page by page.
    pub(crate) any: bool,
    /// Served since the measured phase began.
    pub(crate) served: HostCounts,
    /// What the request says of itself whose page was read last.
    pub(crate) hint: Option<AccessLatency>,
    /// Pages of the request whose page was written last.
    pub(crate) pages_now: u64,
}

impl Requests {
    pub(crate) fn new(page_bytes: u32) -> Self {
        Self {
            page_shift: page_bytes.trailing_zeros(),
            reads: Queue::new(page_bytes),
            changes: Queue::new(page_bytes),
            any: false,
            served: HostCounts::default(),
            hint: None,
            pages_now: 0,
        }
    }

    pub(crate) fn ask(&mut self, first: u64, requests: &[Request]) {
        self.any = true;
        let page = 1u64 << self.page_shift;
        for (number, request) in (first..).zip(requests) {
            let (from, to) = (request.offset, request.offset + u64::from(request.bytes));
            // A trim discards no page of which a part is to stay.
            let (next, end) = match request.op {
                Op::Read | Op::Write => {
                    (from >> self.page_shift, (to + page - 1) >> self.page_shift)
                }
                Op::Trim => ((from + page - 1) >> self.page_shift, to >> self.page_shift),
            };
            let asked = Asked {
                number,
                op: request.op,
                bytes: request.bytes,
                first: next,
                next,
                end: end.max(next),
                from,
                to,
                hint: request.hint,
            };
            let queue = if request.op == Op::Read { &mut self.reads } else { &mut self.changes };
            queue.asked.push_back(asked);
        }
    }

    /// The host reads a page.
    #[inline]
    pub(crate) fn read(&mut self, lpn: Lpn) -> Result<(), String> {
        if let Some(asked) = self.reads.asked.front_mut()
            && asked.next == u64::from(lpn.number())
        {
            self.served.read_pages += 1;
            self.hint = asked.hint;
            asked.next += 1;
            if asked.next == asked.end {
                self.served.read_requests += 1;
                self.served.read_bytes += u64::from(asked.bytes);
                self.reads.asked.pop_front();
            }
            return Ok(());
        }
        if !self.any {
            return Ok(());
        }
        self.served.read_pages += 1;
        let wrong = self.reads.wrong(lpn, Op::Read);
        self.reads.catch_up(lpn, Op::Read, &mut self.served);
        Err(wrong)
    }

    /// Whether the next page to be written or trimmed is this one, the first of its request.
    pub(crate) fn begins(&self, lpn: Lpn) -> bool {
        let next = self.changes.asked.iter().find(|asked| asked.next != asked.end);
        next.is_some_and(|asked| {
            asked.next == asked.first && asked.first == u64::from(lpn.number())
        })
    }

    /// The host's data for a page is taken in: the parts of it that the request asks for, where
    /// there is one.
    pub(crate) fn write(&mut self, lpn: Lpn) -> Result<Option<u64>, String> {
        self.served.write_pages += 1;
        let Some(asked) = self.change(lpn, Op::Write)? else { return Ok(None) };
        self.pages_now = asked.end - asked.first;
        let parts = self.parts(&asked, u64::from(lpn.number()));
        self.served.partial_page_writes += u64::from(parts != WHOLE);
        Ok(Some(parts))
    }

    /// A page is discarded.
    pub(crate) fn trim(&mut self, lpn: Lpn) -> Result<(), String> {
        self.served.trim_pages += 1;
        self.change(lpn, Op::Trim).map(drop)
    }

    fn change(&mut self, lpn: Lpn, op: Op) -> Result<Option<Asked>, String> {
        if !self.any {
            return Ok(None);
        }
        self.changes.pass_empty(&mut self.served);
        let asked = self
            .changes
            .asked
            .front()
            .copied()
            .filter(|a| a.op == op && a.next == u64::from(lpn.number()));
        let wrong = asked.is_none().then(|| self.changes.wrong(lpn, op));
        self.changes.catch_up(lpn, op, &mut self.served);
        wrong.map_or(Ok(asked), Err)
    }

    /// The parts of a page, a bit for each 64th, that lie wholly within a request.
    fn parts(&self, asked: &Asked, page: u64) -> u64 {
        let (begin, size) = (page << self.page_shift, 1u64 << self.page_shift);
        let (from, to) = (asked.from.max(begin) - begin, asked.to.min(begin + size) - begin);
        if to - from == size {
            return WHOLE;
        }
        let part = (size / 64).max(1);
        let below = |parts: u64| if parts >= 64 { WHOLE } else { (1 << parts) - 1 };
        below(to / part) & !below(from.div_ceil(part))
    }

    /// Everything that was asked for should have been served: a sentence for what was not.
    pub(crate) fn end(&mut self) -> Vec<String> {
        self.changes.pass_empty(&mut self.served);
        let queues = [&mut self.reads, &mut self.changes];
        let left = queues.into_iter().filter_map(|queue| {
            let asked = *queue.asked.front()?;
            let more = queue.asked.len() - 1;
            queue.asked.clear();
            Some(format!(
                "{} was not served for lpn {}, and neither were {more} later requests",
                asked.words(),
                asked.next
            ))
        });
        left.collect()
    }
}

impl Asked {
    fn words(&self) -> String {
        let what = match self.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
        };
        format!(
            "request {}, a {what} of {} bytes from byte {} on,",
            self.number, self.bytes, self.from
        )
    }
}

impl Queue {
    fn new(page_bytes: u32) -> Self {
        Self { page_bytes, asked: VecDeque::new() }
    }

    /// Trims of less than a page ask for none.
    fn pass_empty(&mut self, served: &mut HostCounts) {
        while self.asked.front().is_some_and(|asked| asked.next == asked.end) {
            self.pop(served);
        }
    }

    fn pop(&mut self, served: &mut HostCounts) {
        let asked = self.asked.pop_front().expect("seen by the caller");
        match asked.op {
            Op::Read => {
                served.read_requests += 1;
                served.read_bytes += u64::from(asked.bytes);
            }
            Op::Write => {
                served.write_requests += 1;
                served.write_bytes += u64::from(asked.bytes);
                served.small_writes += u64::from(asked.bytes < self.page_bytes);
            }
            Op::Trim => served.trim_requests += 1,
        }
    }

    #[cold]
    fn wrong(&self, lpn: Lpn, op: Op) -> String {
        let done = match op {
            Op::Read => "read",
            Op::Write => "written",
            Op::Trim => "trimmed",
        };
        match self.asked.front() {
            None => format!("lpn {lpn} was {done} without a request"),
            Some(asked) => {
                format!("lpn {lpn} was {done} instead; {} is at lpn {}", asked.words(), asked.next)
            }
        }
    }

    /// Goes on behind a page that was served: of the request at hand or, where that has no such
    /// page to come, of the next one.
    fn catch_up(&mut self, lpn: Lpn, op: Op, served: &mut HostCounts) {
        let page = u64::from(lpn.number());
        let of = |asked: &Asked| asked.op == op && (asked.next..asked.end).contains(&page);
        let behind = match (self.asked.front(), self.asked.get(1)) {
            (Some(asked), _) if of(asked) => 0,
            (_, Some(asked)) if of(asked) => 1,
            _ => return,
        };
        for _ in 0..behind {
            self.pop(served);
        }
        let asked = self.asked.front_mut().expect("just seen");
        asked.next = page + 1;
        if asked.next == asked.end {
            self.pop(served);
        }
    }
}
