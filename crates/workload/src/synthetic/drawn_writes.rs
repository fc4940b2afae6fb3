//! Writes to some of a drive's pages, page by page: those of a sample, which are not looked for
//! among the writes to all pages but drawn from the pages' own shares.

use vpass_core::base::request::{Arrival, Op, Request, RequestSource, SourceError};

use super::alias::Alias;
use super::arrivals::ArrivalClock;
use super::random::{Random, Rng, below};

/// Where the next write goes.
pub(super) enum Where {
    /// To a page of these weights.
    Weighted(Alias),
    /// To any of so many pages.
    Even(u64),
    /// To the page behind the last one, of so many, round the end.
    InTurn { next: u64, pages: u64 },
}

/// A part of a page that is written at once.
#[derive(Clone, Copy)]
pub(super) struct PartSize {
    /// Its bytes; a whole page at most.
    pub(super) bytes: u32,
    /// Such parts in a page.
    pub(super) in_page: u64,
}

/// See the module.
pub(super) struct DrawnWrites {
    pub(super) place: Where,
    /// Sizes and how often each is drawn.
    pub(super) sizes: Vec<PartSize>,
    pub(super) size: Alias,
    pub(super) page_bytes: u32,
    pub(super) clock: ArrivalClock,
    pub(super) address: Random,
    pub(super) parts: Random,
    pub(super) arrival: Random,
}

impl RequestSource for DrawnWrites {
    fn fill(&mut self, out: &mut Vec<Request>, max: usize) -> Result<(), SourceError> {
        let start = out.len();
        for _ in 0..max {
            let page = match &mut self.place {
                Where::Weighted(alias) => alias.draw(&mut self.address) as u64,
                Where::Even(pages) => below(&mut self.address, *pages),
                Where::InTurn { next, pages } => {
                    let page = *next;
                    *next = if page + 1 == *pages { 0 } else { page + 1 };
                    page
                }
            };
            let size = if let [size] = self.sizes[..] {
                size
            } else {
                self.sizes[self.size.pick(self.parts.next_u64())]
            };
            let part = if size.in_page > 1 { below(&mut self.parts, size.in_page) } else { 0 };
            let offset = page * u64::from(self.page_bytes) + part * u64::from(size.bytes);
            out.push(Request {
                at: 0,
                offset,
                bytes: size.bytes,
                op: Op::Write,
                origin: 0,
                hint: None,
            });
        }
        self.clock.stamp(&mut self.arrival, &mut out[start..]);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}
