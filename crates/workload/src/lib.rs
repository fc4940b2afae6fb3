//! Sources of host requests, and tools for requests:
//! - trace files ([`traces`])
//! - generators of synthetic requests ([`synthetic`])
//! - phases that read or write named pages ([`phases`])
//! - several workloads at the same time, each with its own addresses, rate and sizes ([`parts`])
//! - a language model whose weights are read from the drive ([`model`])
//! - stripes that are rewritten again and again ([`stripes`])
//! - fio job files ([`fio`])
//! - requests in memory, and sources that a caller makes ([`listed`], [`given`])
//!
//! All sources return requests in batches ([`vpass_drive::base::request::Request`]). Each source
//! can be replayed ([`pass`], [`finite`]). [`daily`] limits a source to some hours of each day.
//!
//! [`profile`] counts the requests of a trace. [`windows`] turns requests into rates of reads;
//! other workloads have rates that never change ([`steady`]).
//! [`attack`] makes phases that try to break a policy.

pub mod attack;
pub mod daily;
pub mod finite;
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
pub mod steady;
pub mod stripes;
pub mod synthetic;
pub mod traces;
pub mod windows;
