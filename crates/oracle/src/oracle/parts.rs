//! Partly written pages: what of each page the controller's memory holds, and what must still be
//! read to complete it.
//!
//! The host writes parts of a page; what it left out stands in an older version on flash. Before
//! the page is programmed or served, that version has to be read: for good
//! ([`Observer::filled`](vpass_core::watch::observer::Observer::filled)), or for one answer to the
//! host.
//!
//! ```text
//! version 1 on flash:      1 1 1 1
//! the host writes a part:  - 2 - -    to be completed with version 1
//! and another:             - 2 - 3
//! version 1 is read:       1 2 1 3    whole; it may be served, or programmed as version 3
//! ```

use std::collections::BTreeMap;

use vpass_core::base::stripes::Stripes;
use vpass_core::base::units::{Cause, Lpn};
use vpass_core::config::{DriveConfig, ProgramUnit};
use vpass_core::watch::observer::{PhysRead, ReadResult};

use crate::oracle::Oracle;
use crate::report::Kind;
use crate::requests::WHOLE;
use crate::stamps::{Stamp, Tag};

/// A page that the host wrote and that was not programmed since.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    parts: u64,
    /// What a flash page carries that completes it, where there is any.
    rest: Option<Tag>,
    /// The rest was read, and has not been used up.
    rest_read: bool,
    /// Reads for the rest that are the host's, as far as is known: answered, they are none for the
    /// flash.
    for_host: u64,
    /// The last read for the rest was due to the host.
    last_by_host: bool,
    /// When it came to where it is in the buffer, at the earliest and at the latest.
    since: (u64, u64),
    /// When it was written last.
    last: u64,
    /// It came with a request that may go through the buffer.
    passes: bool,
}

impl Held {
    /// As long as there is a rest, it lacks parts.
    fn is_complete(&self) -> bool {
        self.rest.is_none() || self.rest_read
    }
}

/// What the controller's memory holds of the host's pages.
#[derive(Debug)]
pub(crate) struct Memory {
    /// There is no write buffer.
    pub(crate) is_unbuffered: bool,
    held: BTreeMap<Lpn, Held>,
    /// Writes taken in.
    taken: u64,
    /// In which order pages leave the buffer for flash.
    order: Order,
    /// What the drive says that it holds of the page it takes in.
    claimed: Option<(Lpn, u64)>,
    /// Reads that completed a page for good, or failed to.
    pub(crate) fill_reads: u64,
}

/// In which order pages leave the write buffer for flash.
#[derive(Debug)]
enum Order {
    /// Any: a wordline at a time.
    Any,
    /// The first that came first.
    FirstCome,
    /// Either so or, where the technique keeps the pages of a stripe together, the stripe first
    /// that was written longest ago. Then pages of requests of more than `cut_off` go through.
    /// `last` has when a page of each stripe was written last.
    OfStripes { stripes: Stripes, cut_off: u64, last: BTreeMap<u32, u64> },
}

impl Order {
    /// Pages of the longest request that is kept in the buffer unless the drive says otherwise
    /// (da-raid5-2013 III-E).
    const CUT_OFF: u64 = 8;

    fn new(config: &DriveConfig, stripes: Option<Stripes>) -> Self {
        let cut_off = |technique| {
            config
                .parity
                .params
                .get(Some(technique), "cut_off")
                .map_or(Self::CUT_OFF, |most| most.value() as u64)
        };
        let cut_off = cut_off("hc").min(cut_off("da-raid5"));
        match (config.timing.program_unit, stripes) {
            (ProgramUnit::Wordline, _) => Self::Any,
            (ProgramUnit::Page, None) => Self::FirstCome,
            (ProgramUnit::Page, Some(stripes)) => {
                Self::OfStripes { stripes, cut_off, last: BTreeMap::new() }
            }
        }
    }

    /// A page is written with a request of so many; whether it may go through.
    fn takes_in(&mut self, lpn: Lpn, pages: u64, now: u64) -> bool {
        let Self::OfStripes { stripes, cut_off, last } = self else { return false };
        last.insert(stripes.of(lpn), now);
        pages > *cut_off
    }

    /// Whether a page cannot leave while the other, of which something is there, stays.
    fn leaves_behind(&self, (lpn, own): (Lpn, &Held), (other, held): (Lpn, &Held)) -> bool {
        let came_first = held.since.1 < own.since.0;
        match self {
            Self::Any => false,
            Self::FirstCome => came_first,
            Self::OfStripes { stripes, last, .. } => {
                let (stripe, its_last) = (stripes.of(other), last.get(&stripes.of(other)));
                came_first
                    && !own.passes
                    && stripe != stripes.of(lpn)
                    && its_last.is_some_and(|last| *last < own.last)
            }
        }
    }
}

impl Memory {
    pub(crate) fn new(config: &DriveConfig, stripes: Option<Stripes>) -> Self {
        let is_unbuffered = config.drive.write_buffer.0 < 2 * config.geometry.page_size.0;
        let order = Order::new(config, stripes);
        Self { is_unbuffered, held: BTreeMap::new(), taken: 0, order, claimed: None, fill_reads: 0 }
    }

    /// The pages of which it holds anything.
    pub(crate) fn pages(&self) -> impl Iterator<Item = Lpn> {
        self.held.keys().copied()
    }

    pub(crate) fn claim(&mut self, lpn: Lpn, parts: u64) {
        self.claimed = Some((lpn, parts));
    }

    pub(crate) fn holds(&self, lpn: Lpn) -> bool {
        self.held.contains_key(&lpn)
    }

