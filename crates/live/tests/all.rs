//! Tests of the live drive, on a virtual clock.

mod bytes;
mod common;
mod cuts;
mod flushes;
