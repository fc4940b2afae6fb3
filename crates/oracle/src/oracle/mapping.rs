//! Compares the drive's map with the truth: every entry leads to the newest data and back, and no
//! page is missing.

use vpass_drive::base::units::{Lpn, Ppn};
use vpass_drive::drive::audit::MapRow;
use vpass_drive::watch::observer::{FROM_BUFFER, NO_PPN};

use crate::oracle::Oracle;
use crate::report::Kind;

impl Oracle {
    /// Compares the drive's map, in ascending order of `lpn`, with the truth. Also compares its
    /// reverse map (`owner`), and the number of valid pages of each block. Two entries cannot lead
    /// to one flash page, because a flash page has one stamp.
    pub fn check_map(
        &mut self,
        entries: impl IntoIterator<Item = MapRow>,
        owner: impl Fn(Ppn) -> Lpn,
        valid: &[u32],
    ) {
        let mut on_flash = vec![0u32; self.truth.geometry.blocks as usize];
        let mut count = 0u64;
        let mut last = None;
        for entry in entries {
            count += 1;
            if last.is_some_and(|last| last >= entry.lpn) {
                self.findings.add(Kind::Books, || {
                    format!("the map lists lpn {} out of order or twice", entry.lpn)
                });
            }
            last = Some(entry.lpn);
            let checked = self.check_entry(entry, &owner);
            self.findings.note(Kind::Books, checked);
            if self.truth.geometry.has_page(entry.ppn) {
                on_flash[self.truth.geometry.block_of(entry.ppn).index()] += 1;
            }
        }
        let present = self.truth.stamps.present();
        if count != present {
            self.findings.add(Kind::Books, || {
                format!("the map holds {count} pages; the host has {present} pages with data")
            });
        }
        self.check_valid(&on_flash, valid);
    }

    pub(crate) fn check_entry(
        &self,
        entry: MapRow,
        owner: impl Fn(Ppn) -> Lpn,
    ) -> Result<(), String> {
        let MapRow { lpn, ppn, buffered } = entry;
        let newest = self.truth.stamps.newest(lpn).ok_or_else(|| {
            format!("the map holds lpn {lpn}, which is beyond the host's capacity")
        })?;
        if !newest.is_present() {
            return Err(format!(
                "the map leads from lpn {lpn} to ppn {ppn}, which holds {}",
                newest.words()
            ));
        }
        if buffered
            && self.is_full()
            && !self.host.memory.holds(lpn)
            && !self.truth.waiting.contains_key(&lpn)
        {
            return Err(format!(
                "the map leads from lpn {lpn} to memory, which holds nothing of it"
            ));
        }
        if ppn == NO_PPN || ppn == FROM_BUFFER {
            return if buffered {
                Ok(())
            } else {
                Err(format!("lpn {lpn} holds {} and is mapped nowhere", newest.words()))
            };
        }
        let carried = self.truth.carried(ppn).ok_or_else(|| {
            format!("the map leads from lpn {lpn} to ppn {ppn}, which is beyond the flash")
        })?;
        // With random retries, a page that could not be read for a rebuild may be readable the next
        // time.
        let carried = if self.truth.doses.draws_retries() { carried.undamaged() } else { carried };
        if carried.lpn != lpn || (carried.tag != newest.on_flash() && !buffered) {
            return Err(format!(
                "the map leads from lpn {lpn}, {}, to {}, which carries {}",
                newest.words(),
                self.truth.place(ppn),
                carried.words()
            ));
        }
        let back = owner(ppn);
        if back != lpn {
            return Err(format!(
                "the map leads from lpn {lpn} to ppn {ppn}, but the reverse map leads from there \
                 to lpn {back}"
            ));
        }
        Ok(())
    }

    fn check_valid(&mut self, on_flash: &[u32], valid: &[u32]) {
        for (block, claimed) in valid.iter().copied().enumerate() {
            let mapped = on_flash.get(block).copied().unwrap_or(0);
            if claimed != mapped {
                self.findings.add(Kind::Books, || {
                    format!(
                        "the drive counts {claimed} valid pages in block \
                        {block}; its map leads to {mapped}"
                    )
                });
            }
        }
        if valid.len() != on_flash.len() {
            let blocks = valid.len();
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive counts valid pages of {blocks} blocks; it has {}",
                    on_flash.len()
                )
            });
        }
    }
}