    /// What completes a page is in the controller's memory, though it could not be read.
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
    /// The host writes a page, or parts of it: whether it is whole by now.
    pub(crate) fn take_in(&mut self, lpn: Lpn, claims_whole: bool) -> bool {
        let asked = self.requests.write(lpn).unwrap_or_else(|wrong| {
            self.findings.add(Kind::Request, || wrong);
            None
        });
        let claimed =
            self.memory.claimed.take().filter(|(of, _)| *of == lpn).map(|(_, parts)| parts);
        let Some(newest) = self.stamps.newest(lpn) else { return claims_whole };
        // Before there are requests, and where the drive serves what none asks for, its word is all
        // there is.
        let parts = asked.or(claimed).unwrap_or(if claims_whole { WHOLE } else { 0 });
        let copy_waits = self.waiting.get(&lpn).is_some_and(|stamp| self.stamps.is_live(*stamp));
        let on_flash = newest.is_present().then(|| newest.on_flash());
        let is_kept = newest.is_lost() && self.must_hold(lpn);
        self.memory.taken += 1;
        let now = self.memory.taken;
        let new = Held {
            parts: if copy_waits { WHOLE } else { 0 },
            rest: on_flash,
            since: (now, now),
            ..Held::default()
        };
        let passes = self.memory.order.takes_in(lpn, self.requests.pages_now, now);
        let held = self.memory.held.entry(lpn).or_insert(new);
        held.parts |= parts;
        (held.rest_read, held.for_host, held.last) = (false, 0, now);
        held.passes |= passes;
        let own = held.parts;
        let claimed = claimed.unwrap_or(if claims_whole { WHOLE } else { own });
        if own == WHOLE {
            held.rest = None;
        }
        let (nobody_wrote_the_rest, mut is_whole) =
            (held.rest.is_none() && !newest.is_lost(), own == WHOLE);
        let right = if newest.is_lost() {
            // What was written since the loss may be given up with it, when the page leaves the
            // buffer.
            let gave_up = own & !claimed != 0;
            held.since = (if gave_up { now } else { held.since.0 }, now);
            (held.parts, is_whole) = (claimed, claimed == WHOLE);
            claimed & !own == 0 && !(gave_up && is_kept)
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

    /// Whether what memory holds of a page cannot have left it: something is still there that came
    /// before.
    pub(crate) fn must_hold(&self, lpn: Lpn) -> bool {
        let Some(own) = self.memory.held.get(&lpn) else { return false };
        let is_lost = |lpn: Lpn| self.stamps.newest(lpn).is_some_and(Tag::is_lost);
        let order = &self.memory.order;
        self.memory.held.iter().any(|(other, held)| {
            order.leaves_behind((lpn, own), (*other, held)) && !is_lost(*other)
        })
    }

    /// A read that is to complete a partly written page.
    #[cold]
    #[inline(never)]
    pub(crate) fn fill(&mut self, read: &PhysRead, carried: Stamp) {
        self.memory.fill_reads += u64::from(read.cause == Cause::Host);
        let Some(held) = self.memory.held.get_mut(&read.lpn) else { return };
        let Some(rest) = held.rest else { return };
        let good = read.result != ReadResult::Uncorrectable;
        held.rest_read = good;
        held.last_by_host = read.cause == Cause::Host;
        held.for_host += u64::from(held.last_by_host);
        if good && (carried.lpn != read.lpn || carried.tag.on_flash() != rest) {
            let place = self.place(read.ppn);
            self.findings.add(Kind::Stamp, || {
                let (lpn, found, version) = (read.lpn, carried.words(), rest.version());
                format!(
                    "lpn {lpn} is completed from {place}, which carries {found}; its other parts \
                     belong to version {version}"
                )
            });
        }
    }

    /// The drive keeps what it read to complete a page.
    pub(crate) fn keep_fill(&mut self, lpn: Lpn) -> Result<(), String> {
        let held =
            self.memory.held.get_mut(&lpn).ok_or_else(|| {
                format!("lpn {lpn} was completed, but memory holds nothing of it")
            })?;
        let (complete, was_whole) = (held.is_complete(), held.rest.is_none());
        (held.parts, held.rest, held.rest_read) = (WHOLE, None, false);
        // What a mover read beneath it while the host's read was under way leaves that one for the
        // host.
        held.for_host *= u64::from(!(held.last_by_host || was_whole));
        if complete {
            Ok(())
        } else {
            Err(format!("lpn {lpn} was completed with parts that were not read"))
        }
    }

    /// The host gets a page out of the controller's memory: what it needs of the flash has been
    /// read for it.
    pub(crate) fn serve_from_memory(&mut self, lpn: Lpn, good: bool) {
        let Some(held) = self.memory.held.get_mut(&lpn) else {
            // Of a page without data this is said already.
            let has_data = self.stamps.newest(lpn).is_some_and(Tag::is_present);
            if good && has_data && !self.waiting.contains_key(&lpn) {
                self.findings.add(Kind::Stamp, || {
                    format!(
                        "host read of lpn {lpn} was served from memory, which holds nothing of it"
                    )
                });
            }
            return;
        };
        let (complete, parts) = (held.is_complete(), held.parts);
        // A fill for the host's eyes only is none for the flash.
        let used_up = std::mem::take(&mut held.for_host);
        held.rest_read = false;
        self.memory.fill_reads = self.memory.fill_reads.saturating_sub(used_up);
        if good && !complete {
            self.findings.add(Kind::Stamp, || {
                format!(
                    "host read of lpn {lpn} was served from memory, which holds only its parts \
                     {parts:#018x}"
                )
            });
        }
    }

    /// The newest data of a page goes to flash.
    pub(crate) fn program_held(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.memory.held.remove(&lpn) {
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
