//! Start-up state of a drive: content, wear, and reads from before the run.

mod ages;
mod dies;
mod precondition;
pub mod reads;
mod wear;

pub use precondition::written_at_start;
