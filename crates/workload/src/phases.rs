//! Requests in phases: each phase reads, writes or trims certain pages of the drive so many times,
//! then comes the next; after the last the first comes again, until all requests are done. For
//! workloads that must name their pages: attacks are written this way.
//!
//! ```toml
//! [workload]
//! requests = 1000000        # in a pass; one round of the phases where absent
//! queue_depth = 64          # or rate, with arrivals
//!
//! [[workload.phase]]
//! pages = [17, 19]          # logical pages of the drive, each request takes one; and, or instead,
//! ranges = [[100, 199]]     # first and last
//! requests = 5000
//! order = "round-robin"     # or "random"
//! op = "read"               # or "write" or "trim"
//! ```

mod fluid_phases;
mod phases_config;
mod phases_source;

pub use fluid_phases::FluidPhases;
pub use phases_config::{Order, PhaseConfig, PhaseOp, PhasesConfig, PhasesFile};
pub use phases_source::PhasesSource;
