//! Wordlines on their way to a die: a program waits until every page that it takes has been read.

use super::dies::WorkOp;
use crate::time_event::OpId;
use crate::units::DieId;

struct Wordline {
    serial: u32,
    /// Reads under way.
    reads: u32,
    /// The program, once it is known, and its die.
    program: Option<(DieId, WorkOp)>,
}

/// Those for which reads are under way; a few for each stream at most.
#[derive(Default)]
pub(super) struct Wordlines {
    waiting: Vec<Wordline>,
}

impl Wordlines {
    /// A page is going to be read for a wordline.
    pub(super) fn awaits(&mut self, serial: u32) {
        match self.position(serial) {
            Some(at) => self.waiting[at].reads += 1,
            None => self.waiting.push(Wordline { serial, reads: 1, program: None }),
        }
    }

    /// A wordline is to be programmed; gives the program back where nothing is in its way.
    pub(super) fn program(&mut self, serial: u32, die: DieId, op: WorkOp) -> Option<(DieId, WorkOp)> {
        let Some(at) = self.position(serial) else { return Some((die, op)) };
        self.waiting[at].program = Some((die, op));
        None
    }

    /// A page was read for a wordline; gives the program that can go ahead now.
    pub(super) fn loaded(&mut self, serial: u32) -> Option<(DieId, WorkOp)> {
        let at = self.position(serial).expect("the read was announced");
        self.waiting[at].reads -= 1;
        if self.waiting[at].reads > 0 {
            return None;
        }
        self.waiting.swap_remove(at).program
    }

    /// Programs that wait.
    pub(super) fn pending(&self) -> impl Iterator<Item = OpId> {
        self.waiting.iter().filter_map(|wordline| wordline.program).map(|(_, op)| op.id)
    }

    fn position(&self, serial: u32) -> Option<usize> {
        self.waiting.iter().position(|wordline| wordline.serial == serial)
    }
}
