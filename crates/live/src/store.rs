//! Bytes of the drive by flash page. The store observes the drive and follows each event: programs,
//! copies, XORs, erases and failures. It has no map of its own. A read returns the bytes of the flash
//! page that the drive sensed, and the drive's result decides whether it fails.

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::sync::Arc;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{Cause, Lpn, Ppn};
use vpass_drive::watch::observer::{
    Event, FROM_BUFFER, Observer, Origin, PhysRead, ReadResult, XorSource,
};

use crate::content::{Content, Page, Used, xor};
use crate::held::Held;

/// Bytes of a write that the drive has not accepted yet.
struct Write {
    offset: u64,
    bytes: Vec<u8>,
}

/// Page that the host has read since it last took its pages.
pub(crate) struct Served {
    pub(crate) lpn: Lpn,
    /// Bytes; `Err` if the drive could not read them.
    pub(crate) bytes: Result<Content, ()>,
}

/// Bytes of all flash pages, of the controller's memory, and of computations under way.
pub(crate) struct Store {
    geometry: Geometry,
    page_bytes: usize,
    /// Content of flash pages. Absent pages are erased or hold zeros.
    flash: HashMap<Ppn, Arc<Page>>,
    /// Host pages in the controller's memory.
    memory: HashMap<Lpn, Held>,
    /// Older data, just read or rebuilt, that completes a partly written page.
    rest: HashMap<Lpn, Content>,
    /// XORs under way, by number.
    xors: HashMap<u32, Box<[u8]>>,
    /// Partial parities, by stripe.
    partials: HashMap<u32, Arc<Page>>,
    /// Writes under way, by number.
    writes: BTreeMap<u64, Write>,
    served: Vec<Served>,
    used: Used,
}

impl Store {
    /// Creates the store of a drive whose data is all zeros.
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self {
            page_bytes: geometry.page_bytes as usize,
            geometry: geometry.clone(),
            flash: HashMap::new(),
            memory: HashMap::new(),
            rest: HashMap::new(),
            xors: HashMap::new(),
            partials: HashMap::new(),
            writes: BTreeMap::new(),
            served: vec![],
            used: Used::default(),
        }
    }

    /// Returns the largest number of bytes that this many more pages of writes can bring the memory
    /// to. Each page written may also change one page of parity.
    pub(crate) fn most_bytes_after(&self, pages: u64) -> u64 {
        let page = self.page_bytes as u64;
        let waiting: u64 =
            self.writes.values().map(|write| 2 + write.bytes.len() as u64 / page).sum();
        let per_write = if self.geometry.stripes.is_some() { 3 } else { 2 };
        self.used.bytes() + (pages + waiting + self.memory.len() as u64) * per_write * page
    }

    /// Takes the bytes of a write with this number, before the write is submitted.
    pub(crate) fn expect(&mut self, number: u64, offset: u64, bytes: Vec<u8>) {
        self.writes.insert(number, Write { offset, bytes });
    }

    /// Returns the pages that the host has read since the last call.
    pub(crate) fn take_served(&mut self) -> Vec<Served> {
        mem::take(&mut self.served)
    }

    fn content(&self, ppn: Ppn) -> Content {
        self.flash.get(&ppn).cloned()
    }

    /// Sets the content of a flash page.
    fn put(&mut self, ppn: Ppn, content: Content) {
        match content {
            Some(page) => _ = self.flash.insert(ppn, page),
            None => _ = self.flash.remove(&ppn),
        }
    }

    fn lose_pages(&mut self, pages: impl Iterator<Item = Ppn>) {
        pages.for_each(|ppn| _ = self.flash.remove(&ppn));
    }

    /// Returns the bytes of a page that the host reads from the controller's memory. Sectors that
    /// memory lacks come from the older data that was just read.
    fn read_memory(&mut self, lpn: Lpn) -> Content {
        let older = self.rest.remove(&lpn).flatten();
        let mut held = self.memory.get(&lpn)?.clone();
        held.complete(older.as_deref().map(Page::bytes));
        self.used.keep(held.into_bytes())
    }

    /// Returns the result of a XOR. A XOR without inputs is zeros.
    fn sum(&self, number: u32) -> Content {
        self.used.keep(self.xors.get(&number)?.clone())
    }

    fn note_read(&mut self, read: &PhysRead) {
        let failed = read.result == ReadResult::Uncorrectable;
        if read.fill {
            if !failed {
                self.rest.insert(read.lpn, self.content(read.ppn));
            }
        } else if read.cause == Cause::Host {
            let bytes = match (failed, read.ppn) {
                (true, _) => Err(()),
                (false, FROM_BUFFER) => Ok(self.read_memory(read.lpn)),
                (false, ppn) => Ok(self.content(ppn)),
            };
            self.served.push(Served { lpn: read.lpn, bytes });
        }
    }

    /// Returns the part of a write that lies in a page, as its first byte in the page and its bytes.
    fn part_of(&self, number: u64, lpn: Lpn) -> (usize, Vec<u8>) {
        let write = self.writes.get(&number).expect("the actor passes the bytes before the write");
        let page = self.page_bytes as u64;
        let start = lpn.offset(self.geometry.page_bytes);
        let end = (write.offset + write.bytes.len() as u64).min(start + page);
        let from = write.offset.max(start);
        let bytes = &write.bytes[(from - write.offset) as usize..(end - write.offset) as usize];
        ((from - start) as usize, bytes.to_vec())
    }
}

