//! Observers of the drive: its physical work, and the use of its time.

pub mod event;
pub mod observer;
pub(crate) mod several;
pub mod time_event;
pub mod watcher;
