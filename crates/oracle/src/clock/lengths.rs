//! Times of operations and places of pages. The times are those of the drive's table (`Speed`).
//! `drive/tests/reference` compares this table with arithmetic of its own.

use vpass_drive::base::codings::FASTER;
use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Ns, Ppn, us};
use vpass_drive::config::{DriveConfig, Number, ProgramUnit};
use vpass_drive::time::Speed;

/// Coding of a page's cells, and the retry level at which a read of the page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct How {
    pub(super) coding: u8,
    pub(super) level: u8,
}

/// Times of one drive, and the other settings that decide when its work ends.
#[derive(Debug)]
pub(super) struct Lengths {
    pub(super) speed: Speed,
    pub(super) geometry: Geometry,
    /// Number of times that one operation may be suspended.
    pub(super) suspensions: u32,
    pub(super) cache_read: bool,
    pub(super) by_wordline: bool,
    /// Number of pages that may be on their way from the write buffer to flash when a write enters;
    /// 0 without a buffer.
    pub(super) slots: u32,
    pub(super) units_per_die: u32,
    pub(super) max_outstanding: u32,
    /// Speed of the host link; 0 if it is infinitely fast.
    host_mb_s: f64,
}

impl Lengths {
    pub(super) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let t = &config.timing;
        Self {
            speed: Speed::new(config, geometry, us(t.program_us.longest())),
            suspensions: if t.suspend { t.suspend_limit } else { 0 },
            cache_read: t.cache_read,
            by_wordline: t.program_unit == ProgramUnit::Wordline,
            slots: (config.drive.write_buffer.0 / u64::from(geometry.page_bytes) / 2) as u32,
            units_per_die: if t.independent_planes { geometry.planes_per_die } else { 1 },
            max_outstanding: config.drive.max_outstanding,
            host_mb_s: t.host_mb_s,
            geometry: geometry.clone(),
        }
    }

    /// Takes the time of an adjustment from the refresh technique.
    pub(super) fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str) {
        let own = config.refresh.params.get(Some(refresh), "adjust_us").map(Number::value);
        self.speed.adjust = own.filter(|time| *time > 0.0).map_or(self.speed.merge, us);
    }

    /// Returns the time to program a wordline over itself for a coding.
    pub(super) fn merge(&self, coding: u8) -> Ns {
        if coding < FASTER { self.speed.merge } else { self.speed.adjust }
    }

    /// Returns the time to program a page, or the wordline that begins with it.
    pub(super) fn program(&self, dst: Ppn) -> Ns {
        self.speed.program(self.geometry.kind_of(dst))
    }

    /// Returns the times that a sensing keeps the array and the channel: the first one of a read,
    /// which may begin at a level, or this retry. Level 0 takes `transfer` on the channel.
    pub(super) fn sensing(
        &self,
        ppn: Ppn,
        How { coding, level }: How,
        retry: Option<u8>,
        transfer: Ns,
    ) -> (Ns, Ns) {
        let kind = self.geometry.kind_of(ppn) as usize;
        let sense = self.speed.sense[usize::from(coding)][kind];
        retry.map_or_else(
            || self.speed.begin((sense, transfer), level),
            |attempt| {
                (self.speed.retry(sense, attempt), self.speed.retry_transfer(transfer, attempt))
            },
        )
    }

    /// Returns the time of this number of whole pages on a channel, one after another.
    pub(super) fn pages(&self, pages: u32) -> Ns {
        u64::from(pages) * self.speed.page_transfer
    }

    /// Returns the time of this number of bytes on the host link; `None` for an infinitely fast
    /// link.
    pub(super) fn link(&self, bytes: u32) -> Option<Ns> {
        let ns = f64::from(bytes) * 1000.0 / self.host_mb_s;
        (self.host_mb_s > 0.0).then(|| ns.ceil() as Ns)
    }

    pub(super) fn die_of_block(&self, block: BlockId) -> u32 {
        self.geometry.die_of(block).into()
    }

    pub(super) fn die(&self, ppn: Ppn) -> u32 {
        self.die_of_block(self.geometry.block_of(ppn))
    }

    /// Returns the array that senses a page for the host.
    pub(super) fn unit(&self, ppn: Ppn) -> u32 {
        let (die, plane) = (self.die(ppn), self.geometry.plane_of(self.geometry.block_of(ppn)));
        if self.units_per_die == 1 { die } else { die * self.units_per_die + plane }
    }
}
