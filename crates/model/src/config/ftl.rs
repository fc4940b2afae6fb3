//! `[drive]`, `[gc]`, `[wear]`, `[reclaim]`, `[start]`: the controller and its start-up state.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require};
use super::is_default;
use super::keys::{self, KeyValue, Keys, Type};
use super::params::Params;
use crate::base::span::Span;
use crate::base::units::Bytes;

/// `[drive]`: capacity, spare flash, write buffer and queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "drive")]
pub struct CapacityConfig {
    /// Bytes that the host sees. If absent, the capacity follows from `geometry` and `drive.spare`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Words("above 0; fewer than 2^31 pages"))]
    pub capacity: Option<Bytes>,
    /// Share of raw flash that the host does not see. If absent, this share follows from
    /// `drive.capacity` and `geometry`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "share", range = Real(0.0, 0.95))]
    pub spare: Option<f64>,
    /// Write buffer. One half gathers and merges writes, the other holds pages being programmed. 0
    /// turns it off.
    #[key(
        unit = "size",
        range = Size(0, 1 << 36),
        default = Bytes(4 << 20),
        source = "assumption: usual for a PCIe drive"
    )]
    pub write_buffer: Bytes,
    /// Whether the controller's memory keeps its data without power. If it does not, a flush of the
    /// host ends when all earlier data is on flash. Otherwise a flush ends at once.
    #[serde(skip_serializing_if = "Clone::clone")]
    #[key(default = true, source = "assumption: usual for an enterprise drive")]
    pub write_buffer_protected: bool,
    /// Rated P/E cycles of the flash; `projected_life_days` counts up to them.
    #[key(
        unit = "P/E cycles",
        range = Whole(1, PEC_MAX as u64),
        default = 3000,
        source = "assumption: TLC"
    )]
    pub rated_pec: u32,
    /// Largest number of requests inside the drive at a time. Later requests wait at the host, and
    /// their latency counts from arrival.
    #[key(
        unit = "requests",
        range = Whole(1, 65_536),
        default = 1024,
        source = "assumption: usual for a PCIe drive",
        random = [1, 7, 1024]
    )]
    pub max_outstanding: u32,
    /// Bytes that rewrites because of reads or age first program in SLC, per byte rewritten. They
    /// are only counted (`smart.slc_rewrites`): they take no time, no space and no P/E cycles.
    #[serde(skip_serializing_if = "is_default")]
    #[key(range = Real(0.0, 4.0), default = 0.0)]
    pub slc_rewrites: f64,
}

impl CapacityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(self.capacity.is_none_or(|c| c.0 > 0), || {
            "drive.capacity is 0; at least one page is needed".into()
        })
    }
}

/// `[gc]`: when garbage collection runs. The run's `gc` technique picks the victims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(default)]
#[keys(table = "gc")]
pub struct GcConfig {
    /// Share of the spare blocks below which GC uses idle time to free blocks (timed gear). The
    /// drive raises the share if writes would otherwise wait. 0 turns it off.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.25,
        source = "assumption: with a quarter of the spare blocks free, bursts of writes need not \
            wait, and write amplification grows little",
        random = [0.0, 0.25, 0.6]
    )]
    pub background: f64,
    /// Parameters of GC policies.
    #[serde(flatten)]
    #[key(skip)]
    pub params: Params,
}

/// Largest `wear.acceleration`. At this value, three erases of each block are a life of 3,000
/// cycles.
const FASTEST: u64 = 1000;

/// `[wear]`: wear levelling by effective P/E counts, and the number of P/E cycles of an erase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "wear")]
pub struct WearConfig {
    /// Whether the drive takes the least worn free block first.
    #[key(default = true, random = 0.7)]
    pub dynamic: bool,
    /// Gap in effective P/E cycles between a block and a free block. If the free block is more worn
    /// by more than this gap, it receives the (cold) data of the other block. Wear of blocks may
    /// differ by a few cycles more. 0 turns these moves off.
    #[key(
        unit = "P/E cycles",
        range = keys::U32,
        default = 100,
        source = "assumption: 5 % of a 2,000-cycle life; vendors publish no figure",
        random = [0, 1, 5, 100]
    )]
    pub static_gap: u32,
    /// P/E cycles that one erase counts as in the measured phase, except erases for wear levelling.
    /// `vpass life` then simulates fewer erases by this factor.
    #[key(unit = "P/E cycles", range = Whole(1, FASTEST), default = 1)]
    pub acceleration: u32,
}

/// Schedule of reclaim jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The triggering read completes after the whole job.
    Foreground,
    /// Number of page copies without interruption; then waiting reads go.
    Batch(u32),
    /// Jobs use idle gaps; a job is urgent if its block may run out of reads before the expected
    /// end.
    Deadline,
}

