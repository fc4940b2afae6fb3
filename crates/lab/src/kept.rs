//! Finished parts of a long command on disk, so that the same command can continue after a stop.
//!
//! Each part is a file, named by a [`Key`]: the digest of everything that determines the part. A
//! part is read back exactly, or not at all.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use part::{Bytes, Ended};
pub use store::Store;
