//! Records the start-up state of a drive: its pages, the wear of its blocks, and the reads that it
//! has served.

use vpass_drive::base::steady::Order;
use vpass_drive::base::units::{BlockId, Lpn};
use vpass_drive::watch::observer::NO_LPN;

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
        let room = self.geometry.pages_per_block as usize;
        if lpns.len() > room {
            self.findings.add(Kind::Protocol, || {
                format!("preload of {} pages into block {block} of {room}", lpns.len())
            });
        }
        let lpns = &lpns[..lpns.len().min(room)];
        self.wear.load(&self.geometry, block, lpns.len());
        let checked = self.protocol.preload(block, lpns.len() as u32);
        self.findings.note(Kind::Protocol, checked);
        let mut later = lpns.iter().skip(AHEAD);
        for (ppn, lpn) in self.geometry.first_page(block).run(lpns.len() as u32).zip(lpns) {
            later.next().into_iter().for_each(|lpn| {
                self.stamps.prefetch_load(*lpn);
                self.blame.prefetch(*lpn);
                self.parity.prefetch_load(*lpn);
            });
            if self.is_full() {
                self.blame.programmed(ppn, *lpn);
            }
            let checked = self.stamps.preload(&mut self.medium, At::new(&self.geometry, ppn), *lpn);
            self.findings
                .note(Kind::Stamp, checked.map_err(|what| format!("{what}, at ppn {ppn}")));
            self.lies_at(*lpn, ppn);
        }
    }

    /// Records a computed start. It follows from these orders and from the part that each block
    /// takes of the order of its die, or of the whole drive without parity.
    pub(crate) fn begin_in_order(&mut self, orders: &[Order], filled: u32) {
        if filled > self.geometry.host_pages || self.stamps.present() > 0 {
            return self.findings.add(Kind::Protocol, || {
                format!(
                    "a computed start of {filled} pages, but the drive already holds data or has \
                     fewer pages"
                )
            });
        }
        match Begun::new(&self.geometry, orders, filled) {
            Ok(begun) => {
                self.stamps.begin(begun.ranges());
                self.medium.begin(begun);
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
        let pages = self.geometry.pages_per_block;
        self.wear.load(&self.geometry, block, pages as usize);
        let checked = self.protocol.preload(block, pages);
        let was_erased = checked.is_ok();
        self.findings.note(Kind::Protocol, checked);
        if !was_erased {
            return;
        }
        let loaded = match self.medium.begun_mut() {
            Some(begun) => begun.load(block, first, order, holds),
            None => Err(format!("block {block} is loaded in an unknown order")),
        };
        self.findings.note(Kind::Stamp, loaded);
        if self.hints.is_some() {
            let lpns: Vec<Lpn> = self.pages_put_by_start(block).collect();
            self.preload_by_hint(block, &lpns);
        }
    }

    fn pages_put_by_start(&self, block: BlockId) -> impl Iterator<Item = Lpn> + '_ {
        let pages = self.geometry.first_page(block).run(self.geometry.pages_per_block);
        pages.map(|ppn| self.medium.put_by_start(ppn).unwrap_or(NO_LPN))
    }

    /// Checks that a computed start is complete.
    pub(crate) fn check_begun(&mut self) {
        let checked = self.medium.begun().map_or(Ok(()), Begun::check);
        self.findings.note(Kind::Stamp, checked);
    }

    /// Records that a block begins with this number of P/E cycles.
    pub(crate) fn begin_worn(&mut self, block: BlockId, pec: u32) {
        if !self.check_block(block, "wear") {
            return;
        }
        let checked = self.start_wear.begin(block, pec);
        self.findings.note(Kind::Books, checked);
        let more = self.doses.begin_worn(block, pec);
        self.wear.begin_worn(block, more);
        self.note_worn(block);
    }

    /// Records the reads that a block served before the run, as the dose of each wordline in
    /// quarters.
    pub(crate) fn age_block(&mut self, block: BlockId, doses: &[u32]) {
        if !self.check_block(block, "reads") {
            return;
        }
        let programmed = self.protocol.written(block).div_ceil(self.geometry.cell.bits());
        if doses.len() as u64 > u64::from(programmed) {
            let wordlines = doses.len();
            return self.findings.add(Kind::Protocol, || {
                format!(
                    "reads of {wordlines} wordlines of block {block}, but only {programmed} are \
                     programmed"
                )
            });
        }
        let checked = self.start_reads.serve(
            block,
            doses,
            (self.doses.read_of(block).unwrap_or(0), self.doses.most_alpha(block)),
        );
        self.findings.note(Kind::Books, checked);
        self.doses.age(&mut self.medium, block, doses);
        self.questions.begin_with(block, doses);
    }
}
