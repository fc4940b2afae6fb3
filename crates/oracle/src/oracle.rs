//! The oracle: hears what the drive does, keeps the truth, and compares each read with it.

use std::collections::{BTreeMap, BTreeSet};

use vpass_core::config::DriveConfig;
use vpass_core::disturb::table::Endurance;
use vpass_core::drive::Drive;
use vpass_core::geometry::Geometry;
use vpass_core::metrics::{HostCounts, TimedMetrics};
use vpass_core::observer::{FROM_BUFFER, NOBODY, Observer, Origin, PhysRead, ReadResult};
use vpass_core::request::Request;
use vpass_core::time_event::{OpId, TimeEvent};
use vpass_core::units::{BlockId, Bytes, Cause, Lpn, Ns, Ppn, Seq};

use crate::addresses;
use crate::bits::Bits;
use crate::books::{DriveBooks, differences};
use crate::claims::{Course, Seen};
use crate::cleaning::Cleaning;
use crate::clock::Clock;
use crate::density_books::DensityBooks;
use crate::doses::{Doses, Truth};
use crate::mapping::MapEntry;
use crate::medium::{At, Medium};
use crate::parts::Memory;
use crate::protocol::Protocol;
use crate::report::{Findings, Kind, OracleReport, Tally};
use crate::requests::Requests;
use crate::stamps::{Loss, Stamp, Stamps, Tag};
use crate::start_reads::StartReads;
use crate::time_check::TimeCheck;
use crate::wear::Wear;

/// How much of a drive is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Its data, page by page, the rules of flash, and its books.
    On,
    /// The host's requests as well, from end to end: every page of each served once, and complete. And all times.
    Full,
}

/// The independent checker of one drive.
#[derive(Debug)]
pub struct Oracle {
    level: Level,
    pub(crate) geometry: Geometry,
    raw_pages: u32,
    pub(crate) medium: Medium,
    pub(crate) stamps: Stamps,
    pub(crate) doses: Doses,
    pub(crate) protocol: Protocol,
    pub(crate) findings: Findings,
    /// Losses reported without a read that showed them; a page past its limit must explain each.
    pub(crate) unseen_losses: BTreeSet<Stamp>,
    pub(crate) seen: DriveBooks,
    pub(crate) uncorrectable_reads: u64,
    lost_pages: u64,
    /// Of the host's pages: reported lost since the measured phase began.
    was_lost: Bits,
    worst_dose_ratio: f64,
    /// Copies in the controller's memory, and what they carry.
    pub(crate) waiting: BTreeMap<Lpn, Stamp>,
    /// What the host asked for, and what of it waits in the controller's memory: of [`Level::Full`].
    pub(crate) requests: Requests,
    pub(crate) memory: Memory,
    pub(crate) wear: Wear,
    pub(crate) claims: Seen,
    pub(crate) density: DensityBooks,
    pub(crate) cleaning: Cleaning,
    pub(crate) course: Course,
    pub(crate) start_reads: StartReads,
    /// What is wrong with the drive's geometry.
    addresses: Result<(), String>,
    time: TimeCheck,
    /// Of [`Level::Full`].
    pub(crate) clock: Clock,
}