impl std::fmt::Display for Schedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Foreground => f.write_str("foreground"),
            Self::Batch(n) => write!(f, "batch:{n}"),
            Self::Deadline => f.write_str("deadline"),
        }
    }
}

impl KeyValue for Schedule {
    const TYPE: Type = Type::Text;
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let batch = || {
            let copies = text.strip_prefix("batch:")?.parse().ok();
            copies.filter(|n| (1..=65_535).contains(n)).map(Self::Batch)
        };
        match text.as_str() {
            "foreground" => Ok(Self::Foreground),
            "deadline" => Ok(Self::Deadline),
            _ => batch().ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "`{text}` is not a schedule; expected \"foreground\", \"batch:N\" (N from 1 to \
                     65535) or \"deadline\""
                ))
            }),
        }
    }
}

/// `[reclaim]`: how read-reclaim jobs are carried out. The run's `reclaim` technique asks for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(default)]
#[keys(table = "reclaim")]
pub struct ReclaimConfig {
    /// Schedule of reclaim jobs: "foreground", "batch:N" or "deadline".
    #[key(
        range = Words("foreground, deadline, batch:N (N 1 to 65535)"),
        default = Schedule::Deadline,
        random = [Schedule::Foreground, Schedule::Batch(1), Schedule::Batch(24), Schedule::Deadline]
    )]
    pub schedule: Schedule,
    /// Reads that a block may still serve between its alarm and the end of its job (`R_late`). If
    /// absent, this number follows from the timing. It is 0 with schedule "foreground".
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(
        unit = "reads",
        range = Whole(0, 20_000_000),
        random = [None, None, Some(0), Some(1), Some(40), Some(400)]
    )]
    pub late_reads: Option<u32>,
    /// Retries that a read may need before its data is rewritten, if `[ecc]` has retries.
    #[serde(skip_serializing_if = "is_default")]
    #[key(range = Whole(0, 31), default = 0)]
    pub retries: u32,
    /// Parameters of techniques.
    #[serde(flatten)]
    #[key(skip)]
    pub params: Params,
}

/// `[start]`: the drive's age and content when the measured phase begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "start")]
pub struct StartConfig {
    /// P/E cycles of every block.
    #[key(
        unit = "P/E cycles",
        range = Whole(0, PEC_MAX as u64),
        default = 0,
        random = [0, 999, 3000, 3300]
    )]
    pub pec: u32,
    /// Largest number of P/E cycles that a block has in addition to `pec`. Each block draws its
    /// number between 0 and this value.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64), default = 0)]
    pub pec_spread: u32,
    /// Share of the blocks, drawn at random, that begin with `worn_pec` cycles.
    #[key(unit = "share", range = keys::SHARE, default = 0.0)]
    pub worn_share: f64,
    /// P/E cycles with which the blocks of `worn_share` begin.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64), default = 0)]
    pub worn_pec: u32,
    /// Share of the capacity that is written once, sequentially.
    #[key(unit = "share", range = keys::SHARE, default = 1.0, random = [0.0, 0.5, 0.9, 1.0])]
    pub fill: f64,
    /// Random overwrites after the fill, in multiples of the filled capacity. From 1 on, and on a
    /// large drive, the steady state is computed instead of written.
    #[key(range = Real(0.0, 1000.0), default = 0.0, random = [0.0, 0.3, 1.5])]
    pub overwrite: f64,
    /// Largest number of reads that a written block has served before the run. Each block draws its
    /// number between 0 and this value. The reads are spread evenly over the wordlines of the
    /// block.
    #[key(unit = "reads", range = Whole(0, 20_000_000), default = 0)]
    pub reads: u32,
    /// Largest age of a written block when the run begins, such as "30d". Each block draws its age
    /// between 0 and this value.
    #[key(
        unit = "time",
        range = Words("0 or more, with a unit: ns, us, ms, s, min, h, d, y"),
        default = Span(0)
    )]
    pub age: Span,
}

impl StartConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let room = PEC_MAX - self.pec;
        require(self.pec_spread <= room, || {
            format!(
                "start.pec_spread = {}: with start.pec = {}, start.pec_spread must be at most \
                 {room}",
                self.pec_spread, self.pec
            )
        })?;
        let least = self.pec + self.pec_spread;
        require(self.worn_share == 0.0 || (least..=PEC_MAX).contains(&self.worn_pec), || {
            format!(
                "start.worn_pec = {}: blocks with more wear than the others must begin with \
                 {least} to {PEC_MAX} P/E cycles",
                self.worn_pec
            )
        })
    }

    /// Returns the P/E cycles of the most worn block.
    pub fn pec_most(&self) -> u32 {
        let of_share = if self.worn_share > 0.0 { self.worn_pec } else { 0 };
        of_share.max(self.pec + self.pec_spread)
    }
}
