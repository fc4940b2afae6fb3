//! The truth about one drive, from its operations alone: what each flash page holds, the dose and
//! the age of each block, and the jobs that move data. All checks compare the drive with it.

use std::collections::BTreeMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Lpn, Ns, Ppn};
use vpass_drive::config::DriveConfig;

use crate::ageing::Ageing;
use crate::cycles::Cycles;
use crate::doses::{Doses, Stress};
use crate::medium::{At, Medium};
use crate::oracle::jobs::Jobs;
use crate::protocol::Protocol;
use crate::stamps::{Stamp, Stamps};

/// Knowledge about the drive's flash and about its data.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) geometry: Geometry,
    pub(crate) raw_pages: u32,
    pub(crate) medium: Medium,
    pub(crate) stamps: Stamps,
    pub(crate) doses: Doses,
    pub(crate) protocol: Protocol,
    pub(crate) ages: Ageing,
    pub(crate) cycles: Cycles,
    pub(crate) jobs: Jobs,
    /// Copies that wait in the controller's memory, with their stamps.
    pub(crate) waiting: BTreeMap<Lpn, Stamp>,
}

impl Truth {
    pub(crate) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        Self {
            geometry: geometry.clone(),
            raw_pages: geometry.raw_pages(),
            medium: Medium::new(geometry),
            stamps: Stamps::new(geometry),
            doses: Doses::new(geometry, config),
            protocol: Protocol::new(geometry),
            ages: Ageing::new(config),
            cycles: Cycles::new(config),
            jobs: Jobs::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// Returns the size in bytes for a drive of this geometry.
    pub(crate) fn bytes(geometry: &Geometry) -> u64 {
        Medium::bytes(geometry)
            + Stamps::bytes(geometry)
            + Doses::bytes(geometry)
            + Protocol::bytes(geometry)
    }

    pub(crate) fn has_block(&self, block: BlockId) -> bool {
        block.number() < self.geometry.blocks
    }

    /// Returns the stamp of a flash page, or `None` beyond the flash.
    pub(crate) fn carried(&self, ppn: Ppn) -> Option<Stamp> {
        self.geometry.has_page(ppn).then(|| self.medium.stamp(At::new(&self.geometry, ppn)))
    }

    /// Returns whether a flash page holds the newest version of a page that the host may read.
    pub(crate) fn is_live(&self, ppn: Ppn) -> bool {
        self.carried(ppn).is_some_and(|stamp| self.stamps.is_live(stamp))
    }

    /// Returns the place of a flash page in words.
    pub(crate) fn place(&self, ppn: Ppn) -> String {
        let at = At::new(&self.geometry, ppn);
        format!("ppn {ppn} (block {}, wordline {})", at.block, at.index)
    }

    /// Returns a place of a wordline and a page kind in words.
    pub(crate) fn place_at(&self, at: At) -> String {
        self.place(Ppn::new(at.wordline * self.geometry.cell.bits() + at.kind))
    }

    /// Finds the limits of a block at its present age, or at the last time that the drive reported.
    pub(crate) fn know_age(&mut self, block: BlockId, at: Option<Ns>) {
        let step = self.ages.steps.step(self.ages.age(block, at));
        self.doses.set_step(block, step as u32);
    }

    /// Finds the limits of all blocks at their age.
    pub(crate) fn know_ages(&mut self, at: Ns) {
        if self.doses.has_rates() {
            for block in self.geometry.block_ids() {
                self.know_age(block, Some(at));
            }
        }
    }

    /// Returns the number of wordlines of a block with programmed pages.
    pub(crate) fn programmed(&self, block: BlockId) -> u32 {
        self.protocol.written(block).div_ceil(self.geometry.cell.bits())
    }

    /// Calls `look` for each wordline with programmed pages. It gets the number of the wordline,
    /// counted over the whole drive, and the truth about its weakest page kind.
    pub(crate) fn each_wordline(&self, block: BlockId, mut look: impl FnMut(u32, Stress)) {
        for index in 0..self.programmed(block) {
            let wordline = self.geometry.first_wordline(block) + index;
            let at = At { block, wordline, index, kind: 0 };
            look(wordline, self.doses.of_wordline(&self.medium, at));
        }
    }
}
