//! `[drive]`, `[gc]`, `[wear]`, `[reclaim]`, `[start]`: what the controller does with the flash.

use serde::de::MapAccess;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::disturb::PEC_MAX;
use super::error::{ConfigError, require, require_range, require_share};
use super::params::{Params, SlotTable, read_slot};
use crate::base::span::Span;
use crate::base::units::Bytes;

/// `[drive]`: what the host sees of the flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CapacityConfig {
    /// Host-visible bytes; follows from geometry and spare where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Bytes>,
    /// Share of raw flash that the host does not see; follows from capacity and geometry where
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare: Option<f64>,
    /// Write buffer; half of it gathers and merges writes, half holds pages being programmed. 0
    /// turns it off.
    pub write_buffer: Bytes,
    /// P/E cycles the flash is rated for; `projected_life_days` counts up to it.
    pub rated_pec: u32,
    /// Requests inside the drive at any time; later ones wait at the host (their latency counts
    /// from arrival).
    pub max_outstanding: u32,
}

impl Default for CapacityConfig {
    fn default() -> Self {
        // Assumptions: 4 MiB of buffer and 1024 commands are usual for a PCIe drive; 3000 cycles
        // for TLC.
        Self {
            capacity: None,
            spare: None,
            write_buffer: Bytes(4 << 20),
            rated_pec: 3000,
            max_outstanding: 1024,
        }
    }
}

impl CapacityConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if let Some(spare) = self.spare {
            require_range("drive.spare", spare, 0.0, 0.95)?;
        }
        require(self.capacity.is_none_or(|c| c.0 > 0), || {
            "drive.capacity is 0; at least one page is needed".into()
        })?;
        require(self.write_buffer.0 <= 1 << 36, || {
            format!("drive.write_buffer = \"{}\" is more than 64GiB", self.write_buffer)
        })?;
        require(self.rated_pec > 0, || {
            "drive.rated_pec is 0; the cycles the flash is rated for are expected".into()
        })?;
        require(self.rated_pec <= PEC_MAX, || {
            format!("drive.rated_pec = {} is more than {PEC_MAX}", self.rated_pec)
        })?;
        require((1..=65_536).contains(&self.max_outstanding), || {
            format!("drive.max_outstanding = {} is outside 1 to 65536", self.max_outstanding)
        })
    }
}

/// `[gc]`: when garbage collection runs. Which victim it picks is the run's `gc` technique.
#[derive(Clone, Debug, PartialEq)]
pub struct GcConfig {
    /// Free blocks, as a share of the spare blocks, below which idle time is used for GC (timed
    /// gear), and never so few that writes wait for them; 0 turns it off.
    pub background: f64,
    /// Parameters of GC policies.
    pub params: Params,
}

impl Default for GcConfig {
    fn default() -> Self {
        // Assumption: a quarter of the spare blocks kept free lets bursts through and costs little
        // write amplification.
        Self { background: 0.25, params: Params::default() }
    }
}

impl GcConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_share("gc.background", self.background)
    }
}

impl SlotTable for GcConfig {
    const KEYS: &'static [&'static str] = &["background"];

    fn read<'de, A: MapAccess<'de>>(&mut self, _: &str, table: &mut A) -> Result<(), A::Error> {
        self.background = table.next_value()?;
        Ok(())
    }

    fn params(&mut self) -> &mut Params {
        &mut self.params
    }
}

impl<'de> Deserialize<'de> for GcConfig {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read_slot(d)
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
const FASTEST: u32 = 1000;

/// `[wear]`: wear levelling on effective P/E counts, and how much an erase wears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WearConfig {
    /// Free blocks are taken youngest first.
    pub dynamic: bool,
    /// A block this many effective cycles younger than the oldest gets its (cold) data moved; 0
    /// turns it off.
    pub static_gap: u32,
    /// P/E cycles that an erase counts as from the measured phase on, except an erase that levels
    /// wear: `vpass life` simulates so many times fewer.
    pub acceleration: u32,
}

