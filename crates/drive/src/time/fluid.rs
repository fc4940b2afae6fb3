//! Fluid gear, for runs of years. Writes are served one by one at their times, and reads come in
//! bulk between their effects (`flash/fluid.rs`). The cost of a simulated second depends on its
//! writes and on how often blocks are checked, not on its reads.

use super::{Progress, RunError, before_the_end, check_arrivals};
use crate::base::daily::DailyHours;
use crate::base::rates::ReadRates;
use crate::base::request::{Op, Request, RequestSource};
use crate::base::span::SECOND;
use crate::base::units::{Lpn, Lpns, Ns};
use crate::drive::Drive;
use crate::flash::count::BLOCKS;
use crate::flash::fluid::absent::Kind;
use crate::watch::observer::Event;

/// Workload whose reads are known as rates.
pub trait FluidSource {
    /// Returns the rates of the host's reads from this time on, and the time until which they hold.
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns);

    /// Returns the changes at the end of the current rates, as pages with their new reads per
    /// second, each page once. Also returns the time until which these hold. Returns `None` if
    /// [`Self::rates`] gives all rates again.
    fn changes(&mut self, _from: Ns, _pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        None
    }

    /// Returns the hours of each day in which the host reads. The rates hold in these hours.
    fn hours(&self) -> DailyHours {
        DailyHours::ALWAYS
    }

    /// Returns the other requests of the host in order of time: writes and trims.
    fn writes(&mut self) -> &mut dyn RequestSource;
}

/// Number of writes taken from the source at a time.
const CHUNK: usize = 1024;
/// Number of writes for which data is prefetched ahead. A map entry is prefetched twice this number
/// of writes ahead, and the memory that it leads to this number ahead.
const AHEAD: usize = 16;
/// Time between two blocks that are regrouped by hints, if no other event comes.
const REGROUP_EVERY: Ns = SECOND;
/// Number of checks of blocks between two reports of progress.
const LOOKS: u32 = 256;

/// Run in the fluid gear.
pub struct FluidRun {
    /// Time until which the rates hold.
    rates_end: Ns,
    requests_per_page: f64,
    bytes_per_page: f64,
    /// Number of pages read since the rates changed, and the counted requests and bytes of these
    /// reads.
    pages: u64,
    requests: u64,
    bytes: u64,
    /// Writes taken from the source, and the number of them that are served.
    writes: Vec<Request>,
    done: usize,
    is_at_end: bool,
    looks: u32,
    /// Time at which the next block is regrouped by hints; `Ns::MAX` if no block is left.
    regroup_at: Ns,
    /// Pages whose rates change now.
    changes: Vec<(Lpn, f32)>,
}

impl FluidRun {
    /// Begins reads at the drive's time. Their random draws follow from the seed.
    pub fn begin(drive: &mut Drive, source: &mut dyn FluidSource, seed: u64) -> Self {
        let (rates, rates_end) = source.rates(drive.now());
        let (requests_per_page, bytes_per_page) = (rates.requests_per_page, rates.bytes_per_page);
        let hinted = drive.hints.as_ref().map(|hints| hints.hinted.clone());
        let before = drive.host.read_pages;
        let host = (rates, source.hours());
        drive.flash.begin_fluid(host, (hinted, drive.hears_retries), (seed, before));
        drive.count_all_absent();
        Self {
            rates_end,
            requests_per_page,
            bytes_per_page,
            pages: 0,
            requests: 0,
            bytes: 0,
            writes: Vec::with_capacity(CHUNK),
            done: 0,
            is_at_end: false,
            looks: 0,
            regroup_at: drive.now(),
            changes: vec![],
        }
    }

    /// Continues the run until this time. `progress` gets the time in nanoseconds.
    ///
    /// # Errors
    /// Returns the error of the workload, or an interruption.
    pub fn go_on(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn FluidSource,
        until: Ns,
        progress: Progress,
    ) -> Result<(), RunError> {
        before_the_end("a run ends", until)?;
        loop {
            self.refill(source)?;
            let part = self.writes[self.done..].partition_point(|write| write.at < until);
            if part == 0 {
                break;
            }
            let writes = std::mem::take(&mut self.writes);
            let served = self.serve(drive, source, &writes[self.done..self.done + part], progress);
            self.writes = writes;
            self.done += part;
            served?;
        }
        drive.flash.tell(Event::QuietUntil { at: until });
        self.pass_time(drive, source, until, progress)?;
        self.count(drive);
        say(drive, progress)
    }

    /// Draws and counts all reads up to the drive's time.
    pub fn draw(&mut self, drive: &mut Drive) {
        drive.flash.draw_all();
        self.serve_owed(drive);
        self.count(drive);
    }

    /// Draws all reads up to the drive's time. No more reads come.
    pub fn end(mut self, drive: &mut Drive) {
        // Drawn reads are counted in the flash, which forgets them with its rates.
        self.draw(drive);
        // The clock of techniques used the expected reads, and must never go back.
        let in_the_mean = drive.flash.host_reads(drive.host.read_pages);
        drive.facts.host_reads_before += in_the_mean.saturating_sub(drive.host.read_pages);
        drive.flash.end_fluid();
    }

    fn refill(&mut self, source: &mut dyn FluidSource) -> Result<(), RunError> {
        if self.done < self.writes.len() || self.is_at_end {
            return Ok(());
        }
        (self.done, self.is_at_end) = (0, false);
        self.writes.clear();
        source.writes().fill(&mut self.writes, CHUNK).map_err(RunError::Source)?;
        self.is_at_end = self.writes.is_empty();
        check_arrivals(&self.writes)
    }