impl Oracle {
    /// The oracle of an empty, erased drive with a resolved configuration; it checks all it can.
    pub fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let planes = if config.timing.independent_planes { geometry.planes_per_die } else { 1 };
        Self {
            level: Level::Full,
            requests: Requests::new(geometry.page_bytes),
            memory: Memory::new(config),
            start_reads: StartReads::new(config),
            addresses: addresses::check(geometry, config),
            wear: Wear::new(geometry, config),
            claims: Seen::default(),
            density: DensityBooks::new(config, geometry),
            cleaning: Cleaning::default(),
            course: Course::default(),
            time: TimeCheck::new(geometry.dies() * planes, geometry.channels),
            clock: Clock::new(geometry, config),
            geometry: geometry.clone(),
            raw_pages: geometry.raw_pages(),
            medium: Medium::new(geometry),
            stamps: Stamps::new(geometry),
            doses: Doses::new(geometry, config),
            protocol: Protocol::new(geometry),
            findings: Findings::default(),
            unseen_losses: BTreeSet::new(),
            seen: DriveBooks::default(),
            uncorrectable_reads: 0,
            lost_pages: 0,
            was_lost: Bits::none_of(geometry.host_pages),
            worst_dose_ratio: 0.0,
            waiting: BTreeMap::new(),
        }
    }

    /// The same, to check as much as this; before the drive's first operation.
    #[must_use]
    pub fn at(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// Whether requests are checked from end to end.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.level == Level::Full
    }

    /// Memory that the oracle of such a drive takes.
    pub fn memory(geometry: &Geometry) -> Bytes {
        let lost = Bits::bytes(geometry.host_pages) + Wear::bytes(geometry);
        Bytes(Medium::bytes(geometry) + Stamps::bytes(geometry) + Doses::bytes(geometry) + Protocol::bytes(geometry) + lost)
    }

    /// All that the host has asked for so far is served.
    fn end_requests(&mut self) {
        for left in self.requests.end() {
            self.findings.add(Kind::Request, || left);
        }
        if self.is_full() && self.memory.is_unbuffered {
            self.check_nothing_held();
        }
    }

    /// Compares the drive's books with what was seen.
    pub fn check_books(&mut self, drive: &DriveBooks) {
        let seen = DriveBooks { mapped_pages: self.stamps.present(), ..self.seen };
        for difference in differences(drive, &seen) {
            self.findings.add(Kind::Books, || difference);
        }
    }

    /// Takes over what was found about the drive's time.
    pub fn check_time(&mut self, time: &TimeCheck) {
        self.findings.absorb(time.findings());
    }

    /// Ends a run: compares books and map of the drive with the truth, looks for pages past their limit that nobody has
    /// read, and gives the verdict.
    pub fn conclude(mut self, drive: &Drive) -> OracleReport {
        let time = std::mem::replace(&mut self.time, TimeCheck::new(0, 0));
        self.check_time(&time);
        self.end_requests();
        let addresses = std::mem::replace(&mut self.addresses, Ok(()));
        self.findings.note(Kind::Books, addresses);
        let flash = drive.flash_counts();
        let host = drive.host_counts();
        self.check_books(&DriveBooks {
            reads: flash.reads,
            programs: flash.programs,
            erases: flash.erases,
            reprograms: flash.reprograms,
            host_read_pages: host.read_pages,
            host_write_pages: host.write_pages,
            mapped_pages: drive.mapped_pages(),
        });
        self.check_claims(drive);
        let rows = || drive.map_rows().map(|r| MapEntry { lpn: r.lpn, ppn: r.ppn, buffered: r.buffered });
        self.check_blocks(drive.block_states());
        self.check_map(rows, |ppn| drive.owner(ppn), drive.valid_pages(), &drive.whole_pages());
        self.finish()
    }

    /// The verdict so far, without looking for pages that nobody has read ([`Self::finish`]).
    pub fn report(&self) -> OracleReport {
        OracleReport::new(&self.findings, self.tally())
    }

    /// True dose and limit of a programmed page, in 1/1024 dose units; `None` where nothing disturbs it
    /// or there is no such page.
    pub fn truth(&self, ppn: Ppn) -> Option<(u64, u64)> {
        if ppn >= self.raw_pages {
            return None;
        }
        let truth = self.doses.truth(&self.medium, At::new(&self.geometry, ppn));
        (truth != Truth::SAFE).then_some((truth.dose, truth.limit))
    }

    /// Reads beside a programmed page that it still endures, in dose units; below 0 where it is past its limit, infinitely many where nothing
    /// disturbs it.
    pub fn reads_left(&self, ppn: Ppn) -> f64 {
        let at = At::new(&self.geometry, ppn);
        let truth = self.doses.truth(&self.medium, at);
        if truth == Truth::SAFE {
            return f64::INFINITY;
        }
        (truth.limit as f64 - truth.dose as f64) / (4 * self.doses.page(at).alpha) as f64
    }

    /// What a flash page really holds: host page and version.
    pub fn content(&self, ppn: Ppn) -> Option<(Lpn, u32)> {
        self.carried(ppn).filter(|stamp| stamp.lpn < self.geometry.host_pages).map(|stamp| (stamp.lpn, stamp.tag.version()))
    }

    /// The newest version of a host page that the host may read.
    pub fn newest(&self, lpn: Lpn) -> Option<u32> {
        self.stamps.newest(lpn).filter(|tag| tag.is_present()).map(Tag::version)
    }

    /// Whether the drive reported the host's data of this page lost, and nothing whole was written since.
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        self.stamps.newest(lpn).is_some_and(Tag::is_lost)
    }

    /// What a flash page carries; `None` beyond the flash.
    pub(crate) fn carried(&self, ppn: Ppn) -> Option<Stamp> {
        (ppn < self.geometry.raw_pages()).then(|| self.medium.stamp(At::new(&self.geometry, ppn)))
    }

    pub(crate) fn tally(&self) -> Tally {
        Tally {
            reads_checked: self.seen.host_read_pages,
            uncorrectable_reads: self.uncorrectable_reads,
            lost_pages: self.lost_pages,
            worst_dose_ratio: self.worst_dose_ratio,
        }
    }

    /// A flash page in words.
    pub(crate) fn place(&self, ppn: Ppn) -> String {
        let at = At::new(&self.geometry, ppn);
        format!("ppn {ppn} (block {}, wordline {})", at.block, at.index)
    }

    /// What a read of a page is compared with.
    #[inline]
    fn find(&self, ppn: Ppn) -> Place {
        let at = At::new(&self.geometry, ppn);
        let Endurance { limit, alpha } = self.doses.page(at);
        // Rounded down: no dose up to it exceeds the worst ratio, which only grows while the batch is judged.
        let unremarkable = (self.worst_dose_ratio * limit.cast_signed() as f64) as u64;
        Place { at, alpha, dull: limit.min(unremarkable) }
    }

    /// Whether the dose of a page that is read well can tell nothing new.
    #[inline]
    fn is_dull(&self, place: &Place) -> bool {
        self.doses.ceiling(place.at.block, place.alpha) <= place.dull
    }

    #[inline]
    fn read_page(&mut self, read: &PhysRead, place: &Place) {
        let by_host = read.cause == Cause::Host && !read.fill;
        self.seen.host_read_pages += u64::from(by_host);
        if read.cause == Cause::Host {
            self.host_acts();
            if by_host && self.is_full() {
                self.serve(read);
            }
        } else {
            self.mover_reads(read);
        }
        let Some(newest) = self.stamps.newest(read.lpn) else {
            return self.read_for_nobody(read);
        };
        if read.ppn >= self.raw_pages {
            return self.read_off_flash(read, newest);
        }
        let at = place.at;
        let carried = self.medium.stamp(at);
        self.seen.reads[read.cause as usize] += 1;
        let good = read.result == ReadResult::Good;
        if read.fill && self.is_full() {
            self.fill(read, carried);
        }
        // Whoever else reads may find an older version: newer data may wait in the write buffer.
        let right = carried.lpn == read.lpn && (carried.tag.on_flash() == newest.on_flash() || !(by_host && good));
        if !right {
            self.wrong_page(read, Some(newest));
            if carried == Stamp::ERASED {
                return;
            }
        }
        if good {
            if !self.is_dull(place) {
                self.compare(read, at);
            }
            if carried.tag.is_damaged() {
                self.stamps.recovered(&mut self.medium, at);
            }
        } else {
            self.uncorrectable(read, at, self.doses.truth(&self.medium, at));
        }
        self.doses.sense(&mut self.medium, at);
    }

    /// The host gets a page, or an error for it.
    #[inline]
    fn serve(&mut self, read: &PhysRead) {
        let served = self.requests.read(read.lpn);
        self.findings.note(Kind::Request, served);
        if read.ppn == FROM_BUFFER {
            self.serve_from_memory(read.lpn, read.result == ReadResult::Good);
        }
    }

    /// Compares the dose of a page that was read well with its limit.
    fn compare(&mut self, read: &PhysRead, at: At) {
        let truth = self.doses.truth(&self.medium, at);
        if truth.is_past() {
            self.past_limit(read, truth);
        }
        if truth.exceeds(self.worst_dose_ratio) {
            self.worst_dose_ratio = truth.ratio();
        }
    }

    fn loss(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.stamps.lost(lpn)? {
            Loss::Absent => return Err(format!("lpn {lpn} was reported lost; it holds no data")),
            Loss::Again => return Ok(()),
            Loss::Seen => {}
            Loss::Unseen(stamp) => {
                self.unseen_losses.insert(stamp);
            }
        }
        self.claims.losses += 1;
        self.lost_pages += u64::from(self.was_lost.insert(lpn));
        Ok(())
    }

    /// The block exists.
    pub(crate) fn check_block(&mut self, block: BlockId, what: &str) -> bool {
        let blocks = self.geometry.blocks;
        if block >= blocks {
            self.findings.add(Kind::Protocol, || format!("{what} of block {block}; the drive has {blocks} blocks"));
        }
        block < blocks
    }
}

