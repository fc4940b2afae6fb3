//! The simulated drive: page-accurate, every read disturbs, pure.
//!
//! No I/O, no thread, no clock, no global: time, randomness and requests are arguments.
//! Start with [`config`], [`geometry`] and [`request`]; the drive itself comes together in `drive`.

pub mod config;
pub mod disturb;
pub mod geometry;
pub mod mem;
pub mod observer;
pub mod reciprocal;
pub mod request;
pub mod units;
