//! Sentences of the page. Each is a function of the numbers, and its result is markup with escaped
//! names.

pub mod absent;
pub mod cost;
pub mod latency;
pub mod life;
pub mod paper;
pub mod sweep;
pub mod verdict;
pub mod wear;

pub(crate) use vpass_lab::numbers::list;
