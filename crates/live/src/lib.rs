//! The simulated drive as a block device: requests with real bytes, answered after the drive's own
//! latencies.
//!
//! One [`Actor`] owns the drive and its clock. An adapter, such as the plug-in for nbdkit, passes
//! requests to the actor and waits for their completions. The crate opens no socket, starts no
//! thread and reads no clock: the caller passes the time to each call.
//!
//! ```text
//! adapter --submit(now, request)--> Actor --> Device, Drive     state and time
//!         <--advance(now)----------       \-> Store             bytes of each flash page
//! ```

mod actor;
mod content;
mod held;
mod store;

pub use actor::{Action, Actor, Completion, Id, Lost, Refusal, SECTOR};
