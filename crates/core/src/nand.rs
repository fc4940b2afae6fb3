//! The flash itself: block records, the coding of its cells and the rules that no drive may break.

pub mod block;
pub mod coding;
pub mod rules;
