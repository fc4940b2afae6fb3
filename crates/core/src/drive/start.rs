//! What a drive begins with: content, wear, and reads from before the run.

mod precondition;
pub mod reads;
