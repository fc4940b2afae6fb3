//! The drive: everything meets here. A pure state machine over map, blocks, wordlines, streams and jobs;
//! who drives it (untimed, timed, a test) decides when.
//!
//! Reads come in batches: look up, prefetch, count, compare with the alarm. Everything else is rare and lives in `ftl`.

mod alarm;
mod assemble;
pub mod audit;
mod memory;
pub mod start;
mod write;

use crate::base::geometry::Geometry;
use crate::base::mem::prefetch;
use crate::base::metrics::HostCounts;
use crate::base::request::Request;
use crate::base::units::{Cause, Lpn, Ns, Ppn};
use crate::bugs::{Bug, Bugs, planted};
use crate::config::DriveConfig;
use crate::drive::audit::blame::Blame;
use crate::flash::Flash;
use crate::flash::count::WORDLINES;
use crate::ftl::Ftl;
use crate::ftl::job::{Job, JobRef};
use crate::ftl::map::{BUFFERED, UNMAPPED};
use crate::slots::gc::GcPolicy;
use crate::slots::reclaim::{Policy, View};
use crate::slots::{Facts, Slots, Told};
use crate::watch::observer::{FROM_BUFFER, NO_PPN, Observer, PhysRead, ReadResult};

/// Calls the read path compiled for what is to be counted, and for being watched or not.
macro_rules! on_read_path {
    ($drive:ident.$read:ident($($argument:expr),*)) => {{
        use $crate::flash::count::{BLOCKS, PAGES, TRACKED, WORDLINES};
        match ($drive.flash.counted, $drive.is_watched()) {
            (BLOCKS, false) => $drive.$read::<{ BLOCKS }, false>($($argument),*),
            (BLOCKS, true) => $drive.$read::<{ BLOCKS }, true>($($argument),*),
            (WORDLINES, false) => $drive.$read::<{ WORDLINES }, false>($($argument),*),
            (WORDLINES, true) => $drive.$read::<{ WORDLINES }, true>($($argument),*),
            (TRACKED, false) => $drive.$read::<{ TRACKED }, false>($($argument),*),
            (TRACKED, true) => $drive.$read::<{ TRACKED }, true>($($argument),*),
            (_, false) => $drive.$read::<{ PAGES }, false>($($argument),*),
            (_, true) => $drive.$read::<{ PAGES }, true>($($argument),*),
        }
    }};
}

pub(crate) use on_read_path;

/// Chooses the techniques of a run.
#[derive(Clone, Debug)]
pub struct Techniques {
    /// Reclaim technique by name.
    pub reclaim: String,
    /// GC policy by name.
    pub gc: String,
    /// Seed of what a technique draws by chance; the workload's chance has none of it.
    pub seed: u64,
}

impl Default for Techniques {
    fn default() -> Self {
        Self { reclaim: "block".into(), gc: "greedy".into(), seed: 0 }
    }
}

/// The simulated drive.
pub struct Drive {
    pub(crate) config: DriveConfig,
    pub(crate) geometry: Geometry,
    pub(crate) flash: Flash,
    pub(crate) ftl: Ftl,
    pub(crate) gc: Box<dyn GcPolicy>,
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) now: Ns,
    pub(crate) facts: Facts,
    pub(crate) host: HostCounts,
    /// What the technique had counted before the measured phase.
    own_counts_before: Vec<(&'static str, u64)>,
    pub(crate) blame: Blame,
    pub(crate) uncorrectable_reads: u64,
    pub(crate) bugs: Bugs,
    /// Requests that the observer was told of; the number of the next one.
    announced: u64,
}

impl Drive {
    /// Gives the drive a bug, to see that it is found.
    #[cfg(feature = "seeded-bugs")]
    pub fn seed_bug(&mut self, bug: crate::bugs::Bug) {
        self.bugs.seeded = Some(bug);
        (self.flash.bugs, self.ftl.bugs, self.facts.bugs) = (self.bugs, self.bugs, self.bugs);
        crate::bugs::plant(Some(bug));
        if let Some(model) = &mut self.flash.model {
            model.limits_mut().bugs = self.bugs;
        }
        self.flash.tracker.bugs = self.bugs;
    }

