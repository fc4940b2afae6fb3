//! All operations on flash are here and nowhere else: sensing, programming, recoding, erasing.

mod erase;
mod preload;
pub(crate) mod probe;
mod program;
pub(crate) mod recode;
pub(crate) mod sense;
