//! Observer that counts events, and checks nothing.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use vpass_drive::base::failure::Stretch;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::request::Op;
use vpass_drive::base::units::{BlockId, Cause, Lpn, Moment, Ns, Ppn};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::{Drive, Techniques};
use vpass_drive::time::{Replay, run_untimed};
use vpass_drive::watch::observer::{
    Event, FROM_BUFFER, NO_LPN, NO_OWNER, NO_PPN, Observer, Origin, PhysRead, ReadResult,
};
use vpass_drive::watch::time_event::TimeEvent;
use vpass_lab::plan::RunPlan;
use vpass_lab::setup::Gear;

/// Counts in the order of `Cause::ALL`.
pub(crate) type ByCause = [u64; Cause::COUNT];

/// Counts of the measured phase.
#[derive(Clone, Default)]
pub(crate) struct Counts {
    pub(crate) requests: Vec<(Op, u64, u64)>,
    pub(crate) reads: ByCause,
    pub(crate) programs: ByCause,
    pub(crate) erases: ByCause,
    pub(crate) reprograms: ByCause,
    pub(crate) padded: u64,
    pub(crate) written_pages: u64,
    pub(crate) trimmed_pages: u64,
    pub(crate) fills: u64,
    pub(crate) unmapped: u64,
    /// Host page reads that the write buffer served in part. Flash served the rest of the page.
    pub(crate) rests: u64,
    /// All other host page reads that flash served, by number of retries.
    pub(crate) retried: [u64; 8],
    pub(crate) uncorrectable: u64,
    /// Page reads of flash, by anything, that took a retry or came to nothing.
    pub(crate) soft_errors: u64,
    /// Pages of the host that were rebuilt and programmed, apart from moves.
    pub(crate) recovered: u64,
    pub(crate) lost: u64,
    pub(crate) lost_by_age: u64,
    pub(crate) lost_by_failure: u64,
    pub(crate) reclaim_copies: u64,
    pub(crate) rebuilt: u64,
    /// Attempts to rebuild a page from its stripe.
    pub(crate) recoveries: u64,
    pub(crate) given_up: u64,
    pub(crate) updates: u64,
    pub(crate) exposed: u64,
    /// Number of stripes that wait for parity, and number of stripes with outdated parity. Each has
    /// a sum over page writes, and a maximum.
    pub(crate) waited: u64,
    pub(crate) most_waiting: u64,
    pub(crate) lagged: u64,
    pub(crate) most_lagging: u64,
    pub(crate) formed: u64,
    /// Latencies of reads and writes.
    pub(crate) read_ns: Vec<Ns>,
    pub(crate) write_ns: Vec<Ns>,
    pub(crate) last_arrival: Ns,
    pub(crate) last_completion: Ns,
}

/// State of a block since its erase.
#[derive(Clone, Default)]
pub(crate) struct Block {
    pub(crate) pec: u32,
    pub(crate) written: u32,
    pub(crate) sensings: u64,
    since: Moment,
    /// Cause for which the pages of the block move; `None` if they do not move.
    moved_for: Option<Cause>,
}

/// Observer of a drive from its creation.
pub(crate) struct Counted {
    pub(crate) counts: Counts,
    pub(crate) blocks: Vec<Block>,
    pub(crate) waiting: BTreeSet<u32>,
    /// Stripes with outdated parity. Each has the set of its members that are unprotected until the
    /// parity is programmed.
    pub(crate) lagging: BTreeMap<u32, u64>,
    geometry: Geometry,
    /// Age at which data cannot be decoded even without reads; `None` if data does not age.
    ruined_after: Option<Ns>,
    place: Vec<Ppn>,
    failed: Vec<Stretch>,
    first: Option<u64>,
    /// Page that flash read last to complete a partly buffered page. The next event shows whether a
    /// read or a write needed it.
    rest: Option<Lpn>,
    now: Ns,
}

impl Counted {
    /// Returns the counts of a plan's run. Runs the plan again with this observer instead of the
    /// oracle.
    pub(crate) fn of(plan: &RunPlan) -> Self {
        let techniques = Techniques {
            reclaim: plan.reclaim,
            gc: plan.gc,
            refresh: plan.refresh,
            parity: plan.parity,
            seed: plan.seed,
        };
        let timed = plan.gear == Gear::Timed;
        let mut drive = Drive::new(plan.drive.config.clone(), &techniques, timed).unwrap();
        drive.observe(Box::new(Self::beside(&drive)));
        drive.precondition(plan.seed);
        drive.restart_clock();
        drive.begin_measurement();
        drive.expect_failures(&plan.fail);
        let mut requests = plan.source().unwrap();
        if timed {
            Replay::new(&drive).run(&mut drive, &mut requests, &mut |_, _| true).unwrap();
        } else {
            run_untimed(&mut drive, &mut requests, &mut |_, _| true).unwrap();
        }
        drive.report_unread_losses();
        let watcher: Box<dyn Any> = drive.end_observation().unwrap();
        *watcher.downcast().unwrap()
    }

