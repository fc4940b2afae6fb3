//! Where host requests come from: trace files ([`traces`]), generators ([`synthetic`]) and a disk's statistics ([`statistics`]).
//! All hand over batches of [`vpass_core::request::Request`] and can be replayed pass by pass ([`pass`]).
//! What is in a trace, [`profile`] counts.

mod nearest;
pub mod pass;
pub mod presets;
pub mod profile;
pub mod statistics;
pub mod synthetic;
pub mod traces;
