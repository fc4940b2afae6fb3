//! The drive: everything meets here. A pure state machine over map, blocks, wordlines, streams and jobs;
//! who drives it (untimed, timed, a test) decides when.
//!
//! Reads come in batches: look up, prefetch, count, compare with the alarm. Everything else is rare and lives in `ftl`.

use crate::blame::Blame;
use crate::bugs::Bugs;
use crate::config::{ConfigError, DriveConfig, MIN_SPARE_BLOCKS, Schedule};
use crate::counting::{BLOCKS, PAGES, TRACKED, WORDLINES};
use crate::disturb::table::dose_per_kind;
use crate::disturb::{ErrorModel, error_model};
use crate::ftl::buffer::WriteBuffer;
use crate::ftl::free::FreeBlocks;
use crate::ftl::map::{BUFFERED, PageMap, UNMAPPED};
use crate::ftl::mover::{Job, JobRef};
use crate::ftl::place::Streams;
use crate::ftl::victims::VictimIndex;
use crate::gc::{GcPolicy, gc_policy};
use crate::geometry::Geometry;
use crate::mem::{huge_vec, prefetch};
use crate::metrics::{FlashCounts, HostCounts, ReclaimCounts};
use crate::nand::block::{BlockCold, BlockHot, Wordline};
use crate::nand::guards::Guards;
use crate::observer::{FROM_BUFFER, NO_PPN, Observer, PhysRead, ReadResult};
use crate::page_counters::PageCounters;
use crate::reclaim::{Policy, StreamSpec, View, technique};
use crate::space_saving::SpaceSaving;
use crate::units::{BlockId, Bytes, Cause, DieId, Lpn, Ns, Ppn, Seq, transfer_ns, us};

/// Pages in a batch of reads: enough to keep all cache misses of a core in flight.
pub const BATCH: usize = 32;

/// Calls the read path compiled for what is to be counted, and for being watched or not.
macro_rules! on_read_path {
    ($drive:ident.$read:ident($($argument:expr),*)) => {
        match ($drive.counted, $drive.observer.is_some()) {
            (BLOCKS, false) => $drive.$read::<BLOCKS, false>($($argument),*),
            (BLOCKS, true) => $drive.$read::<BLOCKS, true>($($argument),*),
            (WORDLINES, false) => $drive.$read::<WORDLINES, false>($($argument),*),
            (WORDLINES, true) => $drive.$read::<WORDLINES, true>($($argument),*),
            (TRACKED, false) => $drive.$read::<TRACKED, false>($($argument),*),
            (TRACKED, true) => $drive.$read::<TRACKED, true>($($argument),*),
            (_, false) => $drive.$read::<PAGES, false>($($argument),*),
            (_, true) => $drive.$read::<PAGES, true>($($argument),*),
        }
    };
}

/// Physical work that a change of state implies; the timed gear books it on dies and channels, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandOp {
    /// Read a page for a read-modify-write, program elsewhere follows.
    Fill { src: Ppn },
    /// Program a host page.
    Program { dst: Ppn },
    /// Read here and, unless it was lost, program there.
    Copy { src: Ppn, dst: Option<Ppn>, cause: Cause },
    /// Sense so many wordlines of a block for their errors.
    Probe { block: BlockId, wordlines: u32 },
    /// Read here, for the states of the cells.
    Read { src: Ppn, cause: Cause },
    /// Program the most significant page of a wordline of this block, for guard levels.
    Merge { block: BlockId, cause: Cause },
    /// Erase a block.
    Erase { block: BlockId, cause: Cause },
    /// What follows up to the matching end is one job in the foreground of this die.
    JobBegin { die: DieId, cause: Cause },
    /// End of the job.
    JobEnd,
}

/// Chooses the techniques of a run.
#[derive(Clone, Debug)]
pub struct Techniques {
    /// Reclaim technique by name.
    pub reclaim: String,
    /// GC policy by name.
    pub gc: String,
}

impl Default for Techniques {
    fn default() -> Self {
        Self { reclaim: "block".into(), gc: "greedy".into() }
    }
}

