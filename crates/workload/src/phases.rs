//! Makes requests in phases, for workloads that name their pages, such as attacks. A phase is a
//! given number of requests that read, write or trim given pages of the drive. After the last
//! phase, the first phase begins again, until all requests are made.
//!
//! ```toml
//! [workload]
//! requests = 1000000        # in a pass; one round of the phases if absent
//! queue_depth = 64          # or rate, with arrivals
//!
//! [[workload.phase]]
//! pages = [17, 19]          # logical pages of the drive; each request takes one
//! ranges = [[100, 199]]     # first and last page, with or instead of pages
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
