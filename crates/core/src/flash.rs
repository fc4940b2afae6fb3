//! The flash itself: block records, the coding of its cells, its wear and the rules that no drive may break.

pub mod block;
pub mod coding;
pub(crate) mod count;
pub(crate) mod guards;
pub mod rules;
pub(crate) mod wear;
