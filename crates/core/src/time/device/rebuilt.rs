//! Reads of the host whose pages have to be rebuilt: what they are rebuilt of is read among the
//! host's reads. Where the page lies on flash that works, its own read comes first, and the others
//! wait until it has shown that it cannot be decoded.
//!
//! ```text
//! flash has failed:   members of the stripe, side by side                                      -> decoded -> host
//! past its limit:     the page itself, with its retries -> members of the stripe, side by side -> decoded twice -> host
//! ```
//!
//! A controller decodes the page before it reads the others. Here its decoding is counted behind
//! them: it keeps no die busy, and the host waits as long.

use std::collections::BTreeMap;

use super::host::ReadPart;
use super::wordlines::Rebuilt;
use super::{Device, Tag};
use crate::base::units::{DieId, Ns, Ppn};
use crate::bugs::{Bug, planted};
use crate::drive::Drive;
use crate::watch::time_event::TimeEvent;

/// A page that is read for a rebuild that a host read waits for, or read in vain before that.
#[derive(Clone, Copy)]
pub(super) struct ForRebuild {
    pub(super) src: Ppn,
    pub(super) part: ReadPart,
    pub(super) times: (Ns, Ns),
    pub(super) serial: u32,
    pub(super) retry: Option<u8>,
}

/// What waits until a host read has failed, perhaps nothing, by the number of the rebuild, in the
/// order in which it is queued then.
pub(super) type Held = BTreeMap<u32, Vec<ForRebuild>>;

impl Device {
    /// Queues a read for a rebuild among the host's; gives its die where that has other work.
    pub(super) fn queue_for_rebuild(&mut self, drive: &Drive, read: ForRebuild) -> Option<DieId> {
        let ForRebuild { src, part, times, serial, retry } = read;
        let (op, at) = (self.dies.next_read(), self.now);
        self.dies.note(|| TimeEvent::Load { op, ppn: src, stripe: serial, retry, at });
        self.dies.queue_read(self.unit_of(drive, src), part, times, at)
    }

    /// Keeps a read for a rebuild back until the host's own read has failed.
    pub(super) fn hold_for_rebuild(&mut self, read: ForRebuild) {
        let ForRebuild { src, serial, retry, .. } = read;
        self.dies.note(|| TimeEvent::Held { ppn: src, stripe: serial, retry });
        self.held.entry(serial).or_default().push(read);
    }

    /// Gives the host a page that is rebuilt under this number, when all that this takes is in the
    /// controller. Of the flash that has failed nothing is asked.
    #[cold]
    pub(super) fn read_rebuilt(
        &mut self,
        part: ReadPart,
        serial: u32,
        completed: &mut dyn FnMut(Tag, Ns),
    ) {
        let (request, bytes, at) = (part.number, part.bytes, self.now);
        self.dies.note(|| TimeEvent::Rebuilding { request, bytes, stripe: serial, at });
        if planted(Bug::RebuiltReadAtOnce)
            || !self.wordlines.delivers(serial, Rebuilt { part, decodings: 1 })
        {
            self.host.deliver(part, at, at, &self.speed, &mut self.metrics, &mut |tag, at| {
                completed(tag, at);
            });
        }
    }

    /// Reads a page in vain that is then rebuilt under this number, for the host.
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
        // Where all that the page is rebuilt of is in memory, nothing waits.
        self.held.entry(serial).or_default();
        if let Some(busy) = self.dies.queue_read(unit, ReadPart::for_rebuild(serial), times, at) {
            self.pump(drive, busy);
        }
    }

    /// A page is in the controller that a rebuild is waiting for: one that it is rebuilt of, or the
    /// one that could not be decoded.
    #[cold]
    pub(super) fn read_for_rebuild(
        &mut self,
        drive: &mut Drive,
        serial: u32,
        met_reclaim: bool,
        completed: &mut dyn FnMut(Tag, Ns),
    ) {
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
        self.loaded(drive, serial, completed);
    }
}
