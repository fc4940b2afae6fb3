//! Part 4 of the page: the dose of each wordline over its limit. The part has one map per
//! technique, and the wordlines of a chosen block.

mod colours;
mod first;
mod maps;
mod markup;
mod pack;
mod png;
mod rows;
mod sentences;
#[cfg(test)]
mod testing;

pub use markup::{TITLE, section};
pub use rows::Doses;
