//! Sentences of the page, each a function of the numbers. They are markup: names are escaped.

pub mod absent;
pub mod cost;
pub mod latency;
pub mod life;
pub mod paper;
pub mod verdict;
pub mod wear;

pub(crate) use vpass_lab::numbers::list;
