//! `[drive]`, `[gc]`, `[wear]`, `[reclaim]`, `[start]`: what the controller does with the flash.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require};
use super::keys::{self, KeyValue, Keys, Type};
use super::params::Params;
use crate::base::span::Span;
use crate::base::units::Bytes;

/// `[drive]`: what the host sees of the flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "drive")]
pub struct CapacityConfig {
    /// Host-visible bytes; follows from geometry and spare where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "size", range = Words("above 0; fewer than 2^31 pages"))]
    pub capacity: Option<Bytes>,
    /// Share of raw flash that the host does not see; follows from capacity and geometry where
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[key(unit = "share", range = Real(0.0, 0.95))]
    pub spare: Option<f64>,
    /// Write buffer; half of it gathers and merges writes, half holds pages being programmed. 0
    /// turns it off.
    #[key(
        unit = "size",
        range = Size(0, 1 << 36),
        default = Bytes(4 << 20),
        source = "assumption: usual for a PCIe drive"
    )]
    pub write_buffer: Bytes,
    /// P/E cycles the flash is rated for; `projected_life_days` counts up to it.
    #[key(
        unit = "P/E cycles",
        range = Whole(1, PEC_MAX as u64),
        default = 3000,
        source = "assumption: TLC"
    )]
    pub rated_pec: u32,
    /// Requests inside the drive at any time; later ones wait at the host (their latency counts
    /// from arrival).
    #[key(
        unit = "requests",
        range = Whole(1, 65_536),
        default = 1024,
        source = "assumption: usual for a PCIe drive",
        random = [1, 7, 1024]
    )]
    pub max_outstanding: u32,
}

impl CapacityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        require(self.capacity.is_none_or(|c| c.0 > 0), || {
            "drive.capacity is 0; at least one page is needed".into()
        })
    }
}

/// `[gc]`: when garbage collection runs. Which victim it picks is the run's `gc` technique.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(table = "gc", slot)]
pub struct GcConfig {
    /// Free blocks, as a share of the spare blocks, below which idle time is used for GC (timed
    /// gear), and never so few that writes wait for them; 0 turns it off.
    #[key(
        unit = "share",
        range = keys::SHARE,
        default = 0.25,
        source = "assumption: a quarter of the spare blocks kept free lets bursts through and \
                  costs little write amplification",
        random = [0.0, 0.25, 0.6]
    )]
    pub background: f64,
    /// Parameters of GC policies.
    #[key(skip)]
    pub params: Params,
}

impl GcConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()
    }
}

impl Serialize for GcConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut table = s.serialize_map(None)?;
        table.serialize_entry("background", &self.background)?;
        self.params.write(&mut table)?;
        table.end()
    }
}

/// Largest `wear.acceleration`: a life of 3,000 cycles is then three erases of each block.
const FASTEST: u64 = 1000;

/// `[wear]`: wear levelling on effective P/E counts, and how much an erase wears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields, default)]
#[keys(table = "wear")]
pub struct WearConfig {
    /// Free blocks are taken youngest first.
    #[key(default = true, random = 0.7)]
    pub dynamic: bool,
    /// A block this many effective cycles younger than the oldest gets its (cold) data moved; 0
    /// turns it off.
    #[key(
        unit = "P/E cycles",
        range = keys::U32,
        default = 100,
        source = "assumption: 5 % of a 2,000-cycle life; drives publish no figure",
        random = [0, 1, 5, 100]
    )]
    pub static_gap: u32,
    /// P/E cycles that an erase counts as from the measured phase on, except an erase that levels
    /// wear: `vpass life` simulates so many times fewer.
    #[key(unit = "P/E cycles", range = Whole(1, FASTEST), default = 1)]
    pub acceleration: u32,
}

impl WearConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()
    }
}