impl Default for WearConfig {
    fn default() -> Self {
        // Assumption: 5 % of a 2,000-cycle life; drives publish no figure.
        Self { dynamic: true, static_gap: 100, acceleration: 1 }
    }
}

impl WearConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require((1..=FASTEST).contains(&self.acceleration), || {
            format!("wear.acceleration = {} is outside 1 to {FASTEST}", self.acceleration)
        })
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
#[derive(Clone, Debug, PartialEq)]
pub struct ReclaimConfig {
    /// Who waits: "foreground", "batch:N" or "deadline".
    pub schedule: Schedule,
    /// Reads a block may still serve between its alarm and the end of its job (`R_late`); from the
    /// timing where absent, 0 in the foreground.
    pub late_reads: Option<u32>,
    /// Retries that a read may need before data is rewritten, where `[ecc]` has a ladder of them.
    pub retries: u32,
    /// Parameters of techniques.
    pub params: Params,
}

impl Default for ReclaimConfig {
    fn default() -> Self {
        Self {
            schedule: Schedule::Deadline,
            late_reads: None,
            retries: 0,
            params: Params::default(),
        }
    }
}

impl ReclaimConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        // No limit of `[disturb]` is larger.
        let late = self.late_reads.unwrap_or(0);
        require(late <= 20_000_000, || {
            format!("reclaim.late_reads = {late} is more than 20000000")
        })?;
        require(self.retries <= 31, || {
            format!("reclaim.retries = {} is more than 31", self.retries)
        })
    }
}

impl SlotTable for ReclaimConfig {
    const KEYS: &'static [&'static str] = &["schedule", "late_reads", "retries"];

    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, table: &mut A) -> Result<(), A::Error> {
        match key {
            "schedule" => self.schedule = table.next_value()?,
            "retries" => self.retries = table.next_value()?,
            _ => self.late_reads = table.next_value()?,
        }
        Ok(())
    }

    fn params(&mut self) -> &mut Params {
        &mut self.params
    }
}

impl<'de> Deserialize<'de> for ReclaimConfig {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        read_slot(d)
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartConfig {
    /// P/E cycles of every block.
    pub pec: u32,
    /// P/E cycles that each block has beyond these at most: how many is drawn evenly from 0 on.
    pub pec_spread: u32,
    /// Share of the blocks, drawn at random, that begin with `worn_pec` cycles.
    pub worn_share: f64,
    /// P/E cycles of that share.
    pub worn_pec: u32,
    /// Share of the capacity written once, sequentially.
    pub fill: f64,
    /// Then overwritten at random, in multiples of the filled capacity. From 1 on, and on a large
    /// drive, the steady state is computed into the drive instead of written.
    pub overwrite: f64,
    /// Reads that each written block has served by then at most: how many is drawn evenly from 0
    /// on, and spread evenly over its wordlines.
    pub reads: u32,
    /// The age that each written block has by then at most, a string such as "30d": how old is
    /// drawn evenly from 0 on.
    pub age: Span,
}

impl Default for StartConfig {
    fn default() -> Self {
        Self {
            pec: 0,
            pec_spread: 0,
            worn_share: 0.0,
            worn_pec: 0,
            fill: 1.0,
            overwrite: 0.0,
            reads: 0,
            age: Span(0),
        }
    }
}

impl StartConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        require_share("start.fill", self.fill)?;
        require_range("start.overwrite", self.overwrite, 0.0, 1000.0)?;
        // No limit of `[disturb]` is larger.
        require(self.reads <= 20_000_000, || {
            format!("start.reads = {} is more than 20000000", self.reads)
        })?;
        require(self.pec <= PEC_MAX, || {
            format!("start.pec = {} is more than {PEC_MAX}", self.pec)
        })?;
        let room = PEC_MAX - self.pec;
        require(self.pec_spread <= room, || {
            format!(
                "start.pec_spread = {}: with start.pec = {} it may be {room} at most",
                self.pec_spread, self.pec
            )
        })?;
        require_share("start.worn_share", self.worn_share)?;
        require(self.worn_pec <= PEC_MAX, || {
            format!("start.worn_pec = {} is more than {PEC_MAX}", self.worn_pec)
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
