//! Answers to those who ask the oracle: true doses and limits, and what flash pages hold.

use vpass_core::base::units::{Lpn, Ppn};

use crate::doses::Truth;
use crate::endurance::FAR;
use crate::medium::At;
use crate::oracle::Oracle;
use crate::stamps::Tag;

impl Oracle {
    /// True dose and limit of a programmed page, in 1/1024 dose units; `None` where nothing
    /// disturbs it or there is no such page.
    pub fn truth(&self, ppn: Ppn) -> Option<(u64, u64)> {
        if ppn.number() >= self.raw_pages {
            return None;
        }
        let truth = self.doses.truth(&self.medium, At::new(&self.geometry, ppn));
        (truth != Truth::SAFE).then_some((truth.dose, truth.limit.max(0).cast_unsigned()))
    }

    /// Reads beside a programmed page that it still endures, in dose units; below 0 where it is
    /// past its limit, infinitely many where nothing disturbs it.
    pub fn reads_left(&self, ppn: Ppn) -> f64 {
        let at = At::new(&self.geometry, ppn);
        let truth = self.doses.truth(&self.medium, at);
        if truth == Truth::SAFE {
            return f64::INFINITY;
        }
        (truth.limit as f64 - truth.dose as f64) / (4 * self.doses.page(at).alpha) as f64
    }

    /// What a read of the flash page `neighbour`, on a wordline next to its own, adds to its dose,
    /// in 1/1024.
    pub(crate) fn slope(&self, ppn: Ppn, neighbour: Ppn) -> u64 {
        self.doses.page(At::new(&self.geometry, ppn)).alpha
            * u64::from(self.doses.of_page(At::new(&self.geometry, neighbour)))
    }

    /// What a read of a page adds to the doses of what lies far from it in its block, in 1/1024.
    pub(crate) fn weight(&self, ppn: Ppn) -> u64 {
        FAR * u64::from(self.doses.of_page(At::new(&self.geometry, ppn)))
    }

    /// As [`Self::truth`], of the page that its block holds next, were it programmed now.
    pub(crate) fn truth_of_next(&self, ppn: Ppn) -> Option<(u64, u64)> {
        let at = At::new(&self.geometry, ppn);
        if at.kind > 0 {
            return self.truth(ppn);
        }
        let truth = self.doses.if_programmed(&self.medium, at);
        (truth != Truth::SAFE).then_some((truth.dose, truth.limit.max(0).cast_unsigned()))
    }

    /// As [`Self::slope`], of that page.
    pub(crate) fn slope_of_next(&self, ppn: Ppn, neighbour: Ppn) -> u64 {
        let slope = self.slope(ppn, neighbour);
        if At::new(&self.geometry, ppn).kind > 0 { slope } else { self.doses.before(slope) }
    }

    /// Whether the drive reported the host's data of this page lost, and nothing whole was written
    /// since.
    pub(crate) fn is_lost(&self, lpn: Lpn) -> bool {
        self.stamps.newest(lpn).is_some_and(Tag::is_lost)
    }

    /// What a flash page really holds: host page and version.
    pub fn content(&self, ppn: Ppn) -> Option<(Lpn, u32)> {
        self.carried(ppn)
            .filter(|stamp| stamp.lpn.number() < self.geometry.host_pages)
            .map(|stamp| (stamp.lpn, stamp.tag.version()))
    }

    /// The newest version of a host page that the host may read.
    pub fn newest(&self, lpn: Lpn) -> Option<u32> {
        self.stamps.newest(lpn).filter(|tag| tag.is_present()).map(Tag::version)
    }
}
