//! Operations on flash: sensing, programming, recoding and erasing. No other file has any.

mod erase;
mod preload;
pub(crate) mod probe;
pub(crate) mod program;
pub(crate) mod recode;
pub(crate) mod sense;