/// The simulated drive.
pub struct Drive {
    pub(crate) config: DriveConfig,
    pub(crate) geometry: Geometry,
    pub(crate) map: PageMap,
    pub(crate) hot: Vec<BlockHot>,
    pub(crate) cold: Vec<BlockCold>,
    /// Empty where no error model counts per wordline.
    pub(crate) wordlines: Vec<Wordline>,
    /// Which wordlines of blocks of full density have guard levels.
    pub(crate) guards: Guards,
    /// The technique's counters, where it wants any.
    pub(crate) tracker: SpaceSaving,
    /// Reads of pages, in blocks of streams that want them counted.
    pub(crate) page_counters: PageCounters,
    /// [`BLOCKS`], [`WORDLINES`], [`TRACKED`] or [`PAGES`].
    pub(crate) counted: u8,
    /// Dose of one sensing by page kind, in quarters.
    pub(crate) dose: [u32; 4],
    pub(crate) free: FreeBlocks,
    pub(crate) victims: VictimIndex,
    pub(crate) streams: Streams,
    pub(crate) buffer: WriteBuffer,
    buffer_slots: u32,
    pub(crate) gc: Box<dyn GcPolicy>,
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) model: Option<Box<dyn ErrorModel>>,
    /// Jobs that proceed in idle gaps or batches; a slot each, `None` when done.
    pub(crate) jobs: Vec<Option<Job>>,
    /// Logical pages reported lost and not rewritten since, a bit each; empty until the first.
    pub(crate) lost: Vec<u64>,
    pub(crate) seq: Seq,
    /// Plane from which preconditioning takes its next block.
    pub(crate) load_cursor: u32,
    pub(crate) now: Ns,
    pub(crate) erases_total: u64,
    /// Pages that the modes of blocks and wordlines take away now, and at most.
    pub(crate) pages_away: u32,
    pub(crate) pages_to_spare: u32,
    /// Whether jobs may be left to the timed gear, and physical work recorded in `ops`.
    pub(crate) timed: bool,
    pub(crate) ops: Vec<NandOp>,
    /// Deferred jobs that the timed gear has not yet taken over.
    pub(crate) started_jobs: Vec<JobRef>,
    pub(crate) jobs_begun: u64,
    /// Time to copy a page on an idle drive; for the urgency of jobs.
    pub(crate) copy_ns: Ns,
    /// The same for reprogramming a wordline.
    pub(crate) merge_ns: Ns,
    /// Erases of the drive at which static wear levelling looks next.
    pub(crate) next_wear_check: u64,
    pub(crate) late_reads: u32,
    /// The page whose read made a block ask its policy last.
    pub(crate) rung_by: Ppn,
    pub(crate) host: HostCounts,
    /// Pages that the host read and wrote before the measured phase.
    host_pages_before: u64,
    /// What the technique had counted by then.
    own_counts_before: Vec<(&'static str, u64)>,
    pub(crate) flash: FlashCounts,
    pub(crate) reclaim: ReclaimCounts,
    pub(crate) blame: Blame,
    pub(crate) uncorrectable_reads: u64,
    pub(crate) lost_pages: u64,
    pub(crate) bugs: Bugs,
    observer: Option<Box<dyn Observer>>,
    pending: Vec<PhysRead>,
}

impl Drive {
    /// An empty drive of a resolved configuration; `timed` where a timed gear will drive it.
    ///
    /// # Errors
    /// An unknown technique, or more reads at the start than the drive can have served.
    pub fn new(config: DriveConfig, techniques: &Techniques, timed: bool) -> Result<Self, ConfigError> {
        let technique = technique(&techniques.reclaim).ok_or_else(|| unknown("reclaim", &techniques.reclaim))?;
        let config = technique.drive(config);
        let policy = (technique.new)(&config);
        Self::assemble(config, policy, technique.name, &techniques.gc, timed)
    }

