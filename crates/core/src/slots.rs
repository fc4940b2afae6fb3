//! The techniques, slot by slot: a seam, a list, one technique a file.

pub(crate) mod at_work;
pub mod gc;
pub mod reclaim;

pub(crate) use at_work::{Away, Facts, Slots, Told};
