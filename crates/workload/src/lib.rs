//! Where host requests come from: trace files ([`traces`]), generators ([`synthetic`]), phases of
//! named pages ([`phases`]), stripes that are written again and again ([`stripes`]), a disk's
//! statistics ([`statistics`]) and fio job files ([`fio`]). All hand over batches of
//! [`vpass_core::base::request::Request`] and can be replayed pass by pass ([`pass`]).
//!
//! [`profile`] counts what is in a trace, [`windows`] turns requests into rates of reads, and
//! [`attack`] makes phases that try to break a policy.

pub mod attack;
pub mod fio;
pub mod nearest;
pub mod pass;
pub mod phases;
pub mod presets;
pub mod profile;
pub mod statistics;
pub mod stripes;
pub mod synthetic;
pub mod traces;
pub mod windows;
