//! Checks reads in bulk. The drive reports the number of reads of each wordline since its last
//! report about the block, and that each read was decoded. The page of each read is not known. So
//! the oracle cannot check the data that the host got, but only that a read could decode it.
//!
//! If some reads took retries, the drive reports the number of reads of each place, and the retries
//! of each read. Doses only grow. So each read takes the retries that its page takes before the
//! first of these reads and after the last.

use vpass_drive::base::units::{BlockId, Cause};
use vpass_drive::watch::observer::BulkReads;

use crate::medium::At;
use crate::oracle::Oracle;
use crate::oracle::end_scan::words;
use crate::report::Kind;

impl Oracle {
    /// Counts the reads, and compares the doses after them with the limits of all pages in the
    /// block.
    pub(crate) fn judge_bulk(&mut self, block: BlockId, reads: u64, doses: &[u32]) {
        if !self.check_block(block, "reads") {
            return;
        }
        self.books.seen.host_read_pages += reads;
        self.books.seen.reads[Cause::Host as usize] += reads;
        let programmed =
            self.truth.protocol.written(block).div_ceil(self.truth.geometry.cell.bits()) as usize;
        if let Some(wordline) = doses.iter().skip(programmed).position(|dose| *dose > 0) {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "reads of wordline {} of block {block}, but only {programmed} wordlines are \
                     programmed",
                    programmed + wordline
                )
            });
            return;
        }
        let per_kind = self.truth.doses.per_kind(&self.truth.geometry);
        let (least, most) = (
            per_kind.iter().min().copied().unwrap_or(0),
            per_kind.iter().max().copied().unwrap_or(0),
        );
        let deposited: u64 = doses.iter().map(|dose| u64::from(*dose)).sum();
        if !doses.is_empty()
            && !(u64::from(least) * reads..=u64::from(most) * reads).contains(&deposited)
        {
            self.findings.add(Kind::Books, || {
                format!(
                    "the drive reports that {reads} reads of block {block} deposit {deposited} \
                     quarters of a dose unit"
                )
            });
        }
        self.truth.doses.age(&mut self.truth.medium, block, doses);
        let mut worst = self.record.worst_dose_ratio;
        let mut findings = std::mem::take(&mut self.findings);
        self.scan(block, "after reads in bulk", &mut findings, &mut worst);
        let is_worse = worst > self.record.worst_dose_ratio;
        (self.findings, self.record.worst_dose_ratio) = (findings, worst);
        self.look_after_bulk(block, is_worse);
    }

    /// Counts reads and their retries, and checks the retries against the oracle's own limits.
    pub(crate) fn judge_bulk_with_retries(&mut self, bulk: &BulkReads) {
        let BulkReads { block, since, until, reads, retries } = *bulk;
        if !self.check_block(block, "reads") {
            return;
        }
        let bits = self.truth.geometry.cell.bits();
        let wordlines = self.truth.geometry.wordlines_per_block;
        let kinds = reads.len() as u32 / wordlines;
        let alike =
            self.truth.doses.per_kind(&self.truth.geometry).windows(2).all(|of| of[0] == of[1]);
        let is_known = kinds == bits || kinds == 1 && alike;
        if !is_known || reads.len() != (wordlines * kinds) as usize || retries.len() != reads.len()
        {
            return self.findings.add(Kind::Books, || {
                let places = reads.len();
                format!(
                    "reads of {places} places of block {block}, whose reads may deposit different \
                     doses"
                )
            });
        }
        let all: u64 = reads.iter().map(|reads| u64::from(*reads)).sum();
        let again =
            reads.iter().zip(retries).map(|(n, k)| u64::from(*n) * u64::from(*k)).sum::<u64>();
        self.books.seen.host_read_pages += all;
        self.books.seen.reads[Cause::Host as usize] += all;
        self.books.seen.reads[Cause::Retry as usize] += again;
        let soft = reads.iter().zip(retries).filter(|(_, of)| **of > 0);
        self.books.seen.soft_errors += soft.map(|(reads, _)| u64::from(*reads)).sum::<u64>();
        let programmed = self.truth.protocol.written(block).div_ceil(bits);
        let first = self.truth.geometry.first_wordline(block);
        let read = || reads.iter().zip(retries).enumerate().filter(|(_, (reads, _))| **reads > 0);
        let place = |place: usize| {
            let (index, kind) = (place as u32 / kinds, place as u32 % kinds);
            At { block, wordline: first + index, index, kind }
        };
        if let Some((of, _)) = read().find(|(of, _)| place(*of).index >= programmed) {
            let index = place(of).index;
            return self.findings.add(Kind::Protocol, || {
                format!(
                    "reads of wordline {index} of block {block}, but only {programmed} wordlines \
                     are programmed"
                )
            });
        }
        let worst = self.record.worst_dose_ratio;
        let last = until.saturating_sub(1).max(since);
        for (at, is_after) in [(since, false), (last, true)] {
            if is_after {
                for (of, (reads, retries)) in read() {
                    let (at, sensings) = (place(of), reads * (u32::from(*retries) + 1));
                    self.truth.doses.sense_often(&mut self.truth.medium, at, sensings);
                }
            }
            self.truth.know_age(block, Some(at));
            for (of, (_, retries)) in read() {
                self.check_bulk_retries(place(of), bits / kinds, *retries, is_after);
            }
        }
        self.look_after_bulk(block, self.record.worst_dose_ratio > worst);
    }

    fn look_after_bulk(&mut self, block: BlockId, is_worse: bool) {
        let host_reads = self.books.seen.host_read_pages;
        if is_worse {
            self.record.look(&self.truth, block, host_reads);
        } else {
            self.record.look_if_due(&self.truth, block, host_reads);
        }
    }

    /// Checks the retries of reads of a place, for each of these page kinds, before the first read
    /// or after the last.
    fn check_bulk_retries(&mut self, place: At, kinds: u32, retries: u8, is_after: bool) {
        for kind in place.kind..place.kind + kinds {
            let at = At { kind, ..place };
            let (least, most) = self.truth.doses.retries(&self.truth.medium, at);
            if !(least..=most).contains(&retries) {
                let page = self.truth.place_at(at);
                let when = if is_after { "after" } else { "before" };
                self.findings.add(Kind::Limit, || {
                    format!(
                        "reads in bulk at {page} took {retries} retries each; a read {when} these \
                         reads must take {least} to {most}"
                    )
                });
                return;
            }
            let stress = self.truth.doses.stress(&self.truth.medium, at);
            if self.truth.doses.is_past(at, stress) {
                let page = self.truth.place_at(at);
                self.findings.add(Kind::Limit, || {
                    format!("reads in bulk at {page} decoded: {}", words(stress))
                });
                return;
            }
            self.record.worst_dose_ratio = self.record.worst_dose_ratio.max(stress.ratio());
        }
    }
}
