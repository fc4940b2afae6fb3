//! The drive's map against the truth: every entry leads to the newest data, back again, and no page is missing.

use std::collections::VecDeque;

use vpass_core::observer::{FROM_BUFFER, NO_PPN};
use vpass_core::units::{BlockId, Lpn, Ppn};

use crate::bits::Bits;
use crate::medium::At;
use crate::oracle::{AHEAD, Oracle};
use crate::report::Kind;

/// What the drive claims about one host page that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapEntry {
    /// The host page.
    pub lpn: Lpn,
    /// Its flash page; [`NO_PPN`] or [`FROM_BUFFER`] where it lies in the write buffer only.
    pub ppn: Ppn,
    /// Newer data of it lies in the write buffer.
    pub buffered: bool,
}

impl Oracle {
    /// Compares the drive's map, in ascending order of `lpn`, what its reverse map says about all pages of a block, and its count of valid
    /// pages per block with the truth. (That no two entries lead to one flash page follows: a flash page carries one stamp.)
    pub fn check_map<'a>(
        &mut self,
        entries: impl IntoIterator<Item = MapEntry>,
        owners: impl Fn(BlockId) -> &'a [Lpn],
        valid: impl IntoIterator<Item = u32>,
    ) {
        let agreed = self.agreed(&owners);
        let mut on_flash = vec![0u32; self.geometry.blocks as usize];
        let mut count = 0u64;
        let mut last = None;
        // Entries wait here while the stamps to which they lead are fetched.
        let mut waiting = VecDeque::with_capacity(AHEAD + 1);
        let mut entries = entries.into_iter().fuse();
        loop {
            if let Some(entry) = entries.next() {
                if entry.ppn < self.geometry.raw_pages() {
                    self.medium.prefetch_stamp(At::new(&self.geometry, entry.ppn));
                    agreed.prefetch(entry.ppn);
                }
                waiting.push_back(entry);
                if waiting.len() <= AHEAD {
                    continue;
                }
            }
            let Some(entry) = waiting.pop_front() else { break };
            count += 1;
            if last.is_some_and(|last| last >= entry.lpn) {
                self.findings.add(Kind::Books, || format!("the map lists lpn {} out of order or twice", entry.lpn));
            }
            last = Some(entry.lpn);
            let checked = self.check_entry(entry, &agreed, &owners);
            self.findings.note(Kind::Books, checked);
            if entry.ppn < self.geometry.raw_pages() {
                on_flash[self.geometry.block_of(entry.ppn) as usize] += 1;
            }
        }
        let present = self.stamps.present();
        if count != present {
            self.findings.add(Kind::Books, || format!("the map holds {count} pages; the host has {present} pages with data"));
        }
        self.check_valid(&on_flash, valid);
    }

    /// The flash pages of which the reverse map says what their stamps say: found in their order, as the map's is none for them.
    fn agreed<'a>(&self, owners: impl Fn(BlockId) -> &'a [Lpn]) -> Bits {
        let kinds = self.geometry.cell.bits() as usize;
        let wordlines =
            (0..self.geometry.blocks).flat_map(|block| (self.geometry.first_wordline(block)..).zip(owners(block).chunks_exact(kinds)));
        let flags =
            wordlines.flat_map(|(wordline, owners)| self.medium.stamps(wordline).zip(owners).map(|(stamp, owner)| stamp.lpn == *owner));
        Bits::collect(self.geometry.raw_pages(), flags)
    }

    fn check_entry<'a>(&self, entry: MapEntry, agreed: &Bits, owners: impl Fn(BlockId) -> &'a [Lpn]) -> Result<(), String> {
        let MapEntry { lpn, ppn, buffered } = entry;
        let newest = self.stamps.newest(lpn).ok_or_else(|| format!("the map holds lpn {lpn}, which is beyond the host's capacity"))?;
        if !newest.is_present() {
            return Err(format!("the map leads from lpn {lpn} to ppn {ppn}, but that page holds {}", newest.words()));
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER {
            return if buffered { Ok(()) } else { Err(format!("lpn {lpn} holds {} and is mapped nowhere", newest.words())) };
        }
        let carried = self.carried(ppn).ok_or_else(|| format!("the map leads from lpn {lpn} to ppn {ppn}, which is beyond the flash"))?;
        if carried.lpn != lpn || (carried.tag != newest.on_flash() && !buffered) {
            return Err(format!(
                "the map leads from lpn {lpn}, {}, to {}, which carries {}",
                newest.words(),
                self.place(ppn),
                carried.words()
            ));
        }
        // The page carries data of this lpn: who agrees with its stamp leads back to it.
        if !agreed.contains(ppn) {
            let block = self.geometry.block_of(ppn);
            let back = owners(block)[(ppn - self.geometry.first_page(block)) as usize];
            return Err(format!("the map leads from lpn {lpn} to ppn {ppn}, the reverse map from there to lpn {back}"));
        }
        Ok(())
    }

    fn check_valid(&mut self, on_flash: &[u32], valid: impl IntoIterator<Item = u32>) {
        let mut blocks = 0;
        for (block, claimed) in valid.into_iter().enumerate() {
            blocks += 1;
            let mapped = on_flash.get(block).copied().unwrap_or(0);
            if claimed != mapped {
                self.findings
                    .add(Kind::Books, || format!("the drive counts {claimed} valid pages in block {block}; its map leads to {mapped}"));
            }
        }
        if blocks != on_flash.len() {
            self.findings.add(Kind::Books, || format!("the drive counts valid pages of {blocks} blocks; it has {}", on_flash.len()));
        }
    }
}
