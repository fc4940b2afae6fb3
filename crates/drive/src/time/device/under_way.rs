//! Work that is under way in a device: jobs, queued operations, and everything that waits.

use super::Device;
use crate::base::dose::Quarters;
use crate::base::units::Ns;
use crate::drive::Drive;
use crate::flash::block::BlockState;

impl Device {
    /// Returns what is under way, with its number. The list is empty if the device and the drive
    /// are at rest. Partial parities in the cache are at rest, because they wait for host writes.
    pub fn under_way(&self, drive: &Drive) -> Vec<(&'static str, usize)> {
        let ftl = &drive.ftl;
        let all = [
            ("jobs", ftl.jobs.iter().flatten().count()),
            ("jobs that no die has", ftl.started_jobs.len()),
            ("dies with jobs", usize::from(self.dies.have_jobs())),
            ("dies that are held back", self.held_back.len()),
            ("programs of copies", self.copy_programs as usize),
            ("programs of the buffer", self.programming as usize),
            ("works recorded", self.ops.len()),
            ("writes that wait", self.stalled.len()),
            ("requests", self.outstanding() as usize),
            ("events", usize::from(self.next_event() != Ns::MAX)),
            ("reads for rebuilds", self.held.len()),
            ("wordlines that wait for reads", self.wordlines.pending().count()),
            ("stripes under way", self.stripes.of_nobody()),
            ("stripes that wait for parity", ftl.worn.window.stripes as usize),
            ("next stripe that waits", usize::from(ftl.worn.has_waiting())),
            ("pages in hand", ftl.in_hand.len()),
            ("rebuilds", usize::from(drive.is_rebuilding())),
            ("blocks whose time has come", usize::from(drive.next_wake() < self.now())),
            ("alarms", drive.overdue_alarms()),
        ];
        all.into_iter().filter(|(_, number)| *number > 0).collect()
    }
}

impl Drive {
    /// Returns the number of blocks whose technique should have been asked. An alarm of 0 does not
    /// count, because it asks the technique at the next read.
    fn overdue_alarms(&self) -> usize {
        let is_overdue = |block| {
            let (hot, asked) = (self.flash.hot(block), self.flash.cold(block).policy_alarm_dose());
            hot.state != BlockState::Free && asked != Quarters::ZERO && hot.reads >= asked
        };
        self.geometry.block_ids().filter(|block| is_overdue(*block)).count()
    }
}