    /// The same under a policy that is in no list. It may not track.
    ///
    /// # Errors
    /// As those of [`Self::new`].
    pub fn with_policy(config: DriveConfig, policy: Box<dyn Policy>, gc: &str, timed: bool) -> Result<Self, ConfigError> {
        Self::assemble(config, policy, "unlisted", gc, timed)
    }

    fn assemble(config: DriveConfig, policy: Box<dyn Policy>, name: &str, gc: &str, timed: bool) -> Result<Self, ConfigError> {
        let geometry = Geometry::new(&config);
        crate::start_reads::check(&config, timed)?;
        let gc = gc_policy(gc, &config.gc).ok_or_else(|| unknown("gc", gc))?;
        let model = error_model(&config);
        let blocks = geometry.blocks as usize;
        let tracks = technique(name).is_some_and(|technique| technique.tracks);
        let own = policy.streams();
        require_room_for(&own, name, &geometry)?;
        let counted = match &model {
            None => BLOCKS,
            Some(_) if tracks => TRACKED,
            Some(_) if own.iter().any(|s| s.counts_pages) => PAGES,
            Some(_) => WORDLINES,
        };
        let page_counters =
            if counted == PAGES { PageCounters::new(geometry.blocks, geometry.pages_per_block) } else { PageCounters::default() };
        let tracker = if counted == TRACKED {
            SpaceSaving::new(geometry.blocks, geometry.wordlines_per_block, config.reclaim.counters)
        } else {
            SpaceSaving::default()
        };
        // Half of the buffer gathers writes, the other half holds pages being programmed. Without a buffer, one page passes through.
        let buffer_slots = (config.drive.write_buffer.0 / u64::from(geometry.page_bytes) / 2) as u32;
        let blame = Blame::new(geometry.host_pages);
        let mut drive = Self {
            map: PageMap::new(geometry.host_pages, geometry.raw_pages(), geometry.pages_per_block),
            hot: huge_vec(blocks, BlockHot::ERASED),
            cold: vec![BlockCold::new(config.start.pec); blocks],
            wordlines: huge_vec(if counted == BLOCKS { 0 } else { geometry.wordlines() as usize }, Wordline::default()),
            guards: Guards::new(geometry.blocks, geometry.wordlines_per_block),
            tracker,
            page_counters,
            counted,
            dose: dose_per_kind(config.disturb.dose, geometry.cell),
            free: FreeBlocks::new(geometry.dies() * geometry.planes_per_die),
            victims: VictimIndex::new(geometry.blocks, geometry.pages_per_block),
            streams: Streams::new(&geometry, own),
            buffer: WriteBuffer::new(buffer_slots.max(1)),
            policy,
            late_reads: late_reads(&config, &geometry, timed),
            copy_ns: copy_ns(&config, &geometry, 1),
            merge_ns: copy_ns(&config, &geometry, geometry.cell.bits()),
            buffer_slots,
            gc,
            model,
            geometry,
            config,
            jobs: vec![],
            lost: vec![],
            seq: 0,
            load_cursor: 0,
            now: 0,
            erases_total: 0,
            pages_away: 0,
            pages_to_spare: 0,
            timed,
            ops: vec![],
            started_jobs: vec![],
            jobs_begun: 0,
            next_wear_check: 0,
            rung_by: 0,
            host: HostCounts::default(),
            host_pages_before: 0,
            own_counts_before: vec![],
            flash: FlashCounts::default(),
            reclaim: ReclaimCounts::default(),
            blame,
            uncorrectable_reads: 0,
            lost_pages: 0,
            bugs: Bugs::default(),
            observer: None,
            pending: Vec::with_capacity(BATCH),
        };
        for block in 0..drive.geometry.blocks {
            drive.add_free(block);
        }
        drive.count_pages_to_spare();
        Ok(drive)
    }

    /// Gives the drive a bug, to see that it is found.
    #[cfg(feature = "seeded-bugs")]
    pub fn seed_bug(&mut self, bug: crate::bugs::Bug) {
        self.bugs.seeded = Some(bug);
    }

