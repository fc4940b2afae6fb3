//! Deadlines of alarms. The drive must ask its reclaim policy in time: at the dose of a block that
//! the policy has named ([`Questions`]), and when a block grows older ([`Older`]).

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Cause, Reads};
use vpass_drive::config::DriveConfig;
use vpass_drive::drive::Drive;
use vpass_drive::watch::observer::{Event, PhysRead, ReadResult};

use super::older::Older;
use crate::medium::At;
use crate::oracle::{Books, Check};
use crate::questions::Questions;
use crate::report::{Findings, Kind};
use crate::truth::Truth;

/// Times until which the policy must be asked about each block.
#[derive(Debug)]
pub(crate) struct Deadlines {
    /// Doses; followed together with requests.
    questions: Option<Questions>,
    pub(crate) older: Older,
    /// Number of questions about a block that no job was moving, since the measured phase began.
    alarms: u64,
}

impl Deadlines {
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self { questions: Some(Questions::new(geometry)), older: Older::default(), alarms: 0 }
    }

    /// Follows no doses.
    pub(crate) fn ignore_doses(&mut self) {
        self.questions = None;
    }

    /// Checks a policy that uses the age of each block.
    pub(crate) fn expect_follows_age(&mut self, truth: &Truth, config: &DriveConfig, timed: bool) {
        if truth.doses.has_rates() && config.keeps_time() {
            self.older.expect(truth, config, timed);
        }
    }

    /// Postpones the question about a block by the dose of a mover, in quarters.
    pub(crate) fn put_off(&mut self, block: BlockId, dose: u32) {
        if let Some(questions) = &mut self.questions {
            questions.put_off(block, dose);
        }
    }

    /// Counts a read towards the next question to the policy, or postpones this question.
    #[inline]
    pub(crate) fn read(&mut self, truth: &Truth, read: &PhysRead, at: At) -> Result<(), String> {
        let Some(questions) = &mut self.questions else { return Ok(()) };
        if read.cause == Cause::Parity && read.fill {
            // For reads of a rebuild, the policy is not asked before the next read.
            return Ok(());
        }
        if !matches!(read.cause, Cause::Host | Cause::Parity) {
            let sensings = 1 + u32::from(read.retries);
            questions.put_off(at.block, truth.doses.of_page(at) * sensings);
            return Ok(());
        }
        let served = truth.doses.read_of(at.block).unwrap_or(0);
        if read.fill && read.result == ReadResult::Uncorrectable {
            questions.failing_fill(at.block, served);
            return Ok(());
        }
        questions.read(at.block, served)
    }

    /// Notes the dose at which the policy must be asked about a block next.
    fn name(&mut self, truth: &Truth, block: BlockId, at: Reads) {
        // For a block without data, this is the first alarm.
        let is_asked =
            at != Reads(0) && truth.has_block(block) && truth.protocol.written(block) > 0;
        self.alarms += u64::from(is_asked && !truth.jobs.contains_key(&block));
        if let Some(questions) = &mut self.questions {
            questions.name(block, if truth.doses.counts() { at } else { Reads::NEVER });
        }
    }

    /// Forgets a block that is erased, or about which no technique is asked any more.
    fn forget(&mut self, truth: &Truth, block: BlockId) {
        if let Some(questions) = &mut self.questions {
            questions.end(block);
        }
        self.older.asked(truth, block);
    }
}

impl Check for Deadlines {
    fn before(&mut self, truth: &Truth, event: &Event<'_>, _: &mut Findings) {
        match *event {
            Event::Programmed { ppn, .. } if truth.geometry.has_page(ppn) => {
                let block = truth.geometry.block_of(ppn);
                if truth.ages.since(block).is_none() {
                    self.older.begins(truth, block, truth.ages.now());
                }
            }
            Event::AsksAt { block, at } => {
                self.name(truth, block, at);
                self.older.asked(truth, block);
            }
            _ => {}
        }
    }

    fn after(&mut self, truth: &Truth, event: &Event<'_>, findings: &mut Findings) {
        match *event {
            Event::JobEnded { block } => {
                if let Some(questions) = &mut self.questions {
                    questions.end(block);
                }
            }
            Event::Erased { block, .. } if truth.has_block(block) => {
                self.forget(truth, block);
            }
            Event::Failed { pages } => {
                let first = |block| truth.geometry.first_page(block);
                let per_block = truth.geometry.pages_per_block;
                for block in pages.blocks(&truth.geometry) {
                    if pages.covers(first(block), per_block) {
                        self.forget(truth, block);
                    }
                }
            }
            Event::Merged { block, .. }
                if truth.has_block(block) && truth.protocol.is_full(block) =>
            {
                self.put_off(block, truth.doses.of_reprogramming());
            }
            Event::Aged { block, .. } | Event::Renewed { block, .. } => {
                self.older.asked(truth, block);
            }
            Event::ClockRestarted { passed } => self.older.set_back(passed.cast_signed()),
            Event::Clock { .. } => findings.note(Kind::Protocol, self.older.check(truth)),
            Event::MeasuredPhase => {
                self.alarms = 0;
                if let Some(questions) = &mut self.questions {
                    questions.overtaken = 0;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _: &Truth, drive: &Drive, _: &Books, findings: &mut Findings) {
        let Some(questions) = &self.questions else { return };
        let reclaim = drive.reclaim_counts();
        findings.compare(&[
            ("block alarms", reclaim.alarms, self.alarms),
            ("overtaken jobs", reclaim.deadline_misses, questions.overtaken),
        ]);
        findings.note(Kind::Protocol, questions.check_open());
    }
}
