//! Simulated drive: page-accurate, with read disturb for every read, and without side effects.
//!
//! There is no I/O, thread, clock or global state: time, randomness and requests are arguments.
//! Start with [`config`], [`base::geometry`] and [`base::request`]. `drive` combines all parts.

#![expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a question to a technique shows the trait object that answers it"
)]
#![expect(clippy::inline_always, reason = "a comment at each place says why")]

pub mod api;
pub mod drive;
pub mod flash;
mod ftl;
pub mod hint_counts;
#[cfg(test)]
mod testing;
pub mod time;
pub mod watch;
mod wheel;

pub use vpass_model::{base, config, disturb, error, hints, phrase};

pub use api::gc::victims::{VictimIndex, Victims};
