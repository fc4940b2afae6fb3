//! Checks partly written pages: the parts of each page in the controller's memory, and the parts
//! that must still be read to complete it.
//!
//! The host writes parts of a page. The other parts are in an older version on flash. This version
//! must be read before the page is programmed or served. The drive keeps the read parts
//! ([`Event::Filled`](vpass_drive::watch::observer::Event::Filled)), or uses them for one
//! answer to the host.
//!
//! ```text
//! version 1 on flash:      1 1 1 1
//! the host writes a part:  - 2 - -    to be completed with version 1
//! and another:             - 2 - 3
//! version 1 is read:       1 2 1 3    whole; it may be served, or programmed as version 3
//! ```

use std::collections::BTreeMap;

use vpass_drive::base::units::{Cause, Lpn};
use vpass_drive::config::DriveConfig;
use vpass_drive::watch::observer::{PhysRead, ReadResult};

use crate::oracle::Oracle;
use crate::report::Kind;
use crate::requests::WHOLE;
use crate::stamps::{Stamp, Tag};

/// Page that the host wrote and that was not programmed since.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    parts: u64,
    /// Tag of the flash page that completes the page; `None` if no flash page does.
    rest: Option<Tag>,
    /// Whether the rest was read and not used yet.
    rest_read: bool,
    /// Number of reads of the rest that, as far as known, belong to host reads. After the host read
    /// is answered, they do not count as reads for the program.
    for_host: u64,
    /// Whether the last read for the rest belonged to a host read.
    last_by_host: bool,
}

impl Held {
    /// Returns whether the page is complete. A page with a rest on flash lacks parts.
    fn is_complete(&self) -> bool {
        self.rest.is_none() || self.rest_read
    }
}

/// Host pages in the controller's memory.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Whether the drive has no write buffer.
    pub(crate) is_unbuffered: bool,
    held: BTreeMap<Lpn, Held>,
    /// Parts that the drive reports for the page that it takes in.
    claimed: Option<(Lpn, u64)>,
    /// Number of reads that completed a page, or failed to complete it.
    pub(crate) fill_reads: u64,
}

impl Memory {
    pub(crate) fn new(config: &DriveConfig) -> Self {
        let is_unbuffered = config.drive.write_buffer.0 < 2 * config.geometry.page_size.0;
        Self { is_unbuffered, held: BTreeMap::new(), claimed: None, fill_reads: 0 }
    }

    /// Returns the pages of which memory holds any part.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Lpn> {
        self.held.keys().copied()
    }

    pub(crate) fn claim(&mut self, lpn: Lpn, parts: u64) {
        self.claimed = Some((lpn, parts));
    }

    pub(crate) fn holds(&self, lpn: Lpn) -> bool {
        self.held.contains_key(&lpn)
    }

    /// Records that the rest of a page is in the controller's memory although it could not be read.
    pub(crate) fn rest_is_there(&mut self, lpn: Lpn) {
        if let Some(held) = self.held.get_mut(&lpn) {
            held.rest_read = true;
        }
    }

    pub(crate) fn forget(&mut self, lpn: Lpn) {
        self.held.remove(&lpn);
    }
}

impl Oracle {
    /// Records that the host writes a page or parts of it. Returns whether the page is whole now.
    pub(crate) fn take_in(&mut self, lpn: Lpn, claims_whole: bool) -> bool {
        let asked = self.host.requests.write(lpn).unwrap_or_else(|wrong| {
            self.findings.add(Kind::Request, || wrong);
            None
        });
        let claimed =
            self.host.memory.claimed.take().filter(|(of, _)| *of == lpn).map(|(_, parts)| parts);
        let Some(newest) = self.truth.stamps.newest(lpn) else { return claims_whole };
        // Before the first request, and for a page that no request asks for, only the drive's
        // report is known.
        let parts = asked.or(claimed).unwrap_or(if claims_whole { WHOLE } else { 0 });
        let copy_waits =
            self.truth.waiting.get(&lpn).is_some_and(|stamp| self.truth.stamps.is_live(*stamp));
        let on_flash = newest.is_present().then(|| newest.on_flash());
        let new =
            Held { parts: if copy_waits { WHOLE } else { 0 }, rest: on_flash, ..Held::default() };
        let held = self.host.memory.held.entry(lpn).or_insert(new);
        held.parts |= parts;
        (held.rest_read, held.for_host) = (false, 0);
        let own = held.parts;
        let claimed = claimed.unwrap_or(if claims_whole { WHOLE } else { own });
        if own == WHOLE {
            held.rest = None;
        }
        let (nobody_wrote_the_rest, mut is_whole) =
            (held.rest.is_none() && !newest.is_lost(), own == WHOLE);
        let right = if newest.is_lost() {
            // Parts written since the loss may be given up with the page when it leaves the buffer.
            (held.parts, is_whole) = (claimed, claimed == WHOLE);
            claimed & !own == 0
        } else if nobody_wrote_the_rest {
            is_whole = true;
            own & !claimed == 0
        } else {
            claimed == own
        };
        if !right || claims_whole != (claimed == WHOLE) {
            let says = if claims_whole { ", and reports the page as complete" } else { "" };
            self.findings.add(Kind::Request, || {
                format!(
                    "after a write of lpn {lpn}, the drive holds its parts {claimed:#018x}{says}; \
                     the host wrote {own:#018x}"
                )
            });
        }
        is_whole
    }