    fn beside(drive: &Drive) -> Self {
        let (geometry, config) = (drive.geometry().clone(), drive.config());
        let block = Block { pec: config.start.pec, ..Block::default() };
        Self {
            counts: Counts::default(),
            blocks: vec![block; geometry.blocks as usize],
            waiting: BTreeSet::new(),
            lagging: BTreeMap::new(),
            ruined_after: ruined_after(config),
            place: vec![NO_PPN; geometry.logical_pages() as usize],
            failed: vec![],
            first: None,
            rest: None,
            now: 0,
            geometry,
        }
    }

    pub(crate) fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the number of bits in the flash pages that the host read.
    pub(crate) fn host_bits(&self) -> f64 {
        let pages = self.counts.rests + self.counts.retried.iter().sum::<u64>();
        pages as f64 * f64::from(self.geometry.page_bytes) * 8.0
    }

    /// Returns whether a page of a block has failed.
    pub(crate) fn has_failed(&self, block: usize) -> bool {
        let pages = self.geometry.pages_per_block;
        let first = block as u32 * pages;
        let holds = |page: u32| self.failed.iter().any(|of| of.contains(Ppn::new(page)));
        (first..first + pages).any(holds)
    }

    fn block(&mut self, block: BlockId) -> &mut Block {
        &mut self.blocks[block.index()]
    }

    fn count_read(&mut self, read: &PhysRead) {
        let counts = &mut self.counts;
        let by_host = read.cause == Cause::Host && !read.fill && read.lpn != NO_OWNER;
        counts.uncorrectable += u64::from(by_host && read.result == ReadResult::Uncorrectable);
        counts.unmapped +=
            u64::from(by_host && read.ppn == NO_PPN && read.result == ReadResult::Good);
        if read.ppn == FROM_BUFFER && self.rest == Some(read.lpn) {
            // A host read needed the rest of this page, so the read of flash did not complete a
            // write.
            (counts.fills, counts.rests) = (counts.fills - 1, counts.rests + 1);
            self.rest = None;
        }
        if read.fill && read.cause == Cause::Host {
            self.rest = Some(read.lpn);
        }
        if read.ppn >= NO_PPN {
            return;
        }
        counts.fills += u64::from(read.fill && read.cause == Cause::Host);
        counts.reads[read.cause as usize] += 1;
        counts.reads[Cause::Retry as usize] += u64::from(read.retries);
        counts.soft_errors += u64::from(read.retries > 0 || read.result != ReadResult::Good);
        if by_host {
            counts.retried[usize::from(read.retries)] += 1;
        }
        let block = self.geometry.block_of(read.ppn);
        self.block(block).sensings += 1 + u64::from(read.retries);
    }

    /// Returns whether age alone spoiled the data of a page.
    fn is_ruined_by_age(&self, ppn: Ppn) -> bool {
        let since = self.blocks[self.geometry.block_of(ppn).index()].since;
        self.ruined_after.is_some_and(|after| self.now.cast_signed() - since > after.cast_signed())
    }

    fn count_program(&mut self, ppn: Ppn, cause: Cause) {
        self.counts.programs[cause as usize] += 1;
        let now = self.now.cast_signed();
        let block = self.geometry.block_of(ppn);
        let block = self.block(block);
        if block.written == 0 {
            block.since = now;
        }
        block.written += 1;
    }
}

/// Returns the age at which e + b t^n exceeds the RBER that the last level decodes. In these runs,
/// all pages have the same e, b and n.
fn ruined_after(config: &DriveConfig) -> Option<Ns> {
    let (error, last) = (&config.error, config.ecc.cap.last()?);
    if !config.keeps_time() {
        return None;
    }
    let hours = ((last - error.e) / error.b).powf(1.0 / error.n);
    Some((hours * 3.6e12) as Ns)
}

impl Counted {
    fn programmed(&mut self, ppn: Ppn, lpn: Lpn, origin: Origin, cause: Cause) {
        self.count_program(ppn, cause);
        let is_copy = matches!(origin, Origin::Copy(_));
        let is_of_host = lpn.number() < self.geometry.host_pages;
        let is_rebuilt = matches!(origin, Origin::Xor(_)) && cause == Cause::Parity && is_of_host;
        self.counts.recovered += u64::from(is_rebuilt);
        self.counts.reclaim_copies += u64::from(is_copy && cause == Cause::Reclaim);
        self.place[lpn.index()] = ppn;
        if self.geometry.stripes.is_some_and(|stripes| stripes.is_parity(lpn))
            && matches!(origin, Origin::Xor(_))
        {
            let stripe = lpn.number() - self.geometry.host_pages;
            self.counts.formed += u64::from(self.waiting.remove(&stripe));
            self.lagging.remove(&stripe);
        }
    }

