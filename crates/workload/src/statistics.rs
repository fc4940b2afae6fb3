//! Requests with the statistics of a disk, if only its statistics are known.
//!
//! A `[statistics]` table ([`StatisticsFile`]) becomes a stream of requests ([`StatisticsSource`]).
//! In each pass and for every seed, the stream meets:
//! - pages read and written in each window of time
//! - footprint: different pages read, written, either, both
//! - number of requests, their bytes, and the percentiles of their size
//! - popularity of pages: share of all reads, and of all writes, of the page at each percentile
//!
//! ```text
//! [statistics] --DiskStatistics--> SidePlan (reads) --> Side --\
//!  scale, speed   sampled           curve, lengths,     layout, +--> StatisticsSource
//!                                   tiling              deal   /
//!                                  SidePlan (writes) --> Side -
//! ```
//!
//! Exact numbers are never drawn at random:
//! - `curve` extends the percentiles to a whole distribution that meets the total.
//! - `lengths` sorts requests by the pages they touch.
//! - `tiling` cuts the pages of a direction into blocks. All requests to a block touch all of it;
//!   their number in a pass is fixed.
//! - `layout` places blocks in shuffled extents.
//! - `deal` orders the requests of a pass at random, and `side` spreads them over the windows.
//!
//! The state takes some kilobytes, and four bytes per extent.
//!
//! Statistics lack some facts, so these are assumed:
//! - Popularity and size do not depend on each other.
//! - Popular pages lie in runs of `extent`.
//! - The mix of requests is the same in all windows.
//! - Within a window, requests arrive evenly, with small random shifts.
//!
//! [`import`] makes a table of published statistics, and [`Meter`] makes one of any requests.
//! [`agreement`] compares a pass with its table.

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
