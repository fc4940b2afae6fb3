//! Wordlines and stripes that wait for reads of pages. The program of a wordline waits until all
//! its pages are in the controller.

use std::collections::BTreeMap;

use super::dies::WorkOp;
use super::host::ReadPart;
use crate::base::units::DieId;
use crate::watch::time_event::OpId;

#[derive(Default)]
struct Awaited {
    /// Number of running reads.
    reads: u32,
    /// Programs that wait for the reads, once they are known, with their dies.
    programs: Vec<(DieId, WorkOp)>,
    /// Part of a rebuilt page that the host receives.
    part: Option<Rebuilt>,
}

/// Rebuilt page for the host.
#[derive(Clone, Copy)]
pub(super) struct Rebuilt {
    pub(super) part: ReadPart,
    /// Number of decodings in sequence: the page itself if it was read without success, and the
    /// inputs of its rebuild.
    pub(super) decodings: u64,
}

/// Wordlines with running reads, by serial number. While the host waits for a free block, these are
/// all wordlines of the block being cleaned. On a saturated drive they are thousands.
#[derive(Default)]
pub(super) struct Wordlines {
    waiting: BTreeMap<u32, Awaited>,
}

impl Wordlines {
    /// Notes that a page will be read for a wordline.
    pub(super) fn awaits(&mut self, serial: u32) {
        self.waiting.entry(serial).or_default().reads += 1;
    }

    /// Adds the program of a wordline. Returns it if it need not wait.
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

    /// Sets the page that the host receives when all reads under a number are done. Returns false
    /// if there are no such reads.
    pub(super) fn delivers(&mut self, serial: u32, rebuilt: Rebuilt) -> bool {
        self.waiting.get_mut(&serial).map(|awaited| awaited.part = Some(rebuilt)).is_some()
    }

    /// Notes that the read that caused a rebuild met reclaim.
    pub(super) fn met_reclaim(&mut self, serial: u32) {
        if let Some(Rebuilt { part, .. }) =
            self.waiting.get_mut(&serial).and_then(|awaited| awaited.part.as_mut())
        {
            part.met_reclaim = true;
        }
    }

    /// Notes that a page was read for a wordline. Returns the programs that can start now (one, or
    /// several for a stripe), and the page for the host.
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

    /// Returns the waiting programs.
    pub(super) fn pending(&self) -> impl Iterator<Item = OpId> {
        self.waiting.values().flat_map(|wordline| &wordline.programs).map(|(_, op)| op.id)
    }
}