    fn time(&mut self, events: &[TimeEvent]) {
        for event in events {
            let TimeEvent::Completed { request, start, end } = *event else { continue };
            let (op, ..) =
                self.counts.requests[request as usize - self.first.unwrap_or(0) as usize];
            self.counts.last_completion = self.counts.last_completion.max(end);
            self.counts.last_arrival = self.counts.last_arrival.max(start);
            match op {
                Op::Read => self.counts.read_ns.push(end - start),
                Op::Write => self.counts.write_ns.push(end - start),
                Op::Trim => {}
            }
        }
    }
}

impl Observer for Counted {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Requests { first, requests } => {
                self.first.get_or_insert(first);
                self.counts
                    .requests
                    .extend(requests.iter().map(|r| (r.op, r.offset, u64::from(r.bytes))));
                self.now = self.now.max(requests.last().map_or(0, |last| last.at));
            }
            Event::Reads { batch } => {
                for read in batch {
                    self.count_read(read);
                }
            }
            Event::Wrote { .. } => {
                self.counts.written_pages += 1;
                self.counts.waited += self.waiting.len() as u64;
                self.counts.lagged += self.lagging.len() as u64;
            }
            Event::Filled { .. } => self.rest = None,
            Event::Trimmed { lpn } => {
                self.counts.trimmed_pages += 1;
                self.place[lpn.index()] = NO_PPN;
            }
            Event::Lost { lpn } => {
                let ppn = std::mem::replace(&mut self.place[lpn.index()], NO_PPN);
                let by_failure = self.failed.iter().any(|stretch| stretch.contains(ppn));
                self.counts.lost += 1;
                self.counts.lost_by_failure += u64::from(by_failure);
                self.counts.lost_by_age += u64::from(!by_failure && self.is_ruined_by_age(ppn));
            }
            Event::Gathered { from, .. } => {
                let block = self.geometry.block_of(from);
                let moved_for = self.block(block).moved_for;
                self.counts.reclaim_copies += u64::from(moved_for == Some(Cause::Reclaim));
            }
            Event::Failed { pages } => self.failed.push(pages),
            Event::Recovering { .. } => self.counts.recoveries += 1,
            Event::Rebuilt { .. } => self.counts.rebuilt += 1,
            Event::Unprotected { stripe } => {
                self.counts.given_up += 1;
                self.lagging.remove(&stripe);
            }
            Event::Delayed { stripe, exposed, .. } => {
                self.counts.updates += 1;
                let before = self.lagging.insert(stripe, exposed).unwrap_or(0);
                self.counts.exposed += u64::from((exposed & !before).count_ones());
                self.counts.most_lagging = self.counts.most_lagging.max(self.lagging.len() as u64);
            }
            Event::AwaitsParity { stripe } => {
                self.waiting.insert(stripe);
                self.counts.most_waiting = self.counts.most_waiting.max(self.waiting.len() as u64);
            }
            Event::NeedsNoParity { stripe } => _ = self.waiting.remove(&stripe),
            Event::JobBegan { block, cause, .. } => self.block(block).moved_for = Some(cause),
            Event::Padded { ppn, cause, .. } => {
                self.count_program(ppn, cause);
                self.counts.padded += 1;
            }
            Event::Programmed { ppn, lpn, origin, cause, .. } => {
                self.programmed(ppn, lpn, origin, cause)
            }
            Event::Merged { cause, .. } => self.counts.reprograms[cause as usize] += 1,
            Event::Erased { block, cause } => {
                self.counts.erases[cause as usize] += 1;
                let block = self.block(block);
                (block.pec, block.written, block.sensings) = (block.pec + 1, 0, 0);
            }
            Event::BeginsInOrder { .. } | Event::PreloadedInOrder { .. } => {
                panic!("the start of a drive as small as these is written")
            }
            Event::Preloaded { block, lpns } => {
                self.block(block).written = lpns.len() as u32;
                let first = self.geometry.first_page(block);
                for (n, lpn) in (0..).zip(lpns).filter(|(_, lpn)| **lpn != NO_LPN) {
                    self.place[lpn.index()] = first + n;
                }
            }
            Event::WornBefore { block, pec } => self.block(block).pec = pec,
            Event::Clock { at } => self.now = at,
            Event::Aged { block, since } | Event::Renewed { block, since } => {
                self.block(block).since = since;
            }
            Event::ClockRestarted { passed } => {
                self.now = 0;
                self.blocks.iter_mut().for_each(|block| block.since -= passed.cast_signed());
            }
            Event::MeasuredPhase => {
                self.counts = Counts::default();
                self.first = None;
            }
            Event::Time { events } => self.time(events),
            _ => {}
        }
    }

    fn wants_time(&self) -> bool {
        true
    }
}
