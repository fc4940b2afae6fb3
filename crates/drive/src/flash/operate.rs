//! Operations on flash: sensing, programming, recoding and erasing. No other file has any.

mod erase;
mod preload;
pub(crate) mod probe;
mod program;
pub(crate) mod recode;
pub(crate) mod sense;