    fn serve(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn FluidSource,
        writes: &[Request],
        progress: Progress,
    ) -> Result<(), RunError> {
        drive.announce(writes);
        drive.regroup();
        let shift = drive.geometry.page_shift();
        for (n, write) in writes.iter().enumerate() {
            if let Some(later) = writes.get(n + 2 * AHEAD) {
                drive.prefetch_map_of(later, shift);
            }
            if let Some(soon) = writes.get(n + AHEAD) {
                drive.prefetch_behind_map::<BLOCKS>(soon, shift);
            }
            self.pass_time(drive, source, write.at, progress)?;
            assert!(write.op != Op::Read, "reads come as rates");
            count_without_data(drive, write, -1.0);
            drive.writing = drive.announced() - (writes.len() - n) as u64;
            drive.serve_one::<BLOCKS, false>(write);
            count_without_data(drive, write, 1.0);
            self.serve_owed(drive);
        }
        self.count(drive);
        say(drive, progress)
    }

    /// Advances time, with all effects of reads and age on the way.
    #[inline]
    fn pass_time(
        &mut self,
        drive: &mut Drive,
        source: &mut dyn FluidSource,
        until: Ns,
        progress: Progress,
    ) -> Result<(), RunError> {
        while self.next_event(drive) <= until {
            self.happen(drive, source);
            self.looks += 1;
            if self.looks.is_multiple_of(LOOKS) {
                self.count(drive);
                say(drive, progress)?;
            }
        }
        drive.flash.now = until.max(drive.now());
        Ok(())
    }

    #[inline]
    fn next_event(&self, drive: &Drive) -> Ns {
        drive.next_wake().min(drive.flash.next_bulk()).min(self.rates_end).min(self.regroup_at)
    }

    /// Executes the next event.
    fn happen(&mut self, drive: &mut Drive, source: &mut dyn FluidSource) {
        drive.flash.now = self.next_event(drive).max(drive.now());
        let now = drive.now();
        if self.rates_end <= now {
            self.change_rates(drive, source);
        } else if drive.next_wake() <= now {
            drive.wake();
        } else {
            drive.flash.look_at_due();
        }
        self.regroup_at = if drive.regroup() { now + REGROUP_EVERY } else { Ns::MAX };
        self.serve_owed(drive);
    }

    /// Serves the reads that must be served by themselves, until their effects leave no other such
    /// read. Then alarms are drawn again.
    #[inline]
    fn serve_owed(&mut self, drive: &mut Drive) {
        loop {
            while let Some(lpn) = drive.flash.owed_read() {
                self.pages += 1;
                if let Some(hints) = &mut drive.hints {
                    hints.read(lpn);
                }
                let ppn = drive.read_page(lpn);
                drive.flash.served_from(ppn);
            }
            drive.flash.plan_touched();
            drive.settle_lost();
            if !drive.flash.owes_reads() {
                return;
            }
        }
    }

    /// Changes the rates of the host's reads.
    fn change_rates(&mut self, drive: &mut Drive, source: &mut dyn FluidSource) {
        let now = drive.now();
        if let Some(end) = source.changes(now, &mut self.changes) {
            self.rates_end = end;
            for (lpn, rate) in self.changes.drain(..) {
                drive.set_read_rate(lpn, rate);
            }
            return;
        }
        drive.flash.draw_all();
        self.serve_owed(drive);
        self.count(drive);
        let (rates, end) = source.rates(now);
        (self.requests_per_page, self.bytes_per_page, self.rates_end) =
            (rates.requests_per_page, rates.bytes_per_page, end);
        (self.pages, self.requests, self.bytes) = (0, 0, 0);
        drive.flash.set_rates(rates);
        drive.count_all_absent();
    }

    /// Counts the requests of the pages that were read.
    fn count(&mut self, drive: &mut Drive) {
        let off_flash = drive.flash.draw_absent();
        let drawn = drive.flash.take_served() + off_flash.sum();
        self.pages += drawn;
        drive.host.read_pages += drawn;
        drive.host.unmapped_read_pages += off_flash.without_data;
        drive.uncorrectable_reads += off_flash.lost;
        if let (Some(hints), Some(words)) = (&mut drive.hints, drive.flash.take_words()) {
            hints.read_in_bulk(words);
        }
        let so_far = |each: f64| (self.pages as f64 * each).round() as u64;
        let (requests, bytes) = (so_far(self.requests_per_page), so_far(self.bytes_per_page));
        drive.host.read_requests += requests - self.requests;
        drive.host.read_bytes += bytes - self.bytes;
        (self.requests, self.bytes) = (requests, bytes);
    }
}

/// Adds the reads of those pages of a request that hold nothing, or removes them, according to
/// `sign`.
fn count_without_data(drive: &mut Drive, request: &Request, sign: f64) {
    let shift = drive.geometry.page_shift();
    let first = Lpn::holding(request.offset, shift);
    let end = Lpn::holding(request.offset + u64::from(request.bytes) - 1, shift) + 1;
    for lpn in (Lpns { start: first, end }) {
        if drive.holds_nothing(lpn) {
            drive.flash.change_absent(Kind::WithoutData, lpn, sign);
        }
    }
}

fn say(drive: &Drive, progress: Progress) -> Result<(), RunError> {
    if progress(drive.now(), drive) { Ok(()) } else { Err(RunError::Interrupted) }
}
