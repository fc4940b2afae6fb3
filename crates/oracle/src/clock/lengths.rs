//! Times of operations and addresses of pages. The oracle computes both from the configuration,
//! with code of its own.

use std::collections::BTreeMap;

use vpass_drive::base::geometry::Geometry;
use vpass_drive::base::units::{BlockId, Ns, Ppn};
use vpass_drive::config::{DriveConfig, EccConfig, KindUs, Number, ProgramUnit};

use crate::codings::Codings;

/// Coding of a page's cells, and the retry level at which a read of the page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct How {
    pub(super) coding: u8,
    pub(super) level: u8,
}

/// Times of one drive in ns, and the sizes that addresses are computed from.
#[derive(Debug)]
pub(super) struct Lengths {
    /// Sensing time of each page kind.
    sense: Vec<Ns>,
    /// Program time of each page kind.
    program: Vec<Ns>,
    /// Time to program a wordline over itself for guard levels.
    overwrite: Ns,
    /// Time to program a wordline over itself for fewer sensings.
    adjust: Ns,
    /// Time of an erase, and the other times that apply from a P/E count on.
    erase: Ns,
    worn_erases: BTreeMap<u32, Ns>,
    pub(super) probe: Ns,
    pub(super) ecc: Ns,
    /// Time of each retry in the array, on the channel and in the decoder. `None` means the time of
    /// the first sensing.
    retry: Vec<(Option<Ns>, Option<Ns>, Ns)>,
    pub(super) suspend_program: Ns,
    pub(super) suspend_erase: Ns,
    /// Number of times that one operation may be suspended.
    pub(super) suspensions: u32,
    channel_mb_s: f64,
    host_mb_s: f64,
    pub(super) page_bytes: u32,
    pub(super) cache_read: bool,
    pub(super) by_wordline: bool,
    /// Number of pages that may be on their way from the write buffer to flash when a write enters;
    /// 0 without a buffer.
    pub(super) slots: u32,
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
}

/// Returns the time to program a page of a kind. If all kinds take equally long, this is also the
/// time of a wordline.
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
        }
    }

    /// Takes the time of an adjustment from the refresh technique.
    pub(super) fn expect_refresh(&mut self, config: &DriveConfig, refresh: &str) {
        let own = config.refresh.params.get(Some(refresh), "adjust_us").map(Number::value);
        self.adjust = own.filter(|us| *us > 0.0).map_or(self.overwrite, ns);
    }

    /// Returns the time to program a wordline over itself for a coding.
    pub(super) fn merge(&self, coding: u8) -> Ns {
        if coding < 4 { self.overwrite } else { self.adjust }
    }

    /// Returns the time to program a page, or the wordline that begins with it.
    pub(super) fn program(&self, dst: Ppn) -> Ns {
        self.program[(dst.number() % self.bits) as usize]
    }

    /// Returns the time to erase a block after this number of P/E cycles.
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

    /// Returns the time of this number of sensings, which is below that of every full-density page
    /// kind. The two kinds with the fewest sensings give the time of one sensing.
    fn of_sensings(&self, sensings: u32) -> Ns {
        let all =
            (0..self.bits).map(|kind| (self.codings.sensings(0, kind), self.sense[kind as usize]));
        let few = all.clone().min().expect("cells have page kinds");
        let Some(more) = all.filter(|(sensings, _)| *sensings > few.0).min() else { return few.1 };
        let each = (more.1 as f64 - few.1 as f64) / f64::from(more.0 - few.0);
        (few.1 as f64 - each * f64::from(few.0 - sensings)).max(0.0).round() as Ns
    }

    /// Returns the times that a sensing keeps the array and the channel: the first one of a read,
    /// which may begin at a level, or this retry. Level 0 takes `transfer` on the channel. The array
    /// senses nothing else until the controller has tried to decode the page of a retry. If the
    /// first sensing begins at a level that decodes more slowly than level 0, the array waits for
    /// the difference.
    pub(super) fn sensing(
        &self,
        ppn: Ppn,
        How { coding, level }: How,
        retry: Option<u8>,
        transfer: Ns,
    ) -> (Ns, Ns) {
        let sense = self.sense(ppn, coding);
        let attempt = retry.unwrap_or(level);
        if attempt == 0 {
            return (sense, transfer);
        }
        let (own_sense, own_transfer, decode) =
            self.retry.get(usize::from(attempt) - 1).copied().unwrap_or_default();
        let hidden = if retry.is_some() { 0 } else { decode.min(self.ecc) };
        (own_sense.unwrap_or(sense) + decode - hidden, own_transfer.unwrap_or(transfer))
    }

    /// Returns the time of this number of bytes on a channel.
    pub(super) fn channel(&self, bytes: u64) -> Ns {
        transfer(bytes, self.channel_mb_s)
    }

    /// Returns the time of this number of whole pages on a channel, one after another.
    pub(super) fn pages(&self, pages: u32) -> Ns {
        u64::from(pages) * self.channel(self.page_bytes.into())
    }

    /// Returns the time of this number of bytes on the host link; `None` for an infinitely fast
    /// link.
    pub(super) fn link(&self, bytes: u32) -> Option<Ns> {
        (self.host_mb_s > 0.0).then(|| transfer(bytes.into(), self.host_mb_s))
    }

    pub(super) fn block(&self, ppn: Ppn) -> BlockId {
        BlockId::new(ppn.number() / self.pages_per_block)
    }

    /// Returns the block of a page and its wordline, numbered within the block.
    pub(super) fn wordline(&self, ppn: Ppn) -> (BlockId, u32) {
        (self.block(ppn), ppn.number() % self.pages_per_block / self.bits)
    }

    pub(super) fn die_of_block(&self, block: BlockId) -> u32 {
        block.number() / (self.blocks_per_plane * self.planes_per_die)
    }

    pub(super) fn die(&self, ppn: Ppn) -> u32 {
        self.die_of_block(self.block(ppn))
    }

    /// Returns the array that senses a page for the host.
    pub(super) fn unit(&self, ppn: Ppn) -> u32 {
        let plane = self.block(ppn).number() / self.blocks_per_plane;
        if self.units_per_die == 1 { plane / self.planes_per_die } else { plane }
    }

    pub(super) fn channel_of(&self, die: u32) -> u32 {
        die / self.dies_per_channel
    }

    /// Returns the first page of this page's wordline that a coding keeps.
    pub(super) fn wordline_start(&self, ppn: Ppn, coding: u8) -> Ppn {
        Ppn::new(self.codings.next_kept(coding, ppn.number() / self.bits * self.bits))
    }
}
