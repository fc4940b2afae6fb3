//! What a drive tells whoever drives it: what it is made of, and its counts since the measured
//! phase began.

use std::num::NonZeroU32;

use crate::base::codings::FASTER;
use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::metrics::{FlashCounts, HostCounts, ParityCounts, ReclaimCounts, RefreshCounts};
use crate::base::thinned::Thinned;
use crate::base::units::{BlockId, Bytes, Cause, Ns};
use crate::base::window::Window;
use crate::bugs::{Bug, planted};
use crate::config::DriveConfig;
use crate::drive::Drive;
use crate::drive::audit::blame::BlamedRange;
use crate::error::expected::Expected;
use crate::flash::erasures::Erasure;
use crate::ftl::lifetime::Lifetime;
use crate::ftl::retire::TakenByFailures;
use crate::watch::observer::Observer;

impl Drive {
    /// Begins the measured phase: every count starts at zero, state stays.
    pub fn begin_measurement(&mut self) {
        self.facts.host_reads_before += self.host.read_pages;
        self.facts.host_writes_before += self.host.write_pages;
        self.own_counts_before = self.policy.counts();
        self.host = HostCounts::default();
        self.flash.begin_measurement();
        if !planted(Bug::ReclaimFromStart) {
            self.ftl.reclaim = ReclaimCounts::default();
        }
        self.ftl.refresh = RefreshCounts::default();
        self.ftl.parity = ParityCounts::default();
        self.ftl.partial.window.restart(self.flash.now);
        self.ftl.worn.window.restart(self.flash.now);
        self.ftl.worn.lifetime.restart();
        self.blame.clear();
        self.uncorrectable_reads = 0;
        if let Some(hints) = &mut self.hints {
            hints.begin_measurement();
        }
        (self.ftl.lost_pages, self.ftl.lost_by_age) = (0, 0);
        self.ftl.taken = TakenByFailures::default();
        self.flash.acceleration = self.config.wear.acceleration;
        self.flash.tell(Observer::measured_phase);
    }

    /// Logs the erases of the measured phase from now on: at most this many, evenly thinned out.
    pub fn keep_erasures(&mut self, most: usize) {
        self.flash.keep_erasures(most);
    }

    /// Returns the log of erases; `None` unless [`Self::keep_erasures`] asked for it.
    pub fn erasures(&self) -> Option<&Thinned<Erasure>> {
        self.flash.erasures()
    }

    /// From now on an erase counts as so many P/E cycles, except one that levels wear, whatever
    /// `wear.acceleration` says. The thresholds of blocks that hold data stay until the next time
    /// that their technique is asked.
    pub fn accelerate(&mut self, cycles: NonZeroU32) {
        self.flash.acceleration = cycles.get();
        self.flash.tell(|o| o.accelerated(cycles.get()));
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
        self.flash.counts()
    }

    /// Read reclaim, since the measured phase began.
    pub fn reclaim_counts(&self) -> &ReclaimCounts {
        &self.ftl.reclaim
    }

    /// Parity, since the measured phase began.
    pub fn parity_counts(&self) -> &ParityCounts {
        &self.ftl.parity
    }

    /// Stripes without parity, because too much of them could not be read.
    pub fn unprotected_stripes(&self) -> u64 {
        self.ftl.unprotected_stripes()
    }

    /// The time, in writes of the host and of a clock, for which parity on flash lagged behind,
    /// since the measured phase began; none where parity is programmed with each write.
    pub fn parity_window(&self) -> Option<Window> {
        self.ftl.partial.is_on().then(|| self.ftl.partial.window.at(self.flash.now))
    }

    /// The time, in writes of the host and of a clock, for which stripes have waited for parity
    /// that a worn block calls for, since the measured phase began; none where wear has nothing to
    /// do with parity.
    pub fn forming_window(&self) -> Option<Window> {
        self.ftl.worn.is_on().then(|| self.ftl.worn.window.at(self.flash.now))
    }

    /// The stages of the drive's life; none where its parity has none.
    pub fn lifetime(&self) -> Option<&Lifetime> {
        Some(&self.ftl.worn.lifetime).filter(|lifetime| lifetime.last().is_some())
    }

    /// Pages of partial parity that the controller can keep.
    pub fn parity_cache_pages(&self) -> u32 {
        self.ftl.partial.pages as u32
    }

    /// Data refresh, since the measured phase began.
    pub fn refresh_counts(&self) -> &RefreshCounts {
        &self.ftl.refresh
    }

