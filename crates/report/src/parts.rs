//! Parts of the page, in the order of the page. Each part makes a section of the page from the
//! model.

pub(crate) mod cards;
pub(crate) mod cdf;
pub(crate) mod cost;
pub(crate) mod header;
pub(crate) mod life;
pub(crate) mod numbers;
pub(crate) mod repeat;
pub(crate) mod sweep;
pub(crate) mod time;
pub(crate) mod warnings;
pub(crate) mod wear;
pub(crate) mod years;
