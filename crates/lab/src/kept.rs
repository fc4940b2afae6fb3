//! Finished parts of a long command on disk. After a stop, the command can continue from these
//! parts.
//!
//! Each part is a file whose name is a [`Key`]: the digest of everything that determines the part.
//! A part is read back exactly, or not at all.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use part::{Bytes, Ended};
pub use store::Store;
