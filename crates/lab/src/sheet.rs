//! From a data sheet to a drive: the lines of a sheet, the drive file that follows from them, and
//! the drive's own numbers beside the sheet's.
//!
//! ```text
//! parse      reads the lines of a sheet
//! draft      changes single keys of the nearest preset, each with a comment
//! flash      cells, spare, dies and channels
//! rates      link, channels and program time
//! endurance  rated P/E cycles, and limits of a longer life
//! copy       a small copy of a drive, for short runs
//! beside     the table: sheet, drive, and where each number comes from
//! ```

pub mod beside;
mod copy;
mod draft;
mod edit;
mod endurance;
mod flash;
mod link;
pub mod parse;
mod rates;

use vpass_core::base::units::Bytes;
use vpass_core::config::CellType;

pub use draft::{Change, Draft};
pub use link::Link;

use crate::failure::Failure;
use crate::progress::Begin;

/// Lines of a data sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Bytes that the host sees.
    pub capacity: Bytes,
    /// Bits per cell.
    pub cell: CellType,
    /// Host interface.
    pub interface: Option<Link>,
    /// Random 4-KiB reads per second.
    pub random_read_iops: Option<f64>,
    /// Random 4-KiB writes per second.
    pub random_write_iops: Option<f64>,
    /// Sequential reads, in 10^6 bytes per second.
    pub sequential_read_mb_s: Option<f64>,
    /// Sequential writes, in 10^6 bytes per second.
    pub sequential_write_mb_s: Option<f64>,
    /// Data that the host may write.
    pub endurance: Option<Endurance>,
    /// Channels of the controller.
    pub channels: Option<u32>,
}

/// Data that the host may write during the drive's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endurance {
    /// Number of 10^12 bytes.
    Tbw(f64),
    /// Full drive writes per day of a warranty of this many years.
    Dwpd {
        /// Full drive writes per day.
        per_day: f64,
        /// Years of the warranty.
        years: f64,
    },
}

impl Endurance {
    /// Returns the number of 10^12 bytes.
    pub fn terabytes(self, capacity: Bytes) -> f64 {
        match self {
            Self::Tbw(terabytes) => terabytes,
            Self::Dwpd { per_day, years } => {
                per_day * DAYS_PER_YEAR * years * capacity.0 as f64 / 1e12
            }
        }
    }
}

/// Days of a year, as vendors count them: 1.92 TB with 1 DWPD for 5 years are 3,504 TB.
const DAYS_PER_YEAR: f64 = 365.0;
/// Bytes of a random request on data sheets.
const RANDOM_BYTES: f64 = 4096.0;

/// Drafts the drive file that follows from a sheet.
///
/// # Errors
/// Reports lines that contradict each other, or an impossible drive.
pub fn draft(sheet: &Sheet, begin: Begin) -> Result<Draft, Failure> {
    let mut draft = Draft::begin(sheet);
    flash::solve(&mut draft, sheet)?;
    rates::solve(&mut draft, sheet, begin)?;
    endurance::solve(&mut draft, sheet)?;
    draft.finish(sheet)
}
