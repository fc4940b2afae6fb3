//! Finished parts of a long command on disk, so that the same command goes on where it was stopped.
//!
//! Each part is a file of its own, named by a [`Key`]: the digest of all that the part follows
//! from. A part is read back exactly, or it is not read back at all.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use part::{Bytes, Ended};
pub use store::Store;
