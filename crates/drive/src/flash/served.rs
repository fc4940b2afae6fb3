//! Reads that blocks served between two erases, if parity raises the limits of reads. Expected
//! numbers are sums over these reads (`error::expected`).

use crate::base::units::BlockId;
use crate::config::DriveConfig;
use crate::error::bch::Bch;
use crate::error::expected::{Expected, Served, Service};
use crate::flash::Flash;

/// Served reads of one drive.
#[derive(Debug)]
pub(super) struct Services {
    bch: Bch,
    served: Served,
}

impl Services {
    /// Returns `None` if parity raises no limits.
    pub(super) fn of(config: &DriveConfig) -> Option<Box<Self>> {
        let bch = Bch::of(config).filter(|bch| bch.members().is_some())?;
        Some(Box::new(Self { bch, served: Served::default() }))
    }
}

impl Flash {
    /// Returns the reads that a block has served since its erase.
    fn service(&self, block: BlockId) -> Option<Service> {
        let (hot, limits) = (self.hot[block.index()], self.limits()?);
        let (reads, pec) = (hot.reads.far().units(), self.cold[block.index()].pec);
        let (limit, aged) = limits.endurance_of_fresh(block, pec, hot.mode);
        (reads > 0.0).then_some(Service { reads, limit, aged })
    }

    /// Counts the served reads of a block that is about to be erased.
    pub(super) fn end_service(&mut self, block: BlockId) {
        if self.services.is_some()
            && let Some(service) = self.service(block)
            && let Some(services) = &mut self.services
        {
            services.served.add(service);
        }
    }

    /// Gives a block other limits. The reads that it has served count by its old limits.
    pub(super) fn change_limits(&mut self, block: BlockId, change: impl FnOnce(&mut Self)) {
        let is_booked = self.services.is_some();
        if is_booked {
            self.end_service(block);
        }
        change(self);
        let booked = self.service(block).filter(|_| is_booked);
        if let (Some(services), Some(service)) = (&mut self.services, booked) {
            services.served.leave_out(service);
        }
    }

    /// Drops the reads that blocks have served by now.
    pub(super) fn begin_service(&mut self) {
        let Some(mut services) = self.services.take() else { return };
        services.served = Served::default();
        self.geometry
            .block_ids()
            .filter_map(|block| self.service(block))
            .for_each(|service| services.served.leave_out(service));
        self.services = Some(services);
    }

    /// Returns the expected numbers for all reads served since the measured phase began; `None` if
    /// parity raises no limits.
    pub(crate) fn expected(&self) -> Option<Expected> {
        let services = self.services.as_ref()?;
        let mut served = services.served.clone();
        self.geometry
            .block_ids()
            .filter_map(|block| self.service(block))
            .for_each(|service| served.add(service));
        served.expected(&services.bch)
    }
}
