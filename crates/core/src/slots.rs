//! The techniques, slot by slot: a seam, a list, one technique a file.

pub mod gc;
pub mod reclaim;
