//! The rules of flash: pages of a block are programmed in order, each once per erase; only a used block is erased; a wordline is merged
//! when its pages are there, and what a block's coding takes away comes back only with an erase.
//! And the drive's own: the numbers of its programs rise.

use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{BlockId, Seq};

/// What happened to a block since its last erase.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Pages behind the last one programmed, or merged in a block opened in a mode.
    written: u16,
    /// Wordlines merged in place, from the first on.
    merged: u16,
    /// Page kinds that its coding takes away.
    mode: u8,
    /// The mode of its wordlines merged in place.
    merging: u8,
    /// Wordlines merged by themselves.
    guarded: u16,
}

/// The order of programs, merges and erases.
#[derive(Debug)]
pub(crate) struct Protocol {
    blocks: Vec<Block>,
    last_seq: Option<Seq>,
    /// Page kinds of a wordline.
    kinds: u32,
}

impl Protocol {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self { blocks: vec![Block::default(); geometry.blocks as usize], last_seq: None, kinds: geometry.cell.bits() }
    }

    /// Bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * size_of::<Block>() as u64
    }

    pub(crate) fn sequence(&mut self, seq: Seq) -> Result<(), String> {
        let last = self.last_seq.replace(seq);
        match last {
            Some(last) if seq <= last => Err(format!("program number {seq} follows number {last}; they must rise")),
            _ => Ok(()),
        }
    }

    /// Pages since the erase up to the last one programmed.
    pub(crate) fn written(&self, block: BlockId) -> u32 {
        self.blocks[block as usize].written.into()
    }

    /// Whether a block was opened, or is still, in full density.
    pub(crate) fn is_full(&self, block: BlockId) -> bool {
        self.blocks[block as usize].mode == 0
    }

    /// Page kinds that remain under a mode, where there is such a mode.
    fn kept(&self, mode: u8) -> Result<u32, String> {
        let taken = u32::from(mode);
        if (1..self.kinds).contains(&taken) { Ok(self.kinds - taken) } else { Err(format!("mode {mode} of cells of {} bits", self.kinds)) }
    }

    pub(crate) fn open(&mut self, block: BlockId, mode: u8) -> Result<(), String> {
        self.kept(mode)?;
        let b = &mut self.blocks[block as usize];
        if b.written > 0 {
            return Err(format!("block {block} is opened in mode {mode}, but it holds {} pages; an erased block is expected", b.written));
        }
        b.mode = mode;
        Ok(())
    }

    pub(crate) fn program(&mut self, block: BlockId, page: u32) -> Result<(), String> {
        let b = &mut self.blocks[block as usize];
        let next = u32::from(b.written);
        b.written = next.max(page + 1) as u16;
        if page % self.kinds + u32::from(b.mode) >= self.kinds {
            return Err(format!("program of page {page} of block {block}, which its coding in mode {} takes away", b.mode));
        }
        if b.merged > 0 {
            return Err(format!("program of page {page} of block {block}, which was reprogrammed in place"));
        }
        if page < next {
            return Err(format!("program of page {page} of block {block}, which is programmed and not erased since"));
        }
        if page > next {
            return Err(format!("program of page {page} of block {block} out of order; page {next} is next"));
        }
        Ok(())
    }

    /// A wordline is merged: the last program of it in a block opened in this mode; elsewhere over what it holds.
    pub(crate) fn merge(&mut self, block: BlockId, wordline: u32, mode: u8) -> Result<(), String> {
        let kept = self.kept(mode)?;
        let (first, kinds) = (wordline * self.kinds, self.kinds);
        let b = &mut self.blocks[block as usize];
        let written = u32::from(b.written);
        if b.mode > 0 {
            if b.mode != mode || b.merged > 0 || written != first + kept {
                return Err(format!(
                    "merge of wordline {wordline} of block {block} in mode {mode}; the block is in mode {}, {written} pages on",
                    b.mode
                ));
            }
            b.written = (first + kinds) as u16;
            return Ok(());
        }
        if wordline != u32::from(b.merged) || first + kinds > written {
            return Err(format!(
                "merge of wordline {wordline} of block {block}; {} were merged before, {written} pages are programmed",
                b.merged
            ));
        }
        b.merged += 1;
        b.merging = b.merging.max(mode);
        Ok(())
    }

    /// A wordline is merged by itself, once, over all that it can hold; the block stays in full density.
    pub(crate) fn guard(&mut self, block: BlockId, wordline: u32, mode: u8, merged_before: bool) -> Result<(), String> {
        self.kept(mode)?;
        let kinds = self.kinds;
        let b = &mut self.blocks[block as usize];
        if b.mode > 0 || b.merged > 0 {
            return Err(format!(
                "merge of wordline {wordline} of block {block} by itself; the block is in mode {} or on the way to it",
                b.mode
            ));
        }
        if merged_before {
            return Err(format!("merge of wordline {wordline} of block {block}, which was merged before and not erased since"));
        }
        if (wordline + 1) * kinds > b.written.into() {
            return Err(format!("merge of wordline {wordline} of block {block}, of which {} pages are programmed", b.written));
        }
        b.guarded += 1;
        Ok(())
    }

    pub(crate) fn reprogram(&mut self, block: BlockId, mode: u8) -> Result<(), String> {
        self.kept(mode)?;
        let b = &mut self.blocks[block as usize];
        let whole = u32::from(b.written) / self.kinds;
        if b.guarded > 0 {
            return Err(format!("block {block} goes to mode {mode}, but {} of its wordlines were merged by themselves", b.guarded));
        }
        if b.mode > 0 {
            return Err(format!("block {block} goes from mode {} to {mode}; it must be erased for that", b.mode));
        }
        if u32::from(b.merged) != whole || (whole > 0 && b.merging != mode) {
            return Err(format!("block {block} goes to mode {mode} with {} of {whole} wordlines merged", b.merged));
        }
        b.mode = mode;
        Ok(())
    }

    pub(crate) fn preload(&mut self, block: BlockId, pages: u32) -> Result<(), String> {
        let before = std::mem::replace(&mut self.blocks[block as usize], Block { written: pages as u16, ..Block::default() }).written;
        if before == 0 { Ok(()) } else { Err(format!("preload of block {block}, which holds {before} pages; an erased block is expected")) }
    }

    pub(crate) fn erase(&mut self, block: BlockId) -> Result<(), String> {
        let before = std::mem::take(&mut self.blocks[block as usize]).written;
        if before == 0 { Err(format!("erase of block {block}, in which nothing was programmed since its last erase")) } else { Ok(()) }
    }
}
