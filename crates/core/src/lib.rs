//! The simulated drive: page-accurate, every read disturbs, pure.
//!
//! No I/O, no thread, no clock, no global: time, randomness and requests are arguments. Start with
//! [`config`], [`base::geometry`] and [`base::request`]; the drive itself comes together in
//! `drive`.

// The code that `#[derive(Keys)]` makes names the crate.
extern crate self as vpass_core;

pub mod base;
pub mod bugs;
pub mod config;
pub mod disturb;
pub mod drive;
pub mod error;
pub mod flash;
mod ftl;
pub mod hints;
pub mod slots;
#[cfg(test)]
mod testing;
pub mod time;
pub mod watch;

pub use slots::gc::victims::{VictimIndex, Victims};
