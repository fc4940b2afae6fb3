//! Interfaces of techniques, one for each slot. A caller gives each technique as a card.

pub mod asked;
pub(crate) mod at_work;
pub mod card;
pub mod fault;
pub mod gc;
pub mod given;
pub mod parity;
pub mod reclaim;
pub mod refresh;
pub mod rewrite;
pub mod seed;
pub(crate) use at_work::{Away, Context, Facts, Told};