    /// Sets who watches; from the drive's first operation on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
    }

    /// Ends watching and gives the watcher back.
    pub fn end_observation(&mut self) -> Option<Box<dyn Observer>> {
        self.flush_reads();
        self.observer.take()
    }

    /// Reads the pages of a batch (at most [`BATCH`]) for the host, in order. `out` gets where each was read:
    /// a physical page, [`NO_PPN`] (unmapped or lost) or [`FROM_BUFFER`].
    pub fn read_batch(&mut self, lpns: &[Lpn], out: &mut [Ppn; BATCH]) {
        on_read_path!(self.read_pages(lpns, out));
    }

    /// Asks the processor for the map entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch_map(&self, lpn: Lpn) {
        prefetch(&self.map.to_physical, lpn as usize);
    }

    /// Reads one page for the host; see [`Self::read_batch`].
    #[inline]
    pub(crate) fn read_page(&mut self, lpn: Lpn) -> Ppn {
        on_read_path!(self.read_one(lpn))
    }

    /// Asks for what overwriting a page will touch, once its map entry is at hand.
    #[inline]
    pub(crate) fn prefetch_overwrite(&self, lpn: Lpn) {
        let entry = self.map.to_physical[lpn as usize];
        if entry < UNMAPPED {
            let block = self.geometry.block_of(entry);
            prefetch(&self.hot, block as usize);
            self.victims.prefetch(block);
            self.map.prefetch_valid(block, entry - self.geometry.first_page(block));
        }
    }

    fn read_pages<const COUNTED: u8, const WATCHED: bool>(&mut self, lpns: &[Lpn], out: &mut [Ppn; BATCH]) {
        assert!(lpns.len() <= BATCH);
        for lpn in lpns {
            self.prefetch_map(*lpn);
        }
        for lpn in lpns {
            self.prefetch_counted::<COUNTED>(*lpn);
        }
        for (lpn, place) in lpns.iter().zip(out) {
            *place = self.read_one::<COUNTED, WATCHED>(*lpn);
        }
    }

    #[inline]
    fn read_one<const COUNTED: u8, const WATCHED: bool>(&mut self, lpn: Lpn) -> Ppn {
        self.host.read_pages += 1;
        // The entry is read here, not ahead of the batch: an alarm may have moved the page.
        let ppn = self.map.to_physical[lpn as usize];
        if ppn >= UNMAPPED {
            return self.read_special(lpn, ppn);
        }
        self.flash.reads[Cause::Host as usize] += 1;
        let (block, rings) = self.count_read::<COUNTED>(ppn);
        if rings {
            self.alarm(lpn, ppn, block);
        } else if WATCHED {
            self.note_read(PhysRead { lpn, ppn, cause: Cause::Host, result: ReadResult::Good, fill: false });
        }
        ppn
    }

    /// A host read that finds no flash page in the map: buffered, unmapped or lost.
    #[cold]
    fn read_special(&mut self, lpn: Lpn, entry: u32) -> Ppn {
        if entry & BUFFERED != 0 {
            let slot = *self.buffer.slot(entry & !BUFFERED);
            if self.is_lost(lpn) {
                // The part that the host wrote since does not make the page whole.
                self.uncorrectable_reads += 1;
                let result = ReadResult::Uncorrectable;
                self.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result, fill: false });
                return FROM_BUFFER;
            }
            if slot.mask == crate::ftl::buffer::WHOLE || slot.below >= UNMAPPED {
                self.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result: ReadResult::Good, fill: false });
                return FROM_BUFFER;
            }
            // Part of the page is newer in the buffer, the rest comes from flash.
            let whole = self.sense(lpn, slot.below, Cause::Host, true);
            if !whole {
                self.uncorrectable_reads += 1;
                self.report_lost(lpn);
            }
            let result = if whole { ReadResult::Good } else { ReadResult::Uncorrectable };
            self.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result, fill: false });
            return slot.below;
        }
        let lost = self.is_lost(lpn);
        let result = if lost { ReadResult::Uncorrectable } else { ReadResult::Good };
        self.note_read(PhysRead { lpn, ppn: NO_PPN, cause: Cause::Host, result, fill: false });
        if lost {
            self.uncorrectable_reads += 1;
        } else {
            self.host.unmapped_read_pages += 1;
        }
        NO_PPN
    }

    /// Tells the observer of a read, a batch at a time.
    #[inline]
    pub(crate) fn note_read(&mut self, read: PhysRead) {
        if self.observer.is_some() {
            self.pending.push(read);
            if self.pending.len() == BATCH {
                self.flush_reads();
            }
        }
    }

    fn flush_reads(&mut self) {
        if let Some(observer) = &mut self.observer
            && !self.pending.is_empty()
        {
            observer.reads(&self.pending);
            self.pending.clear();
        }
    }

    /// Tells the observer of anything but reads, after the reads that came before it.
    #[inline]
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Observer)) {
        if self.observer.is_some() {
            self.flush_reads();
            event(self.observer.as_mut().expect("checked").as_mut());
        }
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.observer.is_some()
    }

    /// Pages that the write buffer may hold while they are programmed; none where it is off.
    pub(crate) fn buffer_slots(&self) -> u32 {
        self.buffer_slots
    }

    /// What a policy may see, and the policy, apart.
    pub(crate) fn policy_and_view(&mut self) -> (&mut dyn Policy, View<'_>) {
        let view = View {
            geometry: &self.geometry,
            limits: self.model.as_deref().map(ErrorModel::limits),
            disturb: &self.config.disturb,
            late_reads: self.late_reads,
            hot: &self.hot,
            cold: &self.cold,
            wordlines: &self.wordlines,
            tracker: &self.tracker,
            pages: &self.page_counters,
            map: &self.map,
            rung_by: self.rung_by,
            guards: &self.guards,
            pages_away: self.pages_away + self.pages_leaving(),
            pages_to_spare: self.pages_to_spare,
            clock: self.host_pages_before + self.host.read_pages + self.host.write_pages,
        };
        (self.policy.as_mut(), view)
    }

    /// Begins the measured phase: every count starts at zero, state stays.
    pub fn begin_measurement(&mut self) {
        self.host_pages_before += self.host.read_pages + self.host.write_pages;
        self.own_counts_before = self.policy.counts();
        self.host = HostCounts::default();
        self.flash = FlashCounts::default();
        self.reclaim = ReclaimCounts::default();
        self.blame.clear();
        self.uncorrectable_reads = 0;
        self.lost_pages = 0;
        self.ops.clear();
        self.tell(Observer::measured_phase);
    }

    /// The resolved configuration.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// The geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// What the host asked for, since the measured phase began.
    pub fn host_counts(&self) -> &HostCounts {
        &self.host
    }

    /// NAND operations by cause, since the measured phase began.
    pub fn flash_counts(&self) -> &FlashCounts {
        &self.flash
    }

    /// Read reclaim, since the measured phase began.
    pub fn reclaim_counts(&self) -> &ReclaimCounts {
        &self.reclaim
    }

    /// What the technique counts of its own, by name, since the measured phase began.
    pub fn technique_counts(&self) -> Vec<(&'static str, u64)> {
        let before = |name| self.own_counts_before.iter().find(|(n, _)| *n == name).map_or(0, |(_, count)| *count);
        self.policy.counts().into_iter().map(|(name, count)| (name, count - before(name))).collect()
    }

    /// Host reads that the drive reported as uncorrectable.
    pub fn uncorrectable_reads(&self) -> u64 {
        self.uncorrectable_reads
    }

    /// Pages of host data that the drive reported as lost.
    pub fn lost_pages(&self) -> u64 {
        self.lost_pages
    }

    /// Simulated time, as far as the drive has been told; 0 in the untimed gear.
    pub fn now(&self) -> Ns {
        self.now
    }

    /// RAM the reclaim technique would take in a real controller.
    pub fn controller_ram(&self) -> Bytes {
        self.policy.controller_ram(&self.geometry)
    }

    /// Reads that a block may still serve between its alarm and the end of its job (`R_late`), as policies are told.
    pub fn late_reads(&self) -> u32 {
        self.late_reads
    }

    /// Open blocks of each stream: (purpose, width).
    pub fn stream_widths(&self) -> Vec<(&'static str, u32)> {
        self.streams.widths()
    }
}

