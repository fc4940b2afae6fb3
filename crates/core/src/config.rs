//! The drive's configuration: one struct per TOML table, defaults, and what is checked before anything runs.
//! Every error says which key, what was wrong and what would be right.

mod density;
mod disturb;
mod flash;
mod ftl;
mod params;
mod resolve;

pub use density::{DensityConfig, IntervalAverage};
pub(crate) use disturb::ALPHA_MAX;
pub use disturb::{DisturbConfig, DisturbModel, DoseUnit, PerPec};
pub use flash::{Cell, GeometryConfig, ProgramUnit, SenseUs, TimingConfig};
pub use ftl::{CapacityConfig, GcConfig, ReclaimConfig, Schedule, StartConfig, WearConfig};
pub use params::{Given, Number, Params};
pub use resolve::MIN_SPARE_BLOCKS;

use serde::{Deserialize, Serialize};

/// A configuration that cannot be run, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

/// Everything that describes a drive; the tables of a drive file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// What the drive is, in a line, and where its numbers come from.
    #[serde(default)]
    pub description: String,
    /// `[geometry]`
    pub geometry: GeometryConfig,
    /// `[timing]`
    pub timing: TimingConfig,
    /// `[drive]`
    #[serde(default)]
    pub drive: CapacityConfig,
    /// `[gc]`
    #[serde(default)]
    pub gc: GcConfig,
    /// `[wear]`
    #[serde(default)]
    pub wear: WearConfig,
    /// `[reclaim]`
    #[serde(default)]
    pub reclaim: ReclaimConfig,
    /// `[density]`
    #[serde(default)]
    pub density: DensityConfig,
    /// `[start]`
    #[serde(default)]
    pub start: StartConfig,
    /// `[disturb]`
    #[serde(default)]
    pub disturb: DisturbConfig,
}

impl DriveConfig {
    /// Checks every table but for what stands on cards, and fills in what follows from other keys (capacity, `blocks_per_plane`, spare).
    pub(crate) fn resolve_tables(mut self) -> Result<Self, ConfigError> {
        self.geometry.check()?;
        self.timing.check(self.geometry.cell)?;
        self.gc.check()?;
        self.wear.check()?;
        self.reclaim.check()?;
        self.density.check()?;
        self.start.check()?;
        self.drive.check()?;
        self.disturb.check(self.geometry.cell)?;
        resolve::sizes(&mut self)?;
        Ok(self)
    }
}

impl DriveConfig {
    /// Program time of a page: its share, where a program takes a wordline.
    pub fn program_us_per_page(&self) -> f64 {
        match self.timing.program_unit {
            ProgramUnit::Page => self.timing.program_us,
            ProgramUnit::Wordline => self.timing.program_us / f64::from(self.geometry.cell.bits()),
        }
    }
}

/// `Ok` where `ok`, else the sentence.
pub(crate) fn require(ok: bool, sentence: impl FnOnce() -> String) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError(sentence())) }
}

/// A share between 0 and 1 with a name for the error.
pub(crate) fn require_share(key: &str, value: f64) -> Result<(), ConfigError> {
    require((0.0..=1.0).contains(&value), || format!("{key} = {value} is outside 0 to 1"))
}

/// A finite number in a range with a name for the error.
pub(crate) fn require_range(key: &str, value: f64, low: f64, high: f64) -> Result<(), ConfigError> {
    require(value >= low && value <= high, || format!("{key} = {value} is outside {low} to {high}"))
}
