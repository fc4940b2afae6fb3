//! Part 4 of the page: ratio of dose to limit for each wordline. The part shows one map per
//! technique, and all wordlines of a chosen block.

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
