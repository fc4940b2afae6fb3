//! The rules of flash and of the drive. Pages of a block are programmed in order, each once per
//! erase. Only a used block is erased. A wordline is merged when its pages are programmed. Only an
//! erase brings back the pages that a block's coding takes away. The drive's own rule is that the
//! numbers of its programs rise.

use vpass_drive::base::codings::FULL;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, PageInBlock, Seq};

/// State of a block since its last erase.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    /// Number of pages up to the last one programmed, or merged in a block opened in a mode.
    written: u16,
    /// Number of wordlines merged in place.
    merged: u16,
    /// Number of these wordlines that have limits of their own.
    recoded: u16,
    /// Coding mode of the block.
    mode: u8,
}

/// Checker of the order of programs, merges and erases.
#[derive(Debug)]
pub(crate) struct Protocol {
    blocks: Vec<Block>,
    /// Modes of wordlines merged in place; 0 for other wordlines. Empty for blocks without such
    /// wordlines.
    merged: Vec<Vec<u8>>,
    last_seq: Option<Seq>,
    geometry: Geometry,
    /// Page kinds of a wordline.
    kinds: u32,
}

impl Protocol {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        let blocks = geometry.blocks as usize;
        Self {
            blocks: vec![Block::default(); blocks],
            merged: vec![vec![]; blocks],
            last_seq: None,
            geometry: geometry.clone(),
            kinds: geometry.cell.bits(),
        }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        u64::from(geometry.blocks) * (size_of::<Block>() + size_of::<Vec<u8>>()) as u64
    }

    pub(crate) fn sequence(&mut self, seq: Seq) -> Result<(), String> {
        let last = self.last_seq.replace(seq);
        match last {
            Some(last) if seq <= last => {
                Err(format!("program number {seq} follows number {last}; they must rise"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of pages since the erase, up to the last one programmed.
    pub(crate) fn written(&self, block: BlockId) -> u32 {
        self.blocks[block.index()].written.into()
    }

    /// Returns whether a block is in full density.
    pub(crate) fn is_full(&self, block: BlockId) -> bool {
        self.blocks[block.index()].mode == 0
    }

    /// Returns the page kinds that remain under a mode, one bit each. It is an error if the mode
    /// does not exist.
    fn kept(&self, mode: u8) -> Result<u32, String> {
        if mode == FULL || !self.geometry.codings.has(mode) {
            return Err(format!(
                "coding mode {mode} does not exist for cells of {} bits",
                self.kinds
            ));
        }
        Ok(self.geometry.codings.row(mode).kept.into())
    }

    /// Checks that an erased block is opened in a mode.
    pub(crate) fn open(&mut self, block: BlockId, mode: u8) -> Result<(), String> {
        self.kept(mode)?;
        let b = &mut self.blocks[block.index()];
        if b.mode > 0 {
            return Err(only_an_erase(block, b.mode, mode));
        }
        b.mode = mode;
        Ok(())
    }

    pub(crate) fn program(&mut self, block: BlockId, page: u32) -> Result<(), String> {
        let b = &mut self.blocks[block.index()];
        let next = self.geometry.next_kept(PageInBlock::new(b.written.into()), b.mode).number();
        b.written = b.written.max(page as u16 + 1);
        if !self.geometry.codings.row(b.mode).keeps(page % self.kinds) {
            return Err(format!(
                "program of page {page} of block {block}, which does not exist in coding mode {}",
                b.mode
            ));
        }
        if b.merged > b.recoded {
            return Err(format!(
                "program of page {page} of block {block}, but the block was reprogrammed in place"
            ));
        }
        if page < next {
            return Err(format!(
                "program of page {page} of block {block}, but it is already programmed"
            ));
        }
        if page > next {
            return Err(format!(
                "program of page {page} of block {block} out of order; page {next} is next"
            ));
        }
        Ok(())
    }

    /// Checks a merge of a wordline. In a block opened in this mode it is the wordline's last
    /// program. In other blocks it changes the existing pages in place.
    pub(crate) fn merge(&mut self, block: BlockId, wordline: u32, mode: u8) -> Result<(), String> {
        let kept = self.kept(mode)?;
        let (first, kinds) = (wordline * self.kinds, self.kinds);
        let b = &mut self.blocks[block.index()];
        let written = u32::from(b.written);
        if b.mode > 0 {
            if b.mode != mode || b.merged > 0 || written != first + kept.ilog2() + 1 {
                return Err(format!(
                    "merge of wordline {wordline} of block {block} in mode {mode}; the block is in \
                     mode {}, with {written} pages programmed",
                    b.mode
                ));
            }
            b.written = (first + kinds) as u16;
            return Ok(());
        }
        if first + kinds > written {
            return Err(format!(
                "merge of wordline {wordline} of block {block}, but only {written} pages are \
                 programmed"
            ));
        }
        let wordlines = &mut self.merged[block.index()];
        wordlines.resize(self.geometry.wordlines_per_block as usize, 0);
        if wordlines[wordline as usize] > 0 {
            return Err(format!(
                "merge of wordline {wordline} of block {block}, but it is already merged"
            ));
        }
        wordlines[wordline as usize] = mode;
        b.merged += 1;
        Ok(())
    }

    /// Checks that a single wordline gets its own limits after its merge. Its block stays in full
    /// density.
    pub(crate) fn recode_wordline(
        &mut self,
        block: BlockId,
        wordline: u32,
        mode: u8,
    ) -> Result<(), String> {
        self.kept(mode)?;
        let b = &mut self.blocks[block.index()];
        let merged = self.merged[block.index()].get(wordline as usize).copied().unwrap_or(0);
        if b.mode > 0 {
            return Err(format!(
                "wordline {wordline} of block {block} goes to mode {mode} alone; the block is in \
                 mode {}",
                b.mode
            ));
        }
        if merged != mode || b.merged != b.recoded + 1 {
            return Err(format!(
                "wordline {wordline} of block {block} goes to mode {mode}; it was merged for mode \
                 {merged}, and {} wordlines wait for their limits",
                b.merged - b.recoded
            ));
        }
        b.recoded += 1;
        Ok(())
    }

    /// Checks that a whole block gets other limits after all its full wordlines are merged.
    pub(crate) fn recode(&mut self, block: BlockId, mode: u8) -> Result<(), String> {
        self.kept(mode)?;
        let b = &mut self.blocks[block.index()];
        let whole = u32::from(b.written) / self.kinds;
        if b.recoded > 0 {
            return Err(format!(
                "block {block} goes to mode {mode}, but {} of its wordlines were merged alone",
                b.recoded
            ));
        }
        if b.mode > 0 {
            return Err(only_an_erase(block, b.mode, mode));
        }
        let merged: u32 =
            self.merged[block.index()].iter().map(|merged| u32::from(*merged == mode)).sum();
        if merged != whole {
            return Err(format!(
                "block {block} goes to mode {mode} with only {merged} of {whole} wordlines merged"
            ));
        }
        b.mode = mode;
        Ok(())
    }

    pub(crate) fn preload(&mut self, block: BlockId, pages: u32) -> Result<(), String> {
        let before = std::mem::replace(
            &mut self.blocks[block.index()],
            Block { written: pages as u16, ..Block::default() },
        )
        .written;
        if before == 0 {
            Ok(())
        } else {
            Err(format!("preload of block {block}, which holds {before} pages; it must be erased"))
        }
    }

    pub(crate) fn erase(&mut self, block: BlockId) -> Result<(), String> {
        let before = std::mem::take(&mut self.blocks[block.index()]).written;
        self.merged[block.index()] = vec![];
        if before == 0 {
            Err(format!("erase of block {block}, but nothing was programmed since its last erase"))
        } else {
            Ok(())
        }
    }
}

fn only_an_erase(block: BlockId, from: u8, to: u8) -> String {
    format!("block {block} goes from mode {from} to {to}; it must be erased first")
}