    /// What the technique counts of its own, by name, since the measured phase began.
    pub fn technique_counts(&self) -> Vec<(&'static str, u64)> {
        let before = |name| {
            self.own_counts_before.iter().find(|(n, _)| *n == name).map_or(0, |(_, count)| *count)
        };
        self.policy
            .counts()
            .into_iter()
            .map(|(name, count)| {
                (name, count - if planted(Bug::OwnFromStart) { 0 } else { before(name) })
            })
            .collect()
    }

    /// Host reads that the drive reported as uncorrectable.
    pub fn uncorrectable_reads(&self) -> u64 {
        self.uncorrectable_reads
    }

    /// Pages of host data that the drive reported as lost.
    pub fn lost_pages(&self) -> u64 {
        self.ftl.lost_pages
    }

    /// How often a read of tired data is tried again at most; none where reads disturb nothing.
    pub fn max_retries(&self) -> Option<u8> {
        self.flash.max_retries()
    }

    /// Pages read from flash for the host since the measured phase began, those apart that complete
    /// pages written in part.
    pub fn host_page_reads(&self) -> u64 {
        self.flash_counts().reads[Cause::Host as usize]
            .saturating_sub(self.host_counts().fill_reads)
    }

    /// Codewords that these reads lost on average, by what chance there was; none where data has no
    /// error rate, or no codeword is known.
    pub fn lost_codewords(&self) -> Option<f64> {
        self.flash.lost_codewords(self.host_page_reads())
    }

    /// What chance makes of all reads of the drive's flash, whoever made them, where parity raises
    /// their limits; none elsewhere.
    pub fn expected(&self) -> Option<Expected> {
        self.flash.expected()
    }

    /// Wordline groups on which techniques count with more retries than `reclaim.retries`, at the
    /// P/E count at the start.
    pub fn budget_raised(&self) -> u32 {
        self.flash.limits().map_or(0, |limits| {
            limits.budget_raised(AccessLatency::Smallest, self.config.start.pec)
        })
    }

    /// Those of them that were lost because they were older than `error.longest_age`, or than
    /// refresh lets data become, or because age alone takes more of them than their last retry
    /// decodes.
    pub fn lost_by_age(&self) -> u64 {
        self.ftl.lost_by_age
    }

    /// Simulated time, as far as the drive has been told; 0 in the untimed gear but of a drive that
    /// keeps time.
    pub fn now(&self) -> Ns {
        self.flash.now
    }

    /// Whether it was made for the timed gear.
    pub fn is_timed(&self) -> bool {
        self.flash.is_timed()
    }

    /// RAM that the reclaim, refresh and parity techniques would take in a real controller, and the
    /// levels of `ecc.start_from_last`.
    pub fn controller_ram(&self) -> Bytes {
        let levels = self.config.ecc.level_bytes(self.geometry.blocks);
        Bytes(
            self.policy.controller_ram(&self.geometry).0
                + self.refresh.controller_ram(&self.geometry).0
                + self.parity.controller_ram(&self.geometry).0
                + levels.0,
        )
    }

    /// Whether the refresh technique adjusts wordlines in place.
    pub fn adjusts(&self) -> bool {
        self.ftl.adjusting.is_some()
    }

    /// Blocks with wordlines that were adjusted, and how many of them the same data would do
    /// without.
    pub fn adjusted_blocks(&self) -> (u32, f64) {
        let is_adjusted = |block: &BlockId| {
            self.flash.recoded().of(*block).iter().any(|coding| *coding >= FASTER)
        };
        let valid = |block: BlockId| u32::from(self.flash.hot(block).valid);
        let (blocks, pages) = self
            .geometry
            .block_ids()
            .filter(is_adjusted)
            .fold((0, 0), |(n, pages), block| (n + 1, pages + valid(block)));
        (blocks, f64::from(blocks) - f64::from(pages) / f64::from(self.geometry.pages_per_block))
    }

    /// Reads that a block may still serve between its alarm and the end of its job (`R_late`), as
    /// policies are told.
    pub fn late_reads(&self) -> u32 {
        self.facts.late_reads
    }

    /// Open blocks of each stream: (purpose, width).
    pub fn stream_widths(&self) -> Vec<(&'static str, u32)> {
        self.ftl.stream_widths()
    }

    /// The ranges whose reads caused reclaim copies, by address, since the measured phase began.
    pub fn blamed_ranges(&self) -> impl Iterator<Item = BlamedRange> + '_ {
        self.blame.ranges()
    }
}
