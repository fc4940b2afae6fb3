//! The drive's configuration: one struct per TOML table, its defaults and its checks. An error
//! names the key, what is wrong and what would be right.

mod bch;
mod density;
mod disturb;
mod ecc;
mod error;
mod flash;
mod ftl;
mod hints;
pub mod keys;
mod params;
mod parity;
mod part_of;
mod rates;
mod refresh;
mod resolve;
mod sheet;

pub use bch::{BchConfig, BchTarget, Combine};
pub use density::{DensityConfig, IntervalAverage};
pub(crate) use disturb::{ALPHA_MAX, LIMIT_MAX, SCATTER_MAX};
pub use disturb::{DisturbConfig, DisturbModel, DoseUnit, PerPec};
pub use ecc::EccConfig;
pub use error::ConfigError;
pub use error::require;
pub use flash::{CellType, EraseAtPec, GeometryConfig, KindUs, ProgramUnit, TimingConfig};
pub use ftl::{CapacityConfig, GcConfig, ReclaimConfig, Schedule, StartConfig, WearConfig};
pub use hints::HintsConfig;
pub use params::{Given, Number, Params};
pub use parity::{ByWear, LastStage, ParityCache, ParityConfig};
pub use part_of::PartOf;
pub use rates::{ErrorConfig, ErrorLaw, ErrorRow, TimeUnit};
pub use refresh::RefreshConfig;
pub use resolve::MIN_SPARE_BLOCKS;
pub use sheet::SheetConfig;

use crate::base::span::Span;
use crate::base::units::Ns;
use keys::Keys;
use serde::{Deserialize, Serialize};

/// Divisor of the refresh period that gives the longest delay of a refresh in the timed gear. A die
/// finishes its operation first, and requests have their latency.
pub const LATE_SHARE: Ns = 8;

/// Description of a drive: the tables of a drive file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Keys)]
#[serde(deny_unknown_fields)]
pub struct DriveConfig {
    /// One line that describes the drive and the source of its numbers.
    #[serde(default)]
    #[key(default)]
    pub description: String,
    /// `[geometry]`
    pub geometry: GeometryConfig,
    /// `[timing]`
    pub timing: TimingConfig,
    /// `[drive]`
    #[serde(default)]
    #[key(default)]
    pub drive: CapacityConfig,
    /// `[gc]`
    #[serde(default)]
    #[key(default)]
    pub gc: GcConfig,
    /// `[wear]`
    #[serde(default)]
    #[key(default)]
    pub wear: WearConfig,
    /// `[reclaim]`
    #[serde(default)]
    #[key(default)]
    pub reclaim: ReclaimConfig,
    /// `[refresh]`
    #[serde(default)]
    #[key(default)]
    pub refresh: RefreshConfig,
    /// `[parity]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub parity: ParityConfig,
    /// `[density]`
    #[serde(default)]
    #[key(default)]
    pub density: DensityConfig,
    /// `[start]`
    #[serde(default)]
    #[key(default)]
    pub start: StartConfig,
    /// `[disturb]`
    #[serde(default)]
    #[key(default)]
    pub disturb: DisturbConfig,
    /// `[error]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub error: ErrorConfig,
    /// `[ecc]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub ecc: EccConfig,
    /// `[bch]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub bch: BchConfig,
    /// `[hints]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub hints: HintsConfig,
    /// `[sheet]`
    #[serde(default, skip_serializing_if = "is_default")]
    #[key(default)]
    pub sheet: SheetConfig,
    /// Larger drive of which this drive is a sample. A file cannot set this value.
    #[serde(skip)]
    pub part_of: Option<PartOf>,
}

/// Returns whether serde leaves a value out: it is the default.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl DriveConfig {
    /// Returns whether data has an age: at the start, or because it is refreshed.
    pub fn keeps_time(&self) -> bool {
        self.refresh.at_work || !self.start.age.is_zero()
    }

    /// Returns whether a read that fails is tried again.
    pub fn has_retries(&self) -> bool {
        self.ecc.levels() > 1 && self.error.model != ErrorLaw::None
    }

    /// Returns the largest age of data: the refresh period with its delay, or else
    /// `error.longest_age`. It is 0 if data has no age.
    pub fn longest_age(&self) -> Span {
        match self.refresh.at_work {
            _ if !self.keeps_time() => Span(0),
            true => Span(self.refresh.period.0 + self.refresh.period.0 / LATE_SHARE),
            false => self.error.longest_age,
        }
    }

    /// Checks every table except the parameters of techniques, and fills in missing values that
    /// follow from other keys: the capacity, `blocks_per_plane` and the spare share. The crate
    /// `techniques` also checks the parameters, against the cards of all techniques.
    ///
    /// # Errors
    /// Returns the first error, which names the wrong key.
    pub fn resolve(mut self) -> Result<Self, ConfigError> {
        self.geometry.check()?;
        self.timing.check(self.geometry.cell)?;
        self.gc.check_ranges()?;
        self.wear.check_ranges()?;
        self.reclaim.check_ranges()?;
        self.refresh.check()?;
        self.density.check_ranges()?;
        self.start.check()?;
        self.drive.check()?;
        let keeps = self.drive.write_buffer_protected;
        require(keeps || self.timing.program_unit == ProgramUnit::Page, || {
            "drive.write_buffer_protected = false needs timing.program_unit = \"page\"; otherwise \
             copies wait for their wordline in memory after their source is erased"
                .into()
        })?;
        self.bch.check()?;
        if self.error.model == ErrorLaw::Bch {
            self.ecc.check(self.geometry.page_size)?;
            require(self.disturb.model == DisturbModel::Count, || {
                "error.model = \"bch\" has the same limit for all pages of a block; set \
                 disturb.model = \"count\""
                    .into()
            })?;
        }
        crate::error::bch::fill(&mut self)?;
        self.disturb.check(self.geometry.cell)?;
        self.error.check(self.disturb.groups.len(), self.geometry.cell)?;
        self.ecc.check(self.geometry.page_size)?;
        self.hints.check()?;
        self.sheet.check_ranges()?;
        resolve::sizes(&mut self)?;
        crate::error::check(&self)?;
        Ok(self)
    }
}

impl DriveConfig {
    /// Returns the sensing time of a page, averaged over the page kinds.
    pub fn sense_us_per_page(&self) -> f64 {
        let sense = self.timing.sense_per_kind_us(self.geometry.cell);
        sense.iter().sum::<f64>() / sense.len() as f64
    }

    /// Returns the mean program time of a page over the page kinds. If one program writes a whole
    /// wordline, its time is divided by the pages of the wordline.
    pub fn program_us_per_page(&self) -> f64 {
        match self.timing.program_unit {
            ProgramUnit::Page => self.timing.program_us.mean(),
            ProgramUnit::Wordline => {
                self.timing.program_us.mean() / f64::from(self.geometry.cell.bits())
            }
        }
    }
}