impl Store {
    fn host_wrote(&mut self, request: u64, lpn: Lpn) {
        let (from, bytes) = self.part_of(request, lpn);
        let page_bytes = self.page_bytes;
        let held = self.memory.entry(lpn).or_insert_with(|| Held::empty(page_bytes));
        held.write(from, &bytes);
        let write = &self.writes[&request];
        let end = lpn.offset(self.geometry.page_bytes) + page_bytes as u64;
        if write.offset + write.bytes.len() as u64 <= end {
            self.writes.remove(&request);
        }
    }

    fn xored(&mut self, number: u32, source: XorSource) {
        let page_bytes = self.page_bytes;
        let mut sum =
            self.xors.remove(&number).unwrap_or_else(|| vec![0; page_bytes].into_boxed_slice());
        let content = match source {
            XorSource::Page(ppn) => self.flash.get(&ppn),
            XorSource::Partial(stripe) => self.partials.get(&stripe),
            XorSource::Memory(lpn) => {
                xor(&mut sum, self.memory.get(&lpn).map(Held::bytes));
                None
            }
        };
        xor(&mut sum, content.map(|page| page.bytes()));
        self.xors.insert(number, sum);
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, origin: Origin) {
        let content = match origin {
            Origin::Copy(from) => self.content(from),
            Origin::Xor(number) => self.sum(number),
            Origin::Host | Origin::Gathered => {
                self.memory.remove(&lpn).and_then(|held| self.used.keep(held.into_bytes()))
            }
        };
        self.put(ppn, content);
        // New parity covers what the partial parity covered. A copy of old parity does not.
        let stripes = self.geometry.stripes.filter(|stripes| stripes.is_parity(lpn));
        if let (Some(stripes), Origin::Xor(_)) = (stripes, origin) {
            self.partials.remove(&stripes.of(lpn));
        }
    }
}

impl Observer for Store {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Requests { .. } => {
                // Each operation of the drive is complete before the next request.
                self.rest.clear();
                self.xors.clear();
            }
            Event::Reads { batch } => {
                for read in batch {
                    self.note_read(read);
                }
            }
            Event::Wrote { request, lpn, .. } => self.host_wrote(request, lpn),
            Event::Filled { lpn } => {
                let older = self.rest.remove(&lpn).flatten();
                if let Some(held) = self.memory.get_mut(&lpn) {
                    held.complete(older.as_deref().map(Page::bytes));
                }
            }
            Event::Trimmed { lpn } => {
                self.memory.remove(&lpn);
                self.rest.remove(&lpn);
            }
            Event::Gathered { lpn, from } => {
                let content = self.content(from);
                let held = Held::whole(self.page_bytes, content.as_deref().map(Page::bytes));
                self.memory.insert(lpn, held);
            }
            Event::Xored { number, source } => self.xored(number, source),
            Event::Rebuilt { lpn, number } => {
                let content = self.sum(number);
                if let Some(last) = self.served.last_mut().filter(|last| last.lpn == lpn) {
                    // The host gets the page from the rebuild.
                    last.bytes = last.bytes.clone().or_else(|()| Ok(content.clone()));
                }
                self.rest.insert(lpn, content);
            }
            Event::Delayed { stripe, number, .. } => match self.sum(number) {
                Some(page) => _ = self.partials.insert(stripe, page),
                None => _ = self.partials.remove(&stripe),
            },
            Event::Unprotected { stripe } => _ = self.partials.remove(&stripe),
            Event::Programmed { ppn, lpn, origin, .. } => self.programmed(ppn, lpn, origin),
            Event::Merged { block, wordline, mode, .. } => {
                let bits = self.geometry.cell.bits();
                let first = self.geometry.first_page(block) + wordline.number() * bits;
                let given_up = self.geometry.codings.kinds_given_up(mode);
                self.lose_pages(given_up.map(|kind| first + kind));
            }
            Event::Erased { block, .. } => {
                let pages = self.geometry.first_page(block).run(self.geometry.pages_per_block);
                self.lose_pages(pages);
            }
            Event::Failed { pages } => self.lose_pages(pages.pages()),
            _ => {}
        }
    }
}
