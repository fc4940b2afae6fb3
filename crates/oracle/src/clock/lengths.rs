//! How long things take and where they are, by the oracle's own arithmetic from the configuration.

use std::collections::BTreeMap;

use vpass_core::base::geometry::Geometry;
use vpass_core::base::units::{BlockId, Ns, Ppn};
use vpass_core::config::{DriveConfig, EccConfig, KindUs, Number, ProgramUnit, Schedule};

use crate::codings::Codings;

/// How a page is read: the coding of its cells, and the level of retries that its read begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct How {
    pub(super) coding: u8,
    pub(super) level: u8,
}

/// Times of one drive in ns, and the numbers that addresses are made of.
#[derive(Debug)]
pub(super) struct Lengths {
    /// By page kind.
    sense: Vec<Ns>,
    /// By page kind.
    program: Vec<Ns>,
    /// Programming a wordline over itself for guard levels.
    overwrite: Ns,
    /// A wordline programmed over itself for fewer sensings.
    adjust: Ns,
    /// What an erase takes, and from which P/E count on it takes something else.
    erase: Ns,
    worn_erases: BTreeMap<u32, Ns>,
    pub(super) probe: Ns,
    pub(super) ecc: Ns,
    /// Of each retry: the array, the channel, the decoder; the first two as of the first sensing
    /// where nothing is said.
    retry: Vec<(Option<Ns>, Option<Ns>, Ns)>,
    pub(super) suspend_program: Ns,
    pub(super) suspend_erase: Ns,
    /// How often one operation may be suspended.
    pub(super) suspensions: u32,
    channel_mb_s: f64,
    host_mb_s: f64,
    pub(super) page_bytes: u32,
    pub(super) cache_read: bool,
    pub(super) by_wordline: bool,
    /// Pages that may be on their way from the write buffer to flash when a write is taken in; none
    /// without a buffer.
    pub(super) slots: u32,
    /// The pause after which incomplete wordlines are programmed.
    pub(super) pad_after: Option<Ns>,
    pub(super) bits: u32,
    codings: Codings,
    pages_per_block: u32,
    blocks_per_plane: u32,
    planes_per_die: u32,
    pub(super) units_per_die: u32,
    dies_per_channel: u32,
    pub(super) dies: u32,
    pub(super) channels: u32,
    pub(super) max_outstanding: u32,
    /// Copies of a job of reclaim in one piece; none where a piece is all that is left of a job.
    pub(super) batch: Option<u32>,
}

/// Programming a page of a kind, or a wordline where kinds make no difference.
pub(crate) fn program_us(config: &DriveConfig, kind: u32) -> f64 {
    match &config.timing.program_us {
        KindUs::All(us) => *us,
        KindUs::PerKind(us) => us[kind as usize],
    }
}

fn ns(us: f64) -> Ns {
    (us * 1000.0).round() as Ns
}

fn transfer(bytes: u64, mb_s: f64) -> Ns {
    if mb_s == 0.0 { 0 } else { (bytes as f64 * 1000.0 / mb_s).ceil() as Ns }
}

fn retry(ecc: &EccConfig, n: usize) -> (Option<Ns>, Option<Ns>, Ns) {
    let of = |us: &[f64]| us.get(n).copied().map(ns);
    (of(&ecc.retry_sense_us), of(&ecc.retry_transfer_us), of(&ecc.retry_decode_us).unwrap_or(0))
}

impl Lengths {
    pub(super) fn new(geometry: &Geometry, config: &DriveConfig) -> Self {
        let (t, g) = (&config.timing, &config.geometry);
        let program: Vec<Ns> =
            (0..g.cell.bits()).map(|kind| ns(program_us(config, kind))).collect();
        let overwrite = program.iter().copied().max().unwrap_or(0);
        Self {
            sense: t.sense_per_kind_us(g.cell).into_iter().map(ns).collect(),
            program,
            overwrite,
            adjust: overwrite,
            erase: ns(t.erase_us),
            worn_erases: t.erase_by_pec.iter().map(|row| (row.pec, ns(row.us))).collect(),
            probe: ns(t.probe_us),
            ecc: ns(t.ecc_us),
            retry: (0..config.ecc.retry_decode_us.len()).map(|n| retry(&config.ecc, n)).collect(),
            suspend_program: ns(t.suspend_program_us),
            suspend_erase: ns(t.suspend_erase_us),
            suspensions: if t.suspend { t.suspend_limit } else { 0 },
            channel_mb_s: t.channel_mb_s,
            host_mb_s: t.host_mb_s,
            page_bytes: g.page_size.0 as u32,
            cache_read: t.cache_read,
            by_wordline: t.program_unit == ProgramUnit::Wordline,
            slots: (config.drive.write_buffer.0 / g.page_size.0 / 2) as u32,
            pad_after: (t.pad_after_us > 0.0).then(|| ns(t.pad_after_us)),
            bits: g.cell.bits(),
            codings: Codings::new(geometry),
            pages_per_block: g.wordlines_per_block * g.cell.bits(),
            blocks_per_plane: geometry.blocks_per_plane,
            planes_per_die: g.planes_per_die,
            units_per_die: if t.independent_planes { g.planes_per_die } else { 1 },
            dies_per_channel: g.dies_per_channel,
            dies: g.channels * g.dies_per_channel,
            channels: g.channels,
            max_outstanding: config.drive.max_outstanding,
            batch: if let Schedule::Batch(copies) = config.reclaim.schedule {
                Some(copies)
            } else {
                None
            },
        }
    }

