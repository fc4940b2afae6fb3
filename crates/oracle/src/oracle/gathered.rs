//! Checks pages on their way to flash: copies that wait in the controller's memory for the rest of
//! their wordline, and the order of programs.

use vpass_drive::base::units::{Lpn, PageInBlock, Ppn, Seq};

use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;
use crate::stamps::{Stamp, Stamps};

impl Oracle {
    /// Records that a mover reads a flash page into the controller's memory. The flash page may not
    /// be read any more.
    pub(crate) fn gather(&mut self, lpn: Lpn, from: Ppn) -> Result<(), String> {
        let carried = self.truth.carried(from).unwrap_or(Stamp::ERASED);
        Stamps::check_copy(lpn, carried).map_err(|what| format!("{what}, ppn {from}"))?;
        self.truth.medium.set_stamp(At::new(&self.truth.geometry, from), Stamp::DEAD);
        match self.truth.waiting.insert(lpn, carried) {
            None => Ok(()),
            Some(before) => Err(format!(
                "copy for lpn {lpn} of ppn {from}, while {} waits to be programmed",
                before.words()
            )),
        }
    }

    /// Checks the program of a copy that waited.
    pub(crate) fn program_gathered(&mut self, at: At, lpn: Lpn) -> Result<(), String> {
        let Some(copied) = self.truth.waiting.remove(&lpn) else {
            self.truth.medium.set_stamp(at, Stamp::DEAD);
            return Err(format!("program of a copy for lpn {lpn}, but no copy waits"));
        };
        self.truth.medium.set_stamp(at, copied);
        Ok(())
    }

    /// Returns whether a mover's copy of a page in the controller's memory is the version that the
    /// host may read.
    pub(crate) fn is_newest_in_memory(&self, lpn: Lpn) -> bool {
        self.truth.waiting.get(&lpn).is_none_or(|stamp| self.truth.stamps.is_live(*stamp))
    }

    /// Checks a program of any content by the rules of flash. Returns its place, or `None` beyond
    /// the flash.
    pub(crate) fn program_in_order(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq) -> Option<At> {
        let checked = self.truth.protocol.sequence(seq);
        self.findings.note(Kind::Protocol, checked);
        if !self.truth.geometry.has_page(ppn) {
            self.findings.add(Kind::Protocol, || {
                format!("program of ppn {ppn} with lpn {lpn}; it is beyond the flash")
            });
            return None;
        }
        let at = At::new(&self.truth.geometry, ppn);
        let page = ppn - self.truth.geometry.first_page(at.block);
        let checked = self.truth.protocol.program(at.block, page);
        self.findings.note(Kind::Protocol, checked);
        let mode = self.truth.doses.mode_of(at.block);
        let first = self.truth.geometry.next_kept(PageInBlock::new(0), mode);
        if first.number() == at.kind {
            self.truth.doses.program(&mut self.truth.medium, at);
        }
        Some(at)
    }
}
