//! Makes requests for a disk whose real requests are unknown. Only statistics of these requests are
//! known.
//!
//! A `[statistics]` table ([`StatisticsFile`]) becomes a stream of requests ([`StatisticsSource`]).
//! In each pass and for every seed, the stream has these statistics of the table:
//! - number of pages read and written in each window of time
//! - footprint: number of different pages that are read, number of different pages that are
//!   written, and number of different pages that are both read and written
//! - number of requests, sum of their bytes, and percentiles of their size
//! - popularity of pages: for each percentile, the share of all reads (and of all writes) that goes
//!   to the page at this percentile
//!
//! ```text
//! [statistics] --DiskStatistics--> SidePlan (reads) --> Side --\
//!  scale, speed   sampled           curve, lengths,     layout, +--> StatisticsSource
//!                                   tiling              deal   /
//!                                  SidePlan (writes) --> Side -
//! ```
//!
//! Numbers that the table fixes are never drawn at random:
//! - `curve` calculates a whole distribution from the percentiles and the known total.
//! - `lengths` groups requests by the number of pages that they touch.
//! - `tiling` cuts the pages of a direction into blocks. Each request to a block touches all pages
//!   of the block. The number of requests to a block in a pass is fixed.
//! - `layout` places blocks on the drive, in shuffled extents.
//! - `deal` puts the requests of a pass into a random order, and `side` distributes these requests
//!   to the windows.
//!
//! In memory, the source occupies a few kilobytes, and 4 bytes for each extent.
//!
//! Statistics do not say everything about the requests. The other properties are assumed:
//! - The popularity of pages and the size of requests do not depend on each other.
//! - Popular pages lie in runs of neighbouring pages, and a run has the length `extent`.
//! - The mix of requests is the same in all windows.
//! - Within a window, requests arrive evenly, with small random shifts.
//!
//! [`import`] makes a `[statistics]` table from published statistics. [`Meter`] makes a table from
//! any requests. [`agreement`] compares a pass with its table.

mod agreement;
mod columns;
mod curve;
mod deal;
mod disk;
mod imported;
mod layout;
mod lengths;
mod meter;
mod percentiles;
mod plan;
mod published;
mod repair;
mod sampled;
mod side;
mod statistics_config;
mod statistics_source;
mod text;
mod tiling;
mod window_clock;

pub use agreement::{Statistic, agreement};
pub use disk::{DiskStatistics, SideStatistics};
pub use imported::Imported;
pub use meter::Meter;
pub use published::import;
pub use statistics_config::{SideConfig, StatisticsConfig, StatisticsFile, WindowsConfig};
pub use statistics_source::StatisticsSource;
