//! Sentences of the page. Each function takes numbers and returns a sentence as markup, in which
//! names are escaped.

pub mod life;
pub mod sweep;
pub mod verdict;

pub(crate) use vpass_lab::numbers::list;