    /// Wordlines are adjusted by this technique, for a time of its own.
    pub(super) fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str) {
        let own = config.refresh.params.get(Some(refresh), "adjust_us").map(Number::value);
        self.adjust = own.filter(|us| *us > 0.0).map_or(self.overwrite, ns);
    }

    /// Programming a wordline over itself for a coding.
    pub(super) fn merge(&self, coding: u8) -> Ns {
        if coding < 4 { self.overwrite } else { self.adjust }
    }

    /// Programming a page, or the wordline that begins with it.
    pub(super) fn program(&self, dst: Ppn) -> Ns {
        self.program[(dst.number() % self.bits) as usize]
    }

    /// Erasing a block after so many P/E cycles.
    pub(super) fn erase(&self, endured: u32) -> Ns {
        self.worn_erases.range(..=endured).next_back().map_or(self.erase, |(_, ns)| *ns)
    }

    pub(super) fn sense(&self, ppn: Ppn, coding: u8) -> Ns {
        let kind = ppn.number() % self.bits;
        self.codings.reads_like(coding, kind).map_or_else(
            || self.of_sensings(self.codings.sensings(coding, kind)),
            |kind| self.sense[kind as usize],
        )
    }

    /// What fewer sensings take than any page kind has in full density: as much less as the next
    /// fewest take more.
    fn of_sensings(&self, sensings: u32) -> Ns {
        let all =
            (0..self.bits).map(|kind| (self.codings.sensings(0, kind), self.sense[kind as usize]));
        let few = all.clone().min().expect("cells have page kinds");
        let Some(more) = all.filter(|(sensings, _)| *sensings > few.0).min() else { return few.1 };
        let each = (more.1 as f64 - few.1 as f64) / f64::from(more.0 - few.0);
        (few.1 as f64 - each * f64::from(few.0 - sensings)).max(0.0).round() as Ns
    }

    /// What a retry keeps the array for, the first of which is 1: nothing else is sensed until the
    /// controller has tried to decode it.
    pub(super) fn retry(&self, ppn: Ppn, coding: u8, attempt: u8) -> Ns {
        let (sense, _, decode) =
            self.retry.get(usize::from(attempt.wrapping_sub(1))).copied().unwrap_or_default();
        sense.unwrap_or(self.sense(ppn, coding)) + decode
    }

    /// What the first sensing of a read keeps array and channel for, where it begins with this
    /// level, 0 the first, and the first level would keep the channel for so long. Where the level
    /// decodes more slowly than the first one, nothing else is sensed meanwhile.
    pub(super) fn begin(&self, ppn: Ppn, transfer: Ns, How { coding, level }: How) -> (Ns, Ns) {
        if level == 0 {
            return (self.sense(ppn, coding), transfer);
        }
        let (_, _, decode) = self.retry.get(usize::from(level) - 1).copied().unwrap_or_default();
        (
            self.retry(ppn, coding, level) - decode.min(self.ecc),
            self.retry_transfer(transfer, level),
        )
    }

    /// What it keeps the channel for, where the first sensing took so much.
    pub(super) fn retry_transfer(&self, first: Ns, attempt: u8) -> Ns {
        let (_, transfer, _) =
            self.retry.get(usize::from(attempt.wrapping_sub(1))).copied().unwrap_or_default();
        transfer.unwrap_or(first)
    }

    /// So many bytes on a channel.
    pub(super) fn channel(&self, bytes: u64) -> Ns {
        transfer(bytes, self.channel_mb_s)
    }

    /// So many whole pages on a channel, one after another.
    pub(super) fn pages(&self, pages: u32) -> Ns {
        u64::from(pages) * self.channel(self.page_bytes.into())
    }

    /// So many bytes on the host link; none where it is infinitely fast.
    pub(super) fn link(&self, bytes: u32) -> Option<Ns> {
        (self.host_mb_s > 0.0).then(|| transfer(bytes.into(), self.host_mb_s))
    }

    /// A page read like this in one piece of a job: sensed, out, decoded.
    pub(super) fn whole_read(&self, ppn: Ppn, how: How) -> Ns {
        let (array, channel) = self.begin(ppn, self.pages(1), how);
        array + channel + self.ecc
    }

    pub(super) fn block(&self, ppn: Ppn) -> BlockId {
        BlockId::new(ppn.number() / self.pages_per_block)
    }

    /// The block of a page, and its wordline, numbered within that.
    pub(super) fn wordline(&self, ppn: Ppn) -> (BlockId, u32) {
        (self.block(ppn), ppn.number() % self.pages_per_block / self.bits)
    }

    pub(super) fn die_of_block(&self, block: BlockId) -> u32 {
        block.number() / (self.blocks_per_plane * self.planes_per_die)
    }

    pub(super) fn die(&self, ppn: Ppn) -> u32 {
        self.die_of_block(self.block(ppn))
    }

    /// The array that senses a page for the host.
    pub(super) fn unit(&self, ppn: Ppn) -> u32 {
        let plane = self.block(ppn).number() / self.blocks_per_plane;
        if self.units_per_die == 1 { plane / self.planes_per_die } else { plane }
    }

    pub(super) fn channel_of(&self, die: u32) -> u32 {
        die / self.dies_per_channel
    }

    /// The first page of a page's wordline that a coding keeps.
    pub(super) fn wordline_start(&self, ppn: Ppn, coding: u8) -> Ppn {
        Ppn::new(self.codings.next_kept(coding, ppn.number() / self.bits * self.bits))
    }
}