    /// Checks a read that should complete a partly written page.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill(&mut self, read: &PhysRead, carried: Stamp) {
        self.host.memory.fill_reads += u64::from(read.cause == Cause::Host);
        let Some(held) = self.host.memory.held.get_mut(&read.lpn) else { return };
        let Some(rest) = held.rest else { return };
        let good = read.result != ReadResult::Uncorrectable;
        held.rest_read = good;
        held.last_by_host = read.cause == Cause::Host;
        held.for_host += u64::from(held.last_by_host);
        if good && (carried.lpn != read.lpn || carried.tag.on_flash() != rest) {
            let place = self.truth.place(read.ppn);
            self.findings.add(Kind::Stamp, || {
                let (lpn, found, version) = (read.lpn, carried.words(), rest.version());
                format!(
                    "lpn {lpn} is completed from {place}, which carries {found}; its other parts \
                     belong to version {version}"
                )
            });
        }
    }

    /// Records that the drive keeps the parts that it read to complete a page.
    pub(crate) fn keep_fill(&mut self, lpn: Lpn) -> Result<(), String> {
        let held =
            self.host.memory.held.get_mut(&lpn).ok_or_else(|| {
                format!("lpn {lpn} was completed, but memory holds nothing of it")
            })?;
        let (complete, was_whole) = (held.is_complete(), held.rest.is_none());
        (held.parts, held.rest, held.rest_read) = (WHOLE, None, false);
        // If a mover read the older data while the host's read was under way, that read still
        // belongs to the host.
        held.for_host *= u64::from(!(held.last_by_host || was_whole));
        if complete {
            Ok(())
        } else {
            Err(format!("lpn {lpn} was completed with parts that were not read"))
        }
    }

    /// Checks that the parts of a page on flash were read before the host gets the page from the
    /// controller's memory.
    pub(crate) fn serve_from_memory(&mut self, lpn: Lpn, good: bool) {
        let Some(held) = self.host.memory.held.get_mut(&lpn) else {
            // A page without data was already reported as an error.
            let has_data = self.truth.stamps.newest(lpn).is_some_and(Tag::is_present);
            if good && has_data && !self.truth.waiting.contains_key(&lpn) {
                self.findings.add(Kind::Stamp, || {
                    format!(
                        "host read of lpn {lpn} was served from memory, which holds nothing of it"
                    )
                });
            }
            return;
        };
        let (complete, parts) = (held.is_complete(), held.parts);
        // A fill read for a host read does not count for the program.
        let used_up = std::mem::take(&mut held.for_host);
        held.rest_read = false;
        self.host.memory.fill_reads = self.host.memory.fill_reads.saturating_sub(used_up);
        if good && !complete {
            self.findings.add(Kind::Stamp, || {
                format!(
                    "host read of lpn {lpn} was served from memory, which holds only its parts \
                     {parts:#018x}"
                )
            });
        }
    }

    /// Checks the program of a page's newest data.
    pub(crate) fn program_held(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.host.memory.held.remove(&lpn) {
            None => {
                Err(format!("program of host data of lpn {lpn}, but memory holds nothing of it"))
            }
            Some(held) if !held.is_complete() => Err(format!(
                "program of lpn {lpn}, but memory holds only its parts {:#018x}",
                held.parts
            )),
            Some(_) => Ok(()),
        }
    }
}