fn unknown(what: &str, name: &str) -> ConfigError {
    ConfigError(format!("unknown {what} technique `{name}`"))
}

/// Each stream of a technique's own needs an open block, and one for its next.
fn require_room_for(own: &[StreamSpec], name: &str, geometry: &Geometry) -> Result<(), ConfigError> {
    let needed = MIN_SPARE_BLOCKS + 2 * own.len() as u32;
    let spare = geometry.spare_blocks();
    if own.is_empty() || spare >= needed {
        return Ok(());
    }
    Err(ConfigError(format!(
        "the drive has {spare} spare blocks; reclaim technique `{name}` keeps {} kinds of data apart and needs {needed}: raise drive.spare or drive.capacity",
        own.len()
    )))
}

/// Reading so many pages and programming one on an idle drive.
fn copy_ns(config: &DriveConfig, geometry: &Geometry, reads: u32) -> Ns {
    let sense = config.timing.sense_per_kind_us(geometry.cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    let transfer = transfer_ns(u64::from(geometry.page_bytes), config.timing.channel_mb_s);
    u64::from(reads) * (us(read_us + config.timing.ecc_us) + transfer) + transfer + us(config.timing.program_us)
}

/// `R_late`: none where the job runs in the foreground. Else the reads that a die serves in the time of the job when the
/// two share it, but at most an eighth of the smallest worst-case limit: more would rewrite blocks far too early, and a
/// block that uses its reads up before its job is done is finished in the foreground anyway.
pub(crate) fn late_reads(config: &DriveConfig, geometry: &Geometry, timed: bool) -> u32 {
    if let Some(given) = config.reclaim.late_reads {
        return given;
    }
    if !timed || config.reclaim.schedule == Schedule::Foreground {
        return 0;
    }
    let sense = config.timing.sense_per_kind_us(geometry.cell);
    let read_us = sense.iter().sum::<f64>() / sense.len() as f64;
    let job_us = f64::from(geometry.pages_per_block) * (read_us + config.timing.program_us);
    let smallest = config
        .disturb
        .table
        .iter()
        .flat_map(|row| row.limit.iter().enumerate().map(|(g, limit)| limit / row.alpha.get(g).copied().unwrap_or(1.0)));
    let smallest = smallest.fold(f64::INFINITY, f64::min);
    (job_us / read_us).min(smallest / 8.0).floor() as u32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A drive of 4 dies that fits a test: 40 blocks of 24 pages (8 wordlines TLC), 16-KiB pages.
    pub(crate) fn tiny_config() -> DriveConfig {
        toml::from_str(
            r#"
            geometry = { channels = 2, dies_per_channel = 2, planes_per_die = 1, blocks_per_plane = 10, wordlines_per_block = 8, cell = "tlc", page_size = "16KiB" }
            timing = { sense_us = 50, program_us = 500, erase_us = 3000, channel_mb_s = 800 }
            drive = { spare = 0.4, write_buffer = "128KiB" }
            start = { fill = 0.0 }
            "#,
        )
        .unwrap()
    }

    pub(crate) fn tiny_geometry() -> Geometry {
        Geometry::new(&tiny_config().resolve().unwrap())
    }

    #[test]
    fn a_written_page_reads_back_and_an_unwritten_one_is_unmapped() {
        let mut drive = Drive::new(tiny_config().resolve().unwrap(), &Techniques::default(), false).unwrap();
        let mut out = [0; BATCH];
        drive.write_page(5, u64::MAX);
        drive.read_batch(&[5, 6], &mut out);
        assert_eq!(out[..2], [FROM_BUFFER, NO_PPN]);
        assert_eq!(drive.host.unmapped_read_pages, 1);
    }
}
