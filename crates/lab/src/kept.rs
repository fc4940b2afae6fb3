//! Finished parts of a long command, which are kept on disk. A command that was stopped can later
//! continue from its finished parts.
//!
//! Each part is a file. The name of the file is a [`Key`]: the digest of everything that determines
//! the part. A damaged or incomplete part is never used.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use part::{Bytes, Ended};
pub use store::Store;
