//! The drive: flash, controller and techniques meet here. A pure state machine; who drives it
//! (untimed, timed, a test) decides when.
//!
//! The read path is `read`. What a read may set off begins in `alarm`, what a write does in
//! `write`.

mod ageing;
mod alarm;
mod assemble;
pub mod audit;
mod background_rebuild;
mod delayed;
pub mod failing;
mod forming;
mod memory;
mod read;
mod regroup;
mod repair;
pub mod start;
mod striped;
mod write;

pub(crate) use read::on_read_path;

use std::any::Any;

use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::metrics::HostCounts;
use crate::base::request::Request;
use crate::base::units::BlockId;
use crate::bugs::Bugs;
use crate::config::DriveConfig;
use crate::drive::audit::blame::Blame;
use crate::drive::failing::Failing;
use crate::drive::start::reads::StartReads;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::job::{Job, JobRef};
pub use crate::ftl::lifetime::{Beginning, Lifetime, Stage};
use crate::hints::HintBooks;
use crate::slots::gc::GcPolicy;
use crate::slots::parity::{NO_PARITY, Parity};
use crate::slots::reclaim::{Policy, View};
use crate::slots::refresh::{NO_REFRESH, Refresh};
use crate::slots::{Facts, Slots, Told};
use crate::watch::observer::Observer;
use regroup::Regroup;

/// Chooses the techniques of a run.
#[derive(Clone, Debug)]
pub struct Techniques {
    /// Reclaim technique by name.
    pub reclaim: String,
    /// GC policy by name.
    pub gc: String,
    /// Refresh technique by name.
    pub refresh: String,
    /// Parity technique by name.
    pub parity: String,
    /// Seed of what a technique draws by chance; the workload's chance has none of it.
    pub seed: u64,
}

impl Default for Techniques {
    fn default() -> Self {
        Self {
            reclaim: "block".into(),
            gc: "greedy".into(),
            refresh: NO_REFRESH.into(),
            parity: NO_PARITY.into(),
            seed: 0,
        }
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
    pub(crate) refresh: Box<dyn Refresh>,
    pub(crate) parity: Box<dyn Parity>,
    pub(crate) facts: Facts,
    pub(crate) host: HostCounts,
    /// What the technique had counted before the measured phase.
    own_counts_before: Vec<(&'static str, u64)>,
    pub(crate) blame: Blame,
    pub(crate) uncorrectable_reads: u64,
    /// What the host says of its data, and what is counted by it; none where it says nothing.
    pub(crate) hints: Option<HintBooks>,
    /// Whether somebody wants to know of reads that took retries.
    pub(crate) hears_retries: bool,
    /// Data that lies among tighter data is moved in the background, where it is.
    regroup: Option<Regroup>,
    /// Pages of the longest request that the write buffer keeps, where it keeps those of a stripe
    /// together.
    pub(crate) longest_cached: Option<u32>,
    pub(crate) bugs: Bugs,
    /// Failures, and whether any is to come, or what was lost to one is being rebuilt.
    failing: Failing,
    attention: bool,
    /// Requests that the observer was told of; the number of the next one.
    announced: u64,
    /// What `start.reads` came to.
    start_reads: StartReads,
}

impl Drive {
    /// Gives the drive a bug, to see that it is found.
    #[cfg(feature = "seeded-bugs")]
    pub fn seed_bug(&mut self, bug: crate::bugs::Bug) {
        self.bugs.seeded = Some(bug);
        (self.ftl.bugs, self.facts.bugs) = (self.bugs, self.bugs);
        crate::bugs::plant(Some(bug));
        self.flash.seed(self.bugs);
    }

    /// Adds an observer. Each observer hears every event from now on, in the order in which the
    /// observers were added. The oracle must be added before the drive's first operation.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.flash.watch.begin(observer);
    }

    /// Returns the first observer of this type, told of everything so far.
    pub fn observer<T: Observer>(&mut self) -> Option<&mut T> {
        self.flash.watch.find()
    }

    /// Ends the observation of the observer that was added last, and returns it. Further calls
    /// return the others; `None` without an observer.
    pub fn end_observation(&mut self) -> Option<Box<dyn Observer>> {
        self.flash.watch.end()
    }

    /// Ends the observation of the first observer of this type, and returns it. Other observers
    /// stay.
    pub fn end_observation_of<T: Observer>(&mut self) -> Option<Box<T>> {
        let observer: Box<dyn Any> = self.flash.watch.end_of::<T>()?;
        observer.downcast().ok()
    }

    /// Tells the observer of requests before they are submitted, and numbers them.
    pub(crate) fn announce(&mut self, requests: &[Request]) {
        if requests.is_empty() {
            return;
        }
        let first = self.announced;
        self.announced += requests.len() as u64;
        self.flash.tell(|o| o.requests(first, requests));
        if let Some(hints) = &mut self.hints {
            hints.expect(requests, self.host.read_requests);
        }
        self.regroup();
    }

    /// Requests announced so far: the number of the next one. Of those at hand and not yet
    /// submitted the first has this number less theirs.
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

    /// What a policy may see, and the policy, apart; of data without a hint.
    pub(crate) fn policy_and_view(&mut self) -> (&mut dyn Policy, View<'_>) {
        self.policy_and_view_at(BlockId::new(0), AccessLatency::Smallest)
    }

    /// The same where it is asked about a block.
    pub(crate) fn policy_and_view_of(&mut self, block: BlockId) -> (&mut dyn Policy, View<'_>) {
        self.policy_and_view_at(block, self.flash.cold(block).budget)
    }

    fn policy_and_view_at(
        &mut self,
        block: BlockId,
        budget: AccessLatency,
    ) -> (&mut dyn Policy, View<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        (
            self.policy.as_mut(),
            View::of(&self.flash, self.ftl.away(&self.flash, block), told, budget),
        )
    }

    /// The flash, the controller, and what that may ask of the techniques.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut Flash, &mut Ftl, Slots<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        let slots = Slots::new(
            self.policy.as_mut(),
            self.gc.as_mut(),
            self.refresh.as_ref(),
            told,
            self.flash.now,
        );
        (&mut self.flash, &mut self.ftl, slots)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::base::units::Lpn;
    use crate::watch::observer::{FROM_BUFFER, NO_PPN};

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
        let mut drive =
            Drive::new(tiny_config().resolve().unwrap(), &Techniques::default(), false).unwrap();
        drive.write_page(Lpn::new(5), u64::MAX);
        assert_eq!([5, 6].map(|lpn| drive.read_page(Lpn::new(lpn))), [FROM_BUFFER, NO_PPN]);
        assert_eq!(drive.host.unmapped_read_pages, 1);
    }
}
