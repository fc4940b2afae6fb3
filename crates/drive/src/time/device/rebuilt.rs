//! Host reads of pages that must be rebuilt. The pages for the rebuild are read among the host's
//! reads. If the page is on working flash, its own read comes first. The others wait until it could
//! not be decoded.
//!
//! ```text
//! flash has failed:   members of the stripe, side by side                                      -> decoded -> host
//! past its limit:     the page itself, with its retries -> members of the stripe, side by side -> decoded twice -> host
//! ```
//!
//! A controller decodes the page before it reads the others. Here its decoding is counted after
//! them: it keeps no die busy, and the host waits for the same time.

use std::collections::BTreeMap;

use super::Device;
use super::host::ReadPart;
use super::wordlines::Rebuilt;
use crate::base::units::{DieId, Ns, Ppn};
use crate::drive::Drive;
use crate::watch::time_event::TimeEvent;

/// Page that is read for a rebuild for which a host read waits, or the failing read before that.
#[derive(Clone, Copy)]
pub(super) struct ForRebuild {
    pub(super) src: Ppn,
    pub(super) part: ReadPart,
    pub(super) times: (Ns, Ns),
    pub(super) serial: u32,
    pub(super) retry: Option<u8>,
}

/// Reads that wait until a host read has failed, by the number of the rebuild, in the order in
/// which they are queued then. A list may be empty.
pub(super) type Held = BTreeMap<u32, Vec<ForRebuild>>;

impl Device {
    /// Queues a read for a rebuild among the host's reads. Returns its die if the die has other
    /// work.
    pub(super) fn queue_for_rebuild(&mut self, drive: &Drive, read: ForRebuild) -> Option<DieId> {
        let ForRebuild { src, part, times, serial, retry } = read;
        let (op, at) = (self.dies.next_read(), self.now);
        self.dies.note(|| TimeEvent::Load { op, ppn: src, stripe: serial, retry, at });
        self.dies.queue_read(self.unit_of(drive, src), part, times, at)
    }

    /// Holds back a read for a rebuild until the host's own read has failed.
    pub(super) fn hold_for_rebuild(&mut self, read: ForRebuild) {
        let ForRebuild { src, serial, retry, .. } = read;
        self.dies.note(|| TimeEvent::Held { ppn: src, stripe: serial, retry });
        self.held.entry(serial).or_default().push(read);
    }

    /// Gives the host a page that is rebuilt under this number, when all its inputs are in the
    /// controller. Failed flash is not read.
    #[cold]
    pub(super) fn read_rebuilt(&mut self, part: ReadPart, serial: u32) {
        let (request, bytes, at) = (part.number, part.bytes, self.now);
        self.dies.note(|| TimeEvent::Rebuilding { request, bytes, stripe: serial, at });
        if !self.wordlines.delivers(serial, Rebuilt { part, decodings: 1 }) {
            self.host.deliver(part, at, at);
        }
    }

    /// Reads a page for the host that cannot be decoded and is then rebuilt under this number.
    #[cold]
    pub(super) fn read_to_repair(
        &mut self,
        drive: &mut Drive,
        part: ReadPart,
        (ppn, coding): (Ppn, u8),
        serial: u32,
    ) {
        let times = self.times_of(drive, (ppn, coding), part.bytes);
        let unit = self.unit_of(drive, ppn);
        let times =
            if self.tired.is_some() { self.queue_retries(ppn, unit, part, times) } else { times };
        let (op, request, bytes, at) = (self.dies.next_read(), part.number, part.bytes, self.now);
        self.dies.note(|| TimeEvent::ToRepair { op, request, ppn, bytes, stripe: serial, at });
        self.wordlines.delivers(serial, Rebuilt { part, decodings: 2 });
        // If all inputs of the rebuild are in memory, no read waits.
        self.held.entry(serial).or_default();
        if let Some(busy) = self.dies.queue_read(unit, ReadPart::for_rebuild(serial), times, at) {
            self.pump(drive, busy);
        }
    }

    /// Handles the arrival of a page that a rebuild waits for: an input of the rebuild, or the page
    /// that could not be decoded.
    #[cold]
    pub(super) fn read_for_rebuild(&mut self, drive: &mut Drive, serial: u32, met_reclaim: bool) {
        if let Some(held) = self.held.remove(&serial) {
            if met_reclaim {
                self.wordlines.met_reclaim(serial);
            }
            for read in held {
                if let Some(busy) = self.queue_for_rebuild(drive, read) {
                    self.pump(drive, busy);
                }
            }
        }
        self.loaded(drive, serial);
    }
}
