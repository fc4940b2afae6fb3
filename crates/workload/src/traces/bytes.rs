//! Handles the bytes of trace files: opening, decompressing, writing, cutting into lines, and
//! parsing numbers.

pub(in crate::traces) mod digest;
pub(in crate::traces) mod digits;
pub(in crate::traces) mod input;
pub(in crate::traces) mod lines;
pub(in crate::traces) mod output;
pub(in crate::traces) mod window;
