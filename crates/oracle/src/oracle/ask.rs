//! Answers questions about true doses and limits, and about the content of flash pages.

use vpass_drive::base::units::{Lpn, Ppn};

use crate::doses::Stress;
use crate::limits::FAR;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::stamps::Tag;

impl Oracle {
    /// Returns the true dose and limit of a programmed page, in 1/1024 dose units. Returns `None`
    /// if reads do not disturb the page, or if there is no such page.
    pub fn truth(&self, ppn: Ppn) -> Option<(u64, u64)> {
        if ppn.number() >= self.truth.raw_pages {
            return None;
        }
        let stress =
            self.truth.doses.stress(&self.truth.medium, At::new(&self.truth.geometry, ppn));
        (stress != Stress::SAFE).then_some((stress.dose, stress.limit.max(0).cast_unsigned()))
    }

    /// Returns the number of reads beside a programmed page that it still endures, in dose units.
    /// It is below 0 if the page is past its limit, and infinite if reads do not disturb the page.
    pub fn reads_left(&self, ppn: Ppn) -> f64 {
        let at = At::new(&self.truth.geometry, ppn);
        let stress = self.truth.doses.stress(&self.truth.medium, at);
        if stress == Stress::SAFE {
            return f64::INFINITY;
        }
        (stress.limit as f64 - stress.dose as f64) / (4 * self.truth.doses.page(at).alpha) as f64
    }

    /// Returns the dose that a read of the flash page `neighbour` adds to this page, in 1/1024.
    /// `neighbour` is on a wordline beside this page.
    pub(crate) fn slope(&self, ppn: Ppn, neighbour: Ppn) -> u64 {
        self.truth.doses.page(At::new(&self.truth.geometry, ppn)).alpha
            * u64::from(self.truth.doses.of_page(At::new(&self.truth.geometry, neighbour)))
    }

    /// Returns the dose that a read of a page adds to wordlines far from it in its block, in
    /// 1/1024.
    pub(crate) fn weight(&self, ppn: Ppn) -> u64 {
        FAR * u64::from(self.truth.doses.of_page(At::new(&self.truth.geometry, ppn)))
    }

    /// Returns dose and limit as [`Self::truth`] does, for the next page of a block, as if it were
    /// programmed now.
    pub(crate) fn truth_of_next(&self, ppn: Ppn) -> Option<(u64, u64)> {
        let at = At::new(&self.truth.geometry, ppn);
        if at.kind > 0 {
            return self.truth(ppn);
        }
        let stress = self.truth.doses.if_programmed(&self.truth.medium, at);
        (stress != Stress::SAFE).then_some((stress.dose, stress.limit.max(0).cast_unsigned()))
    }

    /// Returns the dose as [`Self::slope`] does, for the next page of a block.
    pub(crate) fn slope_of_next(&self, ppn: Ppn, neighbour: Ppn) -> u64 {
        let slope = self.slope(ppn, neighbour);
        if At::new(&self.truth.geometry, ppn).kind > 0 {
            slope
        } else {
            self.truth.doses.before(slope)
        }
    }

    /// Returns whether the drive reported this host page lost, and the page was not written as a
    /// whole since.
    pub fn is_lost(&self, lpn: Lpn) -> bool {
        self.truth.stamps.newest(lpn).is_some_and(Tag::is_lost)
    }

    /// Returns the true content of a flash page: host page and version.
    pub fn content(&self, ppn: Ppn) -> Option<(Lpn, u32)> {
        self.truth
            .carried(ppn)
            .filter(|stamp| stamp.lpn.number() < self.truth.geometry.host_pages)
            .map(|stamp| (stamp.lpn, stamp.tag.version()))
    }

    /// Returns the newest version of a host page that the host may read.
    pub fn newest(&self, lpn: Lpn) -> Option<u32> {
        self.truth.stamps.newest(lpn).filter(|tag| tag.is_present()).map(Tag::version)
    }
}
