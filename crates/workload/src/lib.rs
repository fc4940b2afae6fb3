//! Sources of host requests:
//! - trace files ([`traces`])
//! - generators ([`synthetic`])
//! - phases of named pages ([`phases`])
//! - parts, each with its own addresses, rate and sizes ([`parts`])
//! - a language model that is read from the drive ([`model`])
//! - stripes that are written again and again ([`stripes`])
//! - a disk's statistics ([`statistics`])
//! - fio job files ([`fio`])
//! - lists of requests, and sources that a caller makes ([`listed`], [`given`])
//!
//! All sources hand out batches of [`vpass_core::base::request::Request`], and can be replayed in
//! passes ([`pass`]). [`daily`] limits requests to some hours of each day.
//!
//! [`profile`] counts the requests of a trace. [`windows`] turns requests into rates of reads.
//! [`attack`] makes phases that try to break a policy.

pub mod attack;
pub mod daily;
pub mod fio;
pub mod given;
pub mod listed;
pub mod model;
pub mod nearest;
pub mod parts;
pub mod pass;
pub mod phases;
pub mod presets;
pub mod profile;
pub mod statistics;
pub mod stripes;
pub mod synthetic;
pub mod traces;
pub mod windows;
