//! Observers of the drive: its physical work, and the use of its time.

pub mod observer;
pub mod row;
pub mod time_event;
