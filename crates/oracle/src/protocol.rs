//! The rules of flash: pages of a block are programmed in order, each once per erase; only a used block is erased.
//! And the drive's own: the numbers of its programs rise.

use vpass_core::geometry::Geometry;
use vpass_core::units::{BlockId, Seq};

/// What was programmed since the last erase.
#[derive(Debug)]
pub(crate) struct Protocol {
    written: Vec<u32>,
    last_seq: Option<Seq>,
}

impl Protocol {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self { written: vec![0; geometry.blocks as usize], last_seq: None }
    }

    pub(crate) fn sequence(&mut self, seq: Seq) -> Result<(), String> {
        let last = self.last_seq.replace(seq);
        match last {
            Some(last) if seq <= last => Err(format!("program number {seq} follows number {last}; they must rise")),
            _ => Ok(()),
        }
    }

    /// Pages programmed since the erase.
    pub(crate) fn written(&self, block: BlockId) -> u32 {
        self.written[block as usize]
    }

    pub(crate) fn program(&mut self, block: BlockId, page: u32) -> Result<(), String> {
        let slot = &mut self.written[block as usize];
        let next = *slot;
        *slot = next.max(page + 1);
        if page < next {
            return Err(format!("program of page {page} of block {block}, which is programmed and not erased since"));
        }
        if page > next {
            return Err(format!("program of page {page} of block {block} out of order; page {next} is next"));
        }
        Ok(())
    }

    pub(crate) fn preload(&mut self, block: BlockId, pages: u32) -> Result<(), String> {
        let before = std::mem::replace(&mut self.written[block as usize], pages);
        if before == 0 { Ok(()) } else { Err(format!("preload of block {block}, which holds {before} pages; an erased block is expected")) }
    }

    pub(crate) fn erase(&mut self, block: BlockId) -> Result<(), String> {
        let before = std::mem::replace(&mut self.written[block as usize], 0);
        if before == 0 { Err(format!("erase of block {block}, in which nothing was programmed since its last erase")) } else { Ok(()) }
    }
}
