//! Wordlines and stripes that wait for pages to be read: the program of one waits until every page
//! that it takes is in the controller.

use std::collections::BTreeMap;

use super::dies::WorkOp;
use super::host::ReadPart;
use crate::base::units::DieId;
use crate::watch::time_event::OpId;

#[derive(Default)]
struct Awaited {
    /// Reads under way.
    reads: u32,
    /// The programs that wait for them, once they are known, and their dies.
    programs: Vec<(DieId, WorkOp)>,
    /// What the host gets of a page that is rebuilt of them.
    part: Option<Rebuilt>,
}

/// What the host gets of a page that is rebuilt.
#[derive(Clone, Copy)]
pub(super) struct Rebuilt {
    pub(super) part: ReadPart,
    /// How often something is decoded, one after the other: the page itself, in vain, where it was
    /// read, and what it is rebuilt of.
    pub(super) decodings: u64,
}

/// Those for which reads are under way, by serial number. While the host waits for a free block
/// these are all of the block that is cleaned for it, and thousands on a saturated drive.
#[derive(Default)]
pub(super) struct Wordlines {
    waiting: BTreeMap<u32, Awaited>,
}

impl Wordlines {
    /// A page is going to be read for a wordline.
    pub(super) fn awaits(&mut self, serial: u32) {
        self.waiting.entry(serial).or_default().reads += 1;
    }

    /// A wordline is to be programmed; gives the program back where nothing is in its way.
    pub(super) fn program(
        &mut self,
        serial: u32,
        die: DieId,
        op: WorkOp,
    ) -> Option<(DieId, WorkOp)> {
        let Some(wordline) = self.waiting.get_mut(&serial) else { return Some((die, op)) };
        wordline.programs.push((die, op));
        None
    }

    /// The host gets this when all that is read under a number is there. Tells whether anything is.
    pub(super) fn delivers(&mut self, serial: u32, rebuilt: Rebuilt) -> bool {
        self.waiting.get_mut(&serial).map(|awaited| awaited.part = Some(rebuilt)).is_some()
    }

    /// The read met reclaim that showed that the page has to be rebuilt.
    pub(super) fn met_reclaim(&mut self, serial: u32) {
        if let Some(Rebuilt { part, .. }) =
            self.waiting.get_mut(&serial).and_then(|awaited| awaited.part.as_mut())
        {
            part.met_reclaim = true;
        }
    }

    /// A page was read for a wordline; gives the programs that can go ahead now, one, or for pages
    /// of a stripe several, and what the host gets.
    pub(super) fn loaded(&mut self, serial: u32) -> (Vec<(DieId, WorkOp)>, Option<Rebuilt>) {
        let wordline = self.waiting.get_mut(&serial).expect("the read was announced");
        wordline.reads -= 1;
        if wordline.reads > 0 {
            return (vec![], None);
        }
        self.waiting
            .remove(&serial)
            .map_or((vec![], None), |wordline| (wordline.programs, wordline.part))
    }

    /// Programs that wait.
    pub(super) fn pending(&self) -> impl Iterator<Item = OpId> {
        self.waiting.values().flat_map(|wordline| &wordline.programs).map(|(_, op)| op.id)
    }
}
