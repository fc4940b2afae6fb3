//! Creation of a drive file from a data sheet. vpass reads the lines of the data sheet, drafts a
//! drive file, and compares the numbers of the simulated drive with those of the data sheet.
//!
//! ```text
//! parse      reads the lines of a sheet
//! draft      changes single keys of the nearest preset, each with a comment
//! flash      cells, spare, dies and channels
//! rates      link, channels and program time
//! endurance  rated P/E cycles, and limits of a longer life
//! copy       small copy of a drive, for short runs
//! beside     table with the numbers of the sheet, those of the drive, and their sources
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

use vpass_drive::base::units::Bytes;
use vpass_drive::config::CellType;

pub use draft::{Change, Draft};
pub use link::Link;

use crate::failure::Failure;
use crate::progress::Begin;

/// Numbers that a data sheet states.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// Capacity of the drive, as the host sees it.
    pub capacity: Bytes,
    /// Type of the cells, which gives the number of bits per cell.
    pub cell: CellType,
    /// Interface to the host.
    pub interface: Option<Link>,
    /// Number of random 4-KiB reads per second.
    pub random_read_iops: Option<f64>,
    /// Number of random 4-KiB writes per second.
    pub random_write_iops: Option<f64>,
    /// Rate of sequential reads, in 10^6 bytes per second.
    pub sequential_read_mb_s: Option<f64>,
    /// Rate of sequential writes, in 10^6 bytes per second.
    pub sequential_write_mb_s: Option<f64>,
    /// Amount of data that the host may write during the drive's life.
    pub endurance: Option<Endurance>,
    /// Number of channels of the controller.
    pub channels: Option<u32>,
}

/// Amount of data that the host may write during the drive's life.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endurance {
    /// Amount in units of 10^12 bytes.
    Tbw(f64),
    /// Amount of data, given as drive writes per day during the warranty.
    Dwpd {
        /// Number of full drive writes per day.
        per_day: f64,
        /// Length of the warranty in years.
        years: f64,
    },
}

impl Endurance {
    /// Returns the amount of data in units of 10^12 bytes.
    pub fn terabytes(self, capacity: Bytes) -> f64 {
        match self {
            Self::Tbw(terabytes) => terabytes,
            Self::Dwpd { per_day, years } => {
                per_day * DAYS_PER_YEAR * years * capacity.0 as f64 / 1e12
            }
        }
    }
}

/// Number of days in a year, as vendors count. For example, 1 DWPD for 5 years on a drive of 1.92
/// TB means 3,504 TB.
const DAYS_PER_YEAR: f64 = 365.0;
/// Size of a random request on data sheets, in bytes.
const RANDOM_BYTES: f64 = 4096.0;

/// Drafts a drive file with the numbers of a data sheet.
///
/// # Errors
/// Returns an error if lines of the data sheet contradict each other, or if no drive with these
/// numbers is possible.
pub fn draft(sheet: &Sheet, begin: Begin) -> Result<Draft, Failure> {
    let mut draft = Draft::begin(sheet);
    flash::solve(&mut draft, sheet)?;
    rates::solve(&mut draft, sheet, begin)?;
    endurance::solve(&mut draft, sheet)?;
    draft.finish(sheet)
}
