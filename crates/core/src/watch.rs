//! What the drive tells whoever watches it: its physical work, and what it does with its time.

pub mod observer;
pub(crate) mod several;
pub mod time_event;
