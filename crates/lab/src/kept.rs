//! Finished parts of a long command. The parts are kept on disk, so a command that was stopped can
//! later continue.
//!
//! Each finished part has its own file. The file name is a [`Key`], a digest of everything that
//! affects the part. A damaged or incomplete part is never used.

mod key;
mod part;
mod store;

pub use key::{Key, Keys};
pub use store::Store;
