//! Finished parts of a long command. The parts are kept on disk, so a command that was stopped can
//! later continue.
//!
//! Each part is a file. The name of the file is a [`Key`], which is a digest of all inputs of the
//! part. A damaged or incomplete part is never used.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use part::{Bytes, Ended};
pub use store::Store;
