//! Reads in bulk: the drive says how many there were of each wordline since it spoke of the block
//! last, and that each could be decoded. Which page each of them read is not known: what the host
//! got is not checked, only that it could have got it.

use vpass_core::base::units::{BlockId, Cause};

use crate::oracle::Oracle;
use crate::report::Kind;

impl Oracle {
    /// Counts them, and holds the doses that they leave against the limits of all that the block
    /// holds.
    pub(crate) fn judge_bulk(&mut self, block: BlockId, reads: u64, doses: &[u32]) {
        if !self.check_block(block, "reads") {
            return;
        }
        self.seen.host_read_pages += reads;
        self.read_by_hint(block, reads);
        self.seen.reads[Cause::Host as usize] += reads;
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits()) as usize;
        if let Some(wordline) = doses.iter().skip(programmed).position(|dose| *dose > 0) {
            self.findings.add(Kind::Protocol, || {
                format!(
                    "reads of wordline {} of block {block}, of which {programmed} are programmed",
                    programmed + wordline
                )
            });
            return;
        }
        let per_kind = self.doses.per_kind(&self.geometry);
        let (least, most) = (
            per_kind.iter().min().copied().unwrap_or(0),
            per_kind.iter().max().copied().unwrap_or(0),
        );
        let deposited: u64 = doses.iter().map(|dose| u64::from(*dose)).sum();
        if !doses.is_empty()
            && !(u64::from(least) * reads..=u64::from(most) * reads).contains(&deposited)
        {
            self.findings
                .add(Kind::Books, || format!("{reads} reads of block {block} are said to deposit {deposited} quarters of a dose unit"));
        }
        self.doses.age(&mut self.medium, block, doses);
        let mut worst = self.worst_dose_ratio;
        let mut findings = std::mem::take(&mut self.findings);
        self.scan(block, "after reads in bulk", &mut findings, &mut worst);
        (self.findings, self.worst_dose_ratio) = (findings, worst);
    }
}
