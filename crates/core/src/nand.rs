//! The flash itself: block records and the rules that no drive may break.

pub mod block;
pub mod rules;