/// A page that is read, as far as caches know it.
#[derive(Clone, Copy, Default)]
struct Place {
    at: At,
    /// Weight of its neighbours.
    alpha: u64,
    /// A dose up to which it is within its limit, and no worse than others were.
    dull: u64,
}

/// Pages of a block after this one that are on their way into the cache while it is loaded.
const AHEAD: usize = 64;

/// Reads in one call of `Observer::reads`, at most.
const BATCH: usize = 32;

impl Observer for Oracle {
    fn requests(&mut self, first: u64, requests: &[Request]) {
        if self.is_full() {
            self.requests.ask(first, requests);
            self.clock.requests(first, requests);
        }
    }

    fn reads(&mut self, batch: &[PhysRead]) {
        assert!(batch.len() <= BATCH, "{} reads in one batch", batch.len());
        self.stamps.end_loading();
        // First all addresses, so that the memory fetches of the whole batch overlap.
        for read in batch {
            self.stamps.prefetch(read.lpn);
            if read.ppn < self.raw_pages {
                self.medium.prefetch(self.geometry.wordline_of(read.ppn));
                self.doses.prefetch(self.geometry.block_of(read.ppn));
            }
        }
        // What lies beyond the flash is not looked at anywhere.
        let mut places = [Place::default(); BATCH];
        for (read, place) in batch.iter().zip(&mut places).filter(|(read, _)| read.ppn < self.raw_pages) {
            *place = self.find(read.ppn);
            self.medium.prefetch_stamp(place.at);
            if !self.is_dull(place) {
                self.medium.prefetch_around(place.at.wordline, self.doses.reach());
            }
        }
        for (read, place) in batch.iter().zip(&places) {
            if read.ppn < self.raw_pages {
                self.clock.sensed(read);
            }
            self.read_page(read, place);
        }
    }

