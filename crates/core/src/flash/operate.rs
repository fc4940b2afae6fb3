//! Everything that is ever done to flash, and nobody else does any of it: sensing, programming, recoding, erasing.

mod erase;
mod preload;
pub(crate) mod probe;
mod program;
pub(crate) mod recode;
pub(crate) mod sense;
