//! Drive: combines flash, controller and techniques. It is a pure state machine. Its caller
//! (untimed gear, timed gear or a test) decides when events happen.
//!
//! The read path is in `read`. The consequences of a read are in `alarm`, and those of a write in
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

use crate::api::asked::Asked;
use crate::api::gc::{GcPolicy, GcTechnique};
use crate::api::parity::{Parity, ParityTechnique};
use crate::api::reclaim::{Policy, Technique, View};
use crate::api::refresh::{Refresh, RefreshTechnique};
use crate::api::{Context, Facts, Told};
use crate::base::geometry::Geometry;
use crate::base::metrics::HostCounts;
use crate::base::request::Request;
use crate::base::units::BlockId;
use crate::config::DriveConfig;
use crate::drive::audit::blame::Blame;
use crate::drive::failing::Failing;
use crate::drive::start::reads::StartReads;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ftl::job::JobRef;
pub use crate::ftl::lifetime::{Beginning, Lifetime, Stage};
use crate::hint_counts::HintBooks;
use crate::watch::observer::{Event, Observer};
use regroup::Regroup;

/// Techniques of a run.
#[derive(Clone, Copy, Debug)]
pub struct Techniques {
    /// Reclaim technique.
    pub reclaim: &'static Technique,
    /// GC policy.
    pub gc: &'static GcTechnique,
    /// Refresh technique.
    pub refresh: &'static RefreshTechnique,
    /// Parity technique.
    pub parity: &'static ParityTechnique,
    /// Seed of the random numbers of techniques. The workload has its own random numbers.
    pub seed: u64,
}

/// Simulated drive.
pub struct Drive {
    pub(crate) config: DriveConfig,
    pub(crate) geometry: Geometry,
    pub(crate) flash: Flash,
    pub(crate) ftl: Ftl,
    pub(crate) gc: Asked<dyn GcPolicy>,
    pub(crate) policy: Asked<dyn Policy>,
    pub(crate) refresh: Asked<dyn Refresh>,
    pub(crate) parity: Asked<dyn Parity>,
    pub(crate) facts: Facts,
    pub(crate) host: HostCounts,
    /// Counts of the technique before the measured phase.
    own_counts_before: Vec<(&'static str, u64)>,
    pub(crate) blame: Blame,
    pub(crate) uncorrectable_reads: u64,
    /// Hints of the host, and counts by hint; `None` without hints.
    pub(crate) hints: Option<HintBooks>,
    /// Whether the policy must know of reads that took retries.
    pub(crate) hears_retries: bool,
    /// Regrouping of data that lies among data with stricter hints, in the background; `None` if it
    /// is off.
    regroup: Option<Regroup>,
    /// Largest number of pages of a request that the write buffer keeps, if it keeps the pages of a
    /// stripe together.
    pub(crate) longest_cached: Option<u32>,
    /// Injected failures. `attention` is true while a failure is still to come, or lost pages are
    /// being rebuilt.
    failing: Failing,
    attention: bool,
    /// Number of requests that the observer has received, which is the number of the next request.
    announced: u64,
    /// Number of the request whose pages are being written. Before a series of requests without
    /// time, the number of its first request.
    pub(crate) writing: u64,
    /// Effect of `start.reads`.
    start_reads: StartReads,
}

impl Drive {
    /// Adds an observer. From now on, each observer gets every event, in the order in which the
    /// observers were added. The oracle must be added before the drive's first operation.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.flash.watch.begin(observer);
    }

    /// Returns the first observer of this type. It has received all events so far.
    pub fn observer<T: Observer>(&mut self) -> Option<&mut T> {
        self.flash.watch.find()
    }

    /// Ends the observation of the observer that was added last, and returns this observer. Further
    /// calls return the other observers; `None` without an observer.
    pub fn end_observation(&mut self) -> Option<Box<dyn Observer>> {
        self.flash.watch.end()
    }

    /// Ends the observation of the first observer of this type, and returns this observer. Other
    /// observers stay.
    pub fn end_observation_of<T: Observer>(&mut self) -> Option<Box<T>> {
        let observer: Box<dyn Any> = self.flash.watch.end_of::<T>()?;
        observer.downcast().ok()
    }

    /// Passes requests to the observer before they are submitted, and numbers them.
    pub(crate) fn announce(&mut self, requests: &[Request]) {
        if requests.is_empty() {
            return;
        }
        let first = self.announced;
        self.announced += requests.len() as u64;
        self.flash.tell(Event::Requests { first, requests });
        if let Some(hints) = &mut self.hints {
            hints.expect(requests, self.host.read_requests);
        }
    }

    /// Returns the number of requests announced so far, which is the number of the next request.
    /// The first announced request that is not yet submitted has this number minus the number of
    /// such requests.
    pub fn announced(&self) -> u64 {
        self.announced
    }

    /// Programs all wordlines for which pages wait.
    pub(crate) fn pad_streams(&mut self) {
        let (ftl, mut cx) = self.parts();
        ftl.pad_streams(&mut cx);
    }

    /// Moves the next page of a deferred job. Returns false if no page was left and the job has
    /// ended.
    pub(crate) fn step_job(&mut self, job: JobRef) -> bool {
        let (ftl, mut cx) = self.parts();
        ftl.step_job(&mut cx, job)
    }

    /// Returns the policy, and the state that it may see, for a question about a block.
    pub(crate) fn policy_and_view_of(
        &mut self,
        block: BlockId,
    ) -> (&mut Asked<dyn Policy>, View<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        let (budget, away) = (self.flash.cold(block).budget, self.ftl.away(&self.flash, block));
        (&mut self.policy, View::of(&self.flash, away, told, budget))
    }

    /// Returns the controller, and the flash with the questions that the controller may ask
    /// techniques.
    #[inline]
    pub(crate) fn parts(&mut self) -> (&mut Ftl, Context<'_>) {
        let told = Told { config: &self.config, facts: &self.facts, host: &self.host };
        let Self { policy, gc, refresh, flash, ftl, .. } = self;
        (ftl, Context { flash, reclaim: policy, gc, refresh, told })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::base::units::Lpn;
    use crate::testing::fakes;
    use crate::watch::observer::{FROM_BUFFER, NO_PPN};

    /// Returns a small drive of 4 dies for tests: 40 blocks of 24 pages (8 wordlines TLC), with
    /// pages of 16 KiB.
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
        let mut drive = Drive::new(tiny_config().resolve().unwrap(), &fakes(), false).unwrap();
        drive.write_page(Lpn::new(5), u64::MAX);
        assert_eq!([5, 6].map(|lpn| drive.read_page(Lpn::new(lpn))), [FROM_BUFFER, NO_PPN]);
        assert_eq!(drive.host.unmapped_read_pages, 1);
    }
}