/// Who waits for a reclaim job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// The triggering read completes after the whole job.
    Foreground,
    /// So many page copies without interruption, then waiting reads go.
    Batch(u32),
    /// Idle gaps; urgent when the reads left run out before the job is expected to end.
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
        match text.as_str() {
            "foreground" => Ok(Self::Foreground),
            "deadline" => Ok(Self::Deadline),
            other => {
                other.strip_prefix("batch:").and_then(|n| n.parse().ok()).filter(|n| (1..=65_535).contains(n)).map(Self::Batch).ok_or_else(
                    || {
                        serde::de::Error::custom(format!(
                            "`{other}` is no schedule; expected \"foreground\", \"batch:N\" (N from 1 to 65535) or \"deadline\""
                        ))
                    },
                )
            }
        }
    }
}

/// `[reclaim]`: how read-reclaim jobs are carried out. Which technique asks for them is the run's
/// `reclaim` option.
#[derive(Clone, Debug, PartialEq, Keys)]
#[keys(table = "reclaim", slot)]
pub struct ReclaimConfig {
    /// Who waits: "foreground", "batch:N" or "deadline".
    #[key(
        range = Words("foreground, deadline, batch:N (N 1 to 65535)"),
        default = Schedule::Deadline,
        random = [Schedule::Foreground, Schedule::Batch(1), Schedule::Batch(24), Schedule::Deadline]
    )]
    pub schedule: Schedule,
    /// Reads a block may still serve between its alarm and the end of its job (`R_late`); from the
    /// timing where absent, 0 in the foreground.
    #[key(
        unit = "reads",
        range = Whole(0, 20_000_000),
        random = [None, None, Some(0), Some(1), Some(40), Some(400)]
    )]
    pub late_reads: Option<u32>,
    /// Retries that a read may need before data is rewritten, where `[ecc]` has a ladder of them.
    #[key(range = Whole(0, 31), default = 0)]
    pub retries: u32,
    /// Parameters of techniques.
    #[key(skip)]
    pub params: Params,
}

impl ReclaimConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()
    }
}

impl Serialize for ReclaimConfig {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut table = s.serialize_map(None)?;
        table.serialize_entry("schedule", &self.schedule)?;
        if let Some(late) = self.late_reads {
            table.serialize_entry("late_reads", &late)?;
        }
        if self.retries > 0 {
            table.serialize_entry("retries", &self.retries)?;
        }
        self.params.write(&mut table)?;
        table.end()
    }
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
    /// P/E cycles that each block has beyond these at most: how many is drawn evenly from 0 on.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64), default = 0)]
    pub pec_spread: u32,
    /// Share of the blocks, drawn at random, that begin with `worn_pec` cycles.
    #[key(unit = "share", range = keys::SHARE, default = 0.0)]
    pub worn_share: f64,
    /// P/E cycles of that share.
    #[key(unit = "P/E cycles", range = Whole(0, PEC_MAX as u64), default = 0)]
    pub worn_pec: u32,
    /// Share of the capacity written once, sequentially.
    #[key(unit = "share", range = keys::SHARE, default = 1.0, random = [0.0, 0.5, 0.9, 1.0])]
    pub fill: f64,
    /// Then overwritten at random, in multiples of the filled capacity. From 1 on, and on a large
    /// drive, the steady state is computed into the drive instead of written.
    #[key(range = Real(0.0, 1000.0), default = 0.0, random = [0.0, 0.3, 1.5])]
    pub overwrite: f64,
    /// Reads that each written block has served by then at most: how many is drawn evenly from 0
    /// on, and spread evenly over its wordlines.
    #[key(unit = "reads", range = Whole(0, 20_000_000), default = 0)]
    pub reads: u32,
    /// The age that each written block has by then at most, a string such as "30d": how old is
    /// drawn evenly from 0 on.
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
                "start.pec_spread = {}: with start.pec = {} it may be {room} at most",
                self.pec_spread, self.pec
            )
        })?;
        let least = self.pec + self.pec_spread;
        require(self.worn_share == 0.0 || (least..=PEC_MAX).contains(&self.worn_pec), || {
            format!(
                "start.worn_pec = {}: blocks that are worn more than others begin with {least} to {PEC_MAX} P/E cycles",
                self.worn_pec
            )
        })
    }

    /// P/E cycles of the most worn block.
    pub fn pec_most(&self) -> u32 {
        let of_share = if self.worn_share > 0.0 { self.worn_pec } else { 0 };
        of_share.max(self.pec + self.pec_spread)
    }
}
