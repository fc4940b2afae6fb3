//! Requests of the host, split into pages by the oracle's own arithmetic. Each page must be served
//! once and in order. Reads keep their order, and so do writes and trims. In the timed gear, reads
//! may overtake writes and the reverse.
//!
//! ```text
//! 4-KiB pages, a write of bytes 3072 to 9215
//! page 0    parts 48 to 63
//! page 1    all parts
//! page 2    parts 0 to 15
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::metrics::HostCounts;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::Lpn;

/// All parts of a page.
pub(crate) const WHOLE: u64 = u64::MAX;

/// Returns the pages that a read or a write touches.
pub(crate) fn pages_of(request: &Request, page_bytes: u32) -> Range<u64> {
    let size = u64::from(page_bytes);
    request.offset / size..(request.offset + u64::from(request.bytes)).div_ceil(size)
}

/// A request with pages that are still to be served.
#[derive(Clone, Copy, Debug)]
struct Asked {
    number: u64,
    op: Op,
    bytes: u32,
    /// First page, next page to be served, and end of the pages.
    first: u64,
    next: u64,
    end: u64,
    /// Start and end of the request's bytes on the drive.
    from: u64,
    to: u64,
    hint: Option<AccessLatency>,
}

/// Requests of one kind, in order.
#[derive(Debug)]
struct Queue {
    page_bytes: u32,
    asked: VecDeque<Asked>,
}

/// Requests that have not been served yet.
#[derive(Debug)]
pub(crate) struct Requests {
    page_shift: u32,
    reads: Queue,
    changes: Queue,
    /// Whether any request has been announced. Before that the drive is prepared page by page.
    pub(crate) any: bool,
    /// Numbers of requests and pages served since the measured phase began.
    pub(crate) served: HostCounts,
    /// Hint of the request whose page was read last.
    pub(crate) hint: Option<AccessLatency>,
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
        }
    }

    pub(crate) fn ask(&mut self, first: u64, requests: &[Request]) {
        self.any = true;
        let page = 1u64 << self.page_shift;
        for (number, request) in (first..).zip(requests) {
            let (from, to) = (request.offset, request.offset + u64::from(request.bytes));
            // A trim does not discard pages that it covers only in part.
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

    /// Notes that the host reads a page.
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

    /// Returns whether this page is the next to be written or trimmed, and the first of its
    /// request.
    pub(crate) fn begins(&self, lpn: Lpn) -> bool {
        let next = self.changes.asked.iter().find(|asked| asked.next != asked.end);
        next.is_some_and(|asked| {
            asked.next == asked.first && asked.first == u64::from(lpn.number())
        })
    }

    /// Notes that the drive takes the host's data for a page. Returns the parts that the request
    /// writes; `None` without a request.
    pub(crate) fn write(&mut self, lpn: Lpn) -> Result<Option<u64>, String> {
        self.served.write_pages += 1;
        let Some(asked) = self.change(lpn, Op::Write)? else { return Ok(None) };
        let parts = self.parts(&asked, u64::from(lpn.number()));
        self.served.partial_page_writes += u64::from(parts != WHOLE);
        Ok(Some(parts))
    }

    /// Notes that a page is discarded.
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

    /// Returns the parts of a page that a request covers completely, one bit for each 64th.
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

    /// Returns a sentence for each kind of request with an unserved page.
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

    /// Removes trims of less than a page, which discard no page.
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

    /// Continues after a page that was served. If the present request does not have that page,
    /// continues in the next one.
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
