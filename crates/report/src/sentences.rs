//! Sentences of the page. Each function takes numbers and returns a sentence as markup, in which
//! names are escaped.

pub mod absent;
pub mod life;
pub mod sweep;
pub mod verdict;
pub mod wear;

pub(crate) use vpass_lab::numbers::list;
