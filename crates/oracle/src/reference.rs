//! The reference drive stores the number of the newest write of each host page, without flash and
//! time. Real drives are compared with it on random streams.

use std::collections::HashMap;

use vpass_drive::base::units::Lpn;

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    writes: u32,
    readable: bool,
}

/// A drive that is simple enough to be correct.
#[derive(Clone, Debug, Default)]
pub struct ReferenceDrive {
    pages: HashMap<Lpn, Page>,
}

impl ReferenceDrive {
    /// Returns an empty drive.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes a page and returns its version, which is the number of its writes.
    pub fn write(&mut self, lpn: Lpn) -> u32 {
        let page = self.pages.entry(lpn).or_default();
        *page = Page { writes: page.writes + 1, readable: true };
        page.writes
    }

    /// Discards a page. The count of its writes continues.
    pub fn trim(&mut self, lpn: Lpn) {
        if let Some(page) = self.pages.get_mut(&lpn) {
            page.readable = false;
        }
    }

    /// Returns the version of a page's data; `None` if the page was never written or is trimmed.
    pub fn read(&self, lpn: Lpn) -> Option<u32> {
        self.pages.get(&lpn).filter(|page| page.readable).map(|page| page.writes)
    }

    /// Returns the number of pages that hold data.
    pub fn mapped_pages(&self) -> u64 {
        self.pages.values().filter(|page| page.readable).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_reads_as_last_written() {
        let mut drive = ReferenceDrive::new();
        assert_eq!(drive.read(Lpn::new(3)), None);
        drive.write(Lpn::new(3));
        drive.write(Lpn::new(3));
        assert_eq!((drive.read(Lpn::new(3)), drive.mapped_pages()), (Some(2), 1));
        drive.trim(Lpn::new(3));
        assert_eq!((drive.read(Lpn::new(3)), drive.mapped_pages()), (None, 0));
        drive.write(Lpn::new(3));
        assert_eq!(
            drive.read(Lpn::new(3)),
            Some(3),
            "data from before the trim can not pass for new data"
        );
    }
}
