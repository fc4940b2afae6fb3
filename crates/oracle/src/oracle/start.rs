//! Records the start-up state of a drive: its pages, the wear of its blocks, and the reads that it
//! has served.

use vpass_drive::base::steady::Order;
use vpass_drive::base::units::{BlockId, Lpn};

use crate::begun::Begun;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::report::Kind;

/// Number of pages that are fetched into the cache ahead of the page that is loaded.
const AHEAD: usize = 64;

impl Oracle {
    /// Records a block that holds pages from the start.
    pub(crate) fn preload_block(&mut self, block: BlockId, lpns: &[Lpn]) {
        if !self.check_block(block, "preload") {
            return;
        }
        let room = self.truth.geometry.pages_per_block as usize;
        if lpns.len() > room {
            self.findings.add(Kind::Protocol, || {
                format!("preload of {} pages into block {block} of {room}", lpns.len())
            });
        }
        let lpns = &lpns[..lpns.len().min(room)];
        let checked = self.truth.protocol.preload(block, lpns.len() as u32);
        self.findings.note(Kind::Protocol, checked);
        let mut later = lpns.iter().skip(AHEAD);
        for (ppn, lpn) in self.truth.geometry.first_page(block).run(lpns.len() as u32).zip(lpns) {
            later.next().into_iter().for_each(|lpn| {
                self.truth.stamps.prefetch(*lpn);
                self.parity.prefetch_load(*lpn);
            });
            let checked = self.truth.stamps.preload(
                &mut self.truth.medium,
                At::new(&self.truth.geometry, ppn),
                *lpn,
            );
            self.findings
                .note(Kind::Stamp, checked.map_err(|what| format!("{what}, at ppn {ppn}")));
            self.lies_at(*lpn, ppn);
        }
    }

    /// Records a computed start. It follows from these orders and from the part that each block
    /// takes of the order of its die, or of the whole drive without parity.
    pub(crate) fn begin_in_order(&mut self, orders: &[Order], filled: u32) {
        if filled > self.truth.geometry.host_pages || self.truth.stamps.present() > 0 {
            return self.findings.add(Kind::Protocol, || {
                format!(
                    "a computed start of {filled} pages, but the drive already holds data or has \
                     fewer pages"
                )
            });
        }
        match Begun::new(&self.truth.geometry, orders, filled) {
            Ok(begun) => {
                self.truth.stamps.begin(begun.ranges());
                self.truth.medium.begin(begun);
            }
            Err(what) => return self.findings.add(Kind::Stamp, || what),
        }
        let checked = self.parity.begin();
        self.findings.note(Kind::Protocol, checked);
    }

    /// Records that the start fills an erased block with its part of the order.
    pub(crate) fn preload_in_order(
        &mut self,
        block: BlockId,
        first: u32,
        order: Order,
        holds: u32,
    ) {
        if !self.check_block(block, "preload") {
            return;
        }
        let pages = self.truth.geometry.pages_per_block;
        let checked = self.truth.protocol.preload(block, pages);
        let was_erased = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        if !was_erased {
            return;
        }
        let loaded = match self.truth.medium.begun_mut() {
            Some(begun) => begun.load(block, first, order, holds),
            None => Err(format!("block {block} is loaded in an unknown order")),
        };
        self.findings.note(Kind::Stamp, loaded);
    }

    /// Checks that a computed start is complete.
    pub(crate) fn check_begun(&mut self) {
        let checked = self.truth.medium.begun().map_or(Ok(()), Begun::check);
        self.findings.note(Kind::Stamp, checked);
    }

    /// Records that a block begins with this number of P/E cycles.
    pub(crate) fn begin_worn(&mut self, block: BlockId, pec: u32) {
        if !self.check_block(block, "wear") {
            return;
        }
        self.truth.doses.begin_worn(block, pec);
    }

    /// Records the reads that a block served before the run, as the dose of each wordline in
    /// quarters.
    pub(crate) fn age_block(&mut self, block: BlockId, doses: &[u32]) {
        if !self.check_block(block, "reads") {
            return;
        }
        let programmed =
            self.truth.protocol.written(block).div_ceil(self.truth.geometry.cell.bits());
        if doses.len() as u64 > u64::from(programmed) {
            let wordlines = doses.len();
            return self.findings.add(Kind::Protocol, || {
                format!(
                    "reads of {wordlines} wordlines of block {block}, but only {programmed} are \
                     programmed"
                )
            });
        }
        self.truth.doses.age(&mut self.truth.medium, block, doses);
    }
}
