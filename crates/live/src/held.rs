//! A host page in the controller's memory: its bytes, and which of its sectors are there.

use crate::actor::SECTOR;

/// Host page in the controller's memory, complete or in part.
#[derive(Clone)]
pub(crate) struct Held {
    bytes: Box<[u8]>,
    /// Whether each sector is in memory.
    has: Vec<bool>,
}

impl Held {
    /// Creates a page without any sector.
    pub(crate) fn empty(page_bytes: usize) -> Self {
        Self {
            bytes: vec![0; page_bytes].into(),
            has: vec![false; page_bytes.div_ceil(SECTOR as usize)],
        }
    }

    /// Creates a complete page.
    pub(crate) fn whole(page_bytes: usize, content: Option<&[u8]>) -> Self {
        let mut held = Self::empty(page_bytes);
        held.complete(content);
        held
    }

    /// Writes whole sectors from this byte on.
    pub(crate) fn write(&mut self, from: usize, bytes: &[u8]) {
        self.bytes[from..from + bytes.len()].copy_from_slice(bytes);
        let sectors = from / SECTOR as usize..(from + bytes.len()) / SECTOR as usize;
        self.has[sectors].fill(true);
    }

    /// Takes the missing sectors from older data. Without older data, they are zeros.
    pub(crate) fn complete(&mut self, older: Option<&[u8]>) {
        let size = SECTOR as usize;
        for (n, has) in self.has.iter_mut().enumerate().filter(|(_, has)| !**has) {
            *has = true;
            if let Some(older) = older {
                let range = n * size..((n + 1) * size).min(self.bytes.len());
                self.bytes[range.clone()].copy_from_slice(&older[range]);
            }
        }
    }

    /// Returns the bytes. Missing sectors are zeros.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes. Missing sectors are zeros.
    pub(crate) fn into_bytes(self) -> Box<[u8]> {
        self.bytes
    }
}
