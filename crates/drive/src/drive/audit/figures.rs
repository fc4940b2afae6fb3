//! Facts about a drive for its caller: its parts, and its counts since the beginning of the
//! measured phase.

use crate::base::codings::FASTER;
use crate::base::geometry::Geometry;
use crate::base::latency::AccessLatency;
use crate::base::metrics::{FlashCounts, HostCounts, ParityCounts, ReclaimCounts, RefreshCounts};
use crate::base::thinned::Thinned;
use crate::base::units::{BlockId, Bytes, Cause, Ns};
use crate::base::window::Window;
use crate::config::DriveConfig;
use crate::drive::Drive;
use crate::drive::audit::blame::BlamedRange;
use crate::error::expected::Expected;
use crate::flash::block::BlockCold;
use crate::flash::erasures::Erasure;
use crate::ftl::lifetime::Lifetime;
use crate::ftl::retire::TakenByFailures;
use crate::watch::observer::Event;

impl Drive {
    /// Begins the measured phase. Every count starts at 0, and the state stays.
    pub fn begin_measurement(&mut self) {
        self.facts.host_reads_before += self.host.read_pages;
        self.facts.host_writes_before += self.host.write_pages;
        self.own_counts_before = self.policy.ask("counts", |policy| policy.counts());
        self.host = HostCounts::default();
        self.flash.begin_measurement();
        self.ftl.reclaim = ReclaimCounts::default();
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
        self.flash.tell(Event::MeasuredPhase);
    }

    /// Begins to log the erases of the measured phase. The log keeps at most `most` erases, evenly
    /// spaced.
    pub fn keep_erasures(&mut self, most: usize) {
        self.flash.erasures = Some(Box::new(Thinned::new(most)));
    }

    /// Returns the log of erases; `None` unless [`Self::keep_erasures`] asked for it.
    pub fn erasures(&self) -> Option<&Thinned<Erasure>> {
        self.flash.erasures.as_deref()
    }

    /// Skips this number of P/E cycles of the whole drive, as if they had passed. A block takes
    /// them over at its next erase: its limits and its wear then count them. Wear levelling and the
    /// choice of blocks go on as before, because they compare erases.
    pub fn skip_cycles(&mut self, cycles: u32) {
        self.flash.skipped += cycles;
        self.flash.tell(Event::CyclesSkipped { cycles });
    }

    /// Returns the number of P/E cycles of the mean block, including wear by reprogramming. Skipped
    /// cycles count for every block, also for blocks that have not taken them over.
    pub fn mean_cycles(&self) -> f64 {
        let (_, cold) = self.flash.blocks();
        let milli: u64 = cold.iter().map(BlockCold::erased_milli).sum();
        f64::from(self.flash.skipped) + milli as f64 / 1e3 / cold.len() as f64
    }

    /// Returns whether the policy moves blocks for other reasons than their own alarms. Such a move
    /// has no deadline.
    pub fn moves_without_alarm(&self) -> bool {
        self.policy.ask("moves_without_alarm", |policy| policy.moves_without_alarm())
    }

    /// Returns the resolved configuration.
    pub fn config(&self) -> &DriveConfig {
        &self.config
    }

    /// Returns the geometry.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the counts of the host's requests since the beginning of the measured phase.
    pub fn host_counts(&self) -> &HostCounts {
        &self.host
    }

    /// Returns the flash operations by cause since the beginning of the measured phase.
    pub fn flash_counts(&self) -> &FlashCounts {
        &self.flash.counts
    }

    /// Returns the counts of read reclaim since the beginning of the measured phase.
    pub fn reclaim_counts(&self) -> &ReclaimCounts {
        &self.ftl.reclaim
    }

    /// Returns the counts of parity since the beginning of the measured phase.
    pub fn parity_counts(&self) -> &ParityCounts {
        &self.ftl.parity
    }

    /// Returns the number of stripes without parity because too many of their pages could not be
    /// read.
    pub fn unprotected_stripes(&self) -> u64 {
        self.ftl.unprotected_stripes()
    }

    /// Returns for how many host writes, and how long, parity on flash was outdated since the
    /// beginning of the measured phase. Returns `None` if each write programs its parity.
    pub fn parity_window(&self) -> Option<Window> {
        self.ftl.partial.is_on().then(|| self.ftl.partial.window.at(self.flash.now))
    }

    /// Returns for how many host writes, and how long, stripes waited for parity because of a worn
    /// block, since the beginning of the measured phase. Returns `None` if parity does not depend
    /// on wear.
    pub fn forming_window(&self) -> Option<Window> {
        self.ftl.worn.is_on().then(|| self.ftl.worn.window.at(self.flash.now))
    }

    /// Returns the stages of the drive's life; `None` if its parity has no stages.
    pub fn lifetime(&self) -> Option<&Lifetime> {
        Some(&self.ftl.worn.lifetime).filter(|lifetime| lifetime.last().is_some())
    }

    /// Returns the number of pages of partial parity that the controller can keep.
    pub fn parity_cache_pages(&self) -> u32 {
        self.ftl.partial.pages as u32
    }

