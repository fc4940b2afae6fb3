//! Wordlines that wait for pages to be read: the program of one waits until every page that it takes is in the controller.

use std::collections::BTreeMap;

use super::dies::WorkOp;
use crate::base::units::DieId;
use crate::watch::time_event::OpId;

#[derive(Default)]
struct Awaited {
    /// Reads under way.
    reads: u32,
    /// The program, once it is known, and its die.
    program: Option<(DieId, WorkOp)>,
}

/// Those for which reads are under way, by serial number. While the host waits for a free block these are all of the block that is cleaned
/// for it, and thousands on a saturated drive.
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
    pub(super) fn program(&mut self, serial: u32, die: DieId, op: WorkOp) -> Option<(DieId, WorkOp)> {
        let Some(wordline) = self.waiting.get_mut(&serial) else { return Some((die, op)) };
        wordline.program = Some((die, op));
        None
    }

    /// A page was read for a wordline; gives the program that can go ahead now.
    pub(super) fn loaded(&mut self, serial: u32) -> Option<(DieId, WorkOp)> {
        let wordline = self.waiting.get_mut(&serial).expect("the read was announced");
        wordline.reads -= 1;
        if wordline.reads > 0 {
            return None;
        }
        self.waiting.remove(&serial).and_then(|wordline| wordline.program)
    }

    /// Programs that wait.
    pub(super) fn pending(&self) -> impl Iterator<Item = OpId> {
        self.waiting.values().filter_map(|wordline| wordline.program).map(|(_, op)| op.id)
    }
}