    fn host_wrote(&mut self, lpn: Lpn, whole: bool) {
        self.seen.host_write_pages += 1;
        self.host_acts();
        if self.is_full() {
            self.wear.look(&self.geometry);
            self.check_durable(lpn);
        }
        let whole = if self.is_full() { self.take_in(lpn, whole) } else { whole };
        if whole {
            self.waiting.remove(&lpn);
        }
        let checked = self.stamps.host_wrote(lpn, whole);
        self.findings.note(Kind::Protocol, checked);
    }

    fn took_in(&mut self, lpn: Lpn, parts: u64) {
        if self.is_full() {
            self.memory.claim(lpn, parts);
        }
    }

    fn filled(&mut self, lpn: Lpn) {
        if self.is_full() {
            let checked = self.keep_fill(lpn);
            self.findings.note(Kind::Stamp, checked);
        }
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.claims.trimmed_pages += 1;
        self.host_acts();
        if self.is_full() {
            self.check_durable(lpn);
            self.memory.forget(lpn);
            let served = self.requests.trim(lpn);
            self.findings.note(Kind::Request, served);
        }
        self.waiting.remove(&lpn);
        let checked = self.stamps.trimmed(lpn);
        self.findings.note(Kind::Protocol, checked);
    }

    fn lost(&mut self, lpn: Lpn) {
        let checked = self.loss(lpn);
        self.findings.note(Kind::FalseLoss, checked);
    }

    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, seq: Seq, origin: Origin, cause: Cause) {
        self.seen.programs[cause as usize] += 1;
        self.clock.programmed(ppn, true, cause);
        let Some(at) = self.program_in_order(ppn, lpn, seq, cause) else { return };
        let checked = match origin {
            Origin::Host => {
                self.host_acts();
                let held = if self.is_full() { self.program_held(lpn) } else { Ok(()) };
                self.stamps.program_host(&mut self.medium, at, lpn).and(held)
            }
            Origin::Gathered => self.program_gathered(at, lpn),
            Origin::Copy(from) => {
                self.claims.reclaim_copies += u64::from(cause == Cause::Reclaim);
                let copied = self.carried(from).unwrap_or(Stamp::ERASED);
                let checked = Stamps::program_copy(&mut self.medium, at, lpn, copied);
                if checked.is_ok() && from != ppn {
                    // The copy is the data from now on; what is left behind may stand there for long, and nobody may read it.
                    self.medium.set_stamp(At::new(&self.geometry, from), Stamp::DEAD);
                }
                checked.map_err(|what| format!("{what}, ppn {from}"))
            }
        };
        self.findings.note(Kind::Stamp, checked.map_err(|what| format!("{} at ppn {ppn}: {what}", cause.name())));
    }

    fn gathered(&mut self, lpn: Lpn, from: Ppn) {
        self.claims.reclaim_copies += u64::from(self.course.moving == Cause::Reclaim);
        let checked = self.gather(lpn, from);
        self.findings.note(Kind::Stamp, checked);
    }

    fn padded(&mut self, ppn: Ppn, seq: Seq, cause: Cause) {
        self.seen.programs[cause as usize] += 1;
        self.claims.padded_pages += 1;
        self.clock.programmed(ppn, false, cause);
        if let Some(at) = self.program_in_order(ppn, NOBODY, seq, cause) {
            self.medium.set_stamp(at, Stamp::DEAD);
        }
    }

    fn opened(&mut self, block: BlockId, mode: u8) {
        self.clock.opened(block);
        self.take_away(u32::from(mode) * self.geometry.wordlines_per_block);
        self.opened_in_mode(block, mode);
    }

    fn merged(&mut self, block: BlockId, wordline: u32, mode: u8, cause: Cause) {
        self.seen.reprograms[cause as usize] += 1;
        self.clock.merged(block, cause);
        self.merged_wordline(block, wordline, mode);
    }

    fn guarded(&mut self, block: BlockId, wordline: u32, mode: u8, cause: Cause) {
        self.seen.reprograms[cause as usize] += 1;
        self.clock.merged(block, cause);
        self.check_sensed(block, wordline);
        self.take_away(mode.into());
        self.guarded_wordline(block, wordline, mode);
    }

    fn reprogrammed(&mut self, block: BlockId, mode: u8) {
        self.density.reprogram();
        self.take_away(u32::from(mode) * self.geometry.wordlines_per_block);
        self.reprogrammed_block(block, mode);
    }

    fn erased(&mut self, block: BlockId, cause: Cause) {
        self.seen.erases[cause as usize] += 1;
        self.clock.erased(block, cause);
        if !self.check_block(block, "erase") {
            return;
        }
        self.cleaned(cause);
        self.note_density(block, cause);
        self.end_cleaning(block);
        let mut unseen = std::mem::take(&mut self.unseen_losses);
        self.settle_losses(block, &mut unseen);
        self.unseen_losses = unseen;
        let checked = self.protocol.erase(block);
        self.findings.note(Kind::Protocol, checked);
        self.medium.erase(block);
        self.doses.erase(block);
        self.wear.erase(block, cause, self.doses.worn(block).beyond_milli);
    }

    fn preloaded(&mut self, block: BlockId, lpns: &[Lpn]) {
        if !self.check_block(block, "preload") {
            return;
        }
        let room = self.geometry.pages_per_block as usize;
        if lpns.len() > room {
            self.findings.add(Kind::Protocol, || format!("preload of {} pages into block {block} of {room}", lpns.len()));
        }
        let lpns = &lpns[..lpns.len().min(room)];
        self.wear.load(&self.geometry, block, lpns.len());
        let checked = self.protocol.preload(block, lpns.len() as u32);
        self.findings.note(Kind::Protocol, checked);
        let mut later = lpns.iter().skip(AHEAD);
        for (ppn, lpn) in (self.geometry.first_page(block)..).zip(lpns) {
            later.next().into_iter().for_each(|lpn| self.stamps.prefetch_load(*lpn));
            let checked = self.stamps.preload(&mut self.medium, At::new(&self.geometry, ppn), *lpn);
            self.findings.note(Kind::Stamp, checked.map_err(|what| format!("{what}, at ppn {ppn}")));
        }
    }

    fn served_before(&mut self, block: BlockId, doses: &[u32]) {
        if !self.check_block(block, "reads") {
            return;
        }
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits());
        if doses.len() as u64 > u64::from(programmed) {
            let wordlines = doses.len();
            return self
                .findings
                .add(Kind::Protocol, || format!("reads of {wordlines} wordlines of block {block}, of which {programmed} are programmed"));
        }
        let checked = self.start_reads.serve(block, doses);
        self.findings.note(Kind::Books, checked);
        self.doses.age(&mut self.medium, block, doses);
    }

    fn measured_phase(&mut self) {
        let checked = self.start_reads.check();
        self.findings.note(Kind::Books, checked);
        self.stamps.end_loading();
        self.end_requests();
        self.claims = Seen::default();
        self.density.restart();
        self.clock.measure();
        self.requests.served = HostCounts::default();
        self.memory.fill_reads = 0;
        self.seen = DriveBooks::default();
        self.uncorrectable_reads = 0;
        self.lost_pages = 0;
        self.was_lost.clear();
        self.worst_dose_ratio = 0.0;
    }

    fn occupied(&mut self, intervals: &[(u32, Ns, Ns)]) {
        self.time.note(intervals);
    }

    fn wants_time(&self) -> bool {
        self.is_full()
    }

    fn run_began(&mut self, at: Ns, latencies: &TimedMetrics) {
        self.clock.begin(at, latencies);
    }

    fn time(&mut self, events: &[TimeEvent]) {
        let checked = self.clock.events(events);
        self.findings.note(Kind::Protocol, checked);
    }

    fn run_ended(&mut self, pending: &[OpId], latencies: &TimedMetrics) {
        let checked = self.clock.end(pending, latencies);
        self.findings.note(Kind::Protocol, checked);
    }
}