    /// Returns the counts of data refresh since the beginning of the measured phase.
    pub fn refresh_counts(&self) -> &RefreshCounts {
        &self.ftl.refresh
    }

    /// Returns the technique's own counts by name, since the beginning of the measured phase.
    pub fn technique_counts(&self) -> Vec<(&'static str, u64)> {
        let before = |name| {
            self.own_counts_before.iter().find(|(n, _)| *n == name).map_or(0, |(_, count)| *count)
        };
        let counts = self.policy.ask("counts", |policy| policy.counts());
        counts.into_iter().map(|(name, count)| (name, count - before(name))).collect()
    }

    /// Returns the number of host reads that the drive answered with an error.
    pub fn uncorrectable_reads(&self) -> u64 {
        self.uncorrectable_reads
    }

    /// Returns the number of pages of host data that the drive reported lost.
    pub fn lost_pages(&self) -> u64 {
        self.ftl.lost_pages
    }

    /// Returns the largest number of retries of a read; `None` if reads disturb nothing.
    pub fn max_retries(&self) -> Option<u8> {
        self.flash.max_retries()
    }

    /// Returns the number of pages read from flash for the host since the beginning of the measured
    /// phase, without fill reads.
    pub fn host_page_reads(&self) -> u64 {
        self.flash_counts().reads[Cause::Host as usize]
            .saturating_sub(self.host_counts().fill_reads)
    }

    /// Returns the expected number of codewords that these reads lost. Returns `None` if data has
    /// no error rate or the codeword is unknown.
    pub fn lost_codewords(&self) -> Option<f64> {
        self.flash.draws.lost_of(self.host_page_reads())
    }

    /// Returns expected numbers for all reads of the drive's flash, for any cause, if parity raises
    /// their limits; otherwise `None`.
    pub fn expected(&self) -> Option<Expected> {
        self.flash.expected()
    }

    /// Returns the number of wordline groups for which techniques count with more retries than
    /// `reclaim.retries`, at the starting P/E count.
    pub fn budget_raised(&self) -> u32 {
        self.flash.limits().map_or(0, |limits| {
            limits.budget_raised(AccessLatency::Smallest, self.config.start.pec)
        })
    }

    /// Returns the number of lost pages that were lost by age. They were older than
    /// `error.longest_age` or than refresh allows, or age alone exceeded the limit of their last
    /// retry.
    pub fn lost_by_age(&self) -> u64 {
        self.ftl.lost_by_age
    }

    /// Returns the simulated time that the drive knows. In the untimed gear, it is 0 unless the
    /// drive must know the time.
    pub fn now(&self) -> Ns {
        self.flash.now
    }

    /// Returns whether the drive was made for the timed gear.
    pub fn is_timed(&self) -> bool {
        self.flash.timed
    }

    /// Returns the RAM that the reclaim, refresh and parity techniques would need in a real
    /// controller, including the levels of `ecc.start_from_last`.
    pub fn controller_ram(&self) -> Bytes {
        let (method, geometry) = ("controller_ram", &self.geometry);
        let of_techniques = [
            self.policy.ask(method, |policy| policy.controller_ram(geometry)),
            self.refresh.ask(method, |refresh| refresh.controller_ram(geometry)),
            self.parity.ask(method, |parity| parity.controller_ram(geometry)),
        ];
        let levels = self.config.ecc.level_bytes(geometry.blocks);
        Bytes(of_techniques.iter().map(|ram| ram.0).sum::<u64>() + levels.0)
    }

    /// Returns whether the refresh technique merges wordlines in place.
    pub fn adjusts(&self) -> bool {
        self.ftl.adjusting.is_some()
    }

    /// Returns the number of blocks with merged wordlines. Also returns how many fewer blocks the
    /// same data would need without merging.
    pub fn adjusted_blocks(&self) -> (u32, f64) {
        let is_adjusted =
            |block: &BlockId| self.flash.recoded.of(*block).iter().any(|coding| *coding >= FASTER);
        let valid = |block: BlockId| u32::from(self.flash.hot(block).valid);
        let (blocks, pages) = self
            .geometry
            .block_ids()
            .filter(is_adjusted)
            .fold((0, 0), |(n, pages), block| (n + 1, pages + valid(block)));
        (blocks, f64::from(blocks) - f64::from(pages) / f64::from(self.geometry.pages_per_block))
    }

    /// Returns the number of reads that a block may still serve between its alarm and the end of
    /// its job (`R_late`), as policies see it.
    pub fn late_reads(&self) -> u32 {
        self.facts.late_reads
    }

    /// Returns the purpose of each stream and its number of open blocks.
    pub fn stream_widths(&self) -> Vec<(&'static str, u32)> {
        self.ftl.streams.widths()
    }

    /// Returns the ranges whose reads caused reclaim copies, by address, since the beginning of the
    /// measured phase.
    pub fn blamed_ranges(&self) -> impl Iterator<Item = BlamedRange> + '_ {
        self.blame.ranges()
    }
}
