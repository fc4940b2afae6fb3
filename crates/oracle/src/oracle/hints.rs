//! Checks that the drive obeys the host's hints. Under a technique that loses no data, no host read
//! takes more retries than the hint of its data allows. There are two exceptions: the longest age of
//! data needs more retries, or retries are random (`error.noise`). Reads are also counted by hint.

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::latency::AccessLatency;
use vpass_drive::base::request::{Op, Request};
use vpass_drive::base::units::{Cause, Lpn, WordlineInBlock};
use vpass_drive::config::DriveConfig;
use vpass_drive::disturb::table::LimitTable;
use vpass_drive::drive::Drive;
use vpass_drive::hint_counts::HintCounts;
use vpass_drive::hints::{Budgets, Hinted};
use vpass_drive::watch::observer::{Event, PhysRead};

use crate::medium::At;
use crate::oracle::{Books, Check, Oracle};
use crate::report::{Findings, Kind};
use crate::requests::pages_of;
use crate::truth::Truth;

/// Hints of the host's pages, and the reads of each hint.
#[derive(Debug)]
pub(crate) struct Hints {
    of_pages: Hinted,
    page_bytes: u32,
    /// Number of retries that each hint allows.
    allows: [u8; AccessLatency::COUNT],
    counts: [HintCounts; AccessLatency::COUNT],
    /// Whether some reads come in bulk, without requests. Then only the sum over all hints is known.
    is_bulk: bool,
    /// Whether requests are followed, and whether some have hints of their own.
    pub(crate) follows_requests: bool,
    has_own: bool,
    /// Limits, if techniques use more retries than a hint allows.
    raised: Option<LimitTable>,
    /// Longest age of data whose reads are checked against their hints; `None` if reads are not
    /// checked.
    held: Option<u64>,
}

impl Hints {
    /// Returns `None` if the host gives no hints.
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Option<Self> {
        let said = config.hints.said.as_ref()?;
        let budgets = Budgets::of(config).expect("the drive has checked its hints")?;
        Some(Self {
            of_pages: Hinted::new(said, geometry.page_bytes.into(), geometry.host_pages),
            page_bytes: geometry.page_bytes,
            allows: AccessLatency::ALL.map(|word| budgets.at(word).retries),
            counts: Default::default(),
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
}

impl Oracle {
    /// Checks reads against the budgets of their data, under a technique that loses no data. With
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
            for page in pages_of(request, self.page_bytes) {
                let word = request.hint.unwrap_or_else(|| self.word(Lpn::new(page as u32)));
                self.counts[word as usize].reads += 1;
            }
            self.has_own |= request.hint.is_some();
        }
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
        let of_data = self.word(read.lpn);
        let word = own.unwrap_or(of_data);
        self.counts[word as usize].missed += u64::from(read.retries > self.allows[word as usize]);
        if self.held.is_none_or(|longest| truth.ages.age(at.block, None) > longest) {
            return Ok(());
        }
        let of_table = |table: &LimitTable| {
            let group = table.group_of(WordlineInBlock::new(at.index));
            table.retries_at(of_data, group, truth.doses.pec_of(at.block))
        };
        let raised = self.raised.as_ref().map_or(0, of_table);
        let allowed = self.allows[of_data as usize].max(raised);
        if read.retries <= allowed {
            return Ok(());
        }
        let (lpn, retries, place) = (read.lpn, read.retries, truth.place(read.ppn));
        Err(format!(
            "host read of lpn {lpn} at {place} took {retries} retries; {} data may take {allowed}",
            of_data.name()
        ))
    }
}

impl Check for Hints {
    fn after(&mut self, _: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Requests { requests, .. } => self.expect_reads(requests),
            Event::QuietUntil { .. } => self.is_bulk = true,
            Event::MeasuredPhase => self.counts = Default::default(),
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
            let claimed = outcomes.map(|of| of.counts.reads).iter().sum();
            findings.compare(&[("page reads by hint", claimed, books.seen.host_read_pages)]);
        }
    }
}
