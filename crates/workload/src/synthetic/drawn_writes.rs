//! Makes writes to a sample of a drive's pages. Each write covers at most one page, which is drawn
//! from the pages of the sample. Writes to other pages of the drive need not be generated.

use vpass_drive::base::request::{Arrival, Op, Request, RequestSource, SourceError};

use super::alias::Alias;
use super::arrivals::ArrivalClock;
use super::random::{Random, Rng, below};

/// Rule that chooses the page of the next write.
pub(super) enum Where {
    /// Every page is drawn with a chance in proportion to the weight of the page.
    Weighted(Alias),
    /// Every page is drawn with the same chance. The field is the number of pages.
    Even(u64),
    /// Pages 0 to `pages - 1` are written in order. After the last page, page 0 follows again.
    RoundRobin { next: u64, pages: u64 },
}

/// Size of a write that covers at most one page.
#[derive(Clone, Copy)]
pub(super) struct PartSize {
    /// Number of bytes of the write, at most the size of a page.
    pub(super) bytes: u32,
    /// Number of positions that a write of this size may have in a page.
    pub(super) in_page: u64,
}

/// Source of writes to the pages of a sample.
pub(super) struct DrawnWrites {
    pub(super) place: Where,
    /// Sizes of writes. For each write, `size` draws one of these sizes.
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
                Where::RoundRobin { next, pages } => {
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
            out.push(Request::new(0, offset, size.bytes, Op::Write));
        }
        self.clock.stamp(&mut self.arrival, &mut out[start..]);
        Ok(())
    }

    fn arrival(&self) -> Arrival {
        Arrival::Open
    }
}
