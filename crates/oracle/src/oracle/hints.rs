//! Checks that the drive obeys the host's hints. The hint of a block follows from its pages.
//!
//! ```text
//! block                                          its hint
//! opened as usual                                of its first page
//! opened when only the reserve was free          tightest of all
//! present from the start                         tightest of its data
//! ```
//!
//! No page of a block has a tighter hint than the block. Under a technique that loses no data, no
//! host read takes more retries than the hint of its block
//! allows. There are two exceptions: the longest age of data needs more retries, or retries are
//! random (`error.noise`).

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{BlockId, Cause, Lpn, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::Drive;
use vpass_drive::hint_counts::HintCounts;
use vpass_drive::hints::{Budgets, Hinted};
use vpass_drive::watch::observer::{BulkReads, Event, NO_LPN, PhysRead};

use crate::medium::At;
use crate::oracle::{Books, Check, Oracle};
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Number of free blocks that only moves may take, if all data has one hint.
const RESERVE: u32 = 2;

/// Hints of the host's pages, and the hint of each block.
#[derive(Debug)]
pub(crate) struct Hints {
    /// Hint of each host page, and the tightest one.
    of_pages: Hinted,
    tightest: AccessLatency,
    page_bytes: u32,
    /// Number of retries that each hint allows.
    allows: [u8; AccessLatency::COUNT],
    /// Hint of each block that holds data.
    goes_by: Vec<Option<AccessLatency>>,
    /// Whether each block holds data, and the number of blocks without data. They are known at
    /// every level of the oracle, while wear is followed at one level only.
    used: Vec<bool>,
    free: u32,
    counts: [HintCounts; AccessLatency::COUNT],
    /// Reads in bulk, by the hint of their blocks. They come without requests.
    in_bulk: [u64; AccessLatency::COUNT],
    is_bulk: bool,
    /// Whether requests are followed, and whether some have hints of their own.
    pub(crate) follows_requests: bool,
    has_own: bool,
    /// Limits, if techniques use more retries than a hint allows.
    raised: Option<LimitTable>,
    /// Longest age of data whose reads are checked against the hint of their blocks; `None` if
    /// reads are not checked.
    held: Option<u64>,
}

impl Hints {
    /// Returns `None` if the host gives no hints.
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Option<Self> {
        let said = config.hints.said.as_ref()?;
        let of_pages = Hinted::new(said, geometry.page_bytes.into(), geometry.host_pages);
        let budgets = Budgets::of(config).expect("the drive has checked its hints")?;
        Some(Self {
            tightest: of_pages.in_use().first().copied().unwrap_or_default(),
            of_pages,
            page_bytes: geometry.page_bytes,
            allows: AccessLatency::ALL.map(|word| budgets.at(word).retries),
            goes_by: vec![None; geometry.blocks as usize],
            used: vec![false; geometry.blocks as usize],
            free: geometry.blocks,
            counts: Default::default(),
            in_bulk: [0; AccessLatency::COUNT],
            is_bulk: false,
            follows_requests: true,
            has_own: false,
            raised: LimitTable::of(config),
            held: None,
        })
    }

    /// Returns the hint of a page, which is the tightest hint of its bytes.
    fn word(&self, lpn: Lpn) -> AccessLatency {
        self.of_pages.of(lpn)
    }

    /// Records that a block holds data from now on.
    fn take(&mut self, block: BlockId) {
        let used = &mut self.used[block.index()];
        self.free -= u32::from(!std::mem::replace(used, true));
    }

    /// Checks the program of a page.
    fn program(&mut self, block: BlockId, lpn: Lpn) -> Result<(), String> {
        self.take(block);
        let (word, free) = (self.word(lpn), self.free);
        let goes_by = &mut self.goes_by[block.index()];
        let Some(goes_by) = *goes_by else {
            // The block itself was free before.
            *goes_by = Some(if free < RESERVE { self.tightest } else { word });
            return Ok(());
        };
        if word < goes_by {
            return Err(format!(
                "lpn {lpn} with access latency {} is written to block {block} with {}",
                word.name(),
                goes_by.name()
            ));
        }
        Ok(())
    }
}

impl Oracle {
    /// Checks reads against the budgets of their blocks, under a technique that loses no data. With
    /// random retries, a page within its budget may sometimes take more retries, so a single read
    /// proves nothing.
    pub fn expect_budgets(&mut self, config: &DriveConfig) {
        if let Some(hints) = self.hints.as_mut().filter(|_| !config.error.noise) {
            hints.held = Some(if config.keeps_time() { config.longest_age().0 } else { u64::MAX });
        }
    }
}

impl Hints {
    /// Counts the pages that requests will read.
    fn expect_reads(&mut self, requests: &[Request]) {
        for request in requests.iter().filter(|request| request.op == Op::Read && request.bytes > 0)
        {
            let (size, end) =
                (u64::from(self.page_bytes), request.offset + u64::from(request.bytes));
            for lpn in (request.offset / size..end.div_ceil(size)).map(|lpn| Lpn::new(lpn as u32)) {
                let word = request.hint.unwrap_or_else(|| self.word(lpn));
                self.counts[word as usize].reads += 1;
            }
            self.has_own |= request.hint.is_some();
        }
    }

    /// Counts reads of a block in bulk.
    fn read_in_bulk(&mut self, block: BlockId, reads: u64) {
        if let Some(goes_by) = self.goes_by.get(block.index()) {
            self.in_bulk[goes_by.unwrap_or_default() as usize] += reads;
        }
    }

    /// Records a block that holds data from the start. It has the tightest hint of this data.
    fn preload(&mut self, block: BlockId, lpns: impl Iterator<Item = Lpn>) {
        self.goes_by[block.index()] =
            lpns.filter(|lpn| *lpn != NO_LPN).map(|lpn| self.word(lpn)).min();
        self.take(block);
    }

    /// Checks the retries of a host read, and counts the read if it took more than the hint of its
    /// data allows. Its request may have a hint of its own.
    pub(crate) fn judge(
        &mut self,
        truth: &Truth,
        (read, at): (&PhysRead, At),
        own: Option<AccessLatency>,
    ) -> Result<(), String> {
        if read.cause != Cause::Host || read.fill {
            return Ok(());
        }
        let word = own.unwrap_or_else(|| self.word(read.lpn));
        self.counts[word as usize].missed += u64::from(read.retries > self.allows[word as usize]);
        let (Some(longest), Some(goes_by)) = (self.held, self.goes_by[at.block.index()]) else {
            return Ok(());
        };
        if truth.ages.age(at.block, None) > longest {
            return Ok(());
        }
        let of_table = |table: &LimitTable| {
            let group = table.group_of(WordlineInBlock::new(at.index));
            table.retries_at(goes_by, group, truth.doses.pec_of(at.block))
        };
        let raised = self.raised.as_ref().map_or(0, of_table);
        let allowed = self.allows[goes_by as usize].max(raised);
        if read.retries <= allowed {
            return Ok(());
        }
        let (lpn, retries, place) = (read.lpn, read.retries, truth.place(read.ppn));
        Err(format!(
            "host read of lpn {lpn} at {place} took {retries} retries; {} data may take {allowed}",
            goes_by.name()
        ))
    }
}

impl Check for Hints {
    fn after(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings) {
        match *event {
            Event::Requests { requests, .. } => self.expect_reads(requests),
            Event::QuietUntil { .. } => self.is_bulk = true,
            Event::ReadInBulk { block, reads, .. } => self.read_in_bulk(block, reads),
            Event::ReadInBulkWithRetries(BulkReads { block, reads, .. }) => {
                self.read_in_bulk(block, reads.iter().map(|reads| u64::from(*reads)).sum());
            }
            Event::Programmed { ppn, lpn, .. } if truth.geometry.has_page(ppn) => {
                let checked = self.program(truth.geometry.block_of(ppn), lpn);
                findings.note(Kind::Books, checked);
            }
            Event::Padded { ppn, .. } if truth.geometry.has_page(ppn) => {
                self.take(truth.geometry.block_of(ppn));
            }
            Event::Preloaded { block, lpns } if truth.has_block(block) && !lpns.is_empty() => {
                self.preload(block, lpns.iter().copied());
            }
            Event::PreloadedInOrder { block, .. } if truth.has_block(block) => {
                let first = truth.geometry.first_page(block);
                let pages = first.run(truth.geometry.pages_per_block);
                let put = |ppn| truth.medium.put_by_start(ppn).unwrap_or(NO_LPN);
                self.preload(block, pages.map(put));
            }
            Event::Erased { block, .. } if truth.has_block(block) => {
                self.goes_by[block.index()] = None;
                self.free += u32::from(std::mem::take(&mut self.used[block.index()]));
            }
            Event::MeasuredPhase => (self.counts, self.in_bulk) = Default::default(),
            _ => {}
        }
    }

    fn end(&mut self, _: &Truth, drive: &Drive, books: &Books, findings: &mut Findings) {
        let Some(outcomes) = drive.hint_outcomes() else { return };
        for of in outcomes {
            let (seen, allows) =
                (self.counts[of.latency as usize], self.allows[of.latency as usize]);
            let pages =
                drive.map_rows().filter(|row| self.word(row.lpn) == of.latency).count() as u64;
            let is_known = self.follows_requests || !self.has_own;
            let missed = if is_known { seen.missed } else { of.counts.missed };
            // For reads in bulk, only the sum over all hints is known.
            let reads = if self.is_bulk { of.counts.reads } else { seen.reads };
            let seen = HintCounts { reads, missed };
            let claimed = (of.counts, of.budget.retries, of.pages);
            if claimed != (seen, allows, pages) {
                findings.add(Kind::Books, || {
                    format!(
                        "the drive reports {claimed:?} for {} data; {:?} was seen",
                        of.latency.name(),
                        (seen, allows, pages)
                    )
                });
            }
        }
        if self.is_bulk {
            let claimed = outcomes.map(|of| of.counts.reads);
            findings.note(Kind::Books, self.add_up(claimed, books.seen.host_read_pages));
        }
    }
}

impl Hints {
    /// Checks the reads by hint, in bulk and one by one. Their sum must be the number of all reads.
    /// Reads of data with a hint, or a tighter hint, must be in blocks with this hint, or a tighter
    /// hint.
    fn add_up(&self, claimed: [u64; AccessLatency::COUNT], all: u64) -> Result<(), String> {
        let alone = all.saturating_sub(self.in_bulk.iter().sum());
        let (mut so_tight, mut at_most) = (0, alone);
        for (word, (claimed, in_bulk)) in
            AccessLatency::ALL.iter().zip(claimed.iter().zip(self.in_bulk))
        {
            (so_tight, at_most) = (so_tight + claimed, at_most + in_bulk);
            if so_tight > at_most {
                return Err(format!(
                    "the drive reports {so_tight} reads of {} data or stricter; their blocks have \
                     {at_most} reads",
                    word.name()
                ));
            }
        }
        if so_tight == all {
            Ok(())
        } else {
            Err(format!("the drive reports {so_tight} page reads by hint; there were {all}"))
        }
    }
}
