//! The gear for years: writes are served one by one at their times, reads come in bulk between what
//! they lead to (`flash/fluid.rs`). A simulated second costs what is written in it and how often a
//! block is looked at, and not what is read.

use super::{Progress, RunError, before_the_end, check_arrivals};
use crate::base::rates::ReadRates;
use crate::base::request::{Op, Request, RequestSource};
use crate::base::span::SECOND;
use crate::base::units::{Lpn, Ns};
use crate::drive::Drive;
use crate::flash::count::BLOCKS;

/// A workload whose reads are known as rates.
pub trait FluidSource {
    /// How the host reads from this time on, and until when.
    fn rates(&mut self, from: Ns) -> (ReadRates, Ns);

    /// What changes at the time until when the rates so far hold: pages, each once, with their
    /// reads a second from then on; and until when that holds. None where [`Self::rates`] says anew
    /// how the host reads.
    fn changes(&mut self, _from: Ns, _pages: &mut Vec<(Lpn, f32)>) -> Option<Ns> {
        None
    }

    /// What else the host asks for, in order of time: writes and trims.
    fn writes(&mut self) -> &mut dyn RequestSource;
}

/// Writes taken from the source at a time.
const CHUNK: usize = 1024;
/// A map entry is asked for while twice so many writes before it are served, what that leads to
/// while so many are.
const AHEAD: usize = 16;
/// Between two blocks that are regrouped by hints, where nothing else happens.
const REGROUP_EVERY: Ns = SECOND;
/// Looks at blocks between two words about how far the run is.
const LOOKS: u32 = 256;

/// A run in this gear.
pub struct FluidRun {
    /// Until when the rates hold.
    rates_end: Ns,
    requests_per_page: f64,
    bytes_per_page: f64,
    /// Pages read since the rates changed, and requests and bytes of them that are counted.
    pages: u64,
    requests: u64,
    bytes: u64,
    /// Writes at hand, and how many of them are served.
    writes: Vec<Request>,
    done: usize,
    is_at_end: bool,
    looks: u32,
    /// When the next block is regrouped by hints; never where none is left.
    regroup_at: Ns,
    /// Pages that are read at another rate from now on.
    changes: Vec<(Lpn, f32)>,
}

impl FluidRun {
    /// Reads begin to come, at the drive's time; what they draw by chance follows from the seed.
    pub fn begin(drive: &mut Drive, source: &mut dyn FluidSource, seed: u64) -> Self {
        let (rates, rates_end) = source.rates(drive.now());
        let (requests_per_page, bytes_per_page) = (rates.requests_per_page, rates.bytes_per_page);
        let hinted = drive.hints.as_ref().map(|hints| hints.hinted.clone());
        let before = drive.host.read_pages;
        drive.flash.begin_fluid(rates, (hinted, drive.hears_retries), (seed, before));
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

    /// Goes on until this time. `progress` hears the time, in nanoseconds.
    ///
    /// # Errors
    /// The workload's, or an interruption.
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
        drive.tell(|o| o.quiet_until(until));
        self.pass_time(drive, source, until, progress)?;
        self.count(drive);
        say(drive, progress)
    }

    /// Draws all reads up to the drive's time; no more come.
    pub fn end(mut self, drive: &mut Drive) {
        // What is drawn is told through the flash, which forgets with its rates.
        drive.flash.draw_all();
        self.serve_owed(drive);
        self.count(drive);
        // Techniques have gone by what was read in the mean, and their clock never goes back.
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
            drive.serve_one::<BLOCKS, false>(write);
            self.serve_owed(drive);
        }
        self.count(drive);
        say(drive, progress)
    }

    /// Lets time pass until then, with all that reads and age lead to on the way.
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
        drive.set_now(until.max(drive.now()));
        Ok(())
    }

    #[inline]
    fn next_event(&self, drive: &Drive) -> Ns {
        drive.next_wake().min(drive.flash.next_bulk()).min(self.rates_end).min(self.regroup_at)
    }

    /// What is due next happens.
    fn happen(&mut self, drive: &mut Drive, source: &mut dyn FluidSource) {
        drive.set_now(self.next_event(drive).max(drive.now()));
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

    /// Serves the reads that have to be served by themselves, until nothing that they lead to
    /// leaves another. Then alarms are drawn anew.
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
            if !drive.flash.owes_reads() {
                return;
            }
        }
    }

    /// The host reads in another way from now on.
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
    }

    /// Counts the requests behind the pages that were read.
    fn count(&mut self, drive: &mut Drive) {
        let drawn = drive.flash.take_served();
        self.pages += drawn;
        drive.host.read_pages += drawn;
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

fn say(drive: &Drive, progress: Progress) -> Result<(), RunError> {
    if progress(drive.now(), drive) { Ok(()) } else { Err(RunError::Interrupted) }
}