    /// Sets who watches; from the drive's first operation on.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.flash.watch.begin(observer);
    }

    /// Who watches, told of everything so far.
    pub fn watcher(&mut self) -> Option<&mut dyn Observer> {
        self.flash.watch.watcher()
    }

    /// Ends watching and gives the watcher back.
    pub fn end_observation(&mut self) -> Option<Box<dyn Observer>> {
        self.flash.watch.end()
    }

    /// Reads pages for the host, in order.
    pub fn read_pages(&mut self, lpns: &[Lpn]) {
        for lpn in lpns {
            self.read_page(*lpn);
        }
    }

    /// Asks the processor for the map entry of a page that will be read or written soon.
    #[inline]
    pub(crate) fn prefetch_map(&self, lpn: Lpn) {
        self.ftl.map.prefetch(lpn);
    }

    /// Reads one page for the host. Tells where: a physical page, [`NO_PPN`] (unmapped or lost) or [`FROM_BUFFER`].
    #[inline]
    pub fn read_page(&mut self, lpn: Lpn) -> Ppn {
        if self.flash.counted == WORDLINES && !self.is_watched() {
            return self.read_one::<{ WORDLINES }, false>(lpn);
        }
        self.read_page_otherwise(lpn)
    }

    #[inline(never)]
    fn read_page_otherwise(&mut self, lpn: Lpn) -> Ppn {
        on_read_path!(self.read_one(lpn))
    }

    /// Asks for the counters behind a map entry.
    #[inline]
    pub(crate) fn prefetch_counters(&self, entry: u32) {
        self.flash.prefetch_counters(entry);
    }

    #[inline]
    pub(crate) fn prefetch_counted<const COUNTED: u8>(&self, entry: u32) {
        self.flash.prefetch_counted::<COUNTED>(entry);
    }

    /// Asks for the technique's own counter behind a map entry.
    #[inline]
    pub(crate) fn prefetch_own<const COUNTED: u8>(&self, entry: u32) {
        self.flash.prefetch_own::<COUNTED>(entry);
    }

    /// Asks for what invalidating the page of a map entry touches.
    #[inline]
    pub(crate) fn prefetch_overwrite(&self, entry: u32) {
        if entry < UNMAPPED {
            let block = self.flash.geometry.block_of(entry);
            prefetch(&self.flash.hot, block as usize);
            self.ftl.victims.prefetch(block);
            self.flash.contents.prefetch_valid(block, entry - self.flash.geometry.first_page(block));
        }
    }

    /// Asks for what else it touches, which is found through that.
    #[inline]
    pub(crate) fn prefetch_neighbours(&self, entry: u32) {
        if entry < UNMAPPED {
            self.ftl.victims.prefetch_neighbours(self.flash.geometry.block_of(entry));
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the read path")]
    pub(crate) fn read_one<const COUNTED: u8, const WATCHED: bool>(&mut self, lpn: Lpn) -> Ppn {
        self.host.read_pages += 1;
        let ppn = self.ftl.map.to_physical[lpn as usize];
        if ppn >= UNMAPPED {
            return self.read_special(lpn, ppn);
        }
        if self.flash.host_read::<COUNTED, WATCHED>(lpn, ppn) {
            self.alarm(lpn, ppn);
        }
        ppn
    }

    /// A host read that finds no flash page in the map: buffered, unmapped or lost.
    #[cold]
    fn read_special(&mut self, lpn: Lpn, entry: u32) -> Ppn {
        if entry & BUFFERED != 0 {
            let slot = *self.ftl.buffer.slot(entry & !BUFFERED);
            if self.ftl.is_lost(lpn) {
                // The part that the host wrote since does not make the page whole.
                self.uncorrectable_reads += 1;
                let result = ReadResult::Uncorrectable;
                self.flash.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result, fill: false });
                return FROM_BUFFER;
            }
            if slot.mask == crate::ftl::buffer::WHOLE
                || slot.below >= UNMAPPED
                || planted(Bug::BufferedReadsOld) && slot.mask.count_ones() > 60
            {
                self.flash.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result: ReadResult::Good, fill: false });
                return FROM_BUFFER;
            }
            // Part of the page is newer in the buffer, the rest comes from flash.
            // A move that this read set off may find the rest gone, and the page is as lost as if the read had.
            let whole = (self.bugs.has(Bug::RestUnread) || self.fill(lpn, slot.below)) && !self.ftl.is_lost(lpn);
            if !whole {
                self.uncorrectable_reads += 1;
                self.ftl.report_lost(&mut self.flash, lpn);
            }
            let result = if whole { ReadResult::Good } else { ReadResult::Uncorrectable };
            self.flash.note_read(PhysRead { lpn, ppn: FROM_BUFFER, cause: Cause::Host, result, fill: false });
            return slot.below;
        }
        let lost = self.ftl.is_lost(lpn) && !self.bugs.has(Bug::LostForgotten);
        let result = if lost { ReadResult::Uncorrectable } else { ReadResult::Good };
        self.flash.note_read(PhysRead { lpn, ppn: NO_PPN, cause: Cause::Host, result, fill: false });
        if lost {
            self.uncorrectable_reads += 1;
            self.host.unmapped_read_pages += u64::from(planted(Bug::LostReadUnmapped));
        } else {
            self.host.unmapped_read_pages += 1;
        }
        NO_PPN
    }

    /// Tells the observer of requests before they are submitted, and numbers them.
    pub(crate) fn announce(&mut self, requests: &[Request]) {
        if requests.is_empty() {
            return;
        }
        let first = self.announced;
        self.announced += requests.len() as u64;
        self.flash.tell(|o| o.requests(first, requests));
    }

    /// Requests announced so far: the number of the next one. Of those at hand and not yet submitted the first has this number less theirs.
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Tells the observer of anything but reads.
    pub(crate) fn tell(&mut self, event: impl FnOnce(&mut dyn Observer)) {
        self.flash.tell(event);
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.flash.is_watched()
    }

    pub(crate) fn observer_wants_time(&self) -> bool {
        self.flash.watch.wants_time()
    }

    /// Pages that the write buffer may hold while they are programmed; none where it is off.
    pub(crate) fn buffer_slots(&self) -> u32 {
        self.ftl.buffer_slots
    }

    /// Programs all wordlines that pages wait for.
    pub(crate) fn pad_streams(&mut self) {
        let (flash, ftl, mut slots) = self.parts();
        ftl.pad_streams(flash, &mut slots);
    }

    /// A deferred job, unless it is done.
    pub(crate) fn job(&self, job: JobRef) -> Option<&Job> {
        self.ftl.job(job)
    }

    /// Moves the next page of a deferred job; false when there was none left and the job is gone.
    pub(crate) fn step_job(&mut self, job: JobRef) -> bool {
        let (flash, ftl, mut slots) = self.parts();
        ftl.step_job(flash, &mut slots, job)
    }

    /// What a policy may see, and the policy, apart.
    pub(crate) fn policy_and_view(&mut self) -> (&mut dyn Policy, View<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        (self.policy.as_mut(), View::of(&self.flash, self.ftl.away(&self.flash), told))
    }

    /// The flash, the controller, and what that may ask of the techniques.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut Flash, &mut Ftl, Slots<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        (&mut self.flash, &mut self.ftl, Slots::new(self.policy.as_mut(), self.gc.as_mut(), told, self.now))
    }
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
        drive.write_page(5, u64::MAX);
        assert_eq!([5, 6].map(|lpn| drive.read_page(lpn)), [FROM_BUFFER, NO_PPN]);
        assert_eq!(drive.host.unmapped_read_pages, 1);
    }
}
