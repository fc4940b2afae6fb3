//! Requests like those of a disk of which only statistics are known: a `[statistics]` table
//! ([`StatisticsFile`]) becomes a stream of requests ([`StatisticsSource`]) that has these
//! statistics, pass by pass and for every seed:
//!
//! - the pages read and written in each window of time;
//! - the footprint: different pages read, written, either, both;
//! - requests, their bytes, and the percentiles of their size;
//! - the popularity of pages: the share of all reads, and of all writes, that the page at each
//!   percentile has.
//!
//! ```text
//! [statistics] --DiskStatistics--> SidePlan (reads) --> Side --\
//!  scale, speed   sampled           curve, lengths,     layout, +--> StatisticsSource
//!                                   tiling              turns  /
//!                                  SidePlan (writes) --> Side -
//! ```
//!
//! Nothing is drawn that must come out exactly. The percentiles are made a whole distribution that
//! meets the total (`curve`). Requests are sorted by the pages they touch (`lengths`), and all
//! pages of a direction are cut into blocks that are touched as a whole, so often in a pass
//! (`tiling`). Blocks lie in shuffled extents (`layout`). Their turns are dealt in an order of
//! chance (`turns`) and paced by the pages of the windows (`side`). State is some kilobytes and
//! four bytes an extent.
//!
//! What statistics do not tell is an assumption: popularity and size do not depend on each other;
//! popular pages lie in runs of `extent`; the mix of requests is the same in all windows; within a
//! window requests arrive evenly, moved a little by chance.
//!
//! [`import`] makes a table of published statistics, [`Meter`] of any requests; [`agreement`] says
//! how well a pass fits.

mod agreement;
mod columns;
mod curve;
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
mod turns;
mod window_clock;

pub use agreement::{Statistic, agreement};
pub use disk::{DiskStatistics, SideStatistics};
pub use imported::Imported;
pub use meter::Meter;
pub use published::import;
pub use statistics_config::{SideConfig, StatisticsConfig, StatisticsFile, WindowsConfig};
pub use statistics_source::StatisticsSource;
