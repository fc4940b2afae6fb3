//! Bytes of traces: opened, decompressed, cut into lines, written, and numbers in text.

pub(in crate::traces) mod digest;
pub(in crate::traces) mod digits;
mod gzip;
pub(in crate::traces) mod input;
pub(in crate::traces) mod lines;
pub(in crate::traces) mod output;
pub(in crate::traces) mod window;
