//! The simulated drive: page-accurate, every read disturbs, pure.
//!
//! No I/O, no thread, no clock, no global: time, randomness and requests are arguments.
//! Start with [`config`], [`geometry`] and [`request`]; the drive itself comes together in `drive`.

mod alarm;
pub mod audit;
pub mod blame;
pub mod bugs;
pub mod config;
mod counting;
pub mod disturb;
pub mod drive;
pub mod engine;
mod ftl;
pub mod gc;
pub mod geometry;
pub mod mem;
pub mod metrics;
pub mod nand;
pub mod observer;
mod page_counters;
pub mod page_set;
mod precondition;
pub mod reciprocal;
pub mod reclaim;
pub mod request;
mod space_saving;
pub mod start_reads;
pub mod time_event;
pub mod units;

pub use ftl::victims::VictimIndex;
